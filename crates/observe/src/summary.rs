use model::{AfterLoad, HostUse, NS_PER_S, Observation, ObservedSecond, RuntimeSample, RuntimeUse, Sample, SocketUse};

/// Reduces samples to what happened between the window's start and end, each as it comes: what it takes does not depend on
/// how many there are.
///
/// The kernel's counters at an edge lie on the line between the samples on either side of it (a sample taken at the
/// edge itself decides alone); where there is none on one side, the nearest sample takes its place and the window
/// seen is shorter. Taking the next sample inside instead would lose up to one period at each edge, a tenth of the
/// CPU of a window of one second. Peaks are over every sample from the window's start on, memory at rest is the first
/// sample's, memory after the load the last one's. `others_share` is never below 0: the kernel counts the three figures
/// behind it in ticks of their own.
pub struct Summary {
    start_ns: u64,
    end_ns: u64,
    step_ns: u64,
    first: Option<Sample>,
    last: Option<Sample>,
    samples: u32,
    until_start: u32,
    before_end: u32,
    peaks: Peaks,
    counters: Counters,
    cpu: Line,
    memory: Line,
    told: RuntimeFigures,
}

impl Summary {
    /// Of a window between these moments on the engine's clock, in steps of so many whole seconds.
    pub fn new(start_ns: u64, end_ns: u64, step_s: u64) -> Self {
        let step_ns = step_s.max(1).saturating_mul(NS_PER_S);
        let steps = end_ns.saturating_sub(start_ns) / step_ns;
        let edges: Vec<u64> = (0..=steps).map(|number| start_ns + number * step_ns).collect();
        let line = || Line::new(edges.clone());
        Summary {
            start_ns,
            end_ns,
            step_ns,
            first: None,
            last: None,
            samples: 0,
            until_start: 0,
            before_end: 0,
            peaks: Peaks::default(),
            counters: Counters::new(|| Line::new(vec![start_ns, end_ns])),
            cpu: line(),
            memory: line(),
            told: RuntimeFigures { count: line(), pause: line(), ..RuntimeFigures::new(start_ns, end_ns) },
        }
    }

    /// Takes the next sample, in the order of time.
    pub fn add(&mut self, sample: &Sample) {
        self.first.get_or_insert(*sample);
        self.last = Some(*sample);
        self.samples += 1;
        self.until_start += u32::from(sample.at_ns <= self.start_ns);
        self.before_end += u32::from(sample.at_ns < self.end_ns);
        if sample.at_ns >= self.start_ns {
            self.peaks.add(sample);
        }
        self.counters.add(sample);
        self.cpu.add(sample.at_ns, sample.cpu_user_s + sample.cpu_system_s);
        self.memory.add(sample.at_ns, sample.rss_bytes as f64);
    }

    /// Takes what the runtime said of itself, in the order of time.
    pub fn add_told(&mut self, told: &RuntimeSample) {
        self.told.add(told);
    }

    /// What there was at the last look.
    pub fn after(&self) -> Option<AfterLoad> {
        self.last.map(|last| AfterLoad {
            processes: last.processes,
            threads: last.threads,
            open_files: last.open_files,
            close_wait: last.sockets.map(|sockets| sockets.close_wait),
        })
    }

