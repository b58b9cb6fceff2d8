//! The files that a load writes. What stood in them before goes only when there is something to take its place.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::exit::Failure;

/// What begins a line of an interval log that holds a histogram.
const INTERVAL: &[u8] = b"Tag=";

/// Sees to it before the load that both files can be written, and are two: that costs no measurement. Gives the interval
/// log, where there is one.
pub(crate) fn prepare(output: Option<&Path>, log: Option<&Path>) -> std::result::Result<Option<LogFile>, Failure> {
    if let (Some(output), Some(log)) = (output, log)
        && place(output) == place(log)
    {
        let shown = output.display();
        return Err(Failure::usage(format!("--output and --histogram-log both name {shown}; name two files")));
    }
    if let Some(file) = output {
        lab::check_writable(file).map_err(|error| unwritable(file, &error))?;
    }
    log.map(|file| LogFile::open(file).map_err(|error| unwritable(file, &error))).transpose()
}

/// Where a file is, or will be, whatever it is called.
fn place(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || folder.canonicalize().map(|folder| folder.join(file.file_name().unwrap_or_default()));
    file.canonicalize().or_else(|_| in_folder()).unwrap_or_else(|_| file.to_owned())
}

/// Saves the result of a load.
pub(crate) fn save(file: &Path, document: &str) -> std::result::Result<(), Failure> {
    lab::write_through_links(file, document.as_bytes()).map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &Path, error: &Error) -> Failure {
    let cure = match lab::cure(error) {
        "" if error.kind() == ErrorKind::Unsupported => {
            "; name a file in a folder that can be written (--format json prints to stdout)"
        }
        "" => "; name a file in a folder that can be written",
        cure => cure,
    };
    Failure::usage(format!("cannot write {}: {}{cure}", file.display(), lab::why(error)))
}

/// An interval log, which is emptied by its first histogram: a load that reaches nobody leaves it as it was.
pub(crate) struct LogFile {
    file: BufWriter<File>,
    /// The head of the log, until there is a histogram.
    head: Option<Vec<u8>>,
}

impl LogFile {
    fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        // To open a pipe waits for whoever reads it, unless it is asked not to; it is, while this is open.
        let is_pipe = path.metadata().is_ok_and(|there| there.file_type().is_fifo());
        let read = is_pipe.then(|| options.clone().custom_flags(OFlags::NONBLOCK.bits() as i32).open(path));
        let _read = read.transpose().map_err(|_| Error::other("it is a pipe that nobody reads"))?;
        let file = options.open(path)?;
        Ok(Self { file: BufWriter::new(file), head: Some(Vec::new()) })
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let Some(mut head) = self.head.take() else { return self.file.write(bytes) };
        if !bytes.starts_with(INTERVAL) {
            head.extend_from_slice(bytes);
            self.head = Some(head);
            return Ok(bytes.len());
        }
        match self.file.get_ref().set_len(0) {
            // What is not a file (a pipe, /dev/null) has no length.
            Err(error) if error.kind() != ErrorKind::InvalidInput => return Err(error),
            _ => self.file.write_all(&head)?,
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_emptied_by_its_first_histogram() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        std::fs::write(&file, "an older and longer one").unwrap();
        let mut log = LogFile::open(&file).unwrap();
        log.write_all(b"#head\n").unwrap();
        log.flush().unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"an older and longer one");
        log.write_all(b"Tag=a\n").unwrap();
        log.write_all(b"Tag=b\n").unwrap();
        log.flush().unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"#head\nTag=a\nTag=b\n");
    }

    #[test]
    fn two_names_of_one_file_are_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        let roundabout = folder.path().join(".").join("x");
        assert_eq!(place(&file), place(&roundabout), "which is not there");
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, folder.path().join("y")).unwrap();
        assert_eq!(place(&file), place(&folder.path().join("y")));
        assert_ne!(place(&file), place(&folder.path().join("z")));
    }
}
