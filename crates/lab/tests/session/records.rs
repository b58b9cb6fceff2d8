//! What is on disk, whole and damaged.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use lab::{Kept, LabError, RunFolder};
use model::{Addition, Event, Plan, Purpose};

use crate::fakes::{FakeLauncher, cell, conduct, conduct_telling, create, load, plan, stopped_after_three};

#[test]
fn a_torn_last_line_is_cut_off_and_its_trial_run_again() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let file = path.join("trials.jsonl");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    let (mut folder, record) = RunFolder::resume(&path).unwrap();
    assert_eq!(record.trials.len(), 2);
    conduct(&plan, &mut folder, &launcher, None);
    assert_eq!(RunFolder::read(&path).unwrap().trials.len(), 8);
}

#[test]
fn of_two_records_for_one_launch_the_one_that_stands_later_counts_whatever_the_clock_said() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(1), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let (mut folder, record) = RunFolder::resume(&path).unwrap();
    for (began, before) in
        [("2026-11-20T10:00:39.5Z", "2026-11-20T10:00:39Z"), ("1970-01-01T00:00:00Z", "2026-11-20T10:00:39Z")]
    {
        let mut again = record.trials[0].clone();
        (again.started_at, again.position) = (before.parse().unwrap(), 98);
        folder.append(&again).unwrap();
        (again.started_at, again.position) = (began.parse().unwrap(), 99);
        folder.append(&again).unwrap();
        let read = RunFolder::read(&path).unwrap();
        let counted: Vec<u32> =
            read.counted().filter(|trial| trial.id == again.id).map(|trial| trial.position).collect();
        assert_eq!(counted, [99], "{began}");
    }
}

#[test]
fn a_trial_that_began_at_no_time_there_is_is_refused_by_its_line() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(1), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let began = RunFolder::read(&path).unwrap().trials[1].started_at.to_string();
    let file = path.join("trials.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&began), "as it was written");
    std::fs::write(&file, text.replace(&began, "yesterday")).unwrap();
    let error = RunFolder::read(&path).unwrap_err().to_string();
    assert!(error.contains("trials.jsonl, line 2: `yesterday` is not a time, as 2026-11-20T09:12:33Z is"), "{error}");
}

/// A file that a file system left with a hole of 8 GiB must not be read into memory.
#[test]
fn a_line_without_end_is_damage_and_not_read_whole() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let file = std::fs::OpenOptions::new().write(true).open(path.join("trials.jsonl")).unwrap();
    file.set_len(8 << 30).unwrap();
    for error in [RunFolder::read(&path).unwrap_err(), RunFolder::resume(&path).unwrap_err()] {
        assert!(error.to_string().contains("line 4: this line is longer than any trial's"), "{error}");
    }
    assert_eq!(file.metadata().unwrap().len(), 8 << 30, "nothing is cut");
    let file = std::fs::File::create(path.join("additions.jsonl")).unwrap();
    file.set_len(8 << 30).unwrap();
    for error in [RunFolder::read(&path).unwrap_err(), RunFolder::resume(&path).unwrap_err()] {
        let said = "additions.jsonl, line 1: there is more than any plan has added: the file is damaged";
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(file.metadata().unwrap().len(), 8 << 30, "nothing is cut");
}

#[test]
fn a_run_folder_is_held_by_one_writer_and_has_its_files() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(1), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &launcher, None);
    assert!(matches!(RunFolder::resume(folder.path()), Err(LabError::Busy { .. })));
    let path = folder.path().to_owned();
    for file in ["plan.toml", "environment.json", "trials.jsonl", "histograms/b01-c01.hlog"] {
        assert!(path.join(file).is_file(), "{file}");
    }
    assert!(matches!(RunFolder::read(runs.path()), Err(LabError::NotARun { .. })));
    let names: Vec<_> = std::fs::read_dir(runs.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["run"], "nothing unfinished is left");
}

#[test]
fn the_same_record_gives_the_same_analysis_to_the_bit() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(6), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, None);
    let read = RunFolder::read(folder.path()).unwrap();
    let text = |trials: &[model::TrialRecord]| {
        serde_json::to_string(&judge::analyse(&read.plan, &read.environment, trials)).unwrap()
    };
    assert_eq!(text(&end.trials), text(&read.trials), "also after a way through the disk");
}

