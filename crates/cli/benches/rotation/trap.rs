//! Sessions of two servers that are alike while they are under load, one of which does something while others have their slices.

use serde_json::Value;

use crate::Asked;
use crate::planted::{Planted, Program};

const DEFERS: Planted = Planted {
    name: "defers-work",
    program: Program::Copy,
    old: "WORK=10000 clean",
    new: "WORK=10000 deferred",
    primary: "cpu_per_request",
    // What is put off of one slice can be done before the next.
    load: &["--rate", "2000"],
    measured: false,
    hog: false,
    sessions: 3,
};

pub(crate) const TRAPS: [Planted; 7] = [
    DEFERS,
    // Here it cannot.
    Planted { name: "defers-too-much-work", load: &[], ..DEFERS },
    // Here it is done once the load is over, and never within it.
    Planted { name: "defers-work-for-long", new: "WORK=10000 IDLE_FOR=1500ms deferred", load: &[], ..DEFERS },
    Planted { name: "defers-work-alone", load: &["--no-rotation"], ..DEFERS },
    Planted { name: "computes-while-idle", new: "WORK=10000 restless", load: &[], ..DEFERS },
    // Under a closed load it is refused.
    Planted { name: "slow-after-idling", new: "WORK=10000 slow-after-idle", load: &[], ..DEFERS },
    Planted { name: "closes-idle-connections", new: "WORK=10000 idle-timeout", load: &[], ..DEFERS },
];

pub(crate) fn prove(asked: &Asked) {
    let kinds = asked.among(&TRAPS);
    if !kinds.is_empty() {
        println!("\n| trap | session | CPU per request | answer |");
        println!("|---|---|---|---|");
    }
    for trap in kinds {
        let sessions = trap.sessions(asked);
        let ended = sessions.iter().enumerate().filter_map(|(number, answer)| Some((number, answer.as_ref()?)));
        for (number, answer) in ended {
            let row = trap.primary(answer);
            let [ratio, low, high] =
                ["estimate", "low", "high"].map(|part| row["ratio"][part].as_f64().unwrap_or(f64::NAN));
            let told = told(row, &answer["refused"]);
            println!("| {} | {number} | {ratio:.3} ({low:.3} to {high:.3}) | {told} |", trap.name);
        }
    }
}

/// What became of a server that differs by nothing while it is under load.
fn told(row: &Value, refused: &Value) -> String {
    let verdict = row["verdict"].as_str().unwrap_or_default();
    let reasons: Vec<&str> = refused.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    match (reasons.is_empty(), verdict) {
        (false, _) => format!("refused: {} ({verdict})", reasons.join(", ")),
        (true, "same") => "right".to_owned(),
        (true, "inconclusive") => "undecided".to_owned(),
        (true, _) => format!("WRONG: {verdict}"),
    }
}
