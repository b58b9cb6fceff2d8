//! How many requests a launch can have at most, where this is known before it runs, and what they cannot show.

use model::{CellPlan, Metric, NeverEnough};

use crate::asked::Asked;
use crate::bounds::most_completions;

/// Why a launch of this cell can never have the metric: a quantile that needs more requests than it can get. None where
/// it can, or where their number is not known beforehand.
pub fn never_enough(cell: &CellPlan, metric: Metric) -> Option<NeverEnough> {
    let (needed, most) = (metric.required_samples()?, most_requests(cell)?);
    (most < needed).then_some(NeverEnough { metric, needed, most })
}

/// Most requests of a launch: what the delay allows in a closed load, what is due in an open one. Arrivals at random have
/// no most.
fn most_requests(cell: &CellPlan) -> Option<u64> {
    let (asked, window_s) = (Asked::from(cell), cell.load.window_ns() as f64 / model::NS_PER_S as f64);
    let most = match asked.load.rate_per_s() {
        // It is measured before the run.
        _ if cell.rate_share.is_some() => return None,
        Some(_) if cell.load.model.is_random() => return None,
        Some(rate_per_s) => rate_per_s * window_s,
        None => asked.ceiling_per_s().map(|per_s| {
            let of_delay = most_completions(asked.load.slots(), window_s, asked.delay_s());
            let of_backend = per_s * window_s + asked.load.slots();
            if cell.backend.is_some() { of_delay.min(of_backend) } else { of_delay }
        })?,
    };
    Some(most.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Extent, LoadModel, NS_PER_S};

    use super::*;
    use crate::testing::cell_plan;

    #[test]
    fn what_the_sample_size_can_never_show_is_known_beforehand() {
        let closed = |connections, delay_ms| cell_plan("a", &[], connections, delay_ms);
        let said = |cell: &CellPlan, metric| never_enough(cell, metric);
        // 10 · (10 s ÷ (1 s − 1 ms) + 1) = 110.1
        let few = NeverEnough { metric: Metric::P99, needed: 368, most: 111 };
        assert_eq!(said(&closed(10, 1_000), Metric::P99), Some(few));
        assert_eq!(said(&closed(10, 1_000), Metric::P90), None);
        assert_eq!(said(&closed(100, 1_000), Metric::P99), None);
        assert!(said(&closed(100, 1_000), Metric::P999).is_some());
        assert_eq!(said(&closed(1, 0), Metric::P999), None, "without a delay nobody knows");
        let mut open = closed(10, 0);
        open.load.model = LoadModel::Open { rate_per_s: 20.0, arrivals: Arrivals::Constant };
        assert_eq!(said(&open, Metric::P99).unwrap().most, 200);
        open.load.model = LoadModel::Open { rate_per_s: 20.0, arrivals: Arrivals::Poisson };
        assert_eq!(said(&open, Metric::P99), None, "by chance more come than are expected");
        open.load.model = LoadModel::Open { rate_per_s: 20.0, arrivals: Arrivals::Constant };
        open.load.extent = Extent::Window(20 * NS_PER_S);
        assert_eq!(said(&open, Metric::P99), None);
        assert_eq!((open.rate_share, said(&open, Metric::Throughput)), (None, None));
        let share = CellPlan { rate_share: Some(0.5), ..closed(10, 1_000) };
        assert_eq!(said(&share, Metric::P99), None, "a rate that is not known yet");
    }
}
