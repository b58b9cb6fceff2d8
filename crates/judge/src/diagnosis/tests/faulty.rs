//! Servers of known faults, asked by the planner until it is done.

use model::{
    BackendUse, CellPlan, DiagnosePlan, Diagnosis, Environment, Experiment, Extent, HostUse, LoadModel, Measurement,
    Mix, Next, Observation, Plan, Planner, Silence, TrialRecord, TrialSpec, Upstream,
};

use super::super::{DiagnosisPlanner, diagnose};
use crate::compare::Run;
use crate::testing::{Session, measurement};

/// A server whose faults are known.
#[derive(Clone)]
pub(super) struct Faulty {
    /// What a request takes where none waits, in seconds.
    pub(super) service_s: f64,
    /// How many it works on at once.
    pub(super) workers: f64,
    /// CPU seconds of a request, of which there are so many a second at most.
    pub(super) cpu_s: f64,
    pub(super) cpus: f64,
    /// Whether a connection that is kept holds a worker.
    pub(super) holds: bool,
    /// Whether one that its client closed does so as well.
    pub(super) holds_closed: bool,
    /// Bytes that it keeps of each request, up to so many.
    pub(super) keeps_bytes: f64,
    pub(super) keeps_at_most: f64,
    /// How many requests it answers before it has no more room for what it keeps open of every other one.
    pub(super) answers_at_most: f64,
    /// Bytes by which it grows in a second.
    pub(super) grows_per_s: f64,
    /// What a heavy request takes, in seconds, of which so much is CPU; all others wait for it, or none do.
    pub(super) heavy_s: f64,
    pub(super) computes_s: f64,
    pub(super) blocks: bool,
    /// How many times as many workers it has after a long load.
    pub(super) grown: f64,
    /// The share of requests that fail, where there are so many connections at least.
    pub(super) fails: f64,
    pub(super) fails_from: u32,
    /// The share of replies after which it closes the connection.
    pub(super) closes: f64,
    /// The share of the time in which a quota keeps it from any CPU.
    pub(super) throttled: f64,
    /// How long the last part of a reply waits unless the client acknowledges at once, in µs.
    pub(super) acknowledged_us: f64,
    /// At which distances it stops answering, for a second and a tenth; and whether requests make it do so, of which there are 1,000 a second
    /// at first.
    pub(super) stalls_every_s: f64,
    pub(super) stalls_by_requests: bool,
    /// How many round trips to what is behind it a request waits for, one after another; and whether it asks where it was told to.
    pub(super) round_trips: f64,
    pub(super) asks: bool,
    /// How many of these are turns of one long reply through the relay.
    pub(super) turns: f64,
    /// How many times as much the same delay adds on the way to the client.
    pub(super) by_client: f64,
    /// How many times as long as it was told to a relay holds what it passes on.
    pub(super) holds_for: f64,
    /// After how long it gives up all that it waits for behind it, in seconds.
    pub(super) gives_up_s: f64,
    /// Whether it is a JVM.
    pub(super) jvm: bool,
    /// How many threads it starts at most, one for each request.
    pub(super) threads_at_most: f64,
    /// What the slowest of some hundred light requests takes, whoever is beside them, in seconds.
    pub(super) slowest_s: f64,
    /// The busy share of the generator.
    pub(super) generator_busy: f64,
    /// How many times as fast it is under an experiment, the nth time that it is made.
    pub(super) pace: fn(Experiment, u32) -> f64,
    /// Whether others take most of a CPU under an experiment, the nth time that it is made.
    pub(super) others: fn(Experiment, u32) -> bool,
}

