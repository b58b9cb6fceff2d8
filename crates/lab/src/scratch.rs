//! Scratch folders of launches: their names, and what killed launches have left of them.

use std::path::PathBuf;
use std::time::Duration;

use reaper::remove_folder;

use crate::held::sweep;

/// How the name of a scratch folder begins, before 16 hex digits.
const SCRATCH: &str = "bourdon-";

/// A scratch folder that is younger may not be held yet.
const JUST_MADE: Duration = Duration::from_secs(60);

/// The name of a folder that nothing has yet.
pub(crate) fn scratch_folder() -> PathBuf {
    std::env::temp_dir().join(format!("{SCRATCH}{:016x}", fastrand::u64(..)))
}

/// Removes what launches have left whose guards were all killed at once. Those that go on hold theirs; one that is just
/// being made is not held yet.
pub(crate) fn sweep_scratch() {
    let is_one = |name: &str| {
        let number = name.strip_prefix(SCRATCH).filter(|number| number.len() == 16);
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    sweep(&std::env::temp_dir(), is_one, |folder| {
        let age = folder.symlink_metadata().and_then(|found| found.modified()).map(|made| made.elapsed());
        if matches!(age, Ok(Ok(age)) if age > JUST_MADE) {
            remove_folder(folder);
        }
    });
}
