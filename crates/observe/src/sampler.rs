use std::sync::Arc;

use model::{Clock, NS_PER_S, Sample};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::time::{ClockId, clock_gettime};

use crate::ProcSource;
use crate::cgroup::throttled_s;
use crate::crowd::Crowd;
use crate::parse::{
    HostTicks, host_ticks, ignores_children, labelled, peak_resident_bytes, process_stat, processes_started,
    resident_pages, switches,
};
use crate::proc_source::Reader;
use crate::sockets;
use crate::tree::{Family, Stats, Tree};

/// The engine's clock, shared with the observer.
pub type SharedClock = Arc<dyn Clock + Send + Sync>;

/// Watching rests a hundred times as long as it worked, so that it takes a 100th of a core at most. It matters for
/// targets of hundreds of processes or threads.
const REST_AFTER_LOOK: u64 = 100;
/// What costs a few microseconds for every thread, or for every socket of the host, is done once a second and in full
/// looks, and keeps to half of that.
const EXTRA_PERIOD_NS: u64 = NS_PER_S;
const REST_AFTER_EXTRA: u64 = 2 * REST_AFTER_LOOK;

/// Takes samples of one process tree and the host.
///
/// CPU time of processes that ended and were waited for is counted through the time that their ancestors inherited, the reaper
/// among them, which waits for all that lose their parents; so it does not go backwards. What nobody inherits (a parent that
/// ignores its children's end) is lost to the kernel's books: the sums then stand still until they pass their former value. A
/// sample says whether that was seen, or may have been.
///
/// What a process that lives has used is read from its own clock, to the nanosecond, and so is what bourdon has. How much of it
/// was in user mode, and what was inherited, come in clock ticks, 10 ms as a rule; what the host used is told by all clocks, or in ticks
/// (`crowd`).
pub struct Sampler {
    reader: Reader,
    clock: SharedClock,
    tree: Tree,
    crowd: Crowd,
    root_pid: u32,
    ignores_children: bool,
    port: Option<u16>,
    tick_ns: u64,
    page_bytes: u64,
    /// Processes and threads the host had started, when new ones of the tree were last looked for.
    started: Option<u64>,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    /// What had been inherited at the first look, in ticks.
    inherited: Option<u64>,
    rest_ns: u64,
    switches: Extra,
    sockets: Extra,
    memory: Extra,
    sees_memory: bool,
    /// Page faults of processes that had been waited for, when it was last looked for what processes had most.
    reaped_faults: Option<u64>,
}

/// A part of a look that waits for its turn. Each has its own, so that an expensive one does not delay the others.
#[derive(Default)]
struct Extra {
    due_ns: u64,
}

impl Extra {
    fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.due_ns
    }

    fn done(&mut self, at_ns: u64, cost_ns: u64) {
        self.due_ns = at_ns.saturating_add(EXTRA_PERIOD_NS.max(REST_AFTER_EXTRA * cost_ns));
    }
}

impl Sampler {
    /// A sampler of these processes, and of the sockets of `port` where it is given.
    pub fn new(family: Family, port: Option<u16>, proc: &ProcSource, clock: SharedClock) -> Self {
        Self {
            reader: Reader::new(&proc.root),
            clock,
            tree: Tree::new(family),
            crowd: Crowd::default(),
            root_pid: family.root_pid,
            ignores_children: false,
            port,
            tick_ns: NS_PER_S / clock_ticks_per_second(),
            page_bytes: page_size() as u64,
            started: None,
            cpu_user_ns: 0,
            cpu_system_ns: 0,
            inherited: None,
            rest_ns: 0,
            switches: Extra::default(),
            sockets: Extra::default(),
            memory: Extra::default(),
            sees_memory: true,
            reaped_faults: None,
        }
    }

    /// The same, which leaves memory alone: the most that a process had is told from one look to the next, whoever looks.
    pub fn without_memory(self) -> Self {
        Self { sees_memory: false, ..self }
    }

    /// A full look, now: context switches, sockets, and proportional memory, which the kernel must walk the page tables
    /// for.
    pub fn sample_now(&mut self) -> Sample {
        let mut sample = self.look([true; 2]);
        self.fill_pss(&mut sample);
        sample
    }

    /// A look between two slices of load: context switches in any case, the rest as in passing.
    pub fn sample_at_edge(&mut self) -> Sample {
        self.look([true, false])
    }

    /// A look in passing: context switches, sockets, and what the processes of a tree of several share, only when their
    /// turn has come.
    pub fn sample(&mut self) -> Sample {
        self.look([false; 2])
    }

