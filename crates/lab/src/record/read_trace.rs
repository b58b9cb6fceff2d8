//! What was written of a trial while it ran, read back for a page.

use std::path::Path;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::{HistogramTag, LatencyCounts, Observation, Trace, TraceLook, TrialRecord, latency_counts, read_histogram};

use crate::document::read_at_most;

/// The largest file that is read: a log of ten hours.
const MOST_BYTES: u64 = 512 << 20;

/// How much earlier than what was seen of a trial its samples may end, in seconds: looks at many processes are further apart than others.
const ENDS_EARLY_S: f64 = 5.0;

/// What lies beside the record of a trial. What is missing is not there; what is damaged is said, and read as far as it goes.
pub(super) fn trace(run: &Path, trial: &TrialRecord) -> Trace {
    let mut trace = Trace::default();
    let folders = [("histograms", "hlog"), ("samples", "csv"), ("profiles", "pb.gz")];
    let is_profiled = trial.observation.as_ref().is_some_and(|seen| seen.profile.is_some());
    for (folder, ending) in folders.into_iter().filter(|(folder, _)| is_profiled || *folder != "profiles") {
        let name = format!("{folder}/{}.{ending}", trial.id);
        let content = match read_at_most(&run.join(&name), MOST_BYTES) {
            Ok(content) => content,
            Err(error) if error.is_missing() => continue,
            Err(error) => {
                trace.fault = Some(format!("{name} cannot be read: {error}"));
                continue;
            }
        };
        let read = match folder {
            "histograms" => latencies(&content, felt(trial), &mut trace.latencies),
            "profiles" => observe::read_stacks(&content).ok().map(|stacks| trace.stacks = Some(stacks)),
            _ => looks(&String::from_utf8_lossy(&content), trial.observation.as_ref(), &mut trace.looks),
        };
        if read.is_none() {
            trace.fault = Some(format!("{name} is damaged: it is shown up to there"));
        }
    }
    trace
}

/// Under which tag a trial's log has what users would have seen.
fn felt(trial: &TrialRecord) -> HistogramTag {
    let latencies = trial.measurement.as_ref().map(|measured| &measured.latency_us);
    match latencies {
        Some(known) if known.response.is_some() => HistogramTag::Response,
        Some(known) if known.total.is_some() => HistogramTag::Total,
        _ => HistogramTag::Service,
    }
}

/// Adds the lines under a tag; none where one cannot be read.
fn latencies(log: &[u8], tag: HistogramTag, to: &mut Vec<(f64, LatencyCounts)>) -> Option<()> {
    for entry in IntervalLogIterator::new(log) {
        let LogEntry::Interval(line) = entry.ok()? else { continue };
        if line.tag().is_some_and(|of| of.as_str() == tag.id()) {
            to.push((line.start_timestamp().as_secs_f64(), latency_counts(&read_histogram(line.encoded_histogram())?)));
        }
    }
    Some(())
}

/// Adds the rows of samples; none where one cannot be read, does not fit what the record has, or they end before that does.
fn looks(csv: &str, seen: Option<&Observation>, to: &mut Vec<TraceLook>) -> Option<()> {
    let mut rows = csv.lines();
    let Some(header) = rows.next() else { return Some(()) };
    let column = |name: &str| header.split(',').position(|of| of == name);
    let (at_s, threads, established) = (column("at_s")?, column("threads")?, column("established"));
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let field = |column: usize| fields.get(column).copied().unwrap_or_default();
        let look = TraceLook {
            at_s: field(at_s).parse().ok().filter(|at_s: &f64| at_s.is_finite())?,
            threads: field(threads).parse().ok()?,
            established: established.and_then(|column| field(column).parse().ok()),
        };
        let is_later = to.last().is_none_or(|last| last.at_s <= look.at_s);
        (is_later && is_recorded(&look, seen)).then(|| to.push(look))?;
    }
    let seen_s = seen.map_or(f64::NEG_INFINITY, |seen| seen.window_s);
    (csv.ends_with('\n') && to.last().is_some_and(|last| last.at_s > seen_s - ENDS_EARLY_S)).then_some(())
}

