use model::{Failure, NotSent};
use rustix::io::Errno;

use crate::wire::REFUSED;

/// Which kind of "not sent" a failed connect is.
pub(crate) fn not_sent(errno: Errno) -> NotSent {
    match errno {
        Errno::CONNREFUSED => NotSent::Refused,
        Errno::TIMEDOUT => NotSent::ConnectTimedOut,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => NotSent::OutOfPorts,
        Errno::MFILE | Errno::NFILE => NotSent::OutOfFiles,
        Errno::NOMEM | Errno::NOBUFS => NotSent::OutOfMemory,
        Errno::PERM | Errno::ACCESS => NotSent::Forbidden,
        Errno::PROTO => NotSent::HandshakeFailed,
        _ => NotSent::ConnectFailed,
    }
}

/// What this machine lacks or forbids, with the cure, where that is why a connection was not made; none where it may have
/// been the peer.
pub fn lacking_here(errno: i32) -> Option<&'static str> {
    match Errno::from_raw_os_error(errno) {
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Some(
            "this machine is out of local ports, or has no address to reach it from; close connections, or widen \
             net.ipv4.ip_local_port_range",
        ),
        Errno::MFILE | Errno::NFILE => {
            Some("this machine is out of open files; raise the limit (ulimit -n, or fs.file-max for all processes)")
        }
        Errno::NOMEM | Errno::NOBUFS => Some("this machine is out of memory for connections; free some"),
        Errno::PERM | Errno::ACCESS => Some("this machine forbids the connection; look at its firewall and sandboxes"),
        _ => None,
    }
}

/// How a connection came to its end under a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The peer closed in an orderly way.
    Closed,
    /// The kernel reported an error.
    Errno(Errno),
    /// The peer sent something that is not HTTP. (What is not TLS is `PROTO`.)
    Malformed,
    /// The peer refused the handshake that had come to its end here.
    HandshakeRefused,
    /// The peer will not answer this request; the connection lives on.
    Dropped,
    /// No complete reply within the time-out.
    TimedOut,
}

impl Loss {
    /// What an error of a receive means.
    pub(crate) fn of(errno: Errno) -> Self {
        match errno {
            // Without the end that TLS has for it, a reply that ends with its connection may have been cut.
            Errno::CONNABORTED => Loss::Closed,
            REFUSED => Loss::HandshakeRefused,
            errno => Loss::Errno(errno),
        }
    }

    /// The failure of a request, depending on whether its reply had begun.
    pub(crate) fn failure(self, reply_begun: bool) -> Failure {
        match (self, reply_begun) {
            (Loss::Closed, false) => Failure::ClosedBeforeReply,
            (Loss::Closed, true) => Failure::ClosedInReply,
            (Loss::Errno(Errno::CONNRESET | Errno::PIPE) | Loss::Dropped, false) => Failure::ResetBeforeReply,
            (Loss::Errno(Errno::CONNRESET | Errno::PIPE) | Loss::Dropped, true) => Failure::ResetInReply,
            (Loss::Errno(Errno::PROTO) | Loss::Malformed, _) => Failure::Malformed,
            (Loss::HandshakeRefused, _) => Failure::HandshakeFailed,
            (Loss::Errno(_), _) => Failure::Network,
            (Loss::TimedOut, _) => Failure::TimedOut,
        }
    }

    /// The kernel's error number, 0 when there is none.
    pub(crate) fn errno(self) -> i32 {
        match self {
            Loss::Errno(errno) => errno.raw_os_error(),
            Loss::HandshakeRefused => Errno::PROTO.raw_os_error(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Side;

    #[test]
    fn what_this_machine_lacks_or_forbids_is_its_own() {
        for errno in (1..200).map(Errno::from_raw_os_error).filter(|errno| lacking_here(errno.raw_os_error()).is_some())
        {
            assert_eq!(not_sent(errno).side(), Side::Us, "{errno}");
        }
        assert_eq!([Errno::PERM, Errno::NOBUFS].map(not_sent), [NotSent::Forbidden, NotSent::OutOfMemory]);
        assert_eq!(not_sent(Errno::HOSTUNREACH).side(), Side::Network);
    }
}
