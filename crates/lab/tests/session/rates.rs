//! Rates that are a share of what a closed load gets.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lab::{Prepared, RateError, RunFolder, TrialTools, settle_rates};
use model::{Arrivals, Draft, Level, LoadModel};

use crate::fakes::{FakeLauncher, create, draft, load};

/// Both cells on 10 connections asked at half of what a closed load gets: 1,000 a second, for a reply takes 10 ms.
fn at_half() -> Draft {
    let mut draft = draft(1);
    for cell in &mut draft.cells[..2] {
        cell.rate_share = Some(0.5);
        cell.levels.0.insert("rate".to_owned(), Level::Text("50% of closed".to_owned()));
        draft.arrivals.insert(cell.levels.conditions(), Arrivals::Poisson);
    }
    draft
}

fn settle(draft: Draft, launcher: &FakeLauncher, stopped: bool) -> Result<Draft, RateError> {
    let (prepared, stop) = (Prepared::default(), AtomicBool::new(stopped));
    let tools = TrialTools { launcher, load: &load, prepared: &prepared, perf: &launcher.perf };
    settle_rates(draft, tools, Path::new("/dev/null"), &judge::settled_rate, &stop, &mut |_| {})
}

#[test]
fn a_rate_that_is_a_share_is_that_of_the_slowest_and_stays_when_a_run_goes_on() {
    let launcher = FakeLauncher::default();
    let refused = at_half().resolve().unwrap_err().to_string();
    assert_eq!(refused, "cell 1: its rate is a share of capacity, which is not measured yet");
    let plan = settle(at_half(), &launcher, false).unwrap().resolve().unwrap();
    let settled = &plan.relative_rates[0];
    assert_eq!(*launcher.launched.borrow(), ["a", "b"], "no cell with a rate of its own");
    assert_eq!(settled.closed_per_s.keys().collect::<Vec<_>>(), ["a", "b"]);
    let least = settled.closed_per_s.values().copied().fold(f64::INFINITY, f64::min);
    assert!((900.0..=1000.0).contains(&least), "{settled:?}");
    assert!(settled.rate_per_s <= least / 2.0 && settled.rate_per_s > least / 2.0 - 10.0, "{settled:?}");
    let rates: Vec<LoadModel> = plan.cells.iter().map(|cell| cell.load.model).collect();
    let open = LoadModel::Open { rate_per_s: settled.rate_per_s, arrivals: Arrivals::Poisson };
    assert_eq!(rates, [open, open, LoadModel::Closed, LoadModel::Closed]);
    let runs = tempfile::tempdir().unwrap();
    let path = create(runs.path(), &plan).path().to_owned();
    assert_eq!(RunFolder::read(&path).unwrap().plan, plan);
}

#[test]
fn a_rate_is_a_share_of_what_those_that_run_serve() {
    let launcher = FakeLauncher { never_ready: Some("a"), ..FakeLauncher::default() };
    let plan = settle(at_half(), &launcher, false).unwrap();
    assert_eq!(plan.relative_rates[0].closed_per_s.keys().collect::<Vec<_>>(), ["b"]);
    let mut alone = at_half();
    alone.cells.retain(|cell| cell.levels.target() == "a");
    let error = settle(alone, &launcher, false).unwrap_err();
    assert_eq!(error.to_string(), "no rate can be a share of what nobody serves: a: it was not ready");
    assert_eq!(settle(at_half(), &launcher, true), Err(RateError::Interrupted));
}
