//! The scripts beside the program: `make setup`, and what a CI job runs, each with fakes of what it calls.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// A program of that name which does this.
fn fake(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn without_root_and_packages_it_says_what_is_missing_and_ends_well() {
    let tools = tempfile::tempdir().unwrap();
    fake(tools.path(), "id", "echo 1000");
    for tool in ["sh", "dirname"] {
        let found = ["/bin", "/usr/bin"].map(|folder| std::path::Path::new(folder).join(tool));
        symlink(found.iter().find(|path| path.exists()).unwrap(), tools.path().join(tool)).unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../targets/setup.sh");
    let output = Command::new("sh").arg(script).env("PATH", tools.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for words in [
        "missing for bourdon: Rust, https://rustup.rs",
        "missing for the Java targets: apt-get install maven (needs root and Debian's packages)",
        "missing for the Go targets: Go 1.26 or newer, https://go.dev/dl",
        "missing for the Node targets: Node 20",
    ] {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
    assert!(!said.contains("installing"), "{said}");
}

#[test]
fn an_undecided_gate_passes_the_job_only_where_it_may_and_the_status_is_bourdons() {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "bourdon", "echo \"$@\"; exit \"$STATUS\"");
    let job = |status: &str, gate: &str, undecided: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci/compare.sh");
        let mut job = Command::new("sh");
        job.arg(script).current_dir(folder.path()).env("BOURDON", folder.path().join("bourdon"));
        job.env("BOURDON_RUN", "./server").env("STATUS", status).env_remove("GITHUB_STEP_SUMMARY");
        let ended = job.env("BOURDON_GATE", gate).env("BOURDON_UNDECIDED", undecided).output().unwrap();
        let asked = String::from_utf8(ended.stdout).unwrap().contains(" --allow-undecided ");
        (asked, ended.status.code())
    };
    for status in [0, 1, 2, 3, 4, 130] {
        let ended = ["", "fail", "pass"].map(|undecided| job(&status.to_string(), "p50<+10%", undecided));
        assert_eq!(ended, [false, false, true].map(|asked| (asked, Some(status))));
    }
    assert_eq!(job("3", "", "pass"), (false, Some(3)), "without a gate none can be undecided");
}

#[test]
fn the_job_makes_pages_of_its_runs_where_a_folder_is_named_and_keeps_the_status_of_the_comparison() {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "bourdon", "echo \"$@\" >> asked; [ \"$1\" = compare ]");
    let job = |site: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci/compare.sh");
        let mut job = Command::new("sh");
        job.arg(script).current_dir(folder.path()).env("BOURDON", folder.path().join("bourdon"));
        job.env("BOURDON_RUN", "./server").env("BOURDON_SITE", site).env_remove("GITHUB_STEP_SUMMARY");
        let status = job.output().unwrap().status.code();
        let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
        std::fs::remove_file(folder.path().join("asked")).unwrap();
        (status, asked.lines().nth(1).map(str::to_owned))
    };
    assert_eq!(job(""), (Some(0), None));
    assert_eq!(job("public"), (Some(0), Some("site runs -o public".to_owned())));
}
