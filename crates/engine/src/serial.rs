//! How distributions and counts are written, and read from whoever wrote them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Largest count that is added to others: a thousand of them are still a number.
const MOST: u64 = 1 << 48;

/// Longest time that is read, in ticks: more than an hour.
const LONGEST: u64 = 1 << 36;

/// Significant digits of a time.
const DIGITS: u32 = 3;

/// Bytes of a histogram before its counts.
const HEADER_BYTES: usize = 40;

/// Whether a count is one that a load can have.
pub(crate) fn is_within(count: u64) -> bool {
    count <= MOST
}

/// A histogram as a text: HdrHistogram V2, in base64.
pub(crate) mod one {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Histogram;

    pub(crate) fn serialize<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(super::bytes(histogram)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        super::read(&bytes).map_err(D::Error::custom)
    }
}

/// The same where there may be none.
pub(crate) mod one_or_none {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Histogram;

    #[derive(Serialize)]
    struct Written<'a>(#[serde(with = "super::one")] &'a Histogram<u64>);

    #[derive(Deserialize)]
    struct Owned(#[serde(with = "super::one")] Histogram<u64>);

    pub(crate) fn serialize<S: Serializer>(histogram: &Option<Histogram<u64>>, to: S) -> Result<S::Ok, S::Error> {
        histogram.as_ref().map(Written).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Histogram<u64>>, D::Error> {
        Ok(Option::<Owned>::deserialize(from)?.map(|Owned(histogram)| histogram))
    }
}

/// A map whose keys are no texts, as a list of pairs.
pub(crate) mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(crate) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

pub(crate) fn bytes(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and the histogram's bounds are the format's.
    let _ = V2Serializer::new().serialize(histogram, &mut bytes);
    bytes
}

/// Whether its header is one of ours: room for what it says is made before anything else is read. Cookie, length of the counts and an offset of 4
/// bytes each, then 4 of digits, and 8 each of both bounds and a ratio.
fn has_our_header(bytes: &[u8]) -> bool {
    let Some((header, counts)) = bytes.split_at_checked(HEADER_BYTES) else { return false };
    let small = |at: usize| header[at..].first_chunk().copied().map(u32::from_be_bytes);
    let large = |at: usize| header[at..].first_chunk().copied().map(u64::from_be_bytes);
    let is_as_long = small(4).is_some_and(|length| length as usize == counts.len());
    is_as_long && small(12) == Some(DIGITS) && large(16) == Some(1) && large(24).is_some_and(|high| high <= LONGEST)
}

/// A histogram like any that is made here (`second`), which makes room for what is longer.
pub(crate) fn read(bytes: &[u8]) -> Result<Histogram<u64>, &'static str> {
    if !has_our_header(bytes) {
        return Err("it holds a histogram that no load has");
    }
    let mut from = bytes;
    let mut read: Histogram<u64> =
        Deserializer::new().deserialize(&mut from).map_err(|_| "it holds what is not a histogram")?;
    if (read.low(), read.sigfig()) != (1, 3) || read.max() > LONGEST || !is_within(read.len()) {
        return Err("it holds a histogram that no load has");
    }
    read.auto(true);
    Ok(read)
}
