//! Runs of simulated servers, as `judge` judges what `lab` recorded of them. What a golden is to show beside that is changed in
//! the records: a launch that died, wrong content, a busy machine.

use std::sync::LazyLock;

use model::{
    AbsentTarget, Analysis, Arrivals, Blocks, CellPlan, EndedWhen, Failure, Level, LoadModel, NS_PER_S, NoPerf,
    NoPprof, NoProfile, ProcessEnd, Profile, ProfiledBy, ProfiledFunction, TargetEnd, TrialFailure, TrialRecord,
    TrialStage, WhyFailed,
};

use super::plans::{cell, claim, draft, environment};
use super::session::{Recorded, Server, conduct};

/// How a server ended under load.
pub(crate) const DIED: TargetEnd =
    TargetEnd { how: ProcessEnd::Exited(3), when: EndedWhen::UnderLoad, hints: Vec::new() };

/// Makes a trial one whose server ended under load, after it had printed this.
pub(crate) fn die(trial: &mut TrialRecord, printed: &str) {
    let failure = TrialFailure { output: printed.to_owned(), ..TrialFailure::new(TrialStage::Died, DIED) };
    trial.failure = Some(failure);
}

/// Makes so many replies of a trial wrong: in their body, or in their status.
pub(crate) fn reply_wrongly(trial: &mut TrialRecord, [bad_body, bad_status]: [u64; 2]) {
    let measured = trial.measurement.as_mut().unwrap();
    let wrong = bad_body + bad_status;
    measured.accounting.ok -= wrong;
    measured.accounting.bad_body += bad_body;
    measured.accounting.bad_status += bad_status;
    measured.in_window.ok -= wrong;
    let (all, mut passed) = (measured.in_window.ok + wrong, 0);
    for slice in trial.slices.iter_mut().filter(|slice| slice.round > 0) {
        let until = |replies: u64| wrong * replies / all;
        let of_slice = until(passed + slice.ok) - until(passed);
        passed += slice.ok;
        (slice.ok, slice.failed) = (slice.ok - of_slice, slice.failed + of_slice);
    }
}

/// Makes so many more requests of a trial be sent and fail, without a reply.
pub(crate) fn reset(trial: &mut TrialRecord, requests: u64) {
    let books = &mut trial.measurement.as_mut().unwrap().accounting;
    books.scheduled += requests;
    books.sent += requests;
    *books.failed.entry(Failure::ResetBeforeReply).or_default() += requests;
}

/// Makes other processes take this share of two CPUs during a trial.
pub(crate) fn take_cpus(trial: &mut TrialRecord, share: f64) {
    trial.observation.as_mut().unwrap().host.others_share = share;
    trial.slices.iter_mut().for_each(|slice| slice.others_share = share);
}

/// Makes the generator's thread so busy.
pub(crate) fn keep_generator_busy(trial: &mut TrialRecord, busy: f64) {
    let threads = &mut trial.measurement.as_mut().unwrap().generator.threads;
    threads.iter_mut().for_each(|thread| thread.cpu_s = busy * thread.wall_s);
}

const TARGETS: [&str; 4] = ["go-net-http", "go-gin", "go-iris", "go-iris-2016"];

fn routers() -> Recorded {
    let mut cells: Vec<CellPlan> = Vec::new();
    for delay in ["10ms", "0ms"] {
        let of = |target: &&str| {
            let levels = [("target", *target), ("handler_delay", delay), ("connections", "20")];
            CellPlan { profile: delay == "10ms", ..cell(&levels, LoadModel::Closed) }
        };
        cells.extend(TARGETS.iter().map(of));
    }
    let question = "Does a router keep its throughput once handlers do real work?";
    let mut draft = draft("business-latency", question, &["target", "handler_delay", "connections"], cells);
    draft.source = Some("smallnest, 2016-04".to_owned());
    draft.quick = true;
    // As if the block in which the machine was busy had been launched again.
    draft.blocks = Blocks { min: 9, max: 9 };
    draft.twin = Some(4);
    draft.profile_functions = vec!["Syscall".to_owned()];
    draft.absent = vec![AbsentTarget {
        name: "java-tomcat".to_owned(),
        reason: "no `javac` on PATH; get a JDK 17 or later from https://adoptium.net".to_owned(),
        ..AbsentTarget::default()
    }];
    draft.targets[3].reconstruction = Some(
        "bourdon's own model of the Iris of April 2016, whose sources no longer exist: one mutex around the handler"
            .to_owned(),
    );
    draft.claims = claims();
    let mut environment = environment("business-latency");
    environment.toolchains = [("go-gin", "go1.26.8"), ("go-net-http", "go1.26.8"), ("go-net-http@1.9", "go1.9.7")]
        .map(|(target, go)| (target.to_owned(), format!("go version {go} linux/amd64")))
        .into();
    let servers = [
        Server::new(TARGETS[0], 5_000, 31.0),
        Server::new(TARGETS[1], 5_010, 32.6),
        Server::new(TARGETS[2], 5_050, 34.0),
        Server { workers: 1, ..Server::new(TARGETS[3], 900, 58.0) },
    ];
    conduct(draft.resolve().unwrap(), environment, &servers)
}

