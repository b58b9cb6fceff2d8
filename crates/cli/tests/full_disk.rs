//! A disk that is full at each file that is written: it is said which, nothing torn is left, and what was measured stays.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod disk;
mod run_support;

use std::collections::BTreeSet;
use std::path::Path;

use disk::{Disk, PAGE_BYTES};
use run_support::{FILE, Lab, Record, beside_a_specimen, is_here, short};
use specimens::{Kind, LogSink, Settings};

const FULL: &str = "No space left on device";

/// Every name in a folder, also those that are hidden.
fn names(folder: &Path) -> BTreeSet<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    std::fs::read_dir(folder).map(|entries| entries.map(name).collect()).unwrap_or_default()
}

fn pages(record: &Record, file: &str) -> u64 {
    std::fs::metadata(record.path().join(file)).unwrap().len().div_ceil(PAGE_BYTES)
}

/// A run of one block on a disk in memory that has room enough.
fn recorded(lab: &Lab) -> Option<(Disk, Record)> {
    let disk = Disk::of_pages(8 << 10)?;
    let runs = disk.path().join("runs").display().to_string();
    lab.bourdon(&["run", FILE, "--runs", &runs]).answers();
    let record = lab.records_in(&runs).pop().unwrap();
    Some((disk, record))
}

#[test]
fn a_run_whose_plan_or_environment_finds_no_room_leaves_no_folder() {
    let lab = Lab::new().experiment(short(1));
    let Some((disk, whole)) = recorded(&lab) else { return };
    let (plan, environment) = (pages(&whole, "plan.toml"), pages(&whole, "environment.json"));
    drop(disk);
    for (room, file) in [(1, "plan.toml"), (plan - 1, "plan.toml"), (plan, "environment.json")] {
        assert!(room > 0 && environment > 0);
        let Some(disk) = Disk::of_pages(room) else { return };
        let runs = disk.path().join("runs");
        let said = lab.bourdon(&["run", FILE, "--runs", &runs.display().to_string()]).exits(2);
        assert!(!said.stderr.contains(".unfinished"), "{said:?}");
        said.says(&[file, FULL, "make room on its disk"]);
        assert_eq!(names(&runs), BTreeSet::new(), "{room} pages");
        lab.nothing_is_left();
    }
}

#[test]
fn trials_and_events_that_find_no_room_end_the_run_and_it_is_resumed() {
    if !is_here("strace") {
        return;
    }
    for file in ["trials.jsonl", "events.jsonl"] {
        let lab = Lab::new().experiment(short(1));
        lab.run(&[]).answers();
        let record = lab.record();
        let path = record.path().join(file).display().to_string();
        let before = record.text("trials.jsonl");
        let full = ["strace", "-f", "-o", "/dev/null", "-P", &path, "-e", "inject=write:error=ENOSPC"];
        let resume = ["run", "--resume", record.name(), "--blocks", "2"];
        lab.bourdon_under(&full, &resume).exits(2).says(&[file, FULL, "what was measured is kept", "run --resume"]);
        lab.nothing_is_left();
        assert_eq!(record.text("trials.jsonl"), before, "{file}");
        lab.bourdon(&["run", "--resume", record.name()]).answers();
        record.is_whole(2, 4);
    }
}

#[test]
fn a_disk_that_fails_at_the_end_of_a_run_is_named_and_nobody_is_blamed() {
    if !is_here("strace") {
        return;
    }
    let lab = Lab::new().experiment(beside_a_specimen("run = '$BOURDON specimen clean'"));
    lab.run(&["--target", "specimen:clean", "--blocks", "1"]).answers();
    let record = lab.record();
    let path = record.path().join("events.jsonl").display().to_string();
    let fails = ["strace", "-f", "-o", "/dev/null", "-P", &path, "-e", "inject=fdatasync:error=EIO:when=2+"];
    let said = lab.bourdon_under(&fails, &["run", "--resume", record.name(), "--blocks", "2"]).exits(2);
    let happened = "the record may not be whole: ";
    let said = said.says(&[happened, "events.jsonl: Input/output error", "the answer here is of what was measured"]);
    assert!(!said.stderr.contains("somebody") && !said.stderr.contains("nothing else writes"), "{said:?}");
}

#[test]
fn an_analysis_or_a_page_that_finds_no_room_is_printed_and_the_old_one_stays() {
    let lab = Lab::new().experiment(short(1));
    let Some((disk, record)) = recorded(&lab) else { return };
    let shown = lab.bourdon(&["report", record.name()]).answers().stdout;
    let (kept, needed) = (names(record.path()), ["analysis.json", "report.md"].map(|file| pages(&record, file)));
    let used = rustix::fs::statvfs(&*disk.path()).map(|seen| seen.f_blocks - seen.f_bfree).unwrap();
    // What is written anew lies beside the old one until it is whole.
    for (room, file) in [(needed[0] - 1, "analysis.json"), (0, "analysis.json")] {
        let before = ["analysis.json", "report.md"].map(|file| record.text(file));
        disk.resize(used + room);
        let outcome = lab.bourdon(&["report", record.name()]).exits(2);
        assert_eq!(outcome.stdout, shown);
        outcome.says(&["cannot keep the analysis", file, FULL, "the record is untouched"]);
        assert_eq!(
            (names(record.path()), ["analysis.json", "report.md"].map(|file| record.text(file))),
            (kept.clone(), before)
        );
    }
    for file in ["analysis.json", "report.md"] {
        std::fs::remove_file(record.path().join(file)).unwrap();
    }
    disk.resize(used - needed[1]);
    let outcome = lab.bourdon(&["report", record.name()]).exits(2).says(&["report.md", FULL]);
    assert_eq!((outcome.stdout, record.has("analysis.json"), record.has("report.md")), (shown, true, false));
}

#[test]
fn a_load_that_finds_no_room_for_what_it_saves_shows_its_figures_and_leaves_nothing_torn() {
    let lab = Lab::new();
    let server = specimens::start(Settings::new(Kind::Clean), LogSink::None).unwrap();
    let url = format!("http://{}/rest/hello", server.address());
    let Some(disk) = Disk::of_pages(1) else { return };
    let path = |name: &str| disk.path().join(name).display().to_string();
    let load = ["load", &url, "-n", "50"];
    let (saved, log) = (path("it.json"), path("it.hlog"));
    std::fs::write(disk.path().join("ballast"), [1; PAGE_BYTES as usize]).unwrap();
    lab.bourdon(&[&load[..], &["-o", &saved]].concat()).exits(2).says(&["it.json", FULL]);
    assert_eq!(names(&disk.path()), BTreeSet::from(["ballast".to_owned()]));
    let outcome = lab.bourdon(&[&load[..], &["--histogram-log", &log]].concat()).exits(2);
    outcome.says(&["it.hlog is not whole", FULL]).shows(&["requests/s"]);
}
