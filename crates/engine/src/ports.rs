//! Local ports of our own choice. The kernel looks for a free one among all that are used, which takes longer and
//! longer the more are: the last thousands of 20,000 connections took it a millisecond of CPU each. And it may choose
//! the server's own port, so that a client of a dead server on loopback connects to itself.

use std::ops::RangeInclusive;

use fastrand::Rng;

/// The ports that this machine gives to clients (net.ipv4.ip_local_port_range); none where it does not say.
pub fn local_port_range() -> Option<RangeInclusive<u16>> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let ports: Vec<u16> = text.split_whitespace().filter_map(|port| port.parse().ok()).collect();
    match ports[..] {
        [first, last] if first <= last => Some(first..=last),
        _ => None,
    }
}

/// Ports in turn, for one source address.
#[derive(Debug, Clone)]
pub(crate) struct Ports {
    range: RangeInclusive<u16>,
    next: u16,
    /// The server's port.
    avoided: u16,
}

impl Ports {
    /// From a random one on: ports of a load that has just ended may not be free yet.
    pub(crate) fn new(range: RangeInclusive<u16>, avoided: u16) -> Self {
        let next = Rng::new().u16(range.clone());
        Self { range, next, avoided }
    }

    /// The next one; none if there is none but the server's.
    pub(crate) fn take(&mut self) -> Option<u16> {
        for _ in 0..2 {
            let port = self.next;
            self.next = if port == *self.range.end() { *self.range.start() } else { port + 1 };
            if port != self.avoided {
                return Some(port);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_but_the_servers_comes_once_a_round() {
        let mut ports = Ports::new(65_530..=65_535, 65_532);
        let mut round: Vec<u16> = (0..5).map(|_| ports.take().unwrap()).collect();
        let again: Vec<u16> = (0..5).map(|_| ports.take().unwrap()).collect();
        assert_eq!(round, again);
        round.sort_unstable();
        assert_eq!(round, [65_530, 65_531, 65_533, 65_534, 65_535]);
        assert_eq!(Ports::new(80..=80, 80).take(), None);
    }
}
