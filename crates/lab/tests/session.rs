//! The experiment loop, whole, with a fake launcher and a simulated load: a run in milliseconds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::simulation::{SimulatedServer, simulate};
use engine::{LoadError, LoadOutput, RunOptions};
use judge::BlockPlanner;
use lab::{
    LabError, LaunchSpec, Launcher, Perf, Prepared, RateError, RunFolder, RunRecord, Running, Session, SessionEnd,
    TrialTools, Unstarted, settle_rates,
};
use model::{
    Arrivals, Blocks, Cell, CellLoad, CellPlan, ComparePlan, ENVIRONMENT_SCHEMA, Environment, Event, GeneratorPlan,
    HttpVersion, Interval, LaunchRecipe, Level, LoadModel, LoadSpec, Metric, Mix, Plan, ProfiledBy, ReplyExpectation,
    Request, Target, TrialFailure, TrialStage,
};

const MS: u64 = 1_000_000;

/// Launches nothing, and remembers what it was asked for.
#[derive(Default)]
struct FakeLauncher {
    launched: RefCell<Vec<String>>,
    never_ready: Option<&'static str>,
    keep_going: bool,
    /// The admin port of what is launched; with one, this process is watched in its place.
    admin: Option<SocketAddr>,
    /// There is none unless a test puts one here.
    perf: Perf,
}

struct FakeRunning {
    admin: Option<SocketAddr>,
}

