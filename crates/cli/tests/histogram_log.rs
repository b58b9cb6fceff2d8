//! What `--histogram-log` writes, read by an implementation of the format that is not ours (interop/hlog, in Go).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::fs::File;
use std::process::Command;

use run_support::{Json, Lab, is_here, repository};
use specimens::{Kind, LogSink, Settings};

/// What the other implementation finds under each tag.
fn read_by_another(log: &std::path::Path) -> Json {
    let read = Command::new("go")
        .args(["run", "."])
        .current_dir(repository().join("interop/hlog"))
        .stdin(File::open(log).unwrap())
        .output()
        .unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    serde_json::from_slice(&read.stdout).unwrap()
}

#[test]
fn another_implementation_reads_the_same_figures() {
    if !is_here("go") {
        return;
    }
    let lab = Lab::new();
    let server = specimens::start(Settings::new(Kind::Clean), LogSink::None).unwrap();
    let url = format!("http://{}/rest/hello", server.address());
    let load = "-R 2000 -d 1200ms --warm-up 200ms --format json --histogram-log x.hlog".split(' ');
    let document = lab.bourdon(&["load", &url].into_iter().chain(load).collect::<Vec<_>>()).json();
    let theirs = read_by_another(&lab.path().join("x.hlog"));
    for (tag, name) in
        [("response", "response"), ("service", "service"), ("lateness", "lateness"), ("first-byte", "first_byte")]
    {
        let (ours, theirs) = (&document["latency_us"][name], &theirs[tag]);
        // What the generator was too late to send, as it may be on a busy machine, has an age and is in no log.
        let of_ours = |name: &str| ours[name].as_u64().unwrap();
        assert_eq!(theirs["count"].as_u64(), Some(of_ours("count") - of_ours("censored")), "{tag}: {theirs}");
        // A window of 1.2 s is a whole second and a part of one; a late reply may come after it.
        assert!(theirs["intervals"].as_u64().unwrap() >= 2, "{tag}: {theirs}");
        for quantile in ["p50", "p90", "p99"].into_iter().filter(|_| of_ours("censored") == 0) {
            let ours_in_ticks = (ours[quantile].as_f64().unwrap() * 10.0).round();
            assert_eq!(theirs["quantiles"][quantile].as_f64(), Some(ours_in_ticks), "{tag} {quantile}");
        }
    }
}
