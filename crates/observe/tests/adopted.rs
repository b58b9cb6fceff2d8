//! A process that loses its parent, below a real reaper: this test's own process, in which nothing else is started.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use observe::{Family, ProcSource, Sampler};
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};
use support::monotonic;

#[test]
fn the_cpu_of_a_grandchild_that_lost_its_parent_is_the_targets() {
    set_child_subreaper(Some(getpid())).unwrap();
    let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let script = format!("( sh -c '{work}; exit' & ) ; echo left; read x");
    let mut root = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let family = Family { root_pid: root.id(), reaper: Some(std::process::id()) };
    let mut sampler = Sampler::new(family, None, &ProcSource::default(), monotonic());
    let mut line = String::new();
    BufReader::new(root.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let before = sampler.sample_now();
    // The root waits for its input, so the first to end is the one that was left.
    let (pid, _) = wait(WaitOptions::empty()).unwrap().unwrap();
    assert_ne!(pid.as_raw_nonzero().get() as u32, root.id());
    let after = sampler.sample_now();
    let used_s = |sample: &model::Sample| sample.cpu_user_s + sample.cpu_system_s;
    assert!(used_s(&after) > used_s(&before), "it worked: {} s", used_s(&after));
    assert_eq!((after.processes, after.unwaited), (1, false));
    drop(root.stdin.take());
    root.wait().unwrap();
}
