use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{BuildRecipe, Runtime, Target};
use reaper::{Answer, Ended, Guarded, Order, Question, Unanswered, ask, remove_folder};

use crate::durable::rename_durably;
use crate::expand::{Variables, expand};
use crate::fingerprint::fingerprint;
use crate::held::{Held, sweep};
use crate::hint;
use crate::printed::tail;
use crate::room::Room;

/// How often a build under way is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long a toolchain may take to say its version.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is read of it.
const MOST_SAID: usize = 64 * 1024;

/// Where the cache keeps what is being built; no result is called so, for its key is behind its name.
const UNFINISHED: &str = "unfinished";

/// In it: what the build makes.
const MADE: &str = "built";

/// Builds targets, each once: what was built from the same recipe, inputs and toolchain is used again.
#[derive(Debug, Clone)]
pub struct Builder {
    cache: PathBuf,
    executable: PathBuf,
}

/// A target that is ready to be launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The file or folder that `$TARGET_BIN` stands for; none when there is nothing to build.
    pub binary: Option<PathBuf>,
    /// Whether an earlier build served.
    pub cached: bool,
    /// First line of what the toolchain says of its version.
    pub toolchain: Option<String>,
}

/// Why a target cannot be built here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Its toolchain is not on PATH.
    #[error("`{command}` is not on PATH; get it from {get}")]
    NoToolchain {
        /// The command looked for.
        command: String,
        /// Where to get it.
        get: String,
    },
    /// What should print its toolchain's version ends with an error: part of the toolchain is missing.
    #[error("{target} cannot be built here: {said}; get what is missing from {get}")]
    HalfToolchain {
        /// The target.
        target: String,
        /// What was said instead of a version.
        said: String,
        /// Where to get it.
        get: String,
    },
    /// The build ended with an error.
    #[error("building {target} failed ({status}):\n{output}")]
    Failed {
        /// The target.
        target: String,
        /// How the build ended.
        status: String,
        /// The last lines of what it said.
        output: String,
    },
    /// What bourdon itself needs for a build is missing, such as room on a disk. That says nothing about the target.
    #[error("{target} cannot be built: {text}")]
    Prevented {
        /// The target.
        target: String,
        /// What is missing, and what to do about it.
        text: String,
    },
    /// It was stopped.
    #[error("building {target} was interrupted")]
    Interrupted {
        /// The target.
        target: String,
    },
    /// The build could not be started, or its files not be read.
    #[error("building {target}: {text}")]
    Start {
        /// The target.
        target: String,
        /// What went wrong.
        text: String,
    },
}

impl BuildError {
    /// Whether something this machine lacks is the reason, and no fault of the target.
    pub fn is_absence(&self) -> bool {
        matches!(self, BuildError::NoToolchain { .. } | BuildError::HalfToolchain { .. })
    }
}

impl Builder {
    /// A builder that keeps what it builds in `cache` and runs recipes under the reaper of `executable`.
    pub fn new(cache: PathBuf, executable: PathBuf) -> Self {
        Self { cache, executable }
    }

