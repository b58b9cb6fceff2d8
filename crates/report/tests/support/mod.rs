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
