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
    use std::io::Read;
    use std::os::unix::fs::FileExt;
    use std::process::{Command, Stdio};

    use super::*;

    /// The frame in which each page of a program's code lies while it runs, 0 of one that is not there and where only root may know: 8 bytes for each page, of which 55 bits
    /// are the frame (the kernel's Documentation/admin-guide/mm/pagemap.rst).
    fn frames(program: &Path) -> Vec<u64> {
        let mut run = Command::new(program);
        run.args(["-c", "echo; read line"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut run = run.spawn().unwrap();
        run.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", run.id())).unwrap();
        let pagemap = File::open(format!("/proc/{}/pagemap", run.id())).unwrap();
        let is_code = |line: &&str| line.contains("r-xp") && line.ends_with(program.to_str().unwrap());
        let frame = |page: u64| {
            let mut entry = [0; 8];
            pagemap.read_exact_at(&mut entry, page * 8).unwrap();
            u64::from_le_bytes(entry) & ((1 << 55) - 1)
        };
        let found = maps.lines().filter(is_code).flat_map(|line| {
            let (from, to) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
            let [from, to] = [from, to].map(|address| u64::from_str_radix(address, 16).unwrap() / 4_096);
            (from..to).map(frame)
        });
        let found = found.collect();
        drop(run.stdin.take());
        run.wait().unwrap();
        found
    }

    #[test]
    fn a_program_lies_where_it_lay_until_it_is_placed_anew() {
        // On a disk, as what is built is.
        let built = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(built.parent().unwrap()).unwrap();
        let program = folder.path().join("bash");
        std::fs::copy("/bin/bash", &program).unwrap();
        let first = frames(&program);
        if first.iter().all(|frame| *frame == 0) {
            eprintln!("only root sees page frames: not tested");
            return;
        }
        // A frame may come back as another page.
        let same = |again: Vec<u64>| {
            let there = first.iter().zip(again).filter(|(frame, again)| **frame != 0 && *again != 0);
            let (all, same) =
                there.fold((0, 0), |(all, same), (frame, again)| (all + 1, same + u32::from(*frame == again)));
            f64::from(same) / f64::from(all)
        };
        let unplaced = same(frames(&program));
        // Pages that the kernel is busy with stay, now and then all.
        let tries = std::iter::repeat_with(|| {
            place_anew([program.as_path()]);
            same(frames(&program))
        });
        let placed = tries.take(3).fold(1.0, f64::min);
        assert!(unplaced > 0.9 && placed < 0.5, "{unplaced} of its pages lay where they had lain, and {placed} do");
    }

    #[test]
    fn a_file_is_what_it_was_and_what_is_none_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let (program, missing) = (folder.path().join("program"), folder.path().join("missing"));
        std::fs::write(&program, vec![7; 100_000]).unwrap();
        place_anew([missing.as_path(), folder.path(), program.as_path()]);
        assert_eq!(std::fs::read(&program).unwrap(), vec![7; 100_000]);
    }
}
