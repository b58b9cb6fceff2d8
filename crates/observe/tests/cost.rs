//! What watching costs. `cargo test --release -p bourdon-observe --test cost -- --ignored --nocapture`

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use observe::{Observer, ProcSource};
use support::monotonic;

#[test]
#[ignore = "takes ten seconds and prints a figure instead of judging it"]
fn cpu_of_the_observer_at_ten_looks_a_second_against_sixteen_threads() {
    let end = Arc::new(Barrier::new(15));
    for _ in 0..14 {
        let end = Arc::clone(&end);
        std::thread::spawn(move || end.wait());
    }
    let observer =
        Observer::start(std::process::id(), None, ProcSource::default(), monotonic(), Duration::from_millis(100))
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
