//! Rates that are a share of what a closed load gets.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lab::{Prepared, RateError, RunFolder, TrialTools, settle_rates};
use model::{Arrivals, Level, LoadModel, Plan};

use crate::fakes::{FakeLauncher, create, load, plan};

/// Both cells on 10 connections asked at half of what a closed load gets: 1,000 a second, for a reply takes 10 ms.
fn at_half() -> Plan {
    let open = LoadModel::Open { rate_per_s: 0.0, arrivals: Arrivals::Constant };
    let mut plan = plan(1);
    for cell in &mut plan.cells[..2] {
        (cell.rate_share, cell.load.model) = (Some(0.5), open);
        cell.levels.0.insert("rate".to_owned(), Level::Text("50% of closed".to_owned()));
    }
    plan
}

fn settle(plan: &mut Plan, launcher: &FakeLauncher, stopped: bool) -> Result<(), RateError> {
    let (prepared, stop) = (Prepared::default(), AtomicBool::new(stopped));
    let tools = TrialTools { launcher, load: &load, prepared: &prepared, perf: &launcher.perf };
    settle_rates(plan, tools, Path::new("/dev/null"), &judge::settled_rate, &stop, &mut |_| {})
}

#[test]
fn a_rate_that_is_a_share_is_that_of_the_slowest_and_stays_when_a_run_goes_on() {
    let launcher = FakeLauncher::default();
    let mut plan = at_half();
    settle(&mut plan, &launcher, false).unwrap();
    let settled = &plan.relative_rates[0];
    assert_eq!(*launcher.launched.borrow(), ["a", "b"], "no cell with a rate of its own");
    assert_eq!(settled.closed_per_s.keys().collect::<Vec<_>>(), ["a", "b"]);
    let least = settled.closed_per_s.values().copied().fold(f64::INFINITY, f64::min);
    assert!((900.0..=1000.0).contains(&least), "{settled:?}");
    assert!(settled.rate_per_s <= least / 2.0 && settled.rate_per_s > least / 2.0 - 10.0, "{settled:?}");
    let rates: Vec<LoadModel> = plan.cells.iter().map(|cell| cell.load.model).collect();
    let open = LoadModel::Open { rate_per_s: settled.rate_per_s, arrivals: Arrivals::Constant };
    assert_eq!(rates, [open, open, LoadModel::Closed, LoadModel::Closed]);
    let runs = tempfile::tempdir().unwrap();
    let path = create(runs.path(), &plan).path().to_owned();
    assert_eq!(RunFolder::read(&path).unwrap().plan, plan);
}

#[test]
fn a_rate_is_a_share_of_what_those_that_run_serve() {
    let launcher = FakeLauncher { never_ready: Some("a"), ..FakeLauncher::default() };
    let mut plan = at_half();
    settle(&mut plan, &launcher, false).unwrap();
    assert_eq!(plan.relative_rates[0].closed_per_s.keys().collect::<Vec<_>>(), ["b"]);
    let mut alone = at_half();
    alone.cells.retain(|cell| cell.levels.target() == "a");
    let error = settle(&mut alone, &launcher, false).unwrap_err();
    assert_eq!(error.to_string(), "no rate can be a share of what nobody serves: a: it was not ready");
    assert_eq!(settle(&mut at_half(), &launcher, true), Err(RateError::Interrupted));
}
