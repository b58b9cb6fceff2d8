use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, chmod, fstat, openat};
use rustix::path::Arg;

/// Folders within each other that are opened up; deeper ones are left as they are.
const DEEPEST: u32 = 200;

/// Removes a folder and all that is in it, folders too that their owner may not write or read. What cannot be removed
/// stays, and bourdon looks for it.
pub fn remove_folder(folder: &Path) {
    if std::fs::remove_dir_all(folder).is_err() {
        open_up(CWD, folder, None, DEEPEST);
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Gives the owner all rights to a folder and those within. Links are not followed, and other file systems not entered.
fn open_up(within: impl AsFd, name: impl Arg, device: Option<u64>, deepest: u32) {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(within, name, flags | OFlags::PATH, Mode::empty()) else { return };
    let Ok(found) = fstat(&folder) else { return };
    if deepest == 0 || device.is_some_and(|device| device != found.st_dev) {
        return;
    }
    // By what was opened: its name may lead elsewhere by now.
    let rights = Mode::from_raw_mode(found.st_mode) | Mode::RWXU;
    let _ = chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), rights);
    let Ok(readable) = openat(&folder, ".", flags | OFlags::RDONLY, Mode::empty()) else { return };
    for entry in Dir::read_from(&readable).into_iter().flatten().flatten() {
        let may_be_folder = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
        if may_be_folder && !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            open_up(&readable, entry.file_name(), Some(found.st_dev), deepest - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, create_dir_all, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_is_closed_is_opened_and_what_a_link_leads_to_is_left() {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("folder"), place.path().join("other"));
        create_dir_all(folder.join("a/b")).unwrap();
        create_dir(&other).unwrap();
        write(folder.join("a/b/c"), "x").unwrap();
        symlink(&other, folder.join("a/link")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        for (path, mode) in [("a/b", 0o555), ("a", 0o000), ("", 0o500)] {
            set_permissions(folder.join(path), Permissions::from_mode(mode)).unwrap();
        }
        set_permissions(&other, Permissions::from_mode(0o555)).unwrap();
        open_up(CWD, &folder, None, DEEPEST);
        assert_eq!(
            [folder.clone(), folder.join("a"), folder.join("a/b")].map(|path| mode(&path)),
            [0o700, 0o700, 0o755]
        );
        assert_eq!(mode(&other), 0o555);
        open_up(CWD, folder.join("a/link"), None, DEEPEST);
        assert_eq!(mode(&other), 0o555);
        remove_folder(&folder);
        assert!(!folder.exists() && other.exists());
    }
}
