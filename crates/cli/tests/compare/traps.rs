//! Servers that do something while others have their slices: what they did is charged to them, or they are launched alone.

use std::collections::BTreeSet;

use lab::RunFolder;

use crate::run_support::{Json, Lab};

/// Compares a server with one that has such a habit.
fn beside(habit: &str, load: &[&str]) -> (Lab, Json) {
    let lab = Lab::new();
    let runs = ["--run", "env WORK=1000 $BOURDON specimen clean", "--run", habit, "--path", "/rest/hello"];
    let rotating = ["--ready", "/ping", "--warm-up", "50ms", "--format", "json"];
    let rest = if load.contains(&"--rest") { &[][..] } else { &["--rest", "0s"] };
    let document = lab.bourdon(&[&["compare"], &runs[..], &rotating, rest, load].concat()).answers().json();
    lab.nothing_is_left();
    (lab, document)
}

/// Which sides have a mark.
fn marked<'a>(document: &'a Json, mark: &str) -> Vec<&'a str> {
    let has_it = |cell: &&Json| cell["marks"].as_array().unwrap().iter().any(|note| note["mark"] == mark);
    document["cells"].as_array().unwrap().iter().filter(has_it).map(|cell| cell["arm"].as_str().unwrap()).collect()
}

/// What of launches that went round said that they cannot, and whether each side has been launched alone in every block.
fn refused(lab: &Lab) -> (BTreeSet<&'static str>, bool) {
    let record = RunFolder::read(lab.record().path()).unwrap();
    let (round, alone): (Vec<_>, Vec<_>) = record.trials.iter().partition(|trial| !trial.slices.is_empty());
    let judged = round.iter().map(|trial| judge::check_trial(&record.plan.cells[trial.cell], None, trial));
    let unsliced = judged.filter_map(|judgement| judgement.unsliced);
    let launched: BTreeSet<_> = alone.iter().map(|trial| (trial.block, trial.cell, trial.twin)).collect();
    let blocks: BTreeSet<_> = round.iter().map(|trial| trial.block).collect();
    (unsliced.map(|cause| cause.code().id()).collect(), launched.len() >= blocks.len() * 3)
}

#[test]
fn what_a_server_puts_off_or_does_unasked_is_charged_to_it_and_marked() {
    let rate = ["-c", "4", "--rate", "1000", "--duration", "500ms", "--blocks", "2"];
    for habit in ["env WORK=20000 $BOURDON specimen deferred", "env WORK=1000 $BOURDON specimen restless"] {
        let (lab, document) = beside(habit, &rate);
        assert_eq!(marked(&document, "spill"), ["new"], "{habit}: {document:#}");
        let cpu = document["rows"].as_array().unwrap().iter().find(|row| row["metric"] == "cpu_per_request").unwrap();
        let ratio = cpu["ratio"]["estimate"].as_f64().unwrap();
        assert!(ratio > 1.5, "{habit} is charged: {ratio}");
        assert_eq!(refused(&lab), (BTreeSet::new(), false), "{habit}");
    }
}

#[test]
fn who_cannot_end_its_work_between_two_slices_or_ends_its_connections_is_launched_alone() {
    let too_much = "env WORK=40000 IDLE_FOR=50ms $BOURDON specimen deferred";
    let closing = "env WORK=1000 IDLE_FOR=200ms $BOURDON specimen idle-timeout";
    for (habit, reason) in [(too_much, "slow-drain"), (closing, "connections-end")] {
        let (lab, document) = beside(habit, &["-c", "16", "--duration", "500ms", "--blocks", "2"]);
        // What is left in slices in which others had the CPUs is not taken for the server's.
        let is_excused = reason == "slow-drain" && !marked(&document, "noisy").is_empty();
        assert!(is_excused || refused(&lab) == (BTreeSet::from([reason]), true), "{habit}: {document:#}");
    }
}

#[test]
fn who_is_slow_after_it_idled_is_launched_alone() {
    let habit = "env WORK=10000 IDLE_FOR=200ms $BOURDON specimen slow-after-idle";
    let (lab, document) = beside(habit, &["-c", "4", "--duration", "4s", "--blocks", "1"]);
    let (reasons, alone) = refused(&lab);
    // A busy machine may stop it for as long as the end of a slice waits.
    let either = BTreeSet::from(["slow-after-idling", "slow-drain"]);
    assert!(alone && !reasons.is_empty() && reasons.is_subset(&either), "{reasons:?}: {document:#}");
}

#[test]
fn what_is_put_off_for_longer_than_the_others_slices_last_is_seen_after_the_load() {
    let habit = "env WORK=20000 IDLE_FOR=1s $BOURDON specimen deferred";
    let rate = ["-c", "4", "--rate", "1000", "--duration", "500ms", "--blocks", "1", "--rest", "2s"];
    for alone in [&[][..], &["--no-rotation"]] {
        let (lab, document) = beside(habit, &[&rate[..], alone].concat());
        // The first look and the last lie within it.
        assert!(document["rest"]["length_s"].as_f64() > Some(1.8), "{document:#}");
        let record = RunFolder::read(lab.record().path()).unwrap();
        let watched =
            record.trials.iter().filter_map(|trial| Some((trial, trial.observation.as_ref()?.rest.as_ref()?)));
        let rests: Vec<(&str, &model::Rest)> = watched.map(|(trial, rest)| (trial.levels.target(), rest)).collect();
        let used =
            |target: &'static str| rests.iter().filter(move |(of, _)| *of == target).map(|(_, rest)| rest.cpu_s());
        let (clean_s, deferred_s) = (used("old").fold(0.0, f64::max), used("new").fold(f64::MAX, f64::min));
        assert!(deferred_s > 5.0 * clean_s && deferred_s < 2.0, "{alone:?}: {rests:?}");
    }
}
