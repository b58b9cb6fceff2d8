//! Synthetic records are what real ones are: they have the same fields, and pass the same checks.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, simulate, simulate_rotation};
use engine::{RunOptions, SliceSpec, Sliced};
use serde_json::{Value, to_value};

use super::*;
use crate::trial::check_trial;

/// The kinds of records: of an open load or a closed one, alone or in slices.
const KINDS: [Kind; 4] = [
    Kind { is_open: false, is_sliced: true },
    Kind { is_open: true, is_sliced: true },
    Kind { is_open: false, is_sliced: false },
    Kind { is_open: true, is_sliced: false },
];

#[derive(Debug, Clone, Copy)]
struct Kind {
    is_open: bool,
    is_sliced: bool,
}

const CONNECTIONS: u32 = 10;
const ROUNDS: u32 = 12;

/// A record of this kind with so many replies a second, as tests make it.
fn made(kind: Kind, per_s: f64) -> (CellPlan, TrialRecord) {
    let session = Session::new().delayed("a", CONNECTIONS, 0, per_s).noise(0.0).blocks(1);
    let (mut cell, mut trial) = (session.draft().cells.remove(0), session.records().remove(0));
    if kind.is_sliced {
        cut(&mut trial, ROUNDS);
    }
    if kind.is_open {
        open(&mut cell, &mut trial, per_s);
    }
    (cell, trial)
}

