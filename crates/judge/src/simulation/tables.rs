//! The tables of docs/STATISTICS.md, each checked against what the method promises while it is made.

use std::panic::resume_unwind;

use model::{Blocks, ComparisonVerdict, Course, Mark};

use super::comparison;
use super::errors::{self, Interval};
use super::launches::{Launch, course};
use super::machine::Drift;
use super::noise::Noise;
use super::rotation::{self, Burst, Contest};
use super::sessions::{Experiment, Seen, tells_apart};
use crate::statistics::{sign_interval, t_interval};

/// Sessions behind a share of intervals: one in 95 % is known to ± 0.4 points (one standard error).
const FOR_COVERAGE: u32 = 10_000;
/// Sessions that go the whole way behind a share: 5 % is known to ± 0.5 points.
pub(super) const FOR_VERDICTS: u32 = 2_000;
/// Sessions behind a share of marks, or of claims about errors: 5 % is known to ± 0.7 points.
const FOR_MARKS: u32 = 1_000;

/// Sessions launch after launch on a machine that drifts, which nothing is promised of: 95 % is known to ± 1.3 points.
const FOR_CONTRAST: u32 = 300;

/// Sessions of six targets whose ranks are compared with every pair.
const FOR_RANKS: u32 = 500;

/// Every table, in the order of the page. Each has its own seeds, so they can be made side by side.
pub(super) fn all() -> String {
    let tables: [fn() -> String; 12] = [
        coverage,
        marks,
        alike,
        different,
        families,
        ranks,
        itself,
        courses,
        failing,
        raised,
        rotated,
        comparison::table,
    ];
    std::thread::scope(|scope| {
        let made = tables.map(|table| scope.spawn(table));
        made.map(|table| table.join().expect("a table holds what the method promises")).concat()
    })
}

