//! Whatever has figures and words has both in JSON, whatever kind it is of; nothing else there gains any, and what is read back is
//! what was written.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::collections::BTreeMap;

use model::*;
use report::{
    Origin, Verdicts, asked_load, calibration_json, claim_notes, difference_words, json, load_json, note_words,
    reason_words, verdicts_json,
};
use serde_json::Value;
use support::causes::{every_breach, every_difference, every_failure, every_mark, every_no_profile, every_reason};
use support::notes::every_note;
use support::{comparisons, loads, runs};

/// Where objects of a document have a `text` that they do not have when written alone, by their path without keys that are numbers;
/// asserts that nothing else differs.
fn gained(alone: &Value, told: &Value, path: &str, into: &mut BTreeMap<String, usize>) {
    match (alone, told) {
        (Value::Object(alone), Value::Object(told)) => {
            for (key, value) in told {
                let below = if key.parse::<u32>().is_ok() { path.to_owned() } else { format!("{path}.{key}") };
                match alone.get(key) {
                    Some(alone) => gained(alone, value, &below, into),
                    None => {
                        assert!(
                            key == "text" && value.as_str().is_some_and(|words| !words.is_empty()),
                            "{path}: {key}"
                        );
                        *into.entry(path.to_owned()).or_default() += 1;
                    }
                }
            }
            assert!(alone.keys().all(|key| told.contains_key(key)), "{path}");
        }
        (Value::Array(alone), Value::Array(told)) => {
            assert_eq!(alone.len(), told.len(), "{path}");
            alone.iter().zip(told).for_each(|(alone, told)| gained(alone, told, path, into));
        }
        _ => assert_eq!(alone, told, "{path}"),
    }
}

/// Asserts that a document has so many sentences at each of these places, and none elsewhere.
#[track_caller]
fn assert_told(alone: &Value, told: &str, expected: &[(&str, usize)]) {
    let mut found = BTreeMap::new();
    gained(alone, &serde_json::from_str(told).unwrap(), "", &mut found);
    let expected = expected.iter().map(|(path, number)| ((*path).to_owned(), *number));
    assert_eq!(found, expected.filter(|(_, number)| *number > 0).collect());
}

/// The sentences of some objects.
fn texts(told: &Value) -> Vec<String> {
    told.as_array().unwrap().iter().filter_map(|one| Some(one["text"].as_str()?.to_owned())).collect()
}

/// Reasons that have no words until they are told.
fn wordless() -> usize {
    every_reason().iter().filter(|reason| !matches!(reason.why, Why::Text(_))).count()
}

fn void(reason: Reason) -> VoidTrial {
    VoidTrial { id: "b01-c01".to_owned(), arm: None, block: 1, twin: false, levels: Cell::default(), reason }
}

/// Blocks set aside for all that can be read back of them: which course it is, the code of a reason says.
fn repeated() -> Vec<RepeatedBlock> {
    let of_course = |why: &Why| matches!(why, Why::Mark(MarkCause::Course(_) | MarkCause::Growth(_)));
    let whys = every_reason().into_iter().map(|reason| reason.why).filter(|why| !of_course(why));
    whys.map(|why| RepeatedBlock { block: 1, arm: None, trial: "b01-c01".to_owned(), why }).collect()
}

fn session() -> SessionAnalysis {
    SessionAnalysis {
        itself: Vec::new(),
        repeated: repeated(),
        marks: every_mark().into_iter().map(MarkNote::new).collect(),
        cpus: None,
    }
}