impl Launcher for FakeLauncher {
    fn launch(
        &self,
        spec: &LaunchSpec<'_>,
        _stop: &AtomicBool,
        _tell: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Running>, TrialFailure> {
        self.launched.borrow_mut().push(spec.target.name.clone());
        if self.never_ready == Some(spec.target.name.as_str()) {
            return Err(TrialFailure {
                stage: TrialStage::Ready,
                text: "it was not ready".into(),
                output: "no such file".into(),
            });
        }
        Ok(Box::new(FakeRunning { admin: self.admin }))
    }
}

impl Running for FakeRunning {
    fn address(&self) -> SocketAddr {
        "127.0.0.1:1".parse().unwrap()
    }
    fn admin_address(&self) -> Option<SocketAddr> {
        self.admin
    }
    fn pid(&self) -> Option<u32> {
        self.admin.map(|_| std::process::id())
    }
    fn time_to_ready_ms(&self) -> f64 {
        1.0
    }
    fn ended(&mut self) -> Option<String> {
        None
    }
    fn stop(self: Box<Self>) {}
}

fn load(
    spec: &LoadSpec,
    options: RunOptions<'_>,
    _stop: &AtomicBool,
    progress: &mut dyn FnMut(&Interval),
) -> Result<LoadOutput, LoadError> {
    simulate(spec, SimulatedServer::new(10 * MS, "hi"), options, progress)
}

fn target(name: &str) -> Target {
    Target {
        name: name.into(),
        title: name.into(),
        language: String::new(),
        framework: String::new(),
        about: String::new(),
        reconstruction: None,
        serves: Vec::new(),
        toolchain: None,
        build: None,
        launch: LaunchRecipe {
            run: vec!["x".into()],
            cwd: "/".into(),
            env: BTreeMap::new(),
            ready: "/".into(),
            metrics: None,
            ready_within_ns: model::READY_WITHIN_NS,
            warm_within_ns: 0,
        },
        settings: BTreeMap::new(),
        runtimes: BTreeMap::new(),
    }
}

fn cell(target: &str, connections: u32) -> CellPlan {
    let request = Request {
        method: "GET".into(),
        path: "/".into(),
        host: String::new(),
        headers: vec![],
        body: vec![],
        version: HttpVersion::Http11,
    };
    CellPlan {
        levels: Cell(BTreeMap::from([
            ("target".to_owned(), Level::Text(target.into())),
            ("connections".to_owned(), Level::Integer(connections.into())),
        ])),
        load: CellLoad {
            mix: Mix::one(request, ReplyExpectation { status: Some(200), body: Some(b"hi".to_vec()) }),
            load_model: LoadModel::Closed,
            connections,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            network_delay_ns: 0,
            warm_up_ns: 100 * MS,
            window_ns: 1000 * MS,
            request_count: None,
        },
        settings: BTreeMap::new(),
        runtime: "current".into(),
        handler_delay_ns: 0,
        target_cpus: vec![],
        rate_share: None,
        profile: false,
    }
}

fn plan(blocks: u32) -> Plan {
    Plan {
        schema: model::PLAN_SCHEMA.into(),
        name: "test".into(),
        question: "Does it hold?".into(),
        source: None,
        quick: false,
        seed: 42,
        margin: 0.05,
        precision: 0.03,
        allow_failures: 0.01,
        precise: vec![model::Metric::Throughput],
        blocks: Blocks { min: blocks, max: blocks },
        blocks_before: vec![],
        repeats: 0,
        twin: None,
        ladder: None,
        profile_functions: vec![],
        generator: GeneratorPlan { threads: 1, cpus: vec![], spin: false, limits: None },
        target_cpus: vec![],
        factors: vec!["target".into(), "connections".into()],
        targets: vec![target("a"), target("b")],
        absent: vec![],
        relative_rates: Vec::new(),
        cells: vec![cell("a", 10), cell("b", 10), cell("a", 50), cell("b", 50)],
        claims: vec![],
        comparison: None,
    }
}

/// Runs `plan` into `folder`, stopping once `stop_after` trials have ended.
fn conduct(plan: &Plan, folder: &mut RunFolder, launcher: &FakeLauncher, stop_after: Option<usize>) -> SessionEnd {
    let done = RunFolder::read(folder.path()).unwrap().trials;
    let (prepared, stop, mut ended) = (Prepared::default(), AtomicBool::new(false), 0);
    let tools = TrialTools { launcher, load: &load, prepared: &prepared, perf: &launcher.perf };
    Session { plan, folder, done, tools, keep_going: launcher.keep_going }
        .run(&BlockPlanner::new(plan), &stop, &mut |event| {
            ended += usize::from(matches!(event, Event::TrialEnded { .. }));
            stop.store(stop_after.is_some_and(|after| ended >= after), Ordering::Relaxed);
        })
        .unwrap()
}

fn create(runs: &Path, plan: &Plan) -> RunFolder {
    RunFolder::create(runs, "run", plan, &environment()).unwrap()
}

fn environment() -> Environment {
    Environment { schema: ENVIRONMENT_SCHEMA.to_owned(), ..Environment::default() }
}

fn order(end: &SessionEnd) -> Vec<(u32, usize)> {
    end.trials.iter().map(|trial| (trial.block, trial.cell)).collect()
}

#[test]
fn every_cell_is_launched_once_in_each_block_in_an_order_of_the_seed() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(6), FakeLauncher::default());
    let end = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
    assert!(!end.interrupted);
    assert_eq!(launcher.launched.borrow().len(), 24, "one launch a trial");
    for block in 1..=6 {
        let mut cells: Vec<usize> =
            end.trials.iter().filter(|trial| trial.block == block).map(|trial| trial.cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2, 3]);
    }
    let again = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
    assert_eq!(order(&end), order(&again), "same seed, same order");
    let other = Plan { seed: 43, ..plan.clone() };
    let differs = conduct(&other, &mut create(runs.path(), &other), &launcher, None);
    assert_ne!(order(&end), order(&differs));
}

#[test]
fn a_twin_is_a_launch_of_its_own_with_files_of_its_own() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (Plan { twin: Some(1), ..plan(2) }, FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, Some(7));
    assert_eq!(RunFolder::read(folder.path()).unwrap().plan, plan);
    let end = if end.interrupted { conduct(&plan, &mut folder, &launcher, None) } else { end };
    let twins: Vec<&model::TrialRecord> = end.trials.iter().filter(|trial| trial.twin).collect();
    assert_eq!((end.trials.len(), twins.len()), (10, 2));
    assert!(twins.iter().all(|twin| twin.cell == 1 && twin.levels == plan.cells[1].levels));
    for id in ["b01-c02", "b01-c02-twin", "b02-c02-twin"] {
        assert!(folder.path().join(format!("histograms/{id}.hlog")).is_file(), "{id}");
    }
    assert_eq!(RunFolder::read(folder.path()).unwrap().trials, end.trials);
}