impl Default for Faulty {
    fn default() -> Self {
        Self {
            service_s: 0.005,
            workers: f64::INFINITY,
            cpu_s: 2e-6,
            cpus: 1.0,
            holds: false,
            holds_closed: false,
            keeps_bytes: 0.0,
            keeps_at_most: f64::INFINITY,
            answers_at_most: f64::INFINITY,
            grows_per_s: 0.0,
            heavy_s: 0.1,
            computes_s: 0.1,
            blocks: false,
            grown: 1.0,
            fails: 0.0,
            fails_from: 0,
            closes: 0.0,
            throttled: 0.0,
            acknowledged_us: 0.0,
            stalls_every_s: f64::INFINITY,
            stalls_by_requests: false,
            round_trips: 0.0,
            asks: true,
            turns: 1.0,
            by_client: 1.0,
            holds_for: 1.0,
            gives_up_s: f64::INFINITY,
            jvm: false,
            threads_at_most: 0.0,
            slowest_s: 0.0,
            generator_busy: 0.1,
            pace: |_, _| 1.0,
            others: |_, _| false,
        }
    }
}

impl Faulty {
    /// What comes of a load on it.
    fn trial(&self, plan: &Plan, spec: TrialSpec) -> TrialRecord {
        let cell = plan.cell(spec.cell).unwrap();
        let far_s = self.holds_for * self.by_client * cell.load.network_delay_ns as f64 / 1e9;
        let connections = f64::from(cell.load.connections);
        let takes_s = self.takes_s(cell);
        let experiment = cell.tried.as_ref().unwrap().experiment;
        let workers = self.workers * if let Experiment::Settled { .. } = experiment { self.grown } else { 1.0 };
        let held = self.holds && (cell.load.keep_alive || self.holds_closed);
        let served = connections.min(if held { workers } else { connections });
        let at_most = (workers / if held { takes_s + far_s } else { self.service_s })
            .min(self.cpus / self.cpu_s)
            .min(served / (takes_s + far_s))
            * (self.pace)(experiment, spec.block);
        let rate = match cell.load.model {
            LoadModel::Closed => at_most,
            LoadModel::Open { rate_per_s, .. } => rate_per_s.min(at_most),
        };
        let (rate, cpu_s) =
            if experiment == Experiment::Heavy { (1.0 / self.heavy_s, self.computes_s) } else { (rate, self.cpu_s) };
        let mut record =
            Session::new().delayed("a", cell.load.connections, 5, rate).noise(0.0).blocks(1).records()[0].clone();
        let mut measured = measurement(connections, rate, self.generator_busy);
        measured.connections.never_served = (connections - served) as u64;
        if let LoadModel::Open { .. } = cell.load.model {
            // As little in flight as there is.
            let few = measurement((rate * takes_s).max(1.0).ceil(), rate, self.generator_busy);
            measured = Measurement { connections: measured.connections, ..few };
            measured.latency_us.response.clone_from(&measured.latency_us.service);
            measured.in_window.halves.iter_mut().for_each(|half| half.response_ns = half.service_ns);
        }
        let requests = match cell.load.extent {
            Extent::Requests { count, .. } => (count as f64).min(self.answers_at_most),
            Extent::Window(_) => rate * measured.window_s,
        };
        let lasted_s = requests / rate;
        self.stall(experiment, &mut measured);
        self.beside(&experiment, &mut record, &mut measured);
        self.begin(&mut measured);
        self.fail(cell.load.connections, &mut measured);
        self.close(cell.load.connections, &mut measured);
        let seen = self.seen((requests, lasted_s), rate * cpu_s, &record.observation.clone().unwrap());
        record.observation = Some(seen);
        if let Some(seen) = record.observation.as_mut().filter(|_| (self.others)(experiment, spec.block)) {
            seen.host = HostUse { cpus: 2, steal_share: 0.0, others_share: 0.45 };
        }
        if let Extent::Requests { .. } = cell.load.extent {
            lasting(&mut measured, lasted_s);
        }
        TrialRecord {
            id: spec.id(),
            block: spec.block,
            position: spec.position,
            cell: spec.cell,
            levels: cell.levels.clone(),
            backend: self.asked(cell, &measured),
            measurement: Some(measured),
            ..record
        }
    }

