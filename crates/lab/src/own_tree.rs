//! Whether what runs for a revision is of that revision.

use std::path::{Path, PathBuf};

use model::{Plan, RevisionContent, Target};
use observe::ProcSource;

use crate::launch::Running;

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
