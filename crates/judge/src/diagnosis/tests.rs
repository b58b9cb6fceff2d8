//! Servers of known faults, asked by the planner until it is done: what it finds is held against what was put in.

use std::collections::BTreeMap;

use model::{
    CellPlan, DiagnosePlan, Diagnosis, DiagnosisEnd, Environment, Experiment, Extent, HostUse, LoadModel, Measurement,
    Mix, Next, Observation, Plan, Planner, ServerFault, Silence, Sureness, Suspect, TrialRecord, TrialSpec,
    Unexplained, Unproved, WhyOpen,
};

use super::{DiagnosisPlanner, diagnose};
use crate::compare::Run;
use crate::testing::{Session, cell_plan, measurement};

/// A server whose faults are known.
#[derive(Clone)]
struct Faulty {
    /// What a request takes where none waits, in seconds.
    service_s: f64,
    /// How many it works on at once.
    workers: f64,
    /// CPU seconds of a request, of which there are so many a second at most.
    cpu_s: f64,
    cpus: f64,
    /// Whether a connection that is kept holds a worker.
    holds: bool,
    /// Bytes that it keeps of each request, up to so many.
    keeps_bytes: f64,
    keeps_at_most: f64,
    /// How many requests it answers before it has no more room for what it keeps open of every other one.
    answers_at_most: f64,
    /// Bytes by which it grows in a second.
    grows_per_s: f64,
    /// What a heavy request takes, in seconds, of which so much is CPU; all others wait for it, or none do.
    heavy_s: f64,
    computes_s: f64,
    blocks: bool,
    /// How many times as many workers it has after a long load.
    grown: f64,
    /// The share of requests that fail.
    fails: f64,
    /// The share of the time in which a quota keeps it from any CPU.
    throttled: f64,
    /// How long the last part of a reply waits unless the client acknowledges at once, in µs.
    acknowledged_us: f64,
    /// At which distances it stops answering, for a second and a tenth; and whether requests make it do so, of which there are 1,000 a second
    /// at first.
    stalls_every_s: f64,
    stalls_by_requests: bool,
    /// Whether others take most of a CPU under an experiment, the nth time that it is made.
    others: fn(Experiment, u32) -> bool,
}

impl Default for Faulty {
    fn default() -> Self {
        Self {
            service_s: 0.005,
            workers: f64::INFINITY,
            cpu_s: 2e-6,
            cpus: 1.0,
            holds: false,
            keeps_bytes: 0.0,
            keeps_at_most: f64::INFINITY,
            answers_at_most: f64::INFINITY,
            grows_per_s: 0.0,
            heavy_s: 0.1,
            computes_s: 0.1,
            blocks: false,
            grown: 1.0,
            fails: 0.0,
            throttled: 0.0,
            acknowledged_us: 0.0,
            stalls_every_s: f64::INFINITY,
            stalls_by_requests: false,
            others: |_, _| false,
        }
    }
}

