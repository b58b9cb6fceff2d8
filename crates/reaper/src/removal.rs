use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, ResolveFlags, chmod, fstat, openat, openat2, renameat_with, unlinkat,
};
use rustix::path::Arg;

/// Folders within each other that are entered; deeper ones are moved up first. Each has a file open while it is emptied.
const DEEPEST: u32 = 500;

/// Removes a folder and all that is in it, folders too that their owner may not write or read. Links are not followed, and
/// mounts not entered: what somebody has mounted there lies elsewhere too. What cannot be removed stays, and bourdon looks
/// for it.
pub fn remove_folder(folder: &Path) {
    let (Some(place), Some(name)) = (folder.parent(), folder.file_name()) else { return };
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let Ok(place) = openat(CWD, place, flags, Mode::empty()) else { return };
    let top = openat(&place, name, flags | OFlags::NOFOLLOW, Mode::empty()).ok();
    let mut removal = Removal { top, lifted: 0 };
    let mut before = None;
    while before != Some(removal.lifted) {
        before = Some(removal.lifted);
        removal.remove(&place, name, DEEPEST);
    }
}

/// What is being removed.
struct Removal {
    /// The folder itself; none where it is none.
    top: Option<OwnedFd>,
    /// How many folders that lay too deep were moved up into it, to be removed the next time.
    lifted: u64,
}

impl Removal {
    /// Removes what has a name in a folder.
    fn remove(&mut self, place: impl AsFd, name: impl Arg + Copy, deepest: u32) {
        if unlinkat(&place, name, AtFlags::empty()).is_ok() {
            return;
        }
        let Some(mut folder) = enter(&place, name) else { return };
        if deepest == 0 {
            return self.lift(place, name);
        }
        while let Some(Ok(entry)) = folder.read() {
            let Ok(within) = folder.fd() else { return };
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                self.remove(within, entry.file_name(), deepest - 1);
            }
        }
        let _ = unlinkat(&place, name, AtFlags::REMOVEDIR);
    }

    fn lift(&mut self, place: impl AsFd, name: impl Arg) {
        let Some(top) = &self.top else { return };
        let free = format!("lifted-{}-{}", std::process::id(), self.lifted);
        self.lifted += u64::from(renameat_with(place, name, top, free, RenameFlags::NOREPLACE).is_ok());
    }
}

/// Opens a folder for reading, its owner given all rights to it; none for a link, and for what is mounted.
fn enter(place: impl AsFd, name: impl Arg) -> Option<Dir> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A bind mount of the same file system has the same device: only the kernel knows it for a mount.
    let folder = openat2(place, name, flags | OFlags::PATH, Mode::empty(), ResolveFlags::NO_XDEV).ok()?;
    let mode = Mode::from_raw_mode(fstat(&folder).ok()?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // By what was opened: its name may lead elsewhere by now.
        let _ = chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode | Mode::RWXU);
    }
    Dir::new(openat(&folder, ".", flags | OFlags::RDONLY, Mode::empty()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, Permissions, create_dir, create_dir_all, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_was_put_in_the_place_of_a_folder_goes_too() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("folder");
        write(&file, "x").unwrap();
        remove_folder(&file);
        assert!(file.symlink_metadata().is_err());
    }

    #[test]
    fn what_is_closed_is_opened_and_what_a_link_leads_to_is_left() {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("folder"), place.path().join("other"));
        create_dir_all(folder.join("a/b")).unwrap();
        create_dir(&other).unwrap();
        write(folder.join("a/b/c"), "x").unwrap();
        write(other.join("d"), "x").unwrap();
        symlink(&other, folder.join("a/link")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        for (path, mode) in [("a/b", 0o555), ("a", 0o000), ("", 0o500)] {
            set_permissions(folder.join(path), Permissions::from_mode(mode)).unwrap();
        }
        set_permissions(&other, Permissions::from_mode(0o555)).unwrap();
        let opened = |name: &str| enter(File::open(place.path()).unwrap(), name).is_some();
        assert_eq!(["folder", "folder/a", "folder/a/b", "folder/a/link"].map(opened), [true, true, true, false]);
        assert_eq!(
            [folder.clone(), folder.join("a"), folder.join("a/b")].map(|path| mode(&path)),
            [0o700, 0o700, 0o755]
        );
        remove_folder(&folder);
        assert!(!folder.exists() && other.join("d").exists());
        assert_eq!(mode(&other), 0o555);
    }

    #[test]
    fn folders_deep_within_each_other_go() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("a");
        create_dir_all(top.join("b/".repeat(400))).unwrap();
        // Deeper than the longest path, and than files may be open.
        for number in 0..4 {
            create_dir_all(place.path().join(format!("{number}")).join("b/".repeat(600))).unwrap();
            let within = place.path().join(format!("{number}")).join("b/".repeat(600)).join("c");
            std::fs::rename(&top, &within).unwrap();
            std::fs::rename(place.path().join(format!("{number}")), &top).unwrap();
        }
        remove_folder(&top);
        assert!(!top.exists());
        assert_eq!(place.path().read_dir().unwrap().count(), 0);
    }
}