    /// How long to rest after the last look.
    pub(crate) fn rest_ns(&self) -> u64 {
        self.rest_ns
    }

    /// Looks, whether or not the turn of context switches or sockets has come.
    fn look(&mut self, [switches, sockets]: [bool; 2]) -> Sample {
        let mut sample = Sample::default();
        self.rest_ns = REST_AFTER_LOOK * cpu_of(|| self.fill_basics(&mut sample));
        if switches || self.switches.is_due(sample.at_ns) {
            let cost_ns = cpu_of(|| self.fill_switches(&mut sample));
            self.switches.done(sample.at_ns, cost_ns);
        }
        if sockets || self.sockets.is_due(sample.at_ns) {
            let cost_ns = cpu_of(|| self.fill_sockets(&mut sample));
            self.sockets.done(sample.at_ns, cost_ns);
        }
        (sample.ignores_children, sample.unwaited) = (self.ignores_children, self.tree.unwaited());
        if !sockets && self.sees_memory && sample.processes > 1 && self.memory.is_due(sample.at_ns) {
            let cost_ns = cpu_of(|| self.fill_pss(&mut sample));
            self.memory.done(sample.at_ns, cost_ns);
        }
        sample
    }

    fn fill_basics(&mut self, sample: &mut Sample) {
        let has_started = self.find_new_processes();
        sample.started = self.started;
        // The stamp stands next to the CPU times, whose differences are divided by differences of it.
        sample.at_ns = self.clock.now_ns();
        let stats = self.tree.stats(&mut self.reader);
        self.fill_host(sample);
        self.fill_processes(sample, &stats);
        if self.sees_memory {
            self.fill_resident(sample, &stats, has_started);
        }
        self.fill_files(sample);
    }

    /// At every look: the CPU time of a process that is not known yet would count as that of others. Where the kernel
    /// has started nothing since the last time, there is nothing to look for. Whether it may have started something.
    fn find_new_processes(&mut self) -> bool {
        let started = self.reader.read(format_args!("stat")).and_then(processes_started);
        let has_started = started.is_none() || started != self.started;
        if has_started {
            self.tree.discover(&mut self.reader);
            self.started = started;
        }
        has_started
    }

    fn fill_host(&mut self, sample: &mut Sample) {
        let host = self.reader.read(format_args!("stat")).and_then(host_ticks).unwrap_or_default();
        let HostTicks { cpus, idle, steal } = host;
        let away_ns = (idle + steal) * self.tick_ns;
        let not_idle_s = (self.clock.now_ns() * cpus) as f64 / NS_PER_S as f64 - seconds(away_ns);
        sample.host_busy_s = self.crowd.busy_s(&mut self.reader, self.started, not_idle_s);
        sample.host_steal_s = seconds(steal * self.tick_ns);
        sample.own_cpu_s = seconds(self.own_ns().unwrap_or(0));
    }

    fn own_ns(&mut self) -> Option<u64> {
        let by_clock = self.reader.cpu_ns(std::process::id());
        by_clock.or_else(|| {
            let own = self.reader.read(format_args!("self/stat")).and_then(process_stat)?;
            Some((own.user + own.system) * self.tick_ns)
        })
    }

    fn fill_processes(&mut self, sample: &mut Sample, stats: &Stats) {
        let (mut all_ns, mut user_ns, mut inherited, mut by_clock) = (0, 0, 0, true);
        for (pid, stat) in self.tree.pids().zip(&stats.members) {
            let own_ns = self.reader.cpu_ns(pid);
            by_clock &= own_ns.is_some();
            all_ns += own_ns.unwrap_or((stat.user + stat.system) * self.tick_ns);
            user_ns += stat.user * self.tick_ns;
        }
        for stat in stats.members.iter().chain(&stats.reaper) {
            inherited += stat.reaped_user + stat.reaped_system;
            user_ns += stat.reaped_user * self.tick_ns;
        }
        all_ns += inherited * self.tick_ns;
        sample.by_clock = by_clock && *self.inherited.get_or_insert(inherited) == inherited;
        // A child that is waited for between the two reads is for one look in neither sum. Neither part goes backwards, and
        // together they are all.
        let all_ns = all_ns.max(self.cpu_user_ns + self.cpu_system_ns);
        self.cpu_user_ns = user_ns.clamp(self.cpu_user_ns, all_ns - self.cpu_system_ns);
        self.cpu_system_ns = all_ns - self.cpu_user_ns;
        sample.cpu_user_s = seconds(self.cpu_user_ns);
        sample.cpu_system_s = seconds(self.cpu_system_ns);
        for stat in stats.members.iter().filter(|stat| !stat.zombie) {
            sample.processes += 1;
            sample.threads += stat.threads;
        }
    }

