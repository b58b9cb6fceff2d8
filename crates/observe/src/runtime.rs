//! What a runtime tells of itself in the Prometheus text format, under the names that each language's usual client
//! library gives its figures.

use model::RuntimeSample;

/// The names behind each figure; the values of all lines of a name are added up, whatever their labels.
const GC_COUNT: [&str; 3] =
    ["go_gc_duration_seconds_count", "jvm_gc_pause_seconds_count", "nodejs_gc_duration_seconds_count"];
const GC_PAUSE: [&str; 3] =
    ["go_gc_duration_seconds_sum", "jvm_gc_pause_seconds_sum", "nodejs_gc_duration_seconds_sum"];
/// The labels of a collection of all generations. A JVM that has not had one yet tells of none, and then there were none.
const MAJOR: [(&str, &str); 2] = [
    ("jvm_gc_pause_seconds_count", "action=\"end of major GC\""),
    ("nodejs_gc_duration_seconds_count", "kind=\"major\""),
];
const UNITS: [&str; 2] = ["go_goroutines", "jvm_threads_live_threads"];
const LOOP_LAG: [&str; 1] = ["nodejs_eventloop_lag_max_seconds"];

/// Memory of the JVM outside its heap stands under the same name, with another label.
const HEAP: [(&str, &str); 3] = [
    ("go_memstats_heap_inuse_bytes", ""),
    ("jvm_memory_used_bytes", "area=\"heap\""),
    ("nodejs_heap_size_used_bytes", ""),
];

/// Reads an answer of `/metrics`; what it does not tell is none.
pub fn runtime_sample(text: &str, at_ns: u64) -> RuntimeSample {
    let whole = |value: f64| value.max(0.0) as u64;
    RuntimeSample {
        at_ns,
        gc_count: sum(text, &GC_COUNT, ""),
        gc_major: major(text),
        gc_pause_s: sum(text, &GC_PAUSE, ""),
        heap_bytes: HEAP.iter().find_map(|(name, label)| sum(text, &[name], label)).map(whole),
        units: sum(text, &UNITS, "").map(whole),
        loop_lag_s: sum(text, &LOOP_LAG, ""),
    }
}

/// Collections of all generations; none where the runtime does not tell them from others.
fn major(text: &str) -> Option<f64> {
    MAJOR.iter().find_map(|(name, label)| {
        sum(text, &[name], "")?;
        Some(sum(text, &[name], label).unwrap_or(0.0))
    })
}

/// The sum over the lines of any of the names that have the label; none without such a line.
fn sum(text: &str, names: &[&str], label: &str) -> Option<f64> {
    let values = text.lines().filter_map(|line| {
        let (name, rest) = line.split_at_checked(line.find(['{', ' '])?)?;
        let (labels, value) = match rest.strip_prefix('{') {
            // A label's value may hold a brace; a number does not.
            Some(rest) => rest.rsplit_once('}')?,
            None => ("", rest),
        };
        let value: f64 = value.split_whitespace().next()?.parse().ok()?;
        (names.contains(&name) && labels.contains(label) && value.is_finite()).then_some(value)
    });
    values.reduce(|sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_languages_names_are_known() {
        let go = "# HELP go_goroutines Number.\n# TYPE go_goroutines gauge\ngo_goroutines 12\n\
                  go_gc_duration_seconds{quantile=\"0\"} 1e-05\ngo_gc_duration_seconds_sum 0.002\n\
                  go_gc_duration_seconds_count 7\ngo_memstats_heap_inuse_bytes 2.5e+06\n";
        let seen = runtime_sample(go, 5);
        let expected = RuntimeSample {
            at_ns: 5,
            gc_count: Some(7.0),
            gc_major: None,
            gc_pause_s: Some(0.002),
            heap_bytes: Some(2_500_000),
            units: Some(12),
            loop_lag_s: None,
        };
        assert_eq!(seen, expected);
        let jvm = "jvm_gc_pause_seconds_count{action=\"end of minor GC\",cause=\"G1 {x}\"} 3\n\
                   jvm_gc_pause_seconds_count{action=\"end of major GC\"} 1\n\
                   jvm_memory_used_bytes{area=\"heap\",id=\"Eden\"} 100\njvm_memory_used_bytes{area=\"heap\",id=\"Old\"} 50\n\
                   jvm_memory_used_bytes{area=\"nonheap\",id=\"Meta\"} 7\njvm_threads_live_threads 211 1700000000\n";
        let seen = runtime_sample(jvm, 0);
        assert_eq!((seen.gc_count, seen.gc_major), (Some(4.0), Some(1.0)));
        assert_eq!((seen.heap_bytes, seen.units), (Some(150), Some(211)));
        let node = "nodejs_heap_size_used_bytes 9\nnodejs_eventloop_lag_max_seconds 0.25\nnodejs_gc_duration_seconds_count{kind=\"minor\"} 2\n";
        let seen = runtime_sample(node, 0);
        assert_eq!((seen.heap_bytes, seen.loop_lag_s, seen.gc_count), (Some(9), Some(0.25), Some(2.0)));
        assert_eq!(seen.gc_major, Some(0.0), "young ones alone");
    }

    #[test]
    fn nonsense_is_nothing() {
        for text in
            ["", "go_goroutines", "go_goroutines NaN", "go_goroutines{", "go_goroutines{a=\"b\" 3", "é{}\u{0}x 1"]
        {
            assert_eq!(runtime_sample(text, 0), RuntimeSample::default(), "{text}");
        }
    }
}
