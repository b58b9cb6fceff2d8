use super::*;
use model::SocketCounts;

fn summarise(
    samples: &[Sample],
    start_ns: u64,
    end_ns: u64,
    cpus_allowed: u32,
    host_cpus: u32,
    told: &[RuntimeSample],
) -> Observation {
    let mut summary = Summary::new(start_ns, end_ns, 1);
    samples.iter().for_each(|sample| summary.add(sample));
    told.iter().for_each(|told| summary.add_told(told));
    summary.end(cpus_allowed, host_cpus)
}

/// Every 100 ms: half a core in the target, a tenth in bourdon, a fifth elsewhere, 2 % of a core stolen.
fn steady() -> Vec<Sample> {
    (0..=30_u32)
        .map(|n| {
            let s = f64::from(n) / 10.0;
            Sample {
                at_ns: u64::from(n) * 100_000_000,
                cpu_user_s: 7.0 + 0.4 * s,
                cpu_system_s: 3.0 + 0.1 * s,
                rss_bytes: 1_000 + u64::from(n),
                processes: 2,
                threads: 8 + n % 2,
                open_files: Some(20),
                voluntary_switches: n.is_multiple_of(10).then_some(u64::from(n) * 100),
                involuntary_switches: None,
                pss_bytes: None,
                sockets: n.is_multiple_of(10).then_some(SocketCounts {
                    established: n,
                    accept_queue: 30 - n,
                    listen_overflows: Some(u64::from(n)),
                    ..SocketCounts::default()
                }),
                host_steal_s: 0.02 * s,
                host_busy_s: 50.0 + 0.8 * s,
                own_cpu_s: 0.1 * s,
                by_clock: true,
                started: Some(400),
                ..Sample::default()
            }
        })
        .collect()
}

#[track_caller]
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-9, "{actual} is not {expected}");
}

#[test]
fn a_window_between_samples_is_interpolated() {
    let seen = summarise(&steady(), 1_050_000_000, 2_050_000_000, 1, 2, &[]);
    assert_near(seen.window_s, 1.0);
    assert_near(seen.cpu_s(), 0.5);
    assert_near(seen.busy(), 0.5);
    assert_eq!(seen.samples, 12);
    assert_near(seen.host.steal_share, 0.01);
    assert_near(seen.host.others_share, 0.1);
    assert_eq!(seen.voluntary_switches, Some(1_000));
    assert_eq!(seen.involuntary_switches, None);
    assert_eq!((seen.memory_at_rest_bytes, seen.peak_memory_bytes), (1_000, 1_030));
    assert_eq!((seen.threads_max, seen.processes_max, seen.open_files_max), (9, 2, Some(20)));
}

#[test]
fn proportional_memory_has_a_peak_of_its_own_from_the_window_on() {
    let mut samples = steady();
    for (at, bytes) in [(2, 9_000), (12, 700), (25, 800)] {
        samples[at].pss_bytes = Some(bytes);
    }
    let seen = summarise(&samples, 1_000_000_000, 2_000_000_000, 1, 2, &[]);
    assert_eq!(seen.peak_pss_bytes, Some(800), "what it was before the window is not a peak under load");
    assert_eq!((seen.peak_memory(), seen.memory_count()), (800, model::MemoryCount::Proportional));
    let alone = Observation { processes_max: 1, ..seen.clone() };
    assert_eq!((alone.peak_memory(), alone.memory_count()), (1_030, model::MemoryCount::Resident));
    let old = Observation { peak_pss_bytes: None, ..seen };
    assert_eq!((old.peak_memory(), old.memory_count()), (1_030, model::MemoryCount::ResidentSum));
}

#[test]
fn one_look_at_a_second_process_leaves_the_peak_of_all_the_others() {
    let mut samples = steady();
    samples.iter_mut().for_each(|sample| sample.processes = 1);
    samples[17].rss_bytes = 5_000;
    (samples[20].processes, samples[20].pss_bytes) = (2, Some(900));
    let seen = summarise(&samples, 1_000_000_000, 2_000_000_000, 1, 2, &[]);
    assert_eq!((seen.peak_memory(), seen.memory_count()), (5_000, model::MemoryCount::Proportional));
}

#[test]
fn the_whole_seconds_of_the_window_are_told_one_by_one() {
    let seen = summarise(&steady(), 500_000_000, 2_900_000_000, 1, 2, &[]);
    let [first, second] = seen.seconds[..] else { panic!("{:?}", seen.seconds) };
    assert_eq!((first.at_s, second.at_s), (0.0, 1.0));
    assert_near(first.cpu_s, 0.5);
    assert_near(second.cpu_s, 0.5);
    assert_eq!((first.memory_bytes, second.memory_bytes), (1_015, 1_025));
    let late = summarise(&steady()[8..], 500_000_000, 2_900_000_000, 1, 2, &[]);
    assert_eq!(late.seconds, [], "nothing was seen of the first half second");
}