fn claims() -> Vec<model::Claim> {
    let delayed = &[("handler_delay", "10ms")][..];
    let mut claims = vec![
        claim(
            "iris-2016-serialises",
            "With a handler delay of 10 ms, Iris serves 97 requests a second where net/http serves 9294.",
            delayed,
            "throughput(go-iris-2016) / throughput(go-net-http) < 0.1",
        ),
        claim(
            "iris-is-fastest",
            "Iris is the fastest of the routers, well ahead of everything else in the field at any number of connections.",
            delayed,
            "throughput(go-iris) / throughput(go-net-http) > 1.2",
        ),
        claim(
            "gin-costs-nothing",
            "A router costs no CPU that could be measured.",
            &[],
            "cpu_per_request(go-gin, handler_delay = 0ms) / cpu_per_request(go-net-http, handler_delay = 0ms) within 5% of 1",
        ),
        claim(
            "scales-to-8",
            "On eight cores it serves 600,000 requests a second.",
            delayed,
            "throughput(go-net-http) > 600000",
        ),
        claim(
            "delay-costs-throughput",
            "With real work a server on many cores loses little of its throughput.",
            &[],
            "throughput(go-net-http, handler_delay = 10ms) / throughput(go-net-http, handler_delay = 0ms) > 0.6",
        ),
        claim("few-errors", "Hardly a request goes wrong.", delayed, "errors(go-gin) < 0.001"),
        claim("soon-enough", "Nobody waits for long.", delayed, "p99(go-gin) < 50ms"),
    ];
    (claims[0].published_value, claims[1].published_value) = (Some(0.010_437), Some(1.31));
    claims[3].not_testable = Some("it needs 8 cores, this machine has 2".to_owned());
    claims[4].cores = Some(8);
    claims
}

fn profile(trial: &mut TrialRecord) {
    let function = |name: &str, flat_share| ProfiledFunction { name: name.to_owned(), flat_share };
    let seen = trial.observation.as_mut().unwrap();
    match trial.levels.target() {
        "go-net-http" => {
            let functions = vec![
                function("internal/runtime/syscall/linux.Syscall6", 0.457),
                function("runtime.futex", 0.158),
                function("net/http.(*conn).serve", 0.0043),
            ];
            seen.profile = Some(Profile { by: ProfiledBy::Pprof, samples: 520, share: Some(0.457), functions });
        }
        "go-iris" => {
            let functions = vec![function("[k] tcp_sendmsg", 0.12)];
            seen.profile = Some(Profile { by: ProfiledBy::Perf, samples: 180, share: Some(0.0), functions });
        }
        "go-iris-2016" => seen.no_profile = Some(NoPprof::Status(404).into()),
        _ => {
            let (pprof, perf) = (Some(NoPprof::NoAdminPort), Some(NoPerf::NotInstalled));
            seen.no_profile = Some(NoProfile::Seen { pprof, perf });
        }
    }
}

/// Everything at once: nine blocks, in one of which the machine was busy, and what went wrong in some launches.
pub(crate) fn full_recorded() -> Recorded {
    static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
        let mut it = routers();
        let delayed = |trial: &TrialRecord| trial.levels.0["handler_delay"] == Level::Text("10ms".to_owned());
        it.trials.iter_mut().filter(|trial| delayed(trial)).for_each(profile);
        let all: Vec<u32> = (1..=9).collect();
        let bare = |trial: &&mut TrialRecord| !delayed(trial);
        it.trials_of("go-iris-2016", &all).filter(bare).for_each(|trial| keep_generator_busy(trial, 0.978));
        it.trials_of("go-gin", &all).filter(bare).for_each(|trial| reset(trial, 11));
        it.trials_of("go-iris", &[1]).filter(bare).for_each(|trial| die(trial, "panic: runtime error"));
        it.trials_of("go-gin", &[3]).filter(bare).for_each(|trial| reply_wrongly(trial, [12, 0]));
        it.trials_of("", &[2]).for_each(|trial| take_cpus(trial, 0.39));
        it.planned(|draft| (draft.blocks, draft.repeats) = (Blocks { min: 8, max: 8 }, 1))
    });
    RECORDED.clone()
}

pub(crate) fn full() -> Analysis {
    full_recorded().run()
}