    /// What was seen of a target that may use so many CPUs of a host that has so many.
    pub fn end(mut self, cpus_allowed: u32, host_cpus: u32) -> Observation {
        let Some((first, last)) = self.first.zip(self.last) else {
            let host = HostUse { cpus: host_cpus, ..HostUse::default() };
            return Observation { cpus: cpus_allowed, host, ..Observation::default() };
        };
        if last.at_ns < self.start_ns {
            self.peaks.add(&last);
        }
        let (counters, peaks) = (&self.counters, &self.peaks);
        let count = |line: &Line| line.growth().map(|count| count.round() as u64);
        Observation {
            window_s: self.length_s(),
            samples: self.used(),
            cpu_user_s: counters.user.growth().unwrap_or(0.0),
            cpu_system_s: counters.system.growth().unwrap_or(0.0),
            by_clock: first.by_clock && last.by_clock,
            unwaited: last.unwaited || (last.ignores_children && counters.started.growth() != Some(0.0)),
            cpus: cpus_allowed,
            memory_at_rest_bytes: first.rss_bytes,
            memory_after_bytes: Some(last.rss_bytes),
            pss_at_rest_bytes: first.pss_bytes,
            pss_after_bytes: last.pss_bytes,
            peak_memory_bytes: peaks.rss_bytes,
            peak_pss_bytes: peaks.each_once_bytes.filter(|_| peaks.looked_at_pss),
            peak_at_most_bytes: peaks.at_most_bytes(),
            peak_unbounded: peaks.at_most_bytes().is_none(),
            threads_max: peaks.threads,
            processes_max: peaks.processes,
            open_files_max: peaks.open_files,
            voluntary_switches: count(&counters.voluntary),
            involuntary_switches: count(&counters.involuntary),
            throttled_s: counters.throttled.growth().map(|throttled_s| throttled_s.max(0.0)),
            sockets: peaks.sockets.map(|sockets| SocketUse {
                listen_overflows: count(&counters.overflows),
                listen_drops: count(&counters.drops),
                ..sockets
            }),
            runtime: self.told.runtime_use(),
            after: None,
            heap: None,
            jvm: false,
            census: None,
            rest: None,
            profile: None,
            no_profile: None,
            host: self.host_use(host_cpus),
            seconds: self.seconds(),
        }
    }

    /// The part of the window that samples cover.
    fn edges(&self) -> (u64, u64) {
        let (Some(first), Some(last)) = (self.first, self.last) else { return (0, 0) };
        (self.start_ns.clamp(first.at_ns, last.at_ns), self.end_ns.clamp(first.at_ns, last.at_ns))
    }

    fn length_s(&self) -> f64 {
        let (start_ns, end_ns) = self.edges();
        end_ns.saturating_sub(start_ns) as f64 / NS_PER_S as f64
    }

    /// Samples between the edges, and those next to them that were needed for the line.
    fn used(&self) -> u32 {
        let from = self.until_start.max(1) - 1;
        (self.before_end + 1).min(self.samples).saturating_sub(from)
    }

    /// The whole steps of the window, as far as there are samples on both sides of each.
    fn seconds(&self) -> Vec<ObservedSecond> {
        let (start_ns, end_ns) = self.edges();
        if start_ns > self.start_ns {
            return Vec::new();
        }
        let step_s = (self.step_ns / NS_PER_S) as f64;
        let whole = end_ns.saturating_sub(self.start_ns) / self.step_ns;
        let step = |number: usize| {
            Some(ObservedSecond {
                at_s: number as f64 * step_s,
                length_s: step_s,
                cpu_s: self.cpu.growth_of(number)?,
                memory_bytes: self.memory.value(number + 1)? as u64,
                gc_count: self.told.count.growth_of(number),
                gc_pause_ms: self.told.pause.growth_of(number).map(|seconds| seconds * 1e3),
            })
        };
        (0..whole as usize).filter_map(step).collect()
    }

    fn host_use(&self, cpus: u32) -> HostUse {
        let available = self.length_s() * f64::from(cpus);
        if available <= 0.0 {
            return HostUse { cpus, ..HostUse::default() };
        }
        let grown = |line: &Line| line.growth().unwrap_or(0.0);
        let of = &self.counters;
        let others = grown(&of.host_busy) - grown(&of.user) - grown(&of.system) - grown(&of.own_cpu);
        HostUse {
            cpus,
            steal_share: (grown(&of.host_steal) / available).clamp(0.0, 1.0),
            others_share: (others / available).clamp(0.0, 1.0),
        }
    }
}

