#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part, and a test may panic")]

pub(crate) mod causes;
pub(crate) mod comparisons;
pub(crate) mod loads;
pub(crate) mod notes;
pub(crate) mod plans;
pub(crate) mod runs;
pub(crate) mod session;

use std::path::{Path, PathBuf};

use lab::RunFolder;
use model::{Judged, Timeline};
use report::Style;

pub(crate) const PLAIN: Style = Style { colour: false, width: 100, verbose: false };
pub(crate) const COLOURED: Style = Style { colour: true, width: 100, verbose: false };

/// What holds for every text whatever it says.
#[track_caller]
pub(crate) fn assert_tidy(text: &str, width: usize) {
    for line in text.lines() {
        assert_eq!(line, line.trim_end(), "blanks at the end of a line");
        assert!(line.chars().count() <= width, "more than {width} columns: {line}");
    }
    assert!(text.ends_with('\n') && !text.ends_with("\n\n") && !text.contains("\n\n\n"), "{text:?}");
}

/// A moment as an environment has it.
pub(crate) fn local(text: &str) -> jiff::Zoned {
    jiff::Zoned::strptime("%Y-%m-%dT%H:%M:%S%:z", text).unwrap()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(name)
}

/// The launches of a recorded run over time.
pub(crate) fn timelines(name: &str) -> Vec<Timeline> {
    let record = RunFolder::read(&folder(name)).unwrap();
    judge::timelines(&record.trials, &RunFolder::traces(&folder(name), &record.trials))
}

/// What a recorded run means, as `bourdon report` reads and judges it.
pub(crate) fn judged(name: &str) -> Judged {
    let record = RunFolder::read(&folder(name)).unwrap();
    let run = judge::Run { plan: &record.plan, environment: &record.environment, trials: &record.trials };
    judge::answer(run)
}

/// The analysis of two targets as that of three, of which the middle one is tied with either of the others while these two are not tied.
pub(crate) fn tied_in_a_row(mut analysis: model::Analysis) -> model::Analysis {
    use model::ComparisonVerdict::{Faster, Same};
    let conditions = analysis.groups[0].conditions.clone();
    let called = |it: &model::CellAnalysis, name: &str| it.levels.matches(&conditions) && it.levels.target() == name;
    let mut third = analysis.cells.iter().find(|it| called(it, "computing")).unwrap().clone();
    third.levels = third.levels.with(model::Factor::Target, model::Level::Text("third".to_owned()));
    analysis.cells.push(third);
    let pair =
        analysis.comparisons.iter().find(|it| it.conditions == conditions && it.metric == model::Metric::Throughput);
    let pair = pair.unwrap().clone();
    let of = |(a, b, ratio, verdict): (&str, &str, f64, _)| {
        let ratio = model::Measured {
            estimate: Some(ratio),
            low: Some(ratio * 0.97),
            high: Some(ratio * 1.03),
            ..pair.ratio.clone()
        };
        model::Comparison { a: a.to_owned(), b: b.to_owned(), ratio, verdict, ..pair.clone() }
    };
    let pairs =
        [("plain", "computing", 1.02, Same), ("plain", "third", 1.05, Faster), ("computing", "third", 1.02, Same)];
    analysis.comparisons = pairs.into_iter().map(of).collect();
    let leading = analysis.groups.iter_mut().find(|it| it.leads && it.conditions == conditions).unwrap();
    let [first, second] = &leading.ranks[..] else { panic!("two targets") };
    let rank = |of: &model::Rank, target: &str, rank, tied| model::Rank {
        target: target.to_owned(),
        rank: Some(rank),
        tied,
        ..of.clone()
    };
    leading.ranks =
        vec![rank(first, "plain", 1, true), rank(second, "computing", 1, true), rank(second, "third", 3, false)];
    analysis
}
