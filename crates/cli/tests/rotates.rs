//! `bourdon run` lets the load rotate among the targets that share their conditions, where it can.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::collections::{BTreeMap, BTreeSet};

use run_support::{FILE, Json, Lab, Record};

const TOGETHER: &str =
    "Launches rotated: all targets ran at the same time while the load rotated among them, in 4 slices";

/// Two targets in slices of 50 ms, with more in the file.
fn experiment(targets: &str, blocks: u32) -> String {
    format!(
        "question = 'Who is faster?'\nload = {{ path = '/rest/hello', expect_body = 'Hello world', connections = 4 }}\n\
         trials = {{ warm_up = '20ms', window = '200ms', blocks = {blocks}, repeats = 0, \
         rotation = {{ slice = '50ms', lead_in = '5ms' }} }}\n{targets}"
    )
}

fn specimens(blocks: u32) -> String {
    let other = "[[target]]\nname = 'other'\nrun = '$BOURDON specimen clean'\nready = '/ping'\n";
    experiment(&format!("vary.target = ['specimen:clean', 'other']\n{other}"), blocks)
}

/// How many slices each launch was measured in, 0 where it was alone.
fn slices(launches: &[Json]) -> Vec<usize> {
    let measured = |launch: &Json| {
        let slices = launch["slices"].as_array().map_or(&[][..], |slices| slices);
        slices.iter().filter(|slice| slice["round"].as_u64() > Some(0)).count()
    };
    launches.iter().map(measured).collect()
}

fn rotation_of_each(record: &Record) -> Vec<Json> {
    record.analysis()["cells"].as_array().unwrap().iter().map(|cell| cell["rotation"].clone()).collect()
}

/// On a machine so busy that a server leaves a slice unanswered its launches are alone, as they should be: then there is another attempt.
fn on_a_machine_that_is_quiet_enough(attempt: impl Fn() -> Option<()>) {
    const ATTEMPTS: usize = 10;
    assert!((0..ATTEMPTS).any(|_| attempt().is_some()), "its load did not fit into slices {ATTEMPTS} times");
}

/// Nothing where the machine kept a load from being cut into slices. A busy one makes a server look slow, or dear, after it idled,
/// too; that a server ends connections it never causes.
fn unless_too_busy(record: &Record) -> Option<()> {
    let of_the_server = Json::from("connections-end");
    let seen = rotation_of_each(record).into_iter().map(|rotation| rotation["seen"]["reason"]["code"].clone());
    let mut refused = seen.filter(|code| !code.is_null() && *code != of_the_server);
    refused.next().is_none().then_some(())
}

#[test]
fn two_targets_go_round_and_what_is_recorded_says_the_same_again() {
    on_a_machine_that_is_quiet_enough(|| {
        let lab = Lab::new().experiment(specimens(2));
        let run = lab.run(&["--format", "json"]).answers();
        lab.nothing_is_left();
        let record = lab.record();
        unless_too_busy(&record)?;
        record.is_whole(2, 2);
        assert_eq!(slices(&record.launches()), [4; 6], "two targets and a twin in each block");
        let together = serde_json::json!({ "together": { "rounds": 4, "slice_s": 0.05 } });
        assert_eq!(rotation_of_each(&record), [together.clone(), together]);
        let report = |format| lab.bourdon(&["report", record.name(), "--format", format]).answers();
        assert_eq!(report("json").stdout, run.stdout);
        report("text").shows(&["Launches rotated: all targets"]);
        report("markdown").shows(&[TOGETHER]);
        Some(())
    });
}

#[test]
fn without_rotation_each_launch_is_alone() {
    let lab = Lab::new().experiment(specimens(1));
    lab.run(&["--no-rotation"]).answers().shows(&["Each launch was alone"]);
    let record = lab.record();
    assert_eq!(slices(&record.launches()), [0; 3]);
    assert_eq!(rotation_of_each(&record), [Json::Null, Json::Null]);
    let text = std::fs::read_to_string(lab.path().join(FILE)).unwrap();
    let (before, after) = text.split_once("rotation = {").unwrap();
    let after = after.split_once('}').unwrap().1;
    let lab = lab.experiment(format!("{before}rotation = false{after}"));
    lab.run(&[]).answers();
    assert_eq!(slices(&lab.records()[1].launches()), [0; 3]);
}