/// Cells that have between them all that a cell can have.
fn cells(one: &CellAnalysis) -> Vec<CellAnalysis> {
    let bare = CellAnalysis { rotation: None, profile: None, died: None, ..one.clone() };
    let bare = CellAnalysis { invariants: Vec::new(), marks: Vec::new(), ..bare };
    let share = Measured { estimate: Some(0.5), low: None, high: None, unit: Unit::Share };
    let profile = |why| CellProfile {
        by: Vec::new(),
        launches: 0,
        samples: 0,
        share: share.clone(),
        functions: Vec::new(),
        no_profile: Some(why),
    };
    let check = |breach: Breach| InvariantCheck::new(breach.invariant(), Some(breach));
    let mut full = CellAnalysis { marks: every_mark().into_iter().map(MarkNote::new).collect(), ..bare.clone() };
    full.invariants = every_breach().into_iter().map(check).collect();
    full.invariants.push(InvariantCheck::new(Invariant::Markov, None));
    let mut all = vec![full];
    let died = |why| Died { of: 2, why, printed: "so".to_owned() };
    all.extend(every_failure().into_iter().map(|why| CellAnalysis { died: Some(died(why)), ..bare.clone() }));
    all.extend(every_no_profile().into_iter().map(|why| CellAnalysis { profile: Some(profile(why)), ..bare.clone() }));
    let seen = |reason| Rotated::Seen { target: None, reason };
    all.extend(every_reason().into_iter().map(|of| CellAnalysis { rotation: Some(seen(of)), ..bare.clone() }));
    all
}

/// A run in which everything happened.
fn run() -> Analysis {
    let mut run = runs::one_target();
    run.cells = cells(&run.cells[0]);
    run.claims[0].notes = every_note();
    run.claims[0].notes.push(ClaimNote::Said("so".to_owned()));
    let reasons = || every_reason().into_iter().enumerate().map(|(at, reason)| (at.to_string(), reason));
    let said = ("said".to_owned(), NotServed::Said("so".to_owned()));
    run.relative_rates = vec![RelativeRate {
        conditions: Cell::default(),
        rate_per_s: 1.0,
        closed_per_s: BTreeMap::new(),
        without: reasons().map(|(target, why)| (target, NotServed::Seen(why))).chain([said]).collect(),
        at_least: reasons().collect(),
    }];
    let finding = |pathology| Finding {
        target: "a".to_owned(),
        pathology,
        certainty: Certainty::ConsistentWith,
        value: None,
        evidence: Vec::new(),
        conditions: Cell::default(),
        ruled_out: RuledOut { target_cpus: 1.0, generator: 0.5, ceiling: 0.5 },
    };
    run.findings = Pathology::ALL.iter().copied().map(finding).collect();
    run.session = session();
    run.void_trials = every_reason().into_iter().map(void).collect();
    run
}

/// What a document has of cells, of the session and of void trials.
fn common(mut expected: Vec<(&'static str, usize)>) -> Vec<(&'static str, usize)> {
    expected.extend([
        (".cells.marks", every_mark().len()),
        (".cells.invariants", every_breach().len()),
        (".cells.died", every_failure().len()),
        (".cells.profile.no_profile", every_no_profile().len()),
        (".cells.rotation.seen.reason", wordless()),
        (".session.repeated", repeated().iter().filter(|block| !matches!(block.why, Why::Text(_))).count()),
        (".session.marks", every_mark().len()),
        (".void_trials.reason", wordless()),
    ]);
    expected
}

/// The same of a document that has an answer.
fn answered<'a>(expected: &[(&'a str, usize)]) -> Vec<(&'a str, usize)> {
    [("", 1)].into_iter().chain(expected.iter().copied()).collect()
}

/// What a run's document has, below `at`.
fn of_run() -> Vec<(&'static str, usize)> {
    common(vec![
        (".claims.notes", every_note().len()),
        (".findings", Pathology::ALL.len()),
        (".relative_rates.without", wordless()),
        (".relative_rates.at_least", wordless()),
    ])
}

