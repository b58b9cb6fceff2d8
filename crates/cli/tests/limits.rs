//! What the system does not give: threads, processes, open files, room in the folder for temporary files. Each is an
//! error with its cause and cure, and nothing is left behind.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Lab, is_root};

#[test]
fn a_load_without_threads_says_so() {
    if !is_root() {
        return;
    }
    for processes in 1..=3 {
        let lab = Lab::new().with_processes(processes);
        let said = lab.bourdon(&["load", "http://127.0.0.1:9", "-t", "3", "-c", "3", "-d", "100ms"]).exits(4);
        assert!(!said.stderr.contains("panicked"), "{said:?}");
        said.says(&["error: a generator thread cannot be started", "use fewer threads (-t)", "ulimit -u"]);
    }
}

#[test]
fn too_few_open_files_for_one_connection_are_not_cured_by_fewer() {
    let lab = Lab::new().through("prlimit --nofile=64");
    let said = lab.bourdon(&["load", "http://127.0.0.1:9", "-c", "1"]).exits(2);
    assert!(!said.stderr.contains("-c 0"), "{said:?}");
    said.says(&["1 connection needs 65 open files, and 64 are allowed here; raise the limit (ulimit -Hn"]);
    drop(lab);
    let lab = Lab::new().through("prlimit --nofile=80");
    lab.bourdon(&["load", "http://127.0.0.1:9", "-c", "17"]).exits(2).says(&["use at most -c 16, or raise"]);
}
