//! Targets that do not end as they should, and whoever kills them or those who guard them.

use std::time::Duration;

use observe::ProcSource;
use rustix::process::{Pid, Signal, kill_process};

use crate::run_support::{FILE, Json, Lab, Started, wait_until};
use crate::{SERVER, WITH_CHILDREN, lab, serves, tried};

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

/// Whether a process has ended: the kernel has told its children, whether or not its parent has asked.
fn gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])))
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
    let both = &["warden", "reaper"][..];
    for (names, how) in [(&both[1..], Signal::KILL), (both, Signal::KILL), (&both[1..], Signal::TERM)] {
        let (lab, running) = under_load();
        names.iter().flat_map(|name| called(&lab, name)).for_each(|pid| signal(pid, how));
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
    let warden = called(&lab, "warden")[0];
    signal(warden, Signal::KILL);
    // As long as the warden is only about to go, its end would continue a reaper that is stopped meanwhile.
    wait_until("the end of the warden", || gone(warden).then_some(()));
    signal(reaper, Signal::STOP);
    signal(target, Signal::KILL);
    running.end().says(&["it was ended by signal 9 (SIGKILL) under load; somebody killed it, or the kernel did"]);
    let record = lab.record();
    let failure = &record.launches()[0]["failure"];
    assert_eq!(failure["ended"], serde_json::json!({"how": {"killed": {"signal": 9}}, "when": "under-load"}));
    let reason = &record.analysis()["void_trials"][0]["reason"];
    assert_eq!((&reason["code"], &reason["ended"]), (&"died".into(), &failure["ended"]), "{reason}");
    assert!(
        reason["text"].as_str().unwrap().starts_with("it was ended by signal 9 (SIGKILL) under load; "),
        "{reason}"
    );
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
