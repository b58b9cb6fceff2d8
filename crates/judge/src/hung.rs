//! Requests that never got a reply while others had theirs.

use model::{Cure, MarkCause, MarkNote, Measurement, sum};

use crate::asked::Asked;
use crate::silence::{slowest_reply_s, stopped};
use crate::thresholds::{HUNG, SILENCE_S};

/// Requests without a reply, far older than any that was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hung {
    pub(crate) requests: u64,
    oldest_s: f64,
    slowest_s: f64,
}

/// Those of a load that had no reply when its drain ended. None where nothing was answered, or nothing any more: that is told
/// otherwise; nor where nothing says how long a reply takes. What the generator stood still for did not wait for the server.
pub(crate) fn hung(load: &Measurement) -> Option<Hung> {
    older(load, HUNG, SILENCE_S)
}

/// Requests that had no reply when the ends of slices were over, far older than any that was answered in any slice. Nobody waits a second for
/// those, but where replies come that much sooner no other load of the machine explains them.
pub(crate) fn in_slices(load: &Measurement) -> u64 {
    older(load, HUNG, 0.0).map_or(0, |it| it.requests)
}

/// How many of them were due in the window.
pub(crate) fn due_and_hung(load: &Measurement) -> u64 {
    hung(load).map_or(0, |it| it.requests.min(load.accounting.in_flight_at_end))
}

/// How many requests had no reply when a load's drain ended, and had waited for longer than any that was answered: more than are
/// called hung, for those may have been on their way.
pub(crate) fn overdue(load: &Measurement) -> u64 {
    older(load, 1.0, SILENCE_S).map_or(0, |it| it.requests)
}

/// Those that waited for as many times as long as the slowest reply took, and for so many seconds at least.
fn older(load: &Measurement, times: f64, at_least_s: f64) -> Option<Hung> {
    let slowest_s = slowest_reply_s(load)?;
    let least_s = at_least_s.max(times * slowest_s + load.stood_still_s());
    let old = || load.awaited.iter().filter(|it| it.youngest_s >= least_s);
    let oldest_s = old().map(|it| it.oldest_s).reduce(f64::max)?;
    (load.in_window.completed > 0 && stopped(load).is_none()).then(|| Hung {
        requests: sum(old().map(|it| it.requests)),
        oldest_s,
        slowest_s,
    })
}

