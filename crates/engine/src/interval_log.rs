use std::fmt::Write as _;
use std::io::Write;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::{EncodedHistogram, HistogramTag, LoadSecond};

use crate::second::{MAX_TICKS, TICK_NS, add_to, bounded};

const TICKS_PER_MS: f64 = 1e6 / TICK_NS as f64;

/// Encodes histograms. What it needs is kept from one to the next: what is asked for anew each second leaves holes, and
/// memory grows.
pub(crate) struct Encoder {
    serializer: V2DeflateSerializer,
    /// What is encoded, with room for an hour: all histograms of a log have the same bounds, as some readers need to add
    /// them up.
    whole: Histogram<u64>,
    bytes: Vec<u8>,
    spare: Vec<EncodedHistogram>,
}

impl Encoder {
    pub(crate) fn new() -> Self {
        let (serializer, whole) = (V2DeflateSerializer::new(), bounded(MAX_TICKS));
        Self { serializer, whole, bytes: Vec::new(), spare: Vec::new() }
    }

    /// A histogram under its tag; none of an empty one.
    pub(crate) fn encode(&mut self, tag: HistogramTag, histogram: &Histogram<u64>) -> Option<EncodedHistogram> {
        if histogram.is_empty() {
            return None;
        }
        self.whole.reset();
        add_to(&mut self.whole, histogram);
        self.bytes.clear();
        // Writing to memory cannot fail, and the histogram's bounds are the format's.
        let _ = self.serializer.serialize(&self.whole, &mut self.bytes);
        let mut data = self.spare.pop().map_or_else(String::new, |spare| spare.data);
        data.clear();
        STANDARD.encode_string(&self.bytes, &mut data);
        Some(EncodedHistogram { tag, max: histogram.max(), data })
    }

    /// Takes back what is not needed any more.
    pub(crate) fn take_back(&mut self, used: &mut Vec<EncodedHistogram>) {
        self.spare.append(used);
    }
}

/// A histogram by itself; none of an empty one. Who adds several makes room for the longest.
pub(crate) fn encoded(histogram: &Histogram<u64>) -> Option<String> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and the histogram's bounds are the format's.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    (!histogram.is_empty()).then(|| STANDARD.encode(&bytes))
}

/// Writes per-second histograms in the HdrHistogram V2 interval-log format (deflate, base64), each as it comes, so that
/// a long load needs no more memory than a short one. Values are in units of 100 ns; the maximum column is in
/// milliseconds.
#[derive(Debug)]
pub struct IntervalLog<W> {
    to: W,
    /// The first failure; nothing is written after it.
    failure: Option<std::io::Error>,
    line: String,
}

impl<W: Write> IntervalLog<W> {
    /// Begins a log of a load that starts now.
    pub fn begin(to: W) -> Self {
        Self::new(to, SystemTime::now())
    }

    /// Begins a log of a load that started then.
    pub fn new(to: W, started_at: SystemTime) -> Self {
        let mut header = Vec::new();
        let mut builder = IntervalLogWriterBuilder::new();
        builder.add_comment("values in units of 100 ns").with_start_time(started_at);
        builder.with_max_value_divisor(TICKS_PER_MS);
        // Writing to memory cannot fail.
        let _ = builder.begin_log_with(&mut header, &mut V2DeflateSerializer::new());
        let mut log = Self { to, failure: None, line: String::new() };
        log.failure = log.to.write_all(&header).err();
        log
    }

    /// Adds what a second of the window saw, a line for each histogram. The warm-up is not logged.
    pub fn add(&mut self, second: &LoadSecond) {
        if !second.is_measured() {
            return;
        }
        let (start_s, length_s) = (second.interval.at_s.max(0.0), second.interval.length_s.min(1.0));
        for EncodedHistogram { tag, max, data } in &second.histograms {
            if self.failure.is_some() {
                return;
            }
            self.line.clear();
            let max_ms = *max as f64 / TICKS_PER_MS;
            // Writing to a string cannot fail.
            let _ = writeln!(self.line, "Tag={},{start_s:.3},{length_s:.3},{max_ms:.3},{data}", tag.id());
            self.failure = self.to.write_all(self.line.as_bytes()).err();
        }
    }

    /// Ends the log.
    ///
    /// # Errors
    /// Why it is not whole.
    pub fn end(mut self) -> std::io::Result<W> {
        self.failure.map_or_else(|| self.to.flush(), Err)?;
        Ok(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second::{histogram, record};
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry, Tag};
    use model::Interval;
    use std::time::Duration;

    fn second(at_s: f64, length_s: f64, histograms: impl IntoIterator<Item = EncodedHistogram>) -> LoadSecond {
        let interval = Interval { at_s, length_s, ..Interval::default() };
        LoadSecond { interval, drain: false, histograms: histograms.into_iter().collect() }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut one = histogram();
        (1..=1000).for_each(|us| record(&mut one, us * 1000));
        let mut encoder = Encoder::new();
        let mut log = IntervalLog::new(Vec::new(), SystemTime::UNIX_EPOCH);
        log.add(&second(-1.0, 1.0, encoder.encode(HistogramTag::Service, &one)));
        log.add(&second(0.0, 1.0, encoder.encode(HistogramTag::Service, &one)));
        log.add(&second(1.0, 0.5, encoder.encode(HistogramTag::Service, &histogram())));
        log.add(&second(1.0, 0.5, encoder.encode(HistogramTag::Lateness, &one)));
        let bytes = log.end().unwrap();
        let entries: Vec<_> = IntervalLogIterator::new(&bytes).map(Result::unwrap).collect();
        let intervals: Vec<_> = entries
            .iter()
            .filter_map(|entry| match entry {
                LogEntry::Interval(interval) => Some(interval),
                _ => None,
            })
            .collect();
        assert_eq!(intervals.len(), 2, "an empty histogram has no line, and the warm-up none");
        assert_eq!(intervals[1].tag(), Tag::new("lateness"));
        assert_eq!(intervals[1].duration(), Duration::from_millis(500));
        assert!((intervals[1].max() - 1.0).abs() < 0.01, "{}", intervals[1].max());
        let encoded = STANDARD.decode(intervals[0].encoded_histogram()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut encoded.as_slice()).unwrap();
        assert_eq!((&one, MAX_TICKS), (&read, read.high()), "with the bounds of every other");
    }

    #[test]
    fn a_failure_is_told_and_ends_the_writing() {
        let mut small = [0u8; 10];
        let log = IntervalLog::new(&mut small[..], SystemTime::UNIX_EPOCH);
        assert_eq!(log.end().unwrap_err().kind(), std::io::ErrorKind::WriteZero);
    }
}
