use model::NS_PER_S;
use specimens::Entry;

/// Response times as the schedule and the server's own log give them: the k-th reply ends the k-th request, which was
/// due k ÷ rate after the start.
pub(crate) struct Replay {
    sorted_s: Vec<f64>,
}

impl Replay {
    /// The start is not in the log. No reply precedes its request, so it is at most the earliest that any reply allows.
    /// What has no reply took for ever.
    pub(crate) fn of(log: &[Entry], scheduled: usize, rate_per_s: f64) -> Self {
        let gap_ns = NS_PER_S as f64 / rate_per_s;
        let since_due = |(k, entry): (usize, &Entry)| entry.at_ns as f64 - k as f64 * gap_ns;
        let start_ns = log.iter().enumerate().map(since_due).fold(f64::INFINITY, f64::min);
        let mut sorted_s: Vec<f64> =
            log.iter().enumerate().map(|reply| (since_due(reply) - start_ns) / NS_PER_S as f64).collect();
        sorted_s.sort_by(f64::total_cmp);
        sorted_s.resize(scheduled, f64::INFINITY);
        Self { sorted_s }
    }

    /// The time that a share `q` of the requests did not exceed.
    pub(crate) fn quantile_s(&self, q: f64) -> f64 {
        let rank = (q * self.sorted_s.len() as f64).ceil() as usize;
        self.sorted_s[rank.max(1) - 1]
    }
}