/// Whether a look of the window has no more of anything than the record has at most.
fn is_recorded(look: &TraceLook, seen: Option<&Observation>) -> bool {
    let Some(seen) = seen.filter(|seen| 0.0 < look.at_s && look.at_s < seen.window_s) else {
        return true;
    };
    let most = seen.sockets.as_ref().map_or(u32::MAX, |sockets| sockets.established_max);
    look.threads <= seen.threads_max && look.established.is_none_or(|established| established <= most)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use engine::IntervalLog;
    use hdrhistogram::Histogram;
    use model::{EncodedHistogram, Interval, LoadSecond, latency_bucket};

    use super::*;

    fn encoded(us: &[u64]) -> String {
        use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 36_000_000_000, 3).unwrap();
        us.iter().for_each(|us| histogram.record(us * 10).unwrap());
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
        STANDARD.encode(bytes)
    }

    fn log(seconds: &[&[u64]]) -> Vec<u8> {
        let mut log = IntervalLog::begin(Vec::new());
        for (at, us) in seconds.iter().enumerate() {
            let interval = Interval { at_s: at as f64, length_s: 1.0, ..Interval::default() };
            let of = |tag, data| EncodedHistogram { tag, max: 1, data };
            let histograms = vec![of(HistogramTag::FirstByte, encoded(&[9])), of(HistogramTag::Service, encoded(us))];
            log.add(&LoadSecond { interval, histograms, ..LoadSecond::default() });
        }
        log.end().unwrap()
    }

    #[test]
    fn a_log_is_read_second_by_second_up_to_its_damage() {
        let whole = log(&[&[100, 100, 5_000], &[200]]);
        let mut read = Vec::new();
        assert_eq!(latencies(&whole, HistogramTag::Service, &mut read), Some(()));
        let bucket = |us: f64| latency_bucket(us);
        let first = vec![(bucket(100.0), 2), (bucket(5_000.0), 1)];
        assert_eq!(read, [(0.0, first.clone()), (1.0, vec![(bucket(200.0), 1)])]);
        let mut read = Vec::new();
        let cut = &whole[..whole.len() - 30];
        assert_eq!((latencies(cut, HistogramTag::Service, &mut read), read), (None, vec![(0.0, first)]));
        assert_eq!(latencies(b"\xff\xfe,,", HistogramTag::Service, &mut Vec::new()), None);
    }

    #[test]
    fn samples_are_read_by_the_names_of_their_columns() {
        let sample = model::Sample { at_ns: 1_500_000_000, threads: 7, ..model::Sample::default() };
        let csv = format!("{}{}", observe::CSV_HEADER, observe::csv_rows(&[sample], 1_000_000_000));
        let mut read = Vec::new();
        assert_eq!(looks(&csv, None, &mut read), Some(()));
        assert_eq!(read, [TraceLook { at_s: 0.5, threads: 7, established: None }]);
        let read = |csv: &str| looks(csv, None, &mut Vec::new());
        assert_eq!(read("at_s,threads\nNaN,1\n"), None);
        assert_eq!(read("at_s\n1\n"), None);
        assert_eq!(read("at_s,threads\n2,1\n1,1\n"), None);
        assert_eq!(read("at_s,threads\n1,1\n2,1"), None, "its last row may be cut");
    }

    #[test]
    fn what_is_no_file_is_said_and_not_waited_for() {
        let run = tempfile::tempdir().unwrap();
        std::fs::create_dir(run.path().join("samples")).unwrap();
        let name = run.path().join("samples/b01-c01.csv");
        rustix::fs::mknodat(rustix::fs::CWD, &name, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        let text = include_str!("../../../judge/tests/recorded/trials.jsonl").lines().next().unwrap();
        let mut trial: TrialRecord = serde_json::from_str(text).unwrap();
        trial.id = "b01-c01".to_owned();
        let fault = trace(run.path(), &trial).fault.unwrap();
        assert!(fault.starts_with("samples/b01-c01.csv cannot be read: "), "{fault}");
    }

    #[test]
    fn samples_that_do_not_fit_the_record_are_damaged() {
        let seen = Observation { window_s: 60.0, threads_max: 9, ..Observation::default() };
        let read = |rows: &str| looks(&format!("at_s,threads\n{rows}"), Some(&seen), &mut Vec::new());
        assert_eq!(read("-1,12\n30,9\n60.1,9\n"), Some(()), "before the window there may be more");
        assert_eq!(read("30,10\n60.1,9\n"), None);
        assert_eq!(read("30,9\n31,9\n"), None, "the rest is missing");
    }
}
