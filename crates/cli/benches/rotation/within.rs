//! Sessions of one launch each, in which the same servers take slices under two conditions in turn: A's with its neighbour alive
//! and with it stopped, and at last ended; or those of two servers, of one length and of twice that.

mod processes;
mod turns;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use judge::statistics::{geometric_interval, geometric_mean};
use judge::thresholds::CONFIDENCE;
use lab::{Builder, Perf, ProcessLauncher, RunFolder, RunRecord, Session, TrialTools, prepare};
use model::{Slice, TrialRecord};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{Asked, BOURDON, answer};
use processes::Processes;
use turns::{Condition, Once, Steps};

/// A kind of session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within {
    pub(crate) name: &'static str,
    /// Targets of the zoo, or where there is none specimens with their settings; A is the first.
    targets: [&'static str; 2],
    is_zoo: bool,
    /// The two conditions whose ratio is asked for, and one that comes last.
    conditions: [Condition; 2],
    last: Option<Condition>,
    sessions: usize,
}

const ALIVE: Within = Within {
    name: "go-beside-a-neighbour",
    targets: ["go-net-http", "go-gin"],
    is_zoo: true,
    conditions: [Condition::Alive, Condition::Stopped],
    last: Some(Condition::Ended),
    sessions: 12,
};

pub(crate) const WITHIN: [Within; 4] = [
    ALIVE,
    Within { name: "node-beside-a-neighbour", targets: ["node-http", "node-fastify"], ..ALIVE },
    Within { name: "jvm-beside-a-neighbour", targets: ["java-netty", "java-tomcat"], ..ALIVE },
    Within {
        name: "slices-twice-as-long",
        targets: ["WORK=40000 clean", "WORK=42000 clean"],
        is_zoo: false,
        conditions: [Condition::TwiceAsLong, Condition::Alive],
        last: None,
        sessions: 12,
    },
];

/// What is compared of a slice, and how it is read from it.
type Read = fn(&Slice) -> Option<f64>;

const METRICS: [(&str, Read); 4] = [
    ("throughput", |slice| Some(slice.completed as f64 / slice.window_s)),
    ("CPU per request", |slice| Some((slice.cpu_s + slice.put_off_s()) / slice.replies as f64)),
    ("p50", |slice| slice.p50_us),
    ("p99", |slice| slice.p99_us),
];

pub(crate) fn prove(asked: &Asked) {
    let kinds: Vec<&Within> = WITHIN.iter().filter(|kind| asked.has(kind.name)).collect();
    if !kinds.is_empty() {
        println!("\n| within one launch | ratio of | launches | throughput | CPU per request | p50 | p99 |");
        println!("|---|---|---|---|---|---|---|");
    }
    for kind in kinds {
        let made = 0..kind.sessions.min(asked.sessions);
        let answers: Vec<Value> = made.map(|number| kind.session(number, &asked.folder)).collect();
        for asked in kind.asked() {
            let told = METRICS.map(|(metric, _)| told(&answers, &asked, metric));
            println!("| {} | {asked} | {} | {} |", kind.name, answers.len(), told.join(" | "));
        }
    }
}

/// A ratio over all sessions: the launch is the unit. It is unknown of one in which a slice lacks the value.
fn told(answers: &[Value], asked: &str, metric: &str) -> String {
    let ratios: Vec<f64> = answers.iter().filter_map(|answer| answer[asked][metric].as_f64()).collect();
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let told = match (geometric_interval(&ratios, CONFIDENCE), ratios.first()) {
        (Some(all), _) => {
            format!("{:+.2} % ({:+.2} to {:+.2})", percent(all.estimate), percent(all.low), percent(all.high))
        }
        (None, Some(one)) => format!("{:+.2} %", percent(*one)),
        (None, None) => "-".to_owned(),
    };
    let unknown = answers.len() - ratios.len();
    if unknown == 0 { told } else { format!("{told}, unknown in {unknown}") }
}

impl Within {
    /// The ratios that a session gives.
    fn asked(&self) -> Vec<String> {
        let [first, second] = self.conditions;
        let last = self.last.map(|last| format!("{last} ÷ {second}"));
        [format!("{first} ÷ {second}")].into_iter().chain(last).collect()
    }

    /// One session; what came of it is kept beside its record.
    fn session(&self, number: usize, folder: &Path) -> Value {
        let session = folder.join(format!("{}-{number:02}", self.name));
        answer::kept(&session.with_extension("json"), || {
            let steps = Steps::new(self.conditions, self.last, &self.plan(folder).plan);
            self.answer(&steps, &self.rotate(&steps, &session, folder))
        })
    }

