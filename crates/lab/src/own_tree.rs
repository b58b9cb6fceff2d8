//! Whether what runs for a revision is of that revision.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::{ComparedRevision, Plan, RevisionContent, Target};
use observe::ProcSource;

use crate::launch::Running;
use crate::named::is_program;
use crate::prepare::Prepared;

/// Why what was launched for a revision may be another one's, by what its processes run once it is ready. A shell or a script may name that, so
/// that the command does not tell.
pub(crate) fn is_of_another_revision(
    plan: &Plan,
    target: &Target,
    prepared: &Prepared,
    running: &dyn Running,
) -> Option<String> {
    let [first, second] = &plan.comparison.as_ref()?.revisions[..] else { return None };
    let [own, other] = if first.target == target.name { [first, second] } else { [second, first] };
    let own_root = root(plan, own)?;
    let processes: Vec<Process> =
        observe::programs(running.family()?, &ProcSource::default()).into_iter().map(Process::from).collect();
    let title = &target.title;
    if matches!(own.content, RevisionContent::Commit(_)) {
        let mut folders = processes.iter().filter_map(|process| process.folder.as_deref());
        // Whoever does the same for the other revision would be served out of it, too.
        if let Some(folder) = folders.find(|folder| is_of_another(folder, &own.repository, &own_root)) {
            return Some(format!(
                "{title}: a process of it works in {}, which is of neither revision; let the command start what lies in the folder where it \
                 is run itself (./server, no cd)",
                folder.display()
            ));
        }
    }
    if own.content == other.content {
        return None;
    }
    let other_root = root(plan, other).filter(|_| matches!(other.content, RevisionContent::Commit(_)));
    if let Some(path) = other_root.and_then(|root| processes.iter().find_map(|process| process.within(&root))) {
        return Some(format!(
            "{title} runs {}, which is of the other revision; let the command start what lies in the folder where it is run itself",
            path.display()
        ));
    }
    let is_others =
        |path: &Path| !path.starts_with(&own_root) && prepared.was_written_after(&own.target, &other.target, path);
    let path = processes.iter().flat_map(|process| &process.runs).find(|path| is_others(path))?;
    Some(format!(
        "{title} runs {}, which was written while the other revision was built, so that both would be launched from what the last build \
         installed. Each must be built into a folder of its own; what is the same for both is installed once beforehand",
        path.display()
    ))
}

/// The folder that a revision lies in, as it really is.
fn root(plan: &Plan, revision: &ComparedRevision) -> Option<PathBuf> {
    let cwd = &plan.target(&revision.target)?.launch.cwd;
    cwd.ancestors().nth(revision.within.components().count())?.canonicalize().ok()
}

/// A process of a server.
struct Process {
    /// Where it works.
    folder: Option<PathBuf>,
    /// What the kernel runs for it with its libraries, and the programs that its command line names: an interpreter is given what it runs.
    runs: Vec<PathBuf>,
}

impl From<(u32, PathBuf)> for Process {
    fn from((pid, program): (u32, PathBuf)) -> Self {
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok();
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&str> =
            line.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok()).collect();
        // What has no slash and stands first was found on PATH.
        let is_place = |(at, word): &(usize, &&str)| *at > 0 || word.contains('/');
        let place = |(_, word): (usize, &&str)| folder.as_ref()?.join(word).canonicalize().ok();
        let named = words.iter().enumerate().filter(is_place).filter_map(place).filter(|path| is_program(path));
        let runs = std::iter::once(program).chain(named).chain(libraries(pid)).collect();
        Process { folder, runs }
    }
}

/// The files that a process has mapped to run code in them.
fn libraries(pid: u32) -> BTreeSet<PathBuf> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let is_code = |line: &&str| line.split(' ').nth(1).is_some_and(|rights| rights.contains('x'));
    maps.lines().filter(is_code).filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..]))).collect()
}

impl Process {
    /// What of it lies in a folder.
    fn within(&self, root: &Path) -> Option<&Path> {
        let all = self.folder.iter().chain(&self.runs);
        all.map(PathBuf::as_path).find(|path| path.starts_with(root))
    }
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