#[test]
fn a_plan_that_knows_no_twin_and_no_repeats_is_read_as_one_without() {
    let runs = tempfile::tempdir().unwrap();
    let plan = Plan { repeats: 2, ..plan(1) };
    let path = create(runs.path(), &plan).path().to_owned();
    let text = std::fs::read_to_string(path.join("plan.toml")).unwrap();
    let old: String =
        text.lines().filter(|line| !line.starts_with("repeats")).map(|line| format!("{line}\n")).collect();
    assert_ne!(old, text);
    std::fs::write(path.join("plan.toml"), old).unwrap();
    assert_eq!(RunFolder::read(&path).unwrap().plan, Plan { repeats: 0, twin: None, ..plan });
}

#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(6), FakeLauncher::default());
    let whole = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
    for stop_after in [1, 5, 23] {
        let mut folder = create(runs.path(), &plan);
        let stopped = conduct(&plan, &mut folder, &launcher, Some(stop_after));
        assert_eq!((stopped.interrupted, stopped.trials.len()), (true, stop_after));
        let path = folder.path().to_owned();
        drop(folder);
        let (mut folder, record) = RunFolder::resume(&path).unwrap();
        assert_eq!(record.plan, plan);
        let resumed = conduct(&record.plan, &mut folder, &launcher, None);
        assert_eq!(order(&resumed), order(&whole));
    }
}

/// Both cells on 10 connections asked at half of what a closed load gets: 1,000 a second, for a reply takes 10 ms.
fn at_half() -> Plan {
    let open = LoadModel::Open { rate_per_s: 0.0, arrivals: Arrivals::Constant };
    let mut plan = plan(1);
    for cell in &mut plan.cells[..2] {
        (cell.rate_share, cell.load.load_model) = (Some(0.5), open);
        cell.levels.0.insert("rate".to_owned(), Level::Text("50% of closed".to_owned()));
    }
    plan
}

fn settle(plan: &mut Plan, launcher: &FakeLauncher, stopped: bool) -> Result<(), RateError> {
    let (prepared, stop) = (Prepared::default(), AtomicBool::new(stopped));
    let tools = TrialTools { launcher, load: &load, prepared: &prepared, perf: &launcher.perf };
    settle_rates(plan, tools, Path::new("/dev/null"), &judge::settled_rate, &stop, &mut |_| {})
}

#[test]
fn a_rate_that_is_a_share_is_that_of_the_slowest_and_stays_when_a_run_goes_on() {
    let launcher = FakeLauncher::default();
    let mut plan = at_half();
    settle(&mut plan, &launcher, false).unwrap();
    let settled = &plan.relative_rates[0];
    assert_eq!(*launcher.launched.borrow(), ["a", "b"], "no cell with a rate of its own");
    assert_eq!(settled.closed_per_s.keys().collect::<Vec<_>>(), ["a", "b"]);
    let least = settled.closed_per_s.values().copied().fold(f64::INFINITY, f64::min);
    assert!((900.0..=1000.0).contains(&least), "{settled:?}");
    assert!(settled.rate_per_s <= least / 2.0 && settled.rate_per_s > least / 2.0 - 10.0, "{settled:?}");
    let rates: Vec<LoadModel> = plan.cells.iter().map(|cell| cell.load.load_model).collect();
    let open = LoadModel::Open { rate_per_s: settled.rate_per_s, arrivals: Arrivals::Constant };
    assert_eq!(rates, [open, open, LoadModel::Closed, LoadModel::Closed]);
    let runs = tempfile::tempdir().unwrap();
    let path = create(runs.path(), &plan).path().to_owned();
    assert_eq!(RunFolder::read(&path).unwrap().plan, plan);
}

#[test]
fn a_rate_is_a_share_of_what_those_that_run_serve() {
    let launcher = FakeLauncher { never_ready: Some("a"), ..FakeLauncher::default() };
    let mut plan = at_half();
    settle(&mut plan, &launcher, false).unwrap();
    assert_eq!(plan.relative_rates[0].closed_per_s.keys().collect::<Vec<_>>(), ["b"]);
    let mut alone = at_half();
    alone.cells.retain(|cell| cell.levels.target() == "a");
    let error = settle(&mut alone, &launcher, false).unwrap_err();
    assert_eq!(error.to_string(), "no rate can be a share of what nobody serves: a: it was not ready");
    assert_eq!(settle(&mut at_half(), &launcher, true), Err(RateError::Interrupted));
}

