//! What JSON has of causes, notes and findings stands in docs/METRICS.md, field by field.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::collections::BTreeSet;

use model::*;
use serde::Serialize;
use serde_json::Value;
use support::causes::{every_breach, every_limit, every_mark, every_not_ready, every_shortfall};
use support::notes::{every_doubt, every_note};

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/METRICS.md")).unwrap()
}

/// The words that stand between backticks.
fn code(text: &str) -> BTreeSet<&str> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.flat_map(|span| span.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')).collect()
}

/// The part of the page under a heading, down to the next.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    after.split_once("\n#").map_or(after, |(section, _)| section)
}

/// The rows of a section whose first cell has this key.
fn row(section: &str, key: &str) -> String {
    let names = |line: &&str| line.split('|').nth(1).is_some_and(|cell| code(cell).contains(key));
    let rows: Vec<&str> = section.lines().filter(names).collect();
    assert!(!rows.is_empty(), "no row of `{key}`");
    rows.join("\n")
}

/// What has keys that are data: ids that are counted, factors, settings of the kernel.
const COUNTED: [&str; 6] = ["not_sent", "failed", "lacking", "server", "where", "sysctls"];

/// Every field within a value; keys that are data, such as ids that are counted, are none.
fn fields(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            into.insert(key.clone());
            if !COUNTED.contains(&key.as_str()) {
                fields(value, into);
            }
        }),
        Value::Array(values) => values.iter().for_each(|value| fields(value, into)),
        _ => {}
    }
}

/// Asserts that the fields of these, each a kind with what it has, stand in the row of the kind or in what that refers to.
fn assert_documented(heading: &str, also: &[&str], all: &[impl Serialize]) {
    let page = page();
    let (own, mut missing) = (section(&page, heading), Vec::new());
    for one in all {
        let (key, value) = match serde_json::to_value(one).unwrap() {
            Value::String(key) => (key, Value::Null),
            Value::Object(object) => object.into_iter().next().unwrap(),
            other => panic!("{other}"),
        };
        let also: String = also.iter().map(|heading| section(&page, heading)).collect();
        let row = row(own, &key);
        // What has a table of its own is looked for there.
        let (in_row, elsewhere) = (code(&row), code(&also));
        let mut found = BTreeSet::new();
        if !COUNTED.contains(&key.as_str()) {
            fields(&value, &mut found);
        }
        let direct = value.as_object().map_or(0, |object| object.len());
        let refers = ["as above", "as the limit", "as of the mark", "KIND of", "one of the doubts", "a thread"];
        let refers = refers.iter().any(|words| row.contains(words));
        for field in found {
            let is_direct = direct > 0 && value.get(&field).is_some();
            let stands =
                in_row.contains(field.as_str()) || ((refers || !is_direct) && elsewhere.contains(field.as_str()));
            if !stands {
                missing.push(format!("`{field}` of `{key}`"));
            }
        }
    }
    assert_eq!(missing, [""; 0], "under {heading}");
}

const LIMITS: &str = "#### Kinds of limit";
const MARKS: &str = "#### Keys of a mark";

#[test]
fn kinds_of_limit() {
    assert_documented(LIMITS, &[LIMITS], &every_limit());
    assert_documented(LIMITS, &[LIMITS], &every_shortfall());
}

#[test]
fn keys_of_a_mark() {
    assert_documented(MARKS, &[LIMITS, "## `bourdon.report/2`"], &every_mark());
}

#[test]
fn kinds_of_breach() {
    assert_documented("#### Kinds of breach", &[], &every_breach());
}

#[test]
fn targets_that_are_not_ready_and_hints() {
    let every: Vec<NotReady> = every_not_ready();
    let seen: Vec<&Instead> = every.iter().map(|why| &why.seen).collect();
    assert_documented("#### Targets that are not ready", &[], &seen);
    let hints: Vec<&Hint> = every.iter().flat_map(|why| &why.hints).collect();
    assert_documented("#### Hints", &[], &hints);
}