    /// Builds a target with one of its runtimes; setting `stop` ends the build. `on_start` is called when no earlier
    /// build serves.
    ///
    /// # Errors
    /// When its toolchain is missing, the build fails or is stopped; nothing half-built is left behind or running.
    pub fn build(
        &self,
        target: &Target,
        runtime: &Runtime,
        stop: &AtomicBool,
        on_start: &mut dyn FnMut(),
    ) -> Result<Built, BuildError> {
        let toolchain = self.toolchain(target, runtime, stop)?;
        let Some(recipe) = &target.build else { return Ok(Built { binary: None, cached: false, toolchain }) };
        let start = |text: String| BuildError::Start { target: target.name.clone(), text };
        let key =
            fingerprint(target, recipe, runtime, toolchain.as_deref()).map_err(|error| start(error.to_string()))?;
        let binary = self.cache.join(format!("{}-{key}", target.name));
        // Without inputs nobody can tell whether the result is still the right one.
        if binary.exists() && !recipe.inputs.is_empty() {
            return Ok(Built { binary: Some(binary), cached: true, toolchain });
        }
        on_start();
        let prevented = |text: String| BuildError::Prevented { target: target.name.clone(), text };
        let cannot_write = |error: std::io::Error| prevented(unwritable(&self.cache, &error));
        let unfinished = self.unfinished().map_err(cannot_write)?;
        let made = unfinished.path().join(MADE);
        self.run(target, recipe, runtime, &unfinished, stop)?;
        // A recipe that does not name $TARGET_BIN keeps its result where it likes.
        if !recipe.run.iter().any(|word| word.contains("TARGET_BIN")) {
            return Ok(Built { binary: None, cached: false, toolchain });
        }
        // To open something else, such as a FIFO, might take for ever.
        if std::fs::metadata(&made).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(start("the build made no program: $TARGET_BIN is neither a file nor a folder".to_owned()));
        }
        rename_durably(&made, &binary).map_err(|error| match error.kind() {
            ErrorKind::NotFound => start(format!("the build made no $TARGET_BIN: {error}")),
            _ => cannot_write(error),
        })?;
        Ok(Built { binary: Some(binary), cached: false, toolchain })
    }

    /// A folder for one build; what killed builds have left goes.
    fn unfinished(&self) -> std::io::Result<Held> {
        let place = self.cache.join(UNFINISHED);
        std::fs::create_dir_all(&place)?;
        sweep(&place, |_| true, remove_folder);
        Held::make(&place, "")
    }

    /// First line of what the toolchain of a target's runtime says of its version; none when it needs no toolchain.
    ///
    /// # Errors
    /// When it is missing.
    pub fn toolchain(
        &self,
        target: &Target,
        runtime: &Runtime,
        stop: &AtomicBool,
    ) -> Result<Option<String>, BuildError> {
        let Some(toolchain) = &target.toolchain else { return Ok(None) };
        let missing = || BuildError::NoToolchain { command: toolchain.command.clone(), get: toolchain.get.clone() };
        let words: Vec<&str> = toolchain.version.split_whitespace().collect();
        let program = words.first().copied().unwrap_or(&toolchain.command);
        if [&toolchain.command, program].iter().any(|command| on_path(command).is_none()) {
            return Err(missing());
        }
        let command = [program].iter().chain(words.iter().skip(1)).map(Into::into).collect();
        let question = Question { executable: &self.executable, command, within: Some(PATIENCE), stop: Some(stop) };
        let prepare = |command: &mut Command| {
            command.current_dir(&target.launch.cwd).envs(&runtime.env);
        };
        let name = target.name.clone();
        let half = |said| BuildError::HalfToolchain { target: name.clone(), said, get: toolchain.get.clone() };
        match first_line(question, prepare) {
            Ok((Ended::Well, said)) => Ok(Some(said)),
            Ok((Ended::NotStarted(text), _)) => Err(BuildError::Start { target: name, text }),
            Ok((Ended::Unguarded(text), _)) | Err(Unanswered::NotStarted(text)) => {
                Err(BuildError::Prevented { target: name, text })
            }
            Ok((Ended::Otherwise(end), _)) if end.lost_its_reaper() => {
                Err(BuildError::Prevented { target: name, text: format!("`{}` {end}", toolchain.version) })
            }
            Ok((Ended::Otherwise(_), said)) => Err(half(said)),
            Err(Unanswered::Stopped) => Err(BuildError::Interrupted { target: name }),
            Err(Unanswered::Late) => {
                Err(half(format!("`{}` did not end within {} s", toolchain.version, PATIENCE.as_secs())))
            }
        }
    }

    fn run(
        &self,
        target: &Target,
        recipe: &BuildRecipe,
        runtime: &Runtime,
        unfinished: &Held,
        stop: &AtomicBool,
    ) -> Result<(), BuildError> {
        let prevented = |text: String| BuildError::Prevented { target: target.name.clone(), text };
        let (made, log) = (unfinished.path().join(MADE), unfinished.path().join("log"));
        let variables = Variables::from([("TARGET_BIN", made.to_string_lossy().into_owned())]);
        let words = recipe.run.iter().map(|word| expand(word, &variables).into()).collect();
        let output = File::create(&log).map_err(|error| prevented(unwritable(&self.cache, &error)))?;
        let mut room = Room::of([self.cache.clone(), std::env::temp_dir()]);
        let mut build = Guarded::start(&self.executable, &Order::new(words, &[], None), output, |command| {
            command.current_dir(&recipe.cwd).envs(&recipe.env).envs(&runtime.env);
        })
        .map_err(|ended| match ended {
            Ended::NotStarted(text) => BuildError::Start { target: target.name.clone(), text },
            other => prevented(other.to_string()),
        })?;
        let ended = loop {
            room.look();
            if let Some(ended) = build.ended() {
                break ended.clone();
            }
            if stop.load(Ordering::Relaxed) {
                return Err(BuildError::Interrupted { target: target.name.clone() });
            }
            std::thread::sleep(LOOK_EVERY);
        };
        room.look();
        build.end();
        let target = target.name.clone();
        match ended {
            Ended::Well => Ok(()),
            Ended::Unguarded(text) => Err(BuildError::Prevented { target, text }),
            Ended::NotStarted(text) => Err(BuildError::Start { target, text: text + &hint::shell(&recipe.run) }),
            Ended::Otherwise(end) if end.lost_its_reaper() => {
                Err(BuildError::Prevented { target, text: format!("the build {end}") })
            }
            Ended::Otherwise(end) => {
                let output = tail(&log);
                if let Some(full) = room.full() {
                    return Err(BuildError::Prevented { target, text: format!("{full} (the build {end}):\n{output}") });
                }
                Err(BuildError::Failed { target, status: end.to_string() + &hint::shell(&recipe.run), output })
            }
        }
    }
}

