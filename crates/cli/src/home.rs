//! Where things are looked for, and where what is built and learned is kept.

use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Where what an experiment names is looked for: beside it, beside its folder, in the working directory, and in
/// `$BOURDON_HOME`.
pub(crate) fn places(beside: &Path) -> impl Iterator<Item = PathBuf> {
    let home = std::env::var_os("BOURDON_HOME").map(PathBuf::from);
    [Some(beside.to_owned()), Some(beside.join("..")), Some(PathBuf::from(".")), home].into_iter().flatten()
}

/// The file that an experiment names; an absolute name is that file.
pub(crate) fn file(beside: &Path, name: &str) -> Option<PathBuf> {
    places(beside).map(|place| place.join(name)).find(|path| path.is_file())
}

/// Where built targets are kept.
pub(crate) fn build_cache() -> Result<PathBuf, Failure> {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home =
        || std::env::var_os("HOME").filter(|path| !path.is_empty()).map(|home| PathBuf::from(home).join(".cache"));
    cache
        .or_else(home)
        .map(|cache| cache.join("bourdon").join("targets"))
        .ok_or_else(|| Failure::usage("built targets have nowhere to go: set XDG_CACHE_HOME or HOME"))
}

/// Where what bourdon learned of this machine is kept.
pub(crate) fn state() -> Result<PathBuf, Failure> {
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || {
        std::env::var_os("HOME").filter(|path| !path.is_empty()).map(|home| PathBuf::from(home).join(".local/state"))
    };
    state
        .or_else(home)
        .map(|state| state.join("bourdon"))
        .ok_or_else(|| Failure::usage("a calibration has nowhere to go: set XDG_STATE_HOME or HOME"))
}

/// The running executable, which launches specimens and reapers.
pub(crate) fn executable() -> PathBuf {
    PathBuf::from(reaper::ITSELF)
}
