//! Folders that are being used by one bourdon, and what killed ones have left of theirs.

use std::fs::{DirBuilder, File, Metadata, Permissions, TryLockError};
use std::io::{Error, Result};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use reaper::remove_folder;

/// As often a sweep can come between making a folder and holding it.
const TRIES: u32 = 100;

/// A folder with a name of its own, which goes with this unless it has got another name. As long as it is held, no sweep
/// takes it: one that can be locked is nobody's. A number of a process would not say so, for another container that shares
/// the folder counts its own.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    lock: Option<File>,
}

impl Held {
    /// Makes one in `place`, which must be there; its name begins with `prefix`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(place: &Path, prefix: &str) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).permissions(Permissions::from_mode(0o777));
        for _ in 0..TRIES {
            if let Some(held) = Self::hold(builder.tempdir_in(place)?.keep()) {
                return Ok(held);
            }
        }
        Err(Error::other("what is made there is removed at once"))
    }

    /// Makes one of `place` that was there before, where nobody has made it since; else one with a name of its own.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_again(place: &Path, before: &Path) -> Result<Self> {
        let is_in_place = before.parent() == Some(place);
        let made = is_in_place.then(|| DirBuilder::new().mode(0o777).create(before).ok()).flatten();
        match made.and_then(|()| Self::hold(before.to_owned())) {
            Some(held) => Ok(held),
            None => Self::make(place, ""),
        }
    }

    /// Holds a folder that was just made; nothing where a sweep was quicker.
    fn hold(path: PathBuf) -> Option<Self> {
        let lock = File::open(&path).ok();
        let locked = lock.as_ref().map(File::try_lock);
        let held = Self { path, lock };
        match locked {
            Some(Ok(())) if held.is_there() => Some(held),
            // Where a folder cannot be locked, no sweep can say that it is nobody's.
            Some(Err(TryLockError::Error(_))) => Some(held),
            _ => None,
        }
    }

    /// Whether a sweep was not quicker: its name still leads to it.
    fn is_there(&self) -> bool {
        let identity = |found: std::io::Result<Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
        self.lock.as_ref().is_some_and(|folder| identity(folder.metadata()) == identity(self.path.metadata()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        remove_folder(&self.path);
    }
}

/// Gives `remove` every folder in `place` that nobody holds, and whose name is one of those meant.
pub fn sweep(place: &Path, is_meant: impl Fn(&str) -> bool, remove: impl Fn(&Path)) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !is_meant(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let Ok(folder) = File::open(entry.path()) else { continue };
        if folder.try_lock().is_ok() {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn what_is_held_stays_and_what_nobody_holds_is_swept() {
        let place = tempfile::tempdir().unwrap();
        let remove = |path: &Path| std::fs::remove_dir_all(path).unwrap();
        let held = Held::make(place.path(), "x-").unwrap();
        let other = Held::make(place.path(), "x-").unwrap();
        assert_ne!(held.path(), other.path());
        std::fs::create_dir(place.path().join("x-4711")).unwrap();
        std::fs::create_dir(place.path().join("y-4711")).unwrap();
        std::os::unix::fs::symlink("y-4711", place.path().join("x-link")).unwrap();
        sweep(place.path(), |name| name.starts_with("x-"), remove);
        let there = |path: PathBuf| path.exists();
        assert_eq!([held.path(), other.path()].map(|path| there(path.to_owned())), [true; 2]);
        assert_eq!(["x-4711", "y-4711", "x-link"].map(|name| there(place.path().join(name))), [false, true, true]);
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists(), "it goes with its owner");
    }

    #[test]
    fn one_is_made_again_under_its_name_unless_it_is_there_or_elsewhere() {
        let place = tempfile::tempdir().unwrap();
        let before = Held::make(place.path(), "").unwrap().path().to_owned();
        let again = Held::make_again(place.path(), &before).unwrap();
        assert_eq!(again.path(), before);
        let second = Held::make_again(place.path(), &before).unwrap();
        assert_ne!(second.path(), before, "it is somebody's");
        let elsewhere = tempfile::tempdir().unwrap();
        let third = Held::make_again(place.path(), &elsewhere.path().join("x")).unwrap();
        assert_eq!(third.path().parent(), Some(place.path()));
    }

    #[test]
    fn many_are_made_while_others_sweep() {
        let place = tempfile::tempdir().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    sweep(place.path(), |_| true, |path| drop(std::fs::remove_dir_all(path)));
                }
            });
            for _ in 0..300 {
                let held = Held::make(place.path(), "x-").unwrap();
                std::fs::write(held.path().join("in it"), "x").unwrap();
            }
            over.store(true, Ordering::Relaxed);
        });
    }
}
