//! What servers that serve nothing, or no more, are called.

use model::{Arrivals, Awaited, Failure, LoadModel, Measurement, NotSent, Residence, Silence};

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
    let expected = (Some(0.0), open, undecided, Some(Withheld::Unanswered));
    assert_eq!(asked_nothing, expected, "it let nobody in, and nobody knows what would have become of them");
    let hang = |trial: &mut TrialRecord| {
        let measured = trial.measurement.as_mut().unwrap();
        measured.slowest_reply_s = Some(0.01);
        measured.silences = vec![Silence { at_s: 3.0, length_s: measured.window_s - 3.0, ..Silence::default() }];
        measured.accounting.in_flight_at_end += 10;
        measured.accounting.scheduled += 10;
        measured.accounting.sent += 10;
    };
    assert_eq!(errors(&hang), (Some(0.0), open, undecided, Some(Withheld::Unanswered)));
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

/// From the start, so that no request was due in the window and one of the warm-up waited all the while.
fn hang_from_the_start(trial: &mut TrialRecord) {
    let residence = Residence { in_flight_s: 10.0, requests_s: 10.0, ..Residence::default() };
    trial.measurement = Some(Measurement { residence, window_s: 10.0, ..Measurement::default() });
}

/// The warm-up's requests are answered within the window, and none that were due in it.
fn hang_after_the_warm_up(trial: &mut TrialRecord) {
    hang_from_the_start(trial);
    let measured = trial.measurement.as_mut().unwrap();
    (measured.in_window.completed, measured.in_window.ok, measured.slowest_reply_s) = (50, 50, Some(0.1));
    let books = &mut measured.accounting;
    (books.scheduled, books.sent, books.in_flight_at_end) = (50, 50, 50);
    measured.awaited = vec![Awaited { requests: 50, youngest_s: 9.5, oldest_s: 10.5 }];
}

#[test]
fn launches_in_which_nothing_ended_leave_the_share_of_errors_open_and_the_others_do_not_speak_for_them() {
    let errors = |blocks: &[u32], change: &dyn Fn(&mut TrialRecord)| {
        let found =
            altered(&session(10_000.0, 10_000.0, 0.005).blocks(12).planned(12, 12), "errors<+1%", blocks, change);
        let errors = row(&found, Metric::Errors);
        (errors.verdict, errors.withheld, errors.withheld_of.clone(), found.gates[0].verdict)
    };
    let open = (ComparisonVerdict::Inconclusive, Some(Withheld::Unanswered), vec![Arm::New], GateVerdict::Undecided);
    assert_eq!(errors(&[1, 3, 5, 7, 9, 11], &hang_from_the_start), open);
    assert_eq!(errors(&[4], &hang_from_the_start), open);
    let let_nobody_in = |trial: &mut TrialRecord| trial.measurement = Some(Measurement::default());
    assert_eq!(errors(&[4], &let_nobody_in), open);
    assert_eq!(errors(&[4], &hang_after_the_warm_up), open, "its requests were answered, and none of the window's");
    let as_slow_as_the_window = |trial: &mut TrialRecord| {
        hang_after_the_warm_up(trial);
        let measured = trial.measurement.as_mut().unwrap();
        (measured.slowest_reply_s, measured.awaited) = (Some(9.0), Vec::new());
    };
    assert_eq!(errors(&[4], &as_slow_as_the_window), open, "they may be on their way, and nobody knows what to");
    let fail_but_in_one = |trial: &mut TrialRecord| match trial.block {
        4 => hang_from_the_start(trial),
        _ => fail(trial, 0.5),
    };
    let (verdict, .., gate) = errors(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], &fail_but_in_one);
    assert_eq!((verdict, gate), (ComparisonVerdict::Slower, GateVerdict::Broken), "what failed did fail");
    let once_refused = |trial: &mut TrialRecord| {
        hang_from_the_start(trial);
        let books = &mut trial.measurement.as_mut().unwrap().accounting;
        (books.scheduled, books.sent) = (10_000, 10_000);
        books.failed.insert(Failure::ClosedBeforeReply, 1);
        books.in_flight_at_end = 9_999;
    };
    let (verdict, .., gate) = errors(&ALL, &once_refused);
    let expected = (ComparisonVerdict::Slower, GateVerdict::Undecided);
    assert_eq!((verdict, gate), expected, "the old one never failed, and nobody knows how many more did");
}

