//! Files that only grow, a line at a time.

use std::fs::{File, Metadata};
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

/// How much is read at once where the end of the last whole line is looked for.
const CHUNK: u64 = 64 * 1024;

/// The file of the trials, as long as what was written to it, and what that was.
#[derive(Debug)]
pub(crate) struct Lines {
    file: File,
    bytes: u64,
    written: Sha256,
}

impl Lines {
    /// A file, open for reading and appending, that has so many bytes.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn new(file: File, bytes: u64) -> Result<Self> {
        let written = hash(&file)?;
        Ok(Self { file, bytes, written })
    }

    /// Adds a line that a power cut does not undo. A target may do anything to a file: what it cut would be written on
    /// behind a hole, and could not be read again.
    pub(crate) fn append(&mut self, path: &Path, line: &[u8]) -> Result<()> {
        self.check(path)?;
        self.file.write_all(line)?;
        self.bytes += line.len() as u64;
        self.written.update(line);
        self.file.sync_data()
    }

    /// Whether what is found under the name is what was written.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        let found = self.file.metadata()?;
        let is_this = |other: &Metadata| (other.dev(), other.ino()) == (found.dev(), found.ino());
        match std::fs::metadata(path) {
            Ok(other) if is_this(&other) => {}
            Ok(_) => return Err(Error::other("somebody replaced it during the run")),
            Err(_) => return Err(Error::other("somebody removed or moved it during the run")),
        }
        if found.len() != self.bytes {
            let (found, ours) = (found.len(), self.bytes);
            return Err(Error::other(format!("somebody changed it during the run: it has {found} bytes, not {ours}")));
        }
        Ok(())
    }
}

impl Lines {
    /// Whether every byte is still the one that was written: a change in place leaves the length.
    pub(crate) fn verify(&self, path: &Path) -> Result<()> {
        self.check(path)?;
        let is_same = hash(&self.file)?.finalize() == self.written.clone().finalize();
        let changed = || Error::other("somebody changed it during the run: its lines are not those that were written");
        is_same.then_some(()).ok_or_else(changed)
    }
}

fn hash(mut file: &File) -> Result<Sha256> {
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK as usize]);
    file.seek(SeekFrom::Start(0))?;
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hash),
            count => hash.update(&chunk[..count]),
        }
    }
}

/// Cuts off what stands behind the last newline of a file, and leaves it at its end.
pub(crate) fn cut_torn_line(file: &mut File) -> Result<()> {
    let length = file.metadata()?.len();
    let mut end = length;
    let mut chunk = Vec::new();
    while end > 0 {
        let from = end.saturating_sub(CHUNK);
        file.seek(SeekFrom::Start(from))?;
        chunk.clear();
        Read::by_ref(file).take(end - from).read_to_end(&mut chunk)?;
        if let Some(place) = chunk.iter().rposition(|byte| *byte == b'\n') {
            end = from + place as u64 + 1;
            break;
        }
        end = from;
    }
    if end < length {
        file.set_len(end)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_torn_is_cut_off() {
        let long = "x".repeat(200_000);
        for (given, left) in [
            (String::new(), 0),
            ("one\n".to_owned(), 4),
            ("one\ntw".to_owned(), 4),
            (long.clone(), 0),
            (format!("one\n{long}"), 4),
            (format!("one\n{long}\n{long}"), 200_005),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(given.as_bytes()).unwrap();
            cut_torn_line(&mut file).unwrap();
            assert_eq!(file.metadata().unwrap().len(), left);
        }
    }
}
