//! Targets that misbehave, and people who kill: whatever happens, nothing is left running, no folder stays behind, what is
//! kept is bounded, and the exit status is right. From the outside: the real binary, real processes, real signals.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use observe::ProcSource;
use run_support::{FILE, Json, Lab, Outcome, Started, beside_a_specimen, is_root, wait_until};
use rustix::process::{Pid, Signal, kill_process};

const SERVER: &str = "exec $BOURDON specimen clean";

/// A server with children in sessions of their own, as a service that daemonises has.
const WITH_CHILDREN: &str = "setsid sleep 600 & (setsid sh -c 'sleep 600 & exec sleep 600' &)
                             LOG_FILE=log $BOURDON specimen clean & wait";

/// A lab with a target that is a shell script, under a load of such a length.
fn lab(script: &str, window: &str) -> Lab {
    let target = "ready = '/ping'\nready_within = '2s'\nrun = 'sh serve.sh $BOURDON'";
    let experiment = beside_a_specimen(target).replace("window = \"50ms\"", &format!("window = \"{window}\""));
    Lab::new().experiment(experiment).file("serve.sh", format!("BOURDON=$1\n{script}"))
}

/// One short block of the target alone, after which nothing may be left at once.
fn tried(lab: &Lab) -> Outcome {
    let ended = lab.run(&["--target", "odd", "--blocks", "1"]);
    assert_eq!(lab.alive(), Vec::<String>::new(), "after bourdon's own end: {ended:?}");
    lab.nothing_is_left();
    ended
}

/// One that serves, after which its figures are there.
fn serves(script: &str) -> Lab {
    let lab = lab(script, "50ms");
    tried(&lab);
    lab.record().all_measured("odd", 1);
    lab
}

/// One that cannot be had, and what the error says.
fn fails(script: &str, words: &[&str]) {
    tried(&lab(script, "50ms")).exits(4).says(words);
}

#[test]
fn what_escapes_by_a_session_or_two_forks_is_ended() {
    serves(&format!("(setsid sh -c 'sleep 600 & sleep 600' &); setsid sleep 600 & {SERVER}"));
    serves("setsid $BOURDON specimen clean & trap '' TERM; wait; sleep 600");
    serves(&format!("trap '' TERM HUP INT; {SERVER}"));
}

#[test]
fn what_starts_again_at_its_end_is_ended() {
    let again = "trap 'sh serve.sh $BOURDON & exit' TERM\n$BOURDON specimen clean & wait";
    serves(again);
}

#[test]
fn a_swarm_that_goes_on_forking_is_ended() {
    let tree = "b() { [ $1 -gt 0 ] || exec sleep 600; b $(($1-1)) & b $(($1-1)) & wait; }";
    serves(&format!("{tree}\nb 6 &\n{SERVER}"));
    // Each starts the next and goes: at any look the one that was seen is no longer there.
    let chain = "c() { [ $1 -gt 0 ] || exec sleep 600; (c $(($1-1)) &); exit; }";
    serves(&format!("{chain}\n(c 2000) &\n{SERVER}"));
}

#[test]
fn who_kills_its_parent_or_its_group_kills_itself() {
    fails("(setsid sleep 600 &); kill -9 $PPID; sleep 600", &["it lost its reaper"]);
    let killed =
        "it was ended by signal 9 (SIGKILL) before it was ready; somebody killed it, or the kernel did because memory";
    fails("sleep 600 & kill -9 0", &[killed]);
}

#[test]
fn a_server_that_a_signal_ends_before_it_is_ready_is_not_told_to_mend_its_command() {
    for (signal, said) in [("KILL", "signal 9 (SIGKILL) before it was ready; "), ("SEGV", "signal 11 (SIGSEGV) before")]
    {
        let lab = Lab::new().experiment(beside_a_specimen(&format!("run = \"sh -c 'kill -{signal} $$'\"")));
        let ended = tried(&lab).exits(4).says(&["it was ended by ", said]);
        assert!(!ended.stderr.contains("$PORT"), "{ended:?}");
    }
}

