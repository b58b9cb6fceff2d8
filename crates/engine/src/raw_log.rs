//! How long each reply was waited for, one by one, beside the distributions.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// One thread's file of 64-bit numbers, little-endian.
pub(crate) struct RawLog(Option<BufWriter<File>>);

impl RawLog {
    /// A thread's, in a folder in which other processes may have theirs; none that is there already is written to.
    pub(crate) fn create(folder: &Path, thread: u32) -> io::Result<Self> {
        let file = File::create_new(folder.join(format!("{}-{thread}", std::process::id())))?;
        Ok(Self(Some(BufWriter::with_capacity(1 << 20, file))))
    }

    /// What cannot be written ends it: it has fewer replies than the books then.
    pub(crate) fn push(&mut self, felt_ns: u64) {
        if self.0.as_mut().is_some_and(|file| file.write_all(&felt_ns.to_le_bytes()).is_err()) {
            self.0 = None;
        }
    }
}
