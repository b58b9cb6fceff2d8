//! Golden files of `bourdon run` and `bourdon report`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{Analysis, MOST_NEEDED_BLOCKS, Mark, MarkNote};
use report::{Style, run_json, run_markdown, run_text};
use support::{COLOURED, PLAIN, assert_tidy, runs};

fn text(analysis: &Analysis) -> String {
    let text = run_text(analysis, PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

#[test]
fn full() {
    insta::assert_snapshot!(text(&runs::full()));
}

#[test]
fn full_in_colour() {
    insta::assert_snapshot!(run_text(&runs::full(), COLOURED));
}

#[test]
fn preliminary() {
    insta::assert_snapshot!(text(&runs::preliminary()));
}

#[test]
fn open_rate_with_one_table() {
    insta::assert_snapshot!(text(&runs::open_rate()));
}

#[test]
fn where_the_latency_is_the_generators_an_open_load_ranks_nobody() {
    let mut open = runs::open_rate();
    assert!(text(&open).contains(" 2  the-other-one"));
    let note = MarkNote::new(Mark::Lateness, "the lateness p99 is 1.2 ms");
    open.cells[0].marks.push(note);
    let shown = text(&open);
    assert!(shown.contains("\n  the-other-one") && !shown.contains("ranked by"), "{shown}");
}

#[test]
fn nobody_is_asked_for_more_blocks_than_can_be_made() {
    let mut full = runs::full();
    full.claims[0].needs_blocks = Some(MOST_NEEDED_BLOCKS);
    let shown = text(&full);
    assert!(shown.contains("too close to the threshold: 1,000 blocks or more"), "{shown}");
    assert!(!shown.contains("--blocks 1"), "{shown}");
}

#[test]
fn one_target_under_many_conditions_is_one_table() {
    insta::assert_snapshot!(text(&runs::one_target()));
    insta::assert_snapshot!("one_target_markdown", run_markdown(&runs::one_target()));
}

#[test]
fn markdown_full() {
    let markdown = run_markdown(&runs::full());
    assert_tidy(&markdown, usize::MAX);
    insta::assert_snapshot!(markdown);
}

#[test]
fn markdown_preliminary() {
    insta::assert_snapshot!(run_markdown(&runs::preliminary()));
}

#[test]
fn json_full() {
    let text = run_json(&runs::full());
    insta::assert_snapshot!(text);
    let back: Analysis = serde_json::from_str(&text).unwrap();
    assert_eq!(back, runs::full());
}

#[test]
fn what_was_never_launched_is_not_called_void() {
    let mut stopped = runs::full();
    let cell = stopped.cells.iter_mut().find(|cell| cell.void > 0).unwrap();
    assert!(cell.throughput.estimate.is_none() && text(&runs::full()).contains(" void  "));
    (cell.trials, cell.void) = (0, 0);
    let shown = text(&stopped);
    assert!(shown.contains(" not run  ") && !shown.contains(" void  "), "{shown}");
}

#[test]
fn every_width_is_kept_to_by_wrapping_and_by_shorter_bars() {
    for width in [82, 90, 120] {
        assert_tidy(&run_text(&runs::full(), Style { colour: false, width }), width);
    }
}

#[test]
fn a_blank_says_why_and_memory_what_it_counts() {
    let mut analysis = runs::open_rate();
    let none = |unit: &str| model::Measured { estimate: None, low: None, high: None, unit: unit.to_owned() };
    let cell = &mut analysis.cells[1];
    (cell.cpu_us_per_request, cell.latency_us.p99) = (none("us"), none("us"));
    cell.memory_count = model::MemoryCount::Proportional;
    analysis.groups[1].ranks[1].rank = None;
    let cell = &mut analysis.cells[0];
    (cell.cpu_us_per_request, cell.target_busy, cell.peak_memory_bytes) = (none("us"), None, none("bytes"));
    insta::assert_snapshot!(text(&analysis));
}