#[test]
fn a_launch_whose_reaper_is_killed_before_it_is_ready_is_made_again() {
    let once = format!("[ -e once ] || {{ : > once; kill -9 $PPID; sleep 600; }}; {SERVER}");
    let lab = lab(&once, "50ms");
    let ended = tried(&lab);
    ended.says(&["its reaper was killed before it was ready, which says nothing about it; it is launched again"]);
    lab.record().all_measured("odd", 1);
}

#[test]
fn who_stops_its_parent_serves_all_the_same() {
    serves(&format!("setsid sleep 600 & kill -STOP $PPID; {SERVER}"));
}

#[test]
fn who_exits_or_never_listens_or_listens_elsewhere_is_told() {
    fails("exit 0", &["it exited with status 0 before it was ready", "stays in the foreground"]);
    fails("sleep 600", &["it was not ready within 2s: /ping: Connection refused"]);
    fails("PORT=0 $BOURDON specimen clean & wait", &["it listens on 127.0.0.1:", ", not on $PORT = "]);
    let lab = Lab::new().experiment(beside_a_specimen("run = 'no-such-server --port $PORT'"));
    tried(&lab).exits(4).says(&["cannot run `no-such-server`: No such file or directory"]);
}

#[test]
fn a_command_that_needs_a_shell_or_its_port_is_told_so_where_it_fails() {
    let port = "its command does not name $PORT, which is the port to listen on";
    for (command, said) in [
        ("A=1 $BOURDON specimen clean", "`A=1` needs one, or env: env A=1 $BOURDON …"),
        ("cd /; $BOURDON specimen clean", "`cd` needs one: sh -c '…'"),
        (
            "$BOURDON specimen clean && true",
            "exited with status 2 before it was ready; it runs without a shell, and `&&`",
        ),
        ("sh -c 'exit 3'", port),
        ("sleep 600", port),
    ] {
        let target = format!("ready_within = '200ms'\nrun = \"{command}\"");
        let failed = tried(&Lab::new().experiment(beside_a_specimen(&target))).exits(4).says(&[said]);
        let shown = failed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(said), "{shown}");
    }
    for command in ["$BOURDON specimen none $PORT", "$BOURDON specimen none", "true", "sh -c 'cd /; exit 1; : $PORT'"] {
        let failed = tried(&Lab::new().experiment(beside_a_specimen(&format!("run = \"{command}\"")))).exits(4);
        assert!(!failed.stderr.contains("its command does not") && !failed.stderr.contains("a shell"), "{failed:?}");
    }
}

#[test]
fn who_closes_its_scratch_folder_leaves_none() {
    if !is_root() {
        return;
    }
    let closing = "mkdir -p outside $SCRATCH/a/b; : > $SCRATCH/a/b/c; ln -s $PWD/outside $SCRATCH/a/link
                   chmod 555 outside $SCRATCH/a/b; chmod 000 $SCRATCH/a";
    // Root may do everything.
    let lab = lab(&format!("{closing}; {SERVER}"), "50ms").with_processes(1000);
    tried(&lab);
    lab.record().all_measured("odd", 1);
    let mode = std::fs::metadata(lab.path().join("outside")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o555, "what a link leads to is not touched");
}

/// How many processes a process has not waited for that have ended.
fn zombies_of(parent: u32) -> usize {
    let pids =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| observe::parent_of_the_dead(*pid, &ProcSource::default()) == Some(parent)).count()
}

#[test]
fn as_the_first_process_of_a_container_it_waits_for_whom_it_adopts() {
    let container = ["unshare", "--pid", "--fork", "--mount-proc"];
    let can = std::process::Command::new(container[0]).args(&container[1..]).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT RUN: no process can be the first of a container here");
        return;
    }
    let lab = lab(SERVER, "50ms");
    let mut running = lab.start_under(&container, &["run", FILE, "--blocks", "5"]);
    let outside = running.pid();
    let first = running.until("the first", || observe::descendants(outside, &ProcSource::default()).first().copied());
    let mut most = 0;
    wait_until("its end", || {
        most = most.max(zombies_of(first));
        running.ended()
    });
    lab.record().all_measured("odd", 5);
    // One launch's first step and warden, and those of a question.
    assert!(most <= 4, "{most} zombies of fifteen launches");
}