    /// The plan of both targets, as a short run has recorded it; that is made once.
    fn plan(&self, folder: &Path) -> RunRecord {
        let runs = folder.join(format!("{}-plan", self.name));
        let recorded =
            || std::fs::read_dir(&runs).ok()?.flatten().find_map(|entry| RunFolder::read(&entry.path()).ok());
        if let Some(record) = recorded().filter(|record| !record.trials.is_empty()) {
            return record;
        }
        std::fs::create_dir_all(&runs).unwrap();
        let file = runs.join("experiment.toml");
        std::fs::write(&file, self.experiment()).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut command = Command::new(BOURDON);
        command.current_dir(root).env("XDG_CACHE_HOME", absolute(folder).join("cache"));
        command.args(["run", "--format", "json", "--runs"]).arg(absolute(&runs)).arg(absolute(&file));
        let output = command.stdout(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
        recorded().unwrap_or_else(|| panic!("{command:?}: {}", output.status))
    }

    fn experiment(&self) -> String {
        let name = |at: usize| if self.is_zoo { self.targets[at].to_owned() } else { format!("specimen-{at}") };
        let table = |(at, written): (usize, &&str)| {
            let (settings, specimen) = written.rsplit_once(' ')?;
            let run = format!("env {settings} {BOURDON} specimen {specimen}");
            Some(format!("[[target]]\nname = '{}'\nready = '/ping'\nrun = '{run}'\n", name(at)))
        };
        let tables: String = self.targets.iter().enumerate().filter_map(table).collect();
        format!(
            "question = \"Is a slice what it would be alone?\"\n\
             load = {{ path = \"/rest/hello\", connections = 50 }}\n\
             trials = {{ warm_up = \"1s\", window = \"500ms\", blocks = 1 }}\n\
             {tables}[vary]\ntarget = ['{}', '{}']\n",
            name(0),
            name(1)
        )
    }

    /// Carries the turns out; what each of them needs of B is done at the edge before it.
    fn rotate(&self, steps: &Steps, runs: &Path, folder: &Path) -> Vec<TrialRecord> {
        let (record, stop) = (self.plan(folder), AtomicBool::new(false));
        let builder = Builder::new(absolute(folder).join("cache/bourdon/targets"), PathBuf::from(BOURDON));
        let prepared = prepare(&record.plan, &BTreeMap::new(), &builder, &stop, &mut |_| ());
        let (launcher, perf) = (ProcessLauncher::new(PathBuf::from(BOURDON)), Perf::default());
        let (taken, neighbour) = (Cell::new(0), RefCell::new(None));
        let rotate: lab::Rotator<'_> = &|servers, options, stop, next, progress| {
            *neighbour.borrow_mut() = Some(Processes::told(servers[1].address.port()));
            let mut next_prepared = |sliced| {
                let slice = next(sliced);
                // A turn begins with a load that counts nowhere.
                if slice.as_ref().is_some_and(|slice| !slice.counts) {
                    let signal = steps.before(taken.replace(taken.get() + 1));
                    signal.into_iter().for_each(|signal: Signal| neighbour.borrow().as_ref().unwrap().send(signal));
                }
                slice
            };
            engine::rotate(servers, options, stop, &mut next_prepared, progress)
        };
        let tools = TrialTools { launcher: &launcher, load: &engine::run, rotate, prepared: &prepared, perf: &perf };
        let mut kept = RunFolder::create(runs, self.name, &record.plan, &record.environment).unwrap();
        let session = Session { plan: record.plan, folder: &mut kept, done: vec![], tools, keep_going: true };
        session.run(&mut Once::new(steps), &stop, &mut |_| ()).unwrap().trials
    }

    /// Its ratios of each metric, those of A, or where both are under load in both conditions those of B ÷ A.
    fn answer(&self, steps: &Steps, trials: &[TrialRecord]) -> Value {
        let a_failed = trials[0].failure.as_ref();
        assert!(a_failed.is_none(), "{}: {a_failed:?}", self.name);
        let value = |condition: Condition, read: Read| {
            let of = |trial: &TrialRecord| {
                let slices = trial.slices.iter().filter(|slice| steps.condition(slice.round) == Some(condition));
                geometric_mean(&slices.map(read).collect::<Option<Vec<f64>>>()?)
            };
            let own = of(&trials[0])?;
            if self.is_zoo { Some(own) } else { Some(of(&trials[1])? / own) }
        };
        let [first, second] = self.conditions;
        let ratios = |condition| -> Value {
            let ratio = |read| Some(value(condition, read)? / value(second, read)?);
            METRICS.iter().map(|(metric, read)| ((*metric).to_owned(), json!(ratio(*read)))).collect()
        };
        let conditions = [first].into_iter().chain(self.last);
        self.asked().into_iter().zip(conditions.map(ratios)).collect()
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap()
}
