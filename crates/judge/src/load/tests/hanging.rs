//! What is said of requests that got no reply, and of what else kept connections from serving.

use super::*;

#[test]
fn requests_that_hang_since_the_warm_up_are_named() {
    let mut load = Measurement { window_s: 3.0, ..Measurement::default() };
    load.connections.opened = 100;
    load.residence.in_flight_s = 300.0;
    load.residence.requests_s = 300.0;
    load.awaited = vec![Awaited { requests: 100, youngest_s: 4.2, oldest_s: 4.9 }];
    load.steps = vec![Interval { at_s: -1.0, length_s: 1.0, completed: 1_901, sent: 2_001, ..Interval::default() }];
    let text = "no reply came in the window: 100 requests, one on each connection, have had no reply since the warm-up, and \
                kept every other from being sent; the server answered 1,901 requests in the warm-up, until less than a \
                second before the window";
    assert_eq!(said(&judge_load(&closed(), None, &load).reasons), (LimitCode::NoReply.into(), text.to_owned()));
}

#[test]
fn what_was_none_of_completed_requests_is_named_by_what_it_was() {
    let with = |requests: f64, keep_alive: bool, timed_out: u64| {
        let mut load = measurement(100.0, 9_200.0, 0.43);
        load.residence.completed_s = 650.0;
        (load.residence.requests_s, load.residence.in_flight_s) = (requests, requests);
        (load.accounting.scheduled, load.accounting.sent) = (92_000 + timed_out, 92_000 + timed_out);
        load.accounting.failed.insert(Failure::TimedOut, timed_out);
        let spec = closed().with(|it| it.keep_alive = keep_alive);
        let reasons = judge_load(&spec, None, &load).reasons;
        reasons.into_iter().find(|reason| reason.code == Mark::Unserved.into()).map(|reason| words(&reason))
    };
    let said = |rest: &str| Some(format!("completed requests account for 65 % of the connections' time, {rest}"));
    assert_eq!(with(660.0, true, 0), said("opening connections for 34 %"));
    assert_eq!(with(1_000.0, true, 900), said("requests that timed out for 35 %"));
    assert_eq!(with(1_000.0, true, 0), said("requests without a whole reply for 35 %"));
    assert_eq!(with(1_000.0, false, 900), said("requests that timed out for 35 %"));
}
