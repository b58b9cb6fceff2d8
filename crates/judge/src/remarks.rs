//! What is said beside figures: why one is missing, why a target has no rank, what ranks are sure of together, and which target is
//! best at what. It follows from an analysis alone.

use std::collections::BTreeMap;

use model::{
    Analysis, Blank, CellAnalysis, CellRemarks, Mark, Metric, Population, REQUIRED_SAMPLES, Rank, RankChance,
    RankGroup, Rotated, Unclassified, Unranked, Waited,
};

use crate::choice::{choices, takes_place};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE, COURSE_SECONDS, LEAST_WARM_UP_S, MORE_WARM_UP, WAITED};

/// Says beside an analysis's figures what follows from them.
pub fn remark(analysis: &mut Analysis) {
    analysis.cells.iter_mut().for_each(remark_cell);
    let cells = &analysis.cells;
    analysis.groups.iter_mut().filter(|group| group.leads).for_each(|group| unranked(group, cells));
    analysis.rank_chance = rank_chance(&analysis.groups);
    analysis.choices = choices(analysis);
}

/// The same beside the figures of one cell.
pub fn remark_cell(cell: &mut CellAnalysis) {
    cell.remarks = of_cell(cell);
}

/// What is said beside the figures of one cell.
fn of_cell(cell: &CellAnalysis) -> CellRemarks {
    CellRemarks {
        blanks: if cell.trials > 0 { blanks(cell) } else { BTreeMap::new() },
        unclassified: unclassified(cell),
        generator_waited: generator_waited(cell),
        warm_up_to_try_s: (MORE_WARM_UP * cell.warm_up_s).max(LEAST_WARM_UP_S),
    }
}

fn blanks(cell: &CellAnalysis) -> BTreeMap<Metric, Blank> {
    let latency = &cell.latency_us;
    let [p50, p90, p99] = [&latency.p50, &latency.p90, &latency.p99].map(|figure| figure.estimate.is_some());
    let no_memory = cell.peak_memory_bytes.estimate.is_none();
    let found = [
        (Metric::P50, (!p50 && !p90 && !p99).then(|| no_quantile(cell, 0.5)).flatten()),
        (Metric::P99, (!p99 && (p90 || p50)).then(|| no_quantile(cell, 0.99)).flatten()),
        (Metric::CpuPerRequest, no_cpu(cell)),
        (Metric::PeakMemory, no_memory.then_some(Blank::Unwatched)),
    ];
    found.into_iter().filter_map(|(metric, blank)| Some((metric, blank?))).collect()
}

fn no_quantile(cell: &CellAnalysis, quantile: f64) -> Option<Blank> {
    let most = 1.0 - quantile;
    if cell.latency_us.failed_share > most {
        return Some(Blank::Failed { most });
    }
    let (_, needed) = REQUIRED_SAMPLES.into_iter().find(|(of, _)| *of >= quantile)?;
    let requests = cell.throughput.estimate.unwrap_or(0.0) * cell.window_s;
    Some(match cell.latency_us.few_collections && quantile == 0.99 && requests >= needed as f64 {
        true => Blank::FewCollections,
        false => Blank::FewRequests { needed },
    })
}

fn no_cpu(cell: &CellAnalysis) -> Option<Blank> {
    if cell.cpu_us_per_request.estimate.is_some() {
        return None;
    }
    Some(match (cell.target_busy, cell.throughput.estimate) {
        (None, _) => Blank::Unwatched,
        (Some(_), Some(0.0)) => Blank::Unserved,
        (Some(_), _) if cell.beside.is_some() => Blank::Beside,
        (Some(_), _) => Blank::LittleCpu,
    })
}

fn unclassified(cell: &CellAnalysis) -> Option<Unclassified> {
    let (least, least_s) = (COURSE_SECONDS as u32, COURSE_SECONDS as f64);
    // Slices are put together to as many steps as there are begun seconds.
    let steps_s =
        if matches!(cell.rotation, Some(Rotated::Together { .. })) { cell.window_s.ceil() } else { cell.window_s };
    let why = match cell.rotation {
        _ if steps_s < least_s => Unclassified::TooShort { least_s },
        Some(Rotated::Together { rounds, .. }) if rounds < least => Unclassified::FewSlices { slices: rounds, least },
        _ => Unclassified::Gaps,
    };
    (cell.trials > 0 && cell.course.launches.is_empty()).then_some(why)
}

fn generator_waited(cell: &CellAnalysis) -> Option<Waited> {
    let starved = cell.generator_starved.filter(|starved| *starved >= WAITED)?;
    Some(if starved > cell.generator_busy.unwrap_or(0.0) { Waited::MoreThanBusy } else { Waited::Told })
}

/// Says of each target without a rank why: what is wrong or in doubt of its own figure, who may be above it or below, or that
/// nobody is left to be.
fn unranked(group: &mut RankGroup, cells: &[CellAnalysis]) {
    let among: Vec<&CellAnalysis> = cells.iter().filter(|cell| cell.levels.conditions() == group.conditions).collect();
    for rank in &mut group.ranks {
        rank.unranked = among
            .iter()
            .find(|cell| rank.rank.is_none() && cell.levels.target() == rank.target)
            .map(|cell| why_unranked(cell, rank, &among));
    }
}

fn why_unranked(cell: &CellAnalysis, rank: &Rank, among: &[&CellAnalysis]) -> Unranked {
    let is_rival = |other: &CellAnalysis| other.levels.target() != rank.target && takes_place(other);
    match in_doubt(cell) {
        Some(own) => own,
        None if !rank.open.is_empty() => Unranked::Open,
        None if among.iter().any(|other| is_rival(other)) => Unranked::Close,
        None => Unranked::Alone,
    }
}

