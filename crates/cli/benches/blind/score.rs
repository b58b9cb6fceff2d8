//! What was found held against what was planted.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::cases::{CLASSES, Case};

/// The suspect and the figure of what a finding says.
fn of_finding(found: &Value) -> (String, Option<f64>) {
    let fault = found["fault"].as_object().unwrap();
    let (name, of) = fault.iter().find(|(name, _)| *name != "text").unwrap();
    let figure = |key: &str| of[key]["estimate"].as_f64();
    match name.as_str() {
        "limit" => ("limit".to_owned(), of["exactly"].as_f64().or(figure("at_once"))),
        "held-workers" => (name.clone(), of["served"].as_f64()),
        "blocked-loop" => (name.clone(), figure("blocked").map(|us| us / 1e6)),
        "growth" => (of["suspect"].as_str().unwrap().to_owned(), figure("per_request")),
        "failures" => (name.clone(), figure("share")),
        _ => (name.clone(), None),
    }
}

/// What a soak says: what is kept of each request, or grows; replies that became slower, and rules that were broken, are proved.
fn of_soak(answer: &Value, sureness: &str) -> Vec<(String, Option<f64>)> {
    let all = |key: &str| answer[key].as_array().into_iter().flatten();
    let verdicts: &[&str] = if sureness == "is" { &["grows", "grows-with-time"] } else { &["may-grow"] };
    let says = |trend: &&Value| trend["verdict"].as_str().is_some_and(|verdict| verdicts.contains(&verdict));
    let named = |trend: &Value| {
        let name = match trend["of"].as_str().unwrap() {
            "heap" | "memory" => "memory-growth",
            "threads" | "processes" => "thread-growth",
            _ => "file-growth",
        };
        (name.to_owned(), trend["per_request"]["estimate"].as_f64())
    };
    // What the heap keeps the memory keeps, too.
    let mut found: Vec<(String, Option<f64>)> = Vec::new();
    for (name, value) in all("trends").filter(says).map(named) {
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, value));
        }
    }
    if sureness == "is" {
        let is_slower = |of: &Value| of["ratio"]["low"].as_f64().is_some_and(|low| low > 1.1);
        let is_broken = |of: &Value| of["broken"].as_array().is_some_and(|spells| !spells.is_empty());
        found.extend(all("latencies").any(is_slower).then(|| ("slower".to_owned(), None)));
        found.extend(all("rules").any(is_broken).then(|| ("rule".to_owned(), None)));
    }
    found
}

fn findings(answer: &Value, sureness: &str) -> Vec<(String, Option<f64>)> {
    if answer["trends"].is_array() {
        return of_soak(answer, sureness);
    }
    let all = answer["findings"].as_array().unwrap();
    all.iter().filter(|found| found["sureness"] == sureness).map(of_finding).collect()
}

/// What is kept of an answer.
pub(crate) fn kept(answer: &Value) -> Value {
    if answer["trends"].is_array() {
        let keys = ["text", "trends", "latencies", "rules", "ended", "elapsed_s", "growers", "rate_per_s"];
        return keys.into_iter().map(|key| (key.to_owned(), answer[key].clone())).collect();
    }
    json!({
        "findings": answer["findings"],
        "open": answer["open"],
        "ended": answer["ended"],
        "elapsed_s": answer["elapsed_s"],
        "tried": answer["tried"],
    })
}

/// How many of what was planted are proved, how far their figures are off, and what is proved that is not there.
pub(crate) fn score(case: &Case, answer: &Value) -> Value {
    let (is, may) = (findings(answer, "is"), findings(answer, "consistent-with"));
    let planted = |suspect: &str| case.planted.iter().find(|it| it.suspect == suspect);
    let found: Vec<_> = is.iter().filter_map(|(suspect, value)| Some((planted(suspect)?, *value))).collect();
    let ratios: Vec<f64> = found.iter().filter_map(|(planted, value)| Some((*value)? / planted.value?)).collect();
    // That it ended was seen, whatever ended it.
    let is_false = |suspect: &&String| planted(suspect).is_none() && *suspect != "died";
    let wrong: Vec<&String> = is.iter().map(|(suspect, _)| suspect).filter(is_false).collect();
    let likely = may.iter().filter(|(suspect, _)| planted(suspect).is_some()).count();
    json!({ "planted": case.planted.len(), "found": found.len(), "likely": likely, "false": wrong, "ratios": ratios })
}

/// What came of a case, in a line.
pub(crate) fn sentence(kept: &Value) -> String {
    let (score, settings) = (&kept["score"], &kept["case"]["settings"]);
    let seconds = kept["answer"]["elapsed_s"].as_f64().unwrap_or(0.0);
    format!(
        "{} of {} proved, {} likely, false {}, ratios {}, {seconds:.0} s; {settings}",
        score["found"], score["planted"], score["likely"], score["false"], score["ratios"]
    )
}

/// A row for each class and runtime.
pub(crate) fn matrix(folder: &Path) -> String {
    let mut rows: BTreeMap<(usize, String), Row> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(entry).unwrap()).unwrap();
        let class = CLASSES.iter().position(|(class, _)| kept["class"] == *class).unwrap();
        let runtime = kept["case"]["runtime"].as_str().unwrap().to_owned();
        rows.entry((class, runtime)).or_default().add(&kept);
    }
    let head = "| class | runtime | cases | all proved | figure within 10 % | a false one | seconds, median |\n|---|---|---|---|---|---|---|";
    let rows = rows.into_iter().map(|((class, runtime), row)| format!("| {} | {runtime} | {row} |", CLASSES[class].0));
    std::iter::once(head.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}

#[derive(Default)]
struct Row {
    cases: usize,
    right: usize,
    near: usize,
    figures: usize,
    wrong: usize,
    seconds: Vec<f64>,
}

impl Row {
    fn add(&mut self, kept: &Value) {
        let score = &kept["score"];
        let ratios = score["ratios"].as_array().unwrap();
        let is_near = |ratio: &&Value| ratio.as_f64().is_some_and(|ratio| (ratio - 1.0).abs() <= 0.1);
        self.cases += 1;
        let is_false = !score["false"].as_array().unwrap().is_empty();
        self.right += usize::from(score["found"] == score["planted"] && !is_false);
        self.wrong += usize::from(is_false);
        self.near += ratios.iter().filter(is_near).count();
        self.figures += ratios.len();
        self.seconds.push(kept["answer"]["elapsed_s"].as_f64().unwrap_or(0.0));
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
        let Row { cases, right, near, figures, wrong, .. } = self;
        write!(f, "{cases} | {right} | {near} of {figures} | {wrong} | {median:.0}")
    }
}
