//! `bourdon merge`: loads that several generators made at the same time, put together.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use specimens::{Kind, Settings};
use support::{Document, Ended, Replay, Specimen, bourdon, spawn};

/// Makes loads of one server at the same time, each with its own options; gives the files that they were saved in.
fn saved(folder: &Path, url: &str, all: &[&[&str]]) -> Vec<PathBuf> {
    let file = |at: usize| folder.join(format!("{at}.json"));
    let begin = |(at, options): (usize, &&[&str])| {
        let file = file(at).display().to_string();
        spawn(&[&["load", url, "--format", "none", "-o", &file], *options].concat())
    };
    let running: Vec<_> = all.iter().enumerate().map(begin).collect();
    for load in running {
        let ended = load.end();
        assert_eq!(ended.status, Some(0), "{ended:?}");
    }
    (0..all.len()).map(file).collect()
}

fn merge(files: &[PathBuf], options: &[&str]) -> Ended {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    bourdon(&[&["merge"], &files[..], options].concat())
}

fn document(file: &Path) -> Document {
    Document::of_balanced(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn nothing_is_lost_and_nothing_counted_twice() {
    let (specimen, folder) = (Specimen::of(Kind::Clean), tempfile::tempdir().unwrap());
    let options: [&[&str]; 3] = [
        &["-n", "400", "-c", "4", "-R", "800"],
        &["-n", "300", "-c", "3", "-R", "600"],
        &["-n", "200", "-c", "2", "-t", "2", "-R", "400"],
    ];
    let files = saved(folder.path(), &specimen.url(), &options);
    let both = folder.path().join("both.json");
    let ended = merge(&files, &["--format", "json", "-o", both.to_str().unwrap()]);
    let whole = ended.document_with(0);
    assert_eq!([whole.count("accounting/ok"), whole.count("accounting/scheduled")], [900, 900]);
    assert_eq!(whole.count("latency_us/response/count"), 900);
    assert_eq!(
        [whole.count("load/connections"), whole.count("load/threads"), whole.count("load/requests")],
        [9, 4, 900]
    );
    assert!((whole.number("load/rate_per_s") - 1_800.0).abs() < 1e-9);
    assert_eq!(whole.get("generator/thread_use").as_array().unwrap().len(), 4);
    assert_eq!(whole.get("merged").as_array().unwrap().len(), 3);
    assert_eq!(specimen.log_of(900).len(), 900, "it served no more");
    let slowest = files.iter().map(|file| document(file).number("latency_us/response/max")).fold(0.0, f64::max);
    assert_eq!(whole.number("latency_us/response/max"), slowest);
    let kept = document(&both);
    assert_eq!(kept.get("accounting"), whole.get("accounting"));
    assert_eq!([kept.get("part").is_string(), whole.get("part").is_string()], [true, false]);
    let again = merge(&[merged(folder.path(), &files[..2]), files[2].clone()], &["--format", "json"]).document_with(0);
    assert_eq!([again.get("latency_us"), again.get("accounting")], [whole.get("latency_us"), whole.get("accounting")]);
    assert_eq!(bourdon(&["report", both.to_str().unwrap()]).status, Some(0), "it is a load like any other");
    assert_refused(&merge(&[both, files[1].clone()], &[]), "share a load", "merge each load once");
}

/// These put together in a file.
fn merged(folder: &Path, files: &[PathBuf]) -> PathBuf {
    let file = folder.join("merged.json");
    let ended = merge(files, &["--format", "none", "-o", file.to_str().unwrap()]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    file
}

#[test]
fn a_stall_is_seen_through_four_generators_as_by_the_server() {
    const RATE: f64 = 400.0;
    let times = Duration::from_millis(300);
    let settings = Settings { stall_at: times, stall_for: times, ..Settings::new(Kind::Stall) };
    let (specimen, folder) = (Specimen::start(settings), tempfile::tempdir().unwrap());
    let options: &[&str] = &["-R", "100", "-d", "1s", "--warm-up", "0s", "-c", "40"];
    let files = saved(folder.path(), &specimen.url(), &[options; 4]);
    let whole = merge(&files, &["--format", "json"]).document_with(0);
    let sent = whole.count("accounting/sent") as usize;
    // Four schedules of 100 a second are one of 400 if they begin a quarter of a gap apart; they begin when they begin.
    let replay = Replay::of(&specimen.log_of(sent), 400, RATE);
    for (name, q) in [("p50", 0.50), ("p95", 0.95)] {
        let (measured, expected) = (whole.latency_s(&format!("response/{name}")), replay.quantile_s(q));
        assert!(
            (measured - expected).abs() <= (0.03 * expected).max(0.05),
            "{name}: {measured} s, by the log {expected} s"
        );
    }
    let one = document(&files[0]);
    let ratio = whole.latency_s("response/p95") / one.latency_s("response/p95");
    assert!((0.8..1.25).contains(&ratio), "through one generator and four: {ratio}");
}

/// That it is refused, with its cause and its cure.
fn assert_refused(ended: &Ended, cause: &str, cure: &str) {
    assert_eq!((ended.status, &*ended.stdout), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains(cause) && ended.stderr.contains(cure), "{}", ended.stderr);
}

/// A copy of a file.
fn copied(file: &Path, to: &Path) -> PathBuf {
    std::fs::copy(file, to).unwrap();
    to.to_owned()
}

#[test]
fn what_is_not_one_load_is_not_put_together() {
    let (specimen, folder) = (Specimen::of(Kind::Clean), tempfile::tempdir().unwrap());
    let (url, at) = (specimen.url(), |name: &str| folder.path().join(name));
    let made = |name: &str, options: &[&str]| {
        std::fs::create_dir(at(name)).unwrap();
        saved(&at(name), &url, &[options]).remove(0)
    };
    let short: &[&str] = &["-d", "100ms", "--warm-up", "0s", "-c", "2"];
    let first = made("first", short);
    assert_refused(&merge(&[first.clone(), made("later", short)], &[]), "after", "at the same time");
    let elsewhere = saved(folder.path(), &url.replace("127.0.0.1", "localhost"), &[short]).remove(0);
    assert_refused(&merge(&[first.clone(), elsewhere], &[]), "asked http", "loads of one URL");
    let other = made("other", &[short, &["-H", "Accept: text/plain"]].concat());
    assert_refused(&merge(&[first.clone(), other], &[]), "asked for different loads", "ask for one load with both");
    assert_refused(
        &merge(&[first.clone(), copied(&first, &at("own.json"))], &["-o", first.to_str().unwrap()]),
        "is one of the loads",
        "elsewhere",
    );
    let copy = copied(&first, &at("copy.json"));
    assert_refused(&merge(&[first.clone(), copy], &[]), "one and the same load", "leave one of them out");
    let poisson: &[&str] = &["-R", "50", "--arrivals", "poisson", "-d", "200ms", "--warm-up", "0s"];
    let alike = saved(folder.path(), &url, &[poisson, poisson]);
    assert_refused(&merge(&alike, &[]), "drew the same arrivals (--seed 42)", "a seed of its own");
    let lost = copied(&first, &at("lost.json"));
    let mut part: Value = serde_json::from_slice(&std::fs::read(&lost).unwrap()).unwrap();
    part["partial"] =
        serde_json::json!({ "whole_seconds": 4, "lost": [{ "node": "ab12", "host": "b", "why": "silent" }] });
    std::fs::write(&lost, part.to_string()).unwrap();
    let is_part = "lost 1 node (b/ab12), and its figures are of its first 4 seconds alone";
    assert_refused(&merge(&[first.clone(), lost.clone()], &[]), is_part, "make it again");
    let [old, new] = [&first, &lost].map(|file| file.to_str().unwrap());
    assert_refused(&bourdon(&["compare", old, new]), is_part, "make it again");
    assert!(bourdon(&["report", new]).stderr.contains(is_part));
    let without = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_slice(&std::fs::read(&first).unwrap()).unwrap();
        change(&mut value);
        let file = at(name);
        std::fs::write(&file, value.to_string()).unwrap();
        file
    };
    let older = without("older.json", &|value| drop(value.as_object_mut().unwrap().remove("part")));
    assert_refused(&merge(&[first.clone(), older], &[]), "does not hold the distributions", "bourdon load -o");
    let cut = without("cut.json", &|value| value["part"] = "AAAA".into());
    assert_refused(&merge(&[first.clone(), cut], &[]), "is not a saved load: `part`", "bourdon load -o");
    let newer = without("newer.json", &|value| value["instrument"]["bourdon"] = "9.9".into());
    assert_refused(&merge(&[first.clone(), newer], &[]), "by bourdon", "measure both with one version");
    assert_refused(&merge(&[first, at("none.json")], &[]), "cannot read", "none.json");
}
