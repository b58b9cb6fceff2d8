//! Samples of a `/proc` written by hand.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use observe::{Family, ProcSource, Sampler};
use support::{HOST_AWAY_S, Process, Stopped, write_host};

fn sampler(root: &Path) -> (Sampler, Arc<Stopped>) {
    let clock = Arc::new(Stopped::default());
    (Sampler::new(Family::of(100), None, &ProcSource::new(root), Arc::clone(&clock) as _), clock)
}

fn family(root: &Path, with_children: bool) {
    write_host(root, 400);
    let parent = Process { user: 200, system: 50, threads: 3, children: "200 ", ..Process::new(100, 1) };
    parent.write(root, with_children);
    Process { user: 100, files: 4, children: "300", ..Process::new(200, 100) }.write(root, with_children);
    Process { user: 25, ..Process::new(300, 200) }.write(root, with_children);
    Process { user: 9_999, ..Process::new(400, 1) }.write(root, with_children);
}

#[test]
fn a_family_is_summed_whether_or_not_the_kernel_lists_children() {
    for with_children in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        family(folder.path(), with_children);
        let (mut sampler, clock) = sampler(folder.path());
        clock.set(77);
        let seen = sampler.sample_now();
        let page = rustix::param::page_size() as u64;
        assert_eq!((seen.at_ns, seen.processes, seen.threads), (77, 3, 5), "children listed: {with_children}");
        assert_eq!((seen.cpu_user_s, seen.cpu_system_s), (3.25, 0.5));
        assert_eq!((seen.rss_bytes, seen.open_files), (30 * page, Some(10)));
        assert_eq!((seen.voluntary_switches, seen.involuntary_switches), (Some(50), Some(10)));
        assert_eq!((seen.host_steal_s, seen.own_cpu_s), (0.3, 0.6));
        assert!((seen.host_busy_s - (77e-9 - HOST_AWAY_S)).abs() < 1e-12, "one CPU, idle or stolen for so long");
    }
}

/// A pool that grows under load: what its new processes use is the target's from the first look on.
#[test]
fn a_new_process_is_known_at_the_next_look_in_passing_however_many_threads_there_are() {
    let folder = tempfile::tempdir().unwrap();
    family(folder.path(), true);
    Process { user: 200, threads: 40, children: "200 ", ..Process::new(100, 1) }.write(folder.path(), true);
    let (mut sampler, _) = sampler(folder.path());
    assert_eq!(sampler.sample_now().processes, 3);
    Process { user: 25, children: "500", ..Process::new(300, 200) }.write(folder.path(), true);
    Process { user: 700, ..Process::new(500, 300) }.write(folder.path(), true);
    write_host(folder.path(), 401);
    let seen = sampler.sample();
    assert_eq!((seen.processes, seen.cpu_user_s), (4, 10.25));
    assert_eq!(seen.voluntary_switches, None, "their turn comes once a second");
}

/// A thread's switches are in its own file alone: they come with it and go with it, and one that ends while it is looked
/// at is in none of the sums.
#[test]
fn threads_that_start_or_end_between_two_looks_come_and_go_with_their_own_switches() {
    let folder = tempfile::tempdir().unwrap();
    let task = |thread: u32| folder.path().join(format!("100/task/{thread}"));
    write_host(folder.path(), 400);
    Process { threads: 3, ..Process::new(100, 1) }.write(folder.path(), true);
    let (mut sampler, clock) = sampler(folder.path());
    let mut look = |at_s: u64| {
        clock.set(at_s * model::NS_PER_S);
        let seen = sampler.sample_now();
        (seen, [seen.voluntary_switches, seen.involuntary_switches], seen.threads)
    };
    let (before, switches, threads) = look(0);
    assert_eq!((switches, threads), ([Some(30), Some(6)], 3));

    // Two have ended, the one with its folder still there; one has begun, and its children are the target's.
    fs::remove_dir_all(task(101)).unwrap();
    fs::remove_file(task(102).join("status")).unwrap();
    Process { threads: 2, ..Process::new(100, 1) }.write(folder.path(), true);
    fs::remove_dir_all(task(101)).unwrap();
    fs::create_dir(task(107)).unwrap();
    fs::write(task(107).join("status"), "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t1\n").unwrap();
    fs::write(task(107).join("children"), "200 ").unwrap();
    Process { user: 75, ..Process::new(200, 100) }.write(folder.path(), true);
    write_host(folder.path(), 402);
    let (after, switches, threads) = look(1);
    assert_eq!((switches, threads), ([Some(10 + 4 + 10), Some(2 + 1 + 2)], 3));
    assert_eq!((after.processes, after.cpu_user_s), (2, 0.75));

    let mut summary = observe::Summary::new(0, model::NS_PER_S, 1);
    [before, after].iter().for_each(|sample| summary.add(sample));
    let seen = summary.end(1, 1);
    assert_eq!((seen.voluntary_switches, seen.involuntary_switches), (Some(0), Some(0)), "never below nothing");
    assert_eq!((seen.threads_max, seen.processes_max), (3, 2));
}

