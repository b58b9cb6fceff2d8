//! Whether `bourdon diagnose`, or `soak`, names what was planted in servers of several languages, proves it, and says nothing else.
//!
//! Each case is a server whose faults and sizes are drawn from its class, runtime and number; the diagnosis knows its command alone. What
//! came of it is kept in FOLDER as CLASS-RUNTIME-NUMBER.json: what is there is not made again, so that the matrix can be interrupted and
//! goes on. `make diagnose-live`, or `cargo bench -p bourdon --bench blind -- FOLDER CASES RUNTIMES [CLASS...]`: so many cases of each class
//! and runtime; of `soak-healthy` and `soak-leak`, which take minutes each, where they are named. Under `cargo test` it makes one case on a specimen, so that it cannot rot.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

mod around;
mod baseline;
mod cases;
#[path = "../rotation/hog.rs"]
mod hog;
mod score;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use around::Surroundings;
use cases::{CLASSES, Case, is_soak};
use serde_json::{Value, json};

const BOURDON: &str = env!("CARGO_BIN_EXE_bourdon");

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if !std::env::args().any(|argument| argument == "--bench") {
        return smoke();
    }
    // Cargo runs it elsewhere.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = repository.join(given.first().map_or("proof/diagnosis", String::as_str));
    let cases: usize = given.get(1).map_or(1, |number| number.parse().unwrap());
    let runtimes: Vec<&str> = given.get(2).map_or(cases::ALL.to_vec(), |names| names.split(',').collect());
    let classes = given.get(3..).unwrap_or_default();
    std::fs::create_dir_all(&folder).unwrap();
    let servers = Servers::build(&folder, &runtimes);
    // One of each before the second of any: whoever interrupts it has some of all.
    for number in 0..cases {
        for (class, can) in CLASSES.iter().filter(|(class, _)| {
            if classes.is_empty() { !is_soak(class) } else { classes.iter().any(|it| it == class) }
        }) {
            for runtime in can.iter().filter(|runtime| runtimes.contains(runtime)) {
                let file = folder.join(format!("{class}-{runtime}-{number:03}.json"));
                if !file.exists() {
                    let kept = servers.diagnose(class, runtime, number);
                    std::fs::write(&file, format!("{kept}\n")).unwrap();
                    println!("{}: {}", file.file_stem().unwrap().to_string_lossy(), score::sentence(&kept));
                }
            }
        }
    }
    println!("{}", score::matrix(&folder));
}

/// The servers that are diagnosed.
struct Servers {
    root: PathBuf,
    folder: PathBuf,
}

impl Servers {
    fn build(folder: &Path, runtimes: &[&str]) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../blind").canonicalize().unwrap();
        let folder = folder.canonicalize().unwrap();
        let servers = Self { root, folder };
        if runtimes.contains(&"go") {
            let mut build = Command::new("go");
            build.args(["build", "-o"]).arg(servers.built("go")).arg(".").current_dir(servers.root.join("go"));
            assert!(build.status().unwrap().success(), "blind/go does not build");
        }
        if runtimes.contains(&"java") {
            let mut build = Command::new("javac");
            build.arg("-d").arg(servers.built("java")).arg(servers.root.join("java/Blind.java"));
            assert!(build.status().unwrap().success(), "blind/java does not build");
        }
        if runtimes.contains(&"rust") {
            let mut build = Command::new("rustc");
            build.args(["--edition", "2024", "-O", "-o"]).arg(servers.built("rust"));
            build.arg(servers.root.join("rust/main.rs"));
            assert!(build.status().unwrap().success(), "blind/rust does not build");
        }
        servers
    }

    fn built(&self, runtime: &str) -> PathBuf {
        std::env::temp_dir().join(format!("bourdon-blind-{runtime}"))
    }

    fn command(&self, runtime: &str) -> String {
        match runtime {
            "go" | "rust" => self.built(runtime).display().to_string(),
            "node" => format!("node {}", self.root.join("node/server.mjs").display()),
            "python" => format!("python3 {}", self.root.join("python/server.py").display()),
            "java" => format!("java -cp {} Blind", self.built("java").display()),
            other => panic!("no runtime {other}"),
        }
    }

    fn diagnose(&self, class: &str, runtime: &'static str, number: usize) -> Value {
        let case = Case::draw(class, runtime, number);
        let settings: Vec<String> = case.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let surroundings = Surroundings::of(case.around);
        let run = surroundings.command(format!("env {} {}", settings.join(" "), self.command(runtime)));
        let runs = self.folder.join("runs");
        let upstream = surroundings.upstream().map(|address| address.to_string());
        let asks = upstream.iter().flat_map(|address| ["--upstream", address]);
        let options: Vec<&str> = case.options.iter().copied().chain(asks).collect();
        let answer = asked(case.command, &run, &runs, &options);
        let _ = std::fs::remove_dir_all(&runs);
        let mut kept = json!({ "class": class, "number": number, "case": case.to_json() });
        kept["answer"] = score::kept(&answer);
        kept["score"] = score::score(&case, &answer);
        if case.command == "diagnose" {
            kept["baseline"] = baseline::of(&case, &run, surroundings.upstream());
        }
        kept
    }
}

/// What a diagnosis, or a soak, of a server comes to.
fn asked(what: &str, run: &str, runs: &Path, options: &[&str]) -> Value {
    let mut command = Command::new(BOURDON);
    command.args([what, "--run", run, "--format", "json", "--runs"]).arg(runs).args(options).stderr(Stdio::null());
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command:?}: {}: {error}", output.status))
}

fn smoke() {
    let folder = tempfile::tempdir().unwrap();
    let run = format!("env HANDLER_DELAY=20ms WORKERS=3 {BOURDON} specimen pool");
    // Where others use the machine little is concluded, and rightly so.
    let scored = (0..3).map(|_| {
        let answer = asked("diagnose", &run, folder.path(), &["--duration", "500ms", "--warm-up", "100ms"]);
        let planted = vec![cases::Planted { suspect: "limit", value: Some(3.0) }];
        score::score(
            &Case {
                runtime: "rust",
                command: "diagnose",
                settings: Vec::new(),
                options: Vec::new(),
                planted,
                around: cases::Around::Nothing,
            },
            &answer,
        )
    });
    let mut all: Vec<Value> = Vec::new();
    for score in scored {
        let is_found = score["found"] == 1;
        all.push(score);
        if is_found {
            break;
        }
    }
    assert!(
        all.iter().any(|score| score["found"] == 1) && all.iter().all(|score| score["false"] == json!([])),
        "{all:?}"
    );
}
