use serde::{Deserialize, Serialize};

/// The server that a target's handlers ask, where their work is to ask one: each reply takes so long, and so many are made at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backend {
    /// How long each reply takes, in nanoseconds.
    pub delay_ns: u64,
    /// How many it serves at once; none sets no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<u32>,
    /// Whether it answers 503 at once where all of them are busy. Else one waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuses: bool,
}

impl Backend {
    /// Requests a second that it can serve; none where nothing limits that.
    pub fn capacity_per_s(&self) -> Option<f64> {
        let workers = self.workers.filter(|_| self.delay_ns > 0)?;
        Some(f64::from(workers) / (self.delay_ns as f64 / 1e9))
    }
}

/// What a backend did under a load and its warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendUse {
    /// Connections that were opened to it.
    pub opened: u64,
    /// Most of them at once.
    pub connections_max: u32,
    /// Most requests that it served at once.
    pub at_once_max: u32,
    /// Requests that it served.
    pub replies: u64,
    /// Requests that it refused.
    pub refused: u64,
    /// Connections that it closed at once, for too many were open.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turned_away: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_capacity_is_its_workers_over_its_delay() {
        let backend = Backend { delay_ns: 50_000_000, workers: Some(10), refuses: false };
        assert_eq!(backend.capacity_per_s(), Some(200.0));
        assert_eq!(Backend { workers: None, ..backend }.capacity_per_s(), None, "as many as ask");
        assert_eq!(Backend { delay_ns: 0, ..backend }.capacity_per_s(), None, "it takes no time");
    }
}
