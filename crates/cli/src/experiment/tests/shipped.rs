//! The experiments of this repository against its own targets.

use std::fs;
use std::path::PathBuf;

use super::*;
use model::{CellPlan, NS_PER_S};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The `target.toml` files below a folder.
fn target_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            target_files(&path, files);
        } else if path.ends_with("target.toml") {
            files.push(path);
        }
    }
}

fn shipped_zoo() -> Vec<Target> {
    let mut files = Vec::new();
    target_files(&root().join("targets"), &mut files);
    files.sort();
    let read = |file: &PathBuf| {
        let source = Source { name: file.display().to_string(), text: fs::read_to_string(file).unwrap() };
        target(&source, file.parent().unwrap()).unwrap_or_else(|error| panic!("{error}"))
    };
    files.iter().map(read).collect()
}

/// A shipped experiment, resolved for two CPUs.
pub(super) fn shipped(name: &str, quick: bool) -> Draft {
    let path = root().join(format!("experiments/{name}.toml"));
    let source = Source { name: path.display().to_string(), text: fs::read_to_string(&path).unwrap() };
    let (zoo, base) = (shipped_zoo(), root().join("experiments"));
    let machine = Machine { cpus: 2 };
    with(|options| plan(&source, &Options { quick, zoo: &zoo, machine, base: &base, ..*options }))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn business_latency(quick: bool) -> Draft {
    shipped("business-latency", quick)
}

/// Seconds that a trial takes beside its warm-up and window: to start; for each connection, to open it and to work off
/// what was asked on it; and on a ladder to settle. From the 601 trials of all quick forms (2026-11-21, 2 cores), each
/// of which comes out within a quarter of what it took: a PHP server with 5,000 connections took 6.7 s beside its load,
/// a JVM with 300 2.2 s, a Go server with 100 0.3 s; and a Go server with 5,000 (2026-11-27) 1.4 s.
fn beside_s(plan: &Draft, cell: &CellPlan) -> f64 {
    let target = plan.target(cell.levels.target()).unwrap();
    let (start_s, connection_s) = match target.language.as_str() {
        "java" => (1.8, 0.0002),
        "php" => (1.0, 0.001),
        "node" => (0.4, 0.0002),
        _ => (0.2, 0.0002),
    };
    let settle_s = if plan.ladder.is_some() { 1.0 } else { 0.0 };
    start_s + f64::from(cell.load.connections) * connection_s + settle_s
}

/// Seconds that a run takes on a machine that nothing disturbs, so that no block is repeated: its blocks, and before
/// them the closed loads by which rates are settled.
fn takes_s(plan: &Draft) -> f64 {
    let trial_s = |cell: &CellPlan| {
        (cell.load.warm_up_ns + cell.load.window_ns()) as f64 / NS_PER_S as f64 + beside_s(plan, cell)
    };
    let cells = || plan.cells.iter();
    let twin_s = judge::cell_for_twin(plan).map_or(0.0, |cell| trial_s(&plan.cells[cell]));
    let block_s = cells().map(trial_s).sum::<f64>() + twin_s;
    let settling_s: f64 = cells().filter(|cell| cell.rate_share.is_some()).map(trial_s).sum();
    settling_s + block_s * f64::from(plan.blocks.max)
}

#[test]
fn every_experiment_is_shipped_and_resolves_in_both_forms() {
    let mut names: Vec<String> = fs::read_dir(root().join("experiments"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut known = crate::found::shipped_names();
    known.sort_unstable();
    assert_eq!(names, known);
    for name in names {
        for quick in [false, true] {
            let plan = shipped(&name, quick);
            assert!(!plan.claims.is_empty() && plan.source.is_some(), "{name}");
            for claim in plan.claims.iter().filter(|claim| claim.not_testable.is_none()) {
                judge::resolve_claim(&plan, claim).unwrap_or_else(|error| panic!("{name}: {}: {error}", claim.name));
            }
        }
    }
}

#[test]
fn each_quick_form_takes_five_minutes_at_most() {
    for name in crate::found::shipped_names() {
        let seconds = takes_s(&shipped(name, true));
        assert!(seconds <= 300.0, "{name}: {seconds:.0} s");
    }
}

#[test]
fn all_full_forms_together_take_six_hours_at_most() {
    let each = crate::found::shipped_names().into_iter().map(|name| (name, takes_s(&shipped(name, false)) / 60.0));
    let each: Vec<(&str, f64)> = each.collect();
    let minutes: f64 = each.iter().map(|(_, minutes)| minutes).sum();
    assert!(minutes <= 6.0 * 60.0, "{minutes:.0} min: {each:.0?}");
}

/// What a launch of a cell has of load before its window, in nanoseconds; on a ladder, the rungs before are load, too.
fn load_before_ns(plan: &Draft, index: usize) -> u64 {
    let rungs = (0..index).filter(|earlier| plan.same_launch(*earlier, index)).map(|earlier| &plan.cells[earlier].load);
    rungs.map(|load| load.warm_up_ns + load.window_ns()).sum::<u64>() + plan.cells[index].load.warm_up_ns
}

#[test]
fn no_shipped_form_measures_a_cold_target() {
    for name in crate::found::shipped_names() {
        for quick in [false, true] {
            let plan = shipped(name, quick);
            for (index, cell) in plan.cells.iter().enumerate() {
                let target = plan.target(cell.levels.target()).unwrap();
                let needed_ns = target.launch.warm_within_ns;
                assert!(load_before_ns(&plan, index) >= needed_ns, "{name}, quick {quick}: {}", cell.levels);
                assert!(needed_ns > 0 || target.name == "nginx" || target.name.contains(':'), "{}", target.name);
            }
        }
    }
}

#[test]
fn a_factor_that_two_cores_cannot_show_is_about_more() {
    let claims = shipped("io-models", false).claims;
    for target in ["php-apache", "java-tomcat", "go-net-http"] {
        let of = |bound: &str| {
            let test = format!("elapsed_per_request(node-http, workers = 1) / elapsed_per_request({target}) > {bound}");
            let computes = |claim: &&model::Claim| claim.conditions.to_string().contains("n=100");
            claims.iter().find(|claim| claim.expect == test && computes(claim)).unwrap().cores
        };
        assert_eq!((of("1"), of("2")), (None, Some(8)), "{target}: the order anywhere, the factor on eight cores");
    }
}

#[test]
fn the_targets_are_read() {
    let names: Vec<String> = shipped_zoo().into_iter().map(|target| target.name).collect();
    for name in ["go-fasthttp", "go-gin", "go-httprouter", "go-iris", "go-iris-2016", "go-net-http"] {
        assert!(names.iter().any(|known| known == name), "{name} is not among {names:?}");
    }
}

#[test]
fn business_latency_in_full() {
    let plan = business_latency(false);
    assert_eq!((plan.name.as_str(), plan.cells.len(), plan.claims.len()), ("business-latency", 21, 21));
    assert_eq!(plan.factors, ["target", "handler_delay", "connections", "pipeline"]);
    assert_eq!((plan.blocks.min, plan.blocks.max, plan.precision, plan.margin), (6, 6, 0.03, 0.05));
    assert!(plan.claims.iter().all(|claim| claim.not_testable.is_none()));
    assert_eq!(plan.cells[0].load.mix.first().expect.body.as_deref(), Some(b"Hello world".as_slice()));
    let published: Vec<Option<f64>> =
        plan.claims.iter().map(|claim| claim.published_value.map(|value| (value * 1e3).round() / 1e3)).collect();
    assert_eq!(
        published,
        [Some(0.01), Some(0.011), Some(0.825), Some(5.1), Some(10.3), Some(0.999), None, None, Some(0.002), None]
            .into_iter()
            .chain([Some(1.0), Some(0.85)])
            .chain([None; 6])
            .chain([Some(0.01), None, None])
            .collect::<Vec<_>>(),
        "those of the articles, and seven of our own"
    );
}

#[test]
fn business_latency_in_the_quick_form() {
    let plan = business_latency(true);
    assert_eq!((plan.cells.len(), plan.targets.len(), plan.blocks.max), (12, 3, 6));
    let (tried, left_out): (Vec<_>, Vec<_>) = plan.claims.iter().partition(|claim| claim.not_testable.is_none());
    assert_eq!(tried.len(), 14, "every claim of the article is tried in the quick form");
    let left_out: Vec<&str> = left_out.iter().map(|claim| claim.name.as_str()).collect();
    let own = [
        "iris-2016-serialises-at-1ms",
        "httprouter-waits-as-well",
        "fasthttp-waits-as-well",
        "gin-waits-as-well",
        "requests-of-one-connection-in-turn",
        "fasthttp-allocates-less",
        "gin-is-collected-less-than-iris",
    ];
    assert_eq!(left_out, own);
    for claim in tried {
        judge::resolve_claim(&plan, claim).unwrap_or_else(|error| panic!("{}: {error}", claim.name));
    }
    let longest = plan.cells.iter().map(|cell| cell.load.window_ns()).max();
    assert_eq!(longest, Some(6 * NS_PER_S));
    assert_eq!(plan.cells[0].load.warm_up_ns, 300_000_000);
}

#[test]
fn what_is_said_of_many_cores_is_tested_on_two() {
    for quick in [false, true] {
        let claims = shipped("timeouts", quick).claims;
        assert!(claims.iter().all(|claim| claim.not_testable.is_none()));
        let cores: Vec<Option<u32>> = claims.iter().map(|claim| claim.cores).collect();
        let articles = [None, Some(8), None, None, Some(8), Some(8), None, Some(8), None, None, None, None];
        assert_eq!(cores, articles, "with GOMAXPROCS 2 two cores are all, and our own are of any machine");
    }
}

#[test]
fn a_plan_survives_its_file() {
    for plan in [business_latency(false), shipped("timeouts", false)] {
        let text = toml::to_string(&plan).unwrap();
        assert_eq!(toml::from_str::<Draft>(&text).unwrap(), plan);
    }
}