#[test]
fn notes_and_doubts_of_a_claim() {
    let doubts = "#### Doubts of a claim";
    assert_documented("#### Notes of a claim", &[doubts, MARKS], &every_note());
    assert_documented(doubts, &[MARKS], &every_doubt());
}

#[test]
fn how_launches_are_made() {
    let seen = Rotated::Seen { target: Some("a".to_owned()), reason: Reason::said(TrialStage::Ready, "so".to_owned()) };
    let together = Rotated::Together { rounds: 40, slice_s: 0.25 };
    let row = row(section(&page(), "## `bourdon.report/2`"), "rotation");
    let mut named = BTreeSet::from(["planned".to_owned()]);
    [seen, together].iter().for_each(|one| fields(&serde_json::to_value(one).unwrap(), &mut named));
    named.extend(Whole::ALL.iter().map(|why| why.id().to_owned()));
    ["code", "text"].iter().for_each(|of_reason| assert!(named.remove(*of_reason)));
    let missing: Vec<&String> = named.iter().filter(|word| !code(&row).contains(word.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What a file of the tests holds of JSON: a golden document below its head, a record on each line.
fn documents(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let body = if text.starts_with("---") { text.splitn(3, "---\n").last().unwrap_or_default() } else { &text };
    serde_json::Deserializer::from_str(body).into_iter().collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_field_of_whole_documents_and_of_records() {
    let root = env!("CARGO_MANIFEST_DIR");
    let pages = ["METRICS", "RUN_FOLDER", "AUDIT"];
    let pages = pages.map(|page| std::fs::read_to_string(format!("{root}/../../docs/{page}.md")).unwrap()).concat();
    let known = code(&pages);
    let files =
        |folder: &str| std::fs::read_dir(format!("{root}/tests/{folder}")).unwrap().map(|file| file.unwrap().path());
    // Those of the program are of what it reads itself: the outputs of other tools.
    let golden = files("snapshots").chain(files("../../cli/tests/snapshots"));
    let golden = golden.filter(|path| path.to_string_lossy().contains("json"));
    let recorded = files("records").filter(|path| path.is_dir());
    let recorded = recorded.flat_map(|run| ["trials.jsonl", "environment.json"].map(|name| run.join(name)));
    let (mut schemas, mut missing) = (BTreeSet::new(), Vec::new());
    for path in golden.chain(recorded) {
        let mut found = BTreeSet::new();
        for document in documents(&path) {
            schemas.extend(document["schema"].as_str().map(str::to_owned));
            fields(&document, &mut found);
        }
        assert!(!found.is_empty(), "{path:?}");
        missing.extend(
            found.into_iter().filter(|field| !known.contains(field.as_str())).map(|field| (path.clone(), field)),
        );
    }
    assert!(missing.is_empty(), "{missing:?}");
    let kinds: BTreeSet<&str> = schemas.iter().filter_map(|schema| schema.split('/').next()).collect();
    let all = ["audit", "calibration", "compare", "diagnosis", "environment", "load", "report", "soak", "trial"]
        .map(|kind| format!("bourdon.{kind}"));
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn findings() {
    let evidence = vec![Plateau { connections: 1, handler_delay_s: 1.0, requests_per_s: 1.0, at_once: 1.0 }];
    let finding = Finding {
        target: "a".to_owned(),
        pathology: Pathology::SerialisedHandler,
        certainty: Certainty::ConsistentWith,
        value: None,
        evidence,
        conditions: Cell::default(),
        ruled_out: RuledOut { target_cpus: 1.0, generator: 0.5, ceiling: 0.5 },
    };
    assert_documented(
        "## `bourdon.report/2`",
        &[],
        &[[("findings", finding)].into_iter().collect::<std::collections::BTreeMap<_, _>>()],
    );
}
