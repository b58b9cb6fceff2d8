//! What JSON has of causes, notes and findings stands in docs/METRICS.md, field by field.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::collections::BTreeSet;

use model::*;
use serde::Serialize;
use serde_json::Value;
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

const NEED: ThreadNeed = ThreadNeed { thread: 1, busy: 0.5, starved: 0.1, waited: true };

/// One of each. A new one does not compile until it stands in the `match`, and so comes to be thought of here.
fn every_shortfall() -> Vec<Shortfall> {
    use Shortfall::{Attainable, HeldUp, Lacking, Late, StoodStill, Thread, TooLate};
    let all = vec![
        StoodStill { for_s: 1.0, window_s: 10.0 },
        Thread(NEED),
        Attainable(1.0),
        Lacking([(NotSent::OutOfPorts, 1)].into()),
        HeldUp(1),
        TooLate(1),
        Late(0.5),
    ];
    match all[0] {
        StoodStill { .. } | Thread(_) | Attainable(_) | Lacking(_) | HeldUp(_) | TooLate(_) | Late(_) => all,
    }
}

fn every_reason_for_no_reply() -> Vec<NoReplySeen> {
    use NoReplySeen::{AnsweredBefore, HungUp, NoConnections, NoHandshake, TlsFailed};
    let failed = model::TlsFailed { fault: Some(TlsFault::NotTls), why: String::new() };
    let all = vec![TlsFailed(failed), NoHandshake, HungUp, NoConnections, AnsweredBefore { replies: 1, until_s: 1.0 }];
    match all[0] {
        TlsFailed(_) | NoHandshake | HungUp | NoConnections | AnsweredBefore { .. } => all,
    }
}

fn silence() -> LongSilence {
    LongSilence { length_s: 1.0, at_least: true, from_s: Some(1.0), until_s: Some(2.0), others: 1 }
}

fn ceiling() -> DelayCeiling {
    DelayCeiling { per_s: 1.0, most_per_s: 1.0, handler_delay_s: 1.0, network_delay_s: 1.0 }
}

fn every_limit() -> Vec<LimitCause> {
    use LimitCause::{
        AtLeast, Behind, Blind, Ceiling, Interrupted, NoReply, NothingDue, NothingRight, RateMissed, RateSent,
        ServerBound, Silence, Stopped, TargetBusy,
    };
    let (rate_per_s, generator, share) = (1.0, NEED, Some(0.5));
    let not_sent = || [(NotSent::Refused, 1)].into();
    let at_once = Some(AtOnce { service_us: 1.0, needed: 2, allowed: 1 });
    let no_reply = |seen| {
        let hanging = Some(Hanging { requests: 1, one_each: true });
        let failed = [(Failure::TimedOut, 1)].into();
        NoReply(model::NoReply { not_sent: not_sent(), failed, awaited: 1, sent_before: 1, hanging, seen: Some(seen) })
    };
    let why = |why| RateMissed { rate_per_s, sent: 1, scheduled: 2, why };
    let mut all = vec![
        NothingRight { bad_status: 1, bad_body: 1 },
        NothingDue { window_s: 1.0 },
        AtLeast(Shortfall::Thread(NEED)),
        Ceiling(ceiling()),
        TargetBusy(0.9),
        ServerBound { generator, connections: 1, answered: Answered::Always, shared_cpus: true },
        RateSent { rate_per_s, generator, too_late: 1, late_share: share, waited_share: share, trusted_per_s: share },
        Stopped { rate_per_s, not_sent: not_sent() },
        Behind { rate_per_s, not_sent: not_sent(), generator, at_once },
        Silence(silence()),
        Interrupted { after_s: 1.0 },
    ];
    all.extend(every_reason_for_no_reply().into_iter().map(no_reply));
    all.extend(every_shortfall().into_iter().map(Blind).chain(every_shortfall().into_iter().map(why)));
    match all[0] {
        NothingRight { .. } | NothingDue { .. } | NoReply(_) | AtLeast(_) | Blind(_) | Ceiling(_) | TargetBusy(_) => {}
        ServerBound { .. } | RateMissed { .. } | RateSent { .. } | Stopped { .. } | Behind { .. } | Silence(_) => {}
        Interrupted { .. } => {}
    }
    all
}

