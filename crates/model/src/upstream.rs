use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// A server that stands behind the one under load, which asks it: a database, another service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// Where it listens.
    pub address: SocketAddr,
    /// By how much longer a round trip to it takes, in nanoseconds, through a relay of bourdon's; none where it is asked directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
}
