//! Samples of real processes.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use model::{Clock as _, Sample};
use observe::{Family, Observer, ProcSource, Sampler};
use support::{Monotonic, Stopped, monotonic};

/// A shell, or another interpreter, that says how far it is, and goes on when it is sent a line.
struct Told {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Told {
    fn start(interpreter: &str, script: &str) -> Self {
        let mut command = Command::new(interpreter);
        let mut child = command
            .arg("-c")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is such an interpreter");
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn go_on(&mut self) {
        self.to.write_all(b"\n").unwrap();
    }

    fn end(mut self) {
        drop(self.to);
        let _ = self.from.read_to_end(&mut Vec::new());
        self.child.wait().unwrap();
    }
}

#[test]
fn a_child_that_worked_and_was_waited_for_is_counted_as_the_kernel_counts_it() {
    let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let script = format!("sh -c 'echo up; read x <&3; {work}' 3<&0; echo done; read x");
    let mut shell = Told::start("sh", &script);
    let mut sampler = Sampler::new(Family::of(shell.child.id()), None, &ProcSource::default(), monotonic());
    assert_eq!(shell.hear(), "up");
    let with_child = sampler.sample_now();
    assert_eq!(with_child.processes, 2);
    assert!(with_child.rss_bytes > 0 && with_child.threads == 2);
    assert!(with_child.open_files.unwrap() >= 6 && with_child.voluntary_switches.unwrap() > 0);
    shell.go_on();
    assert_eq!(shell.hear(), "done");
    let after = sampler.sample_now();
    assert_eq!(after.processes, 1);
    assert!(with_child.by_clock && !after.by_clock, "what was inherited is in ticks");
    let seen = after.cpu_user_s + after.cpu_system_s;
    assert!(seen > with_child.cpu_user_s + with_child.cpu_system_s, "the work shows");
    assert!((seen - kernel_cpu_s(shell.child.id())).abs() < 0.021, "{seen}");
    shell.end();
}

#[test]
fn a_child_that_nobody_waits_for_is_seen() {
    if Command::new("python3").arg("-V").output().is_err() {
        return eprintln!("NOT RUN: it takes python3");
    }
    for (ignores, end) in [(true, ""), (false, "os.wait()")] {
        let disposition = if ignores { "SIG_IGN" } else { "SIG_DFL" };
        let script = format!(
            "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.{disposition}); (r, w) = os.pipe()\n\
             if os.fork() == 0: print('up', flush=True); os.read(r, 1); os._exit(0)\n\
             input(); os.write(w, b'x'); {end}\n\
             sys.stdin.read()"
        );
        let mut parent = Told::start("python3", &script);
        assert_eq!(parent.hear(), "up");
        let mut sampler = Sampler::new(Family::of(parent.child.id()), None, &ProcSource::default(), monotonic());
        let before = sampler.sample_now();
        assert_eq!((before.processes, before.ignores_children, before.unwaited), (2, ignores, false));
        parent.go_on();
        let started_ns = Monotonic.now_ns();
        let after = loop {
            let sample = sampler.sample_now();
            if sample.processes == 1 {
                break sampler.sample_now();
            }
            assert!(Monotonic.now_ns() - started_ns < 60 * model::NS_PER_S, "the child ends");
        };
        assert_eq!(after.unwaited, ignores, "the kernel credits who waits");
        parent.end();
    }
}

#[test]
fn what_a_process_had_that_ended_between_two_looks_is_not_known() {
    // A child that ended, and a program that another one took the place of.
    for ending in ["sh -c :; echo done; read x", "exec sh -c 'echo done; read x'"] {
        let mut shell = Told::start("sh", &format!("echo up; read x; {ending}"));
        assert_eq!(shell.hear(), "up");
        let mut sampler = Sampler::new(Family::of(shell.child.id()), None, &ProcSource::default(), monotonic());
        assert!(sampler.sample().peak_is_whole && sampler.sample().peak_is_whole);
        shell.go_on();
        assert_eq!(shell.hear(), "done");
        let sample = sampler.sample();
        assert!(!sample.peak_is_whole, "{ending}: {sample:?}");
        assert!(sample.peak_rss_bytes >= sample.rss_bytes, "those that live are known: {sample:?}");
        assert!(sampler.sample().peak_is_whole);
        shell.end();
    }
}

#[test]
fn one_that_ended_and_is_not_waited_for_hides_no_memory_of_the_others() {
    let mut shell = Told::start("sh", "read x & exec sh -c 'echo up; read x'");
    assert_eq!(shell.hear(), "up");
    let mut sampler = Sampler::new(Family::of(shell.child.id()), None, &ProcSource::default(), monotonic());
    let started_ns = Monotonic.now_ns();
    // What is in the background reads nothing, and ends.
    while sampler.sample_now().processes > 1 {
        assert!(Monotonic.now_ns() - started_ns < 60 * model::NS_PER_S, "the child ends");
    }
    let sample = sampler.sample_now();
    assert!(sample.pss_bytes.is_some() && sample.peak_is_whole, "{sample:?}");
    shell.end();
}

/// User and system time of a process and its waited-for children, read another way than the sampler does.
fn kernel_cpu_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks: u64 = fields.split(' ').skip(11).take(4).map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

#[test]
fn a_target_that_vanishes_is_left_out_from_then_on() {
    let mut shell = Told::start("sh", "echo up; read x");
    assert_eq!(shell.hear(), "up");
    let observer = Observer::start(
        Family::of(shell.child.id()),
        None,
        ProcSource::default(),
        monotonic(),
        Duration::from_millis(5),
    )
    .unwrap();
    shell.end();
    let samples = observer.stop();
    let gone = samples.last().unwrap();
    assert_eq!((gone.processes, gone.rss_bytes, gone.voluntary_switches), (0, 0, None));
    assert_eq!(samples[0].processes, 1);
    assert!(samples.is_sorted_by_key(|sample| sample.at_ns));
    // The kernel tells of idle time in whole ticks.
    let tick_s = 1.0 / rustix::param::clock_ticks_per_second() as f64;
    let grows = |a: &Sample, b: &Sample| a.cpu_user_s <= b.cpu_user_s && a.host_busy_s <= b.host_busy_s + 2.0 * tick_s;
    assert!(samples.is_sorted_by(grows));
}

#[test]
fn stopping_does_not_wait_for_the_period() {
    let started_ns = Monotonic.now_ns();
    let observer = Observer::start(
        Family::of(std::process::id()),
        None,
        ProcSource::default(),
        monotonic(),
        Duration::from_secs(3600),
    )
    .unwrap();
    let samples = observer.stop();
    assert_eq!(samples.len(), 2, "one at the start, one at the end");
    assert!(samples.iter().all(|sample| sample.voluntary_switches.is_some()));
    assert!(Monotonic.now_ns() - started_ns < 60 * model::NS_PER_S);
}

#[test]
fn what_was_taken_is_not_kept() {
    let started_ns = Monotonic.now_ns();
    let observer = Observer::start(
        Family::of(std::process::id()),
        None,
        ProcSource::default(),
        monotonic(),
        Duration::from_nanos(1),
    )
    .unwrap();
    let (mut takes, mut samples) = (0, Vec::new());
    while takes < 10 {
        let taken = observer.take();
        takes += usize::from(!taken.is_empty());
        samples.extend(taken);
        assert!(Monotonic.now_ns() - started_ns < 60 * model::NS_PER_S, "it looks all the time");
    }
    samples.extend(observer.stop());
    assert!(samples.is_sorted_by(|a, b| a.at_ns < b.at_ns), "no look is given twice");
}

#[test]
fn samples_come_by_the_clock_that_was_handed_in() {
    let clock = Arc::new(Stopped::default());
    let observer = Observer::start(
        Family::of(std::process::id()),
        None,
        ProcSource::default(),
        Arc::clone(&clock) as _,
        Duration::from_millis(1),
    )
    .unwrap();
    clock.set(500_000);
    let samples = observer.stop();
    let times: Vec<u64> = samples.iter().map(|sample| sample.at_ns).collect();
    assert_eq!(times, [0, 500_000], "time did not reach the first period");
}
