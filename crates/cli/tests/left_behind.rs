//! What servers leave behind, whatever they do: no process, no port, and no trial of another one spoilt. From the
//! outside: the real binary, real servers, real signals.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::collections::BTreeSet;

use run_support::{FILE, Json, Lab, beside_a_specimen};

#[test]
fn a_build_ends_with_bourdon_however_that_ends() {
    let build = "build = \"sh -c 'sleep 600 & echo begun > begun; exec sleep 600'\"\nrun = 'true'";
    let begin = || {
        let lab = Lab::beside_others().experiment(beside_a_specimen(build));
        let mut running = lab.start(&["run", FILE, "--target", "odd"]);
        running.until("the build", || lab.path().join("begun").exists().then_some(()));
        (lab, running)
    };
    let (lab, mut interrupted) = begin();
    interrupted.interrupt();
    interrupted.end().exits(130).says(&["interrupted while building; nothing was recorded"]);
    lab.nothing_is_left();
    assert!(lab.records().is_empty());
    // A test holds the machine through its lab: the first must go before the second comes.
    drop(lab);
    let (lab, killed) = begin();
    killed.kill();
    lab.nothing_is_left();
}

#[test]
fn what_killed_launches_have_left_goes_with_the_next_run_unless_somebody_holds_it() {
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'"));
    let made = ["bourdon-0123456789abcdef", "bourdon-1123456789abcdef", "bourdon-2123456789abcdef", "bourdon-notes"];
    let [left, held, young, other] = made.map(|name| lab.temporary().join(name));
    for folder in [&left, &held, &young, &other] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("data"), "of a server").unwrap();
    }
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let [left_file, held_file, other_file] = [&left, &held, &other].map(|folder| std::fs::File::open(folder).unwrap());
    [&left_file, &held_file, &other_file].iter().for_each(|folder| folder.set_modified(long_ago).unwrap());
    held_file.try_lock_shared().unwrap();
    lab.run(&["--target", "odd", "--blocks", "1"]).answers();
    assert_eq!([&left, &held, &young, &other].map(|folder| folder.exists()), [false, true, true, true]);
}

/// Ends with the first request that is not the question whether it is ready, while that still waits for its reply: so the
/// load goes on for a second at least.
const DYING: &str = "[ -p log ] || mkfifo log; EVERY=1 LOG_FILE=log $BOURDON specimen never-answers & \
                     read line < log; exit 7";

#[test]
fn a_target_that_dies_under_load_is_a_bad_answer_and_voids_its_trials_alone() {
    let server = DYING.replace("exit", "echo out of memory >&2; exit");
    let lab =
        Lab::beside_others().experiment(beside_a_specimen(&format!("ready = '/ping'\nrun = \"sh -c '{server}'\"")));
    lab.run(&[]).exits(1).says(&["it exited with status 7 under load", "out of memory"]);
    lab.nothing_is_left();
    let record = lab.record();
    record.all_measured("specimen:clean", 2);
    for void in record.analysis()["void_trials"].as_array().unwrap() {
        assert_eq!([&void["reason"]["code"], &void["where"]["target"]], ["died", "odd"]);
    }
    // In each of two blocks it is launched twice. On a busy machine it may outlast its load, which is not a death.
    let died = record.launches().iter().filter(|launch| launch["failure"]["stage"] == "died").count();
    assert!(died > 0, "{}", record.text("trials.jsonl"));
    assert_eq!(record.analysis()["trials"]["void"], died, "all that died, and no other");
}

#[test]
fn nothing_of_a_target_survives_whatever_it_does() {
    let server = "exec $BOURDON specimen clean";
    let ignores_term = format!("trap \\\"\\\" TERM; {server}");
    let leaves_a_grandchild = format!(
        "(trap \\\"\\\" TERM; exec setsid sh -c \\\": > there; exec sleep 600\\\") & \
         until [ -e there ]; do :; done; {server}"
    );
    // Without its environment the lab's name is only among its arguments.
    let forgets_everything = format!(
        "setsid env -i sh -c \\\"trap : TERM; : > there; while :; do sleep 600; done\\\" $PWD & \
         until [ -e there ]; do :; done; {server}"
    );
    for server in [ignores_term, leaves_a_grandchild, forgets_everything] {
        let lab = Lab::beside_others().experiment(beside_a_specimen(&format!("run = \"sh -c '{server}'\"")));
        lab.run(&["--target", "odd", "--blocks", "1"]).answers();
        assert_eq!(lab.alive(), Vec::<String>::new(), "after bourdon's own end");
        lab.record().all_measured("odd", 1);
    }
}

