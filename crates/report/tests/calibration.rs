//! Golden files of `bourdon calibrate`: of what it recorded here, read and shown as the command does.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::path::Path;

use model::Calibration;
use report::{calibration_json, calibration_text};
use support::{PLAIN, assert_tidy};

fn recorded(name: &str) -> Calibration {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(name);
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn text(calibration: &Calibration) -> String {
    let distrusted: Vec<bool> = calibration.rates.iter().map(|step| judge::distrust(step).is_some()).collect();
    let text = calibration_text(calibration, &distrusted, PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

fn in_one_line(calibration: &Calibration) -> String {
    text(calibration).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn of_two_cpus() {
    let calibration = recorded("calibration.json");
    insta::assert_snapshot!("text", text(&calibration));
    let json = calibration_json(&calibration);
    assert_eq!(serde_json::from_str::<Calibration>(&json).unwrap(), calibration);
    insta::assert_snapshot!("json", json);
}

#[test]
fn where_nothing_can_be_trusted_and_one_cpu_serves_both() {
    let calibration = recorded("calibration-of-one-busy-cpu.json");
    assert_eq!((&calibration.limits, calibration.responder_cpu), (&None, None));
    insta::assert_snapshot!("of_one_busy_cpu", text(&calibration));
}

#[test]
fn a_window_without_a_reply_is_explained() {
    let mut calibration = recorded("calibration.json");
    (calibration.ceilings[0].requests_per_s, calibration.ceilings[0].cpu_us_per_request) = (0.0, None);
    let shown = in_one_line(&calibration);
    assert!(shown.contains("0 requests/s: the null responder gave no reply in that window"), "{shown}");
}

#[test]
fn a_clock_that_went_back_is_told() {
    let mut calibration = recorded("calibration.json");
    assert!(in_one_line(&calibration).contains("; never went back in 1"), "{}", text(&calibration));
    calibration.clock.backward = 3;
    assert!(in_one_line(&calibration).contains("; WENT BACK 3 times in 1"), "{}", text(&calibration));
}
