//! What a trial takes does not depend on how long it is. Alone in its program: memory is the whole program's.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "session/fakes.rs"]
#[allow(dead_code, reason = "the session's tests use the rest")]
mod fakes;

use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, simulate};
use engine::{Passed, RunOptions};
use model::{Arrivals, Event, Extent, LoadModel, LoadSpec, NS_PER_S};

use fakes::{FakeLauncher, MS, conduct_telling, create, draft};

const HOUR_S: u64 = 3_600;

/// Bytes by which the program may grow after the first minute, however long the trial is: what the allocator and the watchers,
/// who look in real time, come to.
const GROWTH: u64 = 400 << 10;

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// The engine makes the load, in virtual time, its collector tells of each second, and this process is watched as a target
/// is, in real time.
#[test]
fn an_hours_trial_takes_no_more_memory_than_a_minutes() {
    let runs = tempfile::tempdir().unwrap();
    let mut draft = draft(1);
    draft.cells.truncate(1);
    draft.cells[0].load.extent = Extent::Window(HOUR_S * NS_PER_S);
    // They queue, so that a second has latencies of many lengths.
    draft.cells[0].load.model = LoadModel::Open { rate_per_s: 50.0, arrivals: Arrivals::Poisson };
    let plan = draft.resolve().unwrap();
    let load = |spec: &LoadSpec, options: RunOptions, _: &AtomicBool, progress: &mut dyn FnMut(&Passed)| {
        let server = SimulatedServer { workers: 1, ..SimulatedServer::new(15 * MS, "hi") };
        simulate(spec, server, options, progress)
    };
    let launcher = FakeLauncher { admin: "127.0.0.1:1".parse().ok(), ..FakeLauncher::default() };
    let (mut folder, mut resident, mut told, mut ok) = (create(runs.path(), &plan), Vec::with_capacity(4_000), 0, 0);
    let end = conduct_telling(&plan, &mut folder, (&launcher, &load), &AtomicBool::new(false), &mut |event| {
        if let Event::Second { second, .. } = event {
            told += second.histograms.iter().map(|histogram| histogram.data.len() as u64).sum::<u64>();
            ok += if second.is_measured() && !second.drain { second.interval.ok } else { 0 };
            resident.push(resident_bytes());
        }
    });
    let trial = &end.unwrap().trials[0];
    let (measured, seen) = (trial.measurement.as_ref().unwrap(), trial.observation.as_ref().unwrap());
    assert_eq!((measured.in_window.ok, measured.steps.len()), (ok, 121));
    assert!(seen.samples > 0 && resident.len() as u64 > HOUR_S, "{} seconds, {} looks", resident.len(), seen.samples);
    let (minute, hour) = (resident[..60].iter().max().unwrap(), resident.iter().max().unwrap());
    eprintln!("{} KiB after a minute, {} KiB after an hour, {} KiB told", minute >> 10, hour >> 10, told >> 10);
    assert!(told > 4 * GROWTH, "who kept what was told would be seen: {} KiB", told >> 10);
    assert!(hour - minute < GROWTH, "{} KiB more than after a minute, of {} told", (hour - minute) >> 10, told >> 10);
    let written = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().len();
    assert!(written("events.jsonl") > told && written("histograms/b01-c01.hlog") > told / 2, "it is all there");
}