#[test]
fn of_a_run_and_of_a_series() {
    let run = run();
    let (alone, expected) = (serde_json::to_value(&run).unwrap(), of_run());
    let told = json(&Judged::Run(Box::new(run.clone())));
    assert_told(&alone, &told, &answered(&expected));
    assert_eq!(serde_json::from_str::<Analysis>(&told).unwrap(), run);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(texts(&told["session"]["marks"]), run.session.marks.iter().map(note_words).collect::<Vec<_>>());
    assert_eq!(texts(&told["claims"][0]["notes"]), claim_notes(&run.claims[0])[..every_note().len()]);
    let served = run.relative_rates[0].at_least.iter().map(|(target, why)| (target, reason_words(why)));
    served.for_each(|(target, words)| assert_eq!(told["relative_rates"][0]["at_least"][target]["text"], words));
    let series = ["a", "b"].map(|name| Verdicts { name, outcome: if name == "a" { Ok(&run) } else { Err("no") } });
    let told: Value = serde_json::from_str(&verdicts_json(&series)).unwrap();
    assert_told(&alone, &told["experiments"][0]["analysis"].to_string(), &expected);
    assert_eq!(told["experiments"][1].as_object().unwrap().len(), 2, "{told}");
}

#[test]
fn of_a_comparison() {
    let mut comparison = comparisons::revisions();
    let cells = cells(&comparison.cells[0].cell).into_iter().map(|cell| ComparedCell { arm: Arm::New, cell });
    comparison.cells = cells.collect();
    comparison.differences = every_difference();
    comparison.session = session();
    comparison.void_trials = every_reason().into_iter().map(void).collect();
    let told = json(&Judged::Comparison(Box::new(comparison.clone())));
    let expected = common(vec![(".differences", every_difference().len())]);
    assert_eq!(serde_json::from_str::<CompareAnalysis>(&told).unwrap(), comparison);
    let mut told: Value = serde_json::from_str(&told).unwrap();
    let answer = told.as_object_mut().unwrap().remove("answer");
    assert_eq!(answer, Some(serde_json::to_value(comparison.answer()).unwrap()));
    assert_told(&serde_json::to_value(&comparison).unwrap(), &told.to_string(), &answered(&expected));
    assert_eq!(texts(&told["differences"]), comparison.differences.iter().map(difference_words).collect::<Vec<_>>());
}

/// What is read back of a load.
#[derive(serde::Deserialize)]
struct Vouched {
    validity: Validity,
}

#[test]
fn of_a_load_and_of_a_calibration() {
    let mut load = loads::closed();
    load.validity.reasons = every_reason();
    let instrument = Instrument { bourdon: "0".to_owned(), cpu: "x".to_owned(), cpus: 1, kernel: "6".to_owned() };
    let origin = Origin {
        url: "http://a/",
        started_at: jiff::Timestamp::UNIX_EPOCH,
        instrument,
        merged: &[],
        partial: None,
        not_one_load: None,
        part: None,
    };
    let json = load_json(asked_load(&load.spec), &load.validity, &load.measured, &load.measured.steps, &origin);
    let told: Value = serde_json::from_str(&json).unwrap();
    let alone = serde_json::to_value(&load.validity).unwrap();
    assert_told(&alone, &told["validity"].to_string(), &[(".reasons", wordless())]);
    assert_eq!(serde_json::from_str::<Vouched>(&json).unwrap().validity, load.validity);
    for reason in every_reason() {
        let calibration = Calibration { beyond: Some(reason), ..Calibration::default() };
        let told = calibration_json(&calibration);
        let has_none = usize::from(!matches!(calibration.beyond.as_ref().unwrap().why, Why::Text(_)));
        assert_told(&serde_json::to_value(&calibration).unwrap(), &told, &[(".beyond", has_none)]);
        assert_eq!(serde_json::from_str::<Calibration>(&told).unwrap(), calibration);
    }
}

/// The engine knows of whole replies alone: some bytes of one may have come.
#[test]
fn nobody_is_said_to_have_given_no_reply_who_may_have_given_a_part_of_one() {
    for reason in every_reason() {
        let said = report::reason_words(&reason);
        let untrue = ["no reply came", "gave no reply", "got a reply", "had no reply"];
        assert!(!untrue.iter().any(|words| said.contains(words)), "{said}");
    }
}
