#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part, and a test may panic")]

pub(crate) mod causes;
pub(crate) mod comparisons;
pub(crate) mod loads;
pub(crate) mod notes;
pub(crate) mod plans;
pub(crate) mod runs;
pub(crate) mod session;

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
