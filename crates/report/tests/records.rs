//! Golden files of what real runs come to: records that bourdon made, read and judged as `bourdon report` does.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{Analysis, Judged, Mark, Pathology};
use report::Style;
use support::{PLAIN, assert_tidy, judged};

fn text(judged: &Judged, style: Style) -> String {
    let text = report::text(judged, style);
    assert_tidy(&text, style.width);
    text
}

#[test]
fn a_run() {
    let run = judged("side-by-side");
    insta::assert_snapshot!("run_text", text(&run, Style { verbose: true, ..PLAIN }));
    insta::assert_snapshot!("run_markdown", report::markdown(&run));
    let json = report::json(&run);
    let Judged::Run(analysis) = run else { panic!("it is a run") };
    assert_eq!(serde_json::from_str::<Analysis>(&json).unwrap(), *analysis);
    insta::assert_snapshot!("run_json", json);
}

#[test]
fn a_comparison() {
    let comparison = judged("comparison");
    insta::assert_snapshot!("comparison_text", text(&comparison, PLAIN));
    insta::assert_snapshot!("comparison_markdown", report::markdown(&comparison));
    insta::assert_snapshot!("comparison_json", report::json(&comparison));
}

#[test]
fn a_run_whose_load_went_round() {
    let run = judged("in-turn");
    insta::assert_snapshot!("in_turn_text", text(&run, Style { verbose: true, ..PLAIN }));
    let json = report::json(&run);
    let Judged::Run(analysis) = run else { panic!("it is a run") };
    assert_eq!(serde_json::from_str::<Analysis>(&json).unwrap(), *analysis);
    insta::assert_snapshot!("in_turn_json", json);
}

#[test]
fn a_comparison_whose_load_went_round() {
    let comparison = judged("rotating-comparison");
    insta::assert_snapshot!("rotating_comparison_text", text(&comparison, PLAIN));
    insta::assert_snapshot!("rotating_comparison_markdown", report::markdown(&comparison));
}

#[test]
fn a_run_whose_servers_do_not_stay_as_they_are() {
    let run = judged("unsteady");
    insta::assert_snapshot!("unsteady_text", text(&run, PLAIN));
    insta::assert_snapshot!("unsteady_markdown", report::markdown(&run));
    let Judged::Run(analysis) = run else { panic!("it is a run") };
    let marks: Vec<Mark> = analysis.session.marks.iter().map(|note| note.mark()).collect();
    assert!(marks.contains(&Mark::Noisy) && marks.contains(&Mark::Drift), "{marks:?}");
}

#[test]
fn a_run_of_a_server_that_serves_few_at_once() {
    let run = judged("few-at-once");
    insta::assert_snapshot!("few_at_once_text", text(&run, PLAIN));
    insta::assert_snapshot!("few_at_once_markdown", report::markdown(&run));
    let Judged::Run(analysis) = run else { panic!("it is a run") };
    let found: Vec<Pathology> = analysis.findings.iter().map(|finding| finding.pathology).collect();
    assert_eq!(found, [Pathology::FixedWorkerPool]);
}
