mod hanging;
mod missed;

use model::*;
use report::reason_words as words;

use crate::testing::{lateness, measurement, request, summary};
use crate::thresholds::ALLOWED_FAILURES;

fn judge_load(spec: &LoadSpec, limits: Option<GeneratorLimits>, measured: &Measurement) -> Validity {
    super::judge_load(spec, limits, ALLOWED_FAILURES, measured)
}

/// What the first reason is about, and says.
fn said(reasons: &[Reason]) -> (Code, String) {
    (reasons[0].code(), words(&reasons[0]))
}

fn closed() -> LoadSpec {
    LoadSpec {
        load: Load {
            mix: Mix::one(request(), ReplyExpectation::default()),
            model: LoadModel::Closed,
            connections: 100,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            warm_up_ns: 0,
            extent: Extent::Window(10 * NS_PER_S),
            network_delay_ns: 0,
        },
        address: "127.0.0.1:80".parse().unwrap(),
        start_spread_ns: 0,
        threads: 1,
        cpus: Vec::new(),
        seed: 1,
        sources: vec![],
        tls: None,
        spin: false,
        quick_ack: false,
    }
}

fn open(rate_per_s: f64) -> LoadSpec {
    closed().with(|it| it.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant })
}

/// An open run of which so many of 100,000 requests were not sent, for one reason.
fn unsent(kind: NotSent, number: u64, busy: f64) -> Measurement {
    let mut measured = measurement(100.0, 10_000.0, busy);
    let books = &mut measured.accounting;
    books.not_sent.insert(kind, number);
    books.sent -= number;
    books.completed -= number;
    books.ok -= number;
    if books.completed == 0 {
        measured.in_window = WindowCount::default();
        measured.residence = Residence::default();
    }
    measured
}

fn word(spec: &LoadSpec, measured: &Measurement) -> (Verdict, &'static str) {
    let validity = judge_load(spec, None, measured);
    (validity.verdict, validity.reasons[0].code().id())
}

fn is(verdict: Verdict, code: &'static str) -> (Verdict, &'static str) {
    (verdict, code)
}

#[test]
fn a_closed_load_says_who_was_the_limit() {
    let validity = judge_load(&closed(), None, &measurement(100.0, 9_200.0, 0.43));
    assert_eq!(validity.verdict, Verdict::Valid);
    let text = "the generator was 43 % busy: the server (or the 100 connections) was the limit";
    assert_eq!(said(&validity.reasons), (LimitCode::ServerBound.into(), text.to_owned()));
    let mut starved = measurement(100.0, 9_200.0, 0.43);
    starved.generator.threads[0].run_delay_s = Some(0.2 * starved.generator.threads[0].wall_s);
    let text = "the generator was 43 % busy and waited for a CPU for 20 % of the time: the limit was the server, the 100 \
                connections, or CPUs that others use too";
    assert_eq!(words(&judge_load(&closed(), None, &starved).reasons[0]), text);
    let validity = judge_load(&closed(), None, &measurement(100.0, 9_200.0, 0.8));
    assert_eq!((validity.verdict, validity.reasons[0].code().id()), (Verdict::AtLeast, "generator"));
    assert!(words(&validity.reasons[0]).contains("thread 1 was 80 % busy"), "{validity:?}");
    assert_eq!(validity.reasons[0].cure, Some(Cure::MoreThreads), "{validity:?}");
}

#[test]
fn ports_that_ran_out_are_ours() {
    let measured = unsent(NotSent::OutOfPorts, 5_000, 0.3);
    assert_eq!(word(&closed(), &measured), is(Verdict::AtLeast, "generator"));
    assert_eq!(word(&open(10_000.0), &measured), is(Verdict::Void, "rate-not-reached"));
}

#[test]
fn a_broken_instrument_voids_whatever_the_limit() {
    let mut measured = measurement(100.0, 9_200.0, 0.43);
    measured.accounting.scheduled += 1;
    measured.residence.in_flight_s *= 2.0;
    let validity = judge_load(&closed(), None, &measured);
    let codes: Vec<&str> = validity.reasons.iter().map(|reason| reason.code().id()).collect();
    assert_eq!((validity.verdict, codes), (Verdict::Void, vec!["accounting", "in-flight"]));
}

