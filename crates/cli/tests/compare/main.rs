//! `bourdon compare` from outside: two revisions of a small repository, two commands, two recorded runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod checkouts;
mod programs;
#[path = "../run_support/mod.rs"]
mod run_support;
mod traps;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use run_support::{Json, Lab, Record, Started};

/// Long enough for every block to have replies, short enough for a test, and as many blocks as give two revisions a verdict
/// on a busy machine, too. Slices would be too short for it.
const SHORT: [&str; 11] =
    ["--no-rotation", "--duration", "150ms", "--warm-up", "50ms", "--blocks", "7", "-c", "4", "--rest", "0s"];

/// The same of a load that goes round: a slice of the slow branch has replies enough.
const ROTATING: [&str; 8] = ["--duration", "250ms", "--warm-up", "50ms", "-c", "16", "--rest", "0s"];

/// Runs git in a lab's repository.
fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").current_dir(folder).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository of a server whose branch `slow` answers 20 ms later than `main`, with the machine to itself.
fn repository() -> Lab {
    repository_in(Lab::new())
}

/// The same for a test to which no figure matters.
fn repository_beside_others() -> Lab {
    repository_in(Lab::beside_others())
}

fn repository_in(lab: Lab) -> Lab {
    let lab = lab.file("app/serve.sh", "exec \"$1\" specimen clean\n");
    git(lab.path(), &["init", "--quiet"]);
    git(lab.path(), &["add", "app"]);
    git(lab.path(), &["commit", "--quiet", "-m", "fast"]);
    git(lab.path(), &["checkout", "--quiet", "-b", "slow"]);
    let lab = lab.file("app/serve.sh", "HANDLER_DELAY=20ms exec \"$1\" specimen clean\n");
    git(lab.path(), &["commit", "--quiet", "-am", "slow"]);
    lab
}

fn compare<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "--path", "/rest/hello", "--run", "sh serve.sh $BOURDON"], &SHORT[..], arguments].concat()
}

/// The same, as it is when nothing else is asked for.
fn rotating<'a>(blocks: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
    let server = ["compare", "--path", "/rest/hello", "--run", "sh serve.sh $BOURDON", "--blocks", blocks];
    [&server, &ROTATING[..], arguments].concat()
}

fn verdict<'a>(document: &'a Json, metric: &str) -> &'a Json {
    let rows = document["rows"].as_array().unwrap();
    &rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("no {metric}: {document}"))["verdict"]
}

/// Nothing of a comparison is left but its record: no checkout, no process.
fn assert_clean(lab: &Lab) {
    lab.nothing_is_left();
    assert!(!lab.path().join(".git/worktrees").exists(), "git remembers a checkout");
    let left = std::fs::read_dir(lab.path().join("cache/bourdon/revisions")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "folders left behind");
}

#[test]
fn a_branch_that_is_slower_is_called_so_and_breaks_its_gate_by_whichever_way_its_record_is_asked() {
    let lab = repository();
    let app = lab.path().join("app");
    let compared = rotating("7", &["--rev", "main", "--rev", "slow", "--gate", "p50<+10%"]);
    let first = lab.bourdon_in(&app, &compared).exits(1).shows(&["slower", "failed  p50<+10%"]);
    assert_clean(&lab);
    let record = lab.records_in("app/runs").pop().unwrap();
    let folder = record.path().to_str().unwrap();
    let report = |format| lab.bourdon(&["report", folder, "--format", format]).exits(1).stdout;
    let written = (record.text("report.md"), record.text("analysis.json"));
    assert!(report("text").starts_with(&first.stdout), "{}", report("text"));
    assert_eq!((report("markdown"), report("json")), written);
    assert!(written.0.contains("**failed** `p50<+10%"), "{}", written.0);
    let document = record.analysis();
    assert_eq!(document["schema"], "bourdon.compare/2");
    let slower = (verdict(&document, "throughput") == "slower", verdict(&document, "p50") == "slower");
    assert_eq!(slower, (true, true), "{document:#}");
    assert_eq!(document["gates"][0]["verdict"], "broken");
    assert!(document["old"].as_str().unwrap().starts_with("main ("), "{}", document["old"]);
    let resumed = lab.bourdon_in(&app, &["run", "--resume", folder, "--format", "json"]).exits(1);
    assert_eq!((resumed.stdout.as_str(), record.text("report.md")), (written.1.as_str(), written.0.clone()));
    assert_clean(&lab);
}

