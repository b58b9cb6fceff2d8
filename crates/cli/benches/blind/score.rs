//! What was found held against what was planted.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::baseline;
use crate::cases::{CLASSES, Case};

/// What no diagnosis proves: it is found where it is said to be likely.
const NEVER_PROVED: &str = "memory-growth";

/// What is said of a server.
struct Said {
    suspect: String,
    figure: Option<f64>,
    /// Between which two the figure lies, where that is said.
    interval: Option<(f64, f64)>,
}

impl Said {
    fn of(suspect: &str, figure: Option<f64>) -> Said {
        Said { suspect: suspect.to_owned(), figure, interval: None }
    }

    /// A figure with its interval, each times so much.
    fn measured(suspect: &str, figure: &Value, times: f64) -> Said {
        let of = |key: &str| Some(figure[key].as_f64()? * times);
        Said { suspect: suspect.to_owned(), figure: of("estimate"), interval: of("low").zip(of("high")) }
    }
}

/// The suspect and the figure of what a finding says.
fn of_finding(found: &Value) -> Said {
    let fault = found["fault"].as_object().unwrap();
    let (name, of) = fault.iter().find(|(name, _)| *name != "text").unwrap();
    match name.as_str() {
        // How many at once is told exactly, or not at all.
        "limit" if of["exactly"].is_u64() => Said::of(name, of["exactly"].as_f64()),
        "limit" => Said::measured(name, &of["at_once"], 1.0),
        "held-workers" => Said::of(name, of["served"].as_f64()),
        "blocked-loop" => Said::measured(name, &of["blocked"], 1e-6),
        "growth" => Said::measured(of["suspect"].as_str().unwrap(), &of["per_request"], 1.0),
        "round-trips" => Said::measured(name, &of["round_trips"], 1.0),
        "failures" => Said::measured(name, &of["share"], 1.0),
        _ => Said::of(name, None),
    }
}

/// What a soak says: what is kept of each request, or grows; replies that became slower, and rules that were broken, are proved.
fn of_soak(answer: &Value, sureness: &str) -> Vec<Said> {
    let all = |key: &str| answer[key].as_array().into_iter().flatten();
    let verdicts: &[&str] = if sureness == "is" { &["grows", "grows-with-time"] } else { &["may-grow"] };
    let says = |trend: &&Value| trend["verdict"].as_str().is_some_and(|verdict| verdicts.contains(&verdict));
    let named = |trend: &Value| {
        let name = match trend["of"].as_str().unwrap() {
            "heap" | "memory" => "memory-growth",
            "threads" | "processes" => "thread-growth",
            _ => "file-growth",
        };
        Said::measured(name, &trend["per_request"], 1.0)
    };
    // What the heap keeps the memory keeps, too.
    let mut found: Vec<Said> = Vec::new();
    for said in all("trends").filter(says).map(named) {
        if found.iter().all(|known| known.suspect != said.suspect) {
            found.push(said);
        }
    }
    if sureness == "is" {
        let is_slower = |of: &Value| of["ratio"]["low"].as_f64().is_some_and(|low| low > 1.1);
        let is_broken = |of: &Value| of["broken"].as_array().is_some_and(|spells| !spells.is_empty());
        found.extend(all("latencies").any(is_slower).then(|| Said::of("slower", None)));
        found.extend(all("rules").any(is_broken).then(|| Said::of("rule", None)));
    }
    found
}

