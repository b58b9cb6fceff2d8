use model::{HostUse, NS_PER_S, Observation, ObservedSecond, RuntimeSample, RuntimeUse, Sample, SocketUse};

use crate::summary::Peaks;

/// What was seen of a target in one of its slices, by the looks at its edges.
#[derive(Debug, Clone, Copy)]
pub struct SeenSlice {
    /// The look before it began.
    pub begin: Sample,
    /// The look when nothing of it was in flight any more.
    pub end: Sample,
    /// CPU seconds that all targets used between the two.
    pub targets_cpu_s: f64,
    /// How much of it was measured, in seconds.
    pub window_s: f64,
    /// What its runtime told before it began.
    pub told_before: Option<RuntimeSample>,
    /// What it told when nothing of the slice was in flight any more.
    pub told_at_end: Option<RuntimeSample>,
    /// What it told before the next slice of the target began, or after the last turn.
    pub told_after: Option<RuntimeSample>,
}

/// Reduces the looks at the edges of a target's slices to what happened in them.
///
/// Growth is summed over the slices, each from edge to edge, with its lead-in and its end; peaks are over all looks, memory at rest
/// is the first one's, memory after the load the last one's. Each slice is one step: its CPU is that of the measured part, as if
/// it had used it evenly.
#[derive(Default)]
pub struct SliceSummary {
    first: Option<Sample>,
    last: Option<Sample>,
    looks: u32,
    peaks: Peaks,
    /// Of the slices, but for what is taken of all looks.
    seen: Observation,
    /// Seconds of all CPUs: stolen by the hypervisor, and used by others.
    stolen_s: f64,
    others_s: f64,
    /// Whether the host started anything in a slice, or does not say.
    started: bool,
}

impl SliceSummary {
    /// Takes a look, in the order of time.
    pub fn add(&mut self, look: &Sample) {
        self.first.get_or_insert(*look);
        self.last = Some(*look);
        self.looks += 1;
        self.peaks.add(look);
    }

    /// Takes the next slice.
    pub fn add_slice(&mut self, slice: &SeenSlice) {
        let SeenSlice { begin, end, window_s, .. } = slice;
        let seen = &mut self.seen;
        let at_s = seen.seconds.last().map_or(0.0, |last| last.at_s + last.length_s);
        let length_s = seconds(begin, end);
        let user_s = grown(begin.cpu_user_s, end.cpu_user_s);
        let system_s = grown(begin.cpu_system_s, end.cpu_system_s);
        seen.window_s += length_s;
        seen.cpu_user_s += user_s;
        seen.cpu_system_s += system_s;
        add(&mut seen.voluntary_switches, between(begin.voluntary_switches, end.voluntary_switches));
        add(&mut seen.involuntary_switches, between(begin.involuntary_switches, end.involuntary_switches));
        seen.throttled_s = sum(seen.throttled_s, begin.throttled_s.zip(end.throttled_s).map(|(b, e)| grown(b, e)));
        let (stolen_s, others_s) = taken(slice);
        self.stolen_s += stolen_s;
        self.others_s += others_s;
        self.started |= between(begin.started, end.started) != Some(0);
        let (gc_count, gc_pause_s) = slice.collections();
        for told in [slice.told_at_end, slice.told_after].into_iter().flatten() {
            let runtime = seen.runtime.get_or_insert_default();
            runtime.looks += 1;
            keep_most(runtime, &told);
        }
        if let Some(runtime) = &mut seen.runtime {
            runtime.gc_count = sum(runtime.gc_count, gc_count);
            runtime.gc_pause_s = sum(runtime.gc_pause_s, gc_pause_s);
        }
        let share = if length_s > 0.0 { (window_s / length_s).min(1.0) } else { 0.0 };
        seen.seconds.push(ObservedSecond {
            at_s,
            length_s: *window_s,
            cpu_s: (user_s + system_s) * share,
            memory_bytes: end.rss_bytes,
            gc_count,
            gc_pause_ms: gc_pause_s.map(|seconds| seconds * 1e3),
        });
    }

