//! Which servers a node may load.

use std::fmt::{Display, Formatter, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;

/// Addresses that may be loaded, all of its ports or one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    addresses: IpNet,
    port: Option<u16>,
}

impl Allowed {
    /// What every node may load: its own machine.
    pub fn own() -> [Allowed; 2] {
        let of = |addresses: IpNet| Allowed { addresses, port: None };
        let v4 = IpNet::new_assert(IpAddr::V4(Ipv4Addr::LOCALHOST), 8);
        [of(v4.trunc()), of(IpNet::from(IpAddr::V6(Ipv6Addr::LOCALHOST)))]
    }

    /// Whether it is one of these.
    pub fn has(&self, address: SocketAddr) -> bool {
        self.addresses.contains(&address.ip().to_canonical()) && self.port.is_none_or(|port| port == address.port())
    }
}

/// Neither an address nor a network, with or without a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither an address nor a network (10.0.0.7, 10.0.0.7:8080, 10.0.0.0/8, [fd00::7]:443)")]
pub struct NoAddress;

impl FromStr for Allowed {
    type Err = NoAddress;

    fn from_str(text: &str) -> std::result::Result<Self, NoAddress> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { addresses: address.ip().to_canonical().into(), port: Some(address.port()) });
        }
        let network = |text: &str| {
            let address = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
            text.parse::<IpNet>().map(|network| network.trunc()).or_else(|_| address()).map_err(|_| NoAddress)
        };
        network(text).map(|addresses| Self { addresses, port: None }).or_else(|_| {
            let (addresses, port) = text.rsplit_once(':').ok_or(NoAddress)?;
            Ok(Self { addresses: network(addresses)?, port: Some(port.parse().map_err(|_| NoAddress)?) })
        })
    }
}

impl Display for Allowed {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        let (addresses, is_one) = (self.addresses, self.addresses.prefix_len() == self.addresses.max_prefix_len());
        match (is_one, self.port) {
            (true, Some(port)) => write!(to, "{}", SocketAddr::new(addresses.addr(), port)),
            (true, None) => write!(to, "{}", addresses.addr()),
            (false, Some(port)) => write!(to, "{addresses}:{port}"),
            (false, None) => write!(to, "{addresses}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_allowed_by_itself_or_by_its_network() {
        for (rule, has, has_not) in [
            ("10.0.0.7", "10.0.0.7:1", "10.0.0.8:1"),
            ("10.0.0.7:80", "10.0.0.7:80", "10.0.0.7:81"),
            ("10.9.9.9/8", "10.255.0.1:9", "11.0.0.1:9"),
            ("10.0.0.0/8:80", "10.1.1.1:80", "10.1.1.1:81"),
            ("[fd00::7]:443", "[fd00::7]:443", "[fd00::7]:80"),
            ("fd00::/16", "[fd00:1::7]:443", "[fe00::7]:443"),
            ("127.0.0.1", "[::ffff:127.0.0.1]:1", "127.0.0.2:1"),
        ] {
            let rule: Allowed = rule.parse().unwrap();
            assert!(rule.has(has.parse().unwrap()) && !rule.has(has_not.parse().unwrap()), "{rule}");
            assert_eq!(rule.to_string().parse(), Ok(rule), "it is read as it is shown");
        }
        for nothing in ["", "localhost", "10.0.0", "10.0.0.0/33", "10.0.0.7:", "10.0.0.7:99999", ":80"] {
            assert_eq!(nothing.parse::<Allowed>(), Err(NoAddress), "{nothing}");
        }
        let is_own = |address: &str| Allowed::own().iter().any(|own| own.has(address.parse().unwrap()));
        assert!(is_own("127.3.2.1:80") && is_own("[::1]:80") && !is_own("192.0.2.1:80"));
    }
}
