//! What is shown of a launch over time.

use model::{CellLaunch, Timeline, TimelineStep, Unit};

/// A launch whose figures over time are known.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) launch: &'a CellLaunch,
    pub(crate) timeline: &'a Timeline,
}

/// An amount that is shown over time, from zero.
pub(crate) struct Amount {
    /// Its name in the page's data.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) of: fn(&TimelineStep) -> Option<f64>,
}

/// What comes above latency.
pub(crate) const THROUGHPUT: Amount = Amount {
    id: "throughput",
    title: "Throughput, ok replies",
    unit: Unit::RequestsPerS,
    // A record knows how long the warm-up was to the second alone, so that its rate is not known.
    of: |step| (!step.is_warm_up()).then(|| step.ok_per_s()),
};

/// What comes beneath latency, each where it is known.
pub(crate) const AMOUNTS: [Amount; 6] = [
    Amount { id: "cpu", title: "CPU, in CPUs used", unit: Unit::None, of: TimelineStep::cpus },
    Amount {
        id: "memory",
        title: "Memory, resident",
        unit: Unit::Bytes,
        of: |step| step.memory_bytes.map(|bytes| bytes as f64),
    },
    Amount {
        id: "collections",
        title: "Garbage collections",
        unit: Unit::Collections,
        of: |step| step.gc_count.filter(|_| !step.is_warm_up()),
    },
    Amount {
        id: "pauses",
        title: "Time in pauses for collections",
        unit: Unit::Ms,
        of: |step| step.gc_pause_ms.filter(|_| !step.is_warm_up()),
    },
    Amount { id: "threads", title: "Threads", unit: Unit::Threads, of: |step| step.threads.map(f64::from) },
    Amount {
        id: "connections",
        title: "Established connections, when looked at",
        unit: Unit::Connections,
        of: |step| step.connections.map(f64::from),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_names_of_their_own() {
        let names: std::collections::BTreeSet<&str> = AMOUNTS.iter().chain([&THROUGHPUT]).map(|of| of.id).collect();
        assert_eq!(names.len(), AMOUNTS.len() + 1);
    }
}
