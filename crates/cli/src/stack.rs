//! How much stack there is.

use rustix::process::{Resource, getrlimit};

use crate::exit::Failure;

/// Least stack on which everything runs, also as it is built for tests. Usual are 8 MiB.
const LEAST_BYTES: u64 = 1024 * 1024;

/// Says beforehand what the kernel would end without a word.
pub(crate) fn check() -> Result<(), Failure> {
    match getrlimit(Resource::Stack).current {
        Some(allowed) if allowed < LEAST_BYTES => Err(Failure::usage(format!(
            "the stack may have {} KiB here, and bourdon needs {}; raise the limit (ulimit -s 8192)",
            allowed / 1024,
            LEAST_BYTES / 1024
        ))),
        _ => Ok(()),
    }
}
