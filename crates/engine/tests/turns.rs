//! Loads that follow each other on connections that stay open: each is measured as if it were alone.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::simulation::{Language, SimulatedServer, Turns, simulate_rotation, simulate_turns};
use engine::{RunOptions, SliceSpec, Sliced, rotate};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use model::{ConnectionCounts, LoadModel, LoadSpec, Measurement, Mix, Tls, Trust, stirred};
use support::{MS, checked, hello, open, server, spec};

const WINDOW_NS: u64 = 100 * MS;
const REST_NS: u64 = 900 * MS;

fn turns(spec: &LoadSpec, server: SimulatedServer) -> Vec<Measurement> {
    let loads = [spec.clone(), spec.clone(), spec.clone()];
    let turns = Turns { loads: &loads, drain_ns: WINDOW_NS, rest_ns: REST_NS };
    let outputs = simulate_turns(&turns, server, RunOptions::default(), &mut |_| {}).unwrap();
    outputs.into_iter().map(|output| checked(output.measurement)).collect()
}

fn with_lead_in(model: LoadModel, connections: u32) -> LoadSpec {
    let mut spec = spec(model, connections, WINDOW_NS);
    (spec.warm_up_ns, spec.start_spread_ns) = (20 * MS, 5 * MS);
    spec
}

/// Without what the first one alone has: connections to open.
fn but_for_opening(mut measured: Measurement) -> Measurement {
    measured.connections = ConnectionCounts { opened: 0, kept: 0, ..measured.connections };
    measured.latency_us.connect = None;
    measured
}

#[test]
fn each_is_measured_as_if_it_were_alone_and_what_lies_between_is_nobody_s() {
    for model in [LoadModel::Closed, open(3_000.0)] {
        let measured = turns(&with_lead_in(model, 10), hello(2 * MS));
        let opened: Vec<u64> = measured.iter().map(|it| it.connections.opened).collect();
        assert_eq!(opened, [10, 0, 0]);
        let [alone, second, third] = measured.try_into().unwrap();
        assert_eq!(alone.accounting.completed, if model == LoadModel::Closed { 500 } else { 300 });
        assert!(alone.standstills.is_none() && alone.silences.is_empty(), "{alone:?}");
        let alone = but_for_opening(alone);
        assert_eq!([but_for_opening(second), but_for_opening(third)], [alone.clone(), alone]);
    }
}

#[test]
fn what_does_not_drain_is_booked_there_and_never_comes_to_the_next() {
    let measured = turns(&with_lead_in(LoadModel::Closed, 4), hello(350 * MS));
    for one in &measured {
        assert_eq!((one.accounting.completed, one.connections.unasked_replies), (0, 0));
        assert_eq!(one.awaited.iter().map(|it| it.requests).sum::<u64>(), 4, "{one:?}");
    }
    assert_eq!(measured.iter().map(|it| it.connections.opened).collect::<Vec<_>>(), [4, 4, 4], "opened anew");
}

#[test]
fn connections_that_the_server_closed_between_two_are_counted_and_cost_no_request() {
    let server = SimulatedServer { closes_idle: Some((10, 500 * MS)), ..hello(2 * MS) };
    let [first, second, third] = turns(&with_lead_in(LoadModel::Closed, 10), server).try_into().unwrap();
    assert_eq!((first.connections.closed_idle, first.connections.opened), (0, 10));
    for one in [second, third] {
        assert_eq!((one.connections.closed_idle, one.connections.opened), (10, 10));
        assert_eq!((one.accounting.completed, one.accounting.failed.values().sum::<u64>()), (500, 0));
    }
}

#[test]
fn a_connection_that_is_lost_and_refused_does_not_end_the_load_of_those_that_were_kept() {
    let server = SimulatedServer { closes_idle: Some((1, 500 * MS)), refuses_from: Some(500 * MS), ..hello(2 * MS) };
    let [first, second, _] = turns(&with_lead_in(LoadModel::Closed, 10), server).try_into().unwrap();
    assert_eq!((first.connections.kept, first.accounting.completed), (0, 500));
    let ConnectionCounts { opened, kept, connect_failed, never_served, .. } = second.connections;
    assert_eq!((opened, kept, never_served, second.accounting.completed), (0, 10, 1, 450));
    assert!(connect_failed > 0 && (second.window_s - 0.1).abs() < 1e-9, "{second:?}");
}

