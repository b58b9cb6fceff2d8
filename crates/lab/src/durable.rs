//! Files that survive a kill and a power cut: the one place that writes a whole file, or makes a folder.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::FOLDER;

/// What the name of a file begins with until it is whole. One that is left after a kill may be removed.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// Links that lead to each other: the kernel follows no more.
const LONGEST_CHAIN: usize = 40;

/// Writes a file so that, whatever happens, its name leads to what was there before or to all of `content`; once this
/// returns, a power cut does not undo it. A symbolic link to a file or to nothing is replaced, not followed.
///
/// # Errors
/// When it cannot be written; nothing is left behind then. Something other than a file (a folder, `/dev/null`), and what
/// leads to it (`/dev/stdout`), is left as it is.
pub fn write_durably(path: &Path, content: &[u8]) -> Result<()> {
    let mut growing = Growing::begin(path)?;
    growing.write_all(content)?;
    growing.finish()
}

/// The same of a file that a user named: a symbolic link of theirs stays, and the file that it leads to is written.
///
/// # Errors
/// As those of [`write_durably`].
pub fn write_through_links(path: &Path, content: &[u8]) -> Result<()> {
    refuse_other_than_file(path)?;
    write_durably(&behind_links(path), content)
}

/// A file that is written bit by bit, and has its name only once it is whole. It goes unless it is finished.
#[derive(Debug)]
pub(crate) struct Growing {
    file: NamedTempFile<File>,
    path: PathBuf,
}

impl Growing {
    /// Begins one beside where it is to be.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        Ok(Self { file: unfinished(path)?, path: path.to_owned() })
    }

    /// Gives it its name, for good.
    pub(crate) fn finish(self) -> Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map_err(|failed| failed.error)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Whether [`write_through_links`] could write this file now; leaves nothing behind.
///
/// # Errors
/// Why it could not.
pub fn check_writable(path: &Path) -> Result<()> {
    refuse_other_than_file(path)?;
    unfinished(&behind_links(path)).map(drop)
}

/// Makes a folder and those above it that are missing, so that a power cut does not undo it.
///
/// # Errors
/// When it cannot be made.
pub fn create_folder_durably(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(there) if there.is_dir() => return Ok(()),
        // Nothing is above it that could be made.
        Err(error) if folder_of(path) == path => {
            return Err(Error::new(error.kind(), format!("cannot enter the working directory: {error}")));
        }
        _ => create_folder_durably(folder_of(path))?,
    }
    match create_new_folder_durably(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let said = format!("{} is not a folder, and one is expected", path.display());
            Err(Error::new(ErrorKind::NotADirectory, said))
        }
        made => made,
    }
}

/// Makes a folder that is not there yet, in one that is.
///
/// # Errors
/// When it cannot be made, also because there is something under its name.
pub fn create_new_folder_durably(path: &Path) -> Result<()> {
    std::fs::create_dir(path).and_then(|()| sync_folder(folder_of(path)))
}

/// Moves a file or folder that another program has written, so that a power cut does not leave it empty. What it may
/// consist of is not known, so its whole file system is brought to disk.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> Result<()> {
    rustix::fs::syncfs(File::open(from)?)?;
    std::fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Brings the names in a folder to disk. A file system that cannot do so for a folder keeps them in its own way.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// A new file beside the one that is to be written; it goes unless it is kept.
fn unfinished(path: &Path) -> Result<NamedTempFile<File>> {
    refuse_other_than_file(path)?;
    let create = |path: &Path| File::create_new(path);
    tempfile::Builder::new().prefix(UNFINISHED).make_in(folder_of(path), create)
}

fn refuse_other_than_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::new(ErrorKind::InvalidInput, FOLDER));
    }
    if path.metadata().is_ok_and(|there| !there.is_file()) || leads_into_proc(path) {
        return Err(Error::new(ErrorKind::Unsupported, "it is a device or a pipe, and a file is expected"));
    }
    Ok(())
}

