//! Targets that use too much or take something away, and machines that lack something.

use std::os::unix::fs::PermissionsExt;

use crate::run_support::{Lab, beside_a_specimen, is_root};
use crate::{SERVER, lab, serves, tried};

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
    let lab = Lab::beside_others().experiment(beside_a_specimen(target)).through(LITTLE_MEMORY);
    let lab = lab.file("build.sh", format!("{LONG_LINE} last; exit 3"));
    let ended = tried(&lab).exits(4).says(&["building odd failed (exited with status 3)", "bytes left out", "last"]);
    assert!(ended.stderr.len() < 10_000, "{}", ended.stderr.len());
}

#[test]
fn a_toolchain_that_is_asked_for_its_version_leaves_nothing_and_may_say_a_lot() {
    let target = "name = 'odd'\ntitle = 'Odd'\n[launch]\nrun = 'true'\nready = '/ping'\n\
                  [toolchain]\ncommand = 'sh'\nversion = 'sh version.sh'\nget = 'https://example.invalid'\n";
    let lab = Lab::beside_others().through(LITTLE_MEMORY).file("targets/odd/target.toml", target);
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

#[test]
fn without_the_devices_that_everybody_has_a_run_says_so_and_blames_no_target() {
    let apart = "unshare --mount sh bare.sh";
    let lab = lab(SERVER, "50ms").file("bare.sh", "mount -t tmpfs none /dev && exec \"$@\"").through(apart);
    let can = std::process::Command::new("unshare").args(["--mount", "mount", "-t", "tmpfs", "none", "/dev"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        return eprintln!("NOT RUN: nothing can be mounted here");
    }
    let said = lab.run(&["--target", "odd", "--blocks", "1"]).exits(2);
    said.says(&["odd cannot be launched: /dev/null cannot be opened: No such file", "mount /dev"]);
}
