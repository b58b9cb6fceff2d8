use model::{
    HostUse, NS_PER_S, Observation, ObservedSecond, RuntimeSample, RuntimeUse, Sample, SocketCounts, SocketUse,
};

/// Reduces samples to what happened between the window's start and end.
///
/// The kernel's counters at an edge lie on the line between the samples on either side of it (a sample taken at the
/// edge itself decides alone); where there is none on one side, the nearest sample takes its place and the window
/// seen is shorter. Taking the next sample inside instead would lose up to one period at each edge, a tenth of the
/// CPU of a window of one second. Peaks are over every sample from the window's start on, memory at rest is the first
/// sample's, memory after the load the last one's. `told` is what the runtime said of itself. `others_share` is never
/// below 0: the kernel counts the three figures behind it in ticks of their own.
pub fn summarise(
    samples: &[Sample],
    window_start_ns: u64,
    window_end_ns: u64,
    cpus_allowed: u32,
    host_cpus: u32,
    told: &[RuntimeSample],
) -> Observation {
    let Some(edges) = Edges::new(samples, window_start_ns, window_end_ns) else {
        let host = HostUse { cpus: host_cpus, ..HostUse::default() };
        return Observation { cpus: cpus_allowed, host, ..Observation::default() };
    };
    let loaded = || edges.loaded();
    Observation {
        window_s: edges.length_s(),
        samples: edges.used(),
        cpu_user_s: edges.difference(|s| s.cpu_user_s),
        cpu_system_s: edges.difference(|s| s.cpu_system_s),
        cpus: cpus_allowed,
        memory_at_rest_bytes: samples.first().map_or(0, |sample| sample.rss_bytes),
        memory_after_bytes: samples.last().map(|sample| sample.rss_bytes),
        pss_at_rest_bytes: samples.first().and_then(|sample| sample.pss_bytes),
        pss_after_bytes: samples.last().and_then(|sample| sample.pss_bytes),
        peak_memory_bytes: loaded().map(|sample| sample.rss_bytes).max().unwrap_or(0),
        peak_pss_bytes: peak_of_each_page_once(&edges),
        threads_max: loaded().map(|sample| sample.threads).max().unwrap_or(0),
        processes_max: loaded().map(|sample| sample.processes).max().unwrap_or(0),
        open_files_max: loaded().filter_map(|sample| sample.open_files).max(),
        voluntary_switches: edges.count(|s| s.voluntary_switches),
        involuntary_switches: edges.count(|s| s.involuntary_switches),
        sockets: socket_use(&edges),
        runtime: runtime_use(told, &edges),
        census: None,
        profile: None,
        no_profile: None,
        host: host_use(&edges, host_cpus),
        seconds: seconds(&edges, window_start_ns, told),
    }
}

/// The largest memory from the window's start on with each page counted once. Where there is one process for the moment its
/// resident pages are that, too, and there are many more such looks: a process that is there for one look only must not
/// leave a peak of few. None where nobody looked at proportional memory.
fn peak_of_each_page_once(edges: &Edges<'_>) -> Option<u64> {
    let each_once = |sample: &Sample| sample.pss_bytes.or((sample.processes == 1).then_some(sample.rss_bytes));
    let anybody_looked = edges.loaded().any(|sample| sample.pss_bytes.is_some());
    edges.loaded().filter_map(each_once).max().filter(|_| anybody_looked)
}

/// Peaks over the looks from the window's start on; counters grow between its edges.
fn socket_use(edges: &Edges<'_>) -> Option<SocketUse> {
    let looks: Vec<SocketCounts> = edges.loaded().filter_map(|sample| sample.sockets).collect();
    let most = |pick: fn(&SocketCounts) -> u32| looks.iter().map(pick).max().unwrap_or(0);
    let counter = |pick: fn(&SocketCounts) -> Option<u64>| edges.count(|sample| pick(&sample.sockets?));
    (!looks.is_empty()).then(|| SocketUse {
        looks: looks.len() as u32,
        established_max: most(|counts| counts.established),
        syn_received_max: most(|counts| counts.syn_received),
        close_wait_max: most(|counts| counts.close_wait),
        time_wait_max: most(|counts| counts.time_wait),
        accept_queue_max: most(|counts| counts.accept_queue),
        listen_overflows: counter(|counts| counts.listen_overflows),
        listen_drops: counter(|counts| counts.listen_drops),
    })
}

/// What the runtime told between the edges.
fn runtime_use(told: &[RuntimeSample], edges: &Edges<'_>) -> Option<RuntimeUse> {
    let inside = || told.iter().filter(|told| (edges.start_ns..=edges.end_ns).contains(&told.at_ns));
    let growth = |pick: fn(&RuntimeSample) -> Option<f64>| growth(told, edges.start_ns, edges.end_ns, pick);
    let looks = inside().count() as u32;
    (looks > 0).then(|| RuntimeUse {
        looks,
        gc_count: growth(|told| told.gc_count),
        gc_pause_s: growth(|told| told.gc_pause_s),
        peak_heap_bytes: inside().filter_map(|told| told.heap_bytes).max(),
        units_max: inside().filter_map(|told| told.units).max(),
        loop_lag_max_s: inside().filter_map(|told| told.loop_lag_s).reduce(f64::max),
    })
}