/// That the cache cannot be written, and what to do about it.
fn unwritable(cache: &Path, error: &std::io::Error) -> String {
    let cure = "make room there, or set XDG_CACHE_HOME to a folder that can be written";
    format!("cannot write in {}: {error}; {cure}", cache.display())
}

/// How a program ends, and the first line of what it says, on stdout if it says something there.
fn first_line(question: Question<'_>, prepare: impl FnOnce(&mut Command)) -> Result<(Ended, String), Unanswered> {
    let mut said = Vec::new();
    let Answer { ended, errors } = ask(question, prepare, &mut |bytes| {
        said.extend_from_slice(&bytes[..bytes.len().min(MOST_SAID - said.len())]);
    })?;
    said.extend(errors);
    let line = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned();
    Ok((ended, line))
}

/// Where a command is; one with a slash in it is where it says.
pub(crate) fn on_path(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LaunchRecipe, Toolchain};
    use std::collections::BTreeMap;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Mutex, PoisonError};

    /// Stands in for the executable: the outward behaviour of `bourdon reaper detach CPUS SCRATCH APART COMMAND…`.
    const REAPER: &str = "#!/bin/sh\napart=$5; shift 5\necho pid $$ 0 >&0\n[ $apart ] || exec >&2\n\"$@\" </dev/null\n\
                          echo exit status $? >&0\ncat >/dev/null\necho done >&0\n";

    /// Only one test forks at a time: a fork between writing and starting the script would keep it busy.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    fn build(folder: &Path, target: &Target) -> Result<Built, BuildError> {
        let script = folder.join("reaper");
        if !script.exists() {
            std::fs::write(&script, REAPER).unwrap();
            std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
        }
        let (builder, stop) = (Builder::new(folder.join("cache"), script), AtomicBool::new(false));
        let mut starts = 0;
        let built = builder.build(target, &Runtime::default(), &stop, &mut || starts += 1);
        let is_run = built.as_ref().map_or_else(|error| !error.is_absence(), |built| !built.cached);
        assert_eq!(starts, usize::from(is_run), "said when its recipe is run, and only then");
        built
    }

    fn target(folder: &Path, run: &[&str]) -> Target {
        let build = BuildRecipe {
            run: run.iter().map(|word| (*word).to_owned()).collect(),
            cwd: folder.to_owned(),
            inputs: vec![folder.join("in")],
            env: BTreeMap::new(),
        };
        let launch = LaunchRecipe {
            run: vec![],
            cwd: folder.to_owned(),
            env: BTreeMap::new(),
            ready: "/".into(),
            metrics: None,
            ready_within_ns: model::READY_WITHIN_NS,
            warm_within_ns: 0,
        };
        Target { build: Some(build), ..Target::of("t", launch) }
    }

    /// How many files and folders a cache holds beside the one for what is being built.
    fn left_in(cache: &Path) -> usize {
        let count = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
        count(cache) - 1 + count(&cache.join(UNFINISHED))
    }

    #[test]
    fn a_target_is_built_once_until_its_inputs_change() {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in"), "one").unwrap();
        let target = target(folder.path(), &["cp", "in", "$TARGET_BIN"]);
        let first = build(folder.path(), &target).unwrap();
        assert!(!first.cached);
        let again = build(folder.path(), &target).unwrap();
        assert_eq!((again.cached, &again.binary), (true, &first.binary));
        std::fs::write(folder.path().join("in"), "two").unwrap();
        let changed = build(folder.path(), &target).unwrap();
        assert!(!changed.cached && changed.binary != first.binary);
    }

    #[test]
    fn a_build_that_fails_says_why_and_leaves_nothing() {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in"), "one").unwrap();
        let cache = folder.path().join("cache");
        let failing = target(folder.path(), &["sh", "-c", "echo half > $TARGET_BIN; echo no such thing >&2; exit 3"]);
        let error = build(folder.path(), &failing).unwrap_err();
        assert!(error.to_string().contains("no such thing"), "{error}");
        assert_eq!(left_in(&cache), 0);
    }

    #[test]
    fn a_build_may_make_a_folder_and_leaves_none_when_it_fails() {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in"), "one").unwrap();
        let failing = target(folder.path(), &["sh", "-c", "mkdir $TARGET_BIN; touch $TARGET_BIN/half; exit 3"]);
        build(folder.path(), &failing).unwrap_err();
        assert_eq!(left_in(&folder.path().join("cache")), 0);
        let making = target(folder.path(), &["sh", "-c", "mkdir $TARGET_BIN; touch $TARGET_BIN/whole"]);
        let built = build(folder.path(), &making).unwrap();
        assert!(built.binary.unwrap().join("whole").is_file());
    }

    #[test]
    fn a_build_that_makes_a_fifo_is_refused_and_not_waited_for() {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in"), "one").unwrap();
        let making = target(folder.path(), &["mkfifo", "$TARGET_BIN"]);
        let said = build(folder.path(), &making).unwrap_err().to_string();
        assert!(said.contains("the build made no program"), "{said}");
        assert_eq!(left_in(&folder.path().join("cache")), 0);
    }

    #[test]
    fn a_toolchain_that_is_half_there_says_what_is_missing() {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("version.sh"), "echo no JDK 25 here; exit 1").unwrap();
        let mut target = target(folder.path(), &["true", "$TARGET_BIN"]);
        target.toolchain = Some(Toolchain {
            command: "sh".into(),
            version: "sh version.sh".into(),
            get: "https://example.invalid".into(),
        });
        let said = build(folder.path(), &target).unwrap_err().to_string();
        assert_eq!(said, "t cannot be built here: no JDK 25 here; get what is missing from https://example.invalid");
    }

    #[test]
    fn a_missing_toolchain_is_named_with_its_cure() {
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let mut target = target(folder.path(), &["true", "$TARGET_BIN"]);
        target.toolchain = Some(Toolchain {
            command: "no-such-compiler".into(),
            version: "no-such-compiler --version".into(),
            get: "https://example.invalid".into(),
        });
        let error = build(folder.path(), &target).unwrap_err();
        assert_eq!(error.to_string(), "`no-such-compiler` is not on PATH; get it from https://example.invalid");
    }
}
