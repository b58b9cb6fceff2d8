//! Sessions of two servers whose difference is known: revisions of one repository that differ in how their server is set up, each with a program
//! file of its own, as whoever builds both has.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::hog::Hog;
use crate::{Asked, BOURDON, answer, is_smoke};

/// What the planted work comes to is measured over so long, beforehand.
const TRUTH: Duration = Duration::from_mins(20);

/// The two revisions.
const OLD: &str = "old";
const NEW: &str = "new";

/// A Go server of some 70 µs of CPU a request: it computes, allocates and writes JSON.
const GO_SERVER: &str = r#"package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		table := make([]uint32, 1024)
		sum := uint32(2166136261)
		for i := 0; i < 25000; i++ {
			sum = (sum ^ uint32(i)) * 16777619
			table[sum%1024] += sum
		}
		json.NewEncoder(w).Encode(map[string]any{"sum": sum, "table": table[:16]})
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
"#;

/// As short as a session can be.
pub(crate) const SHORT: [&str; 6] = ["--duration", "500ms", "--warm-up", "0s", "--blocks", "1"];

/// What a revision is built to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// A copy of bourdon, which serves as its specimens.
    Copy,
    /// What the Go compiler makes of [`GO_SERVER`], once for each revision.
    Go,
}

/// A kind of session: two specimens, each with its settings, under one load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
    /// The metric that the session is about.
    pub(crate) primary: &'static str,
    /// What else `compare` is given.
    pub(crate) load: &'static [&'static str],
    /// Whether it has a truth to be measured beforehand.
    pub(crate) measured: bool,
    pub(crate) hog: bool,
    pub(crate) sessions: usize,
}

/// Both compute 40,000 rounds for each request, which takes some 50 µs of CPU.
const ITSELF: Planted = Planted {
    name: "itself",
    program: Program::Copy,
    old: "WORK=40000 clean",
    new: "WORK=40000 clean",
    primary: "cpu_per_request",
    load: &[],
    measured: false,
    hog: false,
    sessions: 40,
};

pub(crate) const PLANTED: [Planted; 6] = [
    ITSELF,
    Planted { name: "itself-beside-a-hog", hog: true, ..ITSELF },
    Planted { name: "two-percent", new: "WORK=40800 clean", measured: true, sessions: 20, ..ITSELF },
    Planted { name: "five-percent", new: "WORK=42000 clean", measured: true, sessions: 20, ..ITSELF },
    // One request in 50 is late, which is what the p99 is of; the rate is about half of what one CPU can serve.
    Planted {
        name: "p99-twenty-percent",
        old: "WORK=40000 EVERY=50 HANDLER_DELAY=10ms late-replies",
        new: "WORK=40000 EVERY=50 HANDLER_DELAY=12ms late-replies",
        primary: "p99",
        load: &["--rate", "6000"],
        sessions: 10,
        ..ITSELF
    },
    Planted { name: "two-builds", program: Program::Go, old: "one", new: "one", ..ITSELF },
];

pub(crate) fn prove(asked: &Asked) {
    let kinds = asked.among(&PLANTED);
    for planted in kinds.iter().filter(|planted| planted.measured) {
        println!("{}: {:.4} is the true ratio of CPU per request", planted.name, planted.truth(&asked.folder));
    }
    if !kinds.is_empty() {
        println!(
            "\n| planted | sessions | called different | worse by the primary | the same by it | median half width | median time |"
        );
        println!("|---|---|---|---|---|---|---|");
    }
    for planted in kinds {
        println!("{}", planted.told(&planted.sessions(asked)));
    }
}

impl Planted {
    /// Those that are asked for; none of what was interrupted.
    pub(crate) fn sessions(&self, asked: &Asked) -> Vec<Option<Value>> {
        let options: &[&str] = if is_smoke() { &SHORT } else { &[] };
        (0..self.sessions.min(asked.sessions)).map(|number| self.session(number, &asked.folder, options)).collect()
    }

    /// What the planted work comes to: the CPU of two servers by their own clocks, as closed loads alternate between them for a
    /// long time. It is measured once.
    fn truth(&self, folder: &Path) -> f64 {
        let session = folder.join(format!("{}-truth", self.name));
        let window = format!("{}s", TRUTH.as_secs() / 2 / 6);
        let options = if is_smoke() { SHORT } else { ["--duration", &window, "--warm-up", "1s", "--blocks", "6"] };
        let measure = || answer::of_comparison(&self.compare(&session, &options), &session);
        let answer = answer::kept(&session.with_extension("json"), measure);
        self.primary(&answer)["ratio"]["estimate"].as_f64().unwrap()
    }