#[test]
fn a_target_that_cannot_be_launched_ends_the_run_with_its_first_block_unless_the_others_are_to_go_on() {
    // What the file says of the target; the stage of its failure; what is said.
    let cases: [(&str, &str, &[&str]); 3] = [
        ("run = './no-such-server'", "launch", &["cannot run `./no-such-server`", "No such file"]),
        (
            "run = \"sh -c 'echo the database is not there >&2; exit 9'\"",
            "ready",
            &["it exited with status 9 before it was ready", "    the database is not there"],
        ),
        (
            "run = '$BOURDON specimen clean'\nready = '/nope'\nready_within = '200ms'",
            "ready",
            &[
                "it was not ready within 200ms: /nope answers with status 404; ready = \"/…\" in the file, or --ready, asks",
                "    clean listens on",
            ],
        ),
    ];
    for (target, stage, said) in cases {
        let lab = Lab::new().experiment(beside_a_specimen(target));
        let stopped = lab.run(&[]).exits(4).says(said).says(&["stopped after block 1: odd did not become ready"]);
        lab.nothing_is_left();
        let record = lab.record();
        record.all_measured("specimen:clean", 1);
        let (_, command) = stopped.stderr.trim_end().rsplit_once("without odd: ").unwrap();
        let words = shlex::split(command).unwrap();
        lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).exits(4).says(said);
        lab.nothing_is_left();
        record.all_measured("specimen:clean", 2);
        let odd = record.launches().into_iter().filter(|trial| trial["where"]["target"] == "odd");
        let failures: Vec<Json> = odd.map(|trial| trial["failure"].clone()).collect();
        let (tried, not): (Vec<&Json>, Vec<&Json>) = failures.iter().partition(|failure| failure["stage"] == stage);
        assert_eq!(tried.len(), 2, "one try each time: {failures:?}");
        let waited =
            |failure: &&Json| failure["waited_ms"].as_u64().unwrap() >= if target.contains("200ms") { 200 } else { 0 };
        assert!(tried.iter().all(waited), "{failures:?}");
        // With the twin of the odd one, which is the first of the plan.
        stopped.says(&["block 1: 1 trial, 2 whose server did not become ready"]).shows(&[
            "1 launch a cell",
            "1 launch did not become ready",
            "1 trial launched; 1 did not become ready; 1 not tried",
        ]);
        let is_said = |failure: &&Json| failure["text"].as_str().unwrap().starts_with("not launched again: ");
        assert!(!not.is_empty() && not.iter().all(is_said), "{failures:?}");
    }
}

#[test]
fn a_run_that_stopped_for_a_target_that_is_mended_is_resumed() {
    let target = "run = \"sh -c 'exec ./server specimen clean'\"";
    let lab = Lab::new().experiment(beside_a_specimen(target));
    let stopped = lab.run(&[]).exits(4);
    stopped.clone().says(&["odd did not become ready: it exited with status 127", "what was measured is kept"]);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bourdon"), lab.path().join("server")).unwrap();
    let (_, after) = stopped.stderr.split_once("and resume: ").unwrap();
    let words = shlex::split(after.lines().next().unwrap()).unwrap();
    lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).answers();
    lab.nothing_is_left();
    let analysis = lab.record().analysis();
    assert_eq!(analysis["trials"]["void"], 0, "{analysis:#}");
    assert!(analysis["cells"].as_array().unwrap().iter().all(|cell| cell["trials"] == 2), "{analysis:#}");
}

#[test]
fn who_listens_elsewhere_is_told_while_it_may_still_open_the_right_port() {
    let elsewhere =
        "PORT=0 $BOURDON specimen clean & until [ -e go ]; do sleep 0.05; done; exec $BOURDON specimen clean";
    let lab = lab(elsewhere, "50ms");
    let lab = lab.replace(FILE, "'2s'", "'600s'");
    let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "1"]);
    let told = running.says("it listens on 127.0.0.1:");
    assert!(told.starts_with("waiting for odd: ") && told.contains(", not on $PORT = "), "{told}");
    let lab = lab.file("go", "");
    running.end().answers();
    lab.nothing_is_left();
    lab.record().all_measured("odd", 1);
}

/// What each launch printed, as it was kept.
fn kept(lab: &Lab) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(lab.record().path().join("stderr")).unwrap();
    let kept: Vec<_> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(!kept.is_empty(), "nothing was launched");
    kept
}

