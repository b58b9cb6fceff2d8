//! Servers that keep something, or do not, through a soak: what is said of them is held against what was put in.

use jiff::{SignedDuration, Timestamp};
use model::{
    AfterLoad, Environment, HeapCountedBy, HeapKind, Kept, KeptTrend, LiveHeap, LoadModel, Next, Observation, Plan,
    Planner, Rule, Ruled, Soak, SoakEnd, SoakPlan, TrendVerdict, TrialRecord, TrialSpec, WhyMayGrow,
};

use super::{SoakPlanner, soak};
use crate::compare::Run;
use crate::testing::{Session, die, measurement, normal};

/// A server whose ways are known.
#[derive(Clone)]
struct Server {
    /// Bytes that it keeps of each request, up to so many requests.
    keeps_bytes: f64,
    of_the_first: f64,
    /// Bytes by which it grows in a second.
    grows_per_s: f64,
    /// Bytes that it has besides, after so many seconds: of 7,200, of which 1,440 are the pause after the first 2,880.
    also: fn(f64) -> f64,
    /// Standard deviation of its memory at a look, in bytes.
    noise_bytes: f64,
    /// Files that it keeps of each request.
    keeps_files: f64,
    /// Whether a runtime counts its heap, and whether that is what grows.
    counts_heap: bool,
    heap_grows: bool,
    jvm: bool,
    /// How many times as long replies take after the pause.
    slower: f64,
    /// The share of requests that fails in the second part.
    fails: f64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            keeps_bytes: 0.0,
            of_the_first: f64::INFINITY,
            grows_per_s: 0.0,
            also: |_| 0.0,
            noise_bytes: 200_000.0,
            keeps_files: 0.0,
            counts_heap: false,
            heap_grows: true,
            jvm: false,
            slower: 1.0,
            fails: 0.0,
        }
    }
}

const AT_REST_BYTES: f64 = 20e6;
const CYCLE_S: f64 = 60.0;

/// What a soak of an hour finds of a server, or as much of it as there are cycles.
fn found(server: &Server, most_cycles: usize) -> Soak {
    found_with(server, most_cycles, 11)
}

fn found_with(server: &Server, most_cycles: usize, seed: u64) -> Soak {
    let mut draft = Session::new().delayed("a", 32, 5, 1_000.0).blocks(1).draft();
    let rules = vec![Rule { of: Ruled::Failed, most: 0.05 }, Rule { of: Ruled::Cpu, most: 0.9 }];
    draft.soak = Some(SoakPlan { for_s: 3_600.0, rate_per_s: None, share: 0.5, rules, inspect: false });
    let mut plan = draft.resolve().unwrap();
    let (mut planner, mut trials) = (SoakPlanner::new(&plan), Vec::<TrialRecord>::new());
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..10 {
        match planner.next() {
            Next::Add(additions) => additions.iter().for_each(|addition| plan = plan.adding(addition).unwrap()),
            Next::Run(specs) => {
                let so_many = if specs.len() == 1 { 1 } else { most_cycles };
                let mut asked = 0.0;
                for spec in specs.into_iter().take(so_many) {
                    let record = server.cycle(&plan, spec, &mut asked, &mut rng);
                    planner.take(&record);
                    trials.push(record);
                }
            }
            Next::Done(_) => break,
            Next::Rotate(_) => panic!("there is one server"),
        }
    }
    soak(Run { plan: &plan, environment: &Environment::default(), trials: &trials }).unwrap()
}

