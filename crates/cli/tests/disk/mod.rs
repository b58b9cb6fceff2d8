//! A disk whose power can be cut: a file system on an image, of which a copy is what a cut leaves.
#![allow(dead_code, reason = "each test binary uses its own part of the vocabulary")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const BYTES: u64 = 32 << 20;

/// What the smallest file takes of a disk in memory.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// An image, mounted; dropped, it is unmounted.
pub(crate) struct Disk {
    folder: TempDir,
}

impl Disk {
    /// An empty ext4; none where this user may not mount one, which is said.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(BYTES).unwrap();
        let made = call("mkfs.ext4", &["-q", "-F"].map(Path::new), &image);
        match made.and_then(|()| mount(&folder)) {
            Ok(()) => Some(Self { folder }),
            Err(why) => {
                eprintln!("NOT RUN: no disk can be made here: {why}");
                None
            }
        }
    }

    /// One in memory that takes so many pages of files; folders and names take none. None where this user may not mount
    /// it, which is said.
    pub(crate) fn of_pages(pages: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        let size = format!("size={}", pages * PAGE_BYTES);
        let made = call("mount", &["-t", "tmpfs", "-o", &size, "tmpfs"].map(Path::new), &disk);
        made.inspect_err(|why| eprintln!("NOT RUN: no disk can be made here: {why}")).ok().map(|()| Self { folder })
    }

    /// Gives one in memory so many pages from now on.
    pub(crate) fn resize(&self, pages: u64) {
        let size = format!("remount,size={}", pages * PAGE_BYTES);
        call("mount", &["-o", &size].map(Path::new), &self.path()).unwrap();
    }

    /// What a disk of these bytes holds, its journal replayed as after a power cut.
    pub(crate) fn of(image: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("image"), image).unwrap();
        mount(&folder).unwrap();
        Self { folder }
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    /// The disk's bytes at one moment: what has not been written back from memory is not in it. Whoever writes to it must
    /// stand still, so that two readings agree.
    pub(crate) fn image(&self) -> Vec<u8> {
        let read = || std::fs::read(self.folder.path().join("image")).unwrap();
        let mut before = read();
        loop {
            let now = read();
            if now == before {
                return now;
            }
            before = now;
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

fn mount(folder: &TempDir) -> Result<(), String> {
    let (image, disk) = (folder.path().join("image"), folder.path().join("disk"));
    std::fs::create_dir(&disk).map_err(|error| error.to_string())?;
    call("mount", &["-o".as_ref(), "loop".as_ref(), image.as_ref()], &disk)
}

fn call(program: &str, arguments: &[&Path], on: &Path) -> Result<(), String> {
    let Output { status, stderr, .. } =
        Command::new(program).args(arguments).arg(on).output().map_err(|error| format!("{program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program}: {}", String::from_utf8_lossy(&stderr).trim())) }
}