    /// What the relay in front of what is behind it saw.
    fn asked(&self, cell: &CellPlan, measured: &Measurement) -> Option<BackendUse> {
        cell.upstream.filter(|it| it.delay_ns.is_some() && self.asks)?;
        let all = model::sum(measured.steps.iter().map(|step| step.completed)) as f64;
        let replies = (self.round_trips / self.turns * all) as u64 + 1;
        Some(BackendUse { opened: 1, replies, ..BackendUse::default() })
    }

    /// What its processes show after so many requests in so many seconds.
    fn seen(&self, (requests, lasted_s): (f64, f64), cpus: f64, usual: &Observation) -> Observation {
        let grown = (self.keeps_bytes * requests).min(self.keeps_at_most) + self.grows_per_s * lasted_s;
        let open = if self.answers_at_most.is_finite() { requests / 2.0 } else { 0.0 };
        Observation {
            cpu_user_s: cpus * 10.0,
            cpu_system_s: 0.0,
            window_s: 10.0,
            throttled_s: Some(10.0 * self.throttled),
            memory_at_rest_bytes: 10_000_000,
            memory_after_bytes: Some(10_000_000 + grown as u64),
            jvm: self.jvm,
            threads_max: usual.threads_max + requests.min(self.threads_at_most) as u32,
            open_files_max: usual.open_files_max.map(|files| files + open as u32),
            ..usual.clone()
        }
    }

    /// What light requests feel of heavy ones.
    fn beside(&self, experiment: &Experiment, record: &mut TrialRecord, measured: &mut Measurement) {
        let slowest_us = self.slowest_s * 1e6;
        if let Some(felt) = measured.latency_us.response.as_mut().filter(|_| self.slowest_s > 0.0) {
            felt.max = felt.max.map(|max_us| max_us.max(slowest_us));
        }
        let per_s = match *experiment {
            Experiment::Beside { heavy_per_s } => heavy_per_s,
            Experiment::Decoys { light_per_s } => light_per_s,
            _ => return,
        };
        record.beside = Some(measurement(1.0, per_s, 0.1));
        if self.blocks && matches!(experiment, Experiment::Beside { .. }) {
            let waited_ns = (per_s * self.heavy_s * self.heavy_s / 2.0 * 1e9) as u64;
            measured.in_window.halves.iter_mut().for_each(|half| half.response_ns += waited_ns * half.completed);
            measured.latency_us.response.as_mut().unwrap().max = Some(self.heavy_s * 1e6);
        }
    }

    /// When it does not answer.
    fn stall(&self, experiment: Experiment, measured: &mut Measurement) {
        let Experiment::Steady { rate_per_s, window_s } = experiment else { return };
        lasting(measured, window_s);
        let times = if self.stalls_by_requests { (rate_per_s / 1_000.0).max(1.0) } else { 1.0 };
        let begins = (0..).map(|nth| 0.7 + f64::from(nth) * self.stalls_every_s / times);
        let silence = |at_s| Silence { at_s, length_s: 1.1, ..Silence::default() };
        measured.silences = begins.take_while(|at_s| at_s + 1.1 < window_s - 0.1).map(silence).collect();
    }

    /// How long a request takes where none waits: with the acknowledgement that the last part of its reply may wait for.
    fn takes_s(&self, cell: &CellPlan) -> f64 {
        let waits = cell.load.keep_alive && !cell.quick_ack;
        let relayed_s = cell.upstream.and_then(|upstream| upstream.delay_ns).unwrap_or(0) as f64 / 1e9;
        let asked_s =
            if self.asks { (self.holds_for * self.round_trips * relayed_s).min(self.gives_up_s) } else { 0.0 };
        self.service_s + asked_s + if waits { self.acknowledged_us / 1e6 } else { 0.0 }
    }