#[test]
fn an_open_rate_that_is_reached_is_valid_and_lateness_is_noted() {
    let mut measured = measurement(100.0, 10_000.0, 0.9);
    assert_eq!(word(&open(10_000.0), &measured), is(Verdict::Valid, "rate-reached"));
    measured.latency_us.response = Some(LatencySummary { population: Members::Due, ..summary(100.0, 1_000) });
    measured.latency_us.lateness = Some(lateness(50.0, 1_000));
    let validity = judge_load(&open(10_000.0), None, &measured);
    assert_eq!(validity.reasons[1].code().id(), "lateness");
}

#[test]
fn connections_too_few_for_a_rate_are_named_beside_the_server() {
    // 10,000 a second at 50 ms each are 500 at once; there are 100 connections.
    let mut measured = unsent(NotSent::WaitingAtEnd, 80_000, 0.2);
    measured.latency_us.service = Some(summary(50_000.0, 1_000));
    let text = words(&judge_load(&open(10_000.0), None, &measured).reasons[0]);
    assert!(text.starts_with("the server, or the connections to it, did not keep up"), "{text}");
    assert!(text.contains("this rate needs 500 requests at once, and the connections allow 100"), "{text}");
    measured.latency_us.service = Some(summary(5_000.0, 1_000));
    let text = words(&judge_load(&open(10_000.0), None, &measured).reasons[0]);
    assert!(text.starts_with("the server did not keep up"), "{text}");
}

#[test]
fn the_attainable_rate_grows_with_the_cpus_that_threads_can_use() {
    let measured = unsent(NotSent::WaitingAtEnd, 5_000, 0.2);
    let spec = |threads, cpus: &[u32]| {
        open(1.5e6).with(|it| {
            it.threads = threads;
            it.cpus = cpus.to_vec();
        })
    };
    assert_eq!(word(&spec(2, &[]), &measured).0, Verdict::Valid);
    assert_eq!(word(&spec(2, &[1, 1]), &measured).0, Verdict::Void, "two threads on one CPU");
    assert_eq!(word(&spec(2, &[0, 1]), &measured).0, Verdict::Valid);
}

#[test]
fn requests_that_were_sent_late_do_not_void_and_those_never_sent_do() {
    let mut measured = measurement(100.0, 10_000.0, 0.2);
    measured.accounting.sent_late.insert(LateCause::NoConnection, 50_000);
    let validity = judge_load(&open(10_000.0), None, &measured);
    assert_eq!(validity.verdict, Verdict::Valid);
    assert!(words(&validity.reasons[0]).ends_with("50 % of the requests waited for a connection"), "{validity:?}");
    measured.accounting.sent_late.insert(LateCause::Generator, 2_000);
    let text = words(&judge_load(&open(10_000.0), None, &measured).reasons[0]);
    assert!(text.contains("2 % of the requests left more than 1 ms late, held up by the generator"), "{text}");
    let mut unsent = unsent(NotSent::WaitingAtEnd, 5_000, 0.2);
    unsent.accounting.sent_late.insert(LateCause::Generator, 6_000);
    assert_eq!(word(&open(10_000.0), &unsent), is(Verdict::Void, "rate-not-reached"));
}

#[test]
fn nothing_completed_is_nobodys_limit() {
    let measured = unsent(NotSent::Refused, 100_000, 0.1);
    let validity = judge_load(&closed(), None, &measured);
    let text = "no request got a complete reply: 100,000 refused; the server answered 10,000 requests in the warm-up, until less \
                than a second before the window";
    assert_eq!(said(&validity.reasons), (LimitCode::NoReply.into(), text.to_owned()));
    assert!(validity.failing.bad);
}

#[test]
fn connections_that_this_machine_could_not_open_are_not_the_servers_limit() {
    let measured = |never_served| {
        let mut load = unsent(NotSent::OutOfPorts, 8, 0.3);
        load.connections.never_served = never_served;
        judge_load(&closed(), None, &load)
    };
    let (few, all) = (measured(4), measured(0));
    assert_eq!((few.verdict, all.verdict), (Verdict::AtLeast, Verdict::Valid));
    assert!(words(&few.reasons[0]).contains("this machine could not send 8 requests"), "{few:?}");
}

