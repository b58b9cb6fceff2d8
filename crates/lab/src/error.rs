use std::path::PathBuf;
use std::sync::Arc;

use model::Fault;

/// Why a run cannot begin or be resumed. What a single target does wrong is in its trial's record, not here.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LabError {
    /// A file of the run folder could not be read or written.
    #[error("{path}: {why}{cure}", path = path.display(), why = why(source), cure = cure(source))]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: Arc<std::io::Error>,
    },
    /// A file of the run folder holds something else than it should.
    #[error("{path}, line {line}: {text}", path = path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// Where.
        line: usize,
        /// What is wrong.
        text: String,
    },
    /// A plan that no bourdon has written.
    #[error("{path} is damaged: {fault}; restore it from a copy", path = path.display())]
    Plan {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        fault: Fault,
    },
    /// What should be a file is something else.
    #[error("{path} is not a file but {what}; restore it from a copy", path = path.display(), what = what(path))]
    NotAFile {
        /// Which.
        path: PathBuf,
    },
    /// What should be a file is a link that leads nowhere.
    #[error("{path} is a symbolic link to nothing; remove it, or restore what it led to", path = path.display())]
    Astray {
        /// Which.
        path: PathBuf,
    },
    /// A file of the record is no longer what this run wrote.
    #[error("{path}: somebody {how} during the run", path = path.display())]
    Changed {
        /// Which.
        path: PathBuf,
        /// What became of it.
        how: String,
    },
    /// A document lacks its end.
    #[error("{path} was cut: its last line, `# end`, is missing; restore it from a copy", path = path.display())]
    Cut {
        /// Which.
        path: PathBuf,
    },
    /// A run folder without its trials or the machine on which they were made.
    #[error(
        "{path} is missing, and every run has one from its beginning, so the record is damaged; restore it from a copy, \
         or start a new run",
        path = path.display()
    )]
    Missing {
        /// Which.
        path: PathBuf,
    },
    /// The folder is not a run folder.
    #[error(
        "{path} is not a run folder: it has no plan.toml; name a folder that `bourdon run` or `compare` wrote, or restore the file \
         from a copy",
        path = path.display()
    )]
    NotARun {
        /// Which.
        path: PathBuf,
    },
    /// There is nothing of that name.
    #[error(
        "{path} does not exist; name a folder that `bourdon run` wrote (to compare, also what `bourdon load -o` saved)",
        path = path.display()
    )]
    NotThere {
        /// Which.
        path: PathBuf,
    },
    /// What bourdon itself needs for a launch is missing: a file, a folder, a process.
    #[error("{target} cannot be launched: {text}")]
    Prevented {
        /// What was to be launched.
        target: String,
        /// What is missing.
        text: String,
    },
    /// Those who were to load it did not.
    #[error("{target} could not be loaded: {text}")]
    Unloaded {
        /// What was to be loaded.
        target: String,
        /// Why.
        text: String,
    },
    /// What a planner adds cannot be carried out.
    #[error("the run cannot go on as planned: {0}")]
    Addition(Fault),
    /// Another bourdon writes to the same folder.
    #[error("{path} is being written by another bourdon; wait for its end, or name another run", path = path.display())]
    Busy {
        /// Which.
        path: PathBuf,
    },
}

/// Why a file or a folder cannot be used: where one stands in the place of the other, both are named.
pub fn why(error: &std::io::Error) -> String {
    match error.kind() {
        _ if error.raw_os_error().is_none() => error.to_string(),
        std::io::ErrorKind::IsADirectory => FOLDER.to_owned(),
        std::io::ErrorKind::NotADirectory => "what should be a folder in this path is a file".to_owned(),
        _ => error.to_string(),
    }
}

/// What is said of a folder where a file is expected.
pub const FOLDER: &str = "it is a folder, and a file is expected";

/// What helps where a file cannot be written, behind the error; empty where that says enough.
pub fn cure(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::FileTooLarge => "; raise the limit of a file's size (ulimit -f)",
        std::io::ErrorKind::StorageFull => "; make room on its disk",
        _ => "",
    }
}

/// What stands where a file should.
fn what(path: &std::path::Path) -> &'static str {
    if path.is_dir() { "a folder" } else { "a device or a pipe" }
}

impl LabError {
    /// Whether it is that somebody changed the record under the run.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed { .. })
    }

    /// Whether it is that there is no such file.
    pub fn is_missing(&self) -> bool {
        use std::io::ErrorKind;
        matches!(self, Self::File { source, .. } if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
    }

    /// The same of a file of this name in another folder.
    pub(crate) fn within(self, folder: &std::path::Path) -> Self {
        match self {
            Self::File { path, source } => {
                Self::File { path: folder.join(path.file_name().unwrap_or_default()), source }
            }
            other => other,
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source: Arc::new(source) }
    }
}
