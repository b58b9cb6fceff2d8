//! Comparisons of simulated servers, as `judge` judges what `lab` recorded of them; what is odd is changed in the records.

use std::sync::LazyLock;

use model::{
    Blocks, CellPlan, CompareAnalysis, ComparePlan, ComparedRevision, LoadModel, Metric, RevisionContent, parse_gates,
};

use super::plans::{cell, draft, environment};
use super::runs::{die, reply_wrongly, take_cpus};
use super::session::{Recorded, Server, conduct};

/// The gates of the comparison of two revisions.
const GATES: &str = "cpu_per_request<+3%, p99<+10%, peak_memory<+5%";

/// Two revisions of one server, of which the new one is slower and uses more CPU.
pub(crate) fn revisions_recorded() -> Recorded {
    static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
        let cells: Vec<CellPlan> = ["old", "new"].map(|target| cell(&[("target", target)], LoadModel::Closed)).into();
        let mut draft = draft("compare", "Is feature slower than main?", &["target"], cells);
        let titles = [("main", "b74f097c1d2e"), ("feature", "1a61e6f00233")];
        for (target, (title, commit)) in draft.targets.iter_mut().zip(titles) {
            target.title = format!("{title} ({})", report::short_commit(commit));
        }
        let revision = |(target, (_, commit)): (&str, (&str, &str))| ComparedRevision {
            target: target.to_owned(),
            repository: "/work/server".into(),
            within: "".into(),
            content: RevisionContent::Commit(commit.to_owned()),
        };
        draft.margin = 0.01;
        draft.precise = vec![Metric::CpuPerRequest];
        draft.blocks = Blocks { min: 7, max: 7 };
        draft.twin = Some(0);
        draft.comparison = Some(ComparePlan {
            old: "old".to_owned(),
            new: "new".to_owned(),
            primary: Some(Metric::CpuPerRequest),
            gates: parse_gates(GATES).unwrap(),
            allow_undecided: false,
            of_experiment: false,
            rest_ns: 0,
            revisions: ["old", "new"].into_iter().zip(titles).map(revision).collect(),
        });
        let servers = [
            Server { memory_bytes: 18_400_000, ready_ms: 81.0, ..Server::new("old", 5_900, 118.0) },
            Server { memory_bytes: 18_390_000, ready_ms: 60.0, ..Server::new("new", 6_230, 124.6) },
        ];
        let mut it = conduct(draft.resolve().unwrap(), environment("compare"), &servers);
        it.trials_of("", &[2]).for_each(|trial| take_cpus(trial, 0.39));
        it.planned(|draft| (draft.blocks, draft.repeats) = (Blocks { min: 6, max: 6 }, 1))
    });
    RECORDED.clone()
}

pub(crate) fn revisions() -> CompareAnalysis {
    revisions_recorded().comparison()
}

/// A new server of whose requests a third fails, on a machine that is busy in half of the blocks.
pub(crate) fn failing() -> CompareAnalysis {
    let gates = parse_gates("errors<+1%, p99<+10%").unwrap();
    let mut it = revisions_recorded().planned(|draft| {
        draft.repeats = 0;
        draft.blocks = Blocks { min: 7, max: 7 };
        draft.comparison.as_mut().unwrap().gates = gates;
    });
    it.trials_of("", &[3, 6]).for_each(|trial| take_cpus(trial, 0.3));
    for trial in it.trials_of("new", &[1, 2, 3, 4, 5, 6, 7]) {
        let third = trial.measurement.as_ref().unwrap().accounting.completed * 36 / 100;
        reply_wrongly(trial, [0, third]);
        let first = model::WrongReply::new((None, None), 503, Some((b"Service Unavailable\n", 0)));
        trial.measurement.as_mut().unwrap().first_wrong = Some(first);
    }
    it.comparison()
}

/// A new server that died in each of its launches, of two blocks.
pub(crate) fn dying() -> CompareAnalysis {
    let mut it = revisions_recorded().planned(|draft| draft.blocks = Blocks { min: 2, max: 2 });
    it.trials.retain(|trial| [1, 3].contains(&trial.block));
    for trial in it.trials.iter_mut().filter(|trial| trial.block == 3) {
        trial.block = 2;
        trial.id = trial.spec().id();
    }
    let printed = "Traceback (most recent call last):\n  File \"server.py\", line 9\nMemoryError";
    it.trials.iter_mut().filter(|trial| trial.levels.target() == "new").for_each(|trial| die(trial, printed));
    it.comparison()
}

/// Two runs under two conditions on different kernels, of which the old one never measured one.
pub(crate) fn runs() -> CompareAnalysis {
    fn run(service_us: u64, seed: u64) -> Recorded {
        let cells = ["20", "40"]
            .map(|connections| cell(&[("target", "mine"), ("connections", connections)], LoadModel::Closed));
        let mut draft = draft("mine", "Is it fast?", &["target", "connections"], cells.into());
        (draft.blocks, draft.seed) = (Blocks { min: 4, max: 4 }, seed);
        conduct(draft.resolve().unwrap(), environment("mine"), &[Server::new("mine", service_us, 31.0)])
    }
    static RECORDED: LazyLock<[Recorded; 2]> = LazyLock::new(|| [run(5_900, 42), run(5_920, 43)]);
    let [mut old, new] = RECORDED.clone();
    old.environment.kernel = "6.1.0".to_owned();
    old.trials.retain(|trial| trial.cell == 0);
    let names = ("runs/2026-11-20-mine".to_owned(), "runs/2026-11-21-mine".to_owned());
    let gates = parse_gates("cpu_per_request<+3%").unwrap();
    let [old, new] = [&old, &new].map(Recorded::as_run);
    judge::compare_runs(old, new, names, judge::Terms { gates: &gates, ..judge::Terms::default() }).unwrap()
}
