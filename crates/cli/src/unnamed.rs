use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::exit::Failure;

/// A file for what a target prints that is of no use later. It has no name, so that nothing of it is left, whoever is
/// killed.
pub(crate) struct Unnamed(File);

impl Unnamed {
    pub(crate) fn new() -> Result<Self, Failure> {
        tempfile::tempfile().map(Self).map_err(|error| {
            let folder = std::env::temp_dir();
            let cure = "set TMPDIR to a folder that can be written and has room";
            Failure::usage(format!("cannot make a temporary file in {}: {error}; {cure}", folder.display()))
        })
    }

    /// Where it can be opened, as long as this is there.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}
