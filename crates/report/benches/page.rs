//! The page of a great run: 20 targets under 12 conditions in 12 blocks. `make bench-page` opens it in a browser.

#![allow(clippy::unwrap_used, reason = "a benchmark ends there")]

use std::path::{Path, PathBuf};

use lab::RunFolder;
use model::{
    Analysis, CellAnalysis, CellLaunch, Comparison, Factor, Judged, LaunchUse, Level, LoadKey, Metric, Rank, RankGroup,
    Timeline, TimelineStep, latency_bucket,
};

const TARGETS: usize = 20;
const CONDITIONS: usize = 12;
const BLOCKS: u32 = 12;
/// Seconds of each launch.
const SECONDS: u32 = 10;
/// Replies of each second whose latencies are drawn from a log-normal distribution; the others count as these.
const DRAWN: u32 = 300;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let record = RunFolder::read(&folder.join("tests/records/few-at-once")).unwrap();
    let run = judge::Run { plan: &record.plan, environment: &record.environment, trials: &record.trials };
    let Judged::Run(analysis) = judge::answer(run) else { unreachable!("it is a run") };
    let analysis = great(*analysis);
    let mut rng = fastrand::Rng::with_seed(20);
    let launches = analysis.cells.iter().flat_map(|cell| &cell.launches);
    let timelines: Vec<Timeline> = launches.map(|launch| timeline(&launch.id, &mut rng)).collect();
    let page = report::html(&Judged::Run(Box::new(analysis)), &timelines);
    let to = std::env::args().nth(1).filter(|word| !word.starts_with('-')).map(PathBuf::from);
    if let Some(to) = to {
        std::fs::write(to, &page).unwrap();
    }
    println!("{} launches, {} bytes", timelines.len(), page.len());
}

/// The same with so many cells, each like one that was measured, and with ranks among the targets under each set of conditions.
fn great(analysis: Analysis) -> Analysis {
    let like = analysis.cells.clone();
    let places = (0..CONDITIONS).flat_map(|condition| (0..TARGETS).map(move |target| (condition, target)));
    let cell = |(at, (condition, target)): (usize, (usize, usize))| {
        let mut cell: CellAnalysis = like[at % like.len()].clone();
        let name = Level::Text(format!("server-{target:02}"));
        let connections = Level::Integer(10 * (1 + condition as u64));
        cell.levels = cell.levels.with(Factor::Target, name).with(Factor::Load(LoadKey::Connections), connections);
        let launch =
            cell.launches.iter().find(|launch| launch.used == LaunchUse::Counts && !launch.twin).unwrap().clone();
        let of_block = |block| CellLaunch { id: format!("b{block:02}-c{:02}", at + 1), block, ..launch.clone() };
        cell.launches = (1..=BLOCKS).map(of_block).collect();
        cell
    };
    let cells: Vec<CellAnalysis> = places.enumerate().map(cell).collect();
    let conditions: Vec<model::Cell> = cells.iter().step_by(TARGETS).map(|cell| cell.levels.conditions()).collect();
    let (pair, group) = (&analysis.comparisons[0], &analysis.groups[0]);
    let name = |target: usize| format!("server-{target:02}");
    let pairs = || (0..TARGETS).flat_map(|a| (a + 1..TARGETS).map(move |b| (a, b)));
    let compared = conditions.iter().flat_map(|at| {
        pairs().map(move |(a, b)| Comparison {
            metric: Metric::Throughput,
            conditions: at.clone(),
            a: name(a),
            b: name(b),
            ..pair.clone()
        })
    });
    let ranks: Vec<Rank> = (0..TARGETS)
        .map(|target| Rank { target: name(target), rank: Some(target as u32 + 1), ..group.ranks[0].clone() })
        .collect();
    let ranked = conditions.iter().map(|at| RankGroup {
        metric: Metric::Throughput,
        conditions: at.clone(),
        leads: true,
        ranks: ranks.clone(),
    });
    let (comparisons, groups) = (compared.collect(), ranked.collect());
    let mut made = Analysis { cells, comparisons, groups, ..analysis };
    judge::remark(&mut made);
    made
}

fn timeline(trial: &str, rng: &mut fastrand::Rng) -> Timeline {
    let steps = (0..SECONDS).map(|at| {
        let mut latencies = std::collections::BTreeMap::new();
        for _ in 0..DRAWN {
            // A sum of uniform ones is near enough to normal.
            let normal: f64 = (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
            *latencies.entry(latency_bucket(1e3 * (0.7 * normal).exp())).or_default() += rng.u64(20..40);
        }
        TimelineStep {
            at_s: f64::from(at),
            length_s: 1.0,
            ok: rng.u64(8_000..10_000),
            p50_us: Some(f64::from(rng.u32(9_000..11_000)) / 10.0),
            p99_us: Some(f64::from(rng.u32(40_000..60_000)) / 10.0),
            cpu_s: Some(f64::from(rng.u32(800_000..1_000_000)) / 1e6),
            memory_bytes: Some(4096 * rng.u64(3_000..4_000)),
            gc_count: Some(f64::from(rng.u32(0..9))),
            gc_pause_ms: Some(f64::from(rng.u32(0..9_000)) / 1e3),
            threads: Some(rng.u32(8..12)),
            connections: Some(100),
            latencies: latencies.into_iter().collect(),
            ..TimelineStep::default()
        }
    });
    Timeline { trial: trial.to_owned(), steps: steps.collect(), ..Timeline::default() }
}
