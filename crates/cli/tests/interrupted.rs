//! Ctrl-C during a run.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{FILE, Json, Lab, beside_a_specimen, short};
use rustix::process::Signal;

#[test]
fn ctrl_c_keeps_what_was_measured_and_says_how_to_go_on() {
    // Windows in which also a busy machine lets every server answer.
    let lab = Lab::beside_others().experiment(short(2).replace("50ms", "150ms"));
    let mut running = lab.start(&["run", FILE, "--blocks", "10", "--runs", "my runs"]);
    let record = running.until("the run's folder", || lab.records_in("my runs").pop());
    running.until("three trials", || (record.lines() >= 3).then_some(()));
    let busy = lab.bourdon(&["run", "--resume", record.name()]).exits(2);
    busy.says(&[record.name(), "is being written by another bourdon", "wait for its end"]);
    running.interrupt();
    let stopped = running.end().exits(130).says(&["interrupted; what was measured is kept"]);
    lab.nothing_is_left();
    let kept = record.text("trials.jsonl");
    assert!((3..50).contains(&kept.lines().count()), "{kept}");
    assert!(record.has("analysis.json"), "what there is has been judged");
    stopped.clone().shows(&["Record: "]);

    let (_, command) = stopped.stderr.trim_end().rsplit_once("To resume: ").unwrap();
    let words = shlex::split(command).unwrap();
    assert_eq!(words[0], env!("CARGO_BIN_EXE_bourdon"), "as it was called");
    lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).exits(0).says(&["resuming "]);
    assert!(record.text("trials.jsonl").starts_with(&kept));
    record.is_whole(10, 4);
}

#[test]
fn ctrl_c_does_not_wait_for_a_target_that_is_not_ready() {
    let lab =
        Lab::beside_others().experiment(beside_a_specimen("run = \"sh -c 'echo begun > begun; exec sleep 600'\""));
    let mut running = lab.start(&["run", FILE, "--target", "odd"]);
    running.until("the target", || lab.path().join("begun").exists().then_some(()));
    running.interrupt();
    running.end().exits(130);
    lab.nothing_is_left();
    assert_eq!(lab.record().lines(), 0, "an interrupted trial is not recorded");
}

#[test]
fn ctrl_c_while_the_target_of_a_finished_window_ends_keeps_its_trial() {
    let slow = "trap ': > ending; until [ -e go ]; do sleep 0.02; done; exit' TERM\n$1 specimen clean & wait";
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = 'sh serve.sh $BOURDON'")).file("serve.sh", slow);
    for (trials, signal) in [(1, Signal::INT), (2, Signal::TERM)] {
        let mut running = match lab.records().pop() {
            None => lab.start(&["run", FILE, "--target", "odd"]),
            Some(record) => lab.start(&["run", "--resume", record.name()]),
        };
        running.until("the end of the target", || lab.path().join("ending").exists().then_some(()));
        running.signal(signal);
        std::fs::write(lab.path().join("go"), "").unwrap();
        running.end().exits(130).says(&["interrupted; what was measured is kept"]);
        lab.nothing_is_left();
        ["ending", "go"].into_iter().for_each(|file| std::fs::remove_file(lab.path().join(file)).unwrap());
        let launches = lab.record().launches();
        assert_eq!(launches.len(), trials, "{launches:#?}");
        assert!(launches.iter().all(|trial| trial["measurement"]["interrupted"] == false), "{launches:#?}");
    }
}

#[test]
fn a_run_is_resumed_with_the_program_that_it_began_with_or_not_at_all() {
    let target = "build = 'cp serve.sh $TARGET_BIN'\nrun = 'sh $TARGET_BIN $BOURDON'";
    let serves = "exec \"$1\" specimen clean\n";
    let lab = Lab::beside_others().experiment(beside_a_specimen(target)).file("serve.sh", serves);
    lab.run(&[]).answers();
    let record = lab.record();
    let resume = |lab: &Lab, blocks| lab.bourdon(&["run", "--resume", record.name(), "--blocks", blocks]);

    let lab = lab.file("serve.sh", "exit 3\n");
    resume(&lab, "3").answers();
    record.all_measured("odd", 3);

    std::fs::remove_dir_all(lab.path().join("cache")).unwrap();
    let before = record.text("trials.jsonl");
    let refused = resume(&lab, "4").exits(2);
    refused.says(&["odd was built as ", "Put its source and toolchain back as they were, or start a new run"]);
    assert_eq!(record.text("trials.jsonl"), before);
    let lab = lab.file("serve.sh", serves);
    resume(&lab, "4").answers();
    record.all_measured("odd", 4);
}

