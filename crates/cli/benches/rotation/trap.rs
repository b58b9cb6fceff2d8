//! Sessions of two servers that are alike while they are under load, one of which does something while others have their slices.

use std::collections::BTreeSet;
use std::path::Path;

use lab::RunFolder;
use model::Code;
use serde_json::Value;

use crate::Asked;
use crate::planted::Planted;

const DEFERS: Planted = Planted {
    name: "defers-work",
    old: "WORK=10000 clean",
    new: "WORK=10000 deferred",
    primary: "cpu_per_request",
    // What is put off of one slice can be done before the next.
    load: &["--rate", "2000"],
    measured: false,
    hog: false,
    sessions: 3,
};

pub(crate) const TRAPS: [Planted; 5] = [
    DEFERS,
    // Here it cannot.
    Planted { name: "defers-too-much-work", load: &[], ..DEFERS },
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
        for (number, answer) in trap.sessions(asked).iter().enumerate() {
            let row = trap.primary(answer);
            let [ratio, low, high] =
                ["estimate", "low", "high"].map(|part| row["ratio"][part].as_f64().unwrap_or(f64::NAN));
            let reasons = reasons(answer, &trap.runs(number, &asked.folder));
            println!("| {} | {number} | {ratio:.3} ({low:.3} to {high:.3}) | {} |", trap.name, told(row, &reasons));
        }
    }
}

/// What became of a server that differs by nothing while it is under load.
fn told(row: &Value, reasons: &BTreeSet<String>) -> String {
    let verdict = row["verdict"].as_str().unwrap_or_default();
    match (reasons.is_empty(), verdict) {
        (false, _) => format!("refused: {} ({verdict})", reasons.iter().cloned().collect::<Vec<_>>().join(", ")),
        (true, "same") => "right".to_owned(),
        (true, "inconclusive") => "undecided".to_owned(),
        (true, _) => format!("WRONG: {verdict}"),
    }
}

/// Why launches could not go round, as their record shows, and the mark of what one does in the slices of others.
fn reasons(answer: &Value, runs: &Path) -> BTreeSet<String> {
    let cells = answer["cells"].as_array().unwrap().iter();
    let marks = cells.flat_map(|cell| cell["marks"].as_array().unwrap()).filter(|note| note["mark"] == "spill");
    let mut reasons: BTreeSet<String> = marks.map(|_| "spill".to_owned()).collect();
    // What lies there besides was interrupted before.
    let journals = std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path().join("trials.jsonl"));
    let last = journals.filter(|path| path.exists()).max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    let record = RunFolder::read(last.unwrap().parent().unwrap()).unwrap();
    let went_round = record.trials.iter().filter(|trial| !trial.slices.is_empty());
    let void = went_round.filter_map(|trial| judge::check_trial(&record.plan.cells[trial.cell], None, trial).void);
    let unsliced = void.map(|reason| reason.code()).filter(|code| matches!(code, Code::Unsliced(_)));
    reasons.extend(unsliced.map(|code| code.id().to_owned()));
    reasons
}
