//! What nodes wrote down reply by reply, beside the distribution that was merged of what they brought.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::Brought;
use hdrhistogram::Histogram;
use model::TICK_NS;

/// Replies by bucket, from files of 64-bit numbers of nanoseconds.
///
/// Buckets by arithmetic of their own: HdrHistogram at three significant digits keeps 2^11 values of one tick, and of each power of two
/// above them 2^10.
pub(crate) fn by_bucket(folder: &Path) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let (replies, rest) = bytes.as_chunks::<8>();
        assert!(rest.is_empty(), "a file ends within a reply");
        for felt_ns in replies {
            let ticks = u64::from_le_bytes(*felt_ns).div_ceil(TICK_NS).max(1);
            let doublings = ticks.ilog2().saturating_sub(10);
            *counts.entry(ticks >> doublings << doublings).or_default() += 1;
        }
    }
    counts
}

/// The bucket in which the reply of a rank is, from 1 on, by its ticks.
pub(crate) fn bucket_of_rank(buckets: &BTreeMap<u64, u64>, rank: u64) -> Range<u64> {
    let mut before = 0;
    for (lowest, count) in buckets {
        before += count;
        if before >= rank {
            let doublings = lowest.ilog2().saturating_sub(10);
            return *lowest..lowest + (1 << doublings);
        }
    }
    panic!("{rank} of {before}");
}

/// The same of a histogram.
pub(crate) fn buckets(histogram: &Histogram<u64>) -> BTreeMap<u64, u64> {
    let lowest = |ticks| histogram.lowest_equivalent(ticks);
    histogram.iter_recorded().map(|value| (lowest(value.value_iterated_to()), value.count_at_value())).collect()
}

/// How long replies were waited for in a load that was saved (`-o`).
pub(crate) fn merged(saved: &str) -> Histogram<u64> {
    let document: serde_json::Value = serde_json::from_str(saved).unwrap();
    let part = STANDARD.decode(document["part"].as_str().unwrap()).unwrap();
    let felt = Brought::from_bytes(&part).unwrap().felt().unwrap();
    model::read_histogram(&felt).unwrap()
}
