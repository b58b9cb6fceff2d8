//! Files that a user names are read to a bound: a device has no end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes of an experiment, a target, a list of routes or certificates at most.
pub(crate) const MOST_TEXT: u64 = 1 << 20;

/// Bytes of a body at most.
pub(crate) const MOST_BODY: u64 = 64 << 20;

/// Opens a file that a user named; a folder can be opened, too, and not be read.
pub(crate) fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| Error::new(error.kind(), lab::why(&error)))?;
    match file.metadata()?.is_dir() {
        true => Err(Error::new(ErrorKind::IsADirectory, lab::FOLDER)),
        false => Ok(file),
    }
}

/// What is in a file, unless that is more than `most_bytes`.
pub(crate) fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(Error::other(format!("it is larger than {} MiB", most_bytes >> 20)));
    }
    Ok(bytes)
}

/// The same as a text of at most [`MOST_TEXT`].
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path, MOST_TEXT)?).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}