fn every_mark() -> Vec<MarkCause> {
    use MarkCause::{
        BusyRounds, Ceiling, Cold, CompletionsPerSlot, Correlated, Course, Drift, Failures, Growth, Hung, Itself, Late,
        Limit, LowRate, OpenedLate, Reopened, Silence, Spill, Taken, Touched, Unserved,
    };
    let measured = Measured { estimate: Some(1.0), low: None, high: None, unit: Unit::Ratio };
    let figure = TouchedFigure { metric: Metric::P99, us: Some(1.0), least_us: Some(0.5) };
    let elsewhere = Some(SpentElsewhere { what: Elsewhere::Connecting, share: 0.5 });
    let reopened = model::Reopened { connections: 1, opened: 2, replies: 1, said: 1, idle: 1, in_place: 1 };
    let failed = FailedRequests {
        scheduled: 1,
        not_sent: [(NotSent::Refused, 1)].into(),
        failed: [(Failure::TimedOut, 1)].into(),
        bad_status: 1,
        bad_body: 1,
    };
    let course = WindowCourse {
        went: Changed::WarmUp,
        metric: Metric::P50,
        levels: vec![(0.0, 1.0)],
        steady_from_s: Some(1.0),
        window_s: 2.0,
    };
    let all = vec![
        Limit(LimitCause::AtLeast(Shortfall::Thread(NEED))),
        Late(vec![(Metric::P99, 1.0)]),
        Touched(model::Touched { stood: Some((1, 1.0)), requests: 1, scheduled: 2, figures: vec![figure] }),
        Silence(silence()),
        Reopened(reopened),
        OpenedLate { metric: Metric::P99, us: 1.0 },
        Unserved { never: 1, connections: 2, served_share: Some(0.5), elsewhere },
        Hung { requests: 1, one_each: true, oldest_s: 1.0, slowest_s: 1.0 },
        CompletionsPerSlot(1.0),
        LowRate { target: "a".to_owned(), per_s: 1.0 },
        Spill { cpus: 0.1 },
        BusyRounds { busy: 4, rounds: 12 },
        Ceiling(ceiling()),
        Taken { cpus: 1, steal_share: Some(0.1), others_share: Some(0.1) },
        Itself(vec![("a".to_owned(), Metric::P99, measured)]),
        Cold(Coldness::FasterBy { share: 0.1, low: 0.1, high: 0.1 }),
        Cold(Coldness::WarmUp { given_s: 1.0, needed_s: 2.0 }),
        Course(course),
        Growth(model::Growth { levelled_off: false, bytes: 1, bytes_per_request: Some(1.0) }),
        Drift { blocks: 6, p: 0.01 },
        Correlated { blocks: 6, correlation: 0.9, by_chance: 0.1, p: 0.01 },
        Failures(failed),
    ];
    match all[0] {
        Limit(_) | Late(_) | Touched(_) | Silence(_) | Reopened(_) | Unserved { .. } | Hung { .. } | Failures(_) => {}
        CompletionsPerSlot(_) | Ceiling(_) | Taken { .. } | Itself(_) | Cold(_) | Course(_) | Growth(_) => {}
        Drift { .. } | Correlated { .. } | OpenedLate { .. } | Spill { .. } | BusyRounds { .. } | LowRate { .. } => {}
    }
    all
}

fn every_breach() -> Vec<Breach> {
    use Breach::{Completions, Content, Imbalance, InFlight, SlicePart, SliceSum, TooLong};
    let books = [
        model::Imbalance::Scheduled { scheduled: 1, sent: 1, not_sent: 1 },
        model::Imbalance::Completed { completed: 1, replies: 2 },
        model::Imbalance::Sent { sent: 1, replies: 1, failed: 1, in_flight_at_end: 1 },
    ];
    let mut all: Vec<Breach> = books.into_iter().map(Imbalance).collect();
    all.extend([
        InFlight { in_flight_s: 1.0, requests_s: 2.0 },
        TooLong { metric: Metric::P99, divisor: 100.0, least_us: 2.0, mean_us: 1.0 },
        Completions { completed: 2, most: 1, delay_s: 1.0 },
        Content { replies: 1, bad_body: 1, malformed: 1, unasked: 1 },
        SliceSum { of: SliceFigure::Ok, slices: 1.0, measured: 2.0 },
        SlicePart { round: 1, of: SliceFigure::Completed, part: 2.0, whole: 1.0 },
    ]);
    match all[0] {
        Imbalance(_) | InFlight { .. } | TooLong { .. } | Completions { .. } | Content { .. } => all,
        SliceSum { .. } | SlicePart { .. } => all,
    }
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
    let golden = files("snapshots").filter(|path| path.to_string_lossy().contains("json"));
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
    let all = ["audit", "calibration", "compare", "environment", "load", "report", "trial"]
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
