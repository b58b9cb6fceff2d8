//! What system calls and switches of context cost on this machine. A published article about I/O models argues with orders of magnitude (a
//! call that does not block takes some 20 ns, a switch under 100 or over 1,000), and measures neither.
//!
//! `make bench-system-calls` prints the median of 31 rounds, with the least and the most, per call. Under `cargo test` it makes one short
//! round, so that it cannot rot.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

use std::fs::File;
use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::time::Duration;

use engine::MonotonicClock;
use model::Clock;
use rustix::event::epoll;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// So much is read of a file in the article, too.
const FILE_BYTES: usize = 64 * 1024;

/// What is timed: its name, and so many of it in a row.
type Case = (&'static str, Box<dyn FnMut(u32) -> Duration>);

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (rounds, calls) = if is_bench { (31, 20_000) } else { (1, 10) };
    println!("| what | median | least | most |\n|---|---:|---:|---:|");
    for (name, mut time) in cases() {
        let mut each_ns: Vec<f64> = (0..rounds).map(|_| time(calls).as_nanos() as f64 / f64::from(calls)).collect();
        each_ns.sort_by(f64::total_cmp);
        let [least, most] = [each_ns[0], each_ns[rounds - 1]];
        assert!(least > 0.0 && most.is_finite(), "{name}: {each_ns:?}");
        println!("| {name} | {:.0} ns | {least:.0} ns | {most:.0} ns |", each_ns[rounds / 2]);
    }
}

fn cases() -> Vec<Case> {
    let (empty, _open) = silent_pipe();
    let watched = epoll::create(epoll::CreateFlags::empty()).unwrap();
    epoll::add(&watched, &empty, epoll::EventData::new_u64(0), epoll::EventFlags::IN).unwrap();
    let (mut reader, mut writer) = pipe().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![7; FILE_BYTES]).unwrap();
    let mut cases: Vec<Case> = vec![
        (
            "a call that has the kernel do nothing (getppid)",
            timed(|| {
                let _ = black_box(rustix::process::getppid());
            }),
        ),
        (
            "a read that does not block and finds nothing",
            timed(move || {
                let _kept = &_open;
                assert_eq!(rustix::io::read(&empty, &mut [0; 1]), Err(Errno::AGAIN));
            }),
        ),
        (
            "a look at what is ready, with nothing there (epoll)",
            timed(move || {
                let mut ready = Vec::with_capacity(1);
                let none = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
                let buffer = rustix::buffer::spare_capacity(&mut ready);
                assert_eq!(epoll::wait(&watched, buffer, Some(&none)).unwrap(), 0);
            }),
        ),
        (
            "one byte written to a pipe and read again",
            timed(move || {
                writer.write_all(&[1]).unwrap();
                reader.read_exact(&mut [0; 1]).unwrap();
            }),
        ),
        ("a file of 64 KiB read that is in memory", timed(move || read_all(&mut file))),
    ];
    let may_use = |cpu: usize| rustix::thread::sched_getaffinity(None).is_ok_and(|cpus| cpus.is_set(cpu));
    if may_use(0) {
        let name = "one byte handed to another thread on the same CPU: both calls, and a switch";
        cases.push((name, Box::new(|switches| switched([0, 0], switches))));
    }
    if may_use(0) && may_use(1) {
        cases.push((
            "one byte handed to a thread on another CPU: both calls, and waking it",
            Box::new(|switches| switched([0, 1], switches)),
        ));
    }
    cases
}

/// So many of a call in a row.
fn timed(mut call: impl FnMut() + 'static) -> Box<dyn FnMut(u32) -> Duration> {
    Box::new(move |calls| {
        let begun_ns = MonotonicClock.now_ns();
        (0..calls).for_each(|_| call());
        Duration::from_nanos(MonotonicClock.now_ns() - begun_ns)
    })
}

/// A pipe in which nothing lies, and whose reader does not wait. While the writer is held nothing tells of an end.
fn silent_pipe() -> (PipeReader, PipeWriter) {
    let (reader, writer) = pipe().unwrap();
    fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
    (reader, writer)
}

fn read_all(file: &mut File) {
    use std::io::Seek;
    let mut bytes = [0; FILE_BYTES];
    file.rewind().unwrap();
    file.read_exact(&mut bytes).unwrap();
    black_box(bytes);
}

/// How long so many switches take between two threads, each on its CPU, which hand a byte to and fro: every hand-over is one.
fn switched(cpus: [usize; 2], switches: u32) -> Duration {
    let ((mut ask, mut asked), (mut answer, mut answered)) = (pipe().unwrap(), pipe().unwrap());
    let there_and_back = switches.div_ceil(2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            on(cpus[1]);
            for _ in 0..=there_and_back {
                ask.read_exact(&mut [0; 1]).unwrap();
                answered.write_all(&[1]).unwrap();
            }
        });
        let first = scope.spawn(move || {
            on(cpus[0]);
            let mut hand_over = || {
                asked.write_all(&[1]).unwrap();
                answer.read_exact(&mut [0; 1]).unwrap();
            };
            // The first one waits for the other thread to start.
            hand_over();
            let begun_ns = MonotonicClock.now_ns();
            (0..there_and_back).for_each(|_| hand_over());
            Duration::from_nanos(MonotonicClock.now_ns() - begun_ns)
        });
        first.join().unwrap()
    })
}

/// The thread runs there alone; where it may not, wherever it likes.
fn on(cpu: usize) {
    let mut only = CpuSet::new();
    only.set(cpu);
    let _ = sched_setaffinity(None, &only);
}
