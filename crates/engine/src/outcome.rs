use model::{Failure, NotSent, Side};
use rustix::io::Errno;

use crate::wire::REFUSED;

/// Which kind of "not sent" a connect is that failed with this error number.
pub fn not_connected(errno: i32) -> NotSent {
    not_sent(Errno::from_raw_os_error(errno))
}

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

    /// Whether it is for want of something on this machine, or is forbidden here.
    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Loss::Errno(errno) if not_sent(errno).side() == Side::Us)
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

    #[test]
    fn what_this_machine_lacks_or_forbids_is_its_own() {
        let lacking = [Errno::PERM, Errno::NOBUFS].map(not_sent);
        assert_eq!(lacking, [NotSent::Forbidden, NotSent::OutOfMemory]);
        assert_eq!(lacking.map(NotSent::side), [Side::Us, Side::Us]);
        assert_eq!(not_sent(Errno::HOSTUNREACH).side(), Side::Network);
    }
}
