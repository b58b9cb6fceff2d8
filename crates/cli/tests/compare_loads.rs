//! Results that `bourdon load -o FILE` saved, held against each other.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use specimens::{Kind, Settings};
use support::{Ended, Specimen, bourdon};

/// A load that is void, because this machine was busy, is made again.
fn save(specimen: &Specimen, file: &Path, arguments: &[&str]) {
    let url = specimen.url();
    let output = ["load", &url, "--format", "none", "-o", file.to_str().unwrap(), "-d", "0.1", "--warm-up", "0"];
    let mut tries = (0..10).map(|_| bourdon(&[&output[..], arguments].concat()));
    let ended = tries.find(|ended| ended.status != Some(3)).expect("ten loads in a row were void");
    assert_eq!(ended.status, Some(0), "{ended:?}");
}

fn slow(delay_ms: u64) -> Specimen {
    Specimen::start(Settings { handler_delay: Duration::from_millis(delay_ms), ..Settings::new(Kind::Clean) })
}

fn compare(old: &Path, new: &Path, arguments: &[&str]) -> Ended {
    bourdon(&[&["compare", old.to_str().unwrap(), new.to_str().unwrap()], arguments].concat())
}

/// Writes into a saved load when it began.
fn began(file: &Path, at: &str) {
    let mut saved: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    saved["started_at"] = at.into();
    std::fs::write(file, saved.to_string()).unwrap();
}

/// Makes of a saved load one of the first version: without what that did not say of what was asked.
fn as_of_the_first_version(file: &Path) {
    let mut saved: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    saved["schema"] = "bourdon.load/1".into();
    let asked = saved["load"].as_object_mut().unwrap();
    ["http", "headers", "expect", "tls", "spin"].iter().for_each(|key| assert!(asked.remove(*key).is_some()));
    std::fs::write(file, saved.to_string()).unwrap();
}

fn refused(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    words.iter().for_each(|word| assert!(ended.stderr.contains(word), "no `{word}` in {ended:?}"));
}

#[test]
fn one_load_each_has_ratios_and_neither_interval_nor_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.json"), folder.path().join("new.json"));
    save(&slow(2), &old, &["-c", "2"]);
    save(&slow(10), &new, &["-c", "2"]);
    let ended = compare(&old, &new, &["--format", "json", "--gate", "p50<+10%"]);
    assert_eq!(ended.status, Some(3), "a gate that is undecided is not passed: {ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&document["form"], &document["blocks"]), (&"loads".into(), &1.into()));
    assert!(document["cells"][0]["invariants"].to_string().contains("\"held_in\":1"));
    let throughput = &document["rows"][0];
    assert!(throughput["ratio"]["estimate"].as_f64().unwrap() < 0.5, "{throughput}");
    assert_eq!((&throughput["ratio"]["low"], &throughput["verdict"]), (&Value::Null, &"inconclusive".into()));
    assert_eq!(document["gates"][0]["verdict"], "undecided");
    let text = compare(&old, &new, &[]).stdout;
    let allowed = compare(&old, &new, &["--gate", "p50<+10%", "--allow-undecided"]);
    assert_eq!(allowed.status, Some(0), "{allowed:?}");
    assert_eq!(compare(&old, &new, &[]).status, Some(0), "without a gate nothing is asked");
    assert!(text.contains("the ratios have no interval") && text.contains("Preliminary: 1 load of each"), "{text}");
}

/// Makes of a saved load one that was to last a minute and was stopped.
fn stop(file: &Path) {
    let mut saved: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    (saved["interrupted"], saved["load"]["window_s"]) = (true.into(), 60.0.into());
    std::fs::write(file, saved.to_string()).unwrap();
}

#[test]
fn loads_that_were_stopped_are_compared_as_far_as_they_ran() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.json"), folder.path().join("new.json"));
    for (file, delay_ms) in [(&old, 2), (&new, 10)] {
        save(&slow(delay_ms), file, &["-c", "2"]);
        stop(file);
    }
    let ended = compare(&old, &new, &["--format", "json"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&document["trials"]["void"], &document["blocks"]), (&0.into(), &1.into()));
    assert!(document["rows"][0]["ratio"]["estimate"].as_f64().unwrap() < 0.5, "{document:#}");
    let cut: Vec<&Value> = document["cut"].as_array().unwrap().iter().map(|load| &load["id"]).collect();
    assert_eq!(cut, ["old.json", "new.json"]);
    let text = compare(&old, &new, &[]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Stopped before the end, and compared as far as it ran: old.json (100 ms measured), new.json (100 ms";
    assert!(text.contains(said), "{text}");
}

#[test]
fn uneven_sides_are_counted_each() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old");
    std::fs::create_dir(&old).unwrap();
    let specimen = Specimen::of(Kind::Clean);
    for number in 1..=3 {
        save(&specimen, &old.join(format!("{number}.json")), &["-c", "2"]);
    }
    let new = folder.path().join("new.json");
    save(&specimen, &new, &["-c", "2"]);
    let text = compare(&old, &new, &[]).stdout;
    // Where a line ends depends on the names of the files, and there is no ` · ` there.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["Preliminary: 3 and 1 loads, a verdict", "One load of the new one does not show"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let (.., notes) = text.rsplit_once("Notes").unwrap();
    assert!(notes.contains("3 and 1 loads"), "{text}");
    assert!(!text.contains("of each"), "{text}");
}