impl Server {
    /// What a cycle shows, or the load that shows what it serves at most; `asked` are all requests so far.
    fn cycle(&self, plan: &Plan, spec: TrialSpec, asked: &mut f64, rng: &mut fastrand::Rng) -> TrialRecord {
        let cell = plan.cell(spec.cell).unwrap();
        let rate = match cell.load.model {
            LoadModel::Closed => 1_000.0,
            LoadModel::Open { rate_per_s, .. } => rate_per_s,
        };
        let mut record = Session::new().delayed("a", 32, 5, rate).noise(0.0).blocks(1).records()[0].clone();
        if spec.block == 0 {
            return TrialRecord { block: 0, ..record };
        }
        let mut measured = measurement((rate * 0.005).max(1.0), rate, 0.1);
        let requests = rate * CYCLE_S;
        (measured.window_s, measured.accounting.scheduled) = (CYCLE_S, requests as u64);
        (measured.accounting.completed, measured.accounting.ok) = (requests as u64, requests as u64);
        let at_s = CYCLE_S * f64::from(spec.block);
        let is_late = spec.block > 72;
        let noisy = 1.0 + 0.02 * normal(rng);
        let mut response = measured.latency_us.service.clone().unwrap();
        for us in [&mut response.p50, &mut response.p99].into_iter().flatten() {
            *us *= noisy * if is_late { self.slower } else { 1.0 };
        }
        measured.latency_us.response = Some(response);
        if is_late {
            let failed = (self.fails * requests) as u64;
            (measured.accounting.ok, measured.accounting.bad_status) = (requests as u64 - failed, failed);
        }
        *asked += requests;
        let kept = self.keeps_bytes * asked.min(self.of_the_first) + self.grows_per_s * at_s + (self.also)(at_s);
        let memory_bytes = (AT_REST_BYTES + kept + self.noise_bytes * normal(rng)).max(0.0) as u64;
        let heap_bytes = 5_000_000 + if self.heap_grows { kept as u64 } else { 0 };
        let kind = |name: &str, bytes| HeapKind { name: name.to_owned(), bytes, objects: Some(bytes / 64) };
        let heap = LiveHeap {
            by: HeapCountedBy::Jvm,
            bytes: heap_bytes,
            kinds: vec![kind("byte[]", heap_bytes - 4_000_000), kind("Other", 4_000_000)],
            collections: None,
        };
        let after = AfterLoad {
            processes: 1,
            threads: 12,
            open_files: Some(9 + (self.keeps_files * *asked) as u32),
            close_wait: Some(0),
        };
        record.observation = Some(Observation {
            memory_after_bytes: Some(memory_bytes),
            after: Some(after),
            heap: self.counts_heap.then_some(heap),
            jvm: self.jvm,
            ..record.observation.clone().unwrap()
        });
        let begun: Timestamp = "2026-11-28T00:00:00Z".parse().unwrap();
        record.ended_at = Some(begun + SignedDuration::from_secs(at_s as i64));
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
}

fn trend(soak: &Soak, of: Kept) -> &KeptTrend {
    soak.trends.iter().find(|trend| trend.of == of).unwrap()
}

const ALL: usize = 120;

#[test]
fn a_server_that_keeps_nothing_stays_as_it_is() {
    let soak = found(&Server::default(), ALL);
    assert_eq!((soak.ended, soak.rate_per_s, soak.cycles.len()), (SoakEnd::Complete, Some(500.0), ALL));
    assert!(soak.trends.iter().all(|trend| trend.verdict == TrendVerdict::Steady), "{:?}", soak.trends);
    assert!(!soak.is_bad());
    let visible = trend(&soak, Kept::Memory).visible_from.unwrap();
    assert!((0.5..10.0).contains(&visible), "2 MiB in 1.4 million requests and some noise: {visible}");
}

#[test]
fn what_is_kept_of_each_request_is_measured() {
    let soak = found(&Server { keeps_bytes: 512.0, ..Server::default() }, ALL);
    let memory = trend(&soak, Kept::Memory);
    assert_eq!(memory.verdict, TrendVerdict::Grows);
    let each = memory.per_request.as_ref().unwrap();
    assert!(each.low.unwrap() <= 512.0 && 512.0 <= each.high.unwrap(), "{each:?}");
    assert!(each.relative_half_width().unwrap() < 0.02, "{each:?}");
    let files = found(&Server { keeps_files: 0.001, ..Server::default() }, ALL);
    assert_eq!(trend(&files, Kept::Files).verdict, TrendVerdict::Grows);
    assert!(soak.is_bad() && files.is_bad());
}

#[test]
fn a_cache_that_fills_comes_to_rest() {
    let soak = found(&Server { keeps_bytes: 512.0, of_the_first: 600_000.0, ..Server::default() }, ALL);
    assert_eq!(trend(&soak, Kept::Memory).verdict, TrendVerdict::LevelledOff);
    assert!(!soak.is_bad());
    // One that is full only in the second part grew there more slowly than before.
    let late = found(&Server { keeps_bytes: 512.0, of_the_first: 1_700_000.0, ..Server::default() }, ALL);
    let memory = trend(&late, Kept::Memory);
    assert!(memory.verdict != TrendVerdict::Grows, "{memory:?}");
}

#[test]
fn what_grows_while_nobody_asks_grows_with_time() {
    let soak = found(&Server { grows_per_s: 50_000.0, ..Server::default() }, ALL);
    let memory = trend(&soak, Kept::Memory);
    assert_eq!(memory.verdict, TrendVerdict::GrowsWithTime);
    assert!((40_000.0..60_000.0).contains(&memory.idle_per_s.unwrap()), "{memory:?}");
}

#[test]
fn what_fills_or_begins_to_grow_looks_like_a_leak_for_a_while_and_is_not_called_one() {
    let of = |also: fn(f64) -> f64| {
        let soak = found(&Server { also, ..Server::default() }, ALL);
        let memory = trend(&soak, Kept::Memory);
        (memory.verdict, memory.why)
    };
    let may = |why| (TrendVerdict::MayGrow, Some(why));
    let emptied = |s: f64| match s {
        ..=2_880.0 => 100e6 * s / 2_880.0,
        ..=4_320.0 => 20e6,
        _ => 20e6 + 80e6 * (s - 4_320.0) / 2_880.0,
    };
    assert_eq!(of(emptied), may(WhyMayGrow::TakenAgain));
    assert_eq!(of(|s| 60e6 * (s - 4_320.0).max(0.0) / 2_880.0), may(WhyMayGrow::OnlyAgain));
    assert_eq!(of(|s| 200e6 * (1.0 - (-s / 2_400.0).exp())), may(WhyMayGrow::Slowing), "it fills with time");
}

#[test]
fn memory_of_a_jvm_is_judged_by_its_heap() {
    let unknown = found(&Server { keeps_bytes: 512.0, jvm: true, ..Server::default() }, ALL);
    let memory = trend(&unknown, Kept::Memory);
    assert_eq!((memory.verdict, memory.why), (TrendVerdict::MayGrow, Some(WhyMayGrow::HeapUnknown)));
    let counted = Server { keeps_bytes: 512.0, jvm: true, counts_heap: true, ..Server::default() };
    let grows = found(&counted, ALL);
    assert_eq!(trend(&grows, Kept::Heap).verdict, TrendVerdict::Grows);
    assert_eq!(grows.growers[0].name, "byte[]");
    assert!((0.99..=1.01).contains(&grows.growers[0].share), "{:?}", grows.growers);
    let collector = found(&Server { heap_grows: false, ..counted }, ALL);
    assert_eq!(trend(&collector, Kept::Heap).verdict, TrendVerdict::Steady);
    assert_eq!(trend(&collector, Kept::Memory).why, Some(WhyMayGrow::HeapSteady));
    assert!(!collector.is_bad() && collector.growers.is_empty());
}

#[test]
fn growth_by_little_of_what_there_was_is_not_certain() {
    let soak = found(&Server { keeps_bytes: 1.2, noise_bytes: 20_000.0, ..Server::default() }, ALL);
    let memory = trend(&soak, Kept::Memory);
    assert_ne!(memory.verdict, TrendVerdict::Grows, "{memory:?}");
    assert!(!soak.is_bad());
}

#[test]
fn one_that_was_stopped_says_what_it_knows() {
    let early = found(&Server { keeps_bytes: 512.0, ..Server::default() }, 40);
    let memory = trend(&early, Kept::Memory);
    assert_eq!(early.ended, SoakEnd::Unfinished);
    assert_eq!((memory.verdict, memory.why), (TrendVerdict::MayGrow, Some(WhyMayGrow::NotAgain)));
    let at_once = found(&Server { keeps_bytes: 512.0, ..Server::default() }, 3);
    assert!(at_once.trends.iter().all(|trend| trend.verdict == TrendVerdict::TooShort), "{:?}", at_once.trends);
    assert!(!at_once.is_bad());
}

#[test]
fn slower_replies_and_broken_rules_are_told_with_when() {
    let soak = found(&Server { slower: 1.3, fails: 0.08, ..Server::default() }, ALL);
    assert!(soak.latencies.iter().all(model::LatencyCourse::is_slower), "{:?}", soak.latencies);
    let failed = &soak.rules[0];
    assert_eq!(failed.broken.len(), 1, "{failed:?}");
    let spell = failed.broken[0];
    assert_eq!((spell.from_s, spell.to_s), (72.0 * CYCLE_S, 120.0 * CYCLE_S));
    assert!((0.079..0.081).contains(&spell.worst) && soak.rules[1].broken.is_empty());
}

#[test]
fn few_cycles_say_nothing_of_latencies() {
    let soak = found(&Server { slower: 1.3, ..Server::default() }, 80);
    assert_eq!(soak.latencies, [], "eight cycles of the second load");
}

#[test]
fn a_server_that_ends_is_told_with_its_last_words() {
    let mut draft = Session::new().delayed("a", 32, 5, 1_000.0).blocks(1).draft();
    draft.soak =
        Some(SoakPlan { for_s: 3_600.0, rate_per_s: Some(100.0), share: 0.5, rules: Vec::new(), inspect: false });
    let plan = draft.resolve().unwrap();
    let mut record = Session::new().delayed("a", 32, 5, 100.0).noise(0.0).blocks(1).records()[0].clone();
    record.block = 1;
    die(&mut record);
    let trials = [record];
    let soak = soak(Run { plan: &plan, environment: &Environment::default(), trials: &trials }).unwrap();
    assert_eq!(soak.ended, SoakEnd::Died);
    assert!(soak.died.is_some() && soak.is_bad());
}

/// Memory that moves by itself, without a leak: of forty soaks none may be said to grow.
#[test]
fn noise_is_no_leak() {
    let grows = (0..40).filter(|seed| {
        let mut rng = fastrand::Rng::with_seed(*seed);
        let server = Server { noise_bytes: 1e6 * rng.f64(), ..Server::default() };
        found_with(&server, ALL, *seed).is_bad()
    });
    assert_eq!(grows.count(), 0);
}