#[test]
fn a_torn_last_line_is_cut_off_and_its_trial_run_again() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &launcher, Some(3));
    let path = folder.path().to_owned();
    drop(folder);
    let file = path.join("trials.jsonl");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    let (mut folder, record) = RunFolder::resume(&path).unwrap();
    assert_eq!(record.trials.len(), 2);
    conduct(&plan, &mut folder, &launcher, None);
    assert_eq!(RunFolder::read(&path).unwrap().trials.len(), 8);
}

/// A file that a file system left with a hole of 8 GiB must not be read into memory.
#[test]
fn a_line_without_end_is_damage_and_not_read_whole() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &launcher, Some(3));
    let path = folder.path().to_owned();
    drop(folder);
    let file = std::fs::OpenOptions::new().write(true).open(path.join("trials.jsonl")).unwrap();
    file.set_len(8 << 30).unwrap();
    for error in [RunFolder::read(&path).unwrap_err(), RunFolder::resume(&path).unwrap_err()] {
        assert!(error.to_string().contains("line 4: this line is longer than any trial's"), "{error}");
    }
    assert_eq!(file.metadata().unwrap().len(), 8 << 30, "nothing is cut");
}

fn without_b(keep_going: bool) -> FakeLauncher {
    FakeLauncher { never_ready: Some("b"), keep_going, ..FakeLauncher::default() }
}

#[test]
fn a_target_that_never_gets_ready_is_tried_once_and_ends_the_run_with_its_first_block() {
    let runs = tempfile::tempdir().unwrap();
    for (keep_going, trials) in [(false, 4), (true, 8)] {
        let (plan, launcher) = (plan(2), without_b(keep_going));
        let end = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
        let failed: Vec<_> = end.trials.iter().filter_map(|trial| trial.failure.as_ref()).collect();
        assert_eq!((end.trials.len(), failed.len()), (trials, trials / 2));
        assert_eq!(failed[0].output, "no such file");
        assert_eq!(launcher.launched.borrow().iter().filter(|name| *name == "b").count(), 1);
        let unstarted = Unstarted { target: "b".into(), why: "it was not ready".into() };
        assert_eq!(end.unstarted, (!keep_going).then_some(unstarted));
    }
}

#[test]
fn a_run_that_ended_without_a_target_is_resumed_in_the_same_blocks() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, mended) = (plan(2), FakeLauncher::default());
    let whole = conduct(&plan, &mut create(runs.path(), &plan), &mended, None);
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &without_b(false), None);
    let still = conduct(&plan, &mut folder, &without_b(false), None);
    assert!(still.unstarted.is_some(), "it is tried again, and stopped again");
    assert_eq!(still.trials.iter().map(|trial| trial.block).max(), Some(1));
    mended.launched.borrow_mut().clear();
    let end = conduct(&plan, &mut folder, &mended, None);
    assert_eq!(mended.launched.borrow().len(), 6, "b in the first block, all in the second");
    let read = RunFolder::read(folder.path()).unwrap();
    assert!(read.counted().all(|trial| trial.failure.is_none()));
    let mut order: Vec<_> = read.counted().map(|trial| (trial.block, trial.position, trial.cell)).collect();
    order.sort_unstable();
    assert_eq!(order.iter().map(|(block, _, cell)| (*block, *cell)).collect::<Vec<_>>(), self::order(&whole));
    assert_eq!((end.unstarted, end.trials.len()), (None, read.trials.len()), "and nothing is forgotten");
}

#[test]
fn a_target_that_once_started_ends_a_comparison_alone() {
    let runs = tempfile::tempdir().unwrap();
    for (compared, blocks) in [(false, 3), (true, 2)] {
        let both = ComparePlan { old: "a".into(), new: "b".into(), gates: vec![], revisions: vec![] };
        let plan = Plan { comparison: compared.then_some(both), ..plan(3) };
        let mut folder = create(runs.path(), &plan);
        conduct(&plan, &mut folder, &FakeLauncher::default(), Some(4));
        let end = conduct(&plan, &mut folder, &without_b(false), None);
        assert_eq!(end.trials.iter().map(|trial| trial.block).max(), Some(blocks));
        assert_eq!(end.unstarted.is_some(), compared);
    }
}

