use serde::{Deserialize, Serialize};

use crate::Measured;

/// The TLS handshakes of a cell's launches, over their whole loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellHandshakes {
    /// Those that came to their end.
    pub count: u64,
    /// Those of them that resumed an earlier session.
    pub resumed: u64,
    /// Those that failed.
    pub failed: u64,
    /// How long half of them took at most, over the launches.
    pub p50_us: Measured,
}

/// What another load got that was on the target at the same time, over the launches that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellBeside {
    /// Method and path of its first request.
    pub asked: String,
    /// Requests that came due in the windows; of a closed load those that were sent.
    pub scheduled: u64,
    /// Those of them with a right reply by its end.
    pub ok: u64,
    /// How long half of its replies took at most, over the launches.
    pub p50_us: Measured,
}
