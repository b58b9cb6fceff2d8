//! Sessions of `bourdon compare` with two equal servers, whole: every metric with a scatter of its own, one of them the primary one, from
//! the planner's first word to the verdicts.

use model::{Blocks, ComparePlan, CompareRow, ComparisonVerdict, Draft, Environment, Metric, TrialRecord};

use super::sessions::until_content;
use super::tables::{self, FOR_VERDICTS, percent, share, standard_error};
use crate::compare::{Run, compare_targets};
use crate::testing::{Session, normal, without_course};

/// Requests a second, so many that counting whole replies adds no noise of its own.
const THROUGHPUT: f64 = 10_000.0;

/// Memory, in bytes.
const PEAK_BYTES: f64 = 1e9;

/// What the comparison is about, as `compare` has it unless told otherwise; and its margin and precision with slices.
const PRIMARY: Metric = Metric::CpuPerRequest;
const MARGIN: f64 = 0.01;

/// Two equal servers.
#[derive(Debug, Clone, Copy)]
struct Equals {
    /// Standard deviation of the block log ratio, of each metric.
    ratio_noise: f64,
    /// How much of its variance the metrics of a launch share, 0 to 1.
    shared: f64,
    /// Fewest and most blocks.
    blocks: (u32, u32),
}

/// What a session called different that is not.
#[derive(Debug, Clone, Copy)]
struct ToldApart {
    primary: bool,
    /// Any of the others.
    others: bool,
    /// Any of the others if each were tested as if it were alone.
    without_holm: bool,
    /// Whether the interval of the primary metric holds 1.
    covers: bool,
}

impl Equals {
    /// So many sessions, each with a seed of its own.
    fn sessions(&self, count: u32) -> impl Iterator<Item = ToldApart> + '_ {
        (0..count).map(|seed| self.session(seed.into()))
    }

    fn session(&self, seed: u64) -> ToldApart {
        let (min, max) = self.blocks;
        let session = Session::new().cell("new", THROUGHPUT).cell("old", THROUGHPUT).noise(0.0).blocks(max);
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut records = session.records();
        records.iter_mut().for_each(|record| self.scatter(record, &mut rng));
        let plan = Draft {
            blocks: Blocks { min, max },
            margin: MARGIN,
            precision: MARGIN,
            precise: vec![PRIMARY],
            comparison: Some(ComparePlan {
                old: "old".to_owned(),
                new: "new".to_owned(),
                primary: Some(PRIMARY),
                ..ComparePlan::default()
            }),
            ..session.draft()
        };
        let plan = plan.resolve().expect("a session can be carried out");
        let trials = until_content(&plan, &records, 2);
        let seen =
            compare_targets(Run { plan: &plan, environment: &Environment::default(), trials }, "old", "new", &[]);
        told_apart(&seen.rows)
    }

    /// Throws off each figure by itself, and all of a launch together by what they share.
    fn scatter(&self, record: &mut TrialRecord, rng: &mut fastrand::Rng) {
        without_course(record);
        let deviation = self.ratio_noise / std::f64::consts::SQRT_2;
        let of_launch = self.shared.sqrt() * normal(rng);
        let mut factor = || (deviation * (of_launch + (1.0 - self.shared).sqrt() * normal(rng))).exp();
        if let Some(measured) = &mut record.measurement {
            let window = &mut measured.in_window;
            window.ok = (window.ok as f64 * factor()) as u64;
            if let Some(service) = &mut measured.latency_us.service {
                service.p50 = service.p50.map(|us| us * factor());
                service.p99 = service.p99.map(|us| us * factor());
            }
        }
        if let Some(seen) = &mut record.observation {
            let (cpu, memory) = (factor(), factor());
            // So much that half a MiB is little of it.
            seen.peak_memory_bytes = (PEAK_BYTES * memory) as u64;
            seen.peak_at_most_bytes = Some(seen.peak_memory_bytes);
            (seen.cpu_user_s, seen.cpu_system_s) = (seen.cpu_user_s * cpu, seen.cpu_system_s * cpu);
        }
        record.time_to_ready_ms = record.time_to_ready_ms.map(|ms| ms * factor());
    }
}

fn told_apart(rows: &[CompareRow]) -> ToldApart {
    let differs = |row: &&CompareRow| matches!(row.verdict, ComparisonVerdict::Faster | ComparisonVerdict::Slower);
    let excludes = |row: &&CompareRow| row.ratio.low > Some(1.0) || row.ratio.high.is_some_and(|high| high < 1.0);
    let primary = || rows.iter().filter(|row| row.metric == PRIMARY);
    let others = || rows.iter().filter(|row| row.metric != PRIMARY);
    ToldApart {
        primary: primary().any(|row| differs(&row)),
        others: others().any(|row| differs(&row)),
        without_holm: others().any(|row| excludes(&row)),
        covers: !primary().any(|row| excludes(&row)),
    }
}

/// Table 12: `compare` of equals, by all that it compares.
pub(super) fn table() -> String {
    let mut rows = Vec::new();
    for (words, blocks) in [("6 to 12", (6, 12)), ("6", (6, 6)), ("12", (12, 12))] {
        for (ratio_noise, shared) in [(0.01, 0.0), (0.016, 0.0), (0.016, 0.7), (0.03, 0.0)] {
            let equals = Equals { ratio_noise, shared, blocks };
            let seen: Vec<ToldApart> = equals.sessions(FOR_VERDICTS).collect();
            let of = |is: &dyn Fn(&ToldApart) -> bool| share(seen.iter().filter(|it| is(it)).count(), FOR_VERDICTS);
            let (primary, others) = (of(&|it| it.primary), of(&|it| it.others));
            let (either, covers) = (of(&|it| it.primary || it.others), of(&|it| it.covers));
            let without_holm = of(&|it| it.without_holm);
            for (wrong, level) in [(primary, 0.05), (others, 0.05), (either, 0.1)] {
                assert!(wrong <= level + 2.0 * standard_error(level, FOR_VERDICTS), "{equals:?}: {wrong}");
            }
            // Or these sessions could not show what Holm's adjustment is for.
            assert!(shared > 0.0 || without_holm > 0.08, "{equals:?}: {without_holm}");
            assert!(covers >= 0.95 - 2.0 * standard_error(0.95, FOR_VERDICTS), "{equals:?}: {covers}");
            let figures = [ratio_noise, shared, primary, others, either, without_holm, covers].map(percent);
            rows.push([vec![words.to_owned()], figures.to_vec()].concat());
        }
    }
    tables::table(
        "Table 12. `compare` of two equal servers by all six metrics, margin and precision 1 %",
        &[
            "blocks",
            "noise of each metric",
            "shared by all",
            "different by the primary one",
            "by any other",
            "by any",
            "by any other without Holm",
            "interval of the primary one holds the truth",
        ],
        &rows,
    )
}
