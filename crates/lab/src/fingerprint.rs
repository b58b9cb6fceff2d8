//! What the result of a build depends on, and what it is, each as one number.

use std::collections::BTreeMap;
use std::fs::{Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use model::{BuildRecipe, Runtime, Target};
use sha2::{Digest, Sha256};

use crate::document;
use crate::error::LabError;

/// Bytes of a file that are read at once.
const CHUNK: usize = 64 * 1024;

/// Bytes of a digest that are written out: those of what a build depends on, and those of what it made.
const OF_INPUTS: usize = 8;
const OF_CONTENT: usize = 16;

/// Hex digest of everything that the result depends on. A target is built again when it changes.
///
/// # Errors
/// When something cannot be read, or it was stopped.
pub(crate) fn fingerprint(
    target: &Target,
    recipe: &BuildRecipe,
    runtime: &Runtime,
    toolchain: Option<&str>,
    stop: &AtomicBool,
) -> Result<String, LabError> {
    let mut content = Content::new(stop);
    content.field(target.name.as_bytes());
    content.field(toolchain.unwrap_or_default().as_bytes());
    recipe.run.iter().for_each(|word| content.field(word.as_bytes()));
    let pairs = |env: &BTreeMap<String, String>| env.clone().into_iter().flat_map(|(name, value)| [name, value]);
    pairs(&recipe.env).chain(pairs(&runtime.env)).for_each(|text| content.field(text.as_bytes()));
    for input in &recipe.inputs {
        content.field(input.file_name().unwrap_or_default().as_encoded_bytes());
        content.add(input)?;
    }
    Ok(content.hex(OF_INPUTS))
}

/// Hex digest of a file, or of a folder with all that is in it.
///
/// # Errors
/// When something cannot be read, or it was stopped.
pub(crate) fn digest(path: &Path, stop: &AtomicBool) -> Result<String, LabError> {
    let mut content = Content::new(stop);
    content.add(path)?;
    Ok(content.hex(OF_CONTENT))
}

/// A hash that takes in files and folders: content, names below them, and who may execute what, but not where they lie. Links
/// are followed, as a build does. What is neither file nor folder counts as what it is and is not opened.
struct Content<'a> {
    hash: Sha256,
    stop: &'a AtomicBool,
    /// The folders that are being taken in, each within the one before, by device and number.
    above: Vec<(u64, u64)>,
}

impl<'a> Content<'a> {
    fn new(stop: &'a AtomicBool) -> Self {
        Self { hash: Sha256::new(), stop, above: Vec::new() }
    }

    fn hex(self, bytes: usize) -> String {
        self.hash.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
    }

    fn field(&mut self, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }

    fn add(&mut self, path: &Path) -> Result<(), LabError> {
        let found = match path.metadata() {
            Ok(found) => found,
            Err(error) => {
                let to = path.read_link().map_err(|_| LabError::file(path)(error))?;
                self.field(b"a link that leads nowhere");
                self.field(to.as_os_str().as_encoded_bytes());
                return Ok(());
            }
        };
        if found.is_dir() {
            return self.folder(path, &found);
        }
        if found.is_file() {
            return self.file(path, &found);
        }
        self.field(b"neither file nor folder");
        Ok(())
    }

    fn folder(&mut self, path: &Path, found: &Metadata) -> Result<(), LabError> {
        let identity = (found.dev(), found.ino());
        if let Some(depth) = self.above.iter().position(|folder| *folder == identity) {
            self.field(format!("the folder above, {depth}").as_bytes());
            return Ok(());
        }
        let entries = std::fs::read_dir(path).map_err(LabError::file(path))?;
        let mut entries: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(LabError::file(path))?;
        entries.sort();
        self.field(format!("a folder, {}", entries.len()).as_bytes());
        self.above.push(identity);
        for entry in entries {
            self.field(entry.file_name().unwrap_or_default().as_encoded_bytes());
            self.add(&entry)?;
        }
        self.above.pop();
        Ok(())
    }

    fn file(&mut self, path: &Path, found: &Metadata) -> Result<(), LabError> {
        // By now it may be a FIFO, which is refused and not waited for.
        let mut file = document::open(path, OpenOptions::new().read(true))?;
        let (mut content, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(LabError::file(path)(Error::new(ErrorKind::Interrupted, "reading it was interrupted")));
            }
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => content.update(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(LabError::file(path)(error)),
            }
        }
        self.field(if found.permissions().mode() & 0o100 == 0 { b"a file" } else { b"a program" });
        self.hash.update(content.finalize());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, rename, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn of(input: &Path) -> String {
        let input = input.to_owned();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            tell.send(digest(&input, &AtomicBool::new(false)).unwrap()).unwrap();
        });
        told.recv_timeout(Duration::from_secs(60)).expect("it ends")
    }

    /// A folder with a file in a folder.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        create_dir(root.path().join("inner")).unwrap();
        write(root.path().join("inner/file"), "content").unwrap();
        root
    }

    #[test]
    fn content_names_and_rights_to_execute_count_and_where_it_lies_does_not() {
        let changes: [fn(&Path); 6] = [
            |root| write(root.join("inner/file"), "kontent").unwrap(),
            |root| rename(root.join("inner"), root.join("other")).unwrap(),
            |root| rename(root.join("inner/file"), root.join("inner/other")).unwrap(),
            |root| rename(root.join("inner/file"), root.join("file")).unwrap(),
            |root| create_dir(root.join("empty")).unwrap(),
            |root| set_permissions(root.join("inner/file"), Permissions::from_mode(0o744)).unwrap(),
        ];
        let as_it_was = of(tree().path());
        for (number, change) in changes.iter().enumerate() {
            let root = tree();
            assert_eq!(of(root.path()), as_it_was);
            change(root.path());
            assert_ne!(of(root.path()), as_it_was, "change {number}");
        }
    }

    #[test]
    fn what_is_no_file_is_not_read_and_links_in_a_circle_end() {
        let root = tree();
        let fifo = root.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        symlink("/dev/zero", root.path().join("device")).unwrap();
        symlink("..", root.path().join("inner/up")).unwrap();
        symlink(".", root.path().join("inner/here")).unwrap();
        symlink("nowhere", root.path().join("dangling")).unwrap();
        assert_eq!(of(root.path()), of(root.path()));
    }

    #[test]
    fn who_is_stopped_reads_no_further() {
        let said = digest(tree().path(), &AtomicBool::new(true)).unwrap_err().to_string();
        assert!(said.ends_with("inner/file: reading it was interrupted"), "{said}");
    }
}
