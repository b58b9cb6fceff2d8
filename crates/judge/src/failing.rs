//! The one rule for a bad answer, whatever was loaded and by which command.

use model::{
    Accounting, Arm, CellAnalysis, CompareRow, DiagnosisEnd, Failing, Failure, GateResult, GateVerdict, Judged,
    Measurement, NotSent, RuleResult, Ruled, ServerFault, Slice, SoakEnd, sum,
};

use crate::asked::Asked;
use crate::hung::{due_and_hung, hung, overdue};
use crate::limit::{blinding_standstill, nothing_completed};
use crate::silence::stopped;
use crate::slices;
use crate::thresholds::ALLOWED_FAILURES;

/// Content that no failure excuses: bodies other than the expected one, replies that are not HTTP, and bytes that no
/// request had asked for.
pub(crate) fn wrong_content(measured: &Measurement) -> [u64; 3] {
    let books = &measured.accounting;
    let malformed = books.failed.get(&Failure::Malformed).copied().unwrap_or(0);
    [books.bad_body, malformed, measured.connections.unasked_replies]
}

/// How many replies of a load had wrong content.
pub(crate) fn wrong_replies(measured: &Measurement) -> u64 {
    sum(wrong_content(measured))
}

/// Puts loads together. The answer is bad when more of their requests failed or hung than `allowed` (a share, 0 to 1), when any
/// content was wrong, when the server stopped answering, or when one of them was never served (and something was asked, and
/// the generator was there to see it): the others do not excuse a server that sometimes hangs from the start.
pub(crate) fn failing<'a>(
    asked: &Asked<'_>,
    loads: impl IntoIterator<Item = (&'a Measurement, &'a [Slice])>,
    allowed: f64,
) -> Failing {
    let mut books = Accounting::default();
    let mut due_hung = 0;
    let mut found = Failing { allowed_share: allowed, ..Failing::default() };
    for (load, slices) in loads {
        books.merge(&load.accounting);
        found.wrong_content = found.wrong_content.saturating_add(wrong_replies(load));
        found.unserved += u64::from(is_unserved(asked, load));
        due_hung = sum([due_hung, due_and_hung(load)]);
        if let Some(stopped) = stopped(load) {
            found.stopped += 1;
            found.stopped_at_s.get_or_insert(stopped.after_s);
            found.unanswered = found.unanswered.saturating_add(stopped.unanswered);
        } else if let Some((after_s, unanswered)) = slices::fell_silent_after(slices) {
            found.stopped += 1;
            found.stopped_at_s.get_or_insert(after_s);
            found.unanswered = found.unanswered.saturating_add(unanswered);
        }
    }
    found.failed_share = books.error_share();
    found.hung_share = if books.scheduled == 0 { 0.0 } else { due_hung as f64 / books.scheduled as f64 };
    Failing { bad: found.is_of_replies(), ..found }
}

/// Whether an answer fails (exit status 1): that of any cell of a run; of a comparison that of any cell of the new server,
/// which is the one in question (an old one that failed is said, and does not count against the new one), or of a gate.
pub fn answer_is_bad(judged: &Judged) -> bool {
    match judged {
        Judged::Run(analysis) => any_bad(&analysis.cells),
        Judged::Diagnosis(diagnosis) => diagnosis.findings.iter().any(|found| match &found.fault {
            ServerFault::Died { .. } | ServerFault::Unanswered { .. } => true,
            ServerFault::Failures { share, .. } => share.estimate.is_some_and(|share| share > ALLOWED_FAILURES),
            _ => false,
        }),
        Judged::Soak(soak) => {
            let failed = |result: &RuleResult| result.rule.of == Ruled::Failed && !result.broken.is_empty();
            soak.died.is_some() || soak.rules.iter().any(failed)
        }
        Judged::Comparison(analysis) => {
            let is_broken = |gate: &GateResult| gate.verdict == GateVerdict::Broken;
            let new = analysis.cells.iter().filter(|of| of.arm == Arm::New);
            analysis.gates.iter().any(is_broken) || any_bad(new.map(|of| &of.cell))
        }
    }
}

