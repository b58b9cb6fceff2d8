//! Errors that are the machine's own, whoever the peer is.

use std::net::IpAddr;

use engine::not_connected;
use model::NotSent;
use rustix::io::Errno;

/// What this machine lacks or forbids, with the cure, where that is why a connection to `peer` was not made; none where it
/// may have been the peer.
pub fn lacking_here(errno: i32, peer: IpAddr) -> Option<&'static str> {
    if errno == Errno::NETUNREACH.raw_os_error() && peer.is_loopback() {
        return Some("this machine's loopback is down; bring it up (ip link set lo up)");
    }
    match not_connected(errno) {
        NotSent::OutOfPorts => Some(
            "this machine is out of local ports, or has no address to reach it from; close connections, or widen \
             net.ipv4.ip_local_port_range",
        ),
        NotSent::OutOfFiles => {
            Some("this machine is out of open files; raise the limit (ulimit -n, or fs.file-max for all processes)")
        }
        NotSent::OutOfMemory => Some("this machine is out of memory for connections; free some"),
        NotSent::Forbidden => Some("this machine forbids the connection; look at its firewall and sandboxes"),
        _ => None,
    }
}