    fn fail(&self, connections: u32, measured: &mut Measurement) {
        let fails = if connections >= self.fails_from { self.fails } else { 0.0 };
        let of = |count: u64| (count as f64 * fails) as u64;
        let (books, seen) = (&mut measured.accounting, &mut measured.in_window);
        books.bad_status = of(books.completed);
        books.ok -= books.bad_status;
        seen.ok -= of(seen.ok);
    }

    /// Over the whole load, of which the window is a sixth.
    fn close(&self, connections: u32, measured: &mut Measurement) {
        let in_window = (self.closes * measured.in_window.completed as f64) as u64;
        if in_window > 0 {
            let counts = &mut measured.connections;
            (counts.opened_in_window, counts.closed_by_reply) = (Some(in_window), 6 * in_window);
            counts.opened = u64::from(connections) + 6 * in_window;
        }
    }

    /// When a reply begins.
    fn begin(&self, measured: &mut Measurement) {
        if let Some(first) = measured.latency_us.first_byte.as_mut().filter(|_| self.acknowledged_us > 0.0) {
            for quantile in [&mut first.p50, &mut first.p75, &mut first.p90, &mut first.p95, &mut first.p99] {
                *quantile = Some(self.service_s * 1e6);
            }
        }
    }

    /// What is found when it is asked until nothing more would tell anything.
    pub(super) fn diagnosed(&self) -> Diagnosis {
        self.diagnosed_with(None)
    }

    /// The same where a request is named that costs much.
    pub(super) fn diagnosed_with(&self, heavy: Option<Mix>) -> Diagnosis {
        self.diagnosed_as(|asked| asked.heavy = heavy)
    }

    /// The same where it is asked otherwise.
    pub(super) fn diagnosed_as(&self, change: impl FnOnce(&mut DiagnosePlan)) -> Diagnosis {
        let mut draft = Session::new().delayed("a", 1, 0, 100.0).draft();
        let mut asked = DiagnosePlan { within_s: 1_000.0, other: None, running: None, heavy: None, upstream: None };
        change(&mut asked);
        draft.cells[0].upstream = asked.upstream.map(|address| Upstream { address, delay_ns: None });
        draft.diagnosis = Some(asked);
        draft.cells[0].handler_delay_ns = 0;
        draft.cells[0].load.extent = Extent::Window(2_000_000_000);
        let (mut plan, mut records) = (draft.resolve().unwrap(), Vec::new());
        let mut planner = DiagnosisPlanner::new(&plan);
        for _ in 0..200 {
            match planner.next() {
                Next::Add(additions) => {
                    plan = additions.iter().fold(plan, |plan, addition| plan.adding(addition).unwrap());
                }
                Next::Run(specs) => {
                    for spec in specs {
                        let record = self.trial(&plan, spec);
                        planner.take(&record);
                        records.push(record);
                    }
                }
                Next::Done(_) => {
                    let environment = Environment::default();
                    return diagnose(Run { plan: &plan, environment: &environment, trials: &records }).unwrap();
                }
                Next::Rotate(_) => panic!("a diagnosis has one server"),
            }
        }
        panic!("it never ends");
    }
}

/// Makes a load of 10 s one that was as long.
fn lasting(measured: &mut Measurement, seconds: f64) {
    let times = seconds / measured.window_s;
    let of = |count: &mut u64| *count = (*count as f64 * times).round() as u64;
    let (books, seen) = (&mut measured.accounting, &mut measured.in_window);
    [&mut books.scheduled, &mut books.sent, &mut books.completed, &mut books.ok].into_iter().for_each(of);
    [&mut seen.completed, &mut seen.ok, &mut seen.ok_bytes].into_iter().for_each(of);
    for half in &mut seen.halves {
        of(&mut half.completed);
        of(&mut half.service_ns);
    }
    let sums = &mut measured.residence;
    for sum in [&mut sums.in_flight_s, &mut sums.requests_s, &mut sums.completed_s, &mut measured.window_s] {
        *sum *= times;
    }
}
