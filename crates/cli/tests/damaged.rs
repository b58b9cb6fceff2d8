//! What cannot be opened, read or written is said with its cause and cure; the record stays as it is.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod disk;
mod run_support;

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use disk::Disk;
use run_support::{FILE, Json, Lab, Record, is_here, short};
use rustix::fs::OFlags;
use rustix::process::{Signal, geteuid};
use serde_json::json;
use specimens::{Kind, LogSink, Settings};

/// A run that ended, in a folder that anybody may read.
fn recorded() -> (Lab, Record) {
    let lab = Lab::beside_others().experiment(short(1));
    lab.run(&[]).answers();
    std::fs::set_permissions(lab.path(), Permissions::from_mode(0o755)).unwrap();
    let record = lab.record();
    (lab, record)
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Asserts that neither `report` nor a resume takes this record, that both say these words, and that nothing is written.
#[track_caller]
fn refused(lab: &Lab, record: &Record, program: &[&str], words: &[&str]) {
    let derived = || ["analysis.json", "report.md"].map(|file| record.text(file));
    let before = derived();
    for args in [["report", record.name()].as_slice(), &["run", "--resume", record.name()]] {
        let outcome = lab.bourdon_under(program, args).exits(2).says(words);
        assert_eq!(outcome.stdout, "", "nothing is shown");
    }
    assert!(derived() == before, "a good analysis was overwritten");
}

#[test]
fn trials_that_cannot_be_opened_are_an_error_and_never_an_empty_run() {
    let (lab, record) = recorded();
    let trials = record.path().join("trials.jsonl");
    let text = record.text("trials.jsonl");
    let aside = record.path().join("aside");
    let mut tried = 0;
    let mut in_its_place = |make: &dyn Fn(), words: &[&str]| {
        std::fs::rename(&trials, &aside).unwrap();
        make();
        refused(&lab, &record, &[], &[&["trials.jsonl"], words].concat());
        let _ = std::fs::remove_dir(&trials).or_else(|_| std::fs::remove_file(&trials));
        std::fs::rename(&aside, &trials).unwrap();
        tried += 1;
    };
    in_its_place(&|| {}, &["is missing", "restore it from a copy"]);
    in_its_place(&|| symlink("nowhere", &trials).unwrap(), &["is a symbolic link to nothing; remove it"]);
    in_its_place(&|| std::fs::create_dir(&trials).unwrap(), &["is not a file but a folder"]);
    in_its_place(&|| fifo(&trials), &["is not a file"]);
    in_its_place(&|| symlink("/dev/zero", &trials).unwrap(), &["is not a file"]);

    std::fs::set_permissions(&trials, Permissions::from_mode(0o000)).unwrap();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !geteuid().is_root() || is_here("setpriv") {
        let program: &[&str] = if geteuid().is_root() { &nobody } else { &[] };
        refused(&lab, &record, program, &["trials.jsonl: Permission denied"]);
        tried += 1;
    }
    std::fs::set_permissions(&trials, Permissions::from_mode(0o644)).unwrap();

    if is_here("strace") {
        for (fault, said) in [
            ("inject=openat:error=EMFILE", "Too many open files"),
            ("inject=openat:error=EIO", "Input/output error"),
            ("inject=read:error=EIO", "Input/output error"),
        ] {
            let strace = ["strace", "-o", "/dev/null", "-P", trials.to_str().unwrap(), "-e", fault];
            refused(&lab, &record, &strace, &["trials.jsonl: ", said]);
            tried += 1;
        }
    }
    assert!(record.text("trials.jsonl") == text, "a record was cut");
    lab.bourdon(&["report", record.name()]).answers();
    println!("{tried} errors at opening or reading, each on report and resume: 0 records cut, 0 analyses overwritten");
}

#[test]
fn a_record_that_may_not_be_read_is_refused_by_the_name_of_its_file() {
    let (lab, record) = recorded();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if geteuid().is_root() && !is_here("setpriv") {
        return;
    }
    let program: &[&str] = if geteuid().is_root() { &nobody } else { &[] };
    let mode = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for file in ["plan.toml", "environment.json"] {
        mode(&record.path().join(file), 0o000);
        refused(&lab, &record, program, &[file, "Permission denied"]);
        mode(&record.path().join(file), 0o644);
    }
    mode(record.path(), 0o000);
    for args in [["report", record.name()].as_slice(), &["run", "--resume", record.name()]] {
        lab.bourdon_under(program, args).exits(2).says(&["plan.toml", "Permission denied"]);
    }
    mode(record.path(), 0o755);
    lab.bourdon(&["report", record.name()]).answers();
}

#[test]
fn what_another_version_wrote_is_refused_with_its_cure() {
    let (lab, record) = recorded();
    for (file, schema) in [
        ("plan.toml", "bourdon.plan/"),
        ("environment.json", "bourdon.environment/"),
        ("trials.jsonl", "bourdon.trial/"),
    ] {
        let text = record.text(file);
        // The last one: earlier lines are as they were.
        let at = text.rfind(schema).unwrap() + schema.len();
        let newer = format!("{}9{}", &text[..at], &text[at + 1..]);
        std::fs::write(record.path().join(file), newer).unwrap();
        refused(&lab, &record, &[], &[file, &format!("unknown schema `{schema}9`"), "use the version of bourdon"]);
        std::fs::write(record.path().join(file), text).unwrap();
    }
    let series = "schema = \"bourdon.series/2\"\nexperiments = []\nquick = true\n";
    let lab = lab.file("runs/x-all/series.toml", series);
    lab.bourdon(&["run", "--resume", "runs/x-all"]).exits(2).says(&["series.toml, line 1", "bourdon.series/2"]);
}

#[test]
fn two_bourdons_do_not_work_on_one_series() {
    let series = "schema = \"bourdon.series/1\"\nexperiments = [\"routing\"]\nquick = true\n";
    let lab = Lab::beside_others().file("runs/x-all/series.toml", series);
    let held = std::fs::File::open(lab.path().join("runs/x-all/series.toml")).unwrap();
    held.lock().unwrap();
    lab.bourdon(&["run", "--resume", "runs/x-all"])
        .exits(2)
        .says(&["series.toml: another bourdon is at work on these runs", "wait for its end"]);
}

#[test]
fn a_trial_with_a_figure_that_nobody_can_have_measured_is_refused_by_its_name() {
    let (lab, record) = recorded();
    let (path, whole) = (record.path().join("trials.jsonl"), record.text("trials.jsonl"));
    for (field, value, said) in [
        ("/time_to_ready_ms", -5.0, "`time_to_ready_ms` is -5: a length in ms is 0, or"),
        ("/measurement/window_s", 1e300, "`window_s` is 1e300: "),
        ("/measurement/latency_us/service/max", 0.0, "quantiles ascend"),
        ("/measurement/latency_us/service/mean", 3e9, "no mean is above all values"),
        ("/measurement/generator/threads/0/wall_s", 1e-320, "`generator.threads[0].wall_s` is 1e-320: "),
        ("/measurement/steps/0/length_s", -1.0, "`steps[0].length_s` is -1: "),
        ("/observation/host/others_share", -0.5, "`observation.host.others_share` is -0.5: a share is from 0 to 1"),
        ("/observation/cpu_user_s", -1.0, "`observation.cpu_user_s` is -1: an amount of time is not negative"),
    ] {
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let mut trial: serde_json::Value = serde_json::from_str(&lines[2]).unwrap();
        *trial.pointer_mut(field).unwrap() = value.into();
        lines[2] = trial.to_string();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        refused(&lab, &record, &[], &["trials.jsonl, line 3: ", said, "restore it from a copy"]);
    }
    std::fs::write(&path, whole).unwrap();
    lab.bourdon(&["report", record.name()]).answers();
}

#[test]
fn a_trial_that_is_not_the_one_the_plan_has_is_refused() {
    let (lab, record) = recorded();
    let (path, whole) = (record.path().join("trials.jsonl"), record.text("trials.jsonl"));
    let (first, rest) = whole.split_once('\n').unwrap();
    let trial: Json = serde_json::from_str(first).unwrap();
    let cell = trial["cell"].as_u64().unwrap();
    for (field, value, said) in [
        ("/where/target", json!("somebody"), ["`where` of ", "target = somebody"]),
        ("/id", json!("b07-c01"), ["`id` is b07-c01", "what it says of its block and cell makes b01-c"]),
        ("/block", json!(7), ["`id` is b01-c", "makes b07-c"]),
        ("/twin", json!(true), ["`id` is b01-c", "-twin"]),
        ("/cell", json!((cell + 1) % 3), ["`where` of b01-c", "of plan.toml is "]),
    ] {
        let mut changed = trial.clone();
        match changed.pointer_mut(field) {
            Some(old) => *old = value,
            None => drop(changed.as_object_mut().unwrap().insert(field[1..].to_owned(), value)),
        }
        std::fs::write(&path, format!("{changed}\n{rest}")).unwrap();
        let words = ["trials.jsonl, line 1: ", "one of them was changed", "restore it from a copy"];
        refused(&lab, &record, &[], &[&words[..], &said].concat());
    }
    // A block that nobody would come to, for which all before it would be made.
    let far = first.replace("\"b01-", "\"b4294967295-").replace("\"block\":1,", "\"block\":4294967295,");
    std::fs::write(&path, format!("{far}\n{rest}")).unwrap();
    refused(
        &lab,
        &record,
        &[],
        &["trials.jsonl, line 1: ", "block 4294967295 of b4294967295-c", "restore it from a copy"],
    );
    std::fs::write(&path, whole).unwrap();
    lab.bourdon(&["report", record.name()]).answers();
}

#[test]
fn a_plan_that_was_cut_is_refused_wherever_it_was_cut() {
    let (lab, record) = recorded();
    let (path, plan) = (record.path().join("plan.toml"), record.text("plan.toml"));
    let ends: Vec<usize> = plan.match_indices('\n').map(|(at, _)| at + 1).filter(|end| *end + 2 < plan.len()).collect();
    for end in ends.into_iter().rev().step_by(5).chain([0, 10]) {
        std::fs::write(&path, &plan[..end]).unwrap();
        lab.bourdon(&["report", record.name()]).exits(2).says(&["plan.toml"]);
    }
    let end = plan.rfind("[[cells]]").unwrap();
    std::fs::write(&path, &plan[..end]).unwrap();
    refused(&lab, &record, &[], &["plan.toml was cut", "`# end`", "restore it from a copy"]);

    // One of before had no mark. It is read, and where it lacks a cell the trials tell.
    let lines: Vec<&str> = plan.lines().collect();
    std::fs::write(&path, lines[1..lines.len() - 1].join("\n")).unwrap();
    lab.bourdon(&["report", record.name()]).answers();
    std::fs::write(&path, &plan[plan.find('\n').unwrap() + 1..end]).unwrap();
    refused(&lab, &record, &[], &["trials.jsonl, line ", "a trial of cell 4, and plan.toml has 3"]);
}

#[test]
fn a_figure_of_a_size_that_nothing_has_is_refused_by_its_line() {
    let (lab, record) = recorded();
    let (path, whole) = (record.path().join("trials.jsonl"), record.text("trials.jsonl"));
    let (first, rest) = whole.split_once('\n').unwrap();
    let damaged = |change: &dyn Fn(&mut Json), field: &str| {
        let mut trial: Json = serde_json::from_str(first).unwrap();
        change(&mut trial);
        std::fs::write(&path, format!("{trial}\n{rest}")).unwrap();
        refused(&lab, &record, &[], &["trials.jsonl, line 1: ", &format!("`{field}` is ")]);
    };
    let huge = || Json::from(u64::MAX);
    damaged(&|trial| trial["observation"]["memory_after_bytes"] = huge(), "observation.memory_after_bytes");
    damaged(&|trial| trial["measurement"]["steps"][0]["completed"] = huge(), "steps[0].completed");
    damaged(
        &|trial| trial["measurement"]["generator"]["threads"][0]["run_delay_s"] = 1e19.into(),
        "generator.threads[0].run_delay_s",
    );
    damaged(
        &|trial| trial["measurement"]["silences"] = json!([{"at_s": 0.0, "length_s": 1e308}]),
        "silences[0].length_s",
    );
    let told = json!({"looks": 1, "peak_heap_bytes": u64::MAX});
    damaged(&|trial| trial["observation"]["runtime"] = told.clone(), "observation.runtime.peak_heap_bytes");
    damaged(&|trial| trial["observation"]["peak_memory_bytes"] = (1_u64 << 53).into(), "observation.peak_memory_bytes");
    damaged(&|trial| trial["observation"]["cpu_system_s"] = 4e9.into(), "observation.cpu_system_s");
    damaged(&|trial| trial["time_to_ready_ms"] = 1e-150.into(), "time_to_ready_ms");
    let connect = |trial: &mut Json| {
        let longest = &mut trial["measurement"]["latency_us"]["connect"]["max"];
        *longest = (longest.as_f64().unwrap() * 1e6).into();
    };
    damaged(&connect, "latency_us.connect.max");
    std::fs::write(&path, &whole).unwrap();
    lab.bourdon(&["report", record.name()]).answers();
}

#[test]
fn a_plan_that_nobody_can_carry_out_is_refused() {
    let (lab, record) = recorded();
    let (path, whole) = (record.path().join("plan.toml"), record.text("plan.toml"));
    let damaged = |change: &dyn Fn(&mut toml::Table)| {
        let mut plan: toml::Table = whole.parse().unwrap();
        change(&mut plan);
        std::fs::write(&path, toml::to_string(&plan).unwrap()).unwrap();
        lab.bourdon(&["run", "--resume", record.name()]).exits(2)
    };
    let cpus = || toml::Value::Array(vec![4_000_000_000_i64.into()]);
    let open = |rate: f64| {
        toml::Table::from_iter([
            ("model".into(), "open".into()),
            ("rate_per_s".into(), rate.into()),
            ("arrivals".into(), "constant".into()),
        ])
    };
    damaged(&|plan| drop(plan.insert("twin".into(), 4_000_000_000_i64.into())))
        .says(&["plan.toml", "`twin = 4000000000`"]);
    damaged(&|plan| drop(plan.insert("target_cpus".into(), cpus()))).says(&["CPU 4000000000 does not exist"]);
    damaged(&|plan| drop(plan["generator"].as_table_mut().unwrap().insert("cpus".into(), cpus())))
        .says(&["CPU 4000000000 does not exist"]);
    damaged(&|plan| plan["targets"][0]["launch"]["run"] = toml::Value::Array(vec![])).says(&["`run` is empty"]);
    damaged(&|plan| plan["blocks"]["max"] = i64::from(u32::MAX).into())
        .says(&["4294967295 blocks: 1000000 are the most"]);
    damaged(&|plan| plan["blocks"]["min"] = 0.into()).says(&["blocks from 0 to "]);
    damaged(&|plan| plan["margin"] = f64::NAN.into()).says(&["`margin = NaN`: a share is from 0 to 1"]);
    for change in ["nan", "inf", "-1.0"] {
        let gate = format!("{{old = 'a', new = 'b', gates = [{{metric = 'p99', side = 'below', change = {change}}}]}}");
        let comparison: toml::Table = format!("comparison = {gate}").parse().unwrap();
        damaged(&|plan| plan.extend(comparison.clone())).says(&["`gates`: nothing changes by ", " %"]);
    }
    damaged(&|plan| plan["cells"][0]["levels"]["target"] = "nobody".into()).says(&["target `nobody` is unknown"]);
    let again = |plan: &mut toml::Table, key: &str| {
        let all = plan[key].as_array_mut().unwrap();
        all.push(all[0].clone());
    };
    damaged(&|plan| again(plan, "targets")).says(&["target `", "` is there twice"]);
    damaged(&|plan| again(plan, "factors")).says(&["factor `target` is there twice"]);
    for key in ["window_ns", "connections", "pipeline"] {
        damaged(&|plan| plan["cells"][0]["load"][key] = 0.into()).says(&["cell 1: `", key, " = 0`"]);
    }
    for rate in [f64::INFINITY, 0.0, -5.0, 1e12] {
        damaged(&|plan| plan["cells"][0]["load"]["load_model"] = open(rate).into()).says(&["cell 1: `rate_per_s = "]);
    }
    let missing = damaged(&|plan| plan["target_cpus"] = toml::Value::Array(vec![1023.into()]));
    missing.says(&["the run needs CPU 1023, but only CPU ", " is available; resume it"]);
}

#[test]
fn an_analysis_that_cannot_be_kept_is_printed() {
    let (lab, record) = recorded();
    let shown = lab.bourdon(&["report", record.name()]).answers().stdout;
    for file in ["analysis.json", "report.md"] {
        let path = record.path().join(file);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let outcome = lab.bourdon(&["report", record.name()]).exits(2);
        assert_eq!(outcome.stdout, shown);
        outcome.says(&["cannot keep the analysis", file, "the record is untouched"]);
        std::fs::remove_dir(&path).unwrap();
        lab.bourdon(&["report", record.name()]).answers();
    }
    let unfinished = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().contains("unfinished");
    assert!(!std::fs::read_dir(record.path()).unwrap().any(|entry| unfinished(entry.unwrap())), "left behind");
}

/// Takes what is free of a disk.
fn fill(disk: &Disk) {
    let mut file = std::fs::File::create(disk.path().join("ballast")).unwrap();
    let block = vec![1; 64 << 10];
    while std::io::Write::write_all(&mut file, &block).and_then(|()| file.sync_all()).is_ok() {}
    while std::io::Write::write_all(&mut file, &[1; 512]).and_then(|()| file.sync_all()).is_ok() {}
}

#[test]
fn a_disk_that_fills_up_loses_nothing_and_the_run_is_resumed() {
    let lab = Lab::beside_others().experiment(short(1));
    let Some(disk) = Disk::new() else { return };
    let runs = disk.path().join("runs").display().to_string();
    let mut running = lab.start(&["run", FILE, "--blocks", "30", "--runs", &runs]);
    let record = running.until("the run's folder", || lab.records_in(&runs).pop());
    running.until("two trials", || (record.lines() >= 2).then_some(()));
    fill(&disk);
    let full = running.end().exits(2).says(&["No space left on device", "what was measured is kept", "run --resume"]);
    lab.nothing_is_left();
    let kept = record.text("trials.jsonl");
    let outcome = lab.bourdon(&["report", record.name()]).exits(2).shows(&["Is the order kept?"]);
    outcome.says(&["cannot keep the analysis", "No space left on device"]);

    std::fs::remove_file(disk.path().join("ballast")).unwrap();
    let (_, command) = full.stderr.trim_end().rsplit_once("resume: ").unwrap();
    let words = shlex::split(command).unwrap();
    lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).answers();
    let whole = &kept[..kept.rfind('\n').map_or(0, |end| end + 1)];
    assert!(record.text("trials.jsonl").starts_with(whole));
    record.is_whole(30, 4);
}