#[test]
fn the_other_way_round_it_is_faster_and_the_comment_says_so() {
    let lab = repository();
    let arguments = compare(&["--rev", "slow", "--rev", "main", "--gate", "throughput>-5%", "--format", "markdown"]);
    let outcome = lab.bourdon_in(&lab.path().join("app"), &arguments).exits(0);
    assert_clean(&lab);
    outcome.shows(&[
        "### Is main (",
        "**Better: throughput ",
        " times (",
        "| throughput |",
        "**passed** `throughput>-5%",
    ]);
}

#[test]
fn the_working_tree_takes_part_as_it_is_and_is_left_so() {
    let lab = repository();
    let lab = lab.file("app/serve.sh", "exec \"$1\" specimen clean # not committed\n");
    let app = lab.path().join("app");
    let one =
        ["compare", "--path", "/rest/hello", "--run", "sh serve.sh $BOURDON", "--duration", "100ms", "--blocks", "1"];
    let noted = lab.bourdon_in(&app, &[&one[..], &["--rev", "main", "--rev", "HEAD"]].concat()).answers();
    noted.says(&["uncommitted changes in 1 file take no part", "--rev ."]);
    let outcome = lab.bourdon_in(&app, &compare(&["--rev", "HEAD", "--rev", ".", "--format", "json"])).exits(0);
    let document = outcome.json();
    assert_eq!(verdict(&document, "p50"), "faster", "{document:#}");
    assert!(std::fs::read_to_string(app.join("serve.sh")).unwrap().ends_with("# not committed\n"));
    assert_clean(&lab);
}

#[test]
fn one_commit_against_itself_is_said_to_measure_noise() {
    let lab = repository_beside_others();
    let app = lab.path().join("app");
    let noise = "Both sides are the same server (commit ";
    let load = ["--path", "/rest/hello", "--duration", "100ms", "--warm-up", "20ms", "--blocks", "1"];
    let sides = ["--run", "sh serve.sh $BOURDON", "--rev", "main", "--rev", "slow~1"];
    let same = lab.bourdon_in(&app, &[&["compare"], &load[..], &sides].concat());
    assert!(same.stderr.contains(noise), "{same:?}");
    let shown = same.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(noise) && shown.contains("whatever differs between them is noise."), "{shown}");
}

#[test]
fn launches_that_cannot_go_round_have_the_margin_of_launches_alone() {
    let lab = Lab::beside_others();
    let server = "$BOURDON specimen clean";
    let short = ["compare", "--run", server, "--run", server, "--ready", "/ping", "--blocks", "1", "-d", "300ms"];
    let margin = |more: &[&str], runs: &str| {
        lab.bourdon(&[&short[..], more, &["--warm-up", "20ms", "--runs", runs]].concat());
        let plan = lab.records_in(runs)[0].text("plan.toml");
        let figure = |name: &str| plan.lines().find_map(|line| line.strip_prefix(name)?.parse::<f64>().ok()).unwrap();
        (figure("margin = "), figure("precision = "))
    };
    assert_eq!(margin(&[], "round"), (0.01, 0.01));
    assert_eq!(margin(&["--gate", "p999<+900%"], "alone"), (0.05, 0.02));
    assert_eq!(margin(&["--gate", "p999<+900%", "--margin", "1%"], "asked"), (0.01, 0.01));
}

#[test]
fn two_commands_are_two_servers() {
    let lab = Lab::new();
    let runs = ["--run", "$BOURDON specimen clean", "--run", "$BOURDON specimen serialised"];
    let arguments = [&["compare", "--path", "/rest/hello"], &runs[..], &SHORT].concat();
    lab.bourdon(&arguments).exits(0).shows(&["Worse: throughput -", "`$BOURDON specimen serialised`", "slower"]);
    lab.nothing_is_left();
    let runs: Vec<String> = lab.records().iter().map(|record| record.path().display().to_string()).collect();
    let copy = lab.path().join("copy");
    assert!(Command::new("cp").arg("-r").args([Path::new(&runs[0]), &copy]).status().unwrap().success());
    let itself = lab.bourdon(&["compare", &runs[0], copy.to_str().unwrap()]).exits(0);
    itself.shows(&["were not measured in turn", "throughput"]);
}

