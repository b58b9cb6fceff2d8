//! What one experiment showed.

use model::{
    Accounting, BackendUse, CellPlan, Experiment, LatencySummary, Metric, Observation, Silence, Suspect, Suspicion,
    TrialRecord, Trying, WrongReply,
};

use crate::{silence, suspicion};

/// An experiment that was made.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    /// Its place among the records.
    pub(super) place: usize,
    pub(super) trying: &'a Trying,
    pub(super) cell: &'a CellPlan,
    pub(super) record: &'a TrialRecord,
    /// Whether the instrument vouches for it.
    pub(super) valid: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn experiment(&self) -> Experiment {
        self.trying.experiment
    }

    fn measured(&self) -> Option<&'a model::Measurement> {
        self.record.measurement.as_ref()
    }

    fn observed(&self) -> Option<&'a Observation> {
        self.record.observation.as_ref()
    }

    /// Good replies a second.
    pub(super) fn per_s(&self) -> f64 {
        self.measured().map_or(0.0, model::Measurement::requests_per_s)
    }

    /// Complete replies.
    pub(super) fn completed(&self) -> u64 {
        self.measured().map_or(0, |measured| measured.in_window.completed)
    }

    /// What a reply took from its request on, as a mean, in seconds.
    pub(super) fn service_s(&self) -> Option<f64> {
        let halves = &self.measured()?.in_window.halves;
        let (ns, replies) = halves.iter().fold((0, 0), |(ns, all), half| (ns + half.service_ns, all + half.completed));
        (replies > 0).then(|| ns as f64 / 1e9 / replies as f64)
    }

    /// The median and the 99th percentile of what a reply took, in µs, where none of it can be the generator's own.
    pub(super) fn tail_us(&self) -> Option<(f64, f64)> {
        let latencies = &self.measured()?.latency_us;
        let (service, late) = (latencies.service.as_ref()?, latencies.lateness.as_ref()?.p99?);
        let (p50, p99) = (service.p50?, service.p99?);
        (late < (p99 - p50) / 2.0).then_some((p50, p99))
    }

    /// What a reply took in either half of the window, as a mean, in µs.
    pub(super) fn halves_us(&self) -> Option<(f64, f64)> {
        let [first, second] = &self.measured()?.in_window.halves;
        Some((first.mean_service_us()?, second.mean_service_us()?))
    }

    /// What a request took from when it was to be sent, as a mean, in seconds.
    pub(super) fn felt_s(&self) -> Option<f64> {
        let halves = &self.measured()?.in_window.halves;
        let (ns, replies) = halves.iter().fold((0, 0), |(ns, all), half| (ns + half.response_ns, all + half.completed));
        (replies > 0).then(|| ns as f64 / 1e9 / replies as f64)
    }

    /// The slowest reply, in seconds, from when it was to be sent.
    pub(super) fn slowest_s(&self) -> Option<f64> {
        Some(self.latencies_us()?.max? / 1e6)
    }

    /// How long requests took, from when they were to be sent.
    pub(super) fn latencies_us(&self) -> Option<&'a LatencySummary> {
        let latencies = &self.measured()?.latency_us;
        latencies.response.as_ref().or(latencies.total.as_ref()).or(latencies.service.as_ref())
    }

    /// How long its window was, in seconds.
    pub(super) fn window_s(&self) -> f64 {
        self.measured().map_or(0.0, |measured| measured.window_s)
    }

    /// CPUs that the server used; none where that may be incomplete, and of a number of requests, whose end nobody knew beforehand.
    pub(super) fn cpus_used(&self) -> Option<f64> {
        self.observed().filter(|_| self.cell.load.window_ns() > 0).and_then(Observation::all_cpus_used)
    }

    /// CPU seconds of a request.
    pub(super) fn cpu_s_per_request(&self) -> Option<f64> {
        Some(self.cpus_used()? / self.per_s()).filter(|cpu_s| cpu_s.is_finite())
    }

    /// Busy share of the generator.
    pub(super) fn generator_busy(&self) -> f64 {
        self.measured().map_or(0.0, |measured| measured.generator.neediest_thread())
    }

    /// Connections that got nothing.
    pub(super) fn unserved(&self) -> u64 {
        self.measured().map_or(0, |measured| measured.connections.never_served)
    }

    /// How much of this the server did with what is behind it, for each request of the load and its warm-up.
    pub(super) fn asked_a_request(&self, count: fn(&BackendUse) -> u64) -> Option<f64> {
        // Each connection had one more, which was answered after the end.
        let last = u64::from(self.cell.load.connections);
        let all = model::sum(self.measured()?.steps.iter().map(|step| step.completed).chain([last]));
        Some(count(self.record.backend.as_ref()?) as f64 / all as f64).filter(|share| share.is_finite())
    }

    /// Most replies that one connection had.
    pub(super) fn most_served(&self) -> u64 {
        self.measured().map_or(0, |measured| measured.connections.completed_max)
    }

    /// Replies that ended their connection.
    pub(super) fn closed(&self) -> u64 {
        self.measured().map_or(0, |measured| measured.connections.closed_by_reply)
    }

    /// Connections that were opened over the whole load.
    pub(super) fn opened(&self) -> u64 {
        self.measured().map_or(0, |measured| measured.connections.opened)
    }

    /// Those of the window; in older records, which do not tell, the same but for the first of each connection.
    pub(super) fn opened_in_window(&self) -> u64 {
        let of_all = || self.opened().saturating_sub(self.cell.load.connections.into());
        self.measured().map_or(0, |measured| measured.connections.opened_in_window.unwrap_or_else(of_all))
    }

    /// What became of its requests.
    pub(super) fn books(&self) -> Option<&'a Accounting> {
        self.measured().map(|measured| &measured.accounting)
    }

    /// The first reply that was not as expected.
    pub(super) fn first_wrong(&self) -> Option<&'a WrongReply> {
        self.measured()?.first_wrong.as_ref()
    }

    /// Whether most requests failed without anybody waiting for it: they were refused, or cut off, or answered with something other than a reply.
    pub(super) fn fails_at_once(&self) -> bool {
        let at_once = |books: &Accounting| books.failed_without_time() + books.not_sent_without_time();
        self.books().is_some_and(|books| 2 * at_once(books) > books.scheduled)
    }

    /// How many requests failed, and of how many.
    pub(super) fn failed(&self) -> (u64, u64) {
        self.books().map_or((0, 0), |books| {
            let failed = (books.error_share() * books.scheduled as f64).round() as u64;
            (failed, books.scheduled)
        })
    }

    /// By how much memory has grown since it was ready, in bytes.
    pub(super) fn grown_bytes(&self) -> Option<f64> {
        let seen = self.observed()?;
        Some(seen.memory_after_bytes? as f64 - seen.memory_at_rest_bytes as f64)
    }

    /// Whether what it has was looked at once the load was over.
    pub(super) fn is_looked_at_afterwards(&self) -> bool {
        self.observed().is_some_and(|seen| seen.after.is_some())
    }

    /// How much there is of what may grow once the load is over: bytes beyond those at rest, threads, or open files. In records that did not
    /// look then, the most of these that was seen.
    pub(super) fn kept(&self, suspect: Suspect) -> Option<f64> {
        match suspect {
            Suspect::MemoryGrowth => self.grown_bytes(),
            Suspect::ThreadGrowth => self
                .observed()
                .map(|seen| f64::from(seen.after.as_ref().map_or(seen.threads_max, |after| after.threads))),
            _ => {
                let seen = self.observed()?;
                seen.after.as_ref().map_or(seen.open_files_max, |after| after.open_files).map(f64::from)
            }
        }
    }

    /// Whether replies wait for an acknowledgement: from which quantile on, and what one takes there, in µs.
    pub(super) fn delayed_ack(&self) -> Option<(Metric, f64)> {
        let suspicions = suspicion::of_trial(&self.cell.load, self.measured()?);
        suspicions.into_iter().find_map(|suspicion| match suspicion {
            Suspicion::DelayedAck { quantile, service_us, .. } => Some((quantile, service_us)),
            _ => None,
        })
    }

    /// Whether replies are so short, and the server so near, that one which waits for an acknowledgement shows in what it takes.
    pub(super) fn is_short_and_near(&self) -> bool {
        self.measured().is_some_and(suspicion::is_short_and_near)
    }

    /// A quantile of what a reply took, in µs.
    pub(super) fn service_at_us(&self, quantile: Metric) -> Option<f64> {
        quantile.of(self.measured()?.latency_us.service.as_ref()?)
    }

    /// After how many seconds it stopped answering altogether, if it did.
    pub(super) fn stopped_after_s(&self) -> Option<f64> {
        silence::stopped(self.measured()?).map(|stopped| stopped.after_s)
    }

    /// CPUs that others and the hypervisor took.
    pub(super) fn cpus_taken(&self) -> f64 {
        self.observed().map_or(0.0, |seen| (seen.host.steal_share + seen.host.others_share) * f64::from(seen.host.cpus))
    }

    /// Whether one of its processes was seen to be a JVM.
    pub(super) fn is_jvm(&self) -> bool {
        self.observed().is_some_and(|seen| seen.jvm)
    }

    /// The share of the time in which a quota kept the server from any CPU.
    pub(super) fn throttled(&self) -> f64 {
        let share = |seen: &Observation| Some(seen.throttled_s? / seen.window_s).filter(|share| share.is_finite());
        self.observed().and_then(share).unwrap_or(0.0)
    }

    /// The times in which nothing was answered that lie within the window and are not the generator's own.
    pub(super) fn stalls(&self) -> Vec<&'a Silence> {
        // Of a server whose replies are long in coming, silences are its way.
        let Some(measured) = self.measured().filter(|measured| silence::silent(measured).is_some()) else {
            return Vec::new();
        };
        let whole =
            |it: &&Silence| it.at_s > silence::EDGE_S && it.at_s + it.length_s < measured.window_s - silence::EDGE_S;
        let own = |it: &&Silence| silence::stood_still_s(measured, it) < it.length_s / 2.0;
        measured.silences.iter().filter(whole).filter(own).collect()
    }
}

/// Whether silences come at equal distances, and these in seconds.
pub(super) fn period_s(reading: &Reading<'_>) -> Option<f64> {
    let suspicions = suspicion::of_trial(&reading.cell.load, reading.record.measurement.as_ref()?);
    suspicions.into_iter().find_map(|suspicion| match suspicion {
        Suspicion::RegularStalls { every_s, .. } => Some(every_s),
        _ => None,
    })
}