    /// One session; what came of it is kept beside its record.
    pub(crate) fn session(&self, number: usize, folder: &Path, options: &[&str]) -> Option<Value> {
        let session = folder.join(format!("{}-{number:02}", self.name));
        answer::once(&session, || {
            let hog = self.hog.then(Hog::start);
            let answer = self.compare(&session, options);
            drop(hog);
            answer::of_comparison(&answer, &session)
        })
    }

    fn compare(&self, runs: &Path, options: &[&str]) -> Value {
        let repository = self.repository();
        let mut command = Command::new(BOURDON);
        let copy = format!("cp {BOURDON} server");
        let (build, run) = match self.program {
            Program::Copy => (copy.as_str(), "sh serve ./server"),
            Program::Go => ("go build -o server .", "./server"),
        };
        command.current_dir(&repository).args(["compare", "--rev", OLD, "--rev", NEW, "--build", build, "--run", run]);
        command.args(["--path", "/rest/hello", "--ready", "/ping", "--primary", self.primary]).args(self.load);
        command.args(["--format", "json", "--runs"]).arg(runs).args(options).stderr(Stdio::null());
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command:?}: {}: {error}", output.status))
    }

    /// A repository with both servers, which goes with it.
    fn repository(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let as_somebody = ["-c", "user.name=bourdon", "-c", "user.email=bourdon@localhost"];
            let output = Command::new("git").args(as_somebody).args(arguments).current_dir(&folder).output().unwrap();
            assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        git(&["init", "--quiet"]);
        for (tag, written) in [(OLD, self.old), (NEW, self.new)] {
            let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
            match self.program {
                Program::Copy => {
                    let (settings, specimen) = written.rsplit_once(' ').unwrap();
                    write("serve", &format!("exec env {settings} \"$1\" specimen {specimen}\n"));
                }
                Program::Go => {
                    write("go.mod", "module server\n\ngo 1.21\n");
                    write("main.go", GO_SERVER);
                }
            }
            git(&["add", "."]);
            git(&["commit", "--quiet", "--allow-empty", "--message", written]);
            git(&["tag", tag]);
        }
        folder
    }

    /// What was found of the primary metric.
    pub(crate) fn primary<'a>(&self, answer: &'a Value) -> &'a Value {
        answer["rows"].as_array().unwrap().iter().find(|row| row["metric"] == self.primary).unwrap()
    }

    fn told(&self, sessions: &[Option<Value>]) -> String {
        let answers: Vec<&Value> = sessions.iter().flatten().collect();
        let count = match sessions.len() - answers.len() {
            0 => sessions.len().to_string(),
            interrupted => format!("{} ({interrupted} interrupted)", sessions.len()),
        };
        let is_different = |row: &Value| row["verdict"] == "slower" || row["verdict"] == "faster";
        let any = |answer: &&&Value| answer["rows"].as_array().unwrap().iter().any(is_different);
        let different = answers.iter().filter(any).count();
        let came_to =
            |verdict: &str| answers.iter().filter(|answer| self.primary(answer)["verdict"] == verdict).count();
        let (worse, same) = (came_to("slower"), came_to("same"));
        let half_width = |answer: &&Value| {
            let ratio = &self.primary(answer)["ratio"];
            (ratio["high"].as_f64().unwrap_or(f64::INFINITY) / ratio["low"].as_f64().unwrap_or(0.0)).ln() / 2.0
        };
        let widths = median(answers.iter().map(half_width));
        let times = median(answers.iter().map(|answer| answer["elapsed_s"].as_f64().unwrap_or(f64::NAN)));
        format!(
            "| {} | {count} | {different} | {worse} | {same} | ± {:.2} % | {times:.0} s |",
            self.name,
            widths.exp_m1() * 100.0
        )
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle =
        [values.len().saturating_sub(1) / 2, values.len() / 2].map(|at| values.get(at).copied().unwrap_or(f64::NAN));
    (middle[0] + middle[1]) / 2.0
}