#[test]
fn a_toolchain_is_asked_once_and_a_run_is_resumed_with_no_other() {
    let target = "name = 'odd'\ntitle = 'Odd'\n[launch]\nrun = '$BOURDON specimen clean'\nready = '/ping'\n\
                  [toolchain]\ncommand = 'sh'\nversion = 'sh version.sh'\nget = 'https://example.invalid'\n";
    let experiment = short(2).replace("specimen:stall", "odd");
    let lab = Lab::beside_others().file("targets/odd/target.toml", target).file("experiments/try.toml", experiment);
    let lab = lab.file("targets/odd/version.sh", "echo asked >> asked; echo 1.2\n");
    lab.bourdon(&["run", "experiments/try.toml"]).answers();
    assert_eq!(std::fs::read_to_string(lab.path().join("targets/odd/asked")).unwrap(), "asked\n");
    let record = lab.record();
    let environment: Json = serde_json::from_str(&record.text("environment.json")).unwrap();
    assert_eq!(environment["toolchains"]["odd"], "1.2");
    let resume = |lab: &Lab, blocks| lab.bourdon(&["run", "--resume", record.name(), "--blocks", blocks]);
    resume(&lab, "3").answers();
    let (lab, before) = (lab.file("targets/odd/version.sh", "echo 1.3\n"), record.text("plan.toml"));
    resume(&lab, "4").exits(2).says(&["toolchain of odd: 1.2, and now 1.3", "or start a new run"]);
    assert_eq!(record.text("plan.toml"), before, "what is refused asks for no more blocks");
}

#[test]
fn a_comparison_whose_gate_may_stay_open_is_resumed_and_reported_so() {
    let lab = Lab::beside_others();
    let load = ["--path", "/rest/hello", "--duration", "150ms", "--warm-up", "50ms", "--blocks", "2", "-c", "4"];
    let sides = ["--run", "$BOURDON specimen clean", "--run", "$BOURDON specimen clean", "--gate", "p50<+1%"];
    lab.bourdon(&[&["compare", "--allow-undecided"], &load[..], &sides].concat()).exits(0);
    let record = lab.record();
    let resume = ["run", "--resume", record.name()];
    lab.bourdon(&["report", record.name()]).exits(0);
    lab.bourdon(&resume).exits(0);
    for (option, why) in [("--gate", "those it started with"), ("--keep-going", "needs both servers to the end")] {
        let said = format!("{option} changes nothing about a comparison");
        lab.bourdon(&[&resume[..], &[option]].concat()).exits(2).says(&[&said, why, "leave it out"]);
    }
}

#[test]
fn what_is_saved_and_cannot_be_printed_was_interrupted_first() {
    let lab = Lab::beside_others().experiment(short(2));
    let unprinted = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/full"];
    let mut running = lab.start_under(&unprinted, &["run", FILE, "--blocks", "10"]);
    let record = running.until("the run's folder", || lab.records().pop());
    running.until("a trial", || (record.lines() >= 1).then_some(()));
    running.interrupt();
    running.end().exits(130).says(&["cannot write to stdout", "what was measured is kept. To resume: "]);
}

#[test]
fn folders_that_are_missing_are_made_again_when_a_run_is_resumed() {
    let lab = Lab::beside_others().experiment(short(1));
    lab.run(&[]).answers();
    let record = lab.record();
    for folder in ["histograms", "samples", "stderr"] {
        std::fs::remove_dir_all(record.path().join(folder)).unwrap();
    }
    lab.bourdon(&["run", "--resume", record.name(), "--blocks", "2"]).answers();
    assert!(record.has("stderr") && record.lines() > 4);
}