#[test]
fn what_pauses_between_refusals_left_over_failed_as_those_did() {
    let mut measured = unsent(NotSent::Refused, 40_000, 0.2);
    measured.accounting.not_sent.insert(NotSent::TurnedAwayAtEnd, 30_000);
    measured.accounting.scheduled += 30_000;
    assert_eq!(word(&open(10_000.0), &measured), is(Verdict::Valid, "server-behind"));
    let failing = judge_load(&open(10_000.0), None, &measured).failing;
    assert!((failing.failed_share - 7.0 / 13.0).abs() < 1e-9, "{failing:?}");
}

#[test]
fn requests_of_the_warm_up_that_had_no_answer_were_sent() {
    let text = |sent| {
        let steps = vec![Interval { at_s: -1.0, length_s: 1.0, sent, ..Interval::default() }];
        let connections = ConnectionCounts { opened: 50, ..ConnectionCounts::default() };
        let measured = Measurement { window_s: 1.0, steps, connections, ..Measurement::default() };
        words(&judge_load(&closed(), None, &measured).reasons[0])
    };
    assert!(text(0).ends_with("none was sent"), "{}", text(0));
    assert!(text(50).ends_with("none of the 50 requests sent in the warm-up was answered in it"), "{}", text(50));
}

#[test]
fn a_server_that_hangs_up_on_everybody_may_wait_for_tls() {
    let mut measured =
        Measurement { connections: ConnectionCounts { opened: 9, ..Default::default() }, ..Default::default() };
    (measured.accounting.scheduled, measured.accounting.sent) = (9, 9);
    measured.accounting.failed.extend([(Failure::ClosedBeforeReply, 5), (Failure::ResetBeforeReply, 4)]);
    let said = |measured: &Measurement| judge_load(&closed(), None, measured).reasons[0].cure == Some(Cure::TryTls);
    assert!(said(&measured));
    measured.tls = Some(TlsUse::default());
    assert!(!said(&measured));
}

#[test]
fn an_interrupted_load_keeps_its_figures() {
    let measured = Measurement { interrupted: true, ..measurement(100.0, 9_200.0, 0.43) };
    let validity = judge_load(&closed(), None, &measured);
    assert_eq!(validity.verdict, Verdict::Valid);
    assert_eq!(validity.reasons.last().unwrap().code().id(), "interrupted");
}

#[test]
fn a_load_that_was_stopped_in_its_warm_up_says_that_and_nothing_else() {
    let stopped = Measurement { interrupted: true, ..Measurement::default() };
    let reasons = judge_load(&closed(), None, &stopped).reasons;
    assert_eq!(reasons, [LimitCause::Interrupted { after_s: 0.0 }.into()]);
}

#[test]
fn a_standstill_is_told_once() {
    let mut measured = measurement(100.0, 10_000.0, 0.2);
    measured.latency_us.service = Some(summary(50_000.0, 10_000));
    let without_us = Latencies { service: Some(summary(1_000.0, 5_000)), ..Latencies::default() };
    let stood =
        |sum_s| Standstills { count: 1, sum_s, requests: 5_000, without_us: without_us.clone(), ..Default::default() };
    let said = |measured: &Measurement| {
        let reasons = judge_load(&closed(), None, measured).reasons;
        reasons.iter().map(|reason| words(reason).matches("stood still").count()).sum::<usize>()
    };
    measured.standstills = Some(stood(0.1));
    assert_eq!(said(&measured), 1, "by its mark");
    measured.standstills = Some(stood(2.0));
    assert_eq!(said(&measured), 1, "by the limit");
}

#[test]
fn a_server_that_was_silent_is_named_unless_it_stopped() {
    let second = |at: u32, failed| {
        let completed = if at < 5 { 1_000 } else { 0 };
        Interval { at_s: f64::from(at), length_s: 1.0, completed, failed, ..Interval::default() }
    };
    let codes = |failed: u64| {
        let mut measured = measurement(100.0, 10_000.0, 0.2);
        measured.steps = (0..10).map(|at| second(at, failed)).collect();
        measured.silences =
            vec![Silence { at_s: 4.99, length_s: 5.01, failed: Some(5 * failed), ..Silence::default() }];
        let reasons = judge_load(&open(10_000.0), None, &measured).reasons;
        reasons.iter().map(|reason| reason.code().id()).collect::<Vec<_>>()
    };
    assert_eq!(codes(0), ["rate-reached", "server-silent"]);
    assert_eq!(codes(1), ["rate-reached"], "`stopped_at_s` says it");
}

