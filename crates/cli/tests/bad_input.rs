//! What is typed wrong is reported with its place and its cure, before anything is started.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{FILE, Lab, Outcome, beside_a_specimen};

/// Stands in a file right before the place that an error must point at.
const MARK: char = '«';

/// Two specimens, and what is wrong behind or between.
fn with(load: &str, vary: &str, rest: &str) -> String {
    format!(
        "question = \"Which one?\"\n\n[load]\npath = \"/rest/hello\"\n{load}\n\n\
         [vary]\ntarget = [\"specimen:clean\", \"specimen:pool\"]\nconnections = [2, 4]\n{vary}\n\n{rest}\n"
    )
}

fn claim(expect: &str) -> String {
    with("", "", &format!("[[claim]]\nname = \"x\"\nsays = \"y\"\nexpect = \"{expect}\""))
}

/// Asserts that a call was refused, with these words, and that nothing was started or recorded.
#[track_caller]
fn refused(lab: &Lab, outcome: Outcome, words: &[&str]) -> Outcome {
    let outcome = outcome.exits(2).says(words);
    assert!(outcome.stderr.starts_with("error: "), "{outcome:?}");
    assert_eq!(outcome.stdout, "", "nothing is shown");
    assert!(!outcome.stderr.contains('\u{1b}'), "no terminal, no colours");
    assert_eq!(lab.alive(), Vec::<String>::new());
    outcome
}

/// Asserts that an experiment is refused at its mark.
#[track_caller]
fn refused_at_mark(marked: &str, words: &[&str]) {
    let at = marked.find(MARK).unwrap_or_else(|| panic!("no mark in {marked}"));
    let (before, line_start) = (&marked[..at], marked[..at].rfind('\n').map_or(0, |newline| newline + 1));
    let (line, column) = (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count());
    let lab = Lab::new().experiment(marked.replace(MARK, ""));
    let place = format!("--> {FILE}:{line}:{column}\n");
    refused(&lab, lab.run(&[]), &[&[place.as_str()], words].concat());
    let there: Vec<_> = std::fs::read_dir(lab.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, [FILE], "no run's folder, no cache");
}

#[test]
fn numbers_and_urls_that_cannot_be_meant() {
    let lab = Lab::new();
    let cases: [(&[&str], &[&str]); 11] = [
        (&["-X", "get"], &["methods are upper-case words: `GET`"]),
        (&["-X", "CONNECT"], &["CONNECT would open a tunnel; use another method"]),
        (&["-d", "18446744073s"], &["is longer than a year"]),
        (&["-d", "-5"], &["'-5' for '--duration <TIME>'", "`-5` is negative"]),
        (&["-d", "0"], &["must be above zero"]),
        (&["-c", "0"], &["'0' for '--connections", "must be a whole number of 1 or more"]),
        (&["-c", "-3"], &["must be a whole number of 1 or more"]),
        (&["-n", "0"], &["'0' for '--requests <N>'", "must be a whole number of 1 or more"]),
        (&["-R", "0"], &["from 0.001 to 10M requests a second", "leave it out for a closed load"]),
        (&["--timeout", "-1s"], &["`-1s` is negative"]),
        (&["--warm-up", "-1"], &["`-1` is negative"]),
    ];
    for (args, words) in cases {
        let load = [&["load", "http://127.0.0.1:1/"], args].concat();
        refused(&lab, lab.bourdon(&load), words);
    }
    refused(&lab, lab.bourdon(&["load", "http:/localhost"]), &["two slashes follow `http:`"]);
    let lab = lab.file("a.json", "{}");
    refused(&lab, lab.bourdon(&["compare", "a.json", "./a.json"]), &["are the same record", "name another one"]);
}