/// 100 MB in one line. A bourdon that held them would need more memory than it has in these tests.
const LONG_LINE: &str = "head -c 100000000 /dev/zero | tr '\\0' x; echo";
const LITTLE_MEMORY: &str = "prlimit --data=90000000";

#[test]
fn of_a_line_without_end_the_beginning_and_the_end_are_kept() {
    let lab = lab(&format!("echo first; {LONG_LINE} last >&2; exit 3"), "50ms").through(LITTLE_MEMORY);
    let ended = tried(&lab).exits(4).says(&["it exited with status 3", "bytes left out", "last"]);
    let record = lab.record().text("trials.jsonl");
    assert!(ended.stderr.len() < 10_000 && record.len() < 10_000, "{} and {}", ended.stderr.len(), record.len());
    let kept = kept(&lab);
    assert!(kept[0].starts_with(b"first\nxxxx") && kept[0].ends_with(b"xxlast\n") && kept[0].len() < 17_000);
}

#[test]
fn who_prints_a_lot_before_it_serves_is_not_held_up() {
    let lab = lab(&format!("{LONG_LINE}; {SERVER}"), "50ms").through(LITTLE_MEMORY);
    tried(&lab);
    lab.record().all_measured("odd", 1);
}

#[test]
fn of_what_a_build_prints_the_beginning_and_the_end_are_kept() {
    let target = "build = 'sh build.sh'\nrun = 'true'";
    let lab = Lab::new().experiment(beside_a_specimen(target)).through(LITTLE_MEMORY);
    let lab = lab.file("build.sh", format!("{LONG_LINE} last; exit 3"));
    let ended = tried(&lab).exits(4).says(&["building odd failed (exited with status 3)", "bytes left out", "last"]);
    assert!(ended.stderr.len() < 10_000, "{}", ended.stderr.len());
}

#[test]
fn a_toolchain_that_is_asked_for_its_version_leaves_nothing_and_may_say_a_lot() {
    let target = "name = 'odd'\ntitle = 'Odd'\n[launch]\nrun = 'true'\nready = '/ping'\n\
                  [toolchain]\ncommand = 'sh'\nversion = 'sh version.sh'\nget = 'https://example.invalid'\n";
    let lab = Lab::new().through(LITTLE_MEMORY).file("targets/odd/target.toml", target);
    let lab = lab.file("targets/odd/version.sh", format!("setsid sleep 600 & echo 1.2; {LONG_LINE}"));
    let lab = lab.file("experiments/none", "");
    lab.bourdon(&["targets"]).exits(0).shows(&["odd  Odd  present"]);
    assert_eq!(lab.alive(), Vec::<String>::new(), "after bourdon's own end");
}

#[test]
fn output_without_end_neither_stops_a_target_nor_fills_the_disk() {
    let lab = serves(&format!("yes some words that are said again and again & {SERVER}"));
    for kept in kept(&lab) {
        assert!((16_384..17_000).contains(&kept.len()), "{}", kept.len());
        assert!(String::from_utf8_lossy(&kept).contains(" bytes left out …\n"));
    }
}

#[test]
fn who_closes_its_door_under_load_leaves_nothing() {
    // The log has a line for each of the server's acts, most of them under load.
    let closing = "[ -p log ] || mkfifo log; LOG_FILE=log $BOURDON specimen clean & server=$!
                   i=0; while [ $i -lt 300 ]; do read line; i=$((i+1)); done < log
                   kill -9 $server; sleep 600";
    let lab = lab(closing, "500ms");
    let ended = tried(&lab);
    assert!(matches!(ended.status, Some(1 | 3)), "it could be launched, and its figures are bad: {ended:?}");
}

fn signal(pid: u32, signal: Signal) {
    // One may have ended meanwhile.
    let _ = kill_process(Pid::from_raw(pid as i32).unwrap(), signal);
}

fn pids(lab: &Lab) -> Vec<u32> {
    lab.alive().iter().map(|line| line.split_once(':').unwrap().0.parse().unwrap()).collect()
}

/// The processes of a lab that are called so.
fn called(lab: &Lab, name: &str) -> Vec<u32> {
    let is = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name);
    pids(lab).into_iter().filter(is).collect()
}

