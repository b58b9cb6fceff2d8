//! Whether what runs for a revision is of that revision.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{Plan, RevisionContent, Target};
use observe::ProcSource;

use crate::launch::Running;
use crate::named::is_program;
use crate::prepare::{self, Prepared};

/// Why what was launched for a revision may be another one's: it went to the working tree of the repository, out of which whoever does the same
/// for the other revision would be served, too.
pub(crate) fn is_left(plan: &Plan, target: &Target, running: &dyn Running) -> Option<String> {
    let revision = plan.comparison.as_ref()?.revisions.iter().find(|it| it.target == target.name)?;
    let RevisionContent::Commit(_) = revision.content else { return None };
    let checkout = target.launch.cwd.ancestors().nth(revision.within.components().count())?;
    let processes = observe::programs(running.family()?.root_pid, &ProcSource::default()).into_iter();
    let mut folders = processes.filter_map(|(pid, _)| std::fs::read_link(format!("/proc/{pid}/cwd")).ok());
    let works_in = folders.find(|folder| is_of_another(folder, &revision.repository, checkout))?;
    Some(format!(
        "{}: a process of it works in {}, which is of neither revision; let the command start what lies in the folder where it is run itself \
         (./server, no cd)",
        target.title,
        works_in.display()
    ))
}

/// Why what runs for a revision is another one's: the other's build has written it, in a place that is one for both. A shell or a script may name
/// that place, so that only the processes tell.
pub(crate) fn is_installed_over(
    plan: &Plan,
    target: &Target,
    prepared: &Prepared,
    running: &dyn Running,
) -> Option<String> {
    let [first, second] = &plan.comparison.as_ref()?.revisions[..] else { return None };
    let [own, other] = if first.target == target.name { [first, second] } else { [second, first] };
    if own.content == other.content {
        return None;
    }
    let root = target.launch.cwd.ancestors().nth(own.within.components().count())?.canonicalize().ok()?;
    let written_by_other =
        |about: &Metadata| changed(about).is_some_and(|at| prepared.was_building_after(&own.target, &other.target, at));
    let runs = observe::programs(running.family()?.root_pid, &ProcSource::default()).into_iter();
    let (path, _) = runs
        .flat_map(|(pid, program)| {
            let executed = std::fs::metadata(format!("/proc/{pid}/exe")).map(|about| (program, about)).ok();
            executed.into_iter().chain(named_by(pid))
        })
        .find(|(path, about)| !path.starts_with(&root) && written_by_other(about))?;
    Some(prepare::installed_over(&path.display()))
}

/// The programs that the command line of a process names, by where they lie: an interpreter is given what it runs.
fn named_by(pid: u32) -> Vec<(PathBuf, Metadata)> {
    let read = |of: &str| std::fs::read(format!("/proc/{pid}/{of}")).ok();
    let line = read("cmdline").unwrap_or_default();
    let Ok(folder) = std::fs::read_link(format!("/proc/{pid}/cwd")) else { return Vec::new() };
    let words = line.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok());
    let places = words.filter(|word| word.contains('/')).filter_map(|word| folder.join(word).canonicalize().ok());
    places.filter(|path| is_program(path)).filter_map(|path| Some((path.clone(), path.metadata().ok()?))).collect()
}

/// When anything of a file was last changed: what is copied may keep the time at which its content was.
fn changed(about: &Metadata) -> Option<Timestamp> {
    Timestamp::new(about.ctime(), i32::try_from(about.ctime_nsec()).ok()?).ok()
}

/// Whether a file or folder is one of the repository's own, and not of what was checked out of it, by what they really are.
pub fn is_of_another(path: &Path, repository: &Path, checkout: &Path) -> bool {
    let found = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    let path = found(path);
    path.starts_with(found(repository)) && !path.starts_with(found(checkout))
}

#[cfg(test)]
mod tests {
    use super::is_of_another;

    #[test]
    fn a_checkout_within_the_repository_is_not_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = folder.path().canonicalize().unwrap().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (repository, checkout) = (place("repository"), place("repository/.cache/checkout"));
        let beside = place("repository-2");
        assert!(is_of_another(&place("repository/web"), &repository, &checkout));
        assert!(is_of_another(&repository, &repository, &checkout));
        for other in [&place("repository/.cache/checkout/web"), &checkout, &beside] {
            assert!(!is_of_another(other, &repository, &checkout), "{}", other.display());
        }
    }
}
