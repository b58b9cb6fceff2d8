//! The sockets of one port by state, and those on which a target listens, from `/proc/PID/net/tcp` and `tcp6` (proc(5)), and the host's listen counters.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use model::SocketCounts;

use crate::parse::words;
use crate::proc_source::Reader;

/// Looks at the sockets of the target's port, in the network namespace of its first process.
pub(crate) fn look(reader: &mut Reader, pid: u32, port: u16) -> Option<SocketCounts> {
    let mut counts = SocketCounts::default();
    add(reader.read(format_args!("{pid}/net/tcp"))?, port, &mut counts);
    // Without IPv6 there is no such file. A server that listens on both has its IPv4 connections here too.
    if let Some(table) = reader.read(format_args!("{pid}/net/tcp6")) {
        add(table, port, &mut counts);
    }
    let netstat = reader.read(format_args!("{pid}/net/netstat")).unwrap_or_default();
    counts.listen_overflows = counter(netstat, b"TcpExt:", b"ListenOverflows");
    counts.listen_drops = counter(netstat, b"TcpExt:", b"ListenDrops");
    Some(counts)
}

/// Adds the rows whose local port it is.
fn add(table: &[u8], port: u16, counts: &mut SocketCounts) {
    let wanted = format!(":{port:04X}");
    for row in table.split(|byte| *byte == b'\n').skip(1) {
        let mut fields = words(row).skip(1);
        let (Some(local), Some(_remote), Some(state), Some(queues)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if !local.ends_with(wanted.as_bytes()) {
            continue;
        }
        // The kernel's states, include/net/tcp_states.h.
        let count = match state {
            b"01" => &mut counts.established,
            b"03" | b"0C" => &mut counts.syn_received,
            b"04" | b"05" | b"09" | b"0B" => &mut counts.closing,
            b"06" => &mut counts.time_wait,
            b"08" => &mut counts.close_wait,
            b"0A" => {
                // Of a listening socket the receive queue is what waits to be accepted.
                counts.accept_queue += hexadecimal(queues.rsplit(|byte| *byte == b':').next().unwrap_or_default());
                continue;
            }
            _ => continue,
        };
        *count += 1;
    }
}

/// Where a target listens: the addresses of its processes' listening sockets.
pub(crate) fn listening(reader: &mut Reader, pids: &[u32]) -> BTreeSet<SocketAddr> {
    let mut listening = BTreeSet::new();
    for pid in pids {
        let own = reader.sockets(*pid);
        for table in ["tcp", "tcp6"] {
            let table = reader.read(format_args!("{pid}/net/{table}")).unwrap_or_default();
            let rows = table.split(|byte| *byte == b'\n').skip(1);
            listening.extend(rows.filter_map(listener).filter(|(_, socket)| own.contains(socket)).map(|(at, _)| at));
        }
    }
    listening
}

/// The address and the number of a row's socket, if it listens.
fn listener(row: &[u8]) -> Option<(SocketAddr, u64)> {
    let mut fields = words(row).map(|field| std::str::from_utf8(field).unwrap_or_default());
    let (local, state, socket) = (fields.nth(1)?, fields.nth(1)?, fields.nth(5)?);
    let (address, port) = local.split_once(':')?;
    let at = SocketAddr::new(address_of(address)?, u16::from_str_radix(port, 16).ok()?);
    (state == "0A").then_some((at, socket.parse().ok()?))
}

/// The kernel prints an address as numbers of four bytes, each in the order of this machine.
fn address_of(digits: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(digits.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    if digits.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?).into());
    }
    let bytes = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
    Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into())
}

fn hexadecimal(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

/// One counter of `netstat`, whose lines come in pairs: names, then values, both after the group's name.
fn counter(netstat: &[u8], group: &[u8], name: &[u8]) -> Option<u64> {
    let mut lines = netstat.split(|byte| *byte == b'\n').filter(|line| line.starts_with(group));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = words(names).position(|word| word == name)?;
    std::str::from_utf8(words(values).nth(place)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &[u8] =
        b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 636 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:846A 01 00000000:00000000 03:000010E4 00000000     0        0 0 3 0
   2: 0100007F:1F90 0100007F:846B 01 00000000:00000000 03:000010E4 00000000     0        0 0 3 0
   3: 0100007F:1F90 0100007F:846C 06 00000000:00000000 03:000010E4 00000000     0        0 0 3 0
   4: 0100007F:846A 0100007F:1F90 01 00000000:00000000 03:000010E4 00000000     0        0 0 3 0
   5: 0100007F:1F90 0100007F:846D 08 00000000:00000000 03:000010E4 00000000     0        0 0 3 0
   6: short
";

    #[test]
    fn only_the_servers_ends_of_its_own_port_count() {
        let mut counts = SocketCounts::default();
        add(TCP, 8080, &mut counts);
        let expected =
            SocketCounts { established: 2, time_wait: 1, close_wait: 1, accept_queue: 3, ..SocketCounts::default() };
        assert_eq!(counts, expected);
        let mut other = SocketCounts::default();
        add(TCP, 9090, &mut other);
        assert_eq!(other, SocketCounts::default());
    }

    #[test]
    fn a_listening_socket_is_known_by_its_address_and_number() {
        let rows = TCP.split(|byte| *byte == b'\n').skip(1);
        let listeners: Vec<_> = rows.filter_map(listener).collect();
        assert_eq!(listeners, [("127.0.0.1:8080".parse().unwrap(), 636)]);
        let six = b"0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A \
                    00000000:00000000 00:00000000 00000000 0 0 77 1";
        assert_eq!(listener(six), Some(("[::1]:8080".parse().unwrap(), 77)));
        assert_eq!(listener(b"0: 0100:1F90 0:0 0A 0:0 00:0 0 0 0 77"), None);
    }

    #[test]
    fn a_counter_stands_under_its_name() {
        let netstat = b"TcpExt: A ListenOverflows ListenDrops\nTcpExt: 1 175 176\nIpExt: ListenDrops\nIpExt: 9\n";
        assert_eq!(counter(netstat, b"TcpExt:", b"ListenOverflows"), Some(175));
        assert_eq!(counter(netstat, b"TcpExt:", b"ListenDrops"), Some(176));
        assert_eq!(counter(netstat, b"TcpExt:", b"Nothing"), None);
        assert_eq!(counter(b"TcpExt: A ListenDrops\nTcpExt: 1\n", b"TcpExt:", b"ListenDrops"), None);
    }
}
