//! What looks like a fault and is none. `benches/gates.sh` takes each gate away and sees that its case fails.

use model::{Experiment, Suspect, WhyOpen};

use super::faulty::Faulty;
use super::{proved, why_open};
use crate::testing::cell_plan;

#[test]
fn a_busy_generator_is_not_a_limit_of_requests_at_once() {
    let diagnosis = Faulty { workers: 5.0, generator_busy: 0.85, ..Faulty::default() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::Limit)), (0, Some(WhyOpen::Busy)));
}

#[test]
fn what_connections_hold_even_once_closed_is_not_a_limit_of_requests_at_once() {
    // Nobody is served more by closing, so it is not the connections that are kept; and a delay halves what requests would be limited to.
    let diagnosis = Faulty { workers: 20.0, holds: true, holds_closed: true, ..Faulty::default() }.diagnosed();
    assert!(proved(&diagnosis).is_empty(), "{diagnosis:?}");
    assert_eq!(why_open(&diagnosis, Suspect::Limit), Some(WhyOpen::NotByControl), "{diagnosis:?}");
}

#[test]
fn a_server_that_becomes_slower_is_not_held_against_what_it_was() {
    let slower = |experiment, nth| match experiment {
        Experiment::Crowd { connections } if connections > 1 && nth > 1 => 0.86,
        _ => 1.0,
    };
    let diagnosis = Faulty { workers: 20.0, pace: slower, ..Faulty::default() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::Limit)), (0, Some(WhyOpen::NotAgain)));
}

#[test]
fn of_the_memory_of_a_jvm_nothing_is_said() {
    let diagnosis = Faulty { keeps_bytes: 5_000.0, jvm: true, ..Faulty::default() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::MemoryGrowth)), (0, Some(WhyOpen::Jvm)));
}

#[test]
fn a_heap_that_grows_by_some_bytes_a_request_is_not_a_leak() {
    let diagnosis = Faulty { keeps_bytes: 40.0, service_s: 0.0005, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert_eq!(why_open(&diagnosis, Suspect::MemoryGrowth), None, "it was looked for");
}

#[test]
fn threads_of_a_pool_that_fills_are_not_kept_for_good() {
    // A slow server, of which few requests can be asked: all of them find a pool that still grows.
    let diagnosis = Faulty { service_s: 0.2, threads_at_most: 1_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
}

#[test]
fn light_requests_that_are_slow_anyhow_do_not_wait_for_heavy_ones() {
    let heavy = Some(cell_plan("a", &[], 1, 0).load.mix);
    let diagnosis = Faulty { slowest_s: 0.09, ..Faulty::default() }.diagnosed_with(heavy);
    assert_eq!(diagnosis.findings, []);
    assert_eq!(why_open(&diagnosis, Suspect::BlockedLoop), Some(WhyOpen::Void), "{diagnosis:?}");
}
