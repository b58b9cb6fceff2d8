use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{BuildRecipe, ProcessEnd, Runtime, Target};
use reaper::{Answer, Ended, Guarded, Order, Question, Unanswered, ask, remove_folder};

use crate::deadline::look_until;
use crate::error::LabError;
use crate::expand::{Variables, expand};
use crate::fingerprint::fingerprint;
use crate::held::{Held, sweep};
use crate::hint;
use crate::printed::tail;
use crate::programs::{Program, Programs, Unkept};
use crate::room::Room;

/// How often a build under way is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long a toolchain may take to say its version.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is read of it.
const MOST_SAID: usize = 64 * 1024;

/// Where the cache keeps what is being built; no program is called so, for its digest is behind its name.
const UNFINISHED: &str = "unfinished";

/// In it: what the build makes.
const MADE: &str = "built";

/// Builds targets, each once: what was built from the same recipe, inputs and toolchain is used again. What was built stays
/// as it is: another result gets another name.
#[derive(Debug, Clone)]
pub struct Builder {
    cache: PathBuf,
    executable: PathBuf,
}

/// A target that is ready to be launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// What `$TARGET_BIN` stands for; none when there is nothing to build, or the build keeps its result where it likes.
    pub program: Option<Program>,
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
    #[error("building {target} failed ({status}){said}", said = said(output))]
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
    /// A run has begun with a program that is gone, and what is built now is another one.
    #[error(
        "{target} was built as {wanted} when the run began; that is no longer in {cache}, and building it now gives {made}. \
         Put its source and toolchain back as they were, or start a new run",
        cache = cache.display()
    )]
    Another {
        /// The target.
        target: String,
        /// The digest that was recorded.
        wanted: String,
        /// That of what was built now.
        made: String,
        /// Where built programs are kept.
        cache: PathBuf,
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

/// What a failed build printed last, or that it printed nothing.
fn said(output: &str) -> String {
    if output.is_empty() { ", and it printed nothing".to_owned() } else { format!(":\n{output}") }
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

    /// Builds a target with one of its runtimes; setting `stop` ends the build. `recorded` is the digest of the program that
    /// a run has begun with, and no other is given for it. `on_start` is called when no earlier build serves.
    ///
    /// # Errors
    /// When its toolchain is missing, the build fails or is stopped, or makes another program than the one recorded;
    /// nothing half-built is left behind or running.
    pub fn build(
        &self,
        target: &Target,
        runtime: &Runtime,
        recorded: Option<&str>,
        stop: &AtomicBool,
        on_start: &mut dyn FnMut(),
    ) -> Result<Built, BuildError> {
        let toolchain = self.toolchain(target, runtime, stop)?;
        let Some(recipe) = &target.build else { return Ok(Built { program: None, cached: false, toolchain }) };
        let programs = Programs { folder: &self.cache, target: &target.name };
        if let Some(program) = recorded.and_then(|digest| programs.with_digest(digest, stop)) {
            return Ok(Built { program: Some(program), cached: true, toolchain });
        }
        let fingerprint = fingerprint(target, recipe, runtime, toolchain.as_deref(), stop)
            .map_err(|error| unread(target, stop, &error))?;
        // Without inputs nobody can tell whether an earlier result is still the right one.
        let earlier = if recipe.inputs.is_empty() { None } else { programs.built_from(&fingerprint, stop) };
        let cached = earlier.is_some();
        let program = match earlier {
            Some(program) => Some(program),
            None => {
                on_start();
                self.make(target, recipe, runtime, &fingerprint, stop)?
            }
        };
        match (recorded, &program) {
            (Some(wanted), Some(program)) if program.digest != wanted => Err(BuildError::Another {
                target: target.name.clone(),
                wanted: wanted.to_owned(),
                made: program.digest.clone(),
                cache: self.cache.clone(),
            }),
            _ => Ok(Built { program, cached, toolchain }),
        }
    }

    /// Runs a recipe and keeps what it makes; none for one that does not name `$TARGET_BIN` and keeps that where it likes.
    fn make(
        &self,
        target: &Target,
        recipe: &BuildRecipe,
        runtime: &Runtime,
        fingerprint: &str,
        stop: &AtomicBool,
    ) -> Result<Option<Program>, BuildError> {
        let start = |text: String| BuildError::Start { target: target.name.clone(), text };
        let prevented = |text: String| BuildError::Prevented { target: target.name.clone(), text };
        let cannot_write = |error: std::io::Error| prevented(unwritable(&self.cache, &error));
        let unfinished = self.unfinished().map_err(cannot_write)?;
        let made = unfinished.path().join(MADE);
        let programs = Programs { folder: &self.cache, target: &target.name };
        programs.forget_old(unfinished.path(), UNFINISHED);
        self.run(target, recipe, runtime, &unfinished, stop)?;
        if !recipe.run.iter().any(|word| word.contains("TARGET_BIN")) {
            return Ok(None);
        }
        match std::fs::symlink_metadata(&made) {
            Err(error) => return Err(start(format!("the build made no $TARGET_BIN: {error}"))),
            Ok(found) if found.is_symlink() => {
                return Err(start(
                    "the build made $TARGET_BIN a link, and what it leads to may change; copy it".to_owned(),
                ));
            }
            // To open something else, such as a FIFO, might take for ever.
            Ok(found) if !found.is_file() && !found.is_dir() => {
                return Err(start("the build made no program: $TARGET_BIN is neither a file nor a folder".to_owned()));
            }
            Ok(_) => {}
        }
        programs.keep(&made, fingerprint, stop).map(Some).map_err(|unkept| match unkept {
            Unkept::Unread(error) => unread(target, stop, &error),
            Unkept::Unwritten(error) => cannot_write(error),
        })
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
            Ok((Ended::Ran(ProcessEnd::Exited(0)), said)) => Ok(Some(said)),
            Ok((Ended::NotStarted(text), _)) => Err(BuildError::Start { target: name, text }),
            Ok((Ended::Unguarded(text), _)) | Err(Unanswered::NotStarted(text)) => {
                Err(BuildError::Prevented { target: name, text })
            }
            Ok((Ended::Ran(end), _)) if end.is_unguarded() => {
                Err(BuildError::Prevented { target: name, text: format!("`{}` {end}", toolchain.version) })
            }
            Ok((Ended::Ran(_), said)) => Err(half(said)),
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
        let look = || {
            room.look();
            build.ended().cloned()
        };
        let Some(ended) = look_until(LOOK_EVERY, look, || !stop.load(Ordering::Relaxed)) else {
            return Err(BuildError::Interrupted { target: target.name.clone() });
        };
        room.look();
        build.end();
        let target = target.name.clone();
        match ended {
            Ended::Ran(ProcessEnd::Exited(0)) => Ok(()),
            Ended::Unguarded(text) => Err(BuildError::Prevented { target, text }),
            Ended::NotStarted(text) => Err(BuildError::Start { target, text: hint::with_shell(text, &recipe.run) }),
            Ended::Ran(end) if end.is_unguarded() => {
                Err(BuildError::Prevented { target, text: format!("the build {end}") })
            }
            Ended::Ran(end) => {
                let output = tail(&log);
                if let Some(full) = room.full() {
                    return Err(BuildError::Prevented { target, text: format!("{full} (the build {end}):\n{output}") });
                }
                Err(BuildError::Failed { target, status: hint::with_shell(end.to_string(), &recipe.run), output })
            }
        }
    }
}

/// That what a build depends on, or what it made, cannot be read, or was not read to its end.
fn unread(target: &Target, stop: &AtomicBool, error: &LabError) -> BuildError {
    let target = target.name.clone();
    if stop.load(Ordering::Relaxed) {
        return BuildError::Interrupted { target };
    }
    BuildError::Start { target, text: error.to_string() }
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
pub fn on_path(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests;
