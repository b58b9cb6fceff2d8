//! A folder of pages that is written whole: who looks sees all of the old ones, or all of the new ones.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::document::read_at_most;
use crate::durable::{create_folder_durably, folder_of, sync_folder, write_durably};
use crate::held::{Held, sweep};

/// The file that names all others: by it a folder is known for one of ours, and what is not in it is somebody's.
const LIST: &str = ".bourdon-site";

/// What the name of a site begins with until it is whole. The folder around it is the user's: nothing else there is called so.
const UNFINISHED: &str = ".bourdon-site-unfinished-";

/// Bytes of that list, at most.
const MOST_LISTED: u64 = 16 << 20;

/// Writes these files, each with its path in the folder, so that its name leads to what was there before or to all of them. An
/// earlier one is replaced.
///
/// # Errors
/// When it cannot be written, or holds something else; it is as it was then.
pub fn write_site(folder: &Path, files: &[(PathBuf, String)]) -> Result<()> {
    // Without a slash at its end, which would lead through a link.
    let folder = &folder.components().collect::<PathBuf>();
    if folder.file_name().is_none() {
        return Err(Error::new(ErrorKind::InvalidInput, "it cannot be put in the place of that; name a folder in it"));
    }
    let is_there = check(folder)?;
    let above = folder_of(folder);
    create_folder_durably(above)?;
    sweep(above, |name| name.starts_with(UNFINISHED), reaper::remove_folder);
    // What it still is when this ends goes with it: nothing, or what was there before.
    let growing = Held::make(above, UNFINISHED)?;
    let list: String = files.iter().map(|(path, _)| format!("{}\n", path.display())).collect();
    for (path, text) in files.iter().map(|(path, text)| (path.as_path(), text)).chain([(Path::new(LIST), &list)]) {
        let path = growing.path().join(path);
        create_folder_durably(folder_of(&path))?;
        write_durably(&path, text.as_bytes())?;
    }
    if is_there {
        // No sweep of another bourdon takes the earlier site while it is looked through.
        let earlier = File::open(folder)?;
        let _ = earlier.try_lock();
        renameat_with(CWD, growing.path(), CWD, folder, RenameFlags::EXCHANGE).map_err(unexchanged)?;
        bring_over(growing.path(), folder)?;
    } else {
        std::fs::rename(growing.path(), folder)?;
    }
    sync_folder(above)
}

/// Whether there is a folder to replace: an empty one, or one that holds our files alone.
fn check(folder: &Path) -> Result<bool> {
    if folder.symlink_metadata().is_err() {
        return Ok(false);
    }
    if !folder.symlink_metadata()?.is_dir() {
        return Err(Error::new(
            ErrorKind::NotADirectory,
            "a folder is expected there, and no file or link; name another one",
        ));
    }
    match strangers(folder)?.first() {
        None => Ok(true),
        Some(other) => {
            let said = format!("it holds {}, which no earlier site put there; name another folder", other.display());
            Err(Error::new(ErrorKind::AlreadyExists, said))
        }
    }
}