#[test]
fn a_record_that_somebody_changes_in_place_is_not_what_was_written() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &launcher, Some(3));
    folder.verify().unwrap();
    let (path, file) = (folder.path().to_owned(), folder.path().join("trials.jsonl"));
    drop(folder);
    let (mut folder, _) = RunFolder::resume(&path).unwrap();
    conduct(&plan, &mut folder, &launcher, None);
    folder.verify().unwrap();
    let written = std::fs::read(&file).unwrap();
    let changed: Vec<u8> = written.iter().map(|byte| if *byte == b'1' { b'2' } else { *byte }).collect();
    std::fs::write(&file, &changed).unwrap();
    assert_ne!(changed, written);
    let said = folder.verify().unwrap_err().to_string();
    assert!(said.contains("somebody changed what was written to it during the run"), "{said}");
}

/// What somebody does to a file.
type Damage = fn(&Path);

/// Each with its name, and what is said of the file.
const DAMAGE: [(&str, Damage, &str); 4] = [
    (
        "cut",
        |file| File::options().write(true).open(file).unwrap().set_len(5).unwrap(),
        "changed it (it has 5 bytes, not ",
    ),
    ("replaced", |file| replace(file), "somebody replaced it during the run"),
    ("removed", |file| std::fs::remove_file(file).unwrap(), "somebody removed or moved it during the run"),
    ("renamed", |file| std::fs::rename(file, aside(file)).unwrap(), "somebody removed or moved it during the run"),
];

fn aside(file: &Path) -> PathBuf {
    file.with_extension("bak")
}

fn replace(file: &Path) {
    std::fs::rename(file, aside(file)).unwrap();
    std::fs::copy(aside(file), file).unwrap();
}

/// When it happens, by the events that there have been.
type When = fn(&Event) -> bool;

/// Runs a plan in which somebody damages a file at the third event of a kind; gives what was said, and how many trials
/// had ended by then.
fn damaged(plan: &Plan, folder: &mut RunFolder, file: &str, damage: Damage, when: When) -> (String, usize) {
    let path = folder.path().join(file);
    let (mut ended, mut happened) = (0, 0);
    let launcher = FakeLauncher::default();
    let on_event = &mut |event: &Event| {
        ended += usize::from(matches!(event, Event::TrialEnded { .. }));
        happened += usize::from(when(event));
        if when(event) && happened == 3 {
            damage(&path);
        }
    };
    let end = conduct_telling(plan, folder, (&launcher, &load), &AtomicBool::new(false), on_event);
    (end.unwrap_err().to_string(), ended)
}

#[test]
fn whatever_of_the_record_somebody_cuts_replaces_or_removes_during_a_run_ends_it_before_the_next_launch() {
    let plan = plan(2);
    for file in ["plan.toml", "environment.json", "events.jsonl", "trials.jsonl"] {
        for (how, damage, words) in DAMAGE {
            let runs = tempfile::tempdir().unwrap();
            let mut folder = create(runs.path(), &plan);
            let after: When = |event| matches!(event, Event::TrialEnded { .. });
            let (said, ended) = damaged(&plan, &mut folder, file, damage, after);
            assert!(said.contains(file) && said.contains(words), "{file} {how}: {said}");
            assert_eq!(ended, 3, "{file} {how}: what could no longer be recorded is not measured");
            // At the end of a run nothing is launched any more.
            assert!(folder.verify().unwrap_err().to_string().contains(words), "{file} {how}");
        }
    }
}

#[test]
fn what_is_added_to_a_plan_is_watched_as_the_plan_is() {
    let runs = tempfile::tempdir().unwrap();
    let mut folder = create(runs.path(), &plan(1));
    let added = |connections| Addition::Cell { cell: Box::new(cell("a", connections)), why: Purpose::Rate };
    folder.add(&added(7)).unwrap();
    folder.add(&added(8)).unwrap();
    folder.verify().unwrap();
    let path = folder.path().to_owned();
    drop(folder);
    let (mut folder, record) = RunFolder::resume(&path).unwrap();
    assert_eq!(record.plan.added.len(), 2);
    std::fs::remove_file(path.join("additions.jsonl")).unwrap();
    let said = folder.add(&added(9)).unwrap_err().to_string();
    assert!(said.contains("additions.jsonl: somebody removed or moved it during the run"), "{said}");
    assert!(!path.join("additions.jsonl").exists(), "one that lacks what was added before is not begun");
    assert!(folder.check().is_err());
}