#[test]
fn an_interrupted_run_that_rotates_is_resumed_with_whole_rounds() {
    on_a_machine_that_is_quiet_enough(|| {
        let lab = Lab::new().experiment(specimens(4));
        let mut running = lab.start(&["run", FILE]);
        let record = running.until("the run's folder", || lab.records().pop());
        running.until("a block", || (record.lines() >= 3).then_some(()));
        running.interrupt();
        running.end().exits(130).says(&["interrupted; what was measured is kept"]);
        lab.nothing_is_left();
        unless_too_busy(&record)?;
        let kept = record.text("trials.jsonl");
        assert_eq!(kept.lines().count() % 3, 0, "of launches that live together all are kept or none");
        assert!(kept.lines().count() < 12, "{kept}");
        lab.bourdon(&["run", "--resume", record.name()]).answers();
        assert!(record.text("trials.jsonl").starts_with(&kept));
        unless_too_busy(&record)?;
        record.is_whole(4, 2);
        assert_eq!(slices(&record.launches()), [4; 12]);
        Some(())
    });
}

#[test]
fn conditions_under_which_a_server_ends_idle_connections_are_launched_alone_and_the_others_go_round() {
    let target = |name: &str| {
        format!(
            "[[target]]\nname = '{name}'\nrun = '$BOURDON specimen idle-timeout'\nready = '/ping'\n\
             settings.idle_for = {{ env = 'IDLE_FOR', type = 'duration', default = '60s' }}\n"
        )
    };
    on_a_machine_that_is_quiet_enough(|| {
        let vary = "[vary]\ntarget = ['one', 'other']\nidle_for = ['60s', '60ms']\n";
        let lab = Lab::new().experiment(experiment(&format!("{vary}{}{}", target("one"), target("other")), 2));
        let run = lab.run(&[]).answers();
        let record = lab.record();
        unless_too_busy(&record)?;
        run.says(&["these servers cannot rotate: blocks are made again", "launched again, alone"]);
        let page = record.text("report.md");
        // Both do, so that neither is named, unless a busy machine let one of them be seen first.
        (!page.contains("Each launch was alone, because of ")).then_some(())?;
        let alone = ["Each launch was alone: ", "with other targets: the server ends connections: "];
        assert!([TOGETHER].iter().chain(&alone).all(|words| page.contains(words)), "{page}");
        let (mut last, mut round) = (BTreeMap::new(), BTreeSet::new());
        for launch in record.launches() {
            let idle_for = launch["where"]["idle_for"].as_str().unwrap().to_owned();
            let is_round = slices(std::slice::from_ref(&launch)) != [0];
            if is_round {
                round.insert((idle_for.clone(), launch["block"].as_u64().unwrap()));
            }
            last.insert((launch["id"].as_str().unwrap().to_owned(), idle_for), is_round);
        }
        assert!(last.iter().all(|((_, idle_for), is_round)| *is_round == (idle_for == "60s")), "{last:?}");
        assert_eq!(last.len(), 2 * 5, "four cells and a twin in each block");
        let rounds = [("60ms", 1), ("60s", 1), ("60s", 2)].map(|(idle_for, block)| (idle_for.to_owned(), block));
        assert_eq!(round, BTreeSet::from(rounds));
        for cell in record.analysis()["cells"].as_array().unwrap() {
            match cell["where"]["idle_for"].as_str().unwrap() {
                "60s" => assert_eq!(cell["rotation"]["together"]["rounds"], 4, "{cell}"),
                _ => assert_eq!(cell["rotation"]["seen"]["reason"]["code"], "connections-end", "{cell}"),
            }
        }
        Some(())
    });
}
