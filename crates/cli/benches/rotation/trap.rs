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
            let told = told(answer, row["verdict"].as_str().unwrap_or_default());
            println!("| {} | {number} | {ratio:.3} ({low:.3} to {high:.3}) | {told} |", trap.name);
        }
    }
}

/// What became of a server that differs by nothing while it is under load: the verdict on its primary metric, why it did not go round, and
/// what was called different.
fn told(answer: &Value, primary: &str) -> String {
    let rows = answer["rows"].as_array().unwrap().iter();
    let is_different = |row: &&Value| ["slower", "faster"].iter().any(|verdict| row["verdict"] == *verdict);
    let metrics: Vec<&str> = rows.filter(is_different).filter_map(|row| row["metric"].as_str()).collect();
    let reasons: Vec<&str> = answer["refused"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let refused = if reasons.is_empty() { String::new() } else { format!("refused: {}; ", reasons.join(", ")) };
    match primary {
        _ if !metrics.is_empty() => format!("{refused}WRONG: {}", metrics.join(", ")),
        "same" => format!("{refused}right"),
        "inconclusive" => format!("{refused}undecided"),
        verdict => format!("{refused}{verdict}"),
    }
}
