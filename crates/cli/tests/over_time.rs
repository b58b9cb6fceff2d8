//! Launches over time: what a page shows of a run's seconds is what lies beside its record.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::collections::BTreeMap;
use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use lab::RunFolder;
use run_support::Lab;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const EXPERIMENT: &str = "question = 'Is it steady?'\n\
    load = { path = '/rest/hello', expect_body = 'Hello world', connections = 4 }\n\
    trials = { warm_up = '100ms', window = '2s', blocks = 1, rotation = false }\n\
    target = [{ name = 'pausing', run = '$BOURDON specimen restless', ready = '/ping' }]\n";

/// The service times of each second, all lines of it together.
fn seconds(log: &Path) -> BTreeMap<u64, Histogram<u64>> {
    let mut seconds: BTreeMap<u64, Histogram<u64>> = BTreeMap::new();
    for entry in IntervalLogIterator::new(&std::fs::read(log).unwrap()) {
        let LogEntry::Interval(line) = entry.unwrap() else { continue };
        if line.tag().unwrap().as_str() == "service" {
            let bytes = STANDARD.decode(line.encoded_histogram()).unwrap();
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            let whole = seconds.entry(line.start_timestamp().as_secs()).or_insert_with(|| Histogram::new(3).unwrap());
            whole.add(read).unwrap();
        }
    }
    seconds
}

#[test]
fn a_second_has_the_percentiles_and_the_replies_of_all_its_lines() {
    let lab = Lab::new().experiment(EXPERIMENT);
    lab.run(&[]).answers();
    let folder = lab.record().path().to_owned();
    let record = RunFolder::read(&folder).unwrap();
    let timelines = judge::timelines(&record.trials, &RunFolder::traces(&folder, &record.trials));
    assert!(!timelines.is_empty());
    for timeline in &timelines {
        let of_log = seconds(&folder.join("histograms").join(format!("{}.hlog", timeline.trial)));
        let measured: Vec<_> = timeline.steps.iter().filter(|step| !step.is_warm_up()).collect();
        assert_eq!(measured.len(), 2);
        for step in measured {
            let log = &of_log[&(step.at_s as u64)];
            assert_eq!(step.failures, 0);
            let us = |q: f64| Some(log.value_at_quantile(q).min(log.max()) as f64 / 10.0);
            assert_eq!((step.p50_us, step.p99_us), (us(0.5), us(0.99)), "{} second {}", timeline.trial, step.at_s);
            assert_eq!(step.latencies.iter().map(|(_, count)| count).sum::<u64>(), log.len());
        }
        assert!(timeline.steps.iter().any(|step| step.threads > Some(0)));
    }
    let name = lab.record().name().to_owned();
    let markdown = lab.bourdon(&["report", &name, "--format", "markdown", "--charts", "charts"]).exits(0).stdout;
    assert!(markdown.contains("](charts/time-1-1.svg)"), "{markdown}");
    let mut csv = csv::Reader::from_path(lab.path().join("charts/time-1-1.csv")).unwrap();
    let header = csv.headers().unwrap().clone();
    let place = |of: &str| header.iter().position(|name| name == of).unwrap();
    let (begin, p99) = (place("begin (s)"), place("p99 (us)"));
    let drawn: Vec<(f64, Option<f64>)> =
        csv.records().map(|row| row.unwrap()).map(|row| (row[begin].parse().unwrap(), row[p99].parse().ok())).collect();
    let steps: Vec<(f64, Option<f64>)> = timelines[0].steps.iter().map(|step| (step.at_s, step.p99_us)).collect();
    assert_eq!(drawn, steps);
}

#[test]
fn a_damaged_log_is_said_where_its_launch_is_shown_and_the_rest_stays() {
    let lab = Lab::new().experiment(EXPERIMENT);
    lab.run(&[]).answers();
    let folder = lab.record().path().to_owned();
    let log = folder.join("histograms/b01-c01.hlog");
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    lab.bourdon(&["report", folder.to_str().unwrap()]).answers();
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("histograms/b01-c01.hlog is damaged"), "the page says so");
    assert!(page.contains("data-panel=\"p99\""), "and its percentiles are those of the record");
}