/// The most of everything, over the looks from the window's start on.
#[derive(Default)]
pub(crate) struct Peaks {
    pub(crate) rss_bytes: u64,
    /// Memory with each page counted once. Where there is one process for the moment its resident pages are that, too, and
    /// there are many more such looks: a process that is there for one look only must not leave a peak of few.
    pub(crate) each_once_bytes: Option<u64>,
    /// The resident bytes of the look with the most of that.
    resident_then_bytes: u64,
    /// Whether some look could not tell what there was most since the one before.
    is_unknown: bool,
    pub(crate) looked_at_pss: bool,
    pub(crate) threads: u32,
    pub(crate) processes: u32,
    pub(crate) open_files: Option<u32>,
    pub(crate) sockets: Option<SocketUse>,
}

impl Peaks {
    /// The most that memory with each page counted once can have been at any moment: what was resident then and not at the look
    /// with the most of it counts whole.
    pub(crate) fn at_most_bytes(&self) -> Option<u64> {
        let each_once = self.each_once_bytes.filter(|_| !self.is_unknown)?;
        Some(each_once.saturating_add(self.rss_bytes.saturating_sub(self.resident_then_bytes)))
    }

    pub(crate) fn add(&mut self, sample: &Sample) {
        let resident = sample.peak_rss_bytes.max(sample.rss_bytes);
        self.rss_bytes = self.rss_bytes.max(resident);
        self.is_unknown |= !sample.peak_is_whole;
        self.threads = self.threads.max(sample.threads);
        self.processes = self.processes.max(sample.processes);
        self.open_files = self.open_files.max(sample.open_files);
        self.looked_at_pss |= sample.pss_bytes.is_some();
        let (each_once, then) = match sample.processes {
            1 => (Some(resident), resident),
            _ => (sample.pss_bytes, sample.rss_bytes),
        };
        if each_once > self.each_once_bytes {
            (self.each_once_bytes, self.resident_then_bytes) = (each_once, then);
        }
        let Some(counts) = sample.sockets else { return };
        let most = self.sockets.get_or_insert_default();
        most.looks += 1;
        most.established_max = most.established_max.max(counts.established);
        most.syn_received_max = most.syn_received_max.max(counts.syn_received);
        most.close_wait_max = most.close_wait_max.max(counts.close_wait);
        most.time_wait_max = most.time_wait_max.max(counts.time_wait);
        most.accept_queue_max = most.accept_queue_max.max(counts.accept_queue);
    }
}

/// What grows between the edges of the window.
struct Counters {
    user: Line,
    system: Line,
    voluntary: Line,
    involuntary: Line,
    throttled: Line,
    started: Line,
    overflows: Line,
    drops: Line,
    host_steal: Line,
    host_busy: Line,
    own_cpu: Line,
}

impl Counters {
    fn new(line: impl Fn() -> Line) -> Self {
        Counters {
            user: line(),
            system: line(),
            voluntary: line(),
            involuntary: line(),
            throttled: line(),
            started: line(),
            overflows: line(),
            drops: line(),
            host_steal: line(),
            host_busy: line(),
            own_cpu: line(),
        }
    }

    fn add(&mut self, sample: &Sample) {
        let at_ns = sample.at_ns;
        self.user.add(at_ns, sample.cpu_user_s);
        self.system.add(at_ns, sample.cpu_system_s);
        self.host_steal.add(at_ns, sample.host_steal_s);
        self.host_busy.add(at_ns, sample.host_busy_s);
        self.own_cpu.add(at_ns, sample.own_cpu_s);
        sample.throttled_s.into_iter().for_each(|throttled_s| self.throttled.add(at_ns, throttled_s));
        let sockets = sample.sockets.as_ref();
        let looked_at = [
            (&mut self.voluntary, sample.voluntary_switches),
            (&mut self.involuntary, sample.involuntary_switches),
            (&mut self.started, sample.started),
            (&mut self.overflows, sockets.and_then(|counts| counts.listen_overflows)),
            (&mut self.drops, sockets.and_then(|counts| counts.listen_drops)),
        ];
        for (line, count) in looked_at {
            count.into_iter().for_each(|count| line.add(at_ns, count as f64));
        }
    }
}

