//! What is booked at the end of a load for requests that never left.

use std::sync::mpsc;

use model::{
    Arrivals, Extent, HttpVersion, Load, LoadModel, LoadSpec, Mix, NS_PER_S, NotSent, ReplyExpectation, Request,
};
use proptest::prelude::*;

use super::charge_owed;
use crate::demand::Demand;
use crate::ledger::Ledger;
use crate::part::Part;
use crate::port::Port;
use crate::second::Felt;

const MS: u64 = 1_000_000;

/// What is charged to, and what for.
type Books<'a> = (&'a mut Demand, &'a mut Ledger);

fn spec(rate_per_s: f64, arrivals: Arrivals, extent: Extent, threads: u32) -> LoadSpec {
    LoadSpec {
        load: Load {
            mix: Mix::one(
                Request {
                    method: "GET".to_owned(),
                    path: "/".to_owned(),
                    host: "x".to_owned(),
                    headers: Vec::new(),
                    body: Vec::new(),
                    version: HttpVersion::Http11,
                },
                ReplyExpectation::default(),
            ),
            model: LoadModel::Open { rate_per_s, arrivals },
            connections: 1,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            warm_up_ns: 300 * MS,
            extent,
            network_delay_ns: 0,
        },
        address: "127.0.0.1:1".parse().expect("an address"),
        start_spread_ns: 0,
        threads,
        cpus: Vec::new(),
        seed: 42,
        sources: Vec::new(),
        tls: None,
        spin: false,
        quick_ack: false,
    }
}

/// The books of a load of which nothing more leaves after some standstills, charged as `charge` does.
fn books(spec: &LoadSpec, standstills: &[(u64, u64)], now_ns: u64, charge: impl Fn(Books<'_>, u64)) -> Part {
    let (full, _seconds) = mpsc::channel();
    let (_empty, empty) = mpsc::channel();
    let mut demand = Demand::new(spec, spec.threads - 1, 17);
    let mut ledger = Ledger::new(
        Felt::Response,
        false,
        demand.window,
        17,
        Port { thread: 0, told: full, empty, waits: false, raw: None },
    );
    let mut from_ns = 17;
    for (after_ns, length_ns) in standstills {
        from_ns += after_ns;
        ledger.stood_still(from_ns, from_ns + length_ns);
        from_ns += length_ns;
    }
    if demand.window.end_ns > now_ns {
        demand.stop(now_ns);
        ledger.move_end(demand.window);
    }
    charge((&mut demand, &mut ledger), now_ns);
    ledger.close(now_ns);
    ledger.into_part()
}

fn one_by_one((demand, ledger): Books<'_>, free_since_ns: u64, without: NotSent, now_ns: u64) {
    while let Some(due_ns) = demand.next_due_ns() {
        demand.take_due(due_ns);
        ledger.scheduled(due_ns, 1);
        let kind = if due_ns < free_since_ns { without } else { NotSent::LateAtEnd };
        ledger.not_sent(due_ns, 1, kind, 0, now_ns);
    }
}

proptest! {
    #[test]
    fn what_never_left_is_booked_as_if_one_by_one(
        rate in 1.0f64..300_000.0,
        poisson: bool,
        extent in prop_oneof![
            (1..2_000u64).prop_map(|ms| Extent::Window(ms * MS)),
            (1..50_000u64, 1..2_000u64)
                .prop_map(|(count, ms)| Extent::Requests { count, within_ns: Some(ms * MS) }),
        ],
        threads in 1u32..4,
        standstills in prop::collection::vec((0..800 * MS, 10 * MS..500 * MS), 0..4),
        now_ns in 0..4_000 * MS,
        free_since_ns in prop_oneof![Just(u64::MAX), 0..2_500 * MS],
        paused: bool,
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let spec = spec(rate, arrivals, extent, threads);
        let without = if paused { NotSent::PausedAtEnd } else { NotSent::WaitingAtEnd };
        let at_once = |to: Books<'_>, now_ns| charge_owed(to, free_since_ns, without, now_ns);
        let one_by_one = |to: Books<'_>, now_ns| one_by_one(to, free_since_ns, without, now_ns);
        let charged = books(&spec, &standstills, now_ns, at_once);
        prop_assert_eq!(charged, books(&spec, &standstills, now_ns, one_by_one));
    }
}

/// At the highest rate for a day: one by one this test would not end within hours.
#[test]
fn more_requests_than_can_be_looked_at_are_booked_at_once() {
    let day_ns = 86_400 * NS_PER_S;
    let spec = spec(1e7, Arrivals::Constant, Extent::Window(day_ns), 1);
    let charge = |to: Books<'_>, now_ns| charge_owed(to, u64::MAX, NotSent::WaitingAtEnd, now_ns);
    let part = books(&spec, &[], day_ns + NS_PER_S, charge);
    assert_eq!(part.books.not_sent[&NotSent::WaitingAtEnd], 864_000_000_000);
}