/// Moves what somebody put into the earlier site after it was looked through into the one in its place, unless that has it, too.
fn bring_over(earlier: &Path, folder: &Path) -> Result<()> {
    for path in strangers(earlier)? {
        let to = folder.join(&path);
        create_folder_durably(folder_of(&to))?;
        match renameat_with(CWD, earlier.join(&path), CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What of a site's folder no site put there, by its paths within.
fn strangers(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = folder.join(LIST);
    let ours = match list.symlink_metadata() {
        Ok(_) => read_at_most(&list, MOST_LISTED).map_err(|error| Error::other(error.to_string()))?,
        Err(_) => Vec::new(),
    };
    let ours = String::from_utf8_lossy(&ours);
    let ours: BTreeSet<&Path> = ours.lines().map(Path::new).chain([Path::new(LIST)]).collect();
    let mut found = Vec::new();
    walk(folder, &mut found)?;
    let within = found.iter().filter_map(|path| path.strip_prefix(folder).ok());
    Ok(within.filter(|path| !ours.contains(path)).map(Path::to_owned).collect())
}

/// Not every file system can put one folder in the place of another.
fn unexchanged(error: Errno) -> Error {
    match error {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => Error::new(
            ErrorKind::Unsupported,
            "this file system cannot replace a folder at once; remove the earlier site first",
        ),
        other => other.into(),
    }
}

/// Everything below a folder but the folders themselves, an empty one below it aside.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { walk(&entry.path(), found)? } else { found.push(entry.path()) }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn files(all: &[(&str, &str)]) -> Vec<(PathBuf, String)> {
        all.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
    }

    fn read(folder: &Path, path: &str) -> Option<String> {
        std::fs::read_to_string(folder.join(path)).ok()
    }

    #[test]
    fn a_site_replaces_an_earlier_one_whole() {
        let above = tempfile::tempdir().unwrap();
        let site = above.path().join("new/site");
        write_site(&site, &files(&[("index.html", "one"), ("a/report.html", "a")])).unwrap();
        assert_eq!(read(&site, "a/report.html").as_deref(), Some("a"));
        write_site(&site, &files(&[("index.html", "two"), ("b/report.html", "b")])).unwrap();
        assert_eq!(read(&site, "index.html").as_deref(), Some("two"));
        assert_eq!((read(&site, "a/report.html"), read(&site, "b/report.html").as_deref()), (None, Some("b")));
        let left: Vec<_> = std::fs::read_dir(above.path().join("new")).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left: {left:?}");
    }

    #[test]
    fn a_list_that_is_not_a_file_is_refused_and_not_waited_for() {
        let above = tempfile::tempdir().unwrap();
        let site = above.path().join("site");
        std::fs::create_dir(&site).unwrap();
        rustix::fs::mknodat(CWD, site.join(LIST), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert!(write_site(&site, &files(&[("index.html", "one")])).is_err());
        std::fs::remove_file(site.join(LIST)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", site.join(LIST)).unwrap();
        assert!(write_site(&site, &files(&[("index.html", "one")])).is_err());
        assert!(site.join(LIST).symlink_metadata().is_ok(), "what was there stays");
    }

    #[test]
    fn a_folder_that_holds_something_else_stays_as_it_is() {
        let above = tempfile::tempdir().unwrap();
        let site = above.path().join("site");
        write_site(&site, &files(&[("index.html", "one")])).unwrap();
        std::fs::create_dir(site.join("mine")).unwrap();
        std::fs::write(site.join("mine/CNAME"), "mine").unwrap();
        let refused = write_site(&site, &files(&[("index.html", "two")])).unwrap_err().to_string();
        assert!(refused.contains("mine/CNAME") && refused.contains("name another folder"), "{refused}");
        assert_eq!(
            (read(&site, "index.html").as_deref(), read(&site, "mine/CNAME").as_deref()),
            (Some("one"), Some("mine"))
        );
        let file = above.path().join("file");
        std::fs::write(&file, "mine").unwrap();
        assert!(write_site(&file, &files(&[("index.html", "two")])).is_err());
        std::os::unix::fs::symlink(&site, above.path().join("link")).unwrap();
        for (folder, cure) in
            [(above.path().join("link/"), "name another one"), (site.join(".."), "name a folder in it")]
        {
            let refused = write_site(&folder, &files(&[("index.html", "two")])).unwrap_err().to_string();
            assert!(refused.contains(cure), "{refused}");
        }
        assert_eq!(std::fs::read_dir(above.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_run_that_begins_meanwhile_takes_nothing_of_it_and_what_a_killed_one_left_goes() {
        let above = tempfile::tempdir().unwrap();
        let left = above.path().join(format!("{UNFINISHED}killed"));
        std::fs::create_dir(&left).unwrap();
        let (over, site) = (AtomicBool::new(false), above.path().join("site"));
        let mut whole: Vec<bool> = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    sweep(above.path(), |name| name.starts_with(UNFINISHED), reaper::remove_folder);
                }
            });
            whole.extend((0..50).map(|round| {
                let page = |page: u32| (PathBuf::from(format!("runs/{page}/report.html")), round.to_string());
                let pages: Vec<(PathBuf, String)> = (0..5).map(page).collect();
                let is_there = |(path, text): &(PathBuf, String)| {
                    std::fs::read_to_string(site.join(path)).is_ok_and(|found| found == *text)
                };
                write_site(&site, &pages).is_ok() && pages.iter().all(is_there)
            }));
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(whole, [true; 50]);
        write_site(&site, &files(&[("index.html", "last")])).unwrap();
        assert_eq!(std::fs::read_dir(above.path()).unwrap().count(), 1, "only the site");
    }

    #[test]
    fn what_somebody_puts_there_while_it_is_replaced_stays() {
        let above = tempfile::tempdir().unwrap();
        let (site, mine) = (above.path().join("site"), above.path().join("site/mine"));
        let pages: Vec<_> = (0..5).map(|page| (PathBuf::from(format!("{page}.html")), "page".to_owned())).collect();
        write_site(&site, &pages).unwrap();
        for _ in 0..50 {
            let put = std::thread::scope(|scope| {
                let put = scope.spawn(|| std::fs::write(&mine, "mine"));
                let _ = write_site(&site, &pages);
                put.join().unwrap()
            });
            assert!(put.is_ok() && read(&site, "mine").as_deref() == Some("mine"), "{put:?}");
            assert_eq!(read(&site, "4.html").as_deref(), Some("page"));
            std::fs::remove_file(&mine).unwrap();
        }
    }

    #[test]
    fn what_an_earlier_site_got_at_last_is_brought_over_and_replaces_nothing() {
        let above = tempfile::tempdir().unwrap();
        let [earlier, site] = ["earlier", "site"].map(|name| above.path().join(name));
        write_site(&earlier, &files(&[("index.html", "one"), ("a/report.html", "a")])).unwrap();
        write_site(&site, &files(&[("index.html", "two")])).unwrap();
        for (folder, words) in [(&earlier, "first"), (&site, "second")] {
            std::fs::write(folder.join("CNAME"), words).unwrap();
        }
        std::fs::create_dir(earlier.join("mine")).unwrap();
        std::fs::write(earlier.join("mine/robots.txt"), "mine").unwrap();
        bring_over(&earlier, &site).unwrap();
        assert_eq!(read(&site, "mine/robots.txt").as_deref(), Some("mine"));
        assert_eq!(
            (read(&site, "CNAME").as_deref(), read(&site, "index.html").as_deref()),
            (Some("second"), Some("two"))
        );
        assert_eq!(read(&site, "a/report.html"), None, "an earlier site's own page stays with it");
    }

    #[test]
    fn an_empty_folder_becomes_one() {
        let above = tempfile::tempdir().unwrap();
        write_site(above.path(), &files(&[("index.html", "one")])).unwrap();
        assert_eq!(read(above.path(), "index.html").as_deref(), Some("one"));
    }
}
