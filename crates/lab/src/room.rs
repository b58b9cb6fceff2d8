//! Whether a disk was full while something was written to it. What failed for want of room may have cleared up after
//! itself before anybody looks, so it is looked at all the time.

use std::path::PathBuf;

use rustix::fs::statvfs;

/// With less left a disk is full: what was to be written next was larger than that.
const FULL_BYTES: u64 = 64 * 1024;

/// Folders, and the least room that was seen in each.
pub(crate) struct Room(Vec<(PathBuf, u64)>);

impl Room {
    pub(crate) fn of(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(folders.into_iter().map(|folder| (folder, u64::MAX)).collect())
    }

    pub(crate) fn look(&mut self) {
        for (folder, least) in &mut self.0 {
            // A file system that counts no blocks has no end of them.
            if let Some(seen) = statvfs(&*folder).ok().filter(|seen| seen.f_blocks > 0) {
                *least = (*least).min(seen.f_bavail.saturating_mul(seen.f_frsize));
            }
        }
    }

    /// The first folder that was full, in words.
    pub(crate) fn full(&self) -> Option<String> {
        let (folder, _) = self.0.iter().find(|(_, least)| *least < FULL_BYTES)?;
        Some(format!(
            "{} is full; make room there, or set XDG_CACHE_HOME and TMPDIR to folders that have it",
            folder.display()
        ))
    }
}