/// What the runtime told between the edges.
struct RuntimeFigures {
    start_ns: u64,
    end_ns: u64,
    seen: RuntimeUse,
    gc_count: Line,
    gc_major: Line,
    gc_pause_s: Line,
    /// The same two by steps.
    count: Line,
    pause: Line,
}

impl RuntimeFigures {
    fn new(start_ns: u64, end_ns: u64) -> Self {
        let line = || Line::new(vec![start_ns, end_ns]);
        let seen = RuntimeUse::default();
        RuntimeFigures {
            start_ns,
            end_ns,
            seen,
            gc_count: line(),
            gc_major: line(),
            gc_pause_s: line(),
            count: line(),
            pause: line(),
        }
    }

    fn add(&mut self, told: &RuntimeSample) {
        for (figure, lines) in [
            (told.gc_count, [&mut self.gc_count, &mut self.count]),
            (told.gc_pause_s, [&mut self.gc_pause_s, &mut self.pause]),
        ] {
            let Some(figure) = figure else { continue };
            lines.into_iter().for_each(|line| line.add(told.at_ns, figure));
        }
        told.gc_major.into_iter().for_each(|count| self.gc_major.add(told.at_ns, count));
        if (self.start_ns..=self.end_ns).contains(&told.at_ns) {
            let seen = &mut self.seen;
            seen.looks += 1;
            seen.peak_heap_bytes = seen.peak_heap_bytes.max(told.heap_bytes);
            seen.units_max = seen.units_max.max(told.units);
            seen.loop_lag_max_s = seen.loop_lag_max_s.into_iter().chain(told.loop_lag_s).reduce(f64::max);
        }
    }

    fn runtime_use(&self) -> Option<RuntimeUse> {
        let (gc_count, gc_pause_s) = (self.gc_count.growth(), self.gc_pause_s.growth());
        let gc_major = self.gc_major.growth();
        (self.seen.looks > 0).then_some(RuntimeUse { gc_count, gc_major, gc_pause_s, ..self.seen })
    }
}

/// A figure's values at some moments, each on the line through the points around it; beyond the ends, the nearest point's.
struct Line {
    moments: Vec<u64>,
    values: Vec<f64>,
    last: Option<(u64, f64)>,
}

impl Line {
    fn new(moments: Vec<u64>) -> Self {
        Line { values: Vec::with_capacity(moments.len()), moments, last: None }
    }

    /// The next point.
    fn add(&mut self, at_ns: u64, value: f64) {
        while let Some(moment_ns) = self.moments.get(self.values.len()).filter(|moment_ns| **moment_ns <= at_ns) {
            self.values.push(match self.last {
                Some((left_ns, left)) => {
                    let share = (moment_ns - left_ns) as f64 / (at_ns - left_ns) as f64;
                    left + (value - left) * share
                }
                None => value,
            });
        }
        self.last = Some((at_ns, value));
    }

    /// The value at the moment of that number; none where there was no point.
    fn value(&self, number: usize) -> Option<f64> {
        self.values.get(number).copied().or(self.last.map(|(_, value)| value))
    }

    /// Growth from one moment to the next; never below 0, though a thread that ends takes its context switches with it.
    fn growth_of(&self, number: usize) -> Option<f64> {
        Some((self.value(number + 1)? - self.value(number)?).max(0.0))
    }

    /// Growth from the first moment to the second.
    fn growth(&self) -> Option<f64> {
        self.growth_of(0)
    }
}

#[cfg(test)]
#[path = "summary/tests.rs"]
mod tests;