#[test]
fn a_target_that_started_again_is_launched_in_the_blocks_that_lack_it() {
    let runs = tempfile::tempdir().unwrap();
    for compared in [false, true] {
        let both = ComparePlan { old: "a".into(), new: "b".into(), gates: vec![], revisions: vec![] };
        let plan = Plan { comparison: compared.then_some(both), ..plan(3) };
        let mut folder = create(runs.path(), &plan);
        conduct(&plan, &mut folder, &FakeLauncher::default(), Some(4));
        conduct(&plan, &mut folder, &without_b(false), None);
        let mended = FakeLauncher::default();
        conduct(&plan, &mut folder, &mended, None);
        let again = if compared { 2 + 4 } else { 2 + 2 };
        assert_eq!(mended.launched.borrow().len(), again, "b in the second block, and what the third lacks");
        let read = RunFolder::read(folder.path()).unwrap();
        assert_eq!(read.counted().filter(|trial| trial.failure.is_none()).count(), 12);
        let idle = FakeLauncher::default();
        let end = conduct(&plan, &mut folder, &idle, None);
        assert_eq!((idle.launched.borrow().len(), end.trials.len()), (0, read.trials.len()), "nothing is lacking now");
    }
}

#[test]
fn a_run_folder_is_held_by_one_writer_and_has_its_files() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(1), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &launcher, None);
    assert!(matches!(RunFolder::resume(folder.path()), Err(LabError::Busy { .. })));
    let path = folder.path().to_owned();
    for file in ["plan.toml", "environment.json", "trials.jsonl", "histograms/b01-c01.hlog"] {
        assert!(path.join(file).is_file(), "{file}");
    }
    assert!(matches!(RunFolder::read(runs.path()), Err(LabError::NotARun { .. })));
    let names: Vec<_> = std::fs::read_dir(runs.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["run"], "nothing unfinished is left");
}

#[test]
fn the_same_record_gives_the_same_analysis_to_the_bit() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(6), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, None);
    let read = RunFolder::read(folder.path()).unwrap();
    let text = |trials: &[model::TrialRecord]| {
        serde_json::to_string(&judge::analyse(&read.plan, &read.environment, trials)).unwrap()
    };
    assert_eq!(text(&end.trials), text(&read.trials), "also after a way through the disk");
}

/// Answers each request with the next of these texts.
fn answer(answers: Vec<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(&answer).unwrap();
        }
    });
    address
}

#[test]
fn a_profile_is_kept_and_read_and_a_target_without_one_is_not_void() {
    let profile = include_bytes!("../../observe/tests/profiles/go-net-http.pb.gz");
    let ok = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", profile.len());
    let none = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let admin = answer(vec![[ok.as_bytes(), profile.as_slice()].concat(), none]);
    let runs = tempfile::tempdir().unwrap();
    let mut plan = Plan { cells: vec![cell("a", 10)], profile_functions: vec!["futex".into()], ..plan(2) };
    plan.cells[0].profile = true;
    plan.cells[0].load.warm_up_ns = 0;
    let launcher = FakeLauncher { admin: Some(admin), ..FakeLauncher::default() };
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, None);
    let [first, second] = &end.trials[..] else { panic!("{:?}", end.trials) };
    assert!(end.trials.iter().all(|trial| trial.failure.is_none() && trial.measurement.is_some()));
    assert_eq!(Metric::ProfileShare.value(first), Some(2.0 / 116.0));
    assert_eq!(std::fs::read(folder.path().join("profiles/b01-c01.pb.gz")).unwrap(), profile);
    let seen = second.observation.as_ref().unwrap();
    let why = seen.no_profile.as_ref().unwrap();
    assert!(why.contains("answers with status 404; `perf` is not on PATH: install "), "{why}");
    assert_eq!(Metric::ProfileShare.value(second), None);
    assert!(!folder.path().join("profiles/b02-c01.pb.gz").exists());
    assert_eq!(
        RunFolder::read(folder.path()).unwrap(),
        RunRecord { plan, environment: environment(), trials: end.trials }
    );
}

