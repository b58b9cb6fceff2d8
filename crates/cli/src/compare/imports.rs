//! Code that every revision would load from one place, whichever of them is launched: variables that lead into the repository, and Python
//! packages that are installed from its working tree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use lab::on_path;
use model::ProcessEnd;
use reaper::{Ended, Question, ask};

use super::revisions::words;
use crate::exit::Failure;
use crate::home;
use crate::output::say;

/// Variables by which programs find code.
const PATHS_OF_CODE: [&str; 6] = ["CLASSPATH", "LD_LIBRARY_PATH", "NODE_PATH", "PERL5LIB", "PYTHONPATH", "RUBYLIB"];

/// How long Python may take to say where its code is.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is kept of its answer, and read of a script.
const MOST_BYTES: usize = 64 * 1024;

/// Where Python would find the packages that lie in the folder where it is run, or in its `src`: a line for each, its name and the place. The
/// argument is the folder in which it looks first, if any.
const ASK_PYTHON: &str = r#"
import importlib.util, os, sys
sys.path = sys.argv[1:] + [entry for entry in sys.path if entry not in ("", os.getcwd())]
names = set()
for folder in (".", "src"):
    for entry in os.scandir(folder) if os.path.isdir(folder) else ():
        if entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
            names.add(entry.name)
        elif entry.name.endswith(".py"):
            names.add(entry.name[:-3])
for name in sorted(names)[:1000]:
    try:
        found = importlib.util.find_spec(name)
    except Exception:
        continue
    if found and found.origin:
        print(name, os.path.realpath(found.origin))
"#;

/// A Python that a command names.
#[derive(Debug, PartialEq, Eq)]
struct Python {
    interpreter: PathBuf,
    /// The module that it runs (`-m`).
    module: Option<String>,
    /// Where it looks for code before it looks where packages are installed. Of a script that was installed, nobody knows.
    looks_in: Option<PathBuf>,
}

/// Refuses what makes every revision run the working tree's code, as far as it can be seen beforehand; says so where it only may.
///
/// # Errors
/// When a variable leads into the repository, or Python would import from there what each revision has.
pub(super) fn refuse_what_is_one(
    commands: &[String],
    repository: &Path,
    checkout: &Path,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    for name in PATHS_OF_CODE {
        let set = commands.iter().flat_map(|command| words(command));
        let set = set.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(OsString::from));
        let values: Vec<OsString> = std::env::var_os(name).into_iter().chain(set).collect();
        let mut paths = values.iter().flat_map(std::env::split_paths);
        if let Some(path) = paths.find(|path| path.is_absolute() && is_of(path, repository)) {
            return Err(Failure::usage(format!(
                "{name} leads to {}, whichever revision is launched; take that out, or write it as it lies in the folder where the server \
                 is run",
                path.display()
            )));
        }
    }
    for command in commands {
        let Some(python) = python(&words(command), checkout) else { continue };
        let mut imports = imports(&python, checkout, stop);
        imports.retain(|(_, place)| is_of(place, repository) && !is_of(place, checkout));
        let is_run =
            |name: &String| python.module.as_ref().is_some_and(|module| module.split('.').next() == Some(name));
        let run = imports.iter().find(|(name, _)| is_run(name));
        let Some((name, place)) = run.or(imports.first()) else { continue };
        let (interpreter, place) = (python.interpreter.display(), place.display());
        let cure = "install each revision in a folder of its own, as --build 'python3 -m venv .venv && .venv/bin/pip install .' does for --run \
                    .venv/bin/…";
        if run.is_some() {
            return Err(Failure::usage(format!(
                "{interpreter} imports {name} from {place}, whichever revision is launched (an editable install?); {cure}"
            )));
        }
        say(format!(
            "note: {interpreter} finds {name} in {place} (an editable install?), which both revisions would run unless what you launch looks \
             for it in its own folder first; else {cure}"
        ));
    }
    Ok(())
}

/// Whether a path lies in a folder, by what both really are.
fn is_of(path: &Path, folder: &Path) -> bool {
    let found = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    found(path).starts_with(found(folder))
}

/// The Python that a command runs: named as such, or by the first line of a script on PATH.
fn python(command: &[String], folder: &Path) -> Option<Python> {
    let is_python =
        |word: &str| Path::new(word).file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let place = |word: &str| match word.contains('/') {
        true => Some(folder.join(word)),
        false => on_path(word),
    };
    if let Some(at) = command.iter().position(|word| is_python(word)) {
        let (interpreter, rest) = (place(&command[at])?, &command[at + 1..]);
        let module = rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1));
        let script = rest.iter().find(|word| word.ends_with(".py")).filter(|_| module.is_none());
        let beside = script.and_then(|script| Path::new(script).parent());
        return Some(Python {
            interpreter,
            module: module.cloned(),
            looks_in: Some(folder.join(beside.unwrap_or(Path::new("")))),
        });
    }
    let of_script = |word: &String| {
        let script = place(word).filter(|path| path.is_file())?;
        let first = std::fs::read(script).ok().filter(|text| text.len() <= MOST_BYTES && text.starts_with(b"#!"))?;
        let first = String::from_utf8_lossy(&first).lines().next().map(str::to_owned)?;
        let interpreter = first[2..].split_whitespace().find(|word| is_python(word))?;
        Some(Python { interpreter: place(interpreter)?, module: None, looks_in: None })
    };
    command.iter().find_map(of_script)
}

/// The packages of a checkout, each with where Python would take it from; none where it cannot be asked, which its launch will tell.
fn imports(python: &Python, folder: &Path, stop: &AtomicBool) -> Vec<(String, PathBuf)> {
    let mut command = vec![OsString::from(&python.interpreter)];
    command.extend(["-B", "-c", ASK_PYTHON].map(OsString::from));
    command.extend(python.looks_in.clone().map(OsString::from));
    let executable = home::executable();
    let question = Question { executable: &executable, command, within: Some(PATIENCE), stop: Some(stop) };
    let mut said = Vec::new();
    let answer = ask(
        question,
        |python| {
            python.current_dir(folder);
        },
        &mut |bytes| said.extend_from_slice(&bytes[..bytes.len().min(MOST_BYTES - said.len())]),
    );
    match answer {
        Ok(answer) if matches!(answer.ended, Ended::Ran(ProcessEnd::Exited(0))) => {}
        _ => return Vec::new(),
    }
    let said = String::from_utf8_lossy(&said);
    said.lines().filter_map(|line| line.split_once(' ')).map(|(name, place)| (name.to_owned(), place.into())).collect()
}