    /// What was seen of a target that may use so many CPUs of a host that has so many.
    pub fn end(self, cpus_allowed: u32, host_cpus: u32) -> Observation {
        let (first, last) = (self.first.unwrap_or_default(), self.last.unwrap_or_default());
        let of_all = |share_s: f64| share(share_s, self.seen.window_s * f64::from(host_cpus));
        let (stolen, others) = (of_all(self.stolen_s), of_all(self.others_s));
        let overflows = |sample: Sample| sample.sockets.and_then(|counts| counts.listen_overflows);
        let drops = |sample: Sample| sample.sockets.and_then(|counts| counts.listen_drops);
        Observation {
            samples: self.looks,
            by_clock: first.by_clock && last.by_clock,
            unwaited: last.unwaited || (last.ignores_children && self.started),
            cpus: cpus_allowed,
            memory_at_rest_bytes: first.rss_bytes,
            memory_after_bytes: Some(last.rss_bytes),
            pss_at_rest_bytes: first.pss_bytes,
            pss_after_bytes: last.pss_bytes,
            peak_memory_bytes: self.peaks.rss_bytes,
            peak_pss_bytes: self.peaks.each_once_bytes.filter(|_| self.peaks.looked_at_pss),
            peak_at_most_bytes: self.peaks.at_most_bytes(),
            peak_unbounded: self.peaks.at_most_bytes().is_none(),
            threads_max: self.peaks.threads,
            processes_max: self.peaks.processes,
            open_files_max: self.peaks.open_files,
            sockets: self.peaks.sockets.map(|sockets| SocketUse {
                listen_overflows: between(overflows(first), overflows(last)),
                listen_drops: between(drops(first), drops(last)),
                ..sockets
            }),
            host: HostUse { cpus: host_cpus, steal_share: stolen, others_share: others },
            ..self.seen
        }
    }
}

impl SeenSlice {
    /// Garbage collections and seconds in their pauses, until the target's next slice; none where its runtime does not tell.
    pub fn collections(&self) -> (Option<f64>, Option<f64>) {
        let grown = |of| told_between(self.told_before, self.told_after, of);
        (grown(|told| told.gc_count), grown(|told| told.gc_pause_s))
    }

    /// Garbage collections until its end alone.
    pub fn own_collections(&self) -> Option<f64> {
        told_between(self.told_before, self.told_at_end, |told| told.gc_count)
    }
}

/// By how much what a runtime tells has grown between two answers.
fn told_between(
    before: Option<RuntimeSample>,
    after: Option<RuntimeSample>,
    of: fn(&RuntimeSample) -> Option<f64>,
) -> Option<f64> {
    Some(grown(of(&before?)?, of(&after?)?))
}

/// What the rest of a machine of so many CPUs took in a slice.
pub fn host_use(slice: &SeenSlice, host_cpus: u32) -> HostUse {
    let all_s = seconds(&slice.begin, &slice.end) * f64::from(host_cpus);
    let (stolen_s, others_s) = taken(slice);
    HostUse { cpus: host_cpus, steal_share: share(stolen_s, all_s), others_share: share(others_s, all_s) }
}

/// CPU seconds in a slice that the hypervisor took, and that neither bourdon nor a target used.
fn taken(slice: &SeenSlice) -> (f64, f64) {
    let SeenSlice { begin, end, targets_cpu_s, .. } = slice;
    let own_s = grown(begin.own_cpu_s, end.own_cpu_s);
    let busy_s = grown(begin.host_busy_s, end.host_busy_s);
    (grown(begin.host_steal_s, end.host_steal_s), busy_s - own_s - targets_cpu_s)
}

fn share(part_s: f64, all_s: f64) -> f64 {
    if all_s > 0.0 { (part_s / all_s).clamp(0.0, 1.0) } else { 0.0 }
}

fn seconds(begin: &Sample, end: &Sample) -> f64 {
    end.at_ns.saturating_sub(begin.at_ns) as f64 / NS_PER_S as f64
}

fn grown(from: f64, to: f64) -> f64 {
    (to - from).max(0.0)
}

fn between(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    Some(to?.saturating_sub(from?))
}

fn add(into: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *into.get_or_insert(0) += more;
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(|one, other| one + other)
}

