//! Code that every revision would load from one place, whichever of them is launched: variables that lead into the repository, and Python
//! packages that are installed from its working tree.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use lab::{Prepared, on_path};
use model::ProcessEnd;
use reaper::{Ended, Question, Unanswered, ask};

use super::revisions::{BuiltFrom, Checkout, words};
use crate::exit::Failure;
use crate::home;
use crate::output::say;

/// Variables by which programs find code.
const PATHS_OF_CODE: [&str; 6] = ["CLASSPATH", "LD_LIBRARY_PATH", "NODE_PATH", "PERL5LIB", "PYTHONPATH", "RUBYLIB"];

/// A variable by which every revision is built in one place. Cargo takes the second one's sources, which are older than what the first one's
/// build made, for built.
const PLACE_OF_BUILDS: &str = "CARGO_TARGET_DIR";

/// How long Python may take to say where its code is.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is kept of its answer.
const MOST_BYTES: usize = 1024 * 1024;

/// What is read of a script: the kernel looks at no more.
const LONGEST_FIRST_LINE: u64 = 256;

/// How many files and folders of a checkout are looked at for links.
const MOST_ENTRIES: usize = 200_000;

/// Where Python would find the packages that lie in the folder where it is run, or in its `src`: a line for each, its name and the place. The
/// argument is the folder in which it looks first, if any.
const ASK_PYTHON: &str = r#"
import importlib.util, os, sys
sys.path = sys.argv[1:] + (sys.path[1:] if sys.path[0] == "" else sys.path)
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
    /// Whether it is launched as it is named here. In a shell or by another program it may be another one by then, or elsewhere.
    is_direct: bool,
    /// Whether nothing in the command names it: a script of the revision may.
    is_guess: bool,
}

/// Refuses what makes every revision run the working tree's code, as far as it is sure beforehand; says so where it only may.
///
/// # Errors
/// When Python is launched with a module that each revision has, and would import it from the working tree.
pub(super) fn refuse_what_is_one(
    commands: &[String],
    checkouts: &[Checkout<'_>],
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mut told: Vec<String> = Vec::new();
    let is_cargo_s =
        |checkout: &Checkout<'_>| [checkout.root, checkout.folder].iter().any(|at| at.join("Cargo.toml").exists());
    let place = variable(PLACE_OF_BUILDS).map(PathBuf::from).filter(|place| place.is_absolute());
    if let Some(place) = place.filter(|_| checkouts.iter().any(is_cargo_s)) {
        say(format!(
            "note: {PLACE_OF_BUILDS} is {}, whichever revision is built; if cargo builds the server there, both run the same (env -u \
             {PLACE_OF_BUILDS} bourdon …)",
            place.display()
        ));
    }
    for checkout in checkouts {
        for note in notes(commands, *checkout, stop)? {
            if !told.contains(&note) {
                say(&note);
                told.push(note);
            }
        }
    }
    Ok(())
}

/// Refuses a Python package that the build of one revision has installed where the other one takes it from, too; says so where the command may
/// look for it elsewhere.
///
/// # Errors
/// When Python is launched with such a package.
pub(super) fn refuse_what_is_installed(
    commands: &[String],
    built: Option<[BuiltFrom<'_>; 2]>,
    prepared: &Prepared,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let Some([old, new]) = built else { return Ok(()) };
    // One command for both, or one for each.
    let (Some(of_old), Some(of_new)) = (commands.first(), commands.last()) else { return Ok(()) };
    for (own, other, command) in [(&old, &new, of_old), (&new, &old, of_new)] {
        let why = |place: &Path| {
            let is_its = place.starts_with(&other.root);
            let was_installed = || prepared.was_written_after(own.target, other.target, place);
            match place.starts_with(&own.root) {
                false if is_its => Some("lies in the other revision"),
                false if was_installed() => Some("was written while the other revision was built"),
                _ => None,
            }
        };
        let Some(python) = python(&words(command), own.folder) else { continue };
        let mut imports = imports(&python, own.folder, stop).unwrap_or_default();
        imports.retain(|(_, place)| why(place).is_some());
        let Some((is_run, name, place)) = python.runs_or_first(&imports) else { continue };
        let found = format!(
            "{} takes {name} from {}, which {}, so that both would run one and the same",
            python.interpreter.display(),
            place.display(),
            why(place).unwrap_or_default()
        );
        if is_run && python.is_direct {
            return Err(Failure::usage(format!("{found}; {A_FOLDER_OF_ITS_OWN}")));
        }
        say(format!(
            "note: {found}, unless what you launch looks for it in its own folder first; else {A_FOLDER_OF_ITS_OWN}"
        ));
    }
    Ok(())
}

/// How each revision has packages of its own.
const A_FOLDER_OF_ITS_OWN: &str = "install each revision in a folder of its own: --build 'sh -c \"python3 -m venv .venv && .venv/bin/pip install .\"' \
                                   for --run '.venv/bin/python -m …'";

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What is to be told of one revision.
fn notes(commands: &[String], checkout: Checkout<'_>, stop: &AtomicBool) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    for name in PATHS_OF_CODE {
        let set = commands.iter().flat_map(|command| words(command));
        let set = set.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(OsString::from));
        let values: Vec<OsString> = variable(name).into_iter().chain(set).collect();
        let mut paths = values.iter().flat_map(std::env::split_paths);
        if let Some(path) = paths.find(|path| path.is_absolute() && checkout.is_left_by(path)) {
            notes.push(format!(
                "note: {name} leads to {}, whichever revision is launched; if code of the server lies there, both run the same",
                path.display()
            ));
        }
    }
    if let Some(link) = shared_link(checkout) {
        let link = link.display();
        notes.push(format!("note: {link} is a link of a revision into the working tree, which is the same for both"));
    }
    for command in commands {
        let Some(python) = python(&words(command), checkout.folder) else { continue };
        let Some(mut imports) = imports(&python, checkout.folder, stop) else {
            if !python.is_guess {
                notes.push(format!(
                    "note: {} does not say where it takes the packages of a revision from; if that is the working tree (an editable install), \
                     both revisions run the same",
                    python.interpreter.display()
                ));
            }
            continue;
        };
        imports.retain(|(_, place)| checkout.is_left_by(place));
        let Some((is_run, name, place)) = python.runs_or_first(&imports) else { continue };
        let (interpreter, place) = (python.interpreter.display(), place.display());
        if is_run && python.is_direct {
            return Err(Failure::usage(format!(
                "{interpreter} imports {name} from {place}, whichever revision is launched (an editable install?); {A_FOLDER_OF_ITS_OWN}"
            )));
        }
        notes.push(format!(
            "note: {interpreter} finds {name} in {place} (an editable install?), which both revisions would run unless what you launch looks \
             for it in its own folder first; else {A_FOLDER_OF_ITS_OWN}"
        ));
    }
    Ok(notes)
}