#[test]
fn what_is_asked_of_both_may_have_a_method_headers_and_a_body() {
    let lab = Lab::new();
    let json = r#"{"a": 1}"#;
    let server = ["compare", "--path", "/submit", "--run", "$BOURDON specimen contract", "--run"];
    let asked = ["$BOURDON specimen contract", "-b", json, "-H", "X-Trace: 7", "--expect-body", json];
    let arguments = [&server[..], &asked, &SHORT[..6], &["2"], &SHORT[7..]].concat();
    let compared = lab.bourdon(&[&arguments[..], &["--format", "json"]].concat()).exits(0).json();
    let rates = compared["cells"].as_array().unwrap().iter().map(|cell| &cell["throughput"]["estimate"]);
    assert!(rates.clone().count() == 2 && rates.clone().all(|rate| rate.as_f64().unwrap() > 0.0), "{compared:#}");
    let plan = std::fs::read_to_string(lab.records()[0].path().join("plan.toml")).unwrap();
    assert!(plan.contains("X-Trace") && plan.contains("POST") && plan.contains("ready = \"\""), "{plan}");
    let kept = std::fs::read_to_string(lab.records()[0].path().join("environment.json")).unwrap();
    assert!(kept.contains("X-Trace: …") && !kept.contains("X-Trace: 7"), "{kept}");
    // It answers no other method there.
    lab.bourdon(&[&arguments[..], &["-X", "PUT"]].concat()).exits(1).shows(&["404"]);
}

#[test]
fn a_new_server_that_fails_is_a_bad_answer_and_a_gate_on_errors_compares_shares() {
    let lab = Lab::new();
    let runs = ["--run", "$BOURDON specimen clean", "--run", "env EVERY=3 $BOURDON specimen unavailable"];
    let arguments = [&["compare", "--path", "/rest/hello", "--ready", "/ping"], &runs[..], &SHORT].concat();
    let text = lab.bourdon(&[&arguments[..], &["--gate", "errors<+1%"]].concat()).exits(1);
    text.shows(&["More than 1 % of the requests failed: new 33 %.", "errors +33", "points (", " failed  errors<+1%"]);
    let allowed = [&arguments[..], &["--allow-failures", "50%", "--format", "json"]].concat();
    let document = lab.bourdon(&allowed).exits(0).json();
    assert_eq!(verdict(&document, "errors"), "slower", "{document:#}");
    let errors = document["rows"].as_array().unwrap().iter().find(|row| row["metric"] == "errors").unwrap();
    let difference = errors["difference"]["estimate"].as_f64().unwrap();
    assert!((0.2..0.4).contains(&difference) && errors["ratio"]["estimate"].is_null(), "{errors:#}");
    let marked = |arm: &str| {
        let cells = document["cells"].as_array().unwrap();
        let cell = cells.iter().find(|cell| cell["arm"] == arm).unwrap();
        cell["marks"].as_array().unwrap().iter().any(|note| note["mark"] == "errors")
    };
    assert_eq!([marked("old"), marked("new")], [false, true]);
    // The other way round nothing is wrong with the new one.
    let fixed = ["--run", runs[3], "--run", runs[1], "--gate", "errors<+1%"];
    let fixed = [&["compare", "--path", "/rest/hello", "--ready", "/ping"], &fixed[..], &SHORT].concat();
    lab.bourdon(&fixed).exits(0).shows(&["More than 1 % of the requests failed: old 33 %.", " passed  errors<+1%"]);
}

#[test]
fn what_cannot_be_compared_is_said_and_nothing_is_left() {
    let lab = repository_beside_others();
    let app = lab.path().join("app");
    for (arguments, status, said) in [
        (vec!["--rev", "main", "--rev", "slwo"], 2, "unknown revision `slwo`; is it `slow`?"),
        (vec!["--rev", "main"], 2, "--rev is given once; two revisions are compared"),
        (vec![], 2, "there is one server and nothing to compare it with"),
        (vec!["--rev", "main", "--rev", "slow", "--build", "false"], 4, ", and it printed nothing"),
        (vec!["--rev", "main", "--rev", "slow", "--gate", "p98<+3%"], 2, "unknown metric `p98`"),
        (vec!["--rev", "main", "--rev", "slow", "--gate", "thruput>-5%"], 2, "did you mean `throughput`?"),
        (
            vec!["--rev", "main", "--rev", "slow", "--gate", "backend_at_once<+5%"],
            2,
            "nothing in this comparison measures it",
        ),
        (vec!["--rev", "main", "--rev", "slow", "--margin", "wide"], 2, "margin"),
    ] {
        lab.bourdon_in(&app, &compare(&arguments)).exits(status).says(&[said]);
        assert_clean(&lab);
    }
    let empty = lab.bourdon_in(&app, &["compare", "--run", "", "--run", "x"]);
    empty.exits(2).says(&["--run is empty; write a command"]);
    assert_eq!(lab.records_in("app/runs").len(), 0, "nothing was recorded");
    let elsewhere = Lab::path(&lab).join("..");
    let outside = lab.bourdon_in(&elsewhere, &compare(&["--rev", "main", "--rev", "slow"]));
    outside.exits(2).says(&["--rev needs a git repository here"]);
}

