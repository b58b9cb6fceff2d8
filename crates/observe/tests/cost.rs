//! What watching costs. `cargo test --release -p bourdon-observe --test cost -- --ignored --nocapture --test-threads 1`

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use observe::{Family, Observer, ProcSource, Sampler};
use rustix::time::{ClockId, clock_gettime};
use support::monotonic;

#[test]
#[ignore = "takes ten seconds and prints a figure instead of judging it"]
fn cpu_of_the_observer_at_ten_looks_a_second_against_sixteen_threads() {
    let end = Arc::new(Barrier::new(15));
    for _ in 0..14 {
        let end = Arc::clone(&end);
        std::thread::spawn(move || end.wait());
    }
    let observer = Observer::start(
        Family::of(std::process::id()),
        None,
        ProcSource::default(),
        monotonic(),
        Duration::from_millis(100),
    )
    .unwrap();
    let before_ns = observer_cpu_ns();
    std::thread::sleep(Duration::from_secs(10));
    let used_ns = observer_cpu_ns() - before_ns;
    let samples = observer.stop();
    end.wait();
    let last = samples.last().unwrap();
    println!(
        "{} samples of {} threads and {:?} files: {} µs a look, {:.3} % of a core",
        samples.len(),
        last.threads,
        last.open_files,
        used_ns / 1000 / samples.len() as u64,
        used_ns as f64 / 1e8
    );
}

/// One whose slice has ended, one whose slice begins, and one that idles.
#[test]
#[ignore = "prints a figure instead of judging it"]
fn cpu_of_an_edge_between_slices_with_three_targets_of_sixteen_threads() {
    const EDGES: u64 = 1_000;
    let end = Arc::new(Barrier::new(15));
    for _ in 0..14 {
        let end = Arc::clone(&end);
        std::thread::spawn(move || end.wait());
    }
    let sampler = || Sampler::new(Family::of(std::process::id()), Some(1), &ProcSource::default(), monotonic());
    let [mut ended, mut begins, mut idles] = [sampler(), sampler(), sampler()];
    let before_ns = own_cpu_ns();
    for _ in 0..EDGES {
        let looks = [ended.sample_at_edge(), begins.sample(), idles.sample(), begins.sample_at_edge()];
        assert!(looks.iter().all(|look| look.threads >= 16));
    }
    let used_us = (own_cpu_ns() - before_ns) / 1000;
    end.wait();
    println!("{} µs an edge", used_us / EDGES);
}

fn own_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

/// From the scheduler's own books, in nanoseconds.
fn observer_cpu_ns() -> u64 {
    let named = |path: &PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name == "observer\n");
    // A thread names itself once it runs, which may be after it was started.
    let observer = loop {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        if let Some(found) = tasks.flatten().map(|entry| entry.path()).find(named) {
            break found;
        }
        std::thread::yield_now();
    };
    let books = std::fs::read_to_string(observer.join("schedstat")).unwrap();
    books.split(' ').next().unwrap().parse().unwrap()
}
