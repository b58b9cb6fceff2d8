//! docs/COVERAGE.md names the claims that try what the articles say: all of them, and none that does not exist.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::collections::BTreeSet;

use run_support::repository;

/// Every claim of the experiments, as `experiment/claim`.
fn claims() -> BTreeSet<String> {
    let files = std::fs::read_dir(repository().join("experiments")).unwrap().map(|entry| entry.unwrap().path());
    let named = |file: std::path::PathBuf| {
        let experiment = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let table: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        let claims = table["claim"].as_array().unwrap().clone();
        claims.into_iter().map(move |claim| format!("{experiment}/{}", claim["name"].as_str().unwrap()))
    };
    files.flat_map(named).collect()
}

/// What stands between backticks and has the form of a claim.
fn named(page: &str) -> BTreeSet<String> {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
    };
    let is_claim =
        |text: &&str| text.split_once('/').is_some_and(|(experiment, claim)| is_word(experiment) && is_word(claim));
    page.split('`').skip(1).step_by(2).filter(is_claim).map(str::to_owned).collect()
}

#[test]
fn the_page_names_every_claim_and_none_that_does_not_exist() {
    let page = std::fs::read_to_string(repository().join("docs/COVERAGE.md")).unwrap();
    // The page's words for the form.
    let others = ["experiment/claim"].map(str::to_owned).into();
    let (said, there) = (named(&page), claims());
    let unknown: Vec<&String> = said.difference(&there).filter(|name| !BTreeSet::contains(&others, *name)).collect();
    assert_eq!(unknown, [] as [&String; 0], "no experiment has these claims");
    let missing: Vec<&String> = there.difference(&said).collect();
    assert_eq!(missing, [] as [&String; 0], "no row has these claims");
}

#[test]
fn a_claim_is_told_from_a_path() {
    let page = "`timeouts/1.10-doubles-it`, `crates/cli/tests/x.rs`, `/metrics` and `a b/c`";
    assert_eq!(named(page), BTreeSet::from(["timeouts/1.10-doubles-it".to_owned()]));
}
