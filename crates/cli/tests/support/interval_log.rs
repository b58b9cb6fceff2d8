use std::collections::BTreeMap;
use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

/// A histogram log, read as another tool would: the number of values under each tag.
pub(crate) fn counts(path: &Path) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for entry in IntervalLogIterator::new(&std::fs::read(path).unwrap()) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let bytes = decode(interval.encoded_histogram());
            let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            *counts.entry(interval.tag().unwrap().as_str().to_owned()).or_default() += histogram.len();
        }
    }
    counts
}

/// Base64 with padding (RFC 4648 §4).
fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .trim_end_matches('=')
        .bytes()
        .map(|byte| ALPHABET.iter().position(|digit| *digit == byte).unwrap() as u32)
        .collect();
    let bytes_of = |four: &[u32]| {
        let bits = four.iter().chain(&[0; 4]).take(4).fold(0, |bits, digit| bits << 6 | digit);
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(bytes_of).collect()
}
