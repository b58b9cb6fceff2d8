//! What all processes of the machine used together, by their own clocks.

use model::NS_PER_S;

use crate::proc_source::Reader;

/// The first kernel thread, which nobody sees who sees only some of the processes: in a container, or where others' are hidden.
const KERNEL_THREADS: &[u8] = b"kthreadd\n";

/// How long the machine's CPUs have been busy, summed up from look to look.
///
/// When a CPU goes idle and when it no longer is the kernel notes, but what lies between that and the first process is nobody's: some
/// microsecond of a virtual machine each time, which of 50,000 a second is a twentieth of a CPU. Where the same processes are there
/// at two looks, and none was started between them, what they used by their clocks is what the CPUs worked. Else something may have come and gone, and
/// the time counts in which they were not idle.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    sees_all: Option<bool>,
    before: Option<Seen>,
    busy_s: f64,
}

#[derive(Debug)]
struct Seen {
    /// Processes and threads that the machine had started.
    started: Option<u64>,
    /// Each process with what it has used, in nanoseconds.
    clocks: Vec<(u32, u64)>,
    not_idle_s: f64,
}

impl Crowd {
    /// CPU seconds of all CPUs by this look, since a moment that is the same in all; `not_idle_s` are those in which they were neither
    /// idle nor stolen.
    pub(crate) fn busy_s(&mut self, reader: &mut Reader, started: Option<u64>, not_idle_s: f64) -> f64 {
        let sees_all =
            *self.sees_all.get_or_insert_with(|| reader.read(format_args!("2/comm")) == Some(KERNEL_THREADS));
        if !sees_all {
            return not_idle_s;
        }
        let mut pids = Vec::new();
        reader.numbered(format_args!(""), &mut pids);
        let clocks = pids.into_iter().filter_map(|pid| Some((pid, reader.cpu_ns(pid)?))).collect();
        self.take(Seen { started, clocks, not_idle_s })
    }

    fn take(&mut self, now: Seen) -> f64 {
        self.busy_s = match &self.before {
            None => now.not_idle_s,
            Some(before) => self.busy_s + before.used_s(&now).unwrap_or(now.not_idle_s - before.not_idle_s),
        };
        self.before = Some(now);
        self.busy_s
    }
}

impl Seen {
    /// What all have used until `later`; none where it is not known to be the same processes.
    fn used_s(&self, later: &Seen) -> Option<f64> {
        let none_started = self.started.is_some() && self.started == later.started;
        let same = self.clocks.iter().map(|(pid, _)| pid).eq(later.clocks.iter().map(|(pid, _)| pid));
        let of = |seen: &Seen| seen.clocks.iter().map(|(_, used_ns)| *used_ns).sum::<u64>();
        (none_started && same).then(|| of(later).saturating_sub(of(self)) as f64 / NS_PER_S as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = NS_PER_S;

    fn seen(started: u64, clocks: &[(u32, u64)], not_idle_s: f64) -> Seen {
        Seen { started: Some(started), clocks: clocks.to_vec(), not_idle_s }
    }

    #[test]
    fn the_clocks_count_where_nothing_came_or_went_and_else_what_was_not_idle() {
        let mut crowd = Crowd::default();
        assert_eq!(crowd.take(seen(7, &[(1, SECOND), (2, SECOND)], 100.0)), 100.0);
        assert_eq!(crowd.take(seen(7, &[(1, 2 * SECOND), (2, SECOND)], 101.5)), 101.0, "half a second is nobody's");
        assert_eq!(crowd.take(seen(8, &[(1, 2 * SECOND), (2, SECOND)], 103.5)), 103.0, "one may have come and gone");
        assert_eq!(crowd.take(seen(8, &[(1, 3 * SECOND)], 105.5)), 105.0, "one has ended");
        assert_eq!(crowd.take(seen(8, &[(1, 4 * SECOND)], 107.5)), 106.0);
        let unknown = Seen { started: None, ..seen(8, &[(1, 5 * SECOND)], 109.5) };
        assert_eq!(crowd.take(unknown), 108.0, "the kernel does not say");
    }

    #[test]
    fn who_sees_only_some_goes_by_what_was_not_idle() {
        let folder = tempfile::tempdir().unwrap();
        let mut reader = Reader::new(folder.path());
        let mut crowd = Crowd::default();
        assert_eq!(crowd.busy_s(&mut reader, Some(7), 100.0), 100.0);
        assert_eq!(crowd.busy_s(&mut reader, Some(7), 101.5), 101.5);
    }

    #[test]
    fn a_process_that_works_is_seen_by_its_clock() {
        let reader = Reader::new(std::path::Path::new("/proc"));
        let own = std::process::id();
        let clocks = || vec![(own, reader.cpu_ns(own).unwrap())];
        let before = Seen { started: Some(1), clocks: clocks(), not_idle_s: 0.0 };
        while clocks()[0].1 < before.clocks[0].1 + SECOND / 100 {}
        let after = Seen { started: Some(1), clocks: clocks(), not_idle_s: 0.0 };
        assert!(before.used_s(&after).unwrap() >= 0.01);
    }
}
