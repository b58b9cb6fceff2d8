//! What servers that serve nothing, or no more, are called.

use model::{Measurement, Silence};

use super::*;

#[test]
fn who_serves_nothing_is_not_better_for_what_it_did_not_need() {
    let seven = session(150.0, 100.0, 0.005).blocks(7);
    let nothing = |peak_memory_bytes| {
        altered(&seven, "peak_memory<+5%, throughput>-60%", &[1, 2, 3, 4, 5, 6, 7], |trial| {
            trial.measurement = Some(Measurement::default());
            trial.observation.as_mut().unwrap().peak_memory_bytes = peak_memory_bytes;
        })
    };
    let little = nothing(1_000);
    assert_eq!(row(&little, Metric::Throughput).verdict, ComparisonVerdict::Slower, "there is no ratio, and no doubt");
    let memory = row(&little, Metric::PeakMemory);
    assert_eq!((memory.verdict, memory.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Silent)));
    let verdicts: Vec<GateVerdict> = little.gates.iter().map(|gate| gate.verdict).collect();
    assert_eq!(verdicts, [GateVerdict::Undecided, GateVerdict::Broken]);
    let much = nothing(1 << 50);
    assert_eq!(row(&much, Metric::PeakMemory).verdict, ComparisonVerdict::Slower, "who needs more even so is worse");
    assert_eq!(much.gates[0].verdict, GateVerdict::Broken);
}

#[test]
fn nobody_knows_how_many_requests_a_silent_server_would_have_failed() {
    let errors = |change: &dyn Fn(&mut TrialRecord)| {
        let found = altered(&session(10_000.0, 10_000.0, 0.005), "errors<+1%", &ALL, change);
        let errors = row(&found, Metric::Errors);
        (errors.new.estimate, errors.verdict, found.gates[0].verdict, found.gates[0].withheld)
    };
    let (open, undecided) = (ComparisonVerdict::Inconclusive, GateVerdict::Undecided);
    let asked_nothing = errors(&|trial| trial.measurement = Some(Measurement::default()));
    assert_eq!(asked_nothing, (None, open, undecided, None), "0 of 0 are not 0 %");
    let hang = |trial: &mut TrialRecord| {
        let measured = trial.measurement.as_mut().unwrap();
        measured.slowest_reply_s = Some(0.01);
        measured.silences = vec![Silence { at_s: 3.0, length_s: measured.window_s - 3.0, ..Silence::default() }];
        measured.accounting.in_flight_at_end += 10;
        measured.accounting.scheduled += 10;
        measured.accounting.sent += 10;
    };
    assert_eq!(errors(&hang), (Some(0.0), open, undecided, Some(Withheld::Silent)));
    let failed = errors(&|trial| {
        fail(trial, 0.36);
        hang(trial);
    });
    assert_eq!((failed.1, failed.2), (ComparisonVerdict::Slower, GateVerdict::Broken), "what failed did fail");
    let both = |blocks: &'static [u32]| {
        let session = session(10_000.0, 10_000.0, 0.005).blocks(12).planned(12, 12);
        let mut trials = session.records();
        trials.iter_mut().filter(|trial| trial.cell == 0).for_each(|trial| fail(trial, 0.5));
        trials.iter_mut().filter(|trial| trial.cell == 1 && blocks.contains(&trial.block)).for_each(hang);
        alike::judged("errors<+1%", session.draft(), &trials, false).gates[0].verdict
    };
    assert_eq!(both(&[2]), GateVerdict::Broken, "the old one was silent once, and the new one failed in all");
    assert_eq!(both(&ALL), undecided);
}