#[test]
fn a_trial_whose_events_cannot_be_written_is_recorded_and_the_run_ends_after_it() {
    let runs = tempfile::tempdir().unwrap();
    let plan = plan(2);
    let mut folder = create(runs.path(), &plan);
    let under_load: When = |event| matches!(event, Event::Second { .. });
    let remove: Damage = |file| std::fs::remove_file(file).unwrap();
    let (said, ended) = damaged(&plan, &mut folder, "events.jsonl", remove, under_load);
    assert!(said.contains("events.jsonl: somebody removed or moved it during the run"), "{said}");
    let trials = RunFolder::read(folder.path()).unwrap().trials;
    assert_eq!(trials.len(), ended, "the trial under way is recorded");
    assert!(ended > 0 && !folder.path().join("events.jsonl").exists(), "and no other is begun in its place");
}

#[test]
fn a_run_folder_that_is_moved_away_is_not_begun_anew() {
    let runs = tempfile::tempdir().unwrap();
    let plan = plan(2);
    let mut folder = create(runs.path(), &plan);
    let begun: When = |event| matches!(event, Event::TrialStarted { .. });
    let away: Damage = |file| std::fs::rename(file.parent().unwrap(), aside(file.parent().unwrap())).unwrap();
    let path = folder.path().to_owned();
    let (said, ended) = damaged(&plan, &mut folder, "trials.jsonl", away, begun);
    assert!(said.contains("trials.jsonl: somebody removed or moved it during the run"), "{said}");
    assert!(!path.exists(), "nothing is left in its place");
    assert_eq!(RunFolder::read(&aside(&path)).unwrap().trials.len(), ended);
}

#[test]
fn a_record_that_somebody_cuts_or_removes_during_a_run_is_not_written_on() {
    let plan = plan(1);
    for (how, damage, words) in DAMAGE {
        let runs = tempfile::tempdir().unwrap();
        let mut folder = create(runs.path(), &plan);
        let made = conduct(&plan, &mut folder, &FakeLauncher::default(), None).trials;
        let file = folder.path().join("trials.jsonl");
        let whole = std::fs::read(&file).unwrap();
        damage(&file);
        let said = folder.append(&made[0]).unwrap_err().to_string();
        assert!(said.contains(words), "{how}: {said}");
        let said = folder.keep(&made[0].id, &Kept::default()).unwrap_err().to_string();
        assert!(said.contains(words), "{how}: nothing is kept beside it either: {said}");
        let there = std::fs::read(&file).unwrap_or_default();
        assert!(whole.starts_with(&there), "{how}: nothing is written behind a hole");
    }
}

#[test]
fn a_launch_made_anew_keeps_nothing_of_the_one_before() {
    let runs = tempfile::tempdir().unwrap();
    let mut folder = create(runs.path(), &plan(1));
    let first = Kept { profile: b"of the first".to_vec(), ..Kept::default() };
    folder.keep("b000-s001", &first).unwrap();
    let profile = folder.path().join("profiles/b000-s001.pb.gz");
    assert!(profile.exists());
    folder.keep("b000-s001", &Kept::default()).unwrap();
    assert!(!profile.exists());
}

#[test]
fn a_link_that_leads_nowhere_is_refused_and_not_followed() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    for file in ["plan.toml", "trials.jsonl", "events.jsonl", "additions.jsonl"] {
        let (file, elsewhere) = (path.join(file), runs.path().join("elsewhere"));
        let there = file.exists();
        if there {
            std::fs::rename(&file, aside(&file)).unwrap();
        }
        symlink(&elsewhere, &file).unwrap();
        let said = RunFolder::resume(&path).unwrap_err().to_string();
        let expected =
            format!("{} is a symbolic link to nothing; remove it, or restore what it led to", file.display());
        assert_eq!(said, expected);
        assert!(!elsewhere.exists(), "nothing is made there");
        std::fs::remove_file(&file).unwrap();
        if there {
            std::fs::rename(aside(&file), &file).unwrap();
        }
    }
    RunFolder::resume(&path).unwrap();
}

#[test]
fn a_folder_that_is_made_for_runs_is_left_out_by_git_and_one_that_was_there_is_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let runs = place.path().join("runs");
    create(&runs, &plan(1));
    assert_eq!(std::fs::read_to_string(runs.join(".gitignore")).unwrap(), "*\n");
    std::fs::remove_file(runs.join(".gitignore")).unwrap();
    create(&runs, &plan(1));
    assert!(!runs.join(".gitignore").exists());
}