/// Growth of a counter of the runtime between two instants.
fn growth(
    told: &[RuntimeSample],
    from_ns: u64,
    to_ns: u64,
    pick: impl Fn(&RuntimeSample) -> Option<f64>,
) -> Option<f64> {
    let points: Vec<(u64, f64)> = told.iter().filter_map(|told| Some((told.at_ns, pick(told)?))).collect();
    Some((value_at(&points, to_ns)? - value_at(&points, from_ns)?).max(0.0))
}

/// The whole seconds from `window_start_ns` to the end, as far as there are samples on both sides of each.
fn seconds(edges: &Edges<'_>, window_start_ns: u64, told: &[RuntimeSample]) -> Vec<ObservedSecond> {
    if edges.start_ns > window_start_ns {
        return Vec::new();
    }
    let points = |figure: fn(&Sample) -> f64| edges.samples.iter().map(|s| (s.at_ns, figure(s))).collect::<Vec<_>>();
    let cpu = points(|s| s.cpu_user_s + s.cpu_system_s);
    let memory = points(|s| s.rss_bytes as f64);
    let second = |number: u64| {
        let (from_ns, to_ns) = (window_start_ns + number * NS_PER_S, window_start_ns + (number + 1) * NS_PER_S);
        Some(ObservedSecond {
            at_s: number as f64,
            cpu_s: (value_at(&cpu, to_ns)? - value_at(&cpu, from_ns)?).max(0.0),
            memory_bytes: value_at(&memory, to_ns)? as u64,
            gc_count: growth(told, from_ns, to_ns, |told| told.gc_count),
            gc_pause_ms: growth(told, from_ns, to_ns, |told| told.gc_pause_s).map(|seconds| seconds * 1e3),
        })
    };
    let whole = edges.end_ns.saturating_sub(window_start_ns) / NS_PER_S;
    (0..whole).filter_map(second).collect()
}

fn host_use(edges: &Edges<'_>, cpus: u32) -> HostUse {
    let available = edges.length_s() * f64::from(cpus);
    if available <= 0.0 {
        return HostUse { cpus, ..HostUse::default() };
    }
    let others = edges.difference(|s| s.host_busy_s)
        - edges.difference(|s| s.cpu_user_s)
        - edges.difference(|s| s.cpu_system_s)
        - edges.difference(|s| s.own_cpu_s);
    HostUse {
        cpus,
        steal_share: (edges.difference(|s| s.host_steal_s) / available).clamp(0.0, 1.0),
        others_share: (others / available).clamp(0.0, 1.0),
    }
}

/// The part of the window that samples cover.
struct Edges<'a> {
    samples: &'a [Sample],
    start_ns: u64,
    end_ns: u64,
}

impl<'a> Edges<'a> {
    fn new(samples: &'a [Sample], start_ns: u64, end_ns: u64) -> Option<Self> {
        let (first, last) = (samples.first()?.at_ns, samples.last()?.at_ns);
        Some(Self { samples, start_ns: start_ns.clamp(first, last), end_ns: end_ns.clamp(first, last) })
    }

    /// Every sample from the window's start on.
    fn loaded(&self) -> impl Iterator<Item = &'a Sample> {
        let start_ns = self.start_ns;
        self.samples.iter().filter(move |sample| sample.at_ns >= start_ns)
    }

    fn length_s(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / NS_PER_S as f64
    }

    /// Samples between the edges, and those next to them that were needed for the line.
    fn used(&self) -> u32 {
        let from = self.samples.partition_point(|sample| sample.at_ns <= self.start_ns).saturating_sub(1);
        let to = self.samples.partition_point(|sample| sample.at_ns < self.end_ns);
        u32::try_from((to + 1).min(self.samples.len()).saturating_sub(from)).unwrap_or(u32::MAX)
    }

    fn difference(&self, counter: impl Fn(&Sample) -> f64) -> f64 {
        self.optional_difference(|sample| Some(counter(sample))).unwrap_or(0.0)
    }

    fn count(&self, counter: impl Fn(&Sample) -> Option<u64>) -> Option<u64> {
        self.optional_difference(|sample| counter(sample).map(|count| count as f64)).map(|count| count.round() as u64)
    }

    /// Growth of a counter between the edges over the samples that looked at it; never below 0, though a thread that
    /// ends takes its context switches with it.
    fn optional_difference(&self, counter: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
        let points: Vec<(u64, f64)> = self.samples.iter().filter_map(|s| Some((s.at_ns, counter(s)?))).collect();
        Some((value_at(&points, self.end_ns)? - value_at(&points, self.start_ns)?).max(0.0))
    }
}

/// The value at an instant on the line through the points around it; beyond the ends, the nearest point's.
fn value_at(points: &[(u64, f64)], at_ns: u64) -> Option<f64> {
    let after = points.partition_point(|(point_ns, _)| *point_ns < at_ns);
    let Some(&(right_ns, right)) = points.get(after) else { return points.last().map(|(_, value)| *value) };
    let Some(&(left_ns, left)) = after.checked_sub(1).and_then(|before| points.get(before)) else { return Some(right) };
    let share = (at_ns - left_ns) as f64 / (right_ns - left_ns) as f64;
    Some(left + (right - left) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

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
                heap_bytes: Some(100 - u64::from(n)),
                ..RuntimeSample::default()
            })
            .collect();
        let seen = summarise(&steady(), 500_000_000, 2_500_000_000, 1, 2, &told);
        let runtime = seen.runtime.unwrap();
        assert_eq!((runtime.looks, runtime.gc_count, runtime.peak_heap_bytes), (2, Some(8.0), Some(99)));
        assert_eq!(runtime.gc_pause_s, None);
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
}