/// Stands in for the executable: what `bourdon reaper detach CPUS SCRATCH APART COMMAND…` does while all goes well.
const REAPER: &str = "#!/bin/sh\nfolder=$4; mkdir $folder; shift 5\n\"$@\" >&2 & echo pid $! 0 >&0\nwait $!\n\
                      echo exit exited with status $? >&0\ncat >/dev/null; rm -r $folder; echo done >&0\n";

/// Stands in for perf on a target that ends at once: records nothing, and tells of two samples.
const PERF: &str = "#!/bin/sh\necho $1 >> ${0%/*}/called\n[ $1 = record ] && exit\n\
                    echo 'cpu-clock: ffffffff81000000 do_futex ([kernel.kallsyms])'\n\
                    echo 'cpu-clock: 55d0b6f2a1c0 serve (/bin/server)'\n";

/// A file that can be run. No other test here starts a process, which would hold it open meanwhile.
fn executable(path: &Path, text: &str) -> PathBuf {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

#[test]
fn perf_profiles_what_does_not_profile_itself_and_nothing_else() {
    let profile = include_bytes!("../../observe/tests/profiles/go-net-http.pb.gz");
    let ok = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", profile.len());
    let none = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let runs = tempfile::tempdir().unwrap();
    let launcher = FakeLauncher {
        admin: Some(answer(vec![[ok.as_bytes(), profile.as_slice()].concat(), none])),
        perf: Perf {
            executable: executable(&runs.path().join("reaper"), REAPER),
            command: Some(executable(&runs.path().join("perf"), PERF)),
        },
        ..FakeLauncher::default()
    };
    let mut plan = Plan { cells: vec![cell("a", 10)], profile_functions: vec!["futex".into()], ..plan(2) };
    plan.cells[0].profile = true;
    plan.cells[0].load.warm_up_ns = 0;
    // Simulated; what is left of it once the target has been asked must be something on any machine.
    plan.cells[0].load.window_ns = 10_000 * MS;
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, None);
    let profiles: Vec<_> =
        end.trials.iter().map(|trial| trial.observation.as_ref().unwrap().profile.clone().unwrap()).collect();
    assert_eq!(profiles.iter().map(|profile| profile.by).collect::<Vec<_>>(), [ProfiledBy::Pprof, ProfiledBy::Perf]);
    assert_eq!((profiles[1].samples, profiles[1].share), (2, Some(0.5)));
    let called = std::fs::read_to_string(runs.path().join("called")).unwrap();
    assert_eq!(called, "record\nscript\n", "in the second trial alone");
    let kept = |file: &str| folder.path().join("profiles").join(file).exists();
    assert_eq!(["b01-c01.perf.txt.gz", "b02-c01.pb.gz"].map(kept), [false; 2]);
    assert_eq!(["b01-c01.pb.gz", "b02-c01.perf.txt.gz"].map(kept), [true; 2]);
}

#[test]
fn a_network_delay_stands_between_load_and_target() {
    let runs = tempfile::tempdir().unwrap();
    let mut plan = Plan { cells: vec![cell("a", 10), cell("b", 10)], ..plan(1) };
    plan.cells[1].load.network_delay_ns = 10 * MS;
    let went_to = RefCell::new(Vec::new());
    let load = |spec: &LoadSpec, options: RunOptions<'_>, stop: &AtomicBool, progress: &mut dyn FnMut(&Interval)| {
        went_to.borrow_mut().push((spec.mix.first().request.host.clone(), spec.address.to_string()));
        load(spec, options, stop, progress)
    };
    let (launcher, prepared) = (FakeLauncher::default(), Prepared::default());
    let tools = TrialTools { launcher: &launcher, load: &load, prepared: &prepared, perf: &launcher.perf };
    let mut folder = create(runs.path(), &plan);
    let session = Session { plan: &plan, folder: &mut folder, done: vec![], tools, keep_going: false };
    let end = session.run(&BlockPlanner::new(&plan), &AtomicBool::new(false), &mut |_| ()).unwrap();
    for (trial, (host, address)) in end.trials.iter().zip(went_to.into_inner()) {
        let delayed = trial.cell == 1;
        assert_eq!(host, "127.0.0.1:1", "the target is asked under its own name");
        assert_eq!(address != host, delayed, "{address}");
        assert_eq!(trial.measurement.as_ref().unwrap().generator.network_delay.is_some(), delayed);
    }
}
