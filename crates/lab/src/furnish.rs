//! What the contract says is there when a target is launched.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::tls;

/// Bytes of the file that `/hash` reads.
const DATA_BYTES: usize = 64 * 1024;

/// The file that `/hash` reads, in the folder that each launch has to itself.
pub(crate) const DATA_FILE: &str = "data";

/// Puts into the folder that a launch has to itself what the contract says is there.
///
/// # Errors
/// When it cannot be written.
pub fn furnish(scratch: &Path) -> std::io::Result<()> {
    let mut files = std::iter::once((DATA_FILE, data())).chain(tls::files());
    files.try_for_each(|(file, bytes)| std::fs::write(scratch.join(file), bytes))
}

/// The bytes of the file that `/hash` reads, which no compression or guess gives: a chain of digests.
pub(crate) fn data() -> Vec<u8> {
    let mut data = Vec::with_capacity(DATA_BYTES);
    let mut block = Sha256::digest(b"bourdon");
    while data.len() < DATA_BYTES {
        data.extend_from_slice(&block);
        block = Sha256::digest(block);
    }
    data
}