fn in_doubt(cell: &CellAnalysis) -> Option<Unranked> {
    let is = |marks: &[Mark]| cell.marks.iter().any(|note| marks.contains(&note.mark()));
    let is_open = cell.latency_us.population == Population::Response;
    Some(if cell.failing.bad {
        Unranked::Failed
    } else if (cell.trials as usize) < BLOCKS_FOR_A_VERDICT {
        Unranked::FewLaunches
    } else if cell.at_least {
        Unranked::AtLeast
    } else if is_open && cell.latency_us.p99.estimate.is_none() {
        Unranked::NoP99
    } else if is_open && cell.latency_us.censored {
        Unranked::Censored
    } else if is(&[Mark::Cold, Mark::WarmUp]) {
        Unranked::Warming
    } else if is(&[Mark::Thin]) {
        Unranked::Thin
    } else {
        return None;
    })
}

/// Each table's ranks are sure by themselves; of several, one or another errs more often.
fn rank_chance(groups: &[RankGroup]) -> Option<RankChance> {
    let is_ranked = |group: &&RankGroup| group.ranks.iter().filter(|rank| rank.rank.is_some()).count() >= 2;
    let tables = groups.iter().filter(|group| group.leads).filter(is_ranked).count();
    let chance = 1.0 - CONFIDENCE.powi(i32::try_from(tables).unwrap_or(i32::MAX));
    (tables >= 2).then_some(RankChance { tables: tables as u32, chance })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;

    fn cell() -> CellAnalysis {
        Session::new().cell("a", 100.0).noise(0.01).analyse().cells.remove(0)
    }

    #[test]
    fn a_blank_says_whether_requests_failed_or_were_too_few() {
        let mut cell = cell();
        for figure in [&mut cell.latency_us.p50, &mut cell.latency_us.p90] {
            figure.estimate = Some(1.0);
        }
        cell.latency_us.p99.estimate = None;
        let p99 = |cell: &CellAnalysis| of_cell(cell).blanks.get(&Metric::P99).copied();
        assert_eq!(p99(&cell), Some(Blank::FewRequests { needed: 368 }));
        cell.latency_us.few_collections = true;
        assert_eq!(p99(&cell), Some(Blank::FewCollections), "it had requests enough");
        cell.latency_us.failed_share = 0.02;
        assert!(matches!(p99(&cell), Some(Blank::Failed { most }) if (most - 0.01).abs() < 1e-9));
        assert!(!of_cell(&cell).blanks.contains_key(&Metric::P50), "the lower ones are there");
        (cell.latency_us.p50.estimate, cell.latency_us.p90.estimate) = (None, None);
        assert_eq!(of_cell(&cell).blanks.get(&Metric::P50), Some(&Blank::FewRequests { needed: 6 }));
        cell.trials = 0;
        assert_eq!(of_cell(&cell).blanks, BTreeMap::new(), "a void cell has no figure at all");
    }

    #[test]
    fn a_generator_that_waited_is_told_from_one_limit_on() {
        let mut cell = cell();
        let mut waited = |busy, starved| {
            (cell.generator_busy, cell.generator_starved) = (Some(busy), Some(starved));
            of_cell(&cell).generator_waited
        };
        assert_eq!(waited(0.5, 0.9 * WAITED), None);
        assert_eq!(waited(0.5, WAITED), Some(Waited::Told));
        assert_eq!(waited(0.5, 0.6), Some(Waited::MoreThanBusy));
    }

    #[test]
    fn a_course_is_missing_for_a_short_window_or_for_gaps() {
        let mut cell = cell();
        cell.course.launches.clear();
        cell.window_s = 9.9;
        assert_eq!(of_cell(&cell).unclassified, Some(Unclassified::TooShort { least_s: 10.0 }));
        cell.window_s = 10.0;
        assert_eq!(of_cell(&cell).unclassified, Some(Unclassified::Gaps));
        (cell.rotation, cell.window_s) = (Some(Rotated::Together { rounds: 4, slice_s: 2.5 }), 9.9);
        assert_eq!(of_cell(&cell).unclassified, Some(Unclassified::FewSlices { slices: 4, least: 10 }));
        cell.rotation = Some(Rotated::Together { rounds: 10, slice_s: 1.0 });
        assert_eq!(of_cell(&cell).unclassified, Some(Unclassified::Gaps));
    }

    #[test]
    fn each_target_without_a_rank_has_its_reason_and_a_ranked_one_none() {
        let session = Session::new().cell("a", 100.0).cell("b", 50.0).noise(0.01);
        let ranks = |analysis: &Analysis| {
            let leading = analysis.groups.iter().find(|group| group.leads).unwrap();
            leading.ranks.iter().map(|rank| (rank.rank.is_some(), rank.unranked)).collect::<Vec<_>>()
        };
        let mut analysis = session.analyse();
        assert_eq!(ranks(&analysis), [(true, None), (true, None)]);
        assert_eq!(analysis.rank_chance, None, "there is one table");
        analysis.cells[0].failing.bad = true;
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| rank.rank = None);
        remark(&mut analysis);
        assert_eq!(ranks(&analysis), [(false, Some(Unranked::Failed)), (false, Some(Unranked::Alone))]);
        let few = session.blocks(5).analyse();
        assert_eq!(ranks(&few), [(false, Some(Unranked::FewLaunches)); 2]);
    }
}
