//! What earlier versions of bourdon recorded is read and resumed as it was.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::path::Path;

use observe::ProcSource;
use run_support::{Json, Lab, Record, repository};

const FILES: [&str; 3] = ["plan.toml", "environment.json", "trials.jsonl"];
const FOLDERS: [&str; 4] = ["histograms", "profiles", "samples", "stderr"];

/// A copy of what a version recorded.
fn first_version() -> (Lab, Record) {
    let folder = repository().join("crates/cli/tests/recorded/first-version");
    let lab = Lab::new();
    let record = Record::new(lab.path().join("recorded"));
    std::fs::create_dir(record.path()).unwrap();
    for file in FILES {
        std::fs::copy(folder.join(file), record.path().join(file)).unwrap();
    }
    FOLDERS.iter().for_each(|folder| std::fs::create_dir(record.path().join(folder)).unwrap());
    (lab, record)
}

/// What that version made of it.
fn analysis() -> Json {
    let path = repository().join("crates/cli/tests/recorded/first-version/analysis.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Puts these things in the place of those in the record's environment.
fn in_environment(record: &Record, changes: &[(&str, Json)]) {
    let mut environment: Json = serde_json::from_str(&record.text("environment.json")).unwrap();
    changes.iter().for_each(|(key, value)| environment[*key] = value.clone());
    std::fs::write(record.path().join("environment.json"), environment.to_string()).unwrap();
}

/// What measures here, by its names in the environment.
fn here() -> [(&'static str, Json); 4] {
    let here = observe::environment::read(&ProcSource::default(), Path::new("/sys"));
    let bourdon = env!("CARGO_PKG_VERSION");
    [("bourdon", bourdon.into()), ("cpu", here.cpu.into()), ("cpus", here.cpus.into()), ("kernel", here.kernel.into())]
}

fn plan(record: &Record) -> toml::Table {
    toml::from_str(&record.text("plan.toml")).unwrap()
}

#[test]
fn a_record_of_the_first_version_gives_the_figures_that_it_gave() {
    let (lab, record) = first_version();
    let outcome = lab.bourdon(&["report", record.name(), "--format", "json"]);
    let (now, before) = (outcome.json(), analysis());
    assert_eq!(now["relative_rates"], before["relative_rates"]);
    assert_eq!([&now, &before].map(|analysis| analysis["cells"].as_array().unwrap().len()), [7, 7]);
    for (now, before) in now["cells"].as_array().unwrap().iter().zip(before["cells"].as_array().unwrap()) {
        for figure in ["where", "trials", "warm_up_s", "window_s", "throughput", "latency_us"] {
            assert_eq!(now[figure], before[figure], "{figure}");
        }
        // It gave one of the dearer of two launches, where the other had used less than 0.1 s of CPU.
        assert_eq!(now["cpu_us_per_request"]["estimate"], Json::Null);
    }
    assert_eq!(now["claims"][0]["measured"], before["claims"][0]["measured"]);
}

#[test]
fn pictures_are_kept_in_a_folder_and_shown_in_markdown_alone() {
    let (lab, record) = first_version();
    let report = |format| lab.bourdon(&["report", record.name(), "--format", format, "--charts", "new/charts"]);
    assert!(report("text").exits(2).stderr.contains("use --charts with --format markdown"));
    let outcome = report("markdown");
    let markdown = &outcome.stdout;
    let shown: Vec<&str> =
        markdown.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|it| it.0).collect();
    let shown: Vec<&str> = shown.into_iter().filter(|address| address.starts_with("new/charts/")).collect();
    assert!(shown.contains(&"new/charts/claims.svg") && shown.len() > 4, "{shown:?}");
    let folder = record.path().parent().unwrap().join("new/charts");
    assert!(outcome.stderr.contains(&format!("(CSV) in {}", folder.display())), "where: {}", outcome.stderr);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2 * shown.len(), "each with its values: {shown:?}");
    for address in shown {
        let svg = std::fs::read_to_string(folder.parent().unwrap().parent().unwrap().join(address)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{address}");
        let csv =
            std::fs::read_to_string(folder.parent().unwrap().parent().unwrap().join(address.replace(".svg", ".csv")));
        let first = if address.contains("/time-") { "begin (s),length (s),failed (requests)," } else { "of," };
        assert!(csv.unwrap().starts_with(first), "{address}");
    }
}

#[test]
fn a_record_of_the_first_version_is_resumed_under_its_own_plan() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        eprintln!("NOT RUN: the record is of two CPUs");
        return;
    }
    let (lab, record) = first_version();
    in_environment(&record, &here());
    let before = plan(&record);
    let outcome = lab.bourdon(&["run", "--resume", record.name(), "--blocks", "3"]);
    assert!(!outcome.stderr.contains("in a closed load, for its rate"), "a rate is settled once: {}", outcome.stderr);
    let (mut after, launches) = (plan(&record), record.launches());
    assert_eq!(launches.len(), 24, "seven cells and one against itself, three times: {}", outcome.stderr);
    assert_eq!(after.remove("blocks").unwrap()["max"].as_integer(), Some(3));
    assert_eq!(after.remove("blocks_before").unwrap().as_array().map(Vec::len), Some(1));
    assert_eq!(after["schema"].as_str(), Some("bourdon.plan/3"), "what is written anew has the shape of today");
    for (key, value) in before.iter().filter(|(key, _)| !["schema", "blocks"].contains(&key.as_str())) {
        assert!(has_all(&after[key], value), "{key}: {value} became {}", after[key]);
    }
    let third: Vec<&Json> = launches.iter().filter(|launch| launch["block"] == 3).collect();
    assert_eq!(third.len(), 8);
    for launch in third {
        let census = &launch["observation"]["census"];
        let asks = launch["where"]["path"] == "/whoami";
        assert_eq!(census["units"].as_u64().is_some_and(|units| units > 0), asks, "{census}");
    }
}

#[test]
fn a_record_of_another_machine_kernel_or_bourdon_is_not_resumed_here_and_stays_as_it_is() {
    let (lab, record) = first_version();
    let before = (record.text("plan.toml"), record.text("trials.jsonl"));
    for (what, key, value) in [
        ("bourdon: 0.0.1, and now ", "bourdon", Json::from("0.0.1")),
        ("CPU: another one, and now ", "cpu", "another one".into()),
        ("CPUs: 4000, and now ", "cpus", 4000.into()),
        ("kernel: 6.18.43, and now ", "kernel", "6.18.43".into()),
    ] {
        in_environment(&record, &here());
        in_environment(&record, &[(key, value)]);
        let refused = lab.bourdon(&["run", "--resume", record.name(), "--blocks", "3"]).exits(2);
        refused.clone().says(&["does not match what the run started with", what, "start a new run"]);
        assert_eq!(refused.stderr.matches(", and now ").count(), 1, "{refused:?}");
        assert_eq!((record.text("plan.toml"), record.text("trials.jsonl")), before);
    }
    // Nothing is launched, so that nothing is put beside what was measured elsewhere.
    lab.bourdon(&["run", "--resume", record.name()]).answers();
    assert_eq!((record.text("plan.toml"), record.text("trials.jsonl")), before);
}

/// Whether everything in one value is in another, which may have more keys.
fn has_all(whole: &toml::Value, part: &toml::Value) -> bool {
    match (whole, part) {
        (toml::Value::Table(whole), toml::Value::Table(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|kept| has_all(kept, value)))
        }
        (toml::Value::Array(whole), toml::Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| has_all(whole, part))
        }
        _ => whole == part,
    }
}