#[test]
fn term_and_hup_end_as_ctrl_c_does() {
    let lab = Lab::beside_others().experiment(short(1));
    for (number, signal) in [Signal::TERM, Signal::HUP].into_iter().enumerate() {
        let mut running = lab.start(&["run", FILE, "--blocks", "50"]);
        let record = running.until("the run's folder", || lab.records().into_iter().nth(number));
        running.until("a trial", || (record.lines() >= 1).then_some(()));
        running.signal(signal);
        let ended = running.end().exits(130).says(&["what was measured is kept. To resume: "]).shows(&["Record: "]);
        assert!(ended.stderr.contains(record.path().file_name().unwrap().to_str().unwrap()), "{ended:?}");
        lab.nothing_is_left();

        let server = specimens::start(Settings::new(Kind::Clean), LogSink::Memory).unwrap();
        let url = format!("http://{}/rest/hello", server.address());
        let mut load = lab.start(&["load", &url, "-d", "600s", "--warm-up", "0s", "--format", "json"]);
        load.until("requests", || (server.log().len() > 100).then_some(()));
        load.signal(signal);
        assert_eq!(load.end().exits(130).json()["schema"], "bourdon.load/2");
    }
}

#[test]
fn nohup_means_what_it_says() {
    let lab = Lab::beside_others().experiment(short(1));
    let mut running = lab.start_under(&["nohup"], &["run", FILE]);
    let record = running.until("the run's folder", || lab.records().pop());
    running.signal(Signal::HUP);
    running.end().answers();
    record.is_whole(1, 4);
}