#[test]
fn slices_go_round_among_servers_whose_connections_stay_open() {
    let specs: Vec<LoadSpec> =
        (0..2).map(|_| LoadSpec { address: server(), threads: 2, ..spec(LoadModel::Closed, 6, MS) }).collect();
    let order = [0, 1, 1, 0, 1];
    let sliced = RefCell::new(Vec::<Sliced>::new());
    let mut next = |last: Option<Sliced>| {
        sliced.borrow_mut().extend(last);
        let turn = sliced.borrow().len();
        let server = *order.get(turn)?;
        Some(SliceSpec { server, counts: turn > 0, lead_in_ns: 20 * MS, window_ns: 30 * MS, seed: turn as u64 })
    };
    let whole = rotate(&specs, RunOptions::default(), &AtomicBool::new(false), &mut next, &mut |_| {}).unwrap();
    let sliced = sliced.into_inner();
    assert!(sliced.windows(2).all(|pair| pair[0].end_ns < pair[1].begin_ns), "their times do not overlap: {sliced:?}");
    for Sliced { begin_ns, end_ns, figures, .. } in &sliced {
        assert!(end_ns - begin_ns >= 50 * MS && figures.replies > figures.completed && figures.completed > 0);
        assert_eq!((figures.completed, figures.failed, figures.not_drained), (figures.ok, 0, 0));
    }
    for (whole, slices) in whole.into_iter().zip([vec![3], vec![1, 2, 4]]) {
        let measured = checked(whole.unwrap().measurement);
        assert_eq!(
            (measured.connections.opened, measured.connections.kept),
            (6, 0),
            "in its warm-up, or in its first slice"
        );
        assert_eq!(measured.connections.opened_in_window, Some(0));
        assert_eq!(
            (measured.steps.iter().filter(|it| it.at_s >= 0.0).count(), measured.generator.threads.len()),
            (slices.len(), 2)
        );
        let completed: u64 = slices.iter().map(|turn: &usize| sliced[*turn].figures.completed).sum();
        assert_eq!(measured.in_window.completed, completed);
    }
}

/// Slices of a fifth more or less than 300 ms, round by round; the first of each server is a warm-up of 2 s. In virtual time.
fn rotated(model: LoadModel, servers: Vec<SimulatedServer>, rounds: usize) -> (Vec<Sliced>, Vec<Measurement>) {
    rotated_as(&spec(model, 10, MS), servers, rounds)
}

/// The same of another load.
fn rotated_as(load: &LoadSpec, servers: Vec<SimulatedServer>, rounds: usize) -> (Vec<Sliced>, Vec<Measurement>) {
    let loads: Vec<LoadSpec> = servers.iter().map(|_| LoadSpec { start_spread_ns: 5 * MS, ..load.clone() }).collect();
    let (count, mut sliced) = (servers.len(), Vec::new());
    let mut next = |last: Option<Sliced>| {
        sliced.extend(last);
        let (server, round) = (sliced.len() % count, sliced.len() / count);
        let window_ns = if round == 0 { 2_000 * MS } else { 240 * MS + round as u64 % 3 * 60 * MS };
        let slice = SliceSpec { server, counts: round > 0, lead_in_ns: 20 * MS, window_ns, seed: round as u64 };
        (round <= rounds).then_some(slice)
    };
    let whole =
        simulate_rotation(&loads, servers, RunOptions::default(), &AtomicBool::new(false), &mut next, &mut |_| {})
            .unwrap();
    (sliced, whole.into_iter().map(|whole| checked(whole.unwrap().measurement)).collect())
}

