use std::io::Write;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};

use crate::second::TICK_NS;

const TICKS_PER_MS: f64 = 1e6 / TICK_NS as f64;

/// Writes per-second histograms in the HdrHistogram V2 interval-log format (deflate, base64), each as it comes, so that
/// a long load needs no more memory than a short one. Values are in units of 100 ns; the maximum column is in
/// milliseconds.
pub(crate) struct IntervalLog<'a> {
    to: &'a mut dyn Write,
    /// The first failure; nothing is written after it.
    failure: Option<std::io::Error>,
    /// Kept from line to line: what is asked for anew each second leaves holes, and memory grows.
    serializer: V2DeflateSerializer,
    text: Vec<u8>,
}

impl<'a> IntervalLog<'a> {
    pub(crate) fn new(to: &'a mut dyn Write, started_at: SystemTime) -> Self {
        let mut builder = IntervalLogWriterBuilder::new();
        builder.add_comment("values in units of 100 ns").with_start_time(started_at);
        let mut log = Self { to, failure: None, serializer: V2DeflateSerializer::new(), text: Vec::new() };
        log.encode(builder, |_| {});
        log.put(|_| true);
        log
    }

    /// Adds one histogram under a tag; `start_ns` is since the log's start.
    pub(crate) fn add(&mut self, tag: &str, start_ns: u64, length_ns: u64, histogram: &Histogram<u64>) {
        if histogram.is_empty() {
            return;
        }
        let (start, length) = (Duration::from_nanos(start_ns), Duration::from_nanos(length_ns));
        self.encode(IntervalLogWriterBuilder::new(), |writer| {
            // Writing to memory cannot fail, and the histogram's bounds are the format's.
            let _ = writer.write_histogram(histogram, start, length, Tag::new(tag));
        });
        // The writer begins every log with its header, which this one already has.
        self.put(|line| line.starts_with(b"Tag="));
    }

    /// Leaves what `body` writes, after a header, in `text`.
    fn encode(&mut self, mut builder: IntervalLogWriterBuilder, body: impl FnOnce(&mut Writer<'_, '_>)) {
        self.text.clear();
        builder.with_max_value_divisor(TICKS_PER_MS);
        if let Ok(mut writer) = builder.begin_log_with(&mut self.text, &mut self.serializer) {
            body(&mut writer);
        }
    }

    /// Writes the lines of `text` that are wanted.
    fn put(&mut self, wanted: impl Fn(&[u8]) -> bool) {
        for line in self.text.split_inclusive(|byte| *byte == b'\n').filter(|line| wanted(line)) {
            if self.failure.is_none() {
                self.failure = self.to.write_all(line).err();
            }
        }
    }

    /// Ends the log; gives why it is not whole, if it is not.
    pub(crate) fn end(self) -> Option<std::io::Error> {
        self.failure.or(self.to.flush().err())
    }
}

type Writer<'a, 'b> = IntervalLogWriter<'a, 'b, Vec<u8>, V2DeflateSerializer>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second::{histogram, record};
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn what_is_written_is_read_back() {
        let mut one = histogram();
        (1..=1000).for_each(|us| record(&mut one, us * 1000));
        let mut bytes = Vec::new();
        let mut log = IntervalLog::new(&mut bytes, SystemTime::UNIX_EPOCH);
        log.add("service", 0, 1_000_000_000, &one);
        log.add("service", 1_000_000_000, 500_000_000, &histogram());
        log.add("lateness", 1_000_000_000, 500_000_000, &one);
        assert!(log.end().is_none());
        let entries: Vec<_> = IntervalLogIterator::new(&bytes).map(Result::unwrap).collect();
        let intervals: Vec<_> = entries
            .iter()
            .filter_map(|entry| match entry {
                LogEntry::Interval(interval) => Some(interval),
                _ => None,
            })
            .collect();
        assert_eq!(intervals.len(), 2, "an empty histogram has no line");
        assert_eq!(intervals[1].tag(), Tag::new("lateness"));
        assert_eq!(intervals[1].duration(), Duration::from_millis(500));
        use base64::Engine;
        let encoded = base64::engine::general_purpose::STANDARD.decode(intervals[0].encoded_histogram()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut encoded.as_slice()).unwrap();
        assert_eq!(read, one);
    }

    #[test]
    fn a_failure_is_told_and_ends_the_writing() {
        let mut small = [0u8; 10];
        let mut room = &mut small[..];
        let log = IntervalLog::new(&mut room, SystemTime::UNIX_EPOCH);
        assert_eq!(log.end().unwrap().kind(), std::io::ErrorKind::WriteZero);
    }
}