#[test]
fn a_long_window_is_told_in_as_few_steps_as_it_is_asked_for() {
    let mut summary = Summary::new(500_000_000, 2_900_000_000, 2);
    steady().iter().for_each(|sample| summary.add(sample));
    let [step] = summary.end(1, 2).seconds[..] else { panic!("one whole step") };
    assert_eq!((step.at_s, step.length_s, step.memory_bytes), (0.0, 2.0, 1_025));
    assert_near(step.cpu_s, 1.0);
}

#[test]
fn sockets_have_peaks_and_counters_grow() {
    let seen = summarise(&steady(), 1_000_000_000, 2_000_000_000, 1, 2, &[]).sockets.unwrap();
    assert_eq!((seen.looks, seen.established_max, seen.accept_queue_max), (3, 30, 20));
    assert_eq!((seen.listen_overflows, seen.listen_drops), (Some(10), None));
    assert_eq!(summarise(&steady()[1..9], 0, 1_000_000_000, 1, 2, &[]).sockets, None);
}

#[test]
fn the_runtimes_counters_lie_on_the_same_time_axis() {
    let told: Vec<RuntimeSample> = (0..=3_u32)
        .map(|n| RuntimeSample {
            at_ns: u64::from(n) * NS_PER_S,
            gc_count: Some(f64::from(n) * 4.0),
            gc_major: Some(f64::from(n)),
            heap_bytes: Some(100 - u64::from(n)),
            ..RuntimeSample::default()
        })
        .collect();
    let seen = summarise(&steady(), 500_000_000, 2_500_000_000, 1, 2, &told);
    let runtime = seen.runtime.unwrap();
    assert_eq!((runtime.looks, runtime.gc_count, runtime.peak_heap_bytes), (2, Some(8.0), Some(99)));
    assert_eq!((runtime.gc_pause_s, runtime.gc_major), (None, Some(2.0)));
    assert_eq!(seen.seconds.iter().map(|second| second.gc_count).collect::<Vec<_>>(), [Some(4.0), Some(4.0)]);
    assert_eq!(summarise(&steady(), 500_000_000, 2_500_000_000, 1, 2, &told[..1]).runtime, None);
}

#[test]
fn samples_at_the_edges_decide_alone() {
    let seen = summarise(&steady(), 1_000_000_000, 2_000_000_000, 1, 2, &[]);
    assert_near(seen.cpu_s(), 0.5);
    assert_eq!(seen.samples, 11);
}

#[test]
fn a_window_wider_than_the_samples_is_cut_to_them() {
    let seen = summarise(&steady()[5..=15], 0, 3_000_000_000, 1, 2, &[]);
    assert_near(seen.window_s, 1.0);
    assert_near(seen.busy(), 0.5);
}

#[test]
fn no_sample_and_one_sample_give_zeroes_not_nonsense() {
    assert_eq!(summarise(&[], 0, 1, 1, 2, &[]).busy(), 0.0);
    let one = summarise(&steady()[3..4], 0, 3_000_000_000, 1, 2, &[]);
    assert_eq!((one.window_s, one.cpu_s(), one.samples), (0.0, 0.0, 1));
    assert_eq!(one.peak_memory_bytes, 1_003);
}

#[test]
fn others_are_never_below_nothing() {
    let mut samples = steady();
    samples.iter_mut().for_each(|sample| sample.host_busy_s = 50.0);
    assert_eq!(summarise(&samples, 0, 3_000_000_000, 1, 2, &[]).host.others_share, 0.0);
}

fn of_window(samples: &[Sample]) -> Observation {
    summarise(samples, 1_000_000_000, 3_000_000_000, 1, 2, &[])
}

#[test]
fn cpu_may_be_missing_where_nobody_waits_and_something_was_started_in_the_window() {
    let unwaited = |ignores_children: bool, started_in: fn(usize) -> u64| {
        let mut samples = steady();
        for (at, sample) in samples.iter_mut().enumerate() {
            (sample.ignores_children, sample.started) = (ignores_children, Some(400 + started_in(at)));
        }
        of_window(&samples).unwaited
    };
    assert!(unwaited(true, |at| u64::from(at >= 20)));
    assert!(!unwaited(true, |at| u64::from(at >= 5)), "before the window");
    assert!(!unwaited(false, |at| u64::from(at >= 20)), "it is waited for");
    let mut samples = steady();
    samples.iter_mut().for_each(|sample| (sample.ignores_children, sample.started) = (true, None));
    assert!(of_window(&samples).unwaited, "nobody knows");
    let mut samples = steady();
    samples[30].unwaited = true;
    assert!(of_window(&samples).unwaited, "it was seen");
}