#[test]
fn a_load_that_is_there_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|side| folder.path().join(side));
    [&old, &new].iter().for_each(|side| std::fs::create_dir(side).unwrap());
    let specimen = Specimen::of(Kind::Clean);
    save(&specimen, &old.join("a.json"), &["-c", "2"]);
    save(&specimen, &new.join("b.json"), &["-c", "2"]);
    assert_eq!(compare(&old, &new, &[]).status, Some(0));
    // Beside itself, beside itself at another time, by a link, and on the other side.
    let copy = old.join("copy.json");
    std::fs::copy(old.join("a.json"), &copy).unwrap();
    let words = ["a.json", "copy.json", "the same load"];
    refused(&compare(&old, &new, &[]), &words);
    began(&copy, "2026-11-20T10:00:00Z");
    refused(&compare(&old, &new, &[]), &words);
    std::fs::remove_file(&copy).unwrap();
    std::os::unix::fs::symlink("a.json", &copy).unwrap();
    refused(&compare(&old, &new, &[]), &words);
    std::fs::remove_file(&copy).unwrap();
    std::fs::copy(old.join("a.json"), new.join("copy.json")).unwrap();
    refused(&compare(&old, &new, &[]), &words);
}

#[test]
fn a_load_that_does_not_agree_with_itself_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old.json", "new.json"].map(|name| folder.path().join(name));
    let specimen = Specimen::of(Kind::Clean);
    [&old, &new].iter().for_each(|file| save(&specimen, file, &["-c", "2"]));
    let mut saved: Value = serde_json::from_str(&std::fs::read_to_string(&new).unwrap()).unwrap();
    saved["in_window"]["ok"] = 0.into();
    std::fs::write(&new, saved.to_string()).unwrap();
    refused(
        &compare(&old, &new, &[]),
        &["new.json is not a saved load: `in_window.ok` is 0: the steps of the window come"],
    );
}

#[test]
fn six_loads_each_have_a_verdict_and_break_gates() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    for side in [&old, &new] {
        std::fs::create_dir(side).unwrap();
    }
    for number in 1..=6 {
        let file = format!("{number}.json");
        save(&slow(2), &old.join(&file), &["-c", "2"]);
        save(&slow(10), &new.join(&file), &["-c", "2"]);
    }
    let ended = compare(&old, &new, &["--format", "json", "--gate", "p50<+10%"]);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&document["interleaved"], &document["blocks"]), (&true.into(), &6.into()));
    assert_eq!(document["rows"][0]["verdict"], "slower", "{document:#}");
    assert!(document["rows"][0]["ratio"]["high"].as_f64().unwrap() < 0.5);
    let text = compare(&old, &new, &[]).stdout;
    assert!(text.contains("6 loads of each, taken in turn") && text.contains("restart the server before"), "{text}");
    // The same times, those of one side as a clock elsewhere shows them.
    for number in 1..=6 {
        [&old, &new].iter().for_each(|side| as_of_the_first_version(&side.join(format!("{number}.json"))));
        began(&old.join(format!("{number}.json")), &format!("2026-11-20T10:0{number}:00Z"));
        began(&new.join(format!("{number}.json")), &format!("2026-11-20T11:0{number}:30.5+01:00"));
    }
    let text = compare(&old, &new, &[]).stdout;
    assert!(text.contains("6 loads of each, taken in turn"), "{text}");
    // The old one is asked after a pause.
    for number in 1..=6 {
        began(&new.join(format!("{number}.json")), &format!("2026-11-20T10:0{number}:12Z"));
    }
    let ended = compare(&old, &new, &[]);
    assert!(ended.stderr.contains("was usually asked after a longer pause"), "{ended:?}");
    assert!(ended.stdout.contains("The two were not measured in turn"), "{ended:?}");
}

