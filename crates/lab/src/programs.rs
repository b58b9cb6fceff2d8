//! What builds have made, each under a name that says what it is: nothing is ever put in the place of something else, so
//! what one bourdon launches stays what it was, whatever others build beside it.

use std::fs::Metadata;
use std::io::Result;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use reaper::remove_folder;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};

use crate::durable::rename_durably;
use crate::error::LabError;
use crate::fingerprint::digest;

/// What was not used for so long is built anew when it is wanted again.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

/// What a build made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The file or folder that `$TARGET_BIN` stands for.
    pub path: PathBuf,
    /// Hex digest of what is in it.
    pub digest: String,
}

impl Program {
    /// From now on it counts as used, however old what the build copied may be.
    fn used(path: PathBuf, digest: String) -> Self {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let used = Timestamps { last_access: Timespec { tv_nsec: UTIME_OMIT, ..now }, last_modification: now };
        // Where that cannot be written it goes when its time is over, and is built anew.
        let _ = utimensat(CWD, &path, &used, AtFlags::empty());
        Self { path, digest }
    }
}

/// What a file looks like from outside: if nothing of that differs, nobody has written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    identity: (u64, u64),
    bytes: u64,
    /// When its content changed, and when anything of it did.
    changed: [(i64, i64); 2],
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        let changed = [(found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec())];
        Some(Self { identity: (found.dev(), found.ino()), bytes: found.len(), changed })
    }
}

/// When a file was written, or put where it is: what is copied may keep the time at which its content was made. Another name of the same file
/// somewhere else, as package managers give it, changes its status too, but not the folder that it is in here.
pub(crate) fn written_at(path: &Path) -> Option<Timestamp> {
    let about = path.metadata().ok()?;
    let time = |s: i64, ns: i64| Timestamp::new(s, i32::try_from(ns).ok()?).ok();
    let changed = time(about.ctime(), about.ctime_nsec())?;
    if about.nlink() == 1 {
        return Some(changed);
    }
    let folder = path.parent()?.metadata().ok()?;
    time(about.mtime(), about.mtime_nsec())?.max(time(folder.mtime(), folder.mtime_nsec())?).min(changed).into()
}

/// A program that is launched again and again, and may not change meanwhile. A folder may: a server writes beside itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launched {
    pub(crate) program: Program,
    stamp: Option<FileStamp>,
}

impl From<Program> for Launched {
    fn from(program: Program) -> Self {
        Self { stamp: FileStamp::of(&program.path), program }
    }
}

impl Launched {
    /// Whether its file was written since, perhaps with what was in it before.
    pub(crate) fn is_rewritten(&self) -> bool {
        self.stamp.is_some() && FileStamp::of(&self.program.path) != self.stamp
    }

    /// Whether it is another by now. It is read again only where it looks as if it were.
    pub(crate) fn is_another(&self, stop: &AtomicBool) -> bool {
        let Program { path, digest } = &self.program;
        let is_read = !path.is_dir() && (self.stamp.is_none() || FileStamp::of(path) != self.stamp);
        is_read && self::digest(path, stop).map_or_else(|_| !stop.load(Ordering::Relaxed), |now| now != *digest)
    }
}

/// The programs in one folder. The name of each is that of its target, what it was built from, and its digest.
pub(crate) struct Programs<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) target: &'a str,
}

impl Programs<'_> {
    /// The one with this digest.
    pub(crate) fn with_digest(&self, wanted: &str, stop: &AtomicBool) -> Option<Program> {
        self.find(|_, digest| digest == wanted, stop)
    }

    /// One that was built from this.
    pub(crate) fn built_from(&self, fingerprint: &str, stop: &AtomicBool) -> Option<Program> {
        self.find(|from, _| from == fingerprint, stop)
    }

    /// The first by name that is meant by what it was built from and its digest, if that is still what is in it: a server
    /// may write beside itself. From now on it counts as used.
    fn find(&self, is_meant: impl Fn(&str, &str) -> bool, stop: &AtomicBool) -> Option<Program> {
        let entries = std::fs::read_dir(self.folder).ok()?.flatten();
        let meant = |name: &String| {
            let (rest, digest) = name.rsplit_once('-')?;
            let (target, from) = rest.rsplit_once('-')?;
            (target == self.target && is_meant(from, digest)).then(|| digest.to_owned())
        };
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let (name, named) = names.filter_map(|name| meant(&name).map(|digest| (name, digest))).min()?;
        let path = self.folder.join(name);
        (digest(&path, stop).ok()? == named).then(|| Program::used(path, named))
    }

    /// Keeps what was made of this, durably. What is there under its name and still is what that says stays.
    pub(crate) fn keep(
        &self,
        made: &Path,
        fingerprint: &str,
        stop: &AtomicBool,
    ) -> std::result::Result<Program, Unkept> {
        let digest = digest(made, stop).map_err(Unkept::Unread)?;
        let path = self.folder.join(format!("{}-{fingerprint}-{digest}", self.target));
        if path.exists() {
            match self::digest(&path, stop) {
                Ok(there) if there == digest => {}
                Err(error) if stop.load(Ordering::Relaxed) => return Err(Unkept::Unread(error)),
                _ => remove(&path),
            }
        }
        if !path.exists() {
            match rename_durably(made, &path) {
                // Another bourdon, which made the same, was quicker.
                Err(_) if path.exists() => {}
                renamed => renamed.map_err(Unkept::Unwritten)?,
            }
        }
        Ok(Program::used(path, digest))
    }

    /// Removes what was not used for long, whatever target it is of. The clock is that of the folder's own file system, as
    /// `fresh` shows it, and `except` is left alone.
    pub(crate) fn forget_old(&self, fresh: &Path, except: &str) {
        let modified = |path: &Path| path.symlink_metadata().and_then(|found: Metadata| found.modified());
        let Ok(now) = modified(fresh) else { return };
        for entry in std::fs::read_dir(self.folder).into_iter().flatten().flatten() {
            let age = modified(&entry.path()).ok().and_then(|used| now.duration_since(used).ok());
            if entry.file_name() != except && age.is_some_and(|age| age > KEPT) {
                remove(&entry.path());
            }
        }
    }
}

/// Why what was made is not kept.
pub(crate) enum Unkept {
    /// It cannot be read.
    Unread(LabError),
    /// It cannot be given its name.
    Unwritten(std::io::Error),
}

fn remove(path: &Path) {
    let removed: Result<()> = std::fs::remove_file(path);
    if removed.is_err() {
        remove_folder(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_where_nobody_waits_until_it_is_known_to_be_another() {
        let folder = tempfile::tempdir().unwrap();
        let programs = Programs { folder: folder.path(), target: "odd" };
        let made = folder.path().join("made");
        let make = || std::fs::create_dir(&made).unwrap();
        make();
        let kept = programs.keep(&made, "0", &AtomicBool::new(false)).ok().unwrap();
        // An empty folder is known without a look at the flag, a file is not.
        std::fs::write(kept.path.join("cache"), "of its own").unwrap();
        make();
        assert!(matches!(programs.keep(&made, "0", &AtomicBool::new(true)), Err(Unkept::Unread(_))));
        assert!(kept.path.join("cache").exists());
        let again = programs.keep(&made, "0", &AtomicBool::new(false)).ok().unwrap();
        assert!(again == kept && !kept.path.join("cache").exists(), "it was another");
    }
}
