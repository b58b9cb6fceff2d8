//! A target that is not ready, and listens elsewhere than it was told to.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

/// How often it is looked for where a target listens that is not ready.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Said of a target that listens on these addresses, and not on 127.0.0.1 with its port.
pub(crate) fn elsewhere(seen: &[SocketAddr], port: u16) -> String {
    let addresses: Vec<String> = seen.iter().map(SocketAddr::to_string).collect();
    let addresses = addresses.join(" and ");
    if seen.contains(&SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
        return format!(
            "it listens on {addresses} only, which is IPv6, and bourdon asks at 127.0.0.1:{port}; have it listen on \
             127.0.0.1, or on all addresses (`localhost` may mean [::1] alone)"
        );
    }
    let wanted = if seen.iter().any(|at| at.port() == port) { "127.0.0.1:" } else { "$PORT = " };
    format!("it listens on {addresses}, not on {wanted}{port}")
}

/// Looks at where a target listens, until two in a row see the same. That is told and ends no wait: a server may open
/// the port of its debugger or its metrics long before the one that it serves on, and from outside nothing tells such a
/// port from one that it serves on by mistake. How long it may take is `ready_within`, which is the user's to say.
#[derive(Debug, Default)]
pub(crate) struct ListenerScan {
    seen: Option<String>,
    looked: Duration,
    told: bool,
}

impl ListenerScan {
    /// Looks again if it is time to; gives what was seen twice, once.
    pub(crate) fn again(&mut self, passed: Duration, look: impl FnOnce() -> Option<String>) -> Option<String> {
        if self.told || passed < self.looked + LOOK_EVERY {
            return None;
        }
        self.looked = passed;
        let before = std::mem::replace(&mut self.seen, look());
        self.told = self.seen.is_some() && self.seen == before;
        self.seen.clone().filter(|_| self.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_target_listens_instead_is_said_with_what_to_do() {
        let said = |at: &[&str]| elsewhere(&at.iter().map(|at| at.parse().unwrap()).collect::<Vec<_>>(), 80);
        assert_eq!(
            said(&["127.0.0.1:81", "0.0.0.0:82"]),
            "it listens on 127.0.0.1:81 and 0.0.0.0:82, not on $PORT = 80"
        );
        assert_eq!(said(&["10.0.0.1:80"]), "it listens on 10.0.0.1:80, not on 127.0.0.1:80");
        let six = said(&["[::1]:80"]);
        assert!(
            six.starts_with("it listens on [::1]:80 only, which is IPv6, and bourdon asks at 127.0.0.1:80; "),
            "{six}"
        );
        assert!(six.contains("have it listen on 127.0.0.1"), "{six}");
    }

    #[test]
    fn what_is_seen_in_two_looks_a_second_apart_is_told_once() {
        let mut looks = ListenerScan::default();
        let mut at = |ms: u64, seen: Option<&str>| {
            looks.again(Duration::from_millis(ms), || {
                Some(seen.expect("no look is due").to_owned()).filter(|seen| !seen.is_empty())
            })
        };
        assert_eq!(at(999, None), None);
        assert_eq!(at(1_000, Some("")), None, "it listens nowhere yet");
        assert_eq!(at(2_000, Some("on 1")), None, "it may open another one");
        assert_eq!(at(2_500, None), None);
        assert_eq!(at(3_000, Some("on 1 and 2")), None);
        assert_eq!(at(4_000, Some("on 1 and 2")).as_deref(), Some("on 1 and 2"));
        assert_eq!(at(9_000, None), None, "nothing is looked for any more");
    }
}