/// Which share of the requests that closed loads keep in flight hung, 0 to 1; 0 under an open load. Who waits there asks for nothing more:
/// as one request of many he would hardly count, and leaves the server to the others.
pub(crate) fn hung_in_flight<'a>(asked: &Asked<'_>, loads: impl IntoIterator<Item = &'a Measurement>) -> f64 {
    let of = |load: &Measurement| (hung(load).map_or(0, |it| it.requests) as f64, asked.load.slots());
    let (hung, slots) = loads.into_iter().map(of).fold((0.0, 0.0), |(hung, all), (some, of)| (hung + some, all + of));
    if asked.is_closed() && slots > 0.0 { f64::min(hung / slots, 1.0) } else { 0.0 }
}

/// By how much the share of a load's requests that failed may be higher, 0 to 1: what has no reply has neither failed nor been served.
/// Under an open load that is the share that waited for longer than any that was answered, and of those that waited for a connection
/// as large a share as of the connections such requests held. A client of a closed load that waits asks for nothing more, so nothing
/// says how many requests it would have sent: where more than a hundredth of them wait, and where the server served nothing, or stopped,
/// it may be all.
///
/// What had no reply at the ends of slices waited for less than a second, and for the rest of one slice alone, unless there was none any more.
pub(crate) fn share_unanswered(asked: &Asked<'_>, load: &Measurement, slices: &[Slice]) -> f64 {
    let overdue = overdue(load);
    let held = f64::min(overdue as f64 / asked.load.slots().max(1.0), 1.0);
    let nothing_ended = load.accounting.scheduled > 0 && load.accounting.ended() == 0;
    if nothing_completed(load)
        || nothing_ended
        || stopped(load).is_some()
        || (asked.is_closed() && held > ALLOWED_FAILURES)
    {
        return 1.0;
    }
    let books = &load.accounting;
    if slices::silent_from(slices).is_some() {
        return 1.0;
    }
    if !slices.is_empty() {
        let left = sum(slices.iter().map(|slice| slice.not_drained)) as f64;
        return (left / books.scheduled.max(1) as f64).max(left / (slices::windows(slices) * asked.load.slots()));
    }
    if asked.is_closed() {
        return held;
    }
    let kept_waiting = books.not_sent.get(&NotSent::WaitingAtEnd).map_or(0.0, |waiting| held * *waiting as f64);
    (overdue.min(books.in_flight_at_end) as f64 + kept_waiting) / books.scheduled.max(1) as f64
}

/// Whether nothing was served although something was asked, and the generator was there to see it.
pub(crate) fn is_unserved(asked: &Asked<'_>, load: &Measurement) -> bool {
    nothing_completed(load) && !asked.nothing_due(load) && blinding_standstill(load).is_none()
}

/// Whether the instrument cannot vouch for the answer: a cell of a run has no launch that counts, a comparison no figure of
/// both servers, or a gate that was asked for could not be decided.
pub fn answer_is_void(judged: &Judged) -> bool {
    match judged {
        Judged::Run(analysis) => analysis.cells.iter().any(|cell| cell.trials == 0),
        Judged::Diagnosis(diagnosis) => diagnosis.ended == DiagnosisEnd::NothingMeasured,
        Judged::Soak(soak) => soak.ended == SoakEnd::NothingMeasured,
        Judged::Comparison(analysis) => {
            let is_undecided = |gate: &GateResult| gate.verdict == GateVerdict::Undecided;
            analysis.gates.iter().any(is_undecided) || !analysis.rows.iter().any(CompareRow::is_measured)
        }
    }
}

/// Whether all that keeps the instrument from vouching for the answer are gates that could not be decided: something was
/// compared.
pub fn is_merely_undecided(judged: &Judged) -> bool {
    match judged {
        Judged::Run(_) | Judged::Diagnosis(_) | Judged::Soak(_) => false,
        Judged::Comparison(analysis) => answer_is_void(judged) && analysis.rows.iter().any(CompareRow::is_measured),
    }
}

