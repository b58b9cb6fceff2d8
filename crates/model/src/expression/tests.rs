use super::*;
use crate::Unit;

fn parse(text: &str) -> Expectation {
    parse_expectation(text).unwrap()
}

#[test]
fn a_ratio_of_two_cells_is_read() {
    let read = parse("throughput(go-a, connections = 1000) / throughput(go-b, handler_delay = 1000ms) > 3");
    assert_eq!(read.bound, Bound::Above(3.0));
    assert!(read.expression.is_ratio());
    let calls = read.expression.calls();
    assert_eq!(calls[0].target, "go-a");
    assert_eq!(calls[0].levels, [("connections".to_owned(), "1000".to_owned())]);
    assert_eq!(calls[1].levels, [("handler_delay".to_owned(), "1s".to_owned())]);
}

#[test]
fn a_level_may_be_in_quotes() {
    for text in ["p99(a, path = /x) < 1ms", "p99(a, path = \"/x\") < 1ms", "p99(a, path='/x') < 1ms"] {
        assert_eq!(parse(text).expression.calls()[0].levels, [("path".to_owned(), "/x".to_owned())], "{text}");
    }
}

#[test]
fn arithmetic_follows_the_usual_order() {
    let value = |text: &str| parse(text).expression.evaluate(&|_| Some(10.0)).unwrap();
    assert_eq!(value("1 + 2 * 3 < 1"), 7.0);
    assert_eq!(value("(1 + 2) * p99(x) < 1"), 30.0);
    assert_eq!(value("p99(x) / 4 / 5 < 1"), 0.5);
    assert_eq!(parse("1 / p50(x) < 1").expression.evaluate(&|_| Some(0.0)), None, "not finite");
}

#[test]
fn within_is_a_band() {
    let Bound::Between(low, high) = parse("p99(a) / p99(b) within 5% of 1").bound else { panic!("a band") };
    assert!((low - 0.95).abs() < 1e-12 && (high - 1.05).abs() < 1e-12);
}

const TOO_MUCH: &str =
    "expected the end of the test here; a number is written like `5000`, `5k`, `50ms`, `20MiB` or `1%`";

#[test]
fn errors_point_at_their_place() {
    for (text, offset, message) in [
        ("troughput(a) < 1", 0, "unknown metric `troughput`"),
        ("throughput a < 1", 11, "expected `(` and a target here"),
        ("throughput(a) = 1", 14, "expected `< number`, `> number` or `within 5% of 1` here"),
        ("throughput(a) < fast", 16, "expected a number here"),
        (
            "peak_memory(a) < peak_memory(b)",
            17,
            "expected a number here: figures stand before the sign, two of them as a quotient, as in `p99(a) / p99(b) < 1`",
        ),
        ("throughput(a) < 1 or so", 18, TOO_MUCH),
        ("throughput(a) > 5,000", 17, TOO_MUCH),
        ("throughput(a) > 5000 rps", 21, TOO_MUCH),
        ("throughput(a, b = \"c) < 1", 19, "expected a level and then \" here"),
        ("throughput(a, b) < 1", 15, "expected `=` and a level here"),
        ("", 0, "expected a metric such as `throughput(target)`, or a number here"),
    ] {
        let error = parse_expectation(text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
}

#[test]
fn a_test_without_end_is_refused_before_it_nests_too_deep() {
    for text in [format!("{}throughput(a){} < 1", "(".repeat(20_000), ")".repeat(20_000)), "1 + ".repeat(50_000)] {
        assert_eq!(parse_expectation(&text).unwrap_err().message, "expected a test of at most 1000 bytes here");
    }
    let deep = format!("{}throughput(a){} < 1", "(".repeat(490), ")".repeat(490));
    let read = parse(&deep).expression;
    assert!(matches!(&read, Expression::Metric(call) if call.target == "a"), "{read:?}");
}

#[test]
fn a_number_takes_the_unit_of_what_it_is_compared_with() {
    let bound = |text: &str| parse(text).bound;
    assert_eq!(bound("p99(a) < 50ms"), Bound::Below(50_000.0));
    assert_eq!(bound("p99(a) > 1.5s"), Bound::Above(1_500_000.0));
    assert_eq!(bound("time_to_ready(a) < 2s"), Bound::Below(2_000.0));
    assert_eq!(bound("peak_memory(a) < 20MiB"), Bound::Below(20.0 * 1024.0 * 1024.0));
    assert_eq!(bound("peak_memory(a) < 20MB"), Bound::Below(20e6));
    assert_eq!(bound("errors(a) < 1%"), Bound::Below(0.01));
    assert_eq!(bound("p99(a) within 10% of 50ms"), Bound::Between(45_000.0, 55_000.00000000001));
    assert_eq!(bound("p99(a) > 1.5 s"), Bound::Above(1_500_000.0), "a space may part them");
    assert_eq!(bound("peak_memory(a) < 64 MB"), Bound::Below(64e6));
    assert_eq!(bound("errors(a) < 1 %"), Bound::Below(0.01));
    assert_eq!(bound("throughput(a) > 5k"), Bound::Above(5_000.0));
    assert_eq!(bound("throughput(a) > 1.5 M"), Bound::Above(1.5e6));
    let value = |text: &str| parse(text).expression.evaluate(&|_| Some(300.0)).unwrap();
    assert_eq!(value("time_to_ready(a) - 100ms < 1s"), 200.0, "in ms, as its metric");
    assert_eq!(value("time_to_ready(a) / 100ms < 4"), 3.0);
    assert_eq!(parse("p99(a) / 100us < 4").expression.unit(), Unit::Ratio);
    assert_eq!(parse("p99(a) - 100us < 4us").expression.unit(), Unit::Us);
}

#[test]
fn units_that_do_not_fit_are_refused_at_their_place() {
    for (text, offset, message) in [
        ("throughput(a) < 50ms", 16, "this is a time, and what it is compared with is in requests/s"),
        ("p99(a) / p99(b) < 50ms", 18, "this is a time, and what it is compared with is a ratio without a unit"),
        ("p99(a) < 20MiB", 9, "this is a size, and what it is compared with is in us"),
        ("p99(a) + 3MB < 1s", 9, "this is a size, and what it is added to is in us"),
        ("throughput(a) * 50ms < 1", 16, "this is a time, and only a ratio can be multiplied by one"),
        ("2 * p99(a) < 50ms", 13, "this is a time, and what it is compared with has no unit"),
        ("p99(a) < 50mss", 11, "unknown unit `mss`"),
        ("p99(a) < 50 MS", 12, "unknown unit `MS`"),
        ("peak_memory(a) < 64 mb", 20, "unknown unit `mb`"),
        ("throughput(a) < 50 ms", 16, "this is a time, and what it is compared with is in requests/s"),
    ] {
        let error = parse_expectation(text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
}

#[test]
fn a_bare_time_or_size_is_read_in_its_metrics_unit_and_told() {
    let bare = |text: &str| parse(text).bare.map(|bare| (bare.offset, bare.length, bare.example));
    assert_eq!(bare("p99(a) < 50000"), Some((9, 5, "50ms")));
    assert_eq!(parse("p99(a) < 50000").bound, Bound::Below(50_000.0));
    assert_eq!(bare("memory_after(a) - 100 < 1MB"), Some((18, 3, "20MiB")));
    assert_eq!(bare("p99(a) < 5k"), Some((9, 2, "50ms")), "a thousand of what");
    for fine in ["p99(a) - p99(b) < 0", "p99(a) / p99(b) < 2", "throughput(a) > 100", "errors(a) < 0.01"] {
        assert_eq!(bare(fine), None, "{fine}");
    }
}
