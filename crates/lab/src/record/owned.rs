//! The files of a run folder that are for its run alone to write: what is found there must be what was written.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::document;
use crate::error::LabError;

/// How much is read at once.
const CHUNK: u64 = 64 * 1024;

/// How often a record that somebody holds is asked for, and how long it takes until the next time: a second in all.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(50);

/// A file, as long as what was written to it, and what that was.
#[derive(Debug)]
pub(super) struct Owned {
    path: PathBuf,
    file: File,
    bytes: u64,
    written: Sha256,
}

impl Owned {
    /// A file that is open for reading, as it is now.
    pub(super) fn of(path: &Path, file: File) -> Result<Self, LabError> {
        let (written, bytes) = hash(&file).map_err(LabError::file(path))?;
        Ok(Self { path: path.to_owned(), file, bytes, written })
    }

    /// One that is not written to any more.
    pub(super) fn read_only(path: &Path) -> Result<Self, LabError> {
        Self::of(path, document::open(path, OpenOptions::new().read(true))?)
    }

    /// The same where its folder has another name now.
    pub(super) fn at(self, folder: &Path) -> Self {
        Self { path: folder.join(self.path.file_name().unwrap_or_default()), ..self }
    }

    /// Adds a line in one write. A target may do anything to a file: what it cut would be written on behind a hole, and could
    /// not be read again.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), LabError> {
        self.check()?;
        self.file.write_all(line).map_err(LabError::file(&self.path))?;
        self.bytes += line.len() as u64;
        self.written.update(line);
        Ok(())
    }

    /// Brings to disk what was added: a power cut does not undo it.
    pub(super) fn sync(&self) -> Result<(), LabError> {
        self.file.sync_data().map_err(LabError::file(&self.path))
    }

    /// Whether what is found under the name is as long as what was written.
    pub(super) fn check(&self) -> Result<(), LabError> {
        let found = self.file.metadata().map_err(LabError::file(&self.path))?;
        let is_this = |other: &Metadata| (other.dev(), other.ino()) == (found.dev(), found.ino());
        match std::fs::metadata(&self.path) {
            Ok(other) if is_this(&other) => {}
            Ok(_) => return Err(self.changed("replaced it")),
            Err(_) => return Err(self.changed("removed or moved it")),
        }
        let (found, ours) = (found.len(), self.bytes);
        if found == ours { Ok(()) } else { Err(self.changed(format!("changed it (it has {found} bytes, not {ours})"))) }
    }

    /// Whether every byte is still the one that was written: a change in place leaves the length.
    pub(super) fn verify(&self) -> Result<(), LabError> {
        self.check()?;
        let (found, _) = hash(&self.file).map_err(LabError::file(&self.path))?;
        let is_same = found.finalize() == self.written.clone().finalize();
        if is_same { Ok(()) } else { Err(self.changed("changed what was written to it")) }
    }

    fn changed(&self, how: impl Into<String>) -> LabError {
        LabError::Changed { path: self.path.clone(), how: how.into() }
    }
}

/// What a file holds, and how many bytes that is.
fn hash(mut file: &File) -> io::Result<(Sha256, u64)> {
    let (mut hash, mut bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK as usize]);
    file.seek(SeekFrom::Start(0))?;
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok((hash, bytes)),
            count => {
                hash.update(&chunk[..count]);
                bytes += count as u64;
            }
        }
    }
}

/// Cuts off, for good, what stands behind the last newline of a file.
pub(super) fn cut_torn_line(file: &mut File) -> io::Result<()> {
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
        file.sync_all()?;
    }
    Ok(())
}

/// Takes the record for itself. A bourdon that was killed may still hold it for a moment, by a child that it was making.
pub(super) fn lock(file: &File, path: &Path, run: &Path) -> Result<(), LabError> {
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(AGAIN),
            Err(other) => return Err(LabError::file(path)(other.into())),
        }
    }
    Err(LabError::Busy { path: run.to_owned() })
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

    #[test]
    fn who_is_just_going_is_waited_for_and_who_stays_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let held = || {
            let file = File::create(folder.path().join("it")).unwrap();
            flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
            file
        };
        let ours = || File::open(folder.path().join("it")).unwrap();
        let going = held();
        let goes = std::thread::spawn(move || {
            std::thread::sleep(2 * AGAIN);
            drop(going);
        });
        assert!(lock(&ours(), folder.path(), folder.path()).is_ok());
        goes.join().unwrap();
        let _stays = held();
        assert!(matches!(lock(&ours(), folder.path(), folder.path()), Err(LabError::Busy { .. })));
    }
}