#[test]
fn options_that_do_not_go_with_what_is_compared() {
    let lab = Lab::new().experiment(with("", "", "")).file("a.json", "{}").file("b.json", "{}");
    let cases: [(&[&str], &[&str]); 16] = [
        (&[FILE, "--blocks", "1", "-c", "10"], &["-c (--connections) belongs to --run", "in the experiment file"]),
        (&[FILE, "--path", "/nope"], &["--path belongs to --run"]),
        (&[FILE, "-b", "x"], &["-b (--body) belongs to --run"]),
        (&["a.json", "b.json", "-X", "PUT"], &["-X (--method) belongs to --run"]),
        (&["runs/a", "runs/b", "-H", "X-A: 1"], &["-H (--header) belongs to --run"]),
        (&[FILE, "--margin", "2%"], &["--margin belongs to --run, two recorded runs or saved loads"]),
        (&[FILE, "--drift", "5%"], &["--drift belongs to two recorded runs or saved loads"]),
        (&[FILE, "--force"], &["--force belongs to two recorded runs or saved loads"]),
        (&["a.json", "b.json", "-c", "77", "-d", "9s"], &["-c (--connections) belongs to --run", "bourdon load"]),
        (&["a.json", "b.json", "-d", "9s"], &["-d (--duration) belongs to --run"]),
        (&["a.json", "b.json", "--blocks", "9"], &["--blocks belongs to --run or an experiment file"]),
        (&["runs/a", "runs/b", "-R", "9"], &["-R (--rate) belongs to --run", "as it was measured"]),
        (&["runs/a", "runs/b", "-t", "2"], &["-t (--threads) belongs to --run or an experiment file"]),
        (&["runs/a", "runs/b", "--runs", "x"], &["--runs belongs to --run or an experiment file"]),
        (&["runs/a", "runs/b", "--allow-failures", "2%"], &["--allow-failures belongs to --run, an experiment file"]),
        (&["--run", "a", "--run", "b", "--force"], &["--force belongs to", "under one load"]),
    ];
    for (args, words) in cases {
        refused(&lab, lab.bourdon(&[&["compare"], args].concat()), words);
    }
}