/// A run whose target has started all its children, and is loaded for a while.
fn under_load() -> (Lab, Started) {
    let lab = lab(WITH_CHILDREN, "3s");
    let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "1"]);
    running.until("the target under load, and those who guard it", || {
        // More lines than it takes to ask whether it is ready.
        let loaded = std::fs::metadata(lab.path().join("log")).is_ok_and(|log| log.len() > 10_000);
        (loaded && ["warden", "reaper"].iter().all(|name| called(&lab, name).len() == 1)).then_some(())
    });
    (lab, running)
}

#[test]
fn killed_with_all_its_children_at_once_it_leaves_nothing() {
    let (lab, running) = under_load();
    let mut all = observe::descendants(running.pid(), &ProcSource::default());
    all.push(running.pid());
    all.into_iter().for_each(|pid| signal(pid, Signal::KILL));
    lab.nothing_is_left();
}

#[test]
fn killed_by_its_name_it_leaves_nothing() {
    let (lab, running) = under_load();
    // The specimen is of that name, too.
    let by_name = called(&lab, "bourdon");
    assert!(by_name.len() >= 2 && by_name.contains(&running.pid()), "{by_name:?}");
    by_name.into_iter().for_each(|pid| signal(pid, Signal::KILL));
    lab.nothing_is_left();
}

#[test]
fn killed_with_its_reaper_and_the_target_at_once_it_leaves_nothing() {
    let (lab, running) = under_load();
    let reaper = called(&lab, "reaper")[0];
    let target = observe::descendants(reaper, &ProcSource::default())[0];
    [running.pid(), reaper, target].into_iter().for_each(|pid| signal(pid, Signal::KILL));
    lab.nothing_is_left();
}

#[test]
fn without_its_reaper_or_its_warden_or_both_a_launch_ends_and_leaves_nothing() {
    for names in [&["reaper"][..], &["warden", "reaper"]] {
        let (lab, running) = under_load();
        names.iter().flat_map(|name| called(&lab, name)).for_each(|pid| signal(pid, Signal::KILL));
        running.end().answers();
        let launches = lab.record().launches();
        let (lost, made): (Vec<&Json>, Vec<&Json>) =
            launches.iter().partition(|trial| trial["failure"]["stage"] == "unguarded");
        assert!(lost.len() == 1 && lost[0]["measurement"].is_null(), "{lost:#?}");
        let again: Vec<&&Json> = made.iter().filter(|trial| trial["id"] == lost[0]["id"]).collect();
        assert!(again.len() == 1 && again[0]["measurement"].is_object(), "it is launched again: {made:#?}");
        assert_eq!(lab.alive(), Vec::<String>::new());
        lab.nothing_is_left();
    }
    let (lab, mut running) = under_load();
    signal(called(&lab, "warden")[0], Signal::KILL);
    running.interrupt();
    running.end().exits(130);
    lab.nothing_is_left();
}

#[test]
fn who_guards_may_be_stopped_and_everything_still_ends() {
    for names in [&["reaper"][..], &["warden", "reaper"]] {
        let (lab, mut running) = under_load();
        names.iter().flat_map(|name| called(&lab, name)).for_each(|pid| signal(pid, Signal::STOP));
        running.interrupt();
        running.end().exits(130);
        lab.nothing_is_left();
    }
    for stopped in ["reaper", "warden"] {
        let (lab, running) = under_load();
        signal(called(&lab, stopped)[0], Signal::STOP);
        running.kill();
        lab.nothing_is_left();
    }
}

/// The kernel continues a stopped process group that loses its last tie to its session: the reaper, when the warden goes.
#[test]
fn stopped_guards_of_a_killed_bourdon_end_everything_once_the_warden_is_killed_too() {
    let (lab, running) = under_load();
    let guards = ["warden", "reaper"].map(|name| called(&lab, name)[0]);
    guards.into_iter().for_each(|pid| signal(pid, Signal::STOP));
    running.kill();
    assert_eq!([called(&lab, "warden"), called(&lab, "reaper")], guards.map(|pid| vec![pid]), "nobody continues them");
    signal(guards[0], Signal::KILL);
    lab.nothing_is_left();
}

