//! The experiments of this repository against its own targets.

use std::fs;
use std::path::PathBuf;

use super::*;
use model::NS_PER_S;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn shipped_zoo() -> Vec<Target> {
    let folders = fs::read_dir(root().join("targets/go")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        folders.map(|folder| folder.join("target.toml")).filter(|file| file.is_file()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let source = Source { name: file.display().to_string(), text: fs::read_to_string(file).unwrap() };
        target(&source, file.parent().unwrap()).unwrap_or_else(|error| panic!("{error}"))
    };
    files.iter().map(read).collect()
}

fn business_latency(quick: bool) -> Plan {
    let path = root().join("experiments/business-latency.toml");
    let source = Source { name: path.display().to_string(), text: fs::read_to_string(&path).unwrap() };
    let zoo = shipped_zoo();
    with(|request| plan(&source, &Request { quick, zoo: &zoo, machine: Machine { cpus: 2 }, ..*request }))
        .unwrap_or_else(|error| panic!("{error}"))
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
    assert_eq!((plan.name.as_str(), plan.cells.len(), plan.claims.len()), ("business-latency", 18, 7));
    assert_eq!(plan.factors, ["target", "handler_delay", "connections"]);
    assert_eq!((plan.blocks.min, plan.blocks.max, plan.precision, plan.margin), (6, 12, 0.03, 0.05));
    assert!(plan.claims.iter().all(|claim| claim.not_testable.is_none()));
    assert_eq!(plan.cells[0].load.mix.first().expect.body.as_deref(), Some(b"Hello world".as_slice()));
    let published: Vec<Option<f64>> =
        plan.claims.iter().map(|claim| claim.published_value.map(|value| (value * 1e3).round() / 1e3)).collect();
    assert_eq!(published, [Some(0.01), Some(0.011), Some(0.825), Some(5.1), Some(10.3), Some(0.999), None]);
}

#[test]
fn business_latency_in_the_quick_form() {
    let plan = business_latency(true);
    assert_eq!((plan.cells.len(), plan.targets.len(), plan.blocks.max), (12, 3, 6));
    assert!(plan.claims.iter().all(|claim| claim.not_testable.is_none()), "every claim is tried in the quick form");
    for claim in &plan.claims {
        judge::resolve_claim(&plan, claim).unwrap_or_else(|error| panic!("{}: {error}", claim.name));
    }
    let longest = plan.cells.iter().map(|cell| cell.load.window_ns).max();
    assert_eq!(longest, Some(5 * NS_PER_S));
    assert_eq!(plan.cells[0].load.warm_up_ns, 300_000_000);
}

#[test]
fn a_plan_survives_its_file() {
    let plan = business_latency(false);
    let text = toml::to_string(&plan).unwrap();
    assert_eq!(toml::from_str::<Plan>(&text).unwrap(), plan);
}