#[test]
fn requests_of_an_open_load_that_hang_may_have_failed() {
    let mut open = session(10_000.0, 10_000.0, 0.005).draft();
    let rate = LoadModel::Open { rate_per_s: 1_000.0, arrivals: Arrivals::Constant };
    open.cells.iter_mut().for_each(|cell| cell.load.model = rate);
    let gate_of = |allowed: &str, change: &dyn Fn(&mut Measurement)| {
        let mut trials = session(10_000.0, 10_000.0, 0.005).records();
        trials.iter_mut().filter(|it| it.cell == 0).filter_map(|it| it.measurement.as_mut()).for_each(change);
        alike::judged(allowed, open.clone(), &trials, false).gates[0].verdict
    };
    let gate = |share: f64, allowed: &str| {
        gate_of(allowed, &|measured| {
            let hung = (share * measured.accounting.scheduled as f64) as u64;
            measured.slowest_reply_s = Some(0.01);
            measured.awaited = vec![Awaited { requests: hung, youngest_s: 1.5, oldest_s: 2.9 }];
            measured.accounting.ok -= hung;
            measured.accounting.completed -= hung;
            measured.accounting.in_flight_at_end += hung;
        })
    };
    assert_eq!(gate(0.03, "errors<+1%"), GateVerdict::Undecided);
    let all_but_one_connection = gate_of("errors<+1%", &|measured| {
        measured.slowest_reply_s = Some(0.01);
        measured.awaited = vec![Awaited { requests: 7, youngest_s: 1.5, oldest_s: 2.9 }];
        let books = &mut measured.accounting;
        let waiting = books.ok / 2;
        (books.ok, books.completed, books.sent) =
            (books.ok - waiting - 7, books.completed - waiting - 7, books.sent - waiting);
        books.in_flight_at_end += 7;
        books.not_sent.insert(NotSent::WaitingAtEnd, waiting);
    });
    assert_eq!(all_but_one_connection, GateVerdict::Undecided, "seven hang, and those behind them wait");
    let behind_with_one_hung = gate_of("errors<+1%", &|measured| {
        measured.slowest_reply_s = Some(0.01);
        measured.awaited = vec![Awaited { requests: 1, youngest_s: 1.5, oldest_s: 2.9 }];
        let books = &mut measured.accounting;
        let waiting = books.scheduled / 25;
        (books.scheduled, books.sent) = (books.scheduled + waiting + 1, books.sent + 1);
        books.in_flight_at_end += 1;
        books.not_sent.insert(NotSent::WaitingAtEnd, waiting);
    });
    assert_eq!(
        behind_with_one_hung,
        GateVerdict::Held,
        "the rate is too high, and one of its connections explains little of it"
    );
    assert_eq!((gate(0.002, "errors<+1%"), gate(0.03, "errors<+5%")), (GateVerdict::Held, GateVerdict::Held));
}

/// Two runs, as two saved loads are.
#[test]
fn clients_that_are_left_waiting_count_between_two_runs_too() {
    let session = session(150.0, 100.0, 0.005);
    let plan = session.plan();
    let with_waiting = |waiting: u64, slowest_s: f64| {
        let mut trials = session.records();
        for measured in trials.iter_mut().filter_map(|trial| trial.measurement.as_mut()).filter(|_| waiting > 0) {
            measured.slowest_reply_s = Some(slowest_s);
            measured.awaited = vec![Awaited { requests: waiting, youngest_s: 2.1, oldest_s: 2.9 }];
        }
        trials
    };
    let (all, few) = (with_waiting(0, 0.01), with_waiting(5, 0.01));
    let environment = Environment::default();
    let run = |trials| Run { plan: &plan, environment: &environment, trials };
    let names = || ("old".to_owned(), "new".to_owned());
    let found = compare_runs(run(&all), run(&few), names(), steady(&parse_gates("errors<+1%").unwrap())).unwrap();
    assert!(found.cells.iter().filter(|of| of.arm == Arm::New).all(|of| of.cell.failing.bad));
    assert!(found.gates.iter().all(|gate| gate.withheld == Some(Withheld::Unanswered)), "{:?}", found.gates);
    let slow = with_waiting(5, 1.7);
    let found = compare_runs(run(&all), run(&slow), names(), steady(&parse_gates("errors<+1%").unwrap())).unwrap();
    assert!(
        found.gates.iter().all(|gate| gate.withheld == Some(Withheld::Unanswered)),
        "not called hung, yet older than any reply"
    );
    let same = compare_runs(run(&all), run(&all), names(), steady(&parse_gates("errors<+1%").unwrap())).unwrap();
    assert!(same.cells.iter().all(|of| !of.cell.failing.bad));
}