/// Requests that never got a reply.
pub(crate) fn mark(asked: &Asked<'_>, load: &Measurement) -> Option<MarkNote> {
    let Hung { requests, oldest_s, slowest_s } = hung(load)?;
    let one_each = asked.load.pipeline == 1 && requests > 1;
    let cause = MarkCause::Hung { requests, one_each, oldest_s, slowest_s };
    let cure = asked.load.timeout_ns.is_none().then_some(Cure::TimeOut);
    Some(MarkNote { cure, ..MarkNote::new(cause) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Session, measurement};
    use crate::thresholds::ALLOWED_FAILURES;
    use model::{Awaited, HalfCount, Interval, LoadModel, Mark, WindowCount};

    /// A load of 1,000 replies, the slowest of which took so long, and requests of these ages without one.
    fn load(slowest_s: f64, awaited: &[(u64, f64, f64)]) -> Measurement {
        let mut load = measurement(10.0, 100.0, 0.1);
        load.awaited = awaited
            .iter()
            .map(|(requests, youngest_s, oldest_s)| Awaited {
                requests: *requests,
                youngest_s: *youngest_s,
                oldest_s: *oldest_s,
            })
            .collect();
        let more = sum(load.awaited.iter().map(|it| it.requests));
        load.slowest_reply_s = Some(slowest_s);
        let books = &mut load.accounting;
        (books.scheduled, books.sent, books.in_flight_at_end) = (1_000 + more, 1_000 + more, more);
        load
    }

    fn failing(load: &Measurement) -> model::Failing {
        let plan = Session::new().cell("a", 100.0).plan();
        crate::failing::failing(&Asked::from(&plan.cells[0]), [(load, &[][..])], ALLOWED_FAILURES)
    }

    #[test]
    fn what_is_far_older_than_the_slowest_reply_hangs() {
        let of = |slowest_s: f64, awaited: &[(u64, f64, f64)]| hung(&load(slowest_s, awaited)).map(|it| it.requests);
        assert_eq!(of(0.01, &[(1, 1.0, 1.4), (2, 2.1, 2.9)]), Some(3));
        assert_eq!(of(0.5, &[(1, 1.0, 1.4), (2, 2.1, 2.9)]), Some(2), "the first may still be served");
        assert_eq!(of(2.9, &[(1, 1.0, 1.4), (9, 2.1, 2.9)]), None, "replies take as long as the window");
        let slow = load(1.7, &[(3, 1.0, 1.8), (4, 3.1, 3.9)]);
        assert_eq!((hung(&slow), overdue(&slow)), (None, 4), "they are older than any that was answered");
        assert_eq!(of(0.01, &[]), None);
        let mut frozen = load(0.01, &[(3, 1.5, 2.9)]);
        frozen.generator.threads[0].longest_stall_us = 2e6;
        assert_eq!(hung(&frozen), None, "they may have been answered meanwhile");
        let unserved = Measurement { in_window: WindowCount::default(), ..load(0.01, &[(3, 1.5, 2.9)]) };
        assert_eq!(hung(&unserved), None, "nothing was");
    }

    #[test]
    fn older_records_say_how_slow_a_server_is_of_the_windows_requests_and_in_the_mean() {
        let of = |max_us: Option<f64>, mean_ns: Option<u64>| {
            let steps = vec![Interval { completed: 10, max_us, ..Interval::default() }];
            let ten = |ns: u64| HalfCount { completed: 10, service_ns: 10 * ns, ..HalfCount::default() };
            let half = mean_ns.map_or(HalfCount::default(), ten);
            let in_window =
                WindowCount { completed: 10, halves: [half, HalfCount::default()], ..WindowCount::default() };
            let old = Measurement { slowest_reply_s: None, steps, in_window, ..load(0.01, &[(10, 2.1, 2.9)]) };
            hung(&old).map(|it| it.slowest_s)
        };
        assert_eq!((of(Some(5e5), None), of(None, Some(500_000_000))), (Some(0.5), Some(0.5)));
        assert_eq!((of(Some(2.5e6), None), of(None, Some(2_500_000_000))), (None, None), "they may be on their way");
        assert_eq!(of(None, None), None, "nothing says how long a reply takes");
    }

    #[test]
    fn more_of_them_than_may_fail_are_bad() {
        let of = |number: u64| failing(&load(0.01, &[(number, 1.5, 2.9)]));
        assert_eq!((of(10).bad, of(11).bad, of(11).failed_share), (false, true, 0.0));
        assert!((of(11).hung_share - 11.0 / 1_011.0).abs() < 1e-9);
        let mut both = load(0.01, &[(6, 1.5, 2.9)]);
        (both.accounting.ok, both.accounting.bad_status) = (994, 6);
        assert!(failing(&both).bad, "with what failed");
        let mut of_warm_up = load(0.01, &[(11, 1.5, 2.9)]);
        of_warm_up.accounting.in_flight_at_end = 0;
        assert!(!failing(&of_warm_up).bad, "none was due in the window");
    }

    #[test]
    fn in_a_closed_load_each_is_a_client_that_waits_for_ever() {
        let of = |number: u64| {
            let mut of_warm_up = load(0.01, &[(number, 1.5, 2.9)]);
            of_warm_up.accounting.in_flight_at_end = 0;
            let mut cell = Session::new().cell("a", 100.0).plan().cells[0].clone();
            (cell.load.model, cell.load.connections) = (LoadModel::Closed, 200);
            crate::failing::hung_in_flight(&Asked::from(&cell), [&of_warm_up])
        };
        assert!((of(3) - 0.015).abs() < 1e-9, "of 200 in flight");
        assert_eq!(of(300), 1.0);
    }

    #[test]
    fn a_run_says_so_of_a_single_launch() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0);
        let mut records = session.records();
        let of_b = records.iter_mut().filter(|trial| trial.cell == 1).nth(2).expect("there are six");
        of_b.measurement.as_mut().expect("it was measured").awaited = load(0.01, &[(2, 1.5, 2.94)]).awaited;
        let analysis = session.analyse_these(&records);
        let notes = |cell: usize| {
            let notes = analysis.cells[cell].marks.iter().filter(|note| note.mark() == Mark::Hung);
            notes.map(report::note_words).collect::<Vec<_>>()
        };
        assert_eq!(notes(0), Vec::<String>::new());
        assert!(
            notes(1)[0]
                .starts_with("2 requests, one on each of 2 connections, never got a whole reply in up to 2.94 s"),
            "{:?}",
            notes(1)
        );
    }
}