#[test]
fn a_bourdon_that_is_built_anew_during_a_run_goes_on_with_what_it_began() {
    let experiment = beside_a_specimen("run = 'sh serve.sh $BOURDON'").replace("50ms", "1s");
    let lab = Lab::beside_others().experiment(experiment).file("new", "not a program");
    let lab = lab.file("serve.sh", "LOG_FILE=log.$$ exec $1 specimen clean");
    let mut running = lab.start_under(&["sh", "-c", "cp \"$0\" copy && exec ./copy \"$@\""], &["run", FILE]);
    // Not between the choice of a name and its use.
    running.until("a server under load", || {
        let mut names = std::fs::read_dir(lab.path()).unwrap().map(|entry| entry.unwrap());
        let log = names.find(|entry| entry.file_name().to_string_lossy().starts_with("log."))?;
        (log.metadata().ok()?.len() > 10_000).then_some(())
    });
    std::fs::rename(lab.path().join("new"), lab.path().join("copy")).unwrap();
    running.end().answers();
    lab.record().all_measured("odd", 2);
    lab.record().all_measured("specimen:clean", 2);
    lab.nothing_is_left();
}

/// Ports of this machine on which a process listens, of both families (proc(5); state 0A is LISTEN).
fn listening() -> BTreeSet<u16> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let port = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (local, state) = (words.next()?, words.nth(1)?);
        (state == "0A").then(|| u16::from_str_radix(local.rsplit(':').next()?, 16).ok())?
    };
    tables.iter().flat_map(|table| table.lines().filter_map(port)).collect()
}

#[test]
fn of_servers_that_die_answer_wrongly_or_leak_no_process_and_no_port_is_left() {
    // Each writes down its port; what the leaking one starts listens on one of its own, in a session of its own.
    let leaking = "(PORT=0 setsid $BOURDON specimen clean 2>> leaked) & exec $BOURDON specimen clean";
    let wrong = "exec $BOURDON specimen wrong-body";
    let target = |(name, server): (&str, &str)| {
        format!("[[target]]\nname = '{name}'\nready = '/ping'\nrun = \"sh -c 'echo $PORT >> ports; {server}'\"\n")
    };
    let targets: String = [("dying", DYING), ("leaking", leaking), ("wrong", wrong)].into_iter().map(target).collect();
    let lab = Lab::beside_others().experiment(format!(
        "question = 'What is left of them?'\n\
         load = {{ path = '/rest/hello', expect_body = 'Hello world', connections = 4 }}\n\
         trials = {{ warm_up = '10ms', window = '500ms', blocks = 2, repeats = 0 }}\n\
         vary.target = ['dying', 'leaking', 'wrong', 'specimen:clean']\n{targets}"
    ));
    lab.run(&[]).exits(1).says(&["it exited with status 7 under load"]).shows(&["Replies with wrong content: wrong"]);
    assert_eq!(lab.alive(), Vec::<String>::new(), "after bourdon's own end");
    let numbers = |file: &str| -> Vec<u16> {
        let text = std::fs::read_to_string(lab.path().join(file)).unwrap();
        text.lines().filter_map(|line| line.rsplit([':', ' ']).next()?.parse().ok()).collect()
    };
    let (given, leaked) = (numbers("ports"), numbers("leaked"));
    assert!(given.len() >= 6 && leaked.len() >= 2, "each was launched: {given:?} {leaked:?}");
    let left: Vec<u16> = given.into_iter().chain(leaked).filter(|port| listening().contains(port)).collect();
    assert_eq!(left, [] as [u16; 0], "somebody still listens there");
    let record = lab.record();
    record.all_measured("specimen:clean", 2);
    record.all_measured("leaking", 2);
    let void = record.analysis()["void_trials"].as_array().unwrap().clone();
    for (name, code) in [("dying", "died"), ("wrong", "correctness")] {
        let codes: Vec<&Json> = void
            .iter()
            .filter(|trial| trial["where"]["target"] == name)
            .map(|trial| &trial["reason"]["code"])
            .collect();
        assert!(!codes.is_empty() && codes.iter().all(|seen| *seen == code), "{name}: {codes:?}");
    }
}