impl Python {
    /// Of some packages the one whose module it runs, and that it does, or else the first.
    fn runs_or_first<'a>(&self, imports: &'a [(String, PathBuf)]) -> Option<(bool, &'a str, &'a Path)> {
        let run = self.module.as_ref().and_then(|module| module.split('.').next());
        let is_run = |(name, _): &&(String, PathBuf)| run == Some(name);
        let run = imports.iter().find(is_run);
        run.or(imports.first()).map(|(name, place)| (run.is_some(), name.as_str(), place.as_path()))
    }
}

/// A link of a revision into the repository's own folder.
fn shared_link(checkout: Checkout<'_>) -> Option<PathBuf> {
    let entries = walkdir::WalkDir::new(checkout.root).into_iter().flatten().take(MOST_ENTRIES);
    let mut links = entries.filter(walkdir::DirEntry::path_is_symlink).map(walkdir::DirEntry::into_path);
    let link = links.find(|link| link.exists() && checkout.is_left_by(link))?;
    link.strip_prefix(checkout.root).ok().map(PathBuf::from)
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
    let is_python = |word: &str| {
        let name = Path::new(word).file_name().map(|name| name.to_string_lossy());
        let version = name.as_ref().and_then(|name| name.strip_prefix("python"));
        version.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
    };
    // What the build is to make is of the revision.
    let is_made = |word: &String| word.contains('/') && !folder.join(word).exists();
    if command.first().is_some_and(is_made) {
        return None;
    }
    let place = |word: &str| match word.contains('/') {
        true => Some(folder.join(word)),
        false => on_path(word),
    };
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    if let Some(at) = command.iter().position(|word| is_python(word)) {
        let (interpreter, rest) = (place(&command[at])?, &command[at + 1..]);
        let module = rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1));
        let script = rest.iter().find(|word| !word.starts_with('-')).filter(|_| module.is_none());
        let beside = script.and_then(|script| Path::new(script).parent());
        return Some(Python {
            interpreter,
            module: module.cloned(),
            looks_in: Some(folder.join(beside.unwrap_or(Path::new("")))),
            is_direct: command[..at].iter().all(|word| word == "env" || word.contains('=')),
            variables: command[..at].iter().filter_map(|word| word.split_once('=')).map(owned).collect(),
            is_guess: false,
        });
    }
    let of_script = |word: &String| {
        let script = place(word).filter(|path| path.is_file())?;
        let mut first = Vec::new();
        File::open(script).ok()?.take(LONGEST_FIRST_LINE).read_to_end(&mut first).ok()?;
        let first = String::from_utf8_lossy(&first);
        let mut words = first.lines().next()?.strip_prefix("#!")?.split_whitespace();
        let interpreter = words.find(|word| is_python(word))?;
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
        Err(Unanswered::Stopped) => return Some(Vec::new()),
        _ => return None,
    }
    let said = String::from_utf8_lossy(&said);
    let (_, answer) = said.rsplit_once(ANSWER[0])?;
    let lines = answer.strip_suffix(ANSWER[1])?.lines().filter_map(|line| line.split_once(' '));
    Some(lines.map(|(name, place)| (name.to_owned(), place.into())).collect())
}