#[test]
fn the_cpu_of_a_child_that_was_waited_for_is_its_parents() {
    let folder = tempfile::tempdir().unwrap();
    family(folder.path(), true);
    let (mut sampler, _) = sampler(folder.path());
    assert_eq!(sampler.sample_now().cpu_user_s, 3.25);
    fs::remove_dir_all(folder.path().join("300")).unwrap();
    Process { user: 110, reaped_user: 25, files: 4, ..Process::new(200, 100) }.write(folder.path(), true);
    let seen = sampler.sample_now();
    assert_eq!((seen.processes, seen.cpu_user_s), (2, 3.35));
}

#[test]
fn an_orphan_stays_in_the_tree_and_cpu_that_nobody_inherits_does_not_go_backwards() {
    let folder = tempfile::tempdir().unwrap();
    family(folder.path(), true);
    let (mut sampler, _) = sampler(folder.path());
    sampler.sample_now();
    fs::remove_dir_all(folder.path().join("200")).unwrap();
    Process { user: 60, ..Process::new(300, 1) }.write(folder.path(), true);
    let seen = sampler.sample_now();
    assert_eq!((seen.processes, seen.cpu_user_s), (2, 3.25));
}

/// What forks twice: the one in the middle ends at once, and the reaper waits for the other.
#[test]
fn what_a_reaper_adopts_and_waits_for_is_the_targets_and_the_reaper_is_not() {
    for with_children in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        family(folder.path(), with_children);
        let reaper = Process { user: 500, reaped_user: 40, threads: 2, children: "100 400", ..Process::new(90, 1) };
        reaper.write(folder.path(), with_children);
        Process { user: 75, ..Process::new(400, 90) }.write(folder.path(), with_children);
        let all = Family { root_pid: 100, reaper: Some(90) };
        let mut sampler = Sampler::new(all, None, &ProcSource::new(folder.path()), Arc::<Stopped>::default() as _);
        let seen = sampler.sample_now();
        assert_eq!((seen.processes, seen.threads), (4, 6), "children listed: {with_children}");
        assert_eq!(seen.cpu_user_s, 4.4);
        // It worked on, ended, and was waited for; so was one that nobody ever looked at.
        fs::remove_dir_all(folder.path().join("400")).unwrap();
        let reaper = Process { reaped_user: 40 + 95 + 60, reaped_faults: 20, children: "100", ..reaper };
        reaper.write(folder.path(), with_children);
        let seen = sampler.sample_now();
        assert_eq!((seen.processes, seen.cpu_user_s, seen.unwaited), (3, 5.2, false));
    }
}

#[test]
fn a_child_that_ended_and_was_credited_to_nobody_is_seen() {
    let unwaited = |reaped_faults: u64| {
        let folder = tempfile::tempdir().unwrap();
        family(folder.path(), true);
        let (mut sampler, _) = sampler(folder.path());
        assert!(!sampler.sample_now().unwaited);
        fs::remove_dir_all(folder.path().join("300")).unwrap();
        Process { user: 110, reaped_faults, files: 4, ..Process::new(200, 100) }.write(folder.path(), true);
        sampler.sample_now().unwaited
    };
    assert_eq!([0, 19, 20, 40].map(unwaited), [true, true, false, false], "it had 20");
}

#[test]
fn who_ends_with_its_children_says_nothing_of_them() {
    let folder = tempfile::tempdir().unwrap();
    family(folder.path(), true);
    let (mut sampler, _) = sampler(folder.path());
    sampler.sample_now();
    fs::remove_dir_all(folder.path().join("300")).unwrap();
    fs::remove_dir_all(folder.path().join("200")).unwrap();
    Process { reaped_faults: 40, ..Process::new(100, 1) }.write(folder.path(), true);
    assert!(!sampler.sample_now().unwaited);
}

#[test]
fn another_process_with_a_known_number_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    family(folder.path(), true);
    let (mut sampler, _) = sampler(folder.path());
    sampler.sample_now();
    Process { user: 8_000, start: 6, ..Process::new(100, 1) }.write(folder.path(), true);
    assert_eq!(sampler.sample_now().processes, 2);
}

#[test]
fn a_target_that_was_never_there_leaves_the_host() {
    let folder = tempfile::tempdir().unwrap();
    write_host(folder.path(), 400);
    let (mut sampler, clock) = sampler(folder.path());
    clock.set(200 * model::NS_PER_S);
    let seen = sampler.sample_now();
    assert_eq!((seen.processes, seen.rss_bytes, seen.open_files, seen.voluntary_switches), (0, 0, None, None));
    assert!((seen.host_busy_s - (200.0 - HOST_AWAY_S)).abs() < 1e-9);
}
