//! Golden file of the page of verdicts over a series.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::Analysis;
use report::{Verdicts, verdict_counts, verdicts_json, verdicts_markdown};
use support::{assert_tidy, runs};

/// The same run on a machine with enough cores for each claim.
fn on_many_cores() -> Analysis {
    let mut run = runs::full();
    for claim in &mut run.claims {
        if claim.not_refuted.take().is_some() {
            claim.notes.clear();
        }
    }
    run
}

#[test]
fn a_series_on_few_cores() {
    let (full, preliminary) = (runs::full(), runs::preliminary());
    let page = verdicts_markdown(&[
        Verdicts { name: "routers", outcome: Ok(&full) },
        Verdicts { name: "short", outcome: Ok(&preliminary) },
        Verdicts { name: "absent", outcome: Err("no target can be built here") },
    ]);
    assert_tidy(&page, usize::MAX);
    insta::assert_snapshot!(page);
}

#[test]
fn a_verdict_is_counted_under_the_words_that_show_it() {
    let few = verdict_counts(&runs::full());
    assert_eq!(few, "3 supported, 1 contradicted, 1 not refuted: 2 of 8 cores, 1 inconclusive, 1 not testable here");
    assert_eq!(verdict_counts(&on_many_cores()), "3 supported, 2 contradicted, 1 inconclusive, 1 not testable here");
}

#[test]
fn runs_of_several_machines_are_counted_apart_and_enough_cores_add_no_column() {
    let (two, many) = (runs::full(), on_many_cores());
    let mut one = runs::full();
    one.claims.iter_mut().filter_map(|claim| claim.not_refuted.as_mut()).for_each(|cores| cores.here = 1);
    let table = |runs: &[&Analysis]| {
        let series: Vec<Verdicts> = runs.iter().map(|run| Verdicts { name: "x", outcome: Ok(run) }).collect();
        let page = verdicts_markdown(&series);
        page.lines()
            .filter(|line| line.starts_with("| experiment") || line.starts_with("| x"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        table(&[&two, &one, &many]),
        "| experiment | supported | contradicted | not refuted: 1 of 8 cores | not refuted: 2 of 8 cores | inconclusive \
         | not testable here | trials void |\n\
         | x | 3 | 1 | 0 | 1 | 1 | 1 | 2 of 42 |\n\
         | x | 3 | 1 | 1 | 0 | 1 | 1 | 2 of 42 |\n\
         | x | 3 | 2 | 0 | 0 | 1 | 1 | 2 of 42 |"
    );
    assert_eq!(
        table(&[&many]),
        "| experiment | supported | contradicted | inconclusive | not testable here | trials void |\n\
         | x | 3 | 2 | 1 | 1 | 2 of 42 |"
    );
}

#[test]
fn the_verdict_for_machines_stays() {
    let run = runs::full();
    let document = verdicts_json(&[Verdicts { name: "routers", outcome: Ok(&run) }]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let claim = &document["experiments"][0]["analysis"]["claims"][4];
    assert_eq!((claim["verdict"].as_str(), claim["not_refuted"]["here"].as_u64()), (Some("contradicted"), Some(2)));
}
