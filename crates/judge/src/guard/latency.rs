//! Where a latency may truly lie.

use model::{Mark, Metric, bucket_width_us};

use super::{Doubt, Guarded, Range};

impl Guarded<'_> {
    pub(super) fn latency(&self, metric: Metric, us: f64) -> Range {
        let mut range = Range::exactly(us);
        // In a closed load a request that the busy generator had not yet looked at counts as being served.
        if self.has(Doubt::Generator) {
            range.low = if metric == Metric::Mean { us / self.without_the_limit() } else { 0.0 };
        }
        if self.has(Doubt::Warming) {
            range.low = range.low.min(self.least_latency_when_warm(metric, us));
        }
        if self.has(Doubt::Lateness) {
            range.low = range.low.min(self.without_the_generator(metric, us).unwrap_or(0.0));
        }
        if self.has(Doubt::Unfinished) && self.is_unfinished(metric, us) {
            range.high = self.at_most(metric, us).unwrap_or(f64::INFINITY);
        }
        if self.does_less() {
            range.high = f64::INFINITY;
        }
        if self.has(Doubt::Resolution) {
            // It is the upper end of its bucket.
            range.low = (range.low - bucket_width_us(us)).max(0.0);
        }
        range
    }

    /// The most that a quantile may be, however long what was unfinished would have taken; of some rounds of slices as far above what
    /// was seen as over all. None without a bound, as a mean has none.
    fn at_most(&self, metric: Metric, us: f64) -> Option<f64> {
        let felt = self.measured.latency_us.felt()?;
        let most = felt.at_most(metric.quantile()?)?;
        Some(us * most / metric.of(felt)?)
    }

    /// Where the window is too short to show a steady part, the middle of the distribution gains as the rate does, and its
    /// tail any.
    fn least_latency_when_warm(&self, metric: Metric, us: f64) -> f64 {
        if self.launch.judgement.went.is_none() {
            let is_middle = matches!(metric, Metric::Mean | Metric::P50);
            return if is_middle { us / self.when_warm() } else { 0.0 };
        }
        match metric {
            // Of all the seconds no quantile is lower than the lowest of theirs at or below it.
            Metric::P50 | Metric::P75 | Metric::P90 | Metric::P95 => self.least_when_warm(|second| second.p50_us),
            Metric::P99 | Metric::P999 => self.least_when_warm(|second| second.p99_us),
            _ => 0.0,
        }
    }

    /// A latency without what the generator added: without its lateness, which the service time does not have; and less
    /// its standstills, which are in the service times, too. Of some rounds of slices as large a share as of all is left. None where
    /// nobody knows what is left.
    fn without_the_generator(&self, metric: Metric, us: f64) -> Option<f64> {
        let stood_still = self.launch.is_about(Mark::Standstill, metric);
        let latencies = if stood_still { self.measured.least_latencies()? } else { &self.measured.latency_us };
        let is_late = self.launch.is_about(Mark::Lateness, metric);
        let left = metric.of(if is_late { latencies.service.as_ref()? } else { latencies.felt()? })?;
        let whole = metric.of(self.measured.latency_us.felt()?)?;
        Some(if self.launch.lacks_rounds() { us * left / whole } else { left })
    }

    /// Whether the figure is only a lower bound; a mean is one as soon as a single request is.
    fn is_unfinished(&self, metric: Metric, us: f64) -> bool {
        let felt = self.measured.latency_us.felt();
        felt.is_some_and(|felt| felt.is_lower_bound(us) || (metric == Metric::Mean && felt.censored > 0))
    }
}
