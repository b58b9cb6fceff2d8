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
    let cache = user_folder("XDG_CACHE_HOME", ".cache", "built targets have")?;
    Ok(cache.join("targets"))
}

/// Where what bourdon learned of this machine is kept.
pub(crate) fn state() -> Result<PathBuf, Failure> {
    user_folder("XDG_STATE_HOME", ".local/state", "a calibration has")
}

/// bourdon's own folder in one of the user's: in that of a variable, or else in a folder of the home.
fn user_folder(variable: &str, in_home: &str, whose: &str) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = set(variable).or_else(|| set("HOME").map(|home| home.join(in_home)));
    folder
        .map(|folder| folder.join("bourdon"))
        .ok_or_else(|| Failure::usage(format!("{whose} nowhere to go: set {variable} or HOME")))
}

/// The running executable, which launches specimens and reapers.
pub(crate) fn executable() -> PathBuf {
    PathBuf::from(reaper::ITSELF)
}