fn findings(answer: &Value, sureness: &str) -> Vec<Said> {
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

/// How many of what was planted are proved and how many likely, how far their figures are off and whether their intervals hold, and what is
/// proved that is not there. Of what is never proved the figure counts where it is said to be likely.
pub(crate) fn score(case: &Case, answer: &Value) -> Value {
    let (is, may) = (findings(answer, "is"), findings(answer, "consistent-with"));
    let planted = |said: &Said| case.planted.iter().find(|it| it.suspect == said.suspect);
    let unprovable = may.iter().filter(|said| said.suspect == NEVER_PROVED);
    let told = is.iter().chain(unprovable).filter_map(|said| Some((planted(said)?, said)));
    let with_value: Vec<_> = told.filter_map(|(planted, said)| Some((planted.value?, said))).collect();
    let ratios: Vec<f64> = with_value.iter().filter_map(|(value, said)| Some(said.figure? / value)).collect();
    let holds = |(value, said): &(f64, &Said)| said.interval.map(|(low, high)| low <= *value && *value <= high);
    let held: Vec<bool> = with_value.iter().filter_map(holds).collect();
    // That it ended was seen, whatever ended it.
    let is_false = |said: &&Said| planted(said).is_none() && said.suspect != "died";
    let wrong: Vec<&String> = is.iter().filter(is_false).map(|said| &said.suspect).collect();
    let found = is.iter().filter(|said| planted(said).is_some()).count();
    let likely = may.iter().filter(|said| planted(said).is_some()).count();
    json!({
        "planted": case.planted.len(),
        "found": found,
        "likely": likely,
        "false": wrong,
        "ratios": ratios,
        "intervals_held": held,
    })
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

/// A row for each class and runtime, and for each class in all; and what others would have said.
pub(crate) fn matrix(folder: &Path) -> String {
    let mut rows: BTreeMap<(usize, String), Row> = BTreeMap::new();
    let mut others: BTreeMap<usize, Others> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(entry).unwrap()).unwrap();
        let class = CLASSES.iter().position(|(class, _)| kept["class"] == *class).unwrap();
        let runtime = kept["case"]["runtime"].as_str().unwrap().to_owned();
        rows.entry((class, runtime)).or_default().add(&kept);
        rows.entry((class, "all".to_owned())).or_default().add(&kept);
        others.entry(class).or_default().add(&kept);
    }
    let head = "| class | runtime | cases | all found | figure within 10 % | interval holds | a false one | seconds, median |\n|---|---|---|---|---|---|---|---|";
    let rows = rows.into_iter().map(|((class, runtime), row)| format!("| {} | {runtime} | {row} |", CLASSES[class].0));
    let between = "\n| class | cases | one load: found | one load: a false one | of Node | Clinic's rules: found | Clinic's rules: a false one |\n|---|---|---|---|---|---|---|";
    let others = others.into_iter().map(|(class, row)| format!("| {} | {row} |", CLASSES[class].0));
    let text = std::iter::once(head.to_owned()).chain(rows).chain([between.to_owned()]).chain(others);
    text.collect::<Vec<_>>().join("\n")
}

/// What one load and Clinic's rules say of the cases of a class. Found is any of what was planted.
#[derive(Default)]
struct Others {
    cases: usize,
    found: usize,
    wrong: usize,
    labelled: usize,
    meant: usize,
    mistaken: usize,
}

impl Others {
    fn add(&mut self, kept: &Value) {
        let said = &kept["baseline"];
        let planted: Vec<&str> =
            kept["case"]["planted"].as_array().unwrap().iter().filter_map(|it| it["suspect"].as_str()).collect();
        let Some(passive) = said["passive"].as_array() else { return };
        let names: Vec<&str> = passive.iter().filter_map(Value::as_str).collect();
        self.cases += 1;
        self.found += usize::from(names.iter().any(|name| planted.contains(name)));
        self.wrong += usize::from(names.iter().any(|name| !planted.contains(name)));
        if let Some(label) = said["clinic"].as_str() {
            let is_meant = planted.iter().any(|suspect| baseline::may_mean(label, suspect));
            self.labelled += 1;
            self.meant += usize::from(is_meant);
            self.mistaken += usize::from(!is_meant && label != "none");
        }
    }
}

impl std::fmt::Display for Others {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Others { cases, found, wrong, labelled, meant, mistaken } = self;
        write!(f, "{cases} | {found} | {wrong} | {labelled} | {meant} | {mistaken}")
    }
}

#[derive(Default)]
struct Row {
    cases: usize,
    right: usize,
    near: usize,
    figures: usize,
    held: usize,
    intervals: usize,
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
        let is_whole = |planted: &Value| {
            let name = planted["suspect"].as_str().unwrap();
            let sureness: &[&str] = if name == NEVER_PROVED { &["is", "consistent-with"] } else { &["is"] };
            sureness.iter().any(|sureness| findings(&kept["answer"], sureness).iter().any(|said| said.suspect == name))
        };
        let planted = kept["case"]["planted"].as_array().unwrap();
        self.right += usize::from(planted.iter().all(is_whole) && !is_false);
        let held = score["intervals_held"].as_array().into_iter().flatten();
        held.for_each(|held| {
            self.intervals += 1;
            self.held += usize::from(held == true);
        });
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
        let Row { cases, right, near, figures, held, intervals, wrong, .. } = self;
        write!(f, "{cases} | {right} | {near} of {figures} | {held} of {intervals} | {wrong} | {median:.0}")
    }
}
