use std::path::PathBuf;

/// Why a run cannot begin or go on. What a single target does wrong is in its trial's record, not here.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file of the run folder could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
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
    /// The folder is no run folder.
    #[error("{path} is no run folder: it has no plan.toml; name a folder that `bourdon run` wrote", path = path.display())]
    NotARun {
        /// Which.
        path: PathBuf,
    },
    /// Another bourdon writes to the same folder.
    #[error("{path} is being written by another bourdon; wait for its end, or name another run", path = path.display())]
    Busy {
        /// Which.
        path: PathBuf,
    },
}

impl LabError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
