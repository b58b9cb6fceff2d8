//! What `observe` sees of a server of one process, on a machine with nothing else to do.

use std::sync::LazyLock;

use model::*;
use observe::{SeenSlice, SliceSummary, Summary};

use super::measured::WINDOW_S;

/// A look at a server that has used so many seconds of CPU, with all that a full look has.
fn look(at_s: f64, cpu_s: f64) -> Sample {
    Sample {
        at_ns: (at_s * 1e9) as u64,
        cpu_user_s: cpu_s,
        rss_bytes: 20_000_000,
        peak_rss_bytes: 20_000_000,
        peak_is_whole: true,
        processes: 1,
        threads: 1,
        open_files: Some(20),
        voluntary_switches: Some((at_s * 1_000.0) as u64),
        involuntary_switches: Some((at_s * 10.0) as u64),
        pss_bytes: Some(18_000_000),
        sockets: Some(SocketCounts {
            established: 10,
            listen_overflows: Some(0),
            listen_drops: Some(0),
            ..SocketCounts::default()
        }),
        host_busy_s: cpu_s,
        by_clock: true,
        ..Sample::default()
    }
}

/// What is seen over a window of so many seconds of one that is so busy.
pub(super) fn observation(busy: f64, seconds: u32) -> Observation {
    static SEEN: LazyLock<Observation> = LazyLock::new(|| always_busy(WINDOW_S));
    let mut seen = if seconds == WINDOW_S { SEEN.clone() } else { always_busy(seconds) };
    seen.cpu_user_s *= busy;
    seen.seconds.iter_mut().for_each(|second| second.cpu_s *= busy);
    seen
}

/// What is seen of one that uses all of a CPU, as `observe` makes it of looks.
fn always_busy(seconds: u32) -> Observation {
    let mut summary = Summary::new(0, u64::from(seconds) * NS_PER_S, 1);
    (0..=10 * seconds).map(|tenth| f64::from(tenth) / 10.0).for_each(|at_s| summary.add(&look(at_s, at_s)));
    summary.end(1, 1)
}

/// What is seen of one in its slices alone, by looks at their edges.
pub(super) fn in_slices(slices: &[Slice], cpus: u32, host: HostUse) -> Observation {
    let (mut summary, mut used_s) = (SliceSummary::default(), 0.0);
    for slice in slices {
        let begin = look(slice.at_s, used_s);
        used_s += slice.cpu_s;
        let end = look(slice.at_s + slice.length_s, used_s);
        used_s += slice.idle_cpu_s;
        [begin, end].iter().for_each(|look| summary.add(look));
        if slice.round > 0 {
            let (targets_cpu_s, window_s) = (slice.cpu_s, slice.window_s);
            summary.add_slice(&SeenSlice {
                begin,
                end,
                targets_cpu_s,
                window_s,
                told_before: None,
                told_at_end: None,
                told_after: None,
            });
        }
    }
    Observation { host, ..summary.end(cpus, host.cpus) }
}