pub(super) fn table(title: &str, header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: String = (0..header.len()).map(|column| if column == 0 { "|---" } else { "|---:" }).collect();
    let head = line(&header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("\n**{title}**\n\n{head}{rule}|\n{body}")
}

pub(super) fn share(part: usize, of: u32) -> f64 {
    part as f64 / f64::from(of)
}

/// By how much a share of so many sessions is off by chance, as one standard deviation.
pub(super) fn standard_error(share: f64, of: u32) -> f64 {
    (share * (1.0 - share) / f64::from(of)).sqrt()
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Table 1: how often the intervals hold the truth.
fn coverage() -> String {
    let mut rows = Vec::new();
    for noise in Noise::ALL {
        for blocks in [6, 8, 12] {
            let mut rng = fastrand::Rng::with_seed(blocks as u64);
            let (mut by_t, mut by_sign) = (0, 0);
            for _ in 0..FOR_COVERAGE {
                let values = noise.blocks(blocks, &mut rng);
                by_t += usize::from(t_interval(&values).is_some_and(|i| i.low <= 0.0 && 0.0 <= i.high));
                by_sign += usize::from(sign_interval(&values).is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high));
            }
            let (by_t, by_sign) = (share(by_t, FOR_COVERAGE), share(by_sign, FOR_COVERAGE));
            let sound = matches!(noise, Noise::Normal | Noise::HeavyTails | Noise::OneBadBlock);
            assert!(!sound || by_t >= 0.935, "{noise:?} at {blocks} blocks covers {by_t}");
            rows.push(vec![noise.words().to_owned(), blocks.to_string(), percent(by_t), percent(by_sign)]);
        }
    }
    table(
        "Table 1. How often a 95 % interval holds the truth",
        &["block log ratios", "blocks", "t interval", "sign interval"],
        &rows,
    )
}

/// Table 2: how often the marks warn, where they must and where they must not.
fn marks() -> String {
    let mut rows = Vec::new();
    for noise in [Noise::Normal, Noise::HeavyTails, Noise::Correlated, Noise::Trend] {
        for targets in [2, 6] {
            let mut row = vec![noise.words().to_owned(), targets.to_string()];
            for blocks in [6, 8, 12] {
                let experiment = Experiment { noise, blocks: (blocks, blocks), ..Experiment::equals(targets, 0.03) };
                let seen: Vec<Seen> = experiment.sessions(FOR_MARKS).collect();
                let marked = |mark| share(seen.iter().filter(|seen| seen.marked(mark)).count(), FOR_MARKS);
                let (drift, correlated) = (marked(Mark::Drift), marked(Mark::Correlated));
                if matches!(noise, Noise::Normal | Noise::HeavyTails) {
                    assert!(drift <= 0.07 && correlated <= 0.07, "{experiment:?}: {drift}, {correlated}");
                }
                row.push(format!("{} / {}", percent(drift), percent(correlated)));
            }
            rows.push(row);
        }
    }
    table(
        "Table 2. How often a session is marked `drift` / `correlated`",
        &["block log ratios", "targets", "6 blocks", "8 blocks", "12 blocks"],
        &rows,
    )
}

/// What sessions of two targets come to, under the planner's own stopping rule.
fn outcome(experiment: &Experiment) -> Outcome {
    let seen: Vec<Seen> = experiment.sessions(FOR_VERDICTS).collect();
    let of = |verdict| share(seen.iter().filter(|seen| seen.verdict() == Some(verdict)).count(), FOR_VERDICTS);
    let blocks: u32 = seen.iter().map(|seen| seen.analysis.blocks).sum();
    // The first target is the slower one wherever they differ.
    Outcome {
        slower: of(ComparisonVerdict::Slower),
        faster: of(ComparisonVerdict::Faster),
        same: of(ComparisonVerdict::Same),
        inconclusive: of(ComparisonVerdict::Inconclusive),
        covered: share(seen.iter().filter(|seen| seen.covers(1.0 / experiment.truth[1])).count(), FOR_VERDICTS),
        blocks: f64::from(blocks) / f64::from(FOR_VERDICTS),
    }
}

struct Outcome {
    slower: f64,
    faster: f64,
    same: f64,
    inconclusive: f64,
    covered: f64,
    blocks: f64,
}

/// Table 3: a target against itself.
fn alike() -> String {
    let mut rows = Vec::new();
    for noise in [Noise::Normal, Noise::HeavyTails, Noise::OneBadBlock] {
        for ratio_noise in [0.01, 0.03, 0.05, 0.1] {
            let experiment = Experiment { noise, ..Experiment::pair(1.0, ratio_noise) };
            let found = outcome(&experiment);
            let wrong = found.slower + found.faster;
            assert!(wrong <= 0.05, "{experiment:?}: {wrong} distinguished");
            assert!(found.covered >= 0.945, "{experiment:?}: {} hold the truth", found.covered);
            let figures = [wrong, found.same, found.inconclusive, found.covered].map(percent);
            let mut row = vec![noise.words().to_owned(), percent(ratio_noise)];
            row.extend(figures);
            row.push(format!("{:.1}", found.blocks));
            rows.push(row);
        }
    }
    table(
        "Table 3. Two targets that are alike, stopped by precision (3 %) between 6 and 12 blocks",
        &["block log ratios", "their noise", "faster or slower", "same", "inconclusive", "interval holds 1", "blocks"],
        &rows,
    )
}

/// Table 4: a target that is faster.
fn different() -> String {
    let mut rows = Vec::new();
    for ratio in [1.03, 1.05, 1.1] {
        for ratio_noise in [0.01, 0.03, 0.03 * std::f64::consts::SQRT_2, 0.1] {
            let found = outcome(&Experiment::pair(ratio, ratio_noise));
            assert!(
                ratio < 1.05 || ratio_noise > 0.05 || found.slower >= 0.8,
                "{ratio} at {ratio_noise}: {}",
                found.slower
            );
            assert!(ratio < 1.05 || found.same <= 0.025, "{ratio} at {ratio_noise}: {} the same", found.same);
            let figures = [found.slower, found.faster, found.same, found.inconclusive, found.covered].map(percent);
            let mut row = vec![percent(ratio - 1.0), percent(ratio_noise)];
            row.extend(figures);
            row.push(format!("{:.1}", found.blocks));
            rows.push(row);
        }
    }
    table(
        "Table 4. One target truly faster, stopped by precision (3 %) between 6 and 12 blocks",
        &["change", "noise", "found", "wrong way", "same", "inconclusive", "interval holds it", "blocks"],
        &rows,
    )
}

/// Table 5: families of pairs.
fn families() -> String {
    let mut rows = Vec::new();
    let some = |truth: &[f64]| Experiment { truth: truth.to_vec(), ..Experiment::pair(1.0, 0.1) };
    for (words, experiment) in [
        ("3 alike (3 pairs)", some(&[1.0; 3])),
        ("6 alike (15 pairs)", some(&[1.0; 6])),
        ("4 alike, 1 twice as fast (6 of 10 pairs alike)", some(&[1.0, 1.0, 1.0, 1.0, 2.0])),
        ("2 alike, 2 alike and twice as fast (2 of 6 pairs alike)", some(&[1.0, 1.0, 2.0, 2.0])),
    ] {
        let wrong = |seen: &Seen| seen.throughput().any(|pair| tells_apart(pair) && experiment.are_alike(pair));
        let unadjusted = |seen: &Seen| seen.throughput().any(|pair| excludes_one(pair) && experiment.are_alike(pair));
        let seen: Vec<Seen> = experiment.sessions(FOR_VERDICTS).collect();
        let rate = |is: &dyn Fn(&Seen) -> bool| share(seen.iter().filter(|seen| is(seen)).count(), FOR_VERDICTS);
        let (told, would) = (rate(&wrong), rate(&unadjusted));
        assert!(told <= 0.05, "{words}: {told}");
        rows.push(vec![words.to_owned(), percent(told), percent(would)]);
    }
    table(
        "Table 5. Sessions in which any pair that is alike was called different (noise 10 %)",
        &["targets", "as bourdon judges", "by the intervals alone"],
        &rows,
    )
}

fn excludes_one(pair: &model::Comparison) -> bool {
    pair.ratio.low.is_some_and(|low| low > 1.0) || pair.ratio.high.is_some_and(|high| high < 1.0)
}

/// Table 6: ranks against the pairs they come from.
fn ranks() -> String {
    let truth = vec![1.0, 1.01, 1.03, 1.05, 1.1, 1.1];
    let mut rows = Vec::new();
    for ratio_noise in [0.01, 0.03, 0.1] {
        let experiment = Experiment { truth: truth.clone(), ..Experiment::pair(1.0, ratio_noise) };
        let (mut pairs, mut contradictions) = (0, 0);
        for seen in experiment.sessions(FOR_RANKS) {
            pairs += seen.throughput().filter(|pair| tells_apart(pair)).count();
            contradictions += seen.contradictions();
        }
        assert_eq!(contradictions, 0);
        rows.push(vec![percent(ratio_noise), pairs.to_string(), contradictions.to_string()]);
    }
    table(
        "Table 6. Rank groups of six targets at 1, 1.01, 1.03, 1.05, 1.1 and 1.1",
        &["noise", "pairs distinguished", "of these contradicted by the ranks"],
        &rows,
    )
}

/// Table 7: a target against itself, as each session measures it.
fn itself() -> String {
    let mut rows = Vec::new();
    for ratio_noise in [0.01, 0.03, 0.05, 0.1] {
        let experiment = Experiment { twin: true, ..Experiment::pair(1.2, ratio_noise) };
        let seen: Vec<Seen> = experiment.sessions(FOR_MARKS).collect();
        let noisy = share(seen.iter().filter(|seen| seen.marked(Mark::Noisy)).count(), FOR_MARKS);
        assert!(noisy <= 0.05, "{ratio_noise}: {noisy} marked noisy");
        let widths: Vec<f64> = seen.iter().filter_map(Seen::noise).collect();
        let width = widths.iter().sum::<f64>() / widths.len() as f64;
        rows.push(vec![percent(ratio_noise), format!("± {}", percent(width)), percent(noisy)]);
    }
    table(
        "Table 7. One target against itself in each session: the noise it shows, and how often it marks an even session",
        &["noise", "its interval, on average", "marked `noisy`"],
        &rows,
    )
}

/// Table 8: what a launch of ten seconds is called.
fn courses() -> String {
    let mut rows = Vec::new();
    for launch in Launch::ALL {
        for noise in [0.02, 0.05, 0.1] {
            let mut rng = fastrand::Rng::with_seed(8);
            let seen: Vec<Option<Course>> = (0..FOR_MARKS).map(|_| course(launch, noise, &mut rng)).collect();
            let called = |course: &Course| share(seen.iter().filter(|seen| **seen == Some(*course)).count(), FOR_MARKS);
            let right = called(&launch.truth());
            assert!(launch != Launch::Flat || right >= 0.9, "{launch:?} at {noise}: {right}");
            let mut row = vec![launch.words().to_owned(), percent(noise)];
            row.extend(Course::ALL.iter().map(|course| percent(called(course))));
            rows.push(row);
        }
    }
    table(
        "Table 8. What a launch with a window of ten seconds is called",
        &["truth", "noise of a second", "flat", "warm-up", "slow-down", "unsteady"],
        &rows,
    )
}

/// Table 9: how often the interval of a claim about errors holds the share that truly fails.
fn failing() -> String {
    let mut rows = Vec::new();
    for (words, scatter) in [("none", 0.0), ("a third (σ = 0.3)", 0.3), ("lognormal, σ = 1", 1.0)] {
        for blocks in [6, 12] {
            let seen: Vec<Interval> =
                (0..FOR_MARKS).map(|seed| errors::interval(blocks, scatter, seed.into())).collect();
            let of = |place: Interval| share(seen.iter().filter(|seen| **seen == place).count(), FOR_MARKS);
            let holds = of(Interval::Holds);
            assert!(scatter > 0.0 || holds >= 0.95, "{blocks} blocks of independent failures: {holds}");
            let figures = [holds, of(Interval::Below), of(Interval::Above)].map(percent);
            rows.push([vec![words.to_owned(), blocks.to_string()], figures.to_vec()].concat());
        }
    }
    table(
        "Table 9. How often the 95 % interval of a claim about errors holds the true share of 0.5 %",
        &["scatter of a launch's share", "blocks", "holds it", "lies below it", "lies above it"],
        &rows,
    )
}

/// Table 10: somebody who asks for more blocks until two targets are settled.
fn raised() -> String {
    let (planned, fixed) = (Blocks { min: 6, max: 12 }, Blocks { min: 12, max: 12 });
    let mut rows = Vec::new();
    for (words, first, margin, ratio, ratio_noise) in [
        ("6 to 12", planned, 0.05, 1.0, 0.08),
        ("6 to 12", planned, 0.05, 1.0, 0.2),
        ("6 to 12", planned, 0.02, 1.0, 0.05),
        ("6 to 12", planned, 0.01, 1.0, 0.05),
        ("6 to 12", planned, 0.05, 1.0501, 0.08),
        ("12", fixed, 0.05, 1.0, 0.08),
        ("12", fixed, 0.01, 1.0, 0.05),
        ("12", fixed, 0.05, 1.0501, 0.08),
    ] {
        let experiment = Experiment { blocks: (6, 96), ..Experiment::pair(ratio, ratio_noise) };
        let seen: Vec<(Seen, u32)> = experiment.raised(first, margin, FOR_MARKS).collect();
        let of = |is: &dyn Fn(&Seen) -> bool| share(seen.iter().filter(|(seen, _)| is(seen)).count(), FOR_MARKS);
        let verdict = |verdict| of(&|seen: &Seen| seen.verdict() == Some(verdict));
        let (differ, same) = (of(&|seen| seen.throughput().any(tells_apart)), verdict(ComparisonVerdict::Same));
        // The analysis holds the first against the second.
        let covers = of(&|seen| seen.covers(1.0 / ratio));
        assert!(covers >= 0.95 - 2.0 * standard_error(0.95, FOR_MARKS), "{experiment:?}, {first:?}: {covers}");
        // A fixed number of blocks spends the whole level on the first look; all later ones may add 1 %.
        let level = if first == fixed { 0.06 } else { 0.05 };
        let (wrong, level) = if ratio > 1.0 { (same, level / 2.0) } else { (differ, level) };
        assert!(wrong <= level + 2.0 * standard_error(level, FOR_MARKS), "{experiment:?}, {first:?}: {wrong}");
        let blocks: u32 = seen.iter().map(|(_, blocks)| blocks).sum();
        let figures = [differ, same, verdict(ComparisonVerdict::Inconclusive)].map(percent);
        let mut row = vec![words.to_owned(), percent(margin), percent(ratio - 1.0), percent(ratio_noise)];
        row.extend(figures);
        row.extend([percent(covers), format!("{:.0}", f64::from(blocks) / f64::from(FOR_MARKS))]);
        rows.push(row);
    }
    table(
        "Table 10. Two targets, with more blocks asked for (24, 48, 96) until there is a verdict",
        &[
            "blocks at first",
            "margin",
            "change",
            "noise",
            "faster or slower",
            "same",
            "inconclusive",
            "interval holds the truth",
            "blocks",
        ],
        &rows,
    )
}

/// Machines on which one of two targets works in bursts.
const BURSTS: [(Drift, Burst); 6] = [
    (Drift::All, Burst::Pauses),
    (Drift::RecordedCpu, Burst::Pauses),
    (Drift::All, Burst::Collections(3)),
    (Drift::RecordedCpu, Burst::Collections(3)),
    (Drift::All, Burst::Collections(6)),
    (Drift::RecordedCpu, Burst::Collections(6)),
];

/// Table 11: two targets on a machine whose speed drifts, launch after launch and in rotation.
fn rotated() -> String {
    let even = Drift::ALL.map(|drift| (drift, Burst::Never));
    let rows = std::thread::scope(|scope| {
        let made: Vec<_> = even.into_iter().chain(BURSTS).map(|of| scope.spawn(move || rotated_rows(of))).collect();
        let rows = made.into_iter().flat_map(|made| made.join().unwrap_or_else(|panic| resume_unwind(panic)));
        rows.collect::<Vec<Vec<String>>>()
    });
    table(
        "Table 11. Two targets on a machine whose speed drifts by 30 %, stopped by precision (1 %) between 6 and 12 blocks",
        &[
            "the machine",
            "what is compared",
            "launches",
            "half width",
            "alike: called different",
            "alike: same",
            "2 % faster: found",
            "interval holds the truth",
            "time",
        ],
        &rows,
    )
}

fn rotated_rows((drift, burst): (Drift, Burst)) -> [Vec<String>; 2] {
    [("launch after launch", false, FOR_CONTRAST), ("rotation", true, FOR_MARKS)].map(|(way, rotates, count)| {
        let of =
            |ratio: f64| -> Vec<rotation::Seen> { Contest { drift, ratio, burst, rotates }.sessions(count).collect() };
        let (alike, faster) = (of(1.0), of(1.02));
        let share_of = |all: &[rotation::Seen], is: &dyn Fn(&rotation::Seen) -> bool| {
            share(all.iter().filter(|seen| is(seen)).count(), count)
        };
        let wrong = share_of(&alike, &|seen| tells_apart(&seen.found));
        let same = share_of(&alike, &|seen| seen.is(ComparisonVerdict::Same));
        let found = share_of(&faster, &|seen| seen.is(ComparisonVerdict::Slower));
        let is_lumpy = matches!(burst, Burst::Collections(_));
        let truth = if is_lumpy { 1.02 } else { 1.0 / 1.02 };
        let held = share_of(&alike, &|seen| seen.covers(1.0)).min(share_of(&faster, &|seen| seen.covers(truth)));
        let median = |of: &dyn Fn(&rotation::Seen) -> f64| {
            let mut all: Vec<f64> = alike.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let standard_error = standard_error(0.05, count);
        // What so few sessions tell of 95 %: each row has two such shares, and the least of all is asked.
        let least = if rotates { 0.935 } else { 0.95 - 3.0 * standard_error };
        assert!(held >= least, "{drift:?}, {burst:?}, {way}: {held} hold the truth");
        // Launches that differ by one collection more or less may look alike by chance, and the run then ends there.
        let level = if is_lumpy { 0.05 + 2.0 * standard_error } else { 0.05 };
        assert!(!rotates || wrong <= level, "{drift:?}, {burst:?} in rotation: {wrong} distinguished");
        let half_width = format!("± {}", percent(median(&rotation::Seen::half_width)));
        let mut row = vec![drift.words().to_owned(), burst.words(), way.to_owned(), half_width];
        row.extend([wrong, same, found, held].map(percent));
        row.push(format!("{:.0} s", median(&|seen| seen.took_s)));
        row
    })
}
