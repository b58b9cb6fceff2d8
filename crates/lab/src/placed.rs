//! Where a program's pages lie in memory.
//!
//! The system reads a file into pages once and keeps them there, and which lines of the caches they fall on is chance. Launches share the pages of
//! their program, so that chance is the same in all of them: no number of launches tells it from what the program costs. So each launch is given pages of
//! its own, and the chance is in the scatter over launches, as it should be.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

/// Largest file whose pages are read again for a launch.
const LARGEST_BYTES: u64 = 256 << 20;

/// Has the pages of these files lie elsewhere from now on, as far as nobody uses them. What cannot be had is left as it is: a launch from there is
/// one like any other.
pub(crate) fn place_anew<'a>(files: impl IntoIterator<Item = &'a Path>) {
    for path in files {
        let Ok(mut file) = File::open(path) else { continue };
        if file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST_BYTES) {
            // What was just built is only let go once it is on the disk.
            let _ = file.sync_data();
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
            let _ = io::copy(&mut file, &mut io::sink());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_it_was_and_what_is_none_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let (program, missing) = (folder.path().join("program"), folder.path().join("missing"));
        std::fs::write(&program, vec![7; 100_000]).unwrap();
        place_anew([missing.as_path(), folder.path(), program.as_path()]);
        assert_eq!(std::fs::read(&program).unwrap(), vec![7; 100_000]);
    }
}