/// Whether a name stands for what a process has open, as `/dev/stdout` does: it is everybody's, also where a file is
/// open there just now.
fn leads_into_proc(path: &Path) -> bool {
    chain(path).any(|path| path.starts_with("/proc"))
}

/// The file, there or not, that the links of a path lead to.
fn behind_links(path: &Path) -> PathBuf {
    chain(path).last().unwrap_or_else(|| path.to_owned())
}

/// A path, and what its links lead to, one after the other.
fn chain(path: &Path) -> impl Iterator<Item = PathBuf> {
    let next = |path: &PathBuf| path.read_link().ok().map(|to| folder_of(path).join(to));
    std::iter::successors(Some(path.to_owned()), next).take(LONGEST_CHAIN)
}

/// The folder that a path lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Has git leave out a folder that was made for runs: it may lie in somebody's repository. Where that cannot be written, git
/// shows it.
pub fn keep_from_git(runs: &Path) {
    let _ = write_durably(&runs.join(".gitignore"), b"*\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for content in ["one", "", "three"] {
            write_durably(&file, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
        }
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (link, other) = (folder.path().join("link"), folder.path().join("other"));
        std::fs::write(&other, "mine").unwrap();
        symlink(&other, &link).unwrap();
        write_durably(&link, b"new").unwrap();
        assert_eq!([&link, &other].map(|path| std::fs::read_to_string(path).unwrap()), ["new", "mine"]);
    }

    #[test]
    fn a_link_of_a_user_stays_and_the_file_that_it_leads_to_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [link, chain, inner] = ["link", "chain", "inner"].map(|name| folder.path().join(name));
        std::fs::create_dir(&inner).unwrap();
        symlink("inner/file", &link).unwrap();
        symlink("link", &chain).unwrap();
        // Also where it is not there yet.
        for content in ["one", "two"] {
            check_writable(&chain).unwrap();
            write_through_links(&chain, content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(inner.join("file")).unwrap(), content);
        }
        assert_eq!(link.read_link().unwrap(), Path::new("inner/file"));
        assert_eq!(
            (names(folder.path()), names(&inner)),
            (vec!["chain".into(), "inner".into(), "link".into()], vec!["file".into()])
        );
        assert!(
            write_through_links(Path::new("/dev/stdout"), b"x").is_err()
                && check_writable(Path::new("/dev/null")).is_err()
        );
    }

    #[test]
    fn a_link_to_what_is_not_a_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (link, chain, file) = (folder.path().join("link"), folder.path().join("chain"), folder.path().join("file"));
        let open = File::create(&file).unwrap();
        symlink(&link, &chain).unwrap();
        // Also where a file is open there: the link is not this process's alone.
        let of_a_process = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        for to in ["/dev/null", of_a_process.as_str()] {
            symlink(to, &link).unwrap();
            for name in [&link, &chain] {
                let refused = write_durably(name, b"x").unwrap_err().to_string();
                assert_eq!(refused, "it is a device or a pipe, and a file is expected", "{to}");
            }
            assert_eq!(link.read_link().unwrap(), Path::new(to));
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(names(folder.path()), ["chain", "file"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        assert_eq!(write_durably(&folder.path().join("a"), b"x").unwrap_err().to_string(), FOLDER);
        let nowhere = write_durably(&folder.path().join("b/c"), b"x").unwrap_err();
        assert_eq!(nowhere.raw_os_error(), Some(2), "as the system gave it: {nowhere}");
        assert_eq!(names(folder.path()), ["a"]);
        assert!(write_durably(Path::new("/dev/null"), b"x").is_err());
    }

    #[test]
    fn folders_are_made_with_those_above() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        create_folder_durably(&deep).unwrap();
        create_folder_durably(&deep).unwrap();
        assert!(deep.is_dir());
        write_durably(&deep.join("c"), b"x").unwrap();
        for path in ["c", "c/d"] {
            let refused = create_folder_durably(&deep.join(path)).unwrap_err().to_string();
            assert_eq!(refused, format!("{} is not a folder, and one is expected", deep.join("c").display()));
        }
    }
}
