//! The launches of a cell one by one, for whoever wants to see them.

use std::collections::BTreeSet;

use model::{
    CellLaunch, CellQuantile, LaunchLatency, LaunchSlice, LaunchUse, Measured, Metric, Quantile, REQUIRED_SAMPLES,
    Slice,
};

use crate::launch::Launch;
use crate::records::Records;
use crate::slices;

/// Every launch of a cell that was asked for, in block order: those that count, the void ones, and those of blocks that are set
/// aside. Of two for one launch, of which neither is void, the one that counts.
pub(crate) fn of(records: &Records, cell: usize) -> Vec<CellLaunch> {
    let mut whole = BTreeSet::new();
    let mut shown = Vec::new();
    for launch in records.everywhere(cell) {
        let (block, twin) = (launch.record.block, launch.record.twin);
        let (is_valid, is_aside) = (launch.judgement.is_valid(), records.repeated().contains_key(&block));
        let is_in_vain = twin && !is_aside && !records.is_once_more(block, cell);
        if is_valid && (is_in_vain || !whole.insert((block, twin))) {
            continue;
        }
        let used = match is_valid {
            _ if is_aside => LaunchUse::SetAside,
            true => LaunchUse::Counts,
            false => LaunchUse::Void,
        };
        shown.push(CellLaunch {
            id: launch.record.id.clone(),
            block,
            twin,
            used,
            throughput: figure(launch, Metric::Throughput),
            errors: figure(launch, Metric::Errors).filter(|_| has_ended(launch)),
            peak_memory_bytes: figure(launch, Metric::PeakMemory).map(|bytes| bytes as u64),
            memory_at_rest_bytes: figure(launch, Metric::MemoryAtRest).map(|bytes| bytes as u64),
            latency: latency(launch),
            slices: slices::measured(&launch.record.slices).map(slice).collect(),
            course: launch.judgement.went.as_ref().zip(launch.measured()).map(|(went, of)| went.of_launch(of)),
        });
    }
    shown
}

/// The quantiles that each launch has which counts: those of some alone would be of the ones with more requests. `over` takes a
/// figure over launches.
pub(crate) fn quantiles(launches: &[CellLaunch], over: impl Fn(&[f64]) -> Measured) -> Vec<CellQuantile> {
    let counts = |launch: &&CellLaunch| launch.used == LaunchUse::Counts && !launch.twin;
    let counted: Vec<&CellLaunch> = launches.iter().filter(counts).collect();
    let quantile = |(q, _): &(f64, u64)| {
        let times: Option<Vec<f64>> = counted.iter().map(|launch| launch.quantile_us(*q)).collect();
        let us = over(&times?);
        us.estimate.is_some().then_some(CellQuantile { q: *q, us })
    };
    REQUIRED_SAMPLES.iter().filter_map(quantile).collect()
}

/// Whether any of its requests ended, so that it can be said how they went.
fn has_ended(launch: &Launch) -> bool {
    launch.record.measurement.as_ref().is_some_and(|measured| measured.accounting.ended() > 0)
}

/// The figure as it counts; of a launch that does not count as it was measured.
fn figure(launch: &Launch, metric: Metric) -> Option<f64> {
    let measured = || metric.value(launch.record).filter(|value| value.is_finite() && !launch.judgement.is_valid());
    launch.value(metric).or_else(measured)
}

fn latency(launch: &Launch) -> LaunchLatency {
    let Some(felt) = launch.measured().and_then(|measured| measured.latency_us.felt()) else {
        return LaunchLatency::default();
    };
    // Where rounds do not count, or slices tell no more, the metrics know what is left.
    let metric = |q: f64| Metric::ALL.iter().copied().find(|metric| metric.quantile() == Some(q));
    let known = |q: f64, measured: Option<f64>| match (metric(q), &launch.rounds) {
        (Some(metric), _) => figure(launch, metric),
        (None, Some(_)) => None,
        (None, None) => measured,
    };
    let all = REQUIRED_SAMPLES.iter().zip(felt.quantiles());
    let quantiles = all.filter_map(|((q, _), (_, measured))| Some(Quantile { q: *q, us: known(*q, measured)? }));
    LaunchLatency {
        count: requests(launch, felt.count),
        quantiles: quantiles.collect(),
        exact_below_us: felt.exact_below,
    }
}

/// Of so many requests those of the rounds that count.
fn requests(launch: &Launch, all: u64) -> u64 {
    match &launch.rounds {
        // As the quantiles beside it.
        Some(rounds) if launch.lacks_rounds() && launch.felt.is_some() && launch.judgement.is_valid() => {
            let counts = |slice: &&Slice| !rounds.left_out.contains(&slice.round);
            model::sum(slices::measured(&launch.record.slices).filter(counts).map(|slice| slice.completed))
        }
        _ => all,
    }
}

fn slice(slice: &Slice) -> LaunchSlice {
    LaunchSlice {
        round: slice.round,
        throughput: (slice.window_s > 0.0).then(|| slice.ok as f64 / slice.window_s),
        p99_us: slice.p99_us,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;

    #[test]
    fn each_launch_is_told_with_what_becomes_of_it_and_those_that_count_make_the_figure() {
        let analysis = Session::new().cell("a", 100.0).cell("b", 50.0).noise(0.1).twin().analyse();
        assert_eq!(analysis.cells[0].launches.iter().filter(|it| it.twin).count(), 6);
        for cell in &analysis.cells {
            let counts = |it: &&CellLaunch| it.used == LaunchUse::Counts && !it.twin;
            let counted: Vec<&CellLaunch> = cell.launches.iter().filter(counts).collect();
            assert_eq!(counted.len() as u32, cell.trials);
            let logs = counted.iter().map(|it| it.throughput.unwrap().ln());
            let mean = (logs.sum::<f64>() / counted.len() as f64).exp();
            assert!((mean / cell.throughput.estimate.unwrap() - 1.0).abs() < 1e-9, "{mean}");
            let whole = |q: f64| cell.quantiles.iter().find(|it| it.q == q).map(|it| &it.us);
            assert_eq!(whole(0.5), Some(&cell.latency_us.p50));
            assert_eq!(whole(0.99), Some(&cell.latency_us.p99));
            assert!(cell.launches.windows(2).all(|pair| pair[0].block <= pair[1].block));
        }
    }
}
