//! What bounded a load, where that is known beforehand: a server of known capacity, a generator with a share of a CPU.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use specimens::{Kind, Settings};
use support::{Specimen, load};

#[test]
fn a_rate_that_no_generator_can_send_is_void() {
    let specimen = Specimen::of(Kind::Clean);
    let document = load(&specimen.url(), &["-R", "5000000", "-d", "300ms", "--warm-up", "0s"]).document_with(3);
    assert_eq!(document.verdict(), "void");
    assert!(["rate-not-reached", "generator-stalled"].contains(&document.codes()[0]), "{document:?}");
    assert_eq!(document.count("accounting/scheduled"), 1_500_000);
    assert!(document.count("accounting/not_sent/waiting-at-end") > 0);
}

#[test]
fn a_window_in_which_nothing_was_due_says_nothing_of_the_server() {
    let specimen = Specimen::of(Kind::Clean);
    let ended = load(&specimen.url(), &["-R", "2", "-d", "300ms", "--warm-up", "100ms"]);
    let document = ended.document_with(3);
    assert_eq!((document.verdict(), document.codes()), ("void", vec!["nothing-due"]), "{document:?}");
    assert_eq!(document.count("accounting/scheduled"), 0);
}

/// Codes of what bounds a closed load whose generator may have been held up: on a busy machine it stands still.
const STALLED: &str = "generator-stalled";

#[test]
fn a_server_of_known_capacity_is_the_limit_of_a_generator_that_only_waits() {
    let delay = Duration::from_millis(10);
    let pool = Settings { workers: 2, handler_delay: delay, ..Settings::new(Kind::Pool) };
    let specimen = Specimen::start(pool);
    let document = load(&specimen.url(), &["-c", "8", "-d", "500ms", "--warm-up", "100ms"]).document_with(0);
    // Each of two workers sleeps 10 ms for a request: 50 in the window, and one that began before it.
    let completed = document.count("in_window/completed");
    assert!((1..=2 * 51).contains(&completed), "{completed} of 102 that two workers can answer");
    assert!(document.latency_s("service/min") >= 0.999 * delay.as_secs_f64(), "{document:?}");
    // So few requests keep no generator busy.
    if document.codes()[0] != STALLED {
        assert_eq!((document.verdict(), document.codes()[0]), ("valid", "server-bound"), "{document:?}");
    }
}

#[test]
fn a_generator_that_has_a_quarter_of_a_cpu_may_have_been_the_limit() {
    let cpus = sched_getaffinity(None).unwrap();
    if cpus.count() < 2 {
        return eprintln!("NOT RUN: server and generator have one CPU");
    }
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu)).unwrap());
    let specimen = Specimen::of(Kind::Clean);
    let done = AtomicBool::new(false);
    let document = std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                sched_setaffinity(None, &one).unwrap();
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let pinned = threads.spawn(|| {
            sched_setaffinity(None, &one).unwrap();
            let ended = load(&specimen.url(), &["-d", "500ms", "--warm-up", "100ms"]);
            done.store(true, Ordering::Relaxed);
            ended
        });
        pinned.join().unwrap().document_with(0)
    });
    let generators = ["generator", STALLED].contains(&document.codes()[0]);
    // Where the server's CPU is shared too, the generator may have slept while it waited for the server.
    if generators || document.number("generator/neediest_thread") >= judge::thresholds::GENERATOR_BUSY {
        assert_eq!((document.verdict(), generators), ("at_least", true), "{document:?}");
    } else {
        assert_eq!((document.verdict(), document.codes()[0]), ("valid", "server-bound"), "{document:?}");
        let reason = document.get("validity/reasons/0/text").as_str().unwrap();
        assert!(reason.ends_with("or CPUs that others use too"), "{reason}");
    }
}
