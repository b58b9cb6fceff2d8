//! What is recorded survives kills, power cuts, files that cannot be opened and disks that are full. The ordinary tests
//! try a little of each; `make survival` tries it as often as a promise needs, and says what it counted.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod disk;
mod run_support;

use std::path::Path;

use disk::Disk;
use engine::MonotonicClock;
use model::Clock;
use run_support::{FILE, Lab, Record, Started, short, wait_until};
use rustix::process::Signal;

const MS: u64 = 1_000_000;

/// Blocks of a run that is killed again and again, and its cells.
const BLOCKS: u64 = 12;
const CELLS: u64 = 4;

/// Lets some time pass, unless it ends before.
fn pass(running: &mut Started, ns: u64) {
    let until_ns = MonotonicClock.now_ns() + ns;
    wait_until("a moment", || (MonotonicClock.now_ns() > until_ns || running.ended().is_some()).then_some(()));
}

/// A moment of a run: of its beginning, of its first trial, or of a later one.
fn a_moment_ns(random: &mut fastrand::Rng) -> u64 {
    let within_ms = [100, 600, 2_000][random.usize(..3)];
    random.u64(0..within_ms * MS)
}

/// The whole lines of a file.
fn whole(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

/// Asserts that no launch was recorded twice.
#[track_caller]
fn nothing_twice(record: &Record) {
    let mut ids: Vec<String> = record.launches().iter().map(|trial| trial["id"].to_string()).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "{}: a launch is recorded twice", record.name());
}

/// Kills a run at random moments and resumes it, until it was killed so often; then lets it end.
fn killed(lab: &Lab, times: u32, random: &mut fastrand::Rng) -> usize {
    let blocks = BLOCKS.to_string();
    let (mut kills, mut trials) = (0, 0);
    while kills < times {
        let before = lab.records().len();
        let mut kept = String::new();
        loop {
            let record = lab.records().into_iter().nth(before);
            let mut running = match &record {
                Some(record) => lab.start(&["run", "--resume", record.name()]),
                None => lab.start(&["run", FILE, "--blocks", &blocks]),
            };
            if kills == times && record.is_some() {
                running.end().answers();
            } else {
                pass(&mut running, a_moment_ns(random));
                kills += u32::from(running.kill_or_end().status.is_none());
            }
            lab.nothing_is_left();
            let Some(record) = lab.records().into_iter().nth(before) else { continue };
            let now = record.text("trials.jsonl");
            assert!(now.starts_with(&kept), "{}: a record was lost or changed", record.name());
            whole(&now).clone_into(&mut kept);
            if record.lines() as u64 == BLOCKS * (CELLS + 1) {
                break;
            }
            if random.u8(..5) == 0 {
                tear(&record);
            }
        }
        let record = lab.records().into_iter().nth(before).unwrap();
        record.is_whole(BLOCKS, CELLS);
        nothing_twice(&record);
        trials += record.lines();
    }
    let left = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".unfinished");
    lab.run(&["--blocks", "1"]).answers();
    assert!(!std::fs::read_dir(lab.path().join("runs")).unwrap().any(|entry| left(entry.unwrap())), "left behind");
    trials
}

/// Ends the record as a kill does in the middle of a write.
fn tear(record: &Record) {
    let torn = record.text("trials.jsonl") + "{\"schema\":\"bourdon.trial/1\",\"id\":\"b0";
    std::fs::write(record.path().join("trials.jsonl"), torn).unwrap();
}

#[test]
fn killed_at_any_moment_it_is_resumed_without_losing_or_doubling_a_trial() {
    let lab = Lab::new().experiment(short(2));
    killed(&lab, 12, &mut fastrand::Rng::with_seed(20_161_120));
    let records = lab.records();
    let (killed, whole) = (&records[0], &records[records.len() - 1]);
    assert_eq!(killed.order()[..4], whole.order()[..], "the order is that of a run nobody killed");
}

#[test]
#[ignore = "some minutes: make survival"]
fn two_hundred_kills() {
    let lab = Lab::new().experiment(short(2));
    let trials = killed(&lab, 200, &mut fastrand::Rng::with_seed(20_261_122));
    println!("200 kills, {trials} trials recorded: 0 lost, 0 doubled, 0 cut");
}

/// What a power cut must have left of a run: all that was said to be recorded, and nothing that is not whole.
fn survived(live: &Record, cut: &Path) -> usize {
    let name = live.path().file_name().unwrap();
    let cut = Record::new(cut.join("runs").join(name));
    let lines = live.lines();
    let launched = live.files_in("stderr");
    if !cut.path().exists() {
        assert_eq!((lines, launched), (0, 0), "the folder of a run that had begun is gone");
        return 0;
    }
    for file in ["plan.toml", "environment.json"] {
        assert_eq!(cut.text(file), live.text(file), "{file}");
    }
    // A launch begins only once the record before it is on disk.
    let promised = if launched > lines { lines } else { lines.saturating_sub(1) };
    assert!(cut.lines() >= promised, "{} of {promised} records are left", cut.lines());
    let text = cut.text("trials.jsonl");
    assert!(live.text("trials.jsonl").starts_with(whole(&text)), "a record was changed");
    let told = cut.text("events.jsonl");
    for trial in cut.launches() {
        let id = trial["id"].as_str().unwrap();
        assert!(told.contains(&format!("\"id\":\"{id}\"")), "{id} is recorded, and what was told of it is gone");
        for file in [format!("histograms/{id}.hlog"), format!("samples/{id}.csv"), format!("stderr/{id}.log")] {
            assert_eq!(cut.text(&file), live.text(&file), "{file} of a recorded trial");
        }
    }
    cut.lines()
}

/// Cuts the power of the disk that a run is recorded on, so often; none where no disk can be made here.
fn power_cuts(times: u32, seed: u64) -> Option<usize> {
    let lab = Lab::new().experiment(short(2));
    let disk = Disk::new()?;
    let runs = disk.path().join("runs");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trials = 0;
    let begin = || lab.start(&["run", FILE, "--blocks", "100", "--runs", runs.to_str().unwrap()]);
    let mut running = begin();
    for cut in 0..times {
        pass(&mut running, a_moment_ns(&mut random));
        running.signal(Signal::STOP);
        let image = disk.image();
        let live = lab.records_in(runs.to_str().unwrap());
        let after = Disk::of(&image);
        trials += live.iter().map(|record| survived(record, &after.path())).sum::<usize>();
        running.signal(Signal::CONT);
        if let Some(record) = lab.records_in(after.path().join("runs").to_str().unwrap()).pop() {
            lab.bourdon(&["report", record.name()]).answers();
            let before = record.text("trials.jsonl");
            let mut resumed = lab.start(&["run", "--resume", record.name()]);
            let more = whole(&before).lines().count() + 2;
            resumed.until("two more trials", || (record.lines() >= more).then_some(()));
            resumed.interrupt();
            resumed.end().exits(130);
            assert!(record.text("trials.jsonl").starts_with(whole(&before)));
            nothing_twice(&record);
        }
        // Every other cut falls into the beginning of a run.
        if cut % 2 == 1 {
            running.kill();
            running = begin();
        }
    }
    running.kill();
    lab.nothing_is_left();
    Some(trials)
}

#[test]
fn a_power_cut_loses_nothing_that_was_recorded() {
    power_cuts(3, 7);
}

#[test]
#[ignore = "a minute: make survival"]
fn twenty_power_cuts() {
    if let Some(trials) = power_cuts(20, 20_261_122) {
        println!("20 power cuts, {trials} recorded trials looked for after them: 0 lost, 0 doubled, 0 cut");
    }
}