/// What makes a file immutable, or no longer.
fn chattr(how: &str, file: &std::path::Path) -> bool {
    std::process::Command::new("chattr").arg(how).arg(file).status().is_ok_and(|status| status.success())
}

#[test]
fn what_cannot_be_removed_is_named() {
    let lab = Lab::beside_others();
    let trial = lab.path().join("trial");
    std::fs::write(&trial, "").unwrap();
    if !(chattr("+i", &trial) && chattr("-i", &trial)) {
        return eprintln!("NOT RUN: it takes root and a file system on which a file can be made immutable");
    }
    let server = "touch $SCRATCH/stays; chattr +i $SCRATCH/stays; exec $BOURDON specimen clean";
    let lab = lab.experiment(beside_a_specimen(&format!("run = \"sh -c '{server}'\"")));
    let ended = lab.run(&["--blocks", "1", "--target", "odd"]);
    let left: Vec<_> = std::fs::read_dir(lab.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect();
    for folder in &left {
        assert!(chattr("-i", &folder.join("stays")), "{folder:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert!(!left.is_empty(), "{ended:?}");
    for folder in left {
        ended.clone().says(&[&format!("odd left {}, in which something cannot be removed", folder.display())]);
    }
    lab.nothing_is_left();
}

/// A mount namespace of its own: what is mounted in it is gone with it.
const APART: [&str; 2] = ["unshare", "--mount"];

/// Whether a mount can be made in a namespace of its own; if not, says that a test was not run.
fn can_mount(lab: &Lab) -> bool {
    let script = "mount -t tmpfs tmpfs \"$0\"";
    let words = [&APART[..], &["sh", "-c", script]].concat();
    let made = std::process::Command::new(words[0]).args(&words[1..]).arg(lab.path()).output();
    let can = made.is_ok_and(|made| made.status.success());
    if !can {
        eprintln!("NOT RUN: nothing can be mounted here");
    }
    can
}

#[test]
fn what_a_target_mounts_in_its_scratch_folder_is_left_and_named() {
    let mounts = [
        ("mkdir -p $SCRATCH/a/m && mount --bind $OF_THE_USER $SCRATCH/a/m", "/a/m"),
        ("mount --bind $OF_THE_USER $SCRATCH", ""),
    ];
    for (mount, point) in mounts {
        let lab = Lab::beside_others();
        if !can_mount(&lab) {
            return;
        }
        let victim = lab.path().join("victim");
        let lab = lab.env("OF_THE_USER", victim.display().to_string()).file("victim/folder/file", "precious");
        let server = format!("{mount} && exec $BOURDON specimen clean");
        let lab = lab.experiment(beside_a_specimen(&format!("run = \"sh -c '{server}'\"")));
        let ended = lab.bourdon_under(&APART, &["run", FILE, "--target", "odd", "--blocks", "1"]);
        // What is left is an empty folder here, where nothing is mounted on it.
        let left: Vec<_> = std::fs::read_dir(lab.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(std::fs::read_to_string(victim.join("folder/file")).unwrap(), "precious", "{ended:?}");
        assert!(!left.is_empty(), "{ended:?}");
        for folder in left {
            let said = format!("odd left {0}, for something is mounted on {0}{point}, ", folder.display());
            ended.clone().says(&[&said, &format!("umount {}{point}, then remove it", folder.display())]);
            std::fs::remove_dir_all(folder).unwrap();
        }
        lab.nothing_is_left();
    }
}
