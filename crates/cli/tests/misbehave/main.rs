//! Targets that misbehave, and people who kill: whatever happens, nothing is left running, no folder stays behind, what is
//! kept is bounded, and the exit status is right. From the outside: the real binary, real processes, real signals.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod ending;
mod launching;
mod resources;
#[path = "../run_support/mod.rs"]
mod run_support;

use run_support::{Lab, Outcome, beside_a_specimen};

const SERVER: &str = "exec $BOURDON specimen clean";

/// A server with children in sessions of their own, as a service that daemonises has.
const WITH_CHILDREN: &str = "setsid sleep 600 & (setsid sh -c 'sleep 600 & exec sleep 600' &)
                             LOG_FILE=log $BOURDON specimen clean & wait";

/// A lab with a target that is a shell script, under a load of such a length.
fn lab(script: &str, window: &str) -> Lab {
    let target = "ready = '/ping'\nready_within = '2s'\nrun = 'sh serve.sh $BOURDON'";
    let experiment = beside_a_specimen(target).replace("window = \"50ms\"", &format!("window = \"{window}\""));
    Lab::beside_others().experiment(experiment).file("serve.sh", format!("BOURDON=$1\n{script}"))
}

/// One short block of the target alone, after which nothing may be left at once.
fn tried(lab: &Lab) -> Outcome {
    let ended = lab.run(&["--target", "odd", "--blocks", "1"]);
    assert_eq!(lab.alive(), Vec::<String>::new(), "after bourdon's own end: {ended:?}");
    lab.nothing_is_left();
    ended
}

/// One that serves, after which its figures are there.
fn serves(script: &str) -> Lab {
    let lab = lab(script, "50ms");
    tried(&lab);
    lab.record().all_measured("odd", 1);
    lab
}

/// One that cannot be had, and what the error says.
fn fails(script: &str, words: &[&str]) {
    tried(&lab(script, "50ms")).exits(4).says(words);
}
