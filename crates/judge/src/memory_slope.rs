//! What a connection costs a target in memory.

use std::collections::BTreeSet;

use model::{Cell, CellAnalysis, Factor, LoadKey, Mark, Measured, MemoryCount, MemorySlope, Metric, Unit};

use crate::records::Records;
use crate::statistics::{mean, t_interval_at};
use crate::thresholds::COURSE_SECONDS;

const CONNECTIONS: Factor = Factor::Load(LoadKey::Connections);

/// Of every target wherever its cells differ in their connections alone.
pub(crate) fn all(records: &Records, cells: &[CellAnalysis]) -> Vec<MemorySlope> {
    let mut alike: Vec<(Cell, Vec<(u64, usize)>)> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let Some(connections) = cell.levels.level(CONNECTIONS).and_then(|level| level.to_string().parse().ok()) else {
            continue;
        };
        let mut levels = cell.levels.clone();
        levels.0.remove(CONNECTIONS.id());
        match alike.iter_mut().find(|(known, _)| *known == levels) {
            Some((_, steps)) => steps.push((connections, at)),
            None => alike.push((levels, vec![(connections, at)])),
        }
    }
    alike.into_iter().filter_map(|(levels, steps)| slope(records, cells, levels, &steps)).collect()
}

fn slope(records: &Records, cells: &[CellAnalysis], levels: Cell, steps: &[(u64, usize)]) -> Option<MemorySlope> {
    let (fewest, most) = (steps.iter().min()?, steps.iter().max()?);
    (fewest.0 < most.0).then_some(())?;
    let count = |step: &(u64, usize)| cells[step.1].memory_count;
    let went_round =
        |step: &(u64, usize)| records.valid(step.1).map(|launch| launch.rounds.is_some()).collect::<BTreeSet<_>>();
    let is_alike = count(fewest) == count(most) && went_round(fewest) == went_round(most);
    // More connections bring more requests: of what grows with those, and of windows too short to tell, it says nothing.
    let may_grow = |step: &(u64, usize)| {
        let cell = &cells[step.1];
        cell.window_s < COURSE_SECONDS as f64 || cell.marks.iter().any(|note| note.mark() == Mark::Growing)
    };
    let is_at_least = count(fewest) == MemoryCount::ProportionalAtLeast
        || [fewest, most].iter().any(|step| cells[step.1].peak_at_least);
    let is_whole = is_alike && !is_at_least && !may_grow(fewest) && !may_grow(most);
    let peak = |step: &(u64, usize), block| records.value(step.1, block, Metric::PeakMemory);
    let in_block = |block: &u32| Some((peak(most, *block)? - peak(fewest, *block)?) / (most.0 - fewest.0) as f64);
    let blocks = records.blocks().iter().filter(|_| is_whole);
    let values: Vec<f64> = blocks.filter_map(in_block).collect();
    let interval = t_interval_at(&values, records.confidence());
    let bytes = Measured {
        estimate: mean(&values),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        unit: Unit::Bytes,
    };
    Some(MemorySlope { levels, connections: [fewest.0, most.0], bytes })
}

#[cfg(test)]
mod tests {
    use model::{Environment, Extent, NS_PER_S};

    use crate::testing::Session;

    #[test]
    fn a_connection_costs_the_difference_over_the_difference() {
        let session =
            Session::new().delayed("a", 10, 10, 100.0).delayed("a", 110, 10, 100.0).delayed("b", 10, 10, 90.0);
        let (plan, mut trials) = (session.plan(), session.records());
        for trial in &mut trials {
            let connections = plan.cells[trial.cell].load.connections;
            let seen = trial.observation.as_mut().unwrap();
            seen.peak_memory_bytes = 10_000_000 + 4_096 * u64::from(connections) + u64::from(trial.block);
        }
        let slopes = crate::analyse(&plan, &Environment::default(), &trials).memory_slopes;
        assert_eq!(slopes.len(), 1, "b has one number of connections: {slopes:?}");
        assert_eq!((slopes[0].levels.target(), slopes[0].connections), ("a", [10, 110]));
        assert!((slopes[0].bytes.estimate.unwrap() - 4_096.0).abs() < 1e-6, "{slopes:?}");
        assert!(slopes[0].bytes.low.is_some());
        let short =
            plan.with(|draft| draft.cells.iter_mut().for_each(|cell| cell.load.extent = Extent::Window(NS_PER_S)));
        let short = crate::analyse(&short.unwrap(), &Environment::default(), &trials).memory_slopes;
        assert_eq!(short[0].bytes.estimate, None, "a leak looks the same in so short a window");
    }
}