#[test]
fn wrong_replies_are_no_matter_of_validity() {
    let mut measured = measurement(100.0, 9_200.0, 0.43);
    measured.accounting.ok -= 1;
    measured.accounting.bad_status += 1;
    let validity = judge_load(&closed(), None, &measured);
    assert_eq!((validity.verdict, validity.failing.bad), (Verdict::Valid, false), "one in 92,000");
}

#[test]
fn a_number_of_requests_leaves_connections_idle_without_a_mark() {
    let mut measured = measurement(100.0, 9_200.0, 0.43);
    measured.residence.completed_s = 500.0;
    assert_eq!(judge_load(&closed(), None, &measured).reasons[1].code().id(), "unserved");
    let spec = closed().with(|it| it.extent = Extent::Requests { count: 92_000, within_ns: None });
    assert_eq!(judge_load(&spec, None, &measured).reasons.len(), 1);
}

#[test]
fn beside_a_server_that_died_or_was_silent_no_connections_and_no_threads_are_advised() {
    let second = |at: u32, completed, failed| Interval {
        at_s: f64::from(at),
        length_s: 1.0,
        completed,
        failed,
        ..Interval::default()
    };
    let judged = |spec: &LoadSpec, alive: bool, silences: &[(f64, f64)], busy: f64| {
        let mut measured = unsent(NotSent::WaitingAtEnd, 50_000, busy);
        measured.steps = (0..10).map(|at| second(at, if at < 5 || alive { 1_000 } else { 0 }, 1)).collect();
        measured.silences = silences
            .iter()
            .map(|(at_s, length_s)| Silence { at_s: *at_s, length_s: *length_s, ..Silence::default() })
            .collect();
        if spec.model != LoadModel::Closed {
            measured.latency_us.service = Some(summary(50_000.0, 50_000));
        }
        let validity = judge_load(spec, None, &measured);
        let said = |reason: Reason| format!("{} {}", words(&reason), reason.cure.map_or("", Cure::id));
        validity.reasons.into_iter().map(said).collect::<Vec<_>>().join(" | ")
    };
    let rate = open(10_000.0);
    let well = judged(&rate, true, &[], 0.2);
    assert!(well.contains("did not keep up") && well.contains("try more connections"), "{well}");
    let silent = judged(&rate, true, &[(4.5, 1.0)], 0.2);
    assert!(silent.contains("no whole reply for 1.00 s") && !silent.contains("more connections"), "{silent}");
    let died = judged(&rate, false, &[(5.0, 5.0)], 0.2);
    assert!(died.starts_with("the server stopped answering (never sent, of 10,000 requests a second: "), "{died}");
    assert!(!died.contains("keep up") && !died.contains("more connections"), "one cause: {died}");
    let closed = closed();
    assert!(judged(&closed, true, &[], 0.9).contains("more-threads"));
    for (alive, silences) in [(true, (4.5, 1.0)), (false, (5.0, 5.0))] {
        let busy = judged(&closed, alive, &[silences], 0.9);
        assert!(busy.contains("the server does at least this") && !busy.contains("threads"), "{busy}");
        let idle = judged(&closed, alive, &[silences], 0.2);
        assert!(idle.contains("the server was the limit, ") && !idle.contains("connections"), "{idle}");
    }
}

#[test]
fn cpus_that_others_use_are_named_beside_a_server_that_was_silent_or_stopped() {
    let limit = |silence: (f64, f64), waited: f64| {
        let mut measured = measurement(100.0, 9_200.0, 0.2);
        let (at_s, length_s) = silence;
        measured.silences = vec![Silence { at_s, length_s, failed: Some(9), refused: Some(9), ..Silence::default() }];
        let thread = &mut measured.generator.threads[0];
        thread.run_delay_s = Some(waited * thread.wall_s);
        words(&judge_load(&closed(), None, &measured).reasons[0])
    };
    for (silence, said) in [((4.5, 1.0), "which was silent meanwhile"), ((8.0, 2.0), "stopped answering")] {
        let (alone, starved) = (limit(silence, 0.09), limit(silence, 0.1));
        assert!(alone.contains(said) && alone.contains(": the server was the limit, "), "{alone}");
        assert!(starved.contains(said) && starved.ends_with(", or CPUs that others use too"), "{starved}");
    }
}

