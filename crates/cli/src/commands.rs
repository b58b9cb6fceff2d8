//! Commands of this bourdon on a folder, to be pasted.

use std::borrow::Cow;
use std::path::Path;

/// The one that resumes what is in a folder, whose loads so many nodes make where it is not this machine.
pub(crate) fn resume(folder: &Path, nodes: Option<u32>) -> String {
    let resume = on("run --resume", folder);
    match nodes {
        Some(nodes) => format!("{resume} --nodes URL --key FILE [--pool NAME] --workers {nodes}"),
        None => resume,
    }
}

/// A subcommand on a folder.
pub(crate) fn on(words: &str, folder: &Path) -> String {
    let called =
        std::env::args_os().next().map_or_else(|| "bourdon".to_owned(), |name| name.to_string_lossy().into_owned());
    let folder = folder.to_string_lossy();
    let quoted = |word| shlex::try_quote(word).unwrap_or(Cow::Borrowed(word)).into_owned();
    format!("{} {words} {}", quoted(&called), quoted(&folder))
}
