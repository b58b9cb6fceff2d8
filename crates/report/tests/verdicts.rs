//! Golden file of the page of verdicts over a series.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{Analysis, ClaimAnalysis, ClaimNote, ClaimVerdict, Judged};
use report::{Verdicts, claim_notes, verdict_counts, verdicts_json, verdicts_markdown};
use support::notes::every_note;
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
         | x | 3 | 1 | 0 | 1 | 1 | 1 | 2 of 81 |\n\
         | x | 3 | 1 | 1 | 0 | 1 | 1 | 2 of 81 |\n\
         | x | 3 | 2 | 0 | 0 | 1 | 1 | 2 of 81 |"
    );
    assert_eq!(
        table(&[&many]),
        "| experiment | supported | contradicted | inconclusive | not testable here | trials void |\n\
         | x | 3 | 2 | 1 | 1 | 2 of 81 |"
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

#[test]
fn every_note_of_a_claim_in_its_words() {
    let with = |verdict, notes| ClaimAnalysis { verdict, notes, ..runs::full().claims.remove(0) };
    let reconstruction = |verdict| {
        let notes = vec![ClaimNote::Reconstruction("old-model".to_owned())];
        claim_notes(&with(verdict, notes)).remove(0)
    };
    let mut said = claim_notes(&with(ClaimVerdict::Inconclusive, every_note()));
    said.extend([ClaimVerdict::Supported, ClaimVerdict::Contradicted].map(reconstruction));
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn what_documents_have_of_notes_is_read_again() {
    for note in every_note().into_iter().chain([ClaimNote::Said("it needs 8 cores".to_owned())]) {
        let json = serde_json::to_string(&note).unwrap();
        assert_eq!(serde_json::from_str::<ClaimNote>(&json).unwrap(), note, "{json}");
    }
    let mut run = runs::full();
    run.claims[0].notes = every_note();
    run.claims[0].notes.push(ClaimNote::Said("it needs 8 cores".to_owned()));
    let json = report::json(&Judged::Run(Box::new(run.clone())));
    assert_eq!(serde_json::from_str::<Analysis>(&json).unwrap().claims, run.claims);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let notes = document["claims"][0]["notes"].as_array().unwrap().iter();
    let said: Vec<&str> = notes.map(|note| note.as_str().or(note["text"].as_str()).unwrap()).collect();
    assert_eq!(said, claim_notes(&run.claims[0]));
}