#[test]
fn a_build_that_fails_in_silence_is_told_so_and_the_other_is_not_begun() {
    let lab = repository_beside_others();
    let arguments = compare(&["--rev", "main", "--rev", "slow", "--build", "sh -c 'exit 1'"]);
    let said = lab.bourdon_in(&lab.path().join("app"), &arguments).exits(4);
    assert!(said.stderr.contains("failed (exited with status 1), and it printed nothing"), "{}", said.stderr);
    assert_eq!(said.stderr.contains("main"), !said.stderr.contains("slow"), "{}", said.stderr);
}

#[test]
fn a_server_that_dies_in_one_arm_is_told_with_its_last_words() {
    let lab = repository_beside_others();
    let lab = lab.file("app/serve.sh", "echo cannot open the till >&2; exit 3\n");
    git(lab.path(), &["commit", "--quiet", "-am", "broken"]);
    let outcome = lab.bourdon_in(&lab.path().join("app"), &compare(&["--rev", "main", "--rev", "HEAD"]));
    outcome
        .exits(4)
        .says(&["cannot open the till", "stopped after block 1: HEAD did not become ready", "run --resume "])
        .shows(&["1 server came up; 1 did not become ready; 1 not tried:", "before it was ready"]);
    assert_clean(&lab);
    let record = lab.records_in("app/runs").pop().unwrap();
    let blocks: BTreeSet<u64> = record.order().iter().map(|[block, ..]| *block).collect();
    assert_eq!(blocks, BTreeSet::from([1]), "the rest of the blocks would have told nothing");
}

/// Begins a comparison in a lab's repository; gives it and its record once a trial is there.
fn begun(lab: &Lab, arguments: &[&str]) -> (Started, Record) {
    let mut started = lab.start_in(&lab.path().join("app"), arguments);
    let record = started.until("the first trial", || {
        let records = lab.records_in("app/runs");
        records.into_iter().next().filter(|record| record.lines() > 0)
    });
    (started, record)
}

