//! What is on disk, whole and damaged.

use lab::{Kept, LabError, RunFolder};

use crate::fakes::{FakeLauncher, conduct, create, plan, stopped_after_three};

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
    assert!(said.contains("its lines are not those that were written"), "{said}");
}

#[test]
fn a_record_that_somebody_cuts_or_removes_during_a_run_ends_it() {
    let runs = tempfile::tempdir().unwrap();
    let plan = plan(1);
    let mut folder = create(runs.path(), &plan);
    let made = conduct(&plan, &mut folder, &FakeLauncher::default(), None).trials;
    let file = folder.path().join("trials.jsonl");
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(5).unwrap();
    let said = folder.append(&made[0]).unwrap_err().to_string();
    assert!(said.contains("somebody changed it during the run: it has 5 bytes, not "), "{said}");
    assert_eq!(std::fs::read(&file).unwrap().len(), 5, "nothing is written behind a hole");
    let aside = file.with_extension("bak");
    std::fs::rename(&file, &aside).unwrap();
    std::fs::copy(&aside, &file).unwrap();
    let said = folder.append(&made[0]).unwrap_err().to_string();
    assert!(said.contains("somebody replaced it during the run"), "{said}");
    let said = folder.keep(&made[0].id, &Kept::default()).unwrap_err().to_string();
    assert!(said.contains("somebody replaced it during the run"), "nothing is kept beside it either: {said}");
    std::fs::remove_file(&file).unwrap();
    let said = folder.append(&made[0]).unwrap_err().to_string();
    assert!(said.contains("somebody removed or moved it during the run"), "{said}");
}
