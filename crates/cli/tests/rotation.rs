//! Real processes that are alive together, while a real load goes round among them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use lab::{Perf, Prepared, ProcessLauncher, RunFolder, RunRecord, Session, SessionEnd, TrialTools};
use model::{Done, Event, Next, Planner, Together, TrialRecord, TrialSpec, TrialStage, Turn};
use run_support::{Lab, wait_until};
use rustix::process::{Pid, Signal, kill_process};

const MS: u64 = 1_000_000;

/// Asks once for two launches of the first cell and one of the second, in so many rounds.
struct Once {
    rounds: u32,
    recorded: usize,
}

fn trials() -> Vec<TrialSpec> {
    let of = |(position, cell, twin)| TrialSpec { block: 1, position, cell, twin };
    [(1, 0, false), (2, 1, false), (3, 0, true)].map(of).to_vec()
}

impl Planner for Once {
    fn take(&mut self, _: &TrialRecord) {
        self.recorded += 1;
    }

    fn next(&mut self) -> Next {
        if self.recorded > 0 {
            return Next::Done(Done::Planned { blocks: 1, aside: 0 });
        }
        let turn = |round: u32, launch: usize| Turn {
            launch,
            round,
            lead_in_ns: if round == 0 { 0 } else { 20 * MS },
            window_ns: if round == 0 { 200 * MS } else { 100 * MS },
            seed: u64::from(round),
        };
        let turns = (0..=self.rounds).flat_map(|round| (0..3).map(move |launch| turn(round, launch))).collect();
        Next::Rotate(Together { trials: trials(), turns })
    }

    fn expected_trials(&self) -> usize {
        3
    }
}

/// The plan of a clean specimen beside another target, which is a command.
fn recorded(lab: &Lab) -> RunRecord {
    lab.run(&[]);
    RunFolder::read(lab.record().path()).unwrap()
}

/// Carries it out in so many rounds, and calls `on_second` with the number of each second that is told, from 1.
fn rotated(record: &RunRecord, runs: &Lab, rounds: u32, mut on_second: impl FnMut(u32)) -> SessionEnd {
    let launcher = ProcessLauncher::new(PathBuf::from(env!("CARGO_BIN_EXE_bourdon")));
    let (prepared, perf) = (Prepared::default(), Perf::default());
    let tools = TrialTools {
        launcher: &launcher,
        load: &engine::run,
        rotate: &engine::rotate,
        prepared: &prepared,
        perf: &perf,
    };
    let mut folder = RunFolder::create(&runs.path().join("rotated"), "run", &record.plan, &record.environment).unwrap();
    let session = Session { plan: record.plan.clone(), folder: &mut folder, done: vec![], tools, keep_going: true };
    let (mut planner, mut seconds) = (Once { rounds, recorded: 0 }, 0);
    let on_event = &mut |event: &Event| {
        if let Event::Second { .. } = event {
            seconds += 1;
            on_second(seconds);
        }
    };
    let end = session.run(&mut planner, &AtomicBool::new(false), on_event).unwrap();
    folder.verify().unwrap();
    assert_eq!(RunFolder::read(folder.path()).unwrap().trials, end.trials, "what is written is read");
    wait_until("the end of who guarded them", || reapers(runs).is_empty().then_some(()));
    end
}

/// Who guards the targets of a lab, in the order in which they were launched.
fn reapers(lab: &Lab) -> Vec<u32> {
    let here = lab.path().canonicalize().unwrap();
    let is = |path: &Path| {
        let called = std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm == "reaper\n");
        called && std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == here)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(|path| is(path));
    let mut reapers: Vec<u32> = processes.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect();
    reapers.sort_unstable();
    reapers
}

fn beside(target: &str) -> Lab {
    Lab::new().experiment(format!(
        "question = \"Do they take turns?\"\n\
         load = {{ path = \"/rest/hello\", expect_body = \"Hello world\", connections = 4 }}\n\
         trials = {{ warm_up = \"10ms\", window = \"50ms\", blocks = 1 }}\n\
         [[target]]\nname = \"other\"\nready = \"/ping\"\n{target}\n[vary]\ntarget = [\"specimen:clean\", \"other\"]\n"
    ))
}

#[test]
fn processes_take_turns_and_nothing_is_in_flight_between_two() {
    let lab = beside("run = '$BOURDON specimen clean'");
    let end = rotated(&recorded(&lab), &lab, 4, |_| ());
    assert_eq!(end.trials.len(), 3);
    for trial in &end.trials {
        assert_eq!((trial.failure.as_ref(), trial.slices.len()), (None, 5));
        let (measured, seen) = (trial.measurement.as_ref().unwrap(), trial.observation.as_ref().unwrap());
        // The warm-up opened them, and no slice any other.
        assert_eq!((measured.connections.kept, measured.connections.opened, measured.accounting.failures()), (0, 4, 0));
        assert!(measured.accounting.imbalance().is_none() && (measured.window_s - 0.4).abs() < 1e-3, "{measured:?}");
        assert!(seen.by_clock && seen.cpu_s() > 0.0 && seen.peak_memory_bytes > 0 && seen.host.others_share < 1.0);
        for slice in &trial.slices {
            assert!(slice.completed > 0 && slice.failed + slice.not_drained == 0, "{slice:?}");
            assert!(slice.cpu_s > 0.0 && slice.cpu_s < 4.0 * slice.length_s + 0.1, "{slice:?}");
        }
    }
    let mut turns: Vec<(f64, f64)> =
        end.trials.iter().flat_map(|trial| trial.slices.iter().map(|slice| (slice.at_s, slice.length_s))).collect();
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(turns.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{turns:?}");
    lab.nothing_is_left();
}

#[test]
fn a_process_that_dies_in_the_middle_ends_its_own_turns_alone() {
    // It is ended by another, as a container's limits do, a second and a half after its start.
    let lab = beside("run = 'timeout 1.5 $BOURDON specimen clean'");
    let end = rotated(&recorded(&lab), &lab, 16, |_| ());
    let [first, mortal, twin] = &end.trials[..] else { panic!("{:?}", end.trials) };
    for well in [first, twin] {
        assert_eq!((well.failure.as_ref(), well.slices.len()), (None, 17));
        assert_eq!(well.measurement.as_ref().unwrap().accounting.failures(), 0);
    }
    let failure = mortal.failure.as_ref().unwrap();
    assert_eq!(failure.stage, TrialStage::Died, "{failure:?}");
    assert!((2..17).contains(&mortal.slices.len()), "{:?}", mortal.slices);
    assert!(mortal.measurement.as_ref().unwrap().in_window.ok > 0);
    lab.nothing_is_left();
}

#[test]
fn who_loses_its_guard_says_nothing_and_the_others_take_their_turns() {
    for signal in [Signal::KILL, Signal::STOP] {
        let lab = beside("run = '$BOURDON specimen clean'");
        let end = rotated(&recorded(&lab), &lab, 4, |second| {
            if second == 10 {
                let reaper = reapers(&lab)[1];
                kill_process(Pid::from_raw(reaper as i32).unwrap(), signal).unwrap();
            }
        });
        for (launch, trial) in end.trials.iter().enumerate() {
            let is_lost = (launch, signal) == (1, Signal::KILL);
            let stage = trial.failure.as_ref().map(|failure| failure.stage);
            assert_eq!(stage, is_lost.then_some(TrialStage::Unguarded), "{:?}", trial.failure);
            assert_eq!((trial.measurement.is_some(), trial.slices.len()), (!is_lost, if is_lost { 0 } else { 5 }));
        }
        lab.nothing_is_left();
    }
}