/// Records that bourdon made, in the order of [`KINDS`]: see the page beside them.
fn recorded() -> Vec<TrialRecord> {
    let lines = include_str!("../../tests/recorded/trials.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("it is a trial")).collect()
}

/// The fields of a document that are there, those of all entries of a list together. What a cell is called is its own.
fn fields(document: serde_json::Result<Value>) -> BTreeSet<String> {
    fn add(path: &str, value: &Value, all: &mut BTreeSet<String>) {
        match value {
            Value::Null => {}
            Value::Array(values) => values.iter().for_each(|value| add(&format!("{path}[]"), value, all)),
            Value::Object(fields) => {
                fields.iter().filter(|(name, _)| *name != "where").for_each(|(name, value)| {
                    add(&format!("{path}.{name}"), value, all);
                });
            }
            _ => {
                all.insert(path.to_owned());
            }
        }
    }
    let mut all = BTreeSet::new();
    add("", &document.expect("it can be written"), &mut all);
    all
}

#[track_caller]
fn assert_same_fields(real: &BTreeSet<String>, made: &BTreeSet<String>, what: &str) {
    let lacks: Vec<&String> = real.difference(made).collect();
    let invents: Vec<&String> = made.difference(real).collect();
    assert!(lacks.is_empty() && invents.is_empty(), "{what}: lacks {lacks:?}, invents {invents:?}");
}

/// What only a load has whose generator stood still or sent requests late, as on any machine that does something else, too.
const OF_A_BUSY_MACHINE: [&str; 2] = [".measurement.standstills", ".measurement.accounting.sent_late"];

#[test]
fn a_record_has_the_fields_of_one_that_bourdon_recorded() {
    let recorded = recorded();
    assert_eq!(recorded.len(), KINDS.len());
    for (kind, real) in KINDS.into_iter().zip(recorded) {
        let measured = real.measurement.as_ref().expect("it was measured");
        assert_eq!((measured.latency_us.response.is_some(), !real.slices.is_empty()), (kind.is_open, kind.is_sliced));
        // As many, for as many quantiles.
        let (_, made) = made(kind, measured.in_window.completed as f64 / 10.0);
        let mut of_real = fields(to_value(&real));
        of_real.retain(|field| !OF_A_BUSY_MACHINE.iter().any(|busy| field.starts_with(busy)));
        assert_same_fields(&of_real, &fields(to_value(&made)), &format!("{kind:?}"));
    }
}

/// What the engine measures in virtual time, which knows no CPU time.
fn simulated(kind: Kind, per_s: f64) -> (Measurement, Vec<Slice>) {
    let mut load = cell_plan("a", &[], CONNECTIONS, 0).load;
    if kind.is_open {
        load.model = LoadModel::Open { rate_per_s: per_s, arrivals: Arrivals::Constant };
    }
    let spec = load_spec(load);
    let service_ns = f64::from(CONNECTIONS) / per_s * NS_PER_S as f64;
    let server = SimulatedServer { connect_ns: 60_000, ..SimulatedServer::new(service_ns as u64, "hi") };
    let (mut measured, slices) = if kind.is_sliced {
        rotated(spec, server)
    } else {
        (simulate(&spec, server, RunOptions::default(), &mut |_| {}).unwrap().measurement, Vec::new())
    };
    measured.generator.threads.iter_mut().for_each(|thread| thread.run_delay_s = Some(0.0));
    (measured, slices)
}

/// A second of warm-up, and as many slices as make a window of 10 s.
fn rotated(spec: LoadSpec, server: SimulatedServer) -> (Measurement, Vec<Slice>) {
    let mut slices = Vec::new();
    let mut next = |last: Option<Sliced>| {
        slices.extend(last.map(|last| Slice { round: slices.len() as u32, ..last.figures }));
        let (round, slice_ns) = (slices.len() as u32, 10 * NS_PER_S / u64::from(ROUNDS));
        let [lead_in_ns, window_ns] = if round == 0 { [0, NS_PER_S] } else { [slice_ns / 10, slice_ns] };
        let spec = SliceSpec { server: 0, counts: round > 0, lead_in_ns, window_ns, seed: round.into() };
        (round <= ROUNDS).then_some(spec)
    };
    let stop = AtomicBool::new(false);
    let whole = simulate_rotation(&[spec], vec![server], RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
    (whole.into_iter().flatten().next().expect("it had slices").measurement, slices)
}

#[test]
fn a_record_has_the_fields_that_the_engine_measures() {
    for kind in KINDS {
        let ((real, slices), (_, made)) = (simulated(kind, 1_000.0), made(kind, 1_000.0));
        assert_same_fields(&fields(to_value(&real)), &fields(to_value(&made.measurement)), &format!("{kind:?}"));
        let of_made = fields(to_value(&made.slices));
        let lacks: Vec<String> =
            fields(to_value(&slices)).into_iter().filter(|field| !of_made.contains(field)).collect();
        assert!(lacks.is_empty(), "{kind:?}: slices lack {lacks:?}");
    }
}

/// What of a record must come to what: counts to the same counts, times to the same times.
#[track_caller]
fn assert_adds_up(trial: &TrialRecord, what: &str) {
    let measured = trial.measurement.as_ref().expect("it was measured");
    let (books, window) = (&measured.accounting, &measured.in_window);
    assert_eq!(trial.fault(), None, "{what}");
    assert_eq!(window.halves.iter().map(|half| half.completed).sum::<u64>(), window.completed, "{what}: halves");
    let steps = || measured.steps.iter().filter(|step| step.at_s >= 0.0);
    assert_eq!(steps().map(|step| step.completed).sum::<u64>(), window.completed, "{what}: steps");
    assert_eq!(steps().map(|step| step.ok).sum::<u64>(), window.ok, "{what}: steps that are ok");
    let lasted_s: f64 = steps().map(|step| step.length_s).sum();
    assert!((lasted_s - measured.window_s).abs() < 0.05 * measured.window_s, "{what}: {lasted_s} s of steps");
    let populations = [
        (&measured.latency_us.response, Members::Due, books.scheduled),
        (&measured.latency_us.service, Members::Sent, books.sent),
        (&measured.latency_us.lateness, Members::DueAndSent, books.sent),
        (&measured.latency_us.first_byte, Members::Completed, books.completed),
    ];
    for (latency, population, count) in populations {
        let Some(latency) = latency else { continue };
        assert_eq!((latency.population, latency.count), (population, count), "{what}");
        assert_supported(latency, what);
    }
    measured.latency_us.connect.iter().for_each(|connect| assert_supported(connect, what));
    let felt = measured.latency_us.felt().expect("it had replies");
    let slowest_us = measured.slowest_reply_s.expect("it had replies") * 1e6;
    assert!(slowest_us * 1.001 >= felt.max.unwrap(), "{what}: {slowest_us}");
    let seen = trial.observation.as_ref().expect("it was seen");
    assert!(seen.seconds.len() == steps().count(), "{what}: as many were seen as measured");
    assert!(trial.ended_at.is_some_and(|ended_at| ended_at > trial.started_at), "{what}");
    if !trial.slices.is_empty() {
        let told = crate::slices::felt(measured, &trial.slices, |_| true).expect("each slice tells what was felt");
        let whole = Metric::P99.of(felt).expect("it is known");
        assert!((told[&Metric::P99] - whole).abs() <= 0.002 * whole, "{what}: {told:?}, {felt:?}");
    }
}

/// A quantile is there if enough are in the distribution, and only then.
#[track_caller]
fn assert_supported(latency: &LatencySummary, what: &str) {
    for ((q, needed), (name, value)) in REQUIRED_SAMPLES.into_iter().zip(latency.quantiles()) {
        assert_eq!(value.is_some(), latency.count >= needed && !latency.is_lost(q), "{what}: {name} of {latency:?}");
    }
}

#[test]
fn what_bourdon_recorded_adds_up() {
    for (kind, trial) in KINDS.into_iter().zip(recorded()) {
        assert_adds_up(&trial, &format!("{kind:?}"));
    }
}

/// At rates of which some have a quantile less than others, and an odd number of replies.
#[test]
fn every_record_adds_up_and_is_valid_without_a_mark() {
    for kind in KINDS {
        for per_s in [200.1, 1_000.1, 9_200.0, 100_000.0] {
            let (cell, mut trial) = made(kind, per_s);
            let what = format!("{kind:?}, {per_s}");
            assert_adds_up(&trial, &what);
            let judgement = check_trial(&cell, None, &trial);
            assert!(judgement.checks.iter().all(|check| check.holds), "{what}: {:?}", judgement.checks);
            assert_eq!((judgement.void, judgement.marks), (None, vec![]), "{what}");
            assert_eq!(judgement.went.map(|went| went.course), Some(Course::Flat), "{what}");
            wrong_replies(&mut trial, 3);
            assert_adds_up(&trial, &what);
            let broken = |check: &InvariantCheck| (!check.holds).then_some(check.invariant);
            let judgement = check_trial(&cell, None, &trial);
            assert_eq!(
                judgement.checks.iter().filter_map(broken).collect::<Vec<_>>(),
                [Invariant::Correctness],
                "{what}"
            );
        }
    }
}

#[test]
fn a_session_adds_up() {
    let session = Session::new().cell("a", 1_000.0).cell("b", 333.3).twin().noise(0.1).block_noise(0.1).drift(0.2);
    let mut trials = session.records();
    trials.iter().for_each(|trial| assert_adds_up(trial, &trial.id));
    for pair in trials.windows(2) {
        assert!(pair[0].ended_at <= Some(pair[1].started_at), "one launch follows the other");
    }
    for trial in &mut trials {
        cut(trial, 12);
        let replies = trial.measurement.as_ref().unwrap().accounting.completed;
        // As many in all as before.
        feel(trial, |round| {
            (0..replies).filter(|at| at % 12 + 1 == u64::from(round)).map(|at| 500.0 + at as f64).collect()
        });
        assert_adds_up(trial, &trial.id);
    }
    fail_at_launch(&mut trials[0]);
    die(&mut trials[1]);
    assert!(trials[..2].iter().all(|trial| trial.fault().is_none() && trial.ended_at.is_some()));
}
