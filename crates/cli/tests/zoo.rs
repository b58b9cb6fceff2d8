//! The servers of `targets/`: the table in targets/README.md, one target of each language, and all of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Json, Lab, repository};

/// Rewrites the table instead of comparing it.
const UPDATE: &str = "ZOO_UPDATE";

/// Of each language a target with one runtime, checked with every test and built where its files have changed since.
const ONE_OF_EACH: [&str; 6] = ["go-gin", "java-netty", "nginx", "node-http", "php-apache", "rust-axum"];

/// A lab in which the languages' own caches are those of the user, and bourdon's lies beside the tests: what was built from the same
/// files is not built again.
fn lab() -> Lab {
    let go = std::process::Command::new("go").args(["env", "GOCACHE"]).output();
    let cache = go.map(|output| String::from_utf8(output.stdout).unwrap().trim().to_owned()).unwrap_or_default();
    Lab::beside_others().env("GOCACHE", cache).env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/zoo"))
}

fn targets(document: &Json) -> Vec<Json> {
    document["targets"].as_array().unwrap().clone()
}

fn words(list: &Json) -> String {
    let words: Vec<&str> = list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    words.join(", ")
}

/// What `bourdon targets` says of each server, as targets/README.md shows it.
fn table() -> String {
    let document = Lab::beside_others().bourdon_in(&repository(), &["targets", "--format", "json"]).exits(0).json();
    let mut table = "| target | framework | runtimes | settings |\n|---|---|---|---|\n".to_owned();
    for target in targets(&document) {
        let text = |key: &str| target[key].as_str().unwrap().to_owned();
        let (runtimes, settings) = (words(&target["runtimes"]), words(&target["settings"]));
        table.push_str(&format!("| `{}` | {} | {runtimes} | {settings} |\n", text("name"), text("framework")));
    }
    table
}

#[test]
fn the_table_in_the_docs_is_the_zoo() {
    let path = repository().join("targets/README.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once("<!-- table -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- end -->").unwrap();
    if std::env::var_os(UPDATE).is_some() {
        let text = format!("{before}<!-- table -->\n{}<!-- end -->{after}", table());
        return std::fs::write(path, text).unwrap();
    }
    assert_eq!(shown, table(), "run `{UPDATE}=1 cargo test -p bourdon --test zoo` and read the change");
}

/// Checks targets with every runtime that can be had here; gives their names.
fn check(names: &[&str]) -> Vec<String> {
    let lab = lab();
    let arguments = [&["targets", "check"], names, &["--format", "json"]].concat();
    let outcome = lab.bourdon_in(&repository(), &arguments);
    lab.nothing_is_left();
    let (present, absent): (Vec<Json>, Vec<Json>) =
        targets(&outcome.json()).into_iter().partition(|target| target["absent"] == false);
    for target in absent {
        eprintln!("NOT TESTED: {} is absent here: {}", target["name"], target["state"]);
    }
    let failed: Vec<&Json> = present.iter().filter(|target| target["ok"] == false).collect();
    assert_eq!(failed, [] as [&Json; 0]);
    present.iter().map(|target| target["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_target_of_each_language_honours_the_contract() {
    let checked = check(&ONE_OF_EACH);
    println!("checked: {}", checked.join(", "));
}

/// `make test-zoo`: every target with every runtime, which needs every toolchain and some ten minutes.
#[test]
#[ignore = "needs every toolchain and some ten minutes: make test-zoo"]
fn the_whole_zoo_honours_the_contract() {
    let checked = check(&[]);
    println!("checked: {}", checked.join(", "));
    assert!(checked.len() >= 20, "most of the zoo must be here for this test to mean something: {checked:?}");
}