#[test]
fn an_experiment_that_never_comes_can_be_interrupted() {
    let lab = Lab::beside_others();
    let path = lab.path().join(FILE);
    fifo(&path);
    let body = format!("@{FILE}");
    let of_a_body = ["compare", "--run", "$BOURDON specimen clean", "--run", "$BOURDON specimen clean", "-b", &body];
    let all: [(&[&str], Signal); 4] = [
        (&["run", FILE], Signal::INT),
        (&["compare", FILE], Signal::INT),
        (&["run", FILE], Signal::TERM),
        (&of_a_body, Signal::TERM),
    ];
    for (command, signal) in all {
        // Whoever runs the tests may ignore a signal, and a program that was started so keeps to that.
        let mut running = lab.start_under(&["env", "--default-signal=INT,TERM"], command);
        // Nobody can write to a FIFO before somebody reads from it.
        let write = || OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&path).ok();
        let _writer = running.until("the open FIFO", write);
        running.signal(signal);
        let ended = running.end();
        assert!(ended.status.is_none_or(|status| status == 130), "{command:?}: {ended:?}");
        lab.nothing_is_left();
    }
}

#[test]
fn more_blocks_are_asked_for_when_resuming_and_come_in_their_order() {
    let (lab, record) = recorded();
    let first = record.text("trials.jsonl");
    lab.bourdon(&["run", "--resume", record.name(), "--blocks", "3"]).answers().says(&["3 blocks, as planned"]);
    assert!(record.text("trials.jsonl").starts_with(&first));
    record.is_whole(3, 4);
    let plan: toml::Table = record.text("plan.toml").parse().unwrap();
    assert_eq!(plan["blocks"]["max"].as_integer(), Some(3));
    assert_eq!(plan["blocks_before"][0]["max"].as_integer(), Some(1));

    let fewer = lab.bourdon(&["run", "--resume", record.name(), "--blocks", "2"]);
    fewer.exits(2).says(&["this run has 3 blocks already", "ask for 3 or more"]);
    lab.run(&["--blocks", "3"]).answers();
    let at_once = lab.records().pop().unwrap();
    assert_ne!(at_once.path(), record.path());
    assert_eq!(record.order(), at_once.order());

    std::fs::write(record.path().join("trials.jsonl"), first).unwrap();
    let fewer = lab.bourdon(&["run", "--resume", record.name(), "--blocks", "2"]);
    fewer.exits(2).says(&["this run is to have 3 blocks, and has 1; resume it without --blocks, or ask for 3 or more"]);
    lab.bourdon(&["report", record.name()]).answers().shows(&["The rest of 3 blocks: ", "run --resume"]);
}

#[test]
fn a_run_folder_that_lacks_the_machine_is_refused_with_what_to_do() {
    let (lab, record) = recorded();
    std::fs::remove_file(record.path().join("environment.json")).unwrap();
    refused(&lab, &record, &[], &["environment.json is missing", "restore it from a copy"]);
}
