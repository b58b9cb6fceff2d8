//! Scratch folders of launches: their names, and what killed launches have left of them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reaper::remove_folder;
use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::held::{Held, sweep};

/// How the name of a scratch folder begins, before 16 hex digits.
const SCRATCH: &str = "bourdon-";

/// The same of one that bourdon itself makes and holds at once.
const OWN: &str = "bourdon-own-";

/// A scratch folder of a launch that is younger may not be held yet.
const JUST_MADE: Duration = Duration::from_secs(60);

/// The name of a folder that nothing has yet.
pub(crate) fn scratch_folder() -> PathBuf {
    std::env::temp_dir().join(format!("{SCRATCH}{:016x}", fastrand::u64(..)))
}

/// A scratch folder of bourdon's own; killed bourdons' are swept, too.
///
/// # Errors
/// When it cannot be made.
pub fn hold_scratch() -> std::io::Result<Held> {
    Held::make(&std::env::temp_dir(), OWN)
}

/// Removes what killed bourdons have left of their own, and what launches have whose guards were all killed at once. Those
/// that go on hold theirs; a launch's that is just being made is not held yet.
pub(crate) fn sweep_scratch() {
    let is_one = |name: &str| {
        let number = name.strip_prefix(SCRATCH).filter(|number| number.len() == 16);
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    sweep(&std::env::temp_dir(), is_one, |folder| {
        let age = folder.symlink_metadata().and_then(|found| found.modified()).map(|made| made.elapsed());
        if matches!(age, Ok(Ok(age)) if age > JUST_MADE) {
            remove_folder(folder);
        }
    });
    sweep(&std::env::temp_dir(), |name| name.starts_with(OWN), remove_folder);
}

/// Why a scratch folder cannot be removed, and what to do about it, behind its name: what is mounted in it, a file system
/// that is read-only, or what is immutable.
pub fn why_left(folder: &Path) -> String {
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if let Some(mount) = mount_in(&real, &mounts) {
        let mount = mount.display();
        return format!(
            "for something is mounted on {mount}, which bourdon leaves as it is: umount {mount}, then remove it"
        );
    }
    if statvfs(folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY)) {
        return "for its file system is read-only by now; make it writable, then remove it".to_owned();
    }
    "in which something cannot be removed (lsattr -R shows what is immutable); remove it".to_owned()
}

/// The last of what is mounted in or on a folder, which is the first that can be unmounted. `mounts` are as in proc(5).
fn mount_in(folder: &Path, mounts: &[u8]) -> Option<PathBuf> {
    let point = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(unescaped);
    mounts.split(|byte| *byte == b'\n').filter_map(point).rfind(|point| point.starts_with(folder))
}

/// A path of which blanks and backslashes are written in octal (`\040`).
fn unescaped(bytes: &[u8]) -> PathBuf {
    let (mut path, mut rest) = (Vec::new(), bytes);
    while let [first, more @ ..] = rest {
        let octal = more.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                rest = &more[3..];
            }
            None => {
                path.push(*first);
                rest = more;
            }
        }
    }
    PathBuf::from(OsString::from_vec(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bourdon_itself_held_and_was_killed_is_swept_at_once() {
        let held = hold_scratch().unwrap();
        let left = std::env::temp_dir().join(format!("{OWN}left"));
        std::fs::create_dir_all(left.join("in it")).unwrap();
        sweep_scratch();
        assert!(held.path().exists() && !left.exists());
    }

    #[test]
    fn what_is_mounted_in_a_folder_is_found_by_its_name() {
        let mounts = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            30 22 0:5 / /tmp/a rw - tmpfs tmpfs rw\n\
            31 22 8:1 /v /tmp/a/b\\040c\\134d rw - ext4 /dev/sda1 rw\n\
            32 22 8:1 /v /tmp/ab rw - ext4 /dev/sda1 rw\n";
        let found = |folder: &str| mount_in(Path::new(folder), mounts);
        assert_eq!(found("/tmp/a"), Some(PathBuf::from("/tmp/a/b c\\d")));
        assert_eq!(found("/tmp/ab"), Some(PathBuf::from("/tmp/ab")));
        assert_eq!(found("/tmp/c"), None);
    }
}