    fn fill_files(&mut self, sample: &mut Sample) {
        for pid in self.tree.pids() {
            if let Some(files) = self.reader.open_files(pid) {
                *sample.open_files.get_or_insert(0) += files;
            }
        }
    }

    /// What is resident, and what each process had most since the look before. Of one that ended meanwhile the kernel has forgotten it. At
    /// the first look it is what there is: how a target started is not part of it.
    fn fill_resident(&mut self, sample: &mut Sample, stats: &Stats, has_started: bool) {
        // Who was never seen is credited to its parent by page faults, unless that does not wait for it.
        let reaped_faults = model::sum(stats.members.iter().chain(&stats.reaper).map(|stat| stat.reaped_faults));
        let known = self.reaped_faults.replace(reaped_faults);
        let nobody_waits = self.ignores_children || self.tree.unwaited();
        let have_ended = stats.ended || known != Some(reaped_faults) || (nobody_waits && has_started);
        let (mut peak_bytes, mut is_told) = (0, true);
        for of in self.have_memory() {
            let pages = self.reader.read(format_args!("{of}/statm")).and_then(resident_pages);
            sample.rss_bytes += pages.unwrap_or(0) * self.page_bytes;
            let peak = self.reader.read(format_args!("{of}/status")).and_then(peak_resident_bytes);
            is_told &= peak.is_some() && self.reader.reset_peak(&of);
            peak_bytes += peak.unwrap_or(0);
        }
        let is_peak = known.is_some() && is_told;
        sample.peak_rss_bytes = if is_peak { peak_bytes.max(sample.rss_bytes) } else { sample.rss_bytes };
        sample.peak_is_whole = is_told && (known.is_none() || !have_ended);
    }

    /// Of all or of none: one that may not be looked at is not taken for one without memory, and one that just ended is.
    fn fill_pss(&mut self, sample: &mut Sample) {
        let mut bytes = Some(0);
        for of in self.have_memory() {
            let rollup = self.reader.read(format_args!("{of}/smaps_rollup"));
            match rollup.and_then(|text| labelled(text, b"Pss:")) {
                Some(kibibytes) => bytes = bytes.map(|bytes| bytes + kibibytes * 1024),
                None if self.has_ended(&of) => {}
                None => bytes = None,
            }
        }
        sample.pss_bytes = bytes.filter(|bytes| *bytes > 0);
    }

    /// Whether a process that told of its memory tells of none any more.
    fn has_ended(&mut self, of: &str) -> bool {
        self.reader.read(format_args!("{of}/statm")).and_then(resident_pages).unwrap_or(0) == 0
    }

    /// The processes that have not ended, each by the name under which it tells of its memory.
    fn have_memory(&mut self) -> Vec<String> {
        self.tree.pids().filter_map(|pid| self.reader.who_has_memory(pid)).collect()
    }

    fn fill_sockets(&mut self, sample: &mut Sample) {
        sample.sockets = self.port.and_then(|port| sockets::look(&mut self.reader, self.root_pid, port));
    }

    fn fill_switches(&mut self, sample: &mut Sample) {
        let root_pid = self.root_pid;
        sample.throttled_s = self.reader.read(format_args!("{root_pid}/cgroup")).and_then(throttled_s);
        let mut threads = Vec::new();
        for pid in self.tree.pids() {
            threads.clear();
            self.reader.numbered(format_args!("{pid}/task"), &mut threads);
            for thread in &threads {
                let Some(status) = self.reader.read(format_args!("{pid}/task/{thread}/status")) else { continue };
                self.ignores_children |= ignores_children(status);
                let Some((voluntary, involuntary)) = switches(status) else { continue };
                *sample.voluntary_switches.get_or_insert(0) += voluntary;
                *sample.involuntary_switches.get_or_insert(0) += involuntary;
            }
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S as f64
}

/// What it costs the calling thread, in nanoseconds of CPU time, whatever else the machine is doing meanwhile.
fn cpu_of(work: impl FnOnce()) -> u64 {
    let before_ns = thread_cpu_ns();
    work();
    thread_cpu_ns().saturating_sub(before_ns)
}

fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(used.tv_sec).unwrap_or(0) * NS_PER_S + u64::try_from(used.tv_nsec).unwrap_or(0)
}