#[test]
fn slices_of_a_server_come_to_one_load_in_its_own_time() {
    for model in [LoadModel::Closed, open(1_500.0)] {
        let (sliced, whole) = rotated(model, vec![hello(2 * MS), hello(5 * MS)], 6);
        for (server, (measured, service_ms)) in whole.into_iter().zip([2.0, 5.0]).enumerate() {
            let slices: Vec<&Sliced> = sliced.iter().skip(2 + server).step_by(2).collect();
            assert!((measured.window_s - 1.8).abs() < 1e-9, "{}", measured.window_s);
            let per_s = if model == LoadModel::Closed { 10_000.0 / service_ms } else { 1_500.0 };
            let off = measured.requests_per_s() / per_s;
            assert!((off - 1.0).abs() < 0.02, "{off}");
            let mut at_s = 0.0;
            let steps: Vec<_> = measured.steps.iter().filter(|step| step.at_s >= 0.0).collect();
            assert_eq!(steps.len(), 6);
            for (step, Sliced { figures, begin_ns, end_ns, .. }) in steps.iter().zip(slices) {
                assert!((step.at_s - at_s).abs() < 1e-9 && (step.length_s - figures.window_s).abs() < 1e-9, "{step:?}");
                assert_eq!(
                    (step.completed, step.p50_us, step.p99_us.is_some()),
                    (figures.completed, figures.p50_us, true)
                );
                assert!((figures.length_s - (end_ns - begin_ns) as f64 / 1e9).abs() < 1e-9);
                let halves = figures.halves.unwrap();
                assert_eq!(halves[0].completed + halves[1].completed, figures.completed);
                assert!(
                    halves.iter().all(|it| (it.mean_service_us().unwrap() - service_ms * 1e3).abs() < 1.0),
                    "{halves:?}"
                );
                assert!(figures.length_s >= figures.window_s + 0.02 && figures.replies >= figures.completed);
                at_s += figures.window_s;
            }
            let [first, second] = measured.in_window.halves;
            assert!(first.completed.abs_diff(second.completed) < 20, "{first:?}, {second:?}");
            let kept = ConnectionCounts { opened: 10, kept: 0, never_served: 0, ..measured.connections };
            assert_eq!(measured.connections, kept);
            assert!(measured.standstills.is_none() && measured.silences.is_empty() && measured.awaited.is_empty());
        }
    }
}

#[test]
fn a_slice_keeps_whole_what_those_with_a_reply_felt() {
    let slow = Some((50, 20 * MS));
    for model in [LoadModel::Closed, open(1_500.0)] {
        let (sliced, whole) = rotated(model, vec![SimulatedServer { slow, ..hello(2 * MS) }], 6);
        let mut merged = Histogram::<u64>::new(3).unwrap();
        for Sliced { figures, .. } in &sliced[1..] {
            let bytes = STANDARD.decode(figures.felt.as_ref().unwrap()).unwrap();
            let felt: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            let us = |ticks: u64| Some(ticks as f64 / 10.0);
            assert_eq!(us(felt.value_at_quantile(0.5)), figures.p50_us);
            assert!(figures.p99_us.is_none_or(|p99_us| us(felt.value_at_quantile(0.99)) == Some(p99_us)));
            merged.add(&felt).unwrap();
        }
        let felt = whole[0].latency_us.felt().unwrap();
        assert_eq!((merged.len(), Some(merged.value_at_quantile(0.99) as f64 / 10.0)), (felt.count, felt.p99));
    }
    let (sliced, _) = rotated(LoadModel::Closed, vec![hello(3_000 * MS)], 1);
    assert_eq!(sliced[1].figures.felt, None, "nothing had a reply");
}

#[test]
fn a_load_goes_round_in_another_protocol_and_over_tls_as_well() {
    let tls = Some(Tls { server_name: "x".into(), trust: Trust::Anyone, resumption: false });
    for (language, tls) in [(Language::Http1, tls.clone()), (Language::Echo, None), (Language::Echo, tls)] {
        let load = spec(LoadModel::Closed, 10, MS).with(|it| {
            let expect = it.mix.first().expect.clone();
            it.mix = Mix::one(support::request("POST", "/", b"Hello world"), expect);
            it.tls = tls.clone();
        });
        let server = |ms| match language {
            Language::Http1 => hello(ms * MS),
            Language::Echo => SimulatedServer { language, replies: vec![b"Hello world".to_vec()], ..hello(ms * MS) },
        };
        let (_, whole) = rotated_as(&load, vec![server(2), server(5)], 6);
        for (measured, per_s) in whole.iter().zip([5_000.0, 2_000.0]) {
            assert!(
                (measured.requests_per_s() / per_s - 1.0).abs() < 0.02,
                "{language:?}: {}",
                measured.requests_per_s()
            );
            assert_eq!((measured.connections.opened, measured.tls.is_some()), (10, tls.is_some()), "{language:?}");
        }
    }
}

