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
const MOST_BYTES: usize = 1024 * 1024;

/// How many files and folders of a checkout are looked at for links.
const MOST_ENTRIES: usize = 200_000;

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
print("\nwhere:")
for name in sorted(names)[:1000]:
    try:
        found = importlib.util.find_spec(name)
    except Exception:
        continue
    if found and found.origin:
        print(name, os.path.realpath(found.origin))
print("all")
"#;

/// Between these lines stands its answer: what Python runs as it starts may print something, too.
const ANSWER: [&str; 2] = ["\nwhere:\n", "all\n"];

/// A Python that a command names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Python {
    interpreter: PathBuf,
    /// The module that it runs (`-m`).
    module: Option<String>,
    /// Where it looks for code before it looks where packages are installed. Of a script that was installed, nobody knows.
    looks_in: Option<PathBuf>,
    /// What the command sets for it.
    variables: Vec<(String, String)>,
    /// Whether nothing in the command names it: a script of the revision may.
    is_guess: bool,
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
    if let Some(link) = shared_link(repository, checkout) {
        say(format!("note: both revisions have {} in common, which is a link into the working tree", link.display()));
    }
    for command in commands {
        let Some(python) = python(&words(command), checkout) else { continue };
        let Some(mut imports) = imports(&python, checkout, stop) else {
            if !python.is_guess {
                say(format!(
                    "note: {} does not say where it takes the packages of a revision from; if that is the working tree (an editable install), \
                     both revisions run the same",
                    python.interpreter.display()
                ));
            }
            continue;
        };
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

/// A link of a revision into the repository's own folder.
fn shared_link(repository: &Path, checkout: &Path) -> Option<PathBuf> {
    let entries = walkdir::WalkDir::new(checkout).into_iter().flatten().take(MOST_ENTRIES);
    let mut links = entries.filter(walkdir::DirEntry::path_is_symlink).map(walkdir::DirEntry::into_path);
    let link = links.find(|link| link.exists() && is_of(link, repository) && !is_of(link, checkout))?;
    link.strip_prefix(checkout).ok().map(PathBuf::from)
}

/// Whether a folder, or its `src`, has code in Python.
fn has_python(folder: &Path) -> bool {
    let entries = [folder.to_owned(), folder.join("src")].into_iter().filter_map(|place| place.read_dir().ok());
    let is_code = |path: PathBuf| path.extension().is_some_and(|end| end == "py") || path.join("__init__.py").exists();
    entries.flatten().flatten().any(|entry| is_code(entry.path()))
}

/// The Python that a command runs: named as such, or by the first line of a script on PATH; of another command the usual one, where the revision
/// has code for it.
fn python(command: &[String], folder: &Path) -> Option<Python> {
    let is_python =
        |word: &str| Path::new(word).file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let place = |word: &str| match word.contains('/') {
        true => Some(folder.join(word)),
        false => on_path(word),
    };
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    if let Some(at) = command.iter().position(|word| is_python(word)) {
        let (interpreter, rest) = (place(&command[at])?, &command[at + 1..]);
        let module = rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1));
        let script = rest.iter().find(|word| word.ends_with(".py")).filter(|_| module.is_none());
        let beside = script.and_then(|script| Path::new(script).parent());
        return Some(Python {
            interpreter,
            module: module.cloned(),
            looks_in: Some(folder.join(beside.unwrap_or(Path::new("")))),
            variables: command[..at].iter().filter_map(|word| word.split_once('=')).map(owned).collect(),
            is_guess: false,
        });
    }
    let of_script = |word: &String| {
        let script = place(word).filter(|path| path.is_file())?;
        let first = std::fs::read(script).ok().filter(|text| text.len() <= MOST_BYTES && text.starts_with(b"#!"))?;
        let first = String::from_utf8_lossy(&first).lines().next().map(str::to_owned)?;
        let interpreter = first[2..].split_whitespace().find(|word| is_python(word))?;
        Some(Python { interpreter: place(interpreter)?, ..Python::default() })
    };
    let usual = || {
        let interpreter = on_path("python3").filter(|_| has_python(folder))?;
        Some(Python { interpreter, looks_in: Some(folder.to_owned()), is_guess: true, ..Python::default() })
    };
    command.iter().find_map(of_script).or_else(usual)
}

/// The packages of a checkout, each with where Python would take it from; none where it does not say. One that is not there
/// is for the build to make, or its launch will tell.
fn imports(python: &Python, folder: &Path, stop: &AtomicBool) -> Option<Vec<(String, PathBuf)>> {
    let mut command = vec![OsString::from(&python.interpreter)];
    command.extend(["-B", "-c", ASK_PYTHON].map(OsString::from));
    command.extend(python.looks_in.clone().map(OsString::from));
    let executable = home::executable();
    let question = Question { executable: &executable, command, within: Some(PATIENCE), stop: Some(stop) };
    let mut said = Vec::new();
    let answer = ask(
        question,
        |command| {
            command.current_dir(folder).envs(python.variables.iter().map(|(name, value)| (name, value)));
        },
        &mut |bytes| said.extend_from_slice(&bytes[..bytes.len().min(MOST_BYTES - said.len())]),
    );
    match answer {
        Ok(answer) if matches!(answer.ended, Ended::Ran(ProcessEnd::Exited(0))) => {}
        Ok(answer) if matches!(answer.ended, Ended::NotStarted(_)) => return Some(Vec::new()),
        _ => return None,
    }
    let said = String::from_utf8_lossy(&said);
    let (_, answer) = said.rsplit_once(ANSWER[0])?;
    let lines = answer.strip_suffix(ANSWER[1])?.lines().filter_map(|line| line.split_once(' '));
    Some(lines.map(|(name, place)| (name.to_owned(), place.into())).collect())
}