/// Twenty seconds with these rates, one after another in equal parts.
fn with_rates(rates: &[u64]) -> Measurement {
    let mut load = measurement(100.0, 1_000.0, 0.1);
    load.window_s = 20.0;
    let second = |at: usize| Interval {
        at_s: at as f64,
        length_s: 1.0,
        completed: rates[at * rates.len() / 20],
        ok: rates[at * rates.len() / 20] + at as u64 % 3,
        ..Interval::default()
    };
    load.steps = (0..20).map(second).collect();
    load
}

#[test]
fn a_server_that_gets_slower_is_told_with_its_figures() {
    let said = |rates: &[u64]| {
        let validity = judge_load(&closed(), None, &with_rates(rates));
        validity.reasons.into_iter().find(|reason| reason.code() == Mark::SlowDown.into()).map(|reason| words(&reason))
    };
    let text = "the server got slower inside the window (requests/s: 1,746 from second 0, 503 from second 10)";
    assert_eq!(said(&[1_745, 502]).as_deref(), Some(text));
    assert!(said(&[1_745, 1_500, 1_200, 900, 700, 502]).is_some(), "to the end");
    assert_eq!(said(&[1_000]), None);
    assert_eq!(said(&[502, 1_745]), None, "it got faster");
    let mut load = with_rates(&[1_000]);
    for second in &mut load.steps {
        second.p99_us = Some(if second.at_s < 12.0 { 5_000.0 } else { 9_000.0 });
    }
    let of = |load: &Measurement| words(&judge_load(&closed(), None, load).reasons.pop().unwrap());
    assert!(of(&load).contains("ms of p99: 5.00 from second 0, 9.00 from second 12"), "{}", of(&load));
}

#[test]
fn a_server_that_died_in_the_warm_up_is_said_to_have_answered() {
    let mut load = unsent(NotSent::Refused, 100_000, 0.1);
    load.steps = vec![Interval { at_s: -2.0, length_s: 2.0, completed: 20_000, ..Interval::default() }];
    let validity = judge_load(&closed(), None, &load);
    let text = "no request got a complete reply: 100,000 refused; the server answered 20,000 requests in the warm-up, \
                until less than a second before the window";
    assert_eq!(said(&validity.reasons), (LimitCode::NoReply.into(), text.to_owned()));
    load.answered_until_s = Some(-1.0);
    let text = words(&judge_load(&closed(), None, &load).reasons[0]);
    assert!(text.ends_with("in the warm-up, until 1.00 s before the window"), "{text}");
}

#[test]
fn who_refuses_everybody_is_not_excused_by_a_standstill() {
    for spec in [closed(), open(10_000.0)] {
        let mut load = unsent(NotSent::Refused, 100_000, 0.1);
        load.standstills = Some(Standstills { count: 1, sum_s: 2.0, longest_s: 2.0, ..Standstills::default() });
        let validity = judge_load(&spec, None, &load);
        assert_eq!((validity.verdict, validity.failing.bad), (Verdict::Valid, true));
        assert_eq!(validity.reasons[0].code(), LimitCode::NoReply.into());
    }
}

#[test]
fn where_nothing_was_right_nothing_is_said_of_a_limit() {
    for spec in [closed(), open(1_000.0)] {
        let mut load = measurement(100.0, 1_000.0, 0.99);
        (load.accounting.bad_status, load.accounting.ok, load.in_window.ok) = (load.accounting.ok, 0, 0);
        let validity = judge_load(&spec, None, &load);
        let text = "no reply was right: 10,000 with a wrong status";
        assert_eq!(said(&validity.reasons), (LimitCode::NothingRight.into(), text.to_owned()));
        assert_eq!((validity.verdict, validity.failing.bad), (Verdict::Valid, true));
    }
}