#[test]
fn connections_that_ended_while_another_server_was_warmed_up_are_no_sign_that_they_end_between_slices() {
    let closing = |after_ms| SimulatedServer { closes_idle: Some((10, after_ms * MS)), ..hello(2 * MS) };
    // Both are warmed up, for long and once more for a moment; then there are three rounds.
    for (after_ms, ended) in [(1_000, 0), (100, 3 * 10)] {
        let (mut turn, servers) = (0, vec![closing(after_ms), hello(2 * MS)]);
        let loads = [spec(LoadModel::Closed, 10, MS), spec(LoadModel::Closed, 10, MS)];
        let mut next = |_| {
            let (server, round) = (turn % 2, turn / 2);
            turn += 1;
            let window_ns = if round == 0 { 2_000 * MS } else { 300 * MS };
            (round < 5).then_some(SliceSpec { server, counts: round > 1, lead_in_ns: 20 * MS, window_ns, seed: 1 })
        };
        let stop = AtomicBool::new(false);
        let whole = simulate_rotation(&loads, servers, RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
        let ConnectionCounts { closed_idle, opened, .. } = whole[0].as_ref().unwrap().measurement.connections;
        assert_eq!((closed_idle, opened), (ended, 10 + 10 + ended), "after {after_ms} ms");
    }
}

#[test]
fn a_server_that_falls_silent_in_one_slice_is_silent_until_it_answers_in_another() {
    // From within the second round until after the fifth: what does not drain is asked for anew.
    let stall = Some((5_000 * MS, 2_200 * MS));
    let (sliced, whole) =
        rotated(LoadModel::Closed, vec![hello(2 * MS), SimulatedServer { stall, ..hello(2 * MS) }], 12);
    let not_drained: u64 = sliced.iter().map(|slice| slice.figures.not_drained).sum();
    let [well, silent] = &whole[..] else { unreachable!("two servers") };
    assert!(well.silences.is_empty() && well.awaited.is_empty(), "{:?}", well.silences);
    assert_eq!(silent.awaited.iter().map(|it| it.requests).sum::<u64>(), not_drained);
    let [silence] = &silent.silences[..] else { panic!("{:?}", silent.silences) };
    let empty: f64 =
        sliced.iter().filter(|slice| slice.figures.completed == 0).map(|slice| slice.figures.window_s).sum();
    assert!(not_drained > 0 && silence.length_s >= empty && silence.length_s < empty + 0.7, "{silence:?}, {empty} s");
}

#[test]
fn of_a_server_that_answered_in_its_warm_up_alone_it_is_known_that_it_did() {
    // From before its first slice that counts on.
    let stall = Some((4_300 * MS, 60_000 * MS));
    let (sliced, whole) =
        rotated(LoadModel::Closed, vec![hello(2 * MS), SimulatedServer { stall, ..hello(2 * MS) }], 2);
    for (server, measured) in whole.iter().enumerate() {
        let [before, window @ ..] = &measured.steps[..] else { panic!("{measured:?}") };
        let warm_up = &sliced[server].figures;
        assert!(warm_up.completed > 9_000 && before.completed >= warm_up.completed && before.sent >= before.completed);
        assert!((before.at_s + before.length_s).abs() < 1e-9 && before.length_s > warm_up.window_s, "{before:?}");
        assert_eq!(window.len(), 2);
        assert_eq!(measured.answered_until_s, Some(0.0), "to the whole second");
        assert!(measured.slowest_reply_s.is_some_and(|slowest_s| (slowest_s - 0.002).abs() < 1e-4), "{measured:?}");
    }
    assert_eq!(whole[1].in_window.completed, 0, "it never answered again");
}

/// Ten rounds of slices among servers that 100 connections load, the first of each a warm-up; gives what each server's came to.
fn at_100(servers: Vec<SimulatedServer>) -> (Vec<Sliced>, Vec<Measurement>) {
    let loads: Vec<LoadSpec> = servers.iter().map(|_| spec(LoadModel::Closed, 100, MS)).collect();
    let (count, mut sliced, stop) = (servers.len(), Vec::new(), AtomicBool::new(false));
    let mut next = |last: Option<Sliced>| {
        sliced.extend(last);
        let (server, round) = (sliced.len() % count, (sliced.len() / count) as u64);
        let window_ns = if round == 0 { 1_000 * MS } else { 200 * MS + round * 7 % 10 * 10 * MS };
        (round <= 10).then_some(SliceSpec { server, counts: round > 0, lead_in_ns: 20 * MS, window_ns, seed: round })
    };
    let whole = simulate_rotation(&loads, servers, RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
    (sliced, whole.into_iter().map(|whole| checked(whole.unwrap().measurement)).collect())
}

#[test]
fn the_rate_of_replies_that_all_take_alike_long_does_not_depend_on_where_a_slice_begins_and_ends() {
    for service_ms in [30, 50, 70, 90] {
        for percent in [0, 5, 10] {
            let server = SimulatedServer { jitter_ns: service_ms * percent * MS / 100, ..hello(service_ms * MS) };
            let (sliced, whole) = at_100(vec![server, hello(MS)]);
            let took_s = service_ms as f64 / 1e3 * (1.0 + percent as f64 / 200.0);
            let off = whole[0].requests_per_s() * took_s / 100.0 - 1.0;
            assert!(off.abs() < 0.01, "{service_ms} ms and up to {percent} % more: {off}");
            for Sliced { figures, .. } in sliced.iter().skip(2).step_by(2) {
                let lead_in_s = figures.length_s - figures.window_s;
                assert!(lead_in_s >= 2.0 * service_ms as f64 / 1e3, "each has had a reply: {figures:?}");
                assert_eq!(figures.not_drained, 0);
            }
        }
    }
}

#[test]
fn who_answers_a_little_sooner_is_a_little_faster_though_all_replies_take_alike_long() {
    let (_, whole) = at_100(vec![hello(9_900_000), hello(10_100_000)]);
    let ratio = whole[0].requests_per_s() / whole[1].requests_per_s();
    assert!((ratio * 99.0 / 101.0 - 1.0).abs() < 0.002, "{ratio}");
}

#[test]
fn the_lead_in_grows_with_what_replies_take_up_to_a_bound_and_not_under_an_open_load() {
    let lead_ins = |sliced: &[Sliced]| -> Vec<f64> {
        let round = sliced.iter().skip(2).map(|it| it.figures.length_s - it.figures.window_s);
        round.collect()
    };
    let (sliced, _) = at_100(vec![hello(150 * MS), hello(2 * MS)]);
    for (at, lead_in_s) in lead_ins(&sliced).into_iter().enumerate() {
        // Replies that outlast it are waited for 100 ms long; the others take as long as one.
        let expected_s = if at % 2 == 0 { 0.2 + 0.1 } else { 0.02 + 0.002 };
        assert!((lead_in_s - expected_s).abs() < 0.002, "{lead_in_s}");
    }
    let (sliced, _) = rotated(open(1_500.0), vec![hello(2 * MS), hello(5 * MS)], 6);
    assert!(lead_ins(&sliced).into_iter().all(|lead_in_s| lead_in_s < 0.02 + 0.006), "{:?}", lead_ins(&sliced));
}

#[test]
fn what_comes_at_even_distances_is_counted_at_its_rate_behind_a_lead_in_of_whole_distances() {
    // The distances are 6.25, 10, 1 and 5 ms.
    for (model, connections, service_us, lead_in_ms, per_s) in [
        (open(160.0), 10, 50, 50, 160.0),
        (open(100.0), 10, 50, 100, 100.0),
        (open(1_000.0), 10, 2_000, 20, 1_000.0),
        (LoadModel::Closed, 4, 20_000, 40, 200.0),
    ] {
        let loads = [0, 1].map(|_| LoadSpec { start_spread_ns: 20 * MS, ..spec(model, connections, MS) });
        let (mut counted, stop) = (Vec::new(), AtomicBool::new(false));
        let mut next = |last: Option<Sliced>| {
            counted.extend(last.map(|last| (last.figures.completed, last.figures.window_s)));
            let (server, round) = (counted.len() % 2, counted.len() as u64 / 2);
            let (lead_in_ns, window_ns) = (lead_in_ms * MS, 200 * MS + stirred(round) % (100 * MS));
            (round < 100).then_some(SliceSpec { server, counts: true, lead_in_ns, window_ns, seed: stirred(!round) })
        };
        let servers = vec![hello(service_us * 1_000); 2];
        simulate_rotation(&loads, servers, RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
        for pair in counted.chunks(2).skip(1) {
            assert_eq!(pair[0], pair[1], "all of a round are asked for the same");
        }
        let more: f64 =
            counted.iter().step_by(2).map(|(completed, window_s)| *completed as f64 - per_s * window_s).sum();
        // A window has up to one more or less, by half of one as a standard deviation at most.
        assert!(more.abs() < 4.0 * 0.5 * 10.0, "{model:?}: {more} replies more than {per_s} a second");
    }
}