#[test]
fn loads_that_asked_for_different_things_are_refused_until_forced() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let specimen = Specimen::of(Kind::Clean);
    save(&specimen, &file("a.json"), &["-c", "2"]);
    save(&specimen, &file("b.json"), &["-c", "4", "-R", "500"]);
    let ended = compare(&file("a.json"), &file("b.json"), &[]);
    refused(&ended, &["load: old closed, new open at 500 a second (constant)", "connections: old 2, new 4", "--force"]);
    let forced = compare(&file("a.json"), &file("b.json"), &["--force"]);
    assert_eq!(forced.status, Some(0), "{forced:?}");
    assert!(forced.stdout.contains("more than the server differs: load: old closed"), "{forced:?}");
    let said = "are on one side and asked for different loads (load: the first closed, the second open at 500 a second (constant))";
    refused(&compare(folder.path(), &file("a.json"), &[]), &[said]);
}

#[test]
fn a_gate_on_what_no_saved_load_holds_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.json"), folder.path().join("new.json"));
    for file in [&old, &new] {
        save(&Specimen::of(Kind::Clean), file, &["-c", "2"]);
    }
    let ended = compare(&old, &new, &["--gate", "p50<+10%,cpu_per_request<+10%", "--allow-undecided"]);
    refused(&ended, &["the gate cpu_per_request<+10%", "a saved load does not hold the server's CPU per request"]);
    let ended = compare(&old, &new, &["--gate", "p50<+10%, p99<+3%,p50<+5%"]);
    refused(&ended, &["`p50` has more than one gate; keep one"]);
}

#[test]
fn loads_that_sent_or_expected_other_things_are_refused_and_credentials_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let specimen = Specimen::of(Kind::Clean);
    let secret = ["-H", "Authorization: Bearer s3cret", "-H", "X-Own: s3cret", "-H", "Accept: text/html"];
    save(&specimen, &file("a.json"), &["-c", "2"]);
    save(&specimen, &file("b.json"), &[&["-c", "2", "--expect-status", "200", "--http", "1.0"], &secret[..]].concat());
    let ended = compare(&file("a.json"), &file("b.json"), &[]);
    let headers = "headers: old none, new Authorization (value not kept), X-Own (value not kept), Accept: text/html\n";
    refused(&ended, &[headers, "HTTP version: old 1.1, new 1.0\n", "expected status: old any, new 200\n"]);
    let saved = std::fs::read_to_string(file("b.json")).unwrap();
    assert!(!saved.contains("s3cret"), "{saved}");
}

#[test]
fn a_fixed_count_of_requests_leaves_connections_idle_and_nobody_unserved() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let specimen = slow(20);
    for name in ["a.json", "b.json"] {
        let (url, at) = (specimen.url(), file(name));
        let output = ["load", &url, "--format", "none", "-o", at.to_str().unwrap(), "-n", "5", "-c", "4"];
        assert_eq!(bourdon(&output).status, Some(0));
    }
    let ended = compare(&file("a.json"), &file("b.json"), &["--format", "json"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let marks = document["cells"][0]["marks"].as_array().unwrap();
    assert!(marks.iter().all(|note| note["mark"] != "unserved"), "{marks:?}");
    save(&specimen, &file("c.json"), &["-c", "4"]);
    refused(&compare(&file("a.json"), &file("c.json"), &[]), &["window: old 5 requests, new 100ms"]);
}

#[test]
fn one_side_is_measured_by_one_bourdon() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let specimen = Specimen::of(Kind::Clean);
    ["a.json", "b.json"].iter().for_each(|name| save(&specimen, &file(name), &["-c", "2"]));
    let mut other: Value = serde_json::from_str(&std::fs::read_to_string(file("b.json")).unwrap()).unwrap();
    other["instrument"]["bourdon"] = "0.0.1".into();
    let sides = tempfile::tempdir().unwrap();
    std::fs::write(sides.path().join("b.json"), other.to_string()).unwrap();
    refused(&compare(&file("a.json"), sides.path(), &[]), &["bourdon: "]);
    std::fs::copy(file("a.json"), sides.path().join("a.json")).unwrap();
    refused(&compare(&file("a.json"), sides.path(), &[]), &["measured by different versions of bourdon"]);
}

