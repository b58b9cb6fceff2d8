//! What a trial takes does not depend on how long it is. Alone in its program: memory is the whole program's.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "session/fakes.rs"]
#[allow(dead_code, reason = "the session's tests use the rest")]
mod fakes;

use std::sync::atomic::AtomicBool;

use engine::{LoadError, LoadOutput, Passed, RunOptions};
use judge::RunPlanner;
use lab::{Prepared, Session, TrialTools};
use model::{EncodedHistogram, Extent, Interval, LoadSecond, LoadSpec, NS_PER_S};

use fakes::{FakeLauncher, create, draft};

/// Bytes of a second's histogram in its encoded form, of which a load has up to four.
const ENCODED: usize = 3_000;

/// A load that is over at once and tells of as many seconds as it has; it says how much memory the program had in each.
fn told(spec: &LoadSpec, progress: &mut dyn FnMut(&Passed), resident: &mut Vec<u64>) -> Result<LoadOutput, LoadError> {
    let mut short = spec.clone();
    short.load.extent = Extent::Window(NS_PER_S);
    let output = fakes::load(&short, RunOptions::default(), &AtomicBool::new(false), &mut |_| ())?;
    let tags = ["service", "first-byte", "response", "lateness"];
    let histogram = |tag: &str| EncodedHistogram { tag: tag.to_owned(), max: 1, data: "A".repeat(ENCODED) };
    for at in 0..spec.window_ns() / NS_PER_S {
        let interval = Interval { at_s: at as f64, length_s: 1.0, completed: 1, ..Interval::default() };
        let second = LoadSecond { interval, drain: false, histograms: tags.map(histogram).to_vec() };
        progress(&Passed { window_start_ns: output.window_start_ns, second });
        resident.push(resident_bytes());
    }
    Ok(output)
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn an_hours_trial_takes_no_more_memory_than_a_minutes() {
    let runs = tempfile::tempdir().unwrap();
    let mut draft = draft(1);
    draft.cells.truncate(1);
    draft.cells[0].load.extent = Extent::Window(3_600 * NS_PER_S);
    let plan = draft.resolve().unwrap();
    let resident = std::cell::RefCell::new(Vec::new());
    let load = |spec: &LoadSpec, _: RunOptions, _: &AtomicBool, progress: &mut dyn FnMut(&Passed)| {
        told(spec, progress, &mut resident.borrow_mut())
    };
    let (launcher, prepared, mut folder) = (FakeLauncher::default(), Prepared::default(), create(runs.path(), &plan));
    let tools = TrialTools { launcher: &launcher, load: &load, prepared: &prepared, perf: &launcher.perf };
    let session = Session { plan: plan.clone(), folder: &mut folder, done: vec![], tools, keep_going: false };
    session.run(&mut RunPlanner::new(&plan), &AtomicBool::new(false), &mut |_| ()).unwrap();
    let resident = resident.into_inner();
    let (minute, hour) = (resident[..60].iter().max().unwrap(), resident.iter().max().unwrap());
    let told = (3_600 * 4 * ENCODED) as u64;
    eprintln!("{} KiB after a minute, {} KiB after an hour, {} KiB told", minute >> 10, hour >> 10, told >> 10);
    assert!(hour - minute < 256 * 1024, "{} KiB more than after a minute", (hour - minute) >> 10);
    let written = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().len();
    assert!(written("events.jsonl") > told && written("histograms/b01-c01.hlog") > told, "it is all there");
}