/// Two blocks: figures without intervals, ranks or verdicts; one launch was never ready.
pub(crate) fn preliminary() -> Analysis {
    let mut it = full_recorded().planned(|draft| {
        draft.blocks = Blocks { min: 2, max: 2 };
        draft.claims.truncate(1);
    });
    it.trials.retain(|trial| [4, 5].contains(&trial.block));
    for trial in &mut it.trials {
        trial.block -= 3;
        trial.id = trial.spec().id();
    }
    for trial in it.trials_of("go-iris-2016", &[1]).take(1) {
        let failure = TrialFailure::new(TrialStage::Ready, WhyFailed::Text("did not answer within 30 s".to_owned()));
        (trial.measurement, trial.observation, trial.time_to_ready_ms) = (None, None, None);
        (trial.failure, trial.slices) = (Some(failure), Vec::new());
    }
    it.run()
}

/// An open rate, only the target varied, no claim, nothing wrong; the rate is half of what the slower one serves.
pub(crate) fn open_rate_recorded() -> Recorded {
    static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
        let of = |target: &str| CellPlan {
            rate_share: Some(0.5),
            rate_arrivals: Some(Arrivals::Constant),
            ..cell(&[("target", target)], LoadModel::Closed)
        };
        let names = ["mine", "the-other-one-with-a-long-name"];
        let draft = draft("mine-or-theirs", "Is mine faster?", &["target"], names.map(of).into());
        let servers = [Server::new(names[0], 2_000, 61.0), Server::new(names[1], 8_000, 88.0)];
        conduct(draft.resolve().unwrap(), environment("mine-or-theirs"), &servers)
    });
    RECORDED.clone()
}

pub(crate) fn open_rate() -> Analysis {
    open_rate_recorded().run()
}

/// One target under conditions of which no two cells share any: settings that change together, one that never does. Each launch
/// is measured for 10 s, in which the course of it shows.
pub(crate) fn one_target_recorded() -> Recorded {
    static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
        let of = |(runtime, [read, write], profile): (&str, [&str; 2], bool)| {
            let levels = [("target", "go-httprouter"), ("runtime", runtime), ("read_timeout", read)];
            let others = [("write_timeout", write), ("target_cpus", "all")];
            let profiled = [("profile", if profile { "true" } else { "false" })];
            let levels: Vec<(&str, &str)> = levels.into_iter().chain(others).chain(profiled).collect();
            let mut cell = CellPlan { profile, ..cell(&levels, LoadModel::Closed) };
            cell.load.connections = 5;
            cell.load.extent = model::Extent::Window(10 * NS_PER_S);
            cell
        };
        let (with, without) = (["5s", "10s"], ["0ms", "0ms"]);
        let cells = [
            ("1.9", with, false),
            ("current", with, false),
            ("1.9", without, false),
            ("current", without, false),
            ("1.9", with, true),
        ];
        let factors = ["target", "runtime", "read_timeout", "write_timeout", "target_cpus", "profile"];
        let mut draft = draft("timeouts", "What do timeouts cost?", &factors, cells.map(of).into());
        draft.claims = vec![claim(
            "timeouts-cost-throughput-on-1.9",
            "With all timeouts, a server built with Go 1.9 loses much of its throughput.",
            &[("runtime", "1.9"), ("profile", "false")],
            "throughput(go-httprouter, read_timeout = 5s) / throughput(go-httprouter, read_timeout = 0ms) < 0.9",
        )];
        let servers = [Server::new("go-httprouter", 10_000, 13.1)];
        let mut it = conduct(draft.resolve().unwrap(), environment("timeouts"), &servers);
        it.trials.iter_mut().filter(|trial| trial.cell == 4).for_each(|trial| {
            let functions = vec![ProfiledFunction { name: "runtime.futex".to_owned(), flat_share: 0.158 }];
            let profile = Profile { by: ProfiledBy::Pprof, samples: 520, share: None, functions };
            trial.observation.as_mut().unwrap().profile = Some(profile);
        });
        it.trials.iter_mut().filter(|trial| (trial.block, trial.cell) == (1, 1)).for_each(|trial| die(trial, ""));
        it.trials.iter_mut().filter(|trial| trial.cell == 3).for_each(warm_up);
        it
    });
    RECORDED.clone()
}

/// Makes a trial one whose first three seconds were slower by a fifth.
fn warm_up(trial: &mut TrialRecord) {
    let measured = trial.measurement.as_mut().unwrap();
    let mut fewer = 0;
    for step in measured.steps.iter_mut().filter(|step| (0.0..3.0).contains(&step.at_s)) {
        let less = step.completed / 5;
        (step.completed, step.ok, fewer) = (step.completed - less, step.ok - less, fewer + less);
    }
    let books = &mut measured.accounting;
    for count in [&mut books.scheduled, &mut books.sent, &mut books.completed, &mut books.ok] {
        *count -= fewer;
    }
    let seen = &mut measured.in_window;
    for count in [&mut seen.completed, &mut seen.ok, &mut seen.halves[0].completed] {
        *count -= fewer;
    }
}

pub(crate) fn one_target() -> Analysis {
    one_target_recorded().run()
}

/// The same with what the judgement says beside its figures.
pub(crate) fn remarked(mut analysis: Analysis) -> Analysis {
    judge::remark(&mut analysis);
    analysis
}