#[test]
fn what_is_not_a_saved_load_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    save(&Specimen::of(Kind::Clean), &file("a.json"), &["-c", "2"]);
    for (name, text, why) in [
        ("b.json", "not JSON", "line 1, column"),
        ("c.json", "{}", "is not a saved load"),
        ("d.json", r#"{"schema": "bourdon.load/9", "load": {}}"#, "its schema is `bourdon.load/9`"),
    ] {
        std::fs::write(file(name), text).unwrap();
        refused(&compare(&file("a.json"), &file(name), &[]), &[why, "bourdon load -o FILE"]);
    }
    let mut saved: serde_json::Value = serde_json::from_slice(&std::fs::read(file("a.json")).unwrap()).unwrap();
    let mut refused_with = |key: &str, value: serde_json::Value, why: &str| {
        let sound = std::mem::replace(&mut saved[key], value);
        std::fs::write(file("e.json"), saved.to_string()).unwrap();
        refused(&compare(&file("a.json"), &file("e.json"), &[]), &[why, "bourdon load -o FILE"]);
        saved[key] = sound;
    };
    refused_with("load", json!({ "model": "closed", "path": 7 }), "invalid type: integer `7`, expected a string");
    refused_with("started_at", "yesterday".into(), "`yesterday` is not a time, as 2026-11-20T09:12:33Z is");
    refused_with("generator", 1.into(), "is not a saved load");
}

#[test]
fn a_figure_that_nobody_can_have_measured_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    save(&Specimen::of(Kind::Clean), &file("a.json"), &["-c", "2"]);
    let saved: Value = serde_json::from_slice(&std::fs::read(file("a.json")).unwrap()).unwrap();
    for impossible in [-1.0, -1e308, 1e308, 4e9] {
        let mut changed = saved.clone();
        changed["latency_us"]["service"]["p50"] = impossible.into();
        std::fs::write(file("b.json"), changed.to_string()).unwrap();
        refused(&compare(&file("a.json"), &file("b.json"), &[]), &["b.json", "cannot be a latency (0 to one hour)"]);
    }
    let first_thread = "/generator/thread_use/0";
    for (field, value, said) in [
        ("/latency_us/service/p75", json!(0.5), "`latency_us.service.p75` is 0.5 µs, less than p50 with "),
        ("/window_s", json!(1e300), "`window_s` is 1e300: a length in seconds is 0, or from a nanosecond to a year"),
        ("/window_s", json!(1e-320), "`window_s` is 1e-320: a length"),
        (&format!("{first_thread}/wall_s"), json!(1e-320), "`generator.threads[0].wall_s` is 1e-320: a length"),
        (&format!("{first_thread}/wall_s"), json!(1e-9), "`generator.threads[0].cpu_s` is "),
        (
            "/in_window/ok",
            json!(1_000_000_000),
            "`in_window.ok` is 1000000000: no more replies are ok than are complete (",
        ),
        (
            "/connections/opened_in_window",
            json!(9_000),
            "`connections.opened_in_window` is 9000: no more connections are ",
        ),
        ("/connections/jain", json!(-0.5), "`connections.jain` is -0.5: a share is from 0 to 1"),
        ("/load/warm_up_s", json!(-1.0), "`load.warm_up_s` is -1: a time is not negative"),
        ("/load/window_s", json!(1e300), "a duration is a year at most"),
    ] {
        let mut changed = saved.clone();
        // As of a thread that was busy for a while.
        changed["generator"]["thread_use"][0]["cpu_s"] = 0.2.into();
        changed["generator"]["thread_use"][0]["wall_s"] = 0.3.into();
        *changed.pointer_mut(field).unwrap() = value;
        std::fs::write(file("b.json"), changed.to_string()).unwrap();
        refused(&compare(&file("a.json"), &file("b.json"), &[]), &["b.json", said]);
    }
}

#[test]
fn a_saved_load_has_a_report_and_a_page_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one.json"), folder.path().join("other.json"));
    let server = slow(2);
    save(&server, &one, &["-c", "2"]);
    save(&server, &other, &["-c", "2"]);
    let report = |path: &Path, format: &str| {
        let ended = bourdon(&["report", path.to_str().unwrap(), "--format", format]);
        assert_eq!(ended.status, Some(0), "{ended:?}");
        ended.stdout
    };
    let text = report(&one, "text");
    assert!(text.contains("one.json show?") && text.contains("Preliminary: 1 load. "), "{text}");
    let analysis: Value = serde_json::from_str(&report(&one, "json")).unwrap();
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&one).unwrap()).unwrap();
    let p50 = &analysis["cells"][0]["latency_us"]["p50"]["estimate"];
    assert_eq!((&analysis["of_loads"], p50), (&true.into(), &saved["latency_us"]["service"]["p50"]));
    let page = report(&one, "html");
    for part in ["<h1>", "Latency by percentile", "id=\"timelines\"", "Over time"] {
        assert!(page.contains(part), "no {part}");
    }
    assert!(report(folder.path(), "text").contains("2 loads"), "{}", report(folder.path(), "text"));
    assert!(!folder.path().join("report.html").exists(), "nothing is written beside a file");
    std::fs::write(&other, "{}").unwrap();
    let said = bourdon(&["report", other.to_str().unwrap()]);
    refused(&said, &["other.json is not a saved load"]);
}
