//! `make setup`, which `make test` runs: without root and without packages it says what is missing and goes on.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

#[test]
fn without_root_and_packages_it_says_what_is_missing_and_ends_well() {
    let tools = tempfile::tempdir().unwrap();
    let id = tools.path().join("id");
    std::fs::write(&id, "#!/bin/sh\necho 1000\n").unwrap();
    std::fs::set_permissions(&id, PermissionsExt::from_mode(0o755)).unwrap();
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