fn keep_most(runtime: &mut RuntimeUse, told: &RuntimeSample) {
    runtime.peak_heap_bytes = runtime.peak_heap_bytes.max(told.heap_bytes);
    runtime.units_max = runtime.units_max.max(told.units);
    runtime.loop_lag_max_s = runtime.loop_lag_max_s.into_iter().chain(told.loop_lag_s).reduce(f64::max);
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SocketCounts;

    /// A look so many hundredths of a second after the first, when so many were spent in the target; a fifth of a core goes into
    /// the rest of the machine, a tenth into bourdon, and 2 % are stolen.
    fn look(at: u64, used: u64) -> Sample {
        let (at_s, used_s) = (at as f64 / 100.0, used as f64 / 100.0);
        Sample {
            at_ns: 10 * NS_PER_S + at * 10_000_000,
            cpu_user_s: 3.0 + used_s * 0.75,
            cpu_system_s: 1.0 + used_s * 0.25,
            rss_bytes: 1_000 + at,
            processes: 1,
            threads: 8,
            voluntary_switches: Some(at * 10),
            sockets: Some(SocketCounts { established: 10, listen_drops: Some(at), ..SocketCounts::default() }),
            host_steal_s: 0.02 * at_s,
            host_busy_s: 50.0 + 0.3 * at_s + used_s,
            own_cpu_s: 0.1 * at_s,
            by_clock: true,
            ..Sample::default()
        }
    }

    fn told(gc_count: f64) -> Option<RuntimeSample> {
        let gc_pause_s = Some(gc_count / 1000.0);
        Some(RuntimeSample { gc_count: Some(gc_count), gc_pause_s, heap_bytes: Some(7), ..RuntimeSample::default() })
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn what_happens_between_slices_is_not_theirs() {
        let looks = [look(0, 0), look(100, 50), look(130, 65), look(200, 70), look(240, 110), look(300, 111)];
        let mut summary = SliceSummary::default();
        looks.iter().for_each(|look| summary.add(look));
        // The first second is a warm-up; the slices last 0.3 s and 0.4 s, of which 0.2 s each are measured.
        for (slice, gcs) in [(2, [4.0, 6.0, 7.0]), (4, [7.0, 7.0, 9.0])] {
            let (begin, end) = (looks[slice - 1], looks[slice]);
            let targets_cpu_s = end.cpu_user_s + end.cpu_system_s - begin.cpu_user_s - begin.cpu_system_s;
            let [told_before, told_at_end, told_after] = gcs.map(told);
            let slice = SeenSlice { begin, end, targets_cpu_s, window_s: 0.2, told_before, told_at_end, told_after };
            assert_eq!(
                (slice.collections().0, slice.own_collections()),
                (Some(gcs[2] - gcs[0]), Some(gcs[1] - gcs[0]))
            );
            assert!(near(host_use(&slice, 2).others_share, 0.1) && near(host_use(&slice, 2).steal_share, 0.01));
            summary.add_slice(&slice);
        }
        let seen = summary.end(1, 2);
        assert!(near(seen.window_s, 0.7) && near(seen.cpu_user_s, 0.4125) && near(seen.cpu_s(), 0.55), "{seen:?}");
        assert!(near(seen.host.others_share, 0.1) && near(seen.host.steal_share, 0.01), "{:?}", seen.host);
        assert_eq!((seen.samples, seen.cpus, seen.host.cpus, seen.by_clock), (6, 1, 2, true));
        assert_eq!(
            (seen.memory_at_rest_bytes, seen.memory_after_bytes, seen.peak_memory_bytes),
            (1_000, Some(1_300), 1_300)
        );
        assert_eq!((seen.voluntary_switches, seen.involuntary_switches), (Some(700), None));
        assert_eq!(seen.sockets.map(|sockets| (sockets.looks, sockets.listen_drops)), Some((6, Some(300))));
        let runtime = seen.runtime.unwrap();
        assert_eq!((runtime.looks, runtime.gc_count, runtime.peak_heap_bytes), (4, Some(5.0), Some(7)));
        let [first, second] = &seen.seconds[..] else { panic!("{:?}", seen.seconds) };
        assert!(near(first.at_s, 0.0) && near(second.at_s, 0.2) && near(second.length_s, 0.2));
        assert!(near(first.cpu_s, 0.1) && near(second.cpu_s, 0.2), "of what was measured: {:?}", seen.seconds);
        assert_eq!((first.memory_bytes, first.gc_count), (1_130, Some(3.0)));
    }
}
