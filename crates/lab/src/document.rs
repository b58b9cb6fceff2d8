//! Documents as they lie on disk: one is taken only when it is a file, whole, and of a shape that this bourdon knows.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use model::check_schema;
use rustix::fs::OFlags;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::durable::write_durably;
use crate::error::LabError;

/// Where a document in TOML begins, so that one of before, which has no mark at its end, is not taken for one that was
/// cut: what is cut from TOML leaves good TOML.
const BEGIN: &str = "# Whole only with its last line, \"# end\".\n";
const END: &str = "# end";

/// What each document begins with.
#[derive(Deserialize)]
struct Head<T> {
    schema: T,
}

/// Opens a file. Folders come from anywhere: a FIFO or a device under a file's name is refused, not waited for, and so is a
/// link that leads nowhere.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> Result<File, LabError> {
    let file = options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound if path.is_symlink() => LabError::Astray { path: path.to_owned() },
        // One that would be written to is refused by the system itself.
        ErrorKind::IsADirectory => LabError::NotAFile { path: path.to_owned() },
        _ => LabError::file(path)(error),
    })?;
    if !file.metadata().map_err(LabError::file(path))?.is_file() {
        return Err(LabError::NotAFile { path: path.to_owned() });
    }
    Ok(file)
}

/// The same of a file that is made where there is none. What a link names lies elsewhere, and is not made.
pub(crate) fn open_or_make(path: &Path, options: &mut OpenOptions) -> Result<File, LabError> {
    match open(path, options) {
        Err(error) if error.is_missing() => open(path, options.create_new(true)),
        opened => opened,
    }
}

/// Bytes of a document at most. A plan holds, for each cell, the bodies that it sends and expects, each byte as a number: five
/// cells with the longest body that fits into an experiment (1 MiB) have room, or 5,000, the most there are, with what a
/// usual one asks (2 KB). To read one takes up to 75 times its size in memory.
const MOST_BYTES: u64 = 32 << 20;

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    read_at_most(path, MOST_BYTES)
}

/// The content of a file. Folders come from anywhere: one that is larger than what it should hold is refused, not read.
pub(crate) fn read_at_most(path: &Path, most_bytes: u64) -> Result<Vec<u8>, LabError> {
    let file = open(path, OpenOptions::new().read(true))?;
    let mut content = Vec::new();
    let length = file.metadata().and_then(|found| match found.len() {
        length if length > most_bytes => Ok(length),
        _ => file.take(most_bytes + 1).read_to_end(&mut content).map(|read| read as u64),
    });
    match length.map_err(LabError::file(path))? {
        length if length > most_bytes => {
            Err(LabError::file(path)(std::io::Error::other(format!("it is larger than {} MiB", most_bytes >> 20))))
        }
        _ => Ok(content),
    }
}

/// Writes a document in TOML, whole or not at all.
///
/// # Errors
/// When it cannot be written, or could not be read again.
pub fn write_toml(path: &Path, document: &impl Serialize) -> Result<(), LabError> {
    let text = toml::to_string(document).map_err(|error| content(path, 0, error))?;
    let text = format!("{BEGIN}{text}\n{END}\n");
    if text.len() as u64 > MOST_BYTES {
        let why = format!("it would be {} MiB, and {} are read at most", text.len() >> 20, MOST_BYTES >> 20);
        return Err(LabError::file(path)(std::io::Error::other(format!(
            "{why}; vary fewer levels, or use shorter bodies"
        ))));
    }
    write_durably(path, text.as_bytes()).map_err(LabError::file(path))
}

/// Reads a document in TOML of one of these schemas, the newest first.
///
/// # Errors
/// When it cannot be read, was cut, has another schema or is not what it should be.
pub fn read_toml<T: DeserializeOwned>(path: &Path, schemas: &[&'static str]) -> Result<T, LabError> {
    let bytes = read(path)?;
    let text = str::from_utf8(&bytes).map_err(|error| content(path, line_of(&bytes[..error.valid_up_to()]), error))?;
    let cut = text.starts_with(BEGIN) && text.trim_end().lines().last() != Some(END);
    if cut || text.trim().is_empty() {
        return Err(LabError::Cut { path: path.to_owned() });
    }
    let wrong = |error: toml::de::Error| {
        let before = error.span().map_or(0, |span| span.start.min(text.len()));
        content(path, line_of(&bytes[..before]), error.message())
    };
    let found = toml::from_str::<Head<toml::Spanned<String>>>(text).map_err(wrong)?.schema;
    check_schema(found.as_ref(), schemas)
        .map_err(|error| content(path, line_of(&bytes[..found.span().start.min(bytes.len())]), error))?;
    toml::from_str(text).map_err(wrong)
}

/// Reads a document in JSON of one of these schemas, the newest first.
///
/// # Errors
/// When it cannot be read, has another schema or is not what it should be.
pub fn read_json<T: DeserializeOwned>(path: &Path, schemas: &[&'static str]) -> Result<T, LabError> {
    from_json(&read(path)?, schemas, path, 1)
}

/// A document in JSON of one of these schemas, the newest first, which was read from a line of a file.
pub(crate) fn from_json<T: DeserializeOwned>(
    bytes: &[u8],
    schemas: &[&'static str],
    path: &Path,
    line: usize,
) -> Result<T, LabError> {
    let head: Head<String> = serde_json::from_slice(bytes).map_err(|error| content(path, line, error))?;
    check_schema(&head.schema, schemas).map_err(|error| content(path, line, error))?;
    serde_json::from_slice(bytes).map_err(|error| content(path, line, error))
}

/// A document in one line.
pub(crate) fn to_json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("our types have text keys, and writing to memory works")
}

fn line_of(before: &[u8]) -> usize {
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

pub(crate) fn content(path: &Path, line: usize, text: impl ToString) -> LabError {
    LabError::Content { path: path.to_owned(), line, text: text.to_string() }
}

#[cfg(test)]
mod tests {
    use model::{Draft, PLAN_SCHEMAS};

    use super::*;

    #[test]
    fn a_file_that_is_larger_than_any_document_is_refused_and_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.toml");
        File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let said = read_toml::<Draft>(&path, &PLAN_SCHEMAS).unwrap_err().to_string();
        assert!(said.ends_with("plan.toml: it is larger than 32 MiB"), "{said}");
    }

    #[test]
    fn a_document_that_could_not_be_read_again_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.toml");
        let plan = std::collections::BTreeMap::from([("question", "?".repeat(MOST_BYTES as usize))]);
        let said = write_toml(&path, &plan).unwrap_err().to_string();
        assert!(said.contains("plan.toml: it would be 32 MiB, and 32 are read at most; vary fewer"), "{said}");
        assert!(!path.exists());
    }
}
