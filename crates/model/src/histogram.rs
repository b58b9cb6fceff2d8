//! Histograms as records keep them: HdrHistogram V2, deflate, base64.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use crate::{LatencyCounts, latency_bucket};

/// What histograms of latencies count in, in nanoseconds.
pub const TICK_NS: u64 = 100;

/// The bounds that any of ours has: from one tick, at three significant digits, to no more than the power of two above an hour.
const LOWEST_TICKS: u64 = 1;
const DIGITS: u32 = 3;
const MOST_TICKS: u64 = 1 << 36;

/// Bytes of the counts at most: room for them is made before they are read.
const MOST_BYTES: u32 = 1 << 20;

/// Where these stand: a cookie and the length of what is compressed; in it a cookie, a length, an offset, digits and both bounds.
const COMPRESSED_FROM: usize = 8;
const HEADER_BYTES: usize = 32;

/// How wide the bucket of a latency is, both in microseconds: what of it nobody knows.
pub fn bucket_width_us(us: f64) -> f64 {
    let ticks = (us * 1e3 / TICK_NS as f64).max(1.0);
    // So many digits take 2^11 buckets of one tick, and then half as many for each power of two.
    let doublings = (ticks.log2().floor() - 10.0).max(0.0);
    doublings.exp2() * TICK_NS as f64 / 1e3
}

/// What is in an encoded histogram. None where it is damaged, or has other bounds than any of ours: room for 2^63 at five digits
/// takes a tenth of a second to make, and a folder may have thousands.
pub fn read_histogram(encoded: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(encoded).ok()?;
    has_our_bounds(&bytes)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

fn has_our_bounds(bytes: &[u8]) -> Option<()> {
    let mut header = [0; HEADER_BYTES];
    ZlibDecoder::new(bytes.get(COMPRESSED_FROM..)?).read_exact(&mut header).ok()?;
    let [length, digits] = [4, 12].map(|at| header[at..].first_chunk().copied().map(u32::from_be_bytes));
    let [lowest, highest] = [16, 24].map(|at| header[at..].first_chunk().copied().map(u64::from_be_bytes));
    (length? <= MOST_BYTES && digits? == DIGITS && lowest? == LOWEST_TICKS && highest? <= MOST_TICKS).then_some(())
}

/// How many of a histogram lie in which bucket. As quantiles are told, the upper end of what it keeps as one counts.
pub fn latency_counts(histogram: &Histogram<u64>) -> LatencyCounts {
    let mut counts: BTreeMap<i16, u64> = BTreeMap::new();
    for value in histogram.iter_recorded() {
        let known = counts.entry(latency_bucket(value.value_iterated_to() as f64 * TICK_NS as f64 / 1e3)).or_default();
        *known = known.saturating_add(value.count_at_value());
    }
    counts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

    use super::*;

    fn encoded(mut serializer: impl Serializer, lowest: u64, highest: u64, digits: u8) -> String {
        let mut histogram = Histogram::<u64>::new_with_bounds(lowest, highest, digits).unwrap();
        histogram.record(1_000).unwrap();
        let mut bytes = Vec::new();
        let _ = serializer.serialize(&histogram, &mut bytes);
        STANDARD.encode(bytes)
    }

    #[test]
    fn a_bucket_is_as_wide_as_in_the_histogram() {
        let histogram = Histogram::<u64>::new(3).unwrap();
        for ticks in [1, 2, 80, 2_047, 2_048, 4_095, 4_096, 123_456, 10_000_000] {
            let width_us = histogram.equivalent_range(ticks) as f64 * TICK_NS as f64 / 1e3;
            assert_eq!(bucket_width_us(ticks as f64 * TICK_NS as f64 / 1e3), width_us, "{ticks}");
        }
    }

    #[test]
    fn only_bounds_of_ours_are_read() {
        let read =
            |lowest, highest, digits| read_histogram(&encoded(V2DeflateSerializer::new(), lowest, highest, digits));
        let hour = read(1, 36_000_000_000, 3).unwrap();
        assert_eq!(latency_counts(&hour), [(latency_bucket(100.0), 1)]);
        assert!(read(1, 2_000, 3).is_some());
        assert!(read(1, u64::MAX, 3).is_none(), "more than an hour");
        assert!(read(1, 36_000_000_000, 5).is_none(), "more digits");
        assert!(read(1_000, 36_000_000_000, 3).is_none(), "not from one tick");
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let whole = encoded(V2DeflateSerializer::new(), 1, 2_000, 3);
        let bytes = STANDARD.decode(&whole).unwrap();
        for length in 0..bytes.len() / 2 {
            assert!(read_histogram(&STANDARD.encode(&bytes[..length])).is_none(), "{length} bytes");
        }
        assert!(read_histogram("not base64").is_none());
        assert!(read_histogram(&encoded(V2Serializer::new(), 1, 2_000, 3)).is_none(), "not compressed");
    }
}