fn any_bad<'a>(cells: impl IntoIterator<Item = &'a CellAnalysis>) -> bool {
    cells.into_iter().any(|cell| cell.failing.bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Session, die, measurement};
    use model::{Analysis, Arrivals, Interval, LoadModel, Residence, StandstillSpan, Standstills};

    fn failing<'a>(loads: impl IntoIterator<Item = &'a Measurement>, allowed: f64) -> Failing {
        let plan = Session::new().cell("a", 100.0).plan();
        super::failing(&Asked::from(&plan.cells[0]), loads.into_iter().map(|load| (load, &[][..])), allowed)
    }

    fn failed(share: f64) -> Measurement {
        let mut load = measurement(10.0, 1_000.0, 0.1);
        let failed = (share * load.accounting.scheduled as f64).round() as u64;
        (load.accounting.ok, load.accounting.bad_status) = (load.accounting.ok - failed, failed);
        load
    }

    fn is_bad_run(analysis: Analysis) -> bool {
        answer_is_bad(&Judged::Run(Box::new(analysis)))
    }

    fn is_bad(load: &Measurement, allowed: f64) -> bool {
        failing([load], allowed).bad
    }

    #[test]
    fn who_gives_no_reply_any_more_in_its_last_slices_has_stopped() {
        let found = |silent: u32| {
            let mut trial = Session::new().cell("a", 1_000.0).records().remove(0);
            crate::testing::cut(&mut trial, 12);
            for slice in trial.slices.iter_mut().filter(|slice| slice.round > 12 - silent) {
                (slice.replies, slice.not_drained) = (0, 7);
            }
            let plan = Session::new().cell("a", 100.0).plan();
            let load = (trial.measurement.as_ref().unwrap(), &trial.slices[..]);
            super::failing(&Asked::from(&plan.cells[0]), [load], 1.0)
        };
        let stopped = found(3);
        assert_eq!((stopped.stopped, stopped.unanswered, stopped.bad), (1, 21, true));
        assert!((stopped.stopped_at_s.unwrap() - 7.5).abs() < 0.01, "nine slices of ten seconds' twelve: {stopped:?}");
        assert!(!found(1).bad, "one may be a pause");
    }

    #[test]
    fn more_than_is_allowed_is_bad_and_any_wrong_content() {
        assert!(!is_bad(&failed(0.0), 0.0) && !is_bad(&failed(0.01), ALLOWED_FAILURES));
        assert!(is_bad(&failed(0.0101), ALLOWED_FAILURES) && !is_bad(&failed(0.48), 0.5) && is_bad(&failed(0.51), 0.5));
        let mut twice = failed(0.0);
        twice.connections.unasked_replies = 1;
        assert!(is_bad(&twice, 1.0), "no share excuses it");
        assert_eq!(failing([&twice, &failed(0.5)], 1.0).wrong_content, 1);
    }

    #[test]
    fn what_was_never_served_is_bad_and_what_the_rate_or_this_machine_held_back_is_not() {
        assert!(is_bad(&Measurement::default(), 1.0));
        for (kind, expected) in [
            (NotSent::Refused, true),
            (NotSent::ConnectTimedOut, true),
            (NotSent::WaitingAtEnd, false),
            (NotSent::TurnedAwayAtEnd, true),
            (NotSent::PausedAtEnd, false),
            (NotSent::OutOfPorts, false),
            (NotSent::Forbidden, false),
        ] {
            let mut load = failed(0.0);
            load.accounting.scheduled += 5_000;
            load.accounting.not_sent.insert(kind, 5_000);
            assert_eq!(is_bad(&load, ALLOWED_FAILURES), expected, "{kind}");
        }
    }

    #[test]
    fn who_was_asked_nothing_left_nothing_unserved() {
        let mut cell = Session::new().cell("a", 100.0).plan().cells[0].clone();
        let mut unserved = |model, load: &Measurement| {
            cell.load.model = model;
            super::failing(&Asked::from(&cell), [(load, &[][..])], 1.0).unserved
        };
        let idle = LoadModel::Open { rate_per_s: 0.5, arrivals: Arrivals::Constant };
        let nothing = Measurement { window_s: 1.0, ..Measurement::default() };
        assert_eq!(unserved(idle, &nothing), 0);
        assert_eq!(unserved(LoadModel::Closed, &nothing), 1, "each connection asks all the while");
        let in_flight = Residence { in_flight_s: 1.0, ..Residence::default() };
        assert_eq!(
            unserved(idle, &Measurement { residence: in_flight, ..nothing.clone() }),
            1,
            "one of the warm-up was"
        );
        let mut scheduled = nothing.clone();
        scheduled.accounting.scheduled = 1;
        assert_eq!(unserved(idle, &scheduled), 1);
        let mut refused = nothing;
        refused.connections.connect_failed = 8;
        assert_eq!(unserved(idle, &refused), 1, "nobody listened in the warm-up, with which such a load ends");
        refused.connections.opened = 1;
        assert_eq!(unserved(idle, &refused), 0);
    }

    /// So many more requests, each of which the server took and hung up.
    fn lose(load: &mut Measurement, failed: u64) {
        load.accounting.scheduled += failed;
        load.accounting.sent += failed;
        load.accounting.failed.insert(Failure::ClosedBeforeReply, failed);
    }

    /// Ten seconds of which the first three were served, and so many requests failed in each that followed.
    fn died(failed_each: u64) -> Measurement {
        let second = |at: u64| {
            let (completed, failed) = if at < 3 { (1_000, 0) } else { (0, failed_each) };
            Interval { at_s: at as f64, length_s: 1.0, completed, failed, ..Interval::default() }
        };
        let mut load = Measurement { steps: (0..10).map(second).collect(), ..failed(0.002) };
        lose(&mut load, 7 * failed_each);
        load
    }

    #[test]
    fn a_server_that_stopped_answering_is_bad_however_few_failed() {
        let of = |load: &Measurement| failing([load], ALLOWED_FAILURES);
        assert_eq!((of(&died(5)).stopped_at_s, of(&died(5)).bad), (Some(3.0), true));
        assert_eq!((of(&died(0)).stopped_at_s, of(&died(0)).bad), (None, false), "a slow handler fails in no way");
        assert!(!of(&Measurement { interrupted: true, ..died(5) }).bad);
        let mut frozen = died(5);
        let span = StandstillSpan { thread: 0, at_s: 3.2, length_s: 6.5 };
        frozen.standstills = Some(Standstills { sum_s: 6.5, spans: vec![span], ..Standstills::default() });
        assert_eq!(of(&frozen).stopped_at_s, None, "the generator's own");
        let mut seldom = died(5);
        seldom.in_window.completed = 3;
        seldom.steps.iter_mut().for_each(|second| second.completed = second.completed.min(1));
        assert_eq!(of(&seldom).stopped_at_s, None, "seven replies may be missing by chance");
        let mut back = died(5);
        back.steps[9].completed = 1;
        assert_eq!(of(&back).stopped_at_s, None, "it came back");
    }

    #[test]
    fn a_server_that_hangs_stopped_answering_and_one_that_is_slow_did_not() {
        let of = |slowest_s: f64, in_flight_at_end: u64| {
            let mut load = died(0);
            load.accounting.in_flight_at_end = in_flight_at_end;
            load.accounting.scheduled += in_flight_at_end;
            load.slowest_reply_s = Some(slowest_s);
            failing([&load], ALLOWED_FAILURES).stopped_at_s
        };
        assert_eq!(of(0.01, 10), Some(3.0));
        assert_eq!(of(0.01, 0), None, "it answered after the window");
        assert_eq!(of(3.0, 10), None, "one request in fifty takes so long, and all connections came to wait for such");
    }

    #[test]
    fn a_server_that_stopped_under_an_open_load_is_told_from_one_that_is_behind() {
        let open = |not_sent: NotSent, failed_each: u64| {
            let mut load = died(failed_each);
            load.accounting.scheduled = 17_000;
            load.accounting.not_sent.insert(not_sent, 7_000);
            failing([&load], 1.0)
        };
        // Refusals count as failures of their second, what waits for a connection does not.
        assert_eq!((open(NotSent::Refused, 1_000).stopped_at_s, open(NotSent::Refused, 1_000).bad), (Some(3.0), true));
        let (died, behind) = (open(NotSent::Refused, 1_000), open(NotSent::WaitingAtEnd, 0));
        assert_eq!((behind.stopped_at_s, behind.unanswered), (None, 0));
        assert_eq!(died.unanswered, 7_000, "what was not sent had no answer either");
        assert_eq!(open(NotSent::LateAtEnd, 1_000).unanswered, 0, "bourdon had not sent them");
        let waited = open(NotSent::WaitingAtEnd, 1);
        assert_eq!(
            (waited.unanswered, waited.failed_share < 0.01),
            (7_000, true),
            "whether or not it counts as failed"
        );
    }

    #[test]
    fn a_run_says_when_a_server_stopped() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0);
        let mut records = session.records();
        let of_b = records.iter_mut().filter(|trial| trial.cell == 1).nth(2).expect("there are six");
        let load = of_b.measurement.as_mut().expect("it was measured");
        load.steps = died(1).steps;
        lose(load, 7);
        let analysis = session.analyse_these(&records);
        let stopped: Vec<(u64, Option<f64>)> =
            analysis.cells.iter().map(|cell| (cell.failing.stopped, cell.failing.stopped_at_s)).collect();
        assert_eq!((stopped, is_bad_run(analysis)), (vec![(0, None), (1, Some(3.0))], true));
    }

    #[test]
    fn what_failed_before_a_server_stopped_is_not_counted_as_of_its_end() {
        let mut load = died(5);
        load.accounting.scheduled = 10_000;
        load.accounting.completed = 2_700;
        load.steps[..3].iter_mut().for_each(|second| second.failed = 100);
        assert_eq!(failing([&load], ALLOWED_FAILURES).unanswered, 7_000);
    }

    /// A launch that hangs now and then says more of a server than those that it survives.
    #[test]
    fn one_launch_that_serves_nothing_or_dies_makes_a_run_bad() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0);
        let with = |change: &dyn Fn(&mut model::TrialRecord)| {
            let mut records = session.records();
            change(records.iter_mut().filter(|trial| trial.cell == 1).nth(2).expect("there are six"));
            let analysis = session.analyse_these(&records);
            let of = analysis.cells[1].failing;
            assert_eq!((analysis.cells[0].failing.bad, of.bad), (false, true));
            assert!(is_bad_run(analysis));
            (of.unserved, of.died)
        };
        assert_eq!(with(&|trial| trial.measurement = Some(Measurement::default())), (1, 0));
        assert_eq!(with(&die), (0, 1));
    }

    #[test]
    fn such_a_launch_counts_as_the_twin_and_in_a_block_that_was_set_aside_too() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).twin().blocks(7).repeats(1);
        for twin in [true, false] {
            for load in [Measurement::default(), died(5)] {
                let mut records = session.records();
                let mut of_a = records.iter_mut().filter(|trial| trial.cell == 0 && trial.twin == twin);
                let trial = of_a.nth(2).expect("there are seven");
                let was_served = load.in_window.completed > 0;
                trial.measurement = Some(load);
                if !twin {
                    trial.observation.as_mut().expect("it was watched").host.others_share = 0.5;
                }
                let analysis = session.analyse_these(&records);
                let [of, other] = [0, 1].map(|cell: usize| &analysis.cells[cell]);
                assert_eq!((of.failing.unserved, of.failing.stopped), (u64::from(!was_served), u64::from(was_served)));
                assert_eq!((of.failing.bad, other.failing.bad), (true, false));
                assert_eq!((of.errors, of.set_aside), (0.0, u32::from(!twin)), "no figure is of it");
                assert!(is_bad_run(analysis));
            }
        }
    }

    #[test]
    fn where_every_block_was_set_aside_what_failed_in_them_is_told() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).blocks(1).repeats(1);
        let mut records = session.records();
        for trial in &mut records {
            trial.measurement = Some(failed(1.0));
            trial.observation.as_mut().expect("it was watched").host.others_share = 0.5;
        }
        let analysis = session.analyse_these(&records);
        let of = &analysis.cells[0];
        assert_eq!((of.trials, of.set_aside, of.errors, of.failing.bad), (0, 1, 1.0, true));
        assert!(is_bad_run(analysis));
    }

    #[test]
    fn what_a_generator_that_stood_still_did_not_see_is_not_bad() {
        let stood = Some(Standstills { count: 1, sum_s: 9.0, ..Standstills::default() });
        let unseen = Measurement { window_s: 10.0, standstills: stood, ..Measurement::default() };
        assert!(!is_bad(&unseen, ALLOWED_FAILURES));
        assert!(failing([&unseen, &Measurement::default()], ALLOWED_FAILURES).bad);
    }

    #[test]
    fn a_run_is_bad_where_one_of_its_cells_is() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0);
        assert!(!is_bad_run(session.analyse()));
        let mut records = session.records();
        for trial in records.iter_mut().filter(|trial| trial.cell == 1) {
            trial.measurement = Some(failed(1.0));
            trial.measurement.as_mut().expect("just set").in_window.ok = 0;
        }
        let analysis = session.analyse_these(&records);
        let bad: Vec<bool> = analysis.cells.iter().map(|cell| cell.failing.bad).collect();
        assert_eq!((bad, analysis.cells[1].throughput.estimate), (vec![false, true], Some(0.0)));
        assert_eq!(analysis.cells[1].trials, 6, "no launch is void");
        assert!(is_bad_run(analysis));
    }
}
