//! Whether `bourdon compare` finds what was planted, and nothing else, on this machine as it is.
//!
//! - Sessions of the clean specimen against itself, alone and beside a hog that takes the target's CPU for 2 s in every 7, and
//!   against one that needs 2 % or 5 % more CPU a request, or whose p99 is a fifth higher.
//! - Sessions of a Go server that is built once for each of two revisions, from one source.
//! - Traps: sessions of the clean specimen against one that does something while others have their slices. The answer is right,
//!   or it is refused with the reason.
//! - Within one launch: the slices of a Go, a Node and a JVM server while another has slices between them, beside those while that
//!   one is stopped and, last, ended; and the ratio of two servers by slices of 250 ms and of twice that. All should be within 1 %.
//!
//! `make prove-rotation`, or `cargo bench -p bourdon --bench rotation -- [FOLDER] [SESSIONS] [KIND...]`: so many sessions of each
//! kind at most, of all kinds where none is named. Every session's record is kept in FOLDER, and beside it as KIND-NUMBER.json
//! what came of it; what is there is not made again, so that it can be interrupted and goes on, also from these files alone. No
//! session is left out or repeated. Under `cargo test` it makes one short session, so that it cannot rot; `SMOKE=1` makes all of
//! them short, to see that they work. A relative FOLDER is one of the repository.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

mod answer;
mod hog;
mod planted;
mod trap;
mod within;

use std::path::{Path, PathBuf};

use planted::{PLANTED, Planted};
use trap::TRAPS;
use within::WITHIN;

const BOURDON: &str = env!("CARGO_BIN_EXE_bourdon");

/// What is to be made.
struct Asked {
    folder: PathBuf,
    /// Of each kind, at most.
    sessions: usize,
    /// All where there is none.
    kinds: Vec<String>,
}

impl Asked {
    fn of(given: &[String]) -> Self {
        // Cargo runs it elsewhere.
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = repository.join(given.first().map_or("proof/revisions", String::as_str));
        let sessions = given.get(1).map_or(usize::MAX, |number| number.parse().unwrap());
        let kinds = given.get(2..).unwrap_or_default().to_vec();
        let within = WITHIN.iter().map(|kind| kind.name);
        let all: Vec<&str> = PLANTED.iter().chain(&TRAPS).map(|kind| kind.name).chain(within).collect();
        kinds.iter().for_each(|kind| assert!(all.contains(&kind.as_str()), "no {kind}; there are {all:?}"));
        Self { folder, sessions, kinds }
    }

    fn has(&self, name: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == name)
    }

    /// Those of a table that are to be made.
    fn among(&self, kinds: &'static [Planted]) -> Vec<&'static Planted> {
        kinds.iter().filter(|kind| self.has(kind.name)).collect()
    }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if std::env::args().any(|argument| argument == "--bench") {
        let asked = Asked::of(&given);
        std::fs::create_dir_all(&asked.folder).unwrap();
        // A session runs elsewhere.
        let asked = Asked { folder: asked.folder.canonicalize().unwrap(), ..asked };
        planted::prove(&asked);
        trap::prove(&asked);
        within::prove(&asked);
    } else {
        let folder = tempfile::tempdir().unwrap();
        let answer = PLANTED[0].session(0, folder.path(), &planted::SHORT).unwrap();
        assert!(PLANTED[0].session(0, folder.path(), &[]).is_some_and(|again| again == answer), "it is made once");
        std::fs::write(folder.path().join("itself-01.begun"), "").unwrap();
        assert_eq!(PLANTED[0].session(1, folder.path(), &[]), None, "what was interrupted is not made again");
        assert!(answer["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "{answer}");
    }
}

/// Whether sessions are to be short, to see that they work.
fn is_smoke() -> bool {
    std::env::var_os("SMOKE").is_some()
}