#[test]
fn a_target_that_is_killed_with_its_warden_while_its_reaper_is_stopped_has_died() {
    let (lab, running) = under_load();
    let reaper = called(&lab, "reaper")[0];
    let target = observe::descendants(reaper, &ProcSource::default())[0];
    signal(called(&lab, "warden")[0], Signal::KILL);
    signal(reaper, Signal::STOP);
    signal(target, Signal::KILL);
    running.end().says(&["it was ended by signal 9 (SIGKILL) under load; somebody killed it, or the kernel did"]);
    let void = lab.record().analysis()["void_trials"].clone();
    assert_eq!(void[0]["reason"]["code"], "died", "{void}");
    lab.nothing_is_left();
}

#[test]
fn who_is_stopped_under_load_marks_the_latencies_that_are_its_own_doing() {
    let server = "HANDLER_DELAY=20ms LOG_FILE=log.$$ exec $BOURDON specimen clean";
    let lab = lab(server, "1s");
    let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "1"]);
    let logged = || -> usize {
        let files = std::fs::read_dir(lab.path()).unwrap().map(|entry| entry.unwrap());
        let logs = files.filter(|entry| entry.file_name().to_string_lossy().starts_with("log."));
        logs.map(|log| std::fs::read(log.path()).unwrap().iter().filter(|byte| **byte == b'\n').count()).sum()
    };
    let mut ended = None;
    while ended.is_none() {
        let before = logged();
        wait_until("requests, or the end", || {
            ended = running.ended();
            (ended.is_some() || logged() > before + 50).then_some(())
        });
        if ended.is_none() {
            running.signal(Signal::STOP);
            // The standstill itself, of which the instrument must tell.
            std::thread::sleep(Duration::from_millis(300));
            running.signal(Signal::CONT);
        }
    }
    let analysis = lab.record().analysis();
    let marks = analysis["cells"][0]["marks"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["mark"] == "standstill"), "{ended:?} {analysis:#}");
}

#[test]
fn whoever_is_killed_at_whatever_moment_nothing_is_left() {
    let mut random = fastrand::Rng::with_seed(20_261_122);
    for _ in 0..25 {
        let lab = lab(WITH_CHILDREN, "50ms");
        let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "2"]);
        let wanted = random.usize(1..9);
        wait_until("somebody to kill", || (pids(&lab).len() >= wanted || running.ended().is_some()).then_some(()));
        let alive = pids(&lab);
        if !alive.is_empty() {
            signal(alive[random.usize(..alive.len())], Signal::KILL);
        }
        wait_until("its end", || running.ended());
        lab.nothing_is_left();
    }
}

#[test]
fn without_a_folder_for_temporary_files_a_run_says_so() {
    let lab = lab(SERVER, "50ms").env("TMPDIR", "/no/such/folder");
    let said = lab.run(&["--target", "odd", "--blocks", "1"]).exits(2);
    said.says(&["cannot make the scratch folder /no/such/folder/bourdon-", "No such file", "set TMPDIR to a folder"]);
    let temporary = lab.temporary().to_string_lossy().into_owned();
    let lab = lab.env("TMPDIR", temporary);
    lab.bourdon(&["run", "--resume", lab.record().name()]).answers();
    lab.record().all_measured("odd", 1);
}

#[test]
fn a_target_whose_folder_is_missing_is_told_so() {
    let lab = Lab::new().experiment(beside_a_specimen("run = '$BOURDON specimen clean'\ncwd = 'nosuch'"));
    let said = lab.run(&["--target", "odd", "--blocks", "1"]).exits(4);
    said.says(&["odd did not become ready: it cannot be run in ", "/nosuch (cwd): No such file or directory"]);
}

#[test]
fn without_processes_a_run_says_so() {
    for processes in 1..=8 {
        if !is_root() {
            return;
        }
        let lab = lab(SERVER, "50ms").with_processes(processes);
        let said = tried(&lab);
        assert!(matches!(said.status, Some(0 | 2 | 3)), "with {processes} processes: {said:?}");
        assert!(!said.stderr.contains("panicked"), "with {processes} processes: {said:?}");
        if processes == 1 {
            said.exits(2).says(&["no process can be started to guard it", "ulimit -u"]);
        }
    }
}
