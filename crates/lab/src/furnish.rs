//! What the contract says is there when a target is launched.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::tls;

/// Bytes of the file that `/hash` reads.
const DATA_BYTES: usize = 64 * 1024;

/// The file that `/hash` reads, in the folder that each launch has to itself.
pub(crate) const DATA_FILE: &str = "data";

/// The file with a line `key TAB value` for each key, which `/work` looks into.
pub(crate) const WORK_FILE: &str = "work.tsv";

/// How many keys there are: 1 and up.
pub(crate) const WORK_KEYS: u32 = 1000;

/// Puts into the folder that a launch has to itself what the contract says is there.
///
/// # Errors
/// When it cannot be written.
pub fn furnish(scratch: &Path) -> std::io::Result<()> {
    let mut files = [(DATA_FILE, data()), (WORK_FILE, work())].into_iter().chain(tls::files());
    files.try_for_each(|(file, bytes)| std::fs::write(scratch.join(file), bytes))
}

/// The value of a key of `/work`, which nobody guesses.
pub(crate) fn work_value(key: u32) -> String {
    let digest = Sha256::digest(format!("bourdon {key}"));
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn work() -> Vec<u8> {
    let line = |key| format!("{key}\t{}\n", work_value(key));
    (1..=WORK_KEYS).map(line).collect::<String>().into_bytes()
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