#[test]
fn files_of_the_wrong_kind() {
    let lab = Lab::new().experiment(with("", "", "")).file("a.json", "{}").file("loads/b.json", "{}");
    let lab = lab.file("node.js", "require('http')").file("extra.toml", "");
    let cases: [(&[&str], &[&str]); 5] = [
        (&["compare", "a.json"], &["a.json is one saved load; name the other one too"]),
        (&["compare", "loads"], &["loads is one side of saved loads; name the other one too"]),
        (&["compare", FILE, "extra.toml"], &["is an experiment file, which has both servers in it; give it alone"]),
        (&["compare", "a.json", FILE], &["is an experiment file, which has both servers in it"]),
        (&["run", "node.js"], &["node.js is not an experiment file: that is a TOML file", "[[target]]", "timeouts"]),
    ];
    for (args, words) in cases {
        refused(&lab, lab.bourdon(args), words);
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_and_a_file_in_that_of_a_folder_are_named() {
    let lab = Lab::new().experiment(with("", "", "")).file("a.json", "{}").file("run/plan.toml", "").file("x/y/z", "");
    let folder = "it is a folder, and a file is expected";
    let load = ["load", "https://127.0.0.1:9", "-d", "100ms"];
    let cases: [(&[&str], &[&str]); 15] = [
        (&[&load[..], &["-b", "@x"]].concat(), &["cannot read x: ", folder, "name a file after the @"]),
        (&[&load[..], &["--expect-body", "@x"]].concat(), &["cannot read x: ", folder]),
        (&[&load[..], &["--ca", "x"]].concat(), &["cannot read x: ", folder, "name a PEM file"]),
        (&[&load[..], &["-o", "x"]].concat(), &["cannot write x: ", folder]),
        (&[&load[..], &["-o", "a.json/x"]].concat(), &["what should be a folder in this path is a file"]),
        (&[&load[..], &["--histogram-log", "x"]].concat(), &["cannot write x: ", folder]),
        (&["run", "x"], &["cannot read x: ", folder, "shipped experiments are: "]),
        (&["run", "a.json/x"], &["cannot read a.json/x: what should be a folder in this path is a file"]),
        (&["run", "run"], &["run is a recorded run, and not an experiment file", "bourdon report run", "--resume run"]),
        (&["run", FILE, "--runs", "a.json"], &["a.json: a.json is not a folder, and one is expected"]),
        (&["run", "--resume", "a.json"], &["a.json is not a run folder"]),
        (&["report", "a.json"], &["a.json is not a saved load: "]),
        (&["compare", "x"], &["x is not a run folder: it has no plan.toml"]),
        (&["compare", "x", "a.json"], &["x is not a saved load: it holds no saved load"]),
        (&["audit", "x"], &["cannot read x: ", folder, "name a file with a tool's output"]),
    ];
    for (args, words) in cases {
        let refused = refused(&lab, lab.bourdon(args), words);
        assert!(!refused.stderr.contains("os error"), "{refused:?}");
    }
}

#[test]
fn words_that_are_not_known() {
    let cases: [(String, &[&str]); 9] = [
        (with("«conections = 5", "", ""), &["unknown key `conections` in [load]", "did you mean `connections`?"]),
        (
            with("", "", "").replace("\"specimen:pool", "«\"specimen:pol"),
            &["unknown target `specimen:pol`", "did you mean `specimen:pool`?"],
        ),
        (
            with("", "«handler_dely = \"5ms\"", ""),
            &["unknown key `handler_dely` in [vary]", "did you mean `handler_delay`?"],
        ),
        (with("", "", "[trials]\n«windw = \"1s\""), &["unknown key `windw` in [trials]", "did you mean `window`?"]),
        (
            claim("«troughput(specimen:clean, connections = 2) > 1"),
            &["unknown metric `troughput`", "did you mean `throughput`?"],
        ),
        (
            claim("p99(specimen:clean, connections = 2) < «50"),
            &["this number has no unit", "write for instance `50ms`"],
        ),
        (
            claim("throughput(«specimen:clear, connections = 2) > 1"),
            &["unknown target `specimen:clear`", "did you mean `specimen:clean`?"],
        ),
        (
            claim("throughput(specimen:clean, «conections = 2) > 1"),
            &["does not vary `conections`", "did you mean `connections`?"],
        ),
        (
            with("", "", "[[target]]\n«nmae = \"mine\"\nrun = \"./mine\""),
            &["unknown key `nmae` in [[target]]", "did you mean `name`?"],
        ),
    ];
    for (marked, words) in cases {
        refused_at_mark(&marked, words);
    }
}

#[test]
fn values_that_make_no_sense() {
    let open = |rate: &str| with(&format!("model = \"open\"\nrate = {rate}"), "", "");
    let cases: [(String, &[&str]); 9] = [
        (beside_a_specimen("run = «\"x\\u0000y\""), &["`run` has a NUL character", "leave it out"]),
        (beside_a_specimen("run = 'x'\ncwd = «\"a\\u0000b\""), &["`cwd` has a NUL character"]),
        (beside_a_specimen("run = 'x'\nenv = { A = «\"x\\u0000y\" }"), &["`A` has a NUL character"]),
        (with("", "handler_delay = «10", ""), &["`handler_delay` has no unit", "write `\"10ms\"` or `\"10s\"`"]),
        (
            with("", "", "").replace("[2, 4]", "[2, «0]"),
            &["`connections` must be a whole number from 1 up, not 0", "connections = 100"],
        ),
        (open("«-5"), &["`rate` must be from 0.001 to 10 million, not -5.0", "requests a second"]),
        (
            claim("«throughput(specimen:clean) > 1"),
            &["`throughput(specimen:clean)` leaves `connections` open", "one of 2, 4"],
        ),
        (
            with("", "", "").replace("\n[load]", "margin = «5%\n[load]"),
            &["string values must be quoted", "put text and durations in quotes"],
        ),
        (
            beside_a_specimen("run = 'x'\nready_within = «60"),
            &["`ready_within` has no unit", "write `\"60ms\"` or `\"60s\"`"],
        ),
    ];
    for (marked, words) in cases {
        refused_at_mark(&marked, words);
    }
}

#[test]
fn arguments() {
    let lab = Lab::new().experiment(with("", "", ""));
    let cases: [(&[&str], &[&str]); 12] = [
        (&["run", "--resume", "runs/x", "--runs", "y"], &["cannot be used with", "--runs"]),
        (
            &["run", FILE, "--target", "specimen:clean,specimen:pol"],
            &["command line:1:25", "did you mean `specimen:pool`?", "its targets are specimen:clean, specimen:pool"],
        ),
        (&["run", "nothing.toml"], &["cannot read nothing.toml", "shipped experiments are: business-latency"]),
        (
            &["run", "busines-latency"],
            &["cannot read busines-latency", "did you mean `business-latency`? shipped experiments are: "],
        ),
        (&["run"], &["required", "<EXPERIMENT>"]),
        (&["run", FILE, "--blocks", "0"], &["--blocks", "1..=1000"]),
        (&["run", FILE, "--resume", "runs/x"], &["cannot be used with"]),
        (&["run", "--resume", "runs/x"], &["runs/x does not exist", "name a folder that `bourdon run` wrote"]),
        (&["report", "runs/x"], &["runs/x does not exist"]),
        (&["compare", "before.json", "after.json"], &["before.json does not exist", "what `bourdon load -o` saved"]),
        (&["run", FILE, "--format", "yaml"], &["possible values: text, json, markdown"]),
        (&["report", "."], &[". is not a run folder: it has no plan.toml"]),
    ];
    for (args, words) in cases {
        refused(&lab, lab.bourdon(args), words);
        assert!(!lab.path().join("runs").exists(), "{args:?}");
    }
}

#[test]
fn more_connections_than_files_are_allowed() {
    let lab = Lab::new().experiment(with("", "", "").replace("[2, 4]", "4_000_000_000"));
    let words = [
        "4,000,000,000 connections need 4,000,000,064 open files",
        "use at most connections = ",
        "raise the limit (ulimit -Hn",
    ];
    refused(&lab, lab.run(&[]), &words);
    assert!(!lab.path().join("runs").exists());
}

#[test]
fn a_target_file_that_is_wrong() {
    let text = "name = 'x'\ntitle = 'X'\n[launch]\nrun = './x'\nraedy = '/ping'\n";
    let lab = Lab::new().experiment(with("", "", "")).file("targets/x/target.toml", text);
    let words = ["targets/x/target.toml:5:1", "unknown key `raedy` in [launch]", "did you mean `ready`?"];
    refused(&lab, lab.run(&[]), &words);
    refused(&lab, lab.bourdon(&["targets"]), &words);
    assert!(!lab.path().join("runs").exists());
}

#[test]
fn a_damaged_record() {
    let short = with("", "", "[trials]\nwarm_up = \"10ms\"\nwindow = \"50ms\"\nblocks = 1");
    let lab = Lab::new().experiment(short.replace("specimen:pool", "specimen:stall"));
    lab.run(&[]).exits(0);
    let record = lab.record();
    let whole = record.text("trials.jsonl");
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.insert(2, "{\"schema\":\"bourdon.trial/1\", what is this");
    let damaged = lines.join("\n") + "\n";
    let write = |file: &str, text: &str| std::fs::write(record.path().join(file), text).unwrap();
    write("trials.jsonl", &damaged);
    for args in [["report", record.name()].as_slice(), &["run", "--resume", record.name()]] {
        refused(&lab, lab.bourdon(args), &["trials.jsonl, line 3: "]);
        assert_eq!(record.text("trials.jsonl"), damaged, "a record is not mended by guessing");
    }
    write("trials.jsonl", &whole);
    write("plan.toml", &record.text("plan.toml").replacen("seed = ", "seed = x", 1));
    refused(&lab, lab.bourdon(&["report", record.name()]), &["plan.toml, line "]);
}

#[test]
fn a_file_without_end_is_read_to_a_bound() {
    let lab = Lab::new();
    let load = ["load", "https://127.0.0.1:9", "-d", "100ms"];
    for (extra, most) in [
        (["-b", "@/dev/zero"], "64 MiB"),
        (["--expect-body", "@/dev/zero"], "64 MiB"),
        (["--ca", "/dev/zero"], "1 MiB"),
    ] {
        lab.bourdon(&[&load[..], &extra].concat()).exits(2).says(&["cannot read /dev/zero: it is larger than ", most]);
    }
    lab.bourdon(&["run", "/dev/zero"]).exits(2).says(&["cannot read /dev/zero: it is larger than 1 MiB"]);
}