impl Faulty {
    /// What comes of a load on it.
    fn trial(&self, plan: &Plan, spec: TrialSpec) -> TrialRecord {
        let cell = plan.cell(spec.cell).unwrap();
        let (connections, far_s) = (f64::from(cell.load.connections), cell.load.network_delay_ns as f64 / 1e9);
        let takes_s = self.takes_s(cell);
        let experiment = cell.tried.as_ref().unwrap().experiment;
        let workers = self.workers * if let Experiment::Settled { .. } = experiment { self.grown } else { 1.0 };
        let held = self.holds && cell.load.keep_alive;
        let served = connections.min(if held { workers } else { connections });
        let at_most = (workers / if held { takes_s + far_s } else { self.service_s })
            .min(self.cpus / self.cpu_s)
            .min(served / (takes_s + far_s));
        let rate = match cell.load.model {
            LoadModel::Closed => at_most,
            LoadModel::Open { rate_per_s, .. } => rate_per_s.min(at_most),
        };
        let (rate, cpu_s) =
            if experiment == Experiment::Heavy { (1.0 / self.heavy_s, self.computes_s) } else { (rate, self.cpu_s) };
        let mut record =
            Session::new().delayed("a", cell.load.connections, 5, rate).noise(0.0).blocks(1).records()[0].clone();
        let mut measured = measurement(connections, rate, 0.1);
        measured.connections.never_served = (connections - served) as u64;
        if let LoadModel::Open { .. } = cell.load.model {
            // As little in flight as there is.
            let few = measurement((rate * takes_s).max(1.0).ceil(), rate, 0.1);
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
        self.fail(&mut measured);
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
            measurement: Some(measured),
            ..record
        }
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
            open_files_max: usual.open_files_max.map(|files| files + open as u32),
            ..usual.clone()
        }
    }

    /// What light requests feel of heavy ones.
    fn beside(&self, experiment: &Experiment, record: &mut TrialRecord, measured: &mut Measurement) {
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
        self.service_s + if waits { self.acknowledged_us / 1e6 } else { 0.0 }
    }

    fn fail(&self, measured: &mut Measurement) {
        let of = |count: u64| (count as f64 * self.fails) as u64;
        let (books, seen) = (&mut measured.accounting, &mut measured.in_window);
        books.bad_status = of(books.completed);
        books.ok -= books.bad_status;
        seen.ok -= of(seen.ok);
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
    fn diagnosed(&self) -> Diagnosis {
        self.diagnosed_with(None)
    }

    /// The same where a request is named that costs much.
    fn diagnosed_with(&self, heavy: Option<Mix>) -> Diagnosis {
        let mut draft = Session::new().delayed("a", 1, 0, 100.0).draft();
        draft.diagnosis = Some(DiagnosePlan { within_s: 1_000.0, other: None, running: None, heavy });
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

/// The faults that were proved, by what they were suspected to be.
fn proved(diagnosis: &Diagnosis) -> BTreeMap<Suspect, &ServerFault> {
    let is = diagnosis.findings.iter().filter(|found| found.sureness == Sureness::Is);
    is.filter_map(|found| Some((found.fault.suspect()?, &found.fault))).collect()
}

fn why_open(diagnosis: &Diagnosis, suspect: Suspect) -> Option<WhyOpen> {
    diagnosis.open.iter().find(|open| open.suspect == suspect).map(|open| open.why)
}

#[test]
fn a_pool_is_found_with_its_size() {
    for workers in [1.0, 2.0, 5.0, 37.0, 150.0] {
        let diagnosis = Faulty { workers, ..Faulty::default() }.diagnosed();
        let found = proved(&diagnosis);
        let Some(ServerFault::Limit { at_once, .. }) = found.get(&Suspect::Limit) else { panic!("{diagnosis:?}") };
        assert!((at_once.estimate.unwrap() / workers - 1.0).abs() < 0.02, "{workers}: {at_once:?}");
        assert_eq!((found.len(), diagnosis.ended), (1, DiagnosisEnd::Complete), "{diagnosis:?}");
    }
}

#[test]
fn of_a_healthy_server_nothing_is_found() {
    let diagnosis = Faulty::default().diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert!(diagnosis.excluded.iter().any(|it| it.suspect == Suspect::Limit && it.visible_from == Some(0.8 * 512.0)));
    assert_eq!(why_open(&diagnosis, Suspect::BlockedLoop), Some(WhyOpen::NoHeavy));
}

#[test]
fn a_full_cpu_is_not_a_limit_of_requests_at_once() {
    // Two connections fill it: twice as many serve no more, as if there were two workers.
    let diagnosis = Faulty { service_s: 0.005, cpu_s: 0.0025, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert_eq!(why_open(&diagnosis, Suspect::Limit), Some(WhyOpen::Busy));
}

#[test]
fn a_quota_of_cpu_is_not_a_limit_of_requests_at_once() {
    // Half a CPU is all it has: twice as many connections are served no more, and the CPU is not full.
    let quota = Faulty { cpu_s: 0.0025, cpus: 0.5, ..Faulty::default() };
    let diagnosis = Faulty { throttled: 0.5, ..quota.clone() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::Limit)), (0, Some(WhyOpen::Busy)));
    assert!(matches!(diagnosis.unexplained[..], [Unexplained::Throttled { .. }]), "{:?}", diagnosis.unexplained);
    // If nobody told of the quota it would be one: that gate alone tells them apart.
    assert!(proved(&quota.diagnosed()).contains_key(&Suspect::Limit));
}

#[test]
fn what_was_tried_while_others_had_the_cpu_is_tried_again() {
    let pool = |others| Faulty { workers: 5.0, others, ..Faulty::default() };
    let found = pool(|_, nth| nth == 1).diagnosed();
    assert!(proved(&found).contains_key(&Suspect::Limit), "{found:?}");
    let crowd = |it: &&model::Tried| it.trying.experiment == Experiment::Crowd { connections: 512 };
    assert_eq!(found.tried.iter().filter(crowd).map(|it| it.cpus_taken).collect::<Vec<_>>(), [Some(0.9), Some(0.0)]);

    let never = pool(|_, _| true).diagnosed();
    assert_eq!((never.findings.len(), why_open(&never, Suspect::Limit)), (0, Some(WhyOpen::Others)));
    assert!(never.tried.len() < 40, "no experiment is made for ever: {}", never.tried.len());

    let unproved = pool(|experiment, _| matches!(experiment, Experiment::Delayed { .. })).diagnosed();
    assert_eq!(unproved.findings.iter().map(|it| it.unproved).collect::<Vec<_>>(), [Some(Unproved::Others)]);

    // Whoever fills a CPU itself does so whatever others take.
    let full = Faulty { cpu_s: 0.0025, others: |_, _| true, ..Faulty::default() }.diagnosed();
    assert_eq!((full.findings.len(), why_open(&full, Suspect::Limit)), (0, Some(WhyOpen::Busy)), "{full:?}");
}

#[test]
fn stalls_are_told_from_each_other_however_far_apart_they_are() {
    for (stalls_every_s, stalls_by_requests) in [(2.0, false), (4.66, false), (4.66, true), (9.0, false)] {
        let diagnosis = Faulty { stalls_every_s, stalls_by_requests, ..Faulty::default() }.diagnosed();
        let found = proved(&diagnosis);
        let Some(ServerFault::Stalls { at_twice_the_rate: Some(times), .. }) = found.get(&Suspect::Stalls) else {
            panic!("{stalls_every_s}: {diagnosis:?}")
        };
        let expected = if stalls_by_requests { 2.0 } else { 1.0 };
        assert!((times - expected).abs() < 0.1, "{stalls_every_s}: {times}");
    }
}

#[test]
fn connections_that_hold_workers_are_told_from_a_pool_of_requests() {
    let diagnosis = Faulty { workers: 20.0, holds: true, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::HeldWorkers { served, .. }) = found.get(&Suspect::HeldWorkers) else {
        panic!("{diagnosis:?}")
    };
    assert_eq!((*served, found.len()), (20, 1));
}

#[test]
fn memory_that_is_kept_is_told_from_a_cache_that_fills() {
    let diagnosis = Faulty { keeps_bytes: 5_000.0, ..Faulty::default() }.diagnosed();
    let [found] = &diagnosis.findings[..] else { panic!("{diagnosis:?}") };
    let ServerFault::Growth { per_request, .. } = &found.fault else { panic!("{found:?}") };
    assert_eq!(found.unproved, Some(Unproved::Heap), "as the system sees it, whatever the server keeps");
    assert!((per_request.estimate.unwrap() / 5_000.0 - 1.0).abs() < 0.01, "{per_request:?}");
    // It is full after a dose and a half: the second adds half of what it would, and the third and the fourth nothing.
    let cache = Faulty { keeps_bytes: 1_000.0, keeps_at_most: 9_600_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!((cache.findings.len(), why_open(&cache, Suspect::MemoryGrowth)), (0, Some(WhyOpen::NotByDose)));
}

#[test]
fn of_a_server_that_has_no_more_room_smaller_doses_tell() {
    let diagnosis = Faulty { answers_at_most: 8_000.0, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::Growth { per_request, .. }) = found.get(&Suspect::FileGrowth) else {
        panic!("{diagnosis:?}")
    };
    assert!((per_request.estimate.unwrap() - 0.5).abs() < 0.01, "{per_request:?}");
    let doses = diagnosis.tried.iter().filter(|it| matches!(it.trying.experiment, Experiment::Dose { .. }));
    assert_eq!(doses.filter(|it| !it.valid).count(), 1, "the same is not tried again: {:?}", diagnosis.tried);
}

#[test]
fn what_grows_with_time_is_not_kept_of_requests() {
    let diagnosis = Faulty { grows_per_s: 2_000_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert_eq!(why_open(&diagnosis, Suspect::MemoryGrowth), Some(WhyOpen::NotByControl));
}

#[test]
fn the_same_records_give_the_same_answer_and_the_next_experiment() {
    let one = Faulty { workers: 5.0, ..Faulty::default() }.diagnosed();
    let other = Faulty { workers: 5.0, ..Faulty::default() }.diagnosed();
    assert_eq!(one, other);
    assert!(one.tried.len() < 14, "{}", one.tried.len());
}

#[test]
fn light_requests_that_wait_for_a_heavy_one_are_found_with_how_long() {
    let heavy = || Some(cell_plan("a", &[], 1, 0).load.mix);
    let diagnosis = Faulty { blocks: true, ..Faulty::default() }.diagnosed_with(heavy());
    let found = proved(&diagnosis);
    let Some(ServerFault::BlockedLoop { blocked, .. }) = found.get(&Suspect::BlockedLoop) else {
        panic!("{diagnosis:?}")
    };
    assert!((blocked.estimate.unwrap() - 100_000.0).abs() < 1_000.0, "{blocked:?}");
    let apart = Faulty::default().diagnosed_with(heavy());
    assert_eq!((apart.findings.len(), why_open(&apart, Suspect::BlockedLoop)), (0, None), "others go on meanwhile");
    // It waits, and so do all others: for a lock, or for what blocks the loop without computing.
    let locked = Faulty { blocks: true, computes_s: 0.001, ..Faulty::default() }.diagnosed_with(heavy());
    let found = proved(&locked);
    assert!(
        matches!(found[&Suspect::BlockedLoop], ServerFault::BlockedLoop { computes: Some(false), .. }),
        "{found:?}"
    );
}

#[test]
fn replies_that_wait_for_an_acknowledgement_are_found() {
    let diagnosis = Faulty { service_s: 0.0006, acknowledged_us: 41_000.0, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::DelayedAck { service_us, .. }) = found.get(&Suspect::DelayedAck) else {
        panic!("{diagnosis:?}")
    };
    assert!((*service_us - 41_600.0).abs() < 500.0, "{service_us}");
    // A worker is free as soon as it has written its reply: the acknowledgement is waited for by the client alone.
    for workers in [1.0, 4.0, 30.0] {
        let diagnosis = Faulty { service_s: 0.03, workers, acknowledged_us: 41_000.0, ..Faulty::default() }.diagnosed();
        let found = proved(&diagnosis);
        let Some(ServerFault::Limit { at_once, .. }) = found.get(&Suspect::Limit) else { panic!("{diagnosis:?}") };
        assert!((at_once.estimate.unwrap() / workers - 1.0).abs() < 0.02, "{workers}: {at_once:?}");
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [Suspect::Limit, Suspect::DelayedAck], "{diagnosis:?}");
    }
    let slow = Faulty { service_s: 0.0006, acknowledged_us: 20_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!(slow.findings, [], "no kernel waits for as short as that");
}

#[test]
fn half_of_the_requests_failing_is_no_limit_of_the_others() {
    let diagnosis = Faulty { fails: 0.5, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::Failures { share, .. }) = found.get(&Suspect::Failures) else { panic!("{diagnosis:?}") };
    assert!((share.estimate.unwrap() - 0.5).abs() < 0.01 && share.low.unwrap() < 0.5, "{share:?}");
    assert_eq!((found.len(), why_open(&diagnosis, Suspect::Limit)), (1, Some(WhyOpen::Failing)));
}

#[test]
fn a_server_that_takes_long_is_not_said_to_work_on_few_at_once() {
    let diagnosis = Faulty { service_s: 2.0, ..Faulty::default() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::Limit)), (0, Some(WhyOpen::Slow)));
}

#[test]
fn a_pool_that_grows_while_it_is_busy_has_no_size_yet() {
    for (holds, suspect) in [(false, Suspect::Limit), (true, Suspect::HeldWorkers)] {
        let diagnosis = Faulty { workers: 5.0, grown: 3.0, holds, ..Faulty::default() }.diagnosed();
        assert_eq!(
            (proved(&diagnosis).len(), why_open(&diagnosis, suspect)),
            (0, Some(WhyOpen::Cold)),
            "{diagnosis:?}"
        );
    }
}
