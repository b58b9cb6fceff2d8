//! What is kept of a session: enough to tell all sessions' results by, small enough to be kept under version control.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use lab::RunFolder;
use model::TrialRecord;
use serde_json::{Value, json};

/// What a session came to, from `file`; where that is not there yet, it is made and kept there, with the revision it was made by.
pub(crate) fn kept(file: &Path, make: impl FnOnce() -> Value) -> Value {
    if let Ok(text) = std::fs::read_to_string(file) {
        return serde_json::from_str(&text).unwrap();
    }
    let mut answer = make();
    answer["revision"] = json!(revision());
    answer["made_at"] = json!(jiff::Timestamp::now().to_string());
    std::fs::write(file, format!("{answer}\n")).unwrap();
    answer
}

/// The same of a session, which is begun once: none of one that was interrupted, which counts and is not made again.
pub(crate) fn once(session: &Path, make: impl FnOnce() -> Value) -> Option<Value> {
    let (file, begun) = (session.with_extension("json"), session.with_extension("begun"));
    if !file.exists() {
        // Whoever finds it there already comes after one that did not end.
        std::fs::File::create_new(&begun).ok()?;
    }
    let answer = kept(&file, make);
    let _ = std::fs::remove_file(begun);
    Some(answer)
}

/// The rows of a comparison, how long it took, and why it could not go round where it could not.
pub(crate) fn of_comparison(answer: &Value, runs: &Path) -> Value {
    let rows = answer["rows"].as_array().unwrap().iter();
    let rows: Vec<Value> = rows.map(|row| only(row, &["metric", "verdict", "withheld", "ratio", "in_doubt"])).collect();
    let refused = refused(answer, runs);
    json!({ "rows": rows, "elapsed_s": answer["elapsed_s"], "blocks": answer["blocks"], "refused": refused })
}

fn only(of: &Value, keys: &[&str]) -> Value {
    keys.iter().filter_map(|key| Some(((*key).to_owned(), of.get(key)?.clone()))).collect()
}

/// Why launches could not go round, as their record shows, and the mark of what one does in the slices of others.
fn refused(answer: &Value, runs: &Path) -> BTreeSet<String> {
    let cells = answer["cells"].as_array().unwrap().iter();
    let marks = cells.flat_map(|cell| cell["marks"].as_array().unwrap()).filter(|note| note["mark"] == "spill");
    let mut reasons: BTreeSet<String> = marks.map(|_| "spill".to_owned()).collect();
    // What lies there besides was interrupted before.
    let journals = std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path().join("trials.jsonl"));
    let last = journals.filter(|path| path.exists()).max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    let record = RunFolder::read(last.unwrap().parent().unwrap()).unwrap();
    let (went_round, alone): (Vec<_>, Vec<_>) = record.trials.iter().partition(|trial| !trial.slices.is_empty());
    let of = |trial: &&TrialRecord| judge::check_trial(&record.plan.cells[trial.cell], None, trial).unsliced;
    let unsliced = went_round.iter().filter_map(of).map(|cause| cause.code().id().to_owned());
    // What one launch shows and no other has no consequence.
    reasons.extend(unsliced.filter(|_| !alone.is_empty()));
    reasons
}

/// The commit that the working copy stands on.
fn revision() -> Option<String> {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
