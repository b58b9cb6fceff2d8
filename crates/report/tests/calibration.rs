//! Golden files of `bourdon calibrate`.

mod support;

use model::{
    CALIBRATION_SCHEMA, Calibration, Ceiling, ClockPrecision, GeneratorLimits, Instrument, RateStep, Reason, SleepError,
};
use report::{calibration_json, calibration_text};
use support::{PLAIN, assert_tidy, local};

fn step(rate_per_s: f64, late_us: f64) -> RateStep {
    RateStep {
        rate_per_s,
        scheduled: rate_per_s as u64,
        sent: rate_per_s as u64,
        lateness_p50_us: Some(late_us),
        lateness_p99_us: Some(20.0 * late_us),
        cpu_us_per_request: Some(9.6),
        busy: 0.52,
        ..RateStep::default()
    }
}

fn calibration() -> Calibration {
    let sleep = |asked_us| SleepError { asked_us, count: 100, p50_us: 9.8, p99_us: 41.2, max_us: 1_310.0 };
    let ceiling = |connections, pipeline, requests_per_s| Ceiling {
        connections,
        pipeline,
        requests_per_s,
        cpu_us_per_request: Some(5.31),
        busy: 0.97,
    };
    Calibration {
        schema: CALIBRATION_SCHEMA.to_owned(),
        measured_at: local("2026-11-21T12:00:00+01:00"),
        instrument: Instrument {
            bourdon: "0.1.0".to_owned(),
            cpu: "AMD EPYC".to_owned(),
            cpus: 2,
            kernel: "6.18.0".to_owned(),
        },
        responder_cpu: Some(0),
        generator_cpu: 1,
        clock: ClockPrecision { readings: 1_000_000, reading_ns: 21.4, step_ns: 20, backward: 0 },
        sleep: vec![sleep(50.0), sleep(1_000.0)],
        ceilings: vec![ceiling(100, 1, 182_000.0), ceiling(100, 16, 2_310_000.0)],
        rates: vec![step(64_000.0, 11.0), step(128_000.0, 4_100.0), step(90_500.0, 14.0)],
        limits: Some(GeneratorLimits {
            ceiling_per_s: 187_000.0,
            pipelined_ceiling_per_s: 2_380_000.0,
            open_rate_per_s: 90_500.0,
        }),
        beyond: Some(Reason::from(model::DistrustCause::Late(0.12))),
    }
}

fn text(calibration: &Calibration) -> String {
    let text = calibration_text(calibration, &[false, true, false], PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

#[test]
fn as_text() {
    insta::assert_snapshot!(text(&calibration()));
}

#[test]
fn a_window_without_a_reply_is_explained() {
    let mut calibration = calibration();
    (calibration.ceilings[0].requests_per_s, calibration.ceilings[0].cpu_us_per_request) = (0.0, None);
    let shown = text(&calibration).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("0 requests/s: the null responder gave no reply in that window"), "{shown}");
}

#[test]
fn where_nothing_can_be_trusted_and_one_cpu_serves_both() {
    let mut nothing = Calibration { limits: None, responder_cpu: None, generator_cpu: 0, ..calibration() };
    nothing.clock.backward = 3;
    insta::assert_snapshot!(text(&nothing));
}

#[test]
fn as_json() {
    insta::assert_snapshot!(calibration_json(&calibration()));
}