/// Asserts that both servers were measured in so many blocks, and nothing twice but launches that went round: where one of them
/// lacks a record, or could not go round, all do it again. A block in which the machine was busy is launched again under the next
/// number, and not ended first.
#[track_caller]
fn both_measured(record: &Record, blocks: usize) {
    assert!(record.trials().iter().all(|trial| trial["failure"].is_null()), "{}", record.text("trials.jsonl"));
    let seen: Vec<(u64, u64)> = record.order().iter().map(|[block, _, cell]| (*block, *cell)).collect();
    let once: BTreeSet<(u64, u64)> = seen.iter().copied().collect();
    let went_round = |trial: &&Json| trial["slices"].as_array().is_some_and(|slices| !slices.is_empty());
    let trials = record.trials();
    let round: usize = trials.iter().filter(went_round).count();
    assert!(seen.len() - once.len() <= round, "a launch is recorded twice: {seen:?}");
    let whole = once.iter().filter(|(block, cell)| *cell == 0 && once.contains(&(*block, 1))).count();
    assert!(whole >= blocks, "{whole} whole blocks of {blocks}: {seen:?}");
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_no_checkout_and_it_can_be_resumed() {
    let lab = repository();
    let app = lab.path().join("app");
    // What is built lies in the checkout: it is built again. Compilers write into it where that is.
    let built = r#"sh -c 'pwd | sed "s/^/# /" > built.sh; cat serve.sh >> built.sh'"#;
    let build = ["--build", built, "--run", "sh built.sh $BOURDON"];
    let rest = ["--rev", "main", "--rev", "slow", "--gate", "p50<+10%", "--blocks", "7"];
    let arguments = [&["compare", "--path", "/rest/hello"], &build[..], &ROTATING, &rest].concat();
    let (mut started, record) = begun(&lab, &arguments);
    started.interrupt();
    let stopped = started.end().exits(130).says(&["what was measured is kept"]);
    assert_clean(&lab);
    let first = record.text("trials.jsonl");

    let (_, command) = stopped.stderr.trim_end().rsplit_once("To resume: ").unwrap();
    let words = shlex::split(command).unwrap();
    let resume: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let resumed = lab.bourdon_in(&app, &resume).exits(1).says(&["resuming "]);
    resumed.shows(&["main (", "slower", "p50<+10%"]);
    assert_clean(&lab);
    assert!(record.text("trials.jsonl").starts_with(&first));
    both_measured(&record, 7);

    // Once more, the branch gone on: the commits are those that were compared.
    let lab = lab.file("app/serve.sh", "exit 1\n");
    git(lab.path(), &["commit", "--quiet", "-am", "broken"]);
    lab.bourdon_in(&app, &[&resume[..], &["--blocks", "8", "--format", "json"]].concat()).exits(1);
    assert_clean(&lab);
    both_measured(&record, 8);
}

#[test]
fn a_killed_comparison_with_the_working_tree_is_resumed_while_that_is_what_it_was() {
    let lab = repository_beside_others();
    let app = lab.path().join("app");
    let (started, record) = begun(&lab, &rotating("3", &["--rev", "main", "--rev", "."]));
    started.kill();
    let lab = lab.file("app/serve.sh", "exec \"$1\" specimen clean # something else\n");
    let resume = ["run", "--resume", record.name()];
    lab.bourdon_in(&app, &resume).exits(2).says(&["the working tree of", "has changed", "start a new comparison"]);
    assert_clean(&lab);
    git(lab.path(), &["checkout", "--quiet", "app/serve.sh"]);
    lab.bourdon_in(&app, &resume).answers().shows(&["the working tree"]);
    assert_clean(&lab);
    both_measured(&record, 3);
}

/// What the GitHub Action and the GitLab job run.
#[test]
fn the_script_for_ci_writes_the_comment_and_passes_the_status_on() {
    let lab = repository();
    let script = run_support::repository().join("ci/compare.sh");
    let run = |gate: &str| {
        let output = Command::new("sh")
            .arg(&script)
            .current_dir(lab.path().join("app"))
            .env("BOURDON", env!("CARGO_BIN_EXE_bourdon"))
            .env("BOURDON_RUN", "sh serve.sh $BOURDON")
            .env("BOURDON_BASE", "main")
            .env("BOURDON_HEAD", "slow")
            .env("BOURDON_GATE", gate)
            .env("BOURDON_OPTIONS", format!("--path /rest/hello {}", SHORT.join(" ")))
            .env("GITHUB_STEP_SUMMARY", lab.path().join("summary.md"))
            .env("XDG_CACHE_HOME", lab.path().join("cache"))
            .env("XDG_STATE_HOME", lab.path().join("state"))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let read = |file: &str| std::fs::read_to_string(lab.path().join(file)).unwrap_or_default();
    let (status, said) = run("p50<+10%");
    assert_eq!(status, Some(1), "{said}");
    let comment = read("app/bourdon-comment.md");
    assert!(comment.contains("**failed** `p50<+10%") && comment.contains("| verdict |"), "{comment}");
    assert_eq!(read("summary.md"), comment);
    let (status, _) = run("p50<10");
    assert_eq!(status, Some(2));
    assert!(read("app/bourdon-comment.md").contains("could not compare"), "the comment says so too");
    assert_clean(&lab);
}

#[test]
fn what_would_settle_a_comparison_is_said_as_a_command_that_can_be_pasted() {
    let lab = repository();
    let app = lab.path().join("app");
    let load = ["--path", "/rest/hello", "--duration", "100ms", "--warm-up", "20ms", "--blocks", "2", "-c", "4"];
    let load = [&load[..], &["--no-rotation"]].concat();
    let sides = ["--run", "sh serve.sh $BOURDON", "--rev", "main", "--rev", "slow"];
    let open = lab.bourdon_in(&app, &[&["compare"], &load[..], &sides, &["--gate", "p50<+10%"]].concat()).exits(3);
    let shown = open.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("needs about 6 launches of each in all") || shown.contains("About 6 launches of each in all"),
        "{open:?}"
    );
    // Of a gate that the busy machine leaves open the number is not known, but that six are needed for any verdict.
    let (_, more) = open.stderr.trim_end().rsplit_once("More blocks").unwrap();
    let (_, command) = more.split_once(": ").unwrap();
    let words = shlex::split(command.lines().next().unwrap()).unwrap();
    let until = words.iter().position(|word| word == "--blocks").unwrap() + 2;
    let resume: Vec<&str> = words[1..until].iter().map(String::as_str).collect();
    assert_eq!(resume.last(), Some(&"6"));
    lab.bourdon_in(&app, &resume).exits(1).shows(&["slower", "failed"]);
    assert_clean(&lab);
}
