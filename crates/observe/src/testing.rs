//! What the tests of profiles share.

use std::io::Read;

use flate2::Compression;
use flate2::read::GzEncoder;

/// Packs bytes as a target or `perf` does.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed).expect("it packs to memory");
    packed
}
