//! The vocabulary of the end-to-end tests of `run`, `report` and `targets`: a folder, the real binary, what it said.
#![allow(dead_code, reason = "each test binary uses its own part of the vocabulary")]

mod record;
#[path = "../wait/mod.rs"]
mod wait;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::process::{Pid, Signal, getuid, kill_process};
use tempfile::TempDir;

pub(crate) use record::{Json, Record};
pub(crate) use wait::wait_until;

/// Where each test keeps its experiment.
pub(crate) const FILE: &str = "try.toml";

/// Carries the name of the lab in the environment of everything that bourdon starts.
const MARKER: &str = "BOURDON_TEST_LAB";

/// One run at a time has the machine, as on a user's desk: tests that load side by side measure each other. Those to which no
/// figure matters share it.
static MACHINE: RwLock<()> = RwLock::new(());

/// Held as long as a lab is there.
enum Machine {
    Alone { _guard: RwLockWriteGuard<'static, ()> },
    Shared { _guard: RwLockReadGuard<'static, ()> },
}

/// Two specimens of which one serves a request at a time; 5 ms handler delay, 20 connections, six blocks.
pub(crate) const CLEAN_AND_SERIALISED: &str = r#"
question = "Which one serves requests side by side?"
load = { path = "/rest/hello", expect_body = "Hello world", connections = 20 }
trials = { warm_up = "20ms", window = "200ms", blocks = 6, repeats = 0 }

[vary]
target = ["specimen:clean", "specimen:serialised"]
handler_delay = "5ms"
"#;

/// A specimen beside another on two numbers of connections: short trials, so many blocks.
pub(crate) fn short(blocks: u32) -> String {
    format!(
        "question = \"Is the order kept?\"\n\
         load = {{ path = \"/rest/hello\", expect_body = \"Hello world\" }}\n\
         trials = {{ warm_up = \"10ms\", window = \"50ms\", blocks = {blocks}, repeats = 0 }}\n\
         [vary]\ntarget = [\"specimen:clean\", \"specimen:stall\"]\nconnections = [2, 4]\n"
    )
}

/// What each entry of a list has under this key.
pub(crate) fn names(list: &Json, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
}

/// `run = COMMAND` as a target of the file, beside a clean specimen: one short block.
pub(crate) fn beside_a_specimen(target: &str) -> String {
    format!(
        "question = \"Does the one disturb the other?\"\n\
         load = {{ path = \"/rest/hello\", expect_body = \"Hello world\", connections = 4 }}\n\
         trials = {{ warm_up = \"10ms\", window = \"50ms\", blocks = 2 }}\n\
         [[target]]\nname = \"odd\"\n{target}\n[vary]\ntarget = [\"odd\", \"specimen:clean\"]\n"
    )
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whether a command is on PATH; if not, says that a test was not run.
pub(crate) fn is_here(command: &str) -> bool {
    let here = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join(command).is_file());
    if !here {
        eprintln!("NOT RUN: `{command}` is not on PATH");
    }
    here
}

/// Whether root runs this, who alone can become a user without any process; if not, says that a test was not run.
pub(crate) fn is_root() -> bool {
    let root = getuid().is_root();
    if !root {
        eprintln!("NOT RUN: only root can become another user");
    }
    root && is_here("setpriv")
}

/// A folder to work in, with a cache of its own; nothing that is started in it may outlive it.
pub(crate) struct Lab {
    folder: TempDir,
    /// Where bourdon and its targets keep what lasts no longer than they do.
    temporary: TempDir,
    command_env: Vec<(String, String)>,
    /// What calls bourdon, with its arguments; empty when nothing does.
    through: Vec<String>,
    _machine: Machine,
}

impl Lab {
    /// With the machine to itself.
    pub(crate) fn new() -> Self {
        Self::on(Machine::Alone { _guard: MACHINE.write().unwrap_or_else(PoisonError::into_inner) })
    }

    /// Beside the labs of other tests to which no figure matters, either.
    pub(crate) fn beside_others() -> Self {
        Self::on(Machine::Shared { _guard: MACHINE.read().unwrap_or_else(PoisonError::into_inner) })
    }

    fn on(machine: Machine) -> Self {
        let folder = || tempfile::tempdir().unwrap();
        Lab { folder: folder(), temporary: folder(), command_env: Vec::new(), through: Vec::new(), _machine: machine }
    }

    /// With an experiment file.
    pub(crate) fn experiment(self, text: impl AsRef<str>) -> Self {
        self.file(FILE, text)
    }

    /// With a file, its folders made.
    pub(crate) fn file(self, name: &str, text: impl AsRef<str>) -> Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_ref()).unwrap();
        self
    }

    /// With something else in a file.
    pub(crate) fn replace(self, name: &str, old: &str, new: &str) -> Self {
        let text = std::fs::read_to_string(self.path().join(name)).unwrap();
        assert!(text.contains(old), "no `{old}` in {text}");
        self.file(name, text.replace(old, new))
    }

    /// With an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.command_env.push((name.to_owned(), value.into()));
        self
    }

    /// Called by another command, such as `prlimit --nofile=64`.
    pub(crate) fn through(mut self, words: &str) -> Self {
        self.through = words.split_whitespace().map(str::to_owned).collect();
        self
    }

    /// As an ordinary user that has no process yet, with at most so many; its folders are anybody's. Only root can.
    pub(crate) fn with_processes(self, most: u32) -> Self {
        let user = fastrand::u32(100_000..1_000_000_000);
        for folder in [&self.folder, &self.temporary] {
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        }
        self.through(&format!(
            "setpriv --reuid={user} --regid={user} --clear-groups --inh-caps=-all prlimit --nproc={most}"
        ))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where bourdon and its targets keep what lasts no longer than they do.
    pub(crate) fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// The binary under test, as it is called here.
    fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        self.under(&[], args)
    }

    /// The binary under test as an argument of another program: `strace …`.
    fn under(&self, program: &[&str], args: &[impl AsRef<OsStr>]) -> Command {
        let through = self.through.iter().map(String::as_str).chain(program.iter().copied());
        let words: Vec<&str> = through.chain([env!("CARGO_BIN_EXE_bourdon")]).collect();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in ["BOURDON_HOME", "NO_COLOR", "COLUMNS", "PORT", "HANDLER_DELAY", "LOG_FILE"] {
            command.env_remove(name);
        }
        command.env(MARKER, self.path()).env("XDG_CACHE_HOME", self.path().join("cache"));
        command.env("XDG_STATE_HOME", self.path().join("state")).env("TMPDIR", self.temporary.path());
        command.envs(self.command_env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// `bourdon ARGS`, to its end.
    pub(crate) fn bourdon(&self, args: &[&str]) -> Outcome {
        self.start(args).end()
    }

    /// `PROGRAM bourdon ARGS`, to its end.
    pub(crate) fn bourdon_under(&self, program: &[&str], args: &[&str]) -> Outcome {
        Started::new(&mut self.under(program, args)).end()
    }

    /// `PROGRAM bourdon ARGS`, begun.
    pub(crate) fn start_under(&self, program: &[&str], args: &[&str]) -> Started {
        Started::new(&mut self.under(program, args))
    }

    /// `bourdon ARGS` in another folder, to its end.
    pub(crate) fn bourdon_in(&self, folder: &Path, args: &[&str]) -> Outcome {
        Started::new(self.command(args).current_dir(folder)).end()
    }

    /// `bourdon run try.toml ARGS`, to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.bourdon(&[&["run", FILE], args].concat())
    }

    /// `bourdon ARGS`, begun.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        Started::new(&mut self.command(args))
    }

    /// `bourdon ARGS` in another folder, begun.
    pub(crate) fn start_in(&self, folder: &Path, args: &[&str]) -> Started {
        Started::new(self.command(args).current_dir(folder))
    }

    /// Every run recorded here, in the order of their names.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.records_in("runs")
    }

    /// Every run recorded in a folder.
    pub(crate) fn records_in(&self, folder: &str) -> Vec<Record> {
        let Ok(entries) = std::fs::read_dir(self.path().join(folder)) else { return Vec::new() };
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.retain(|path| !path.file_name().unwrap().as_encoded_bytes().starts_with(b"."));
        folders.sort();
        folders.into_iter().map(Record::new).collect()
    }

    /// The one run recorded here.
    pub(crate) fn record(&self) -> Record {
        let mut records = self.records();
        assert_eq!(records.len(), 1, "{records:?}");
        records.remove(0)
    }

    /// Waits until nothing is alive of what was started here; it must end by itself.
    pub(crate) fn nothing_is_left(&self) {
        // Both at once: one look at /proc misses a process that another starts meanwhile and leaves alone.
        let folders = || std::fs::read_dir(self.temporary.path()).unwrap().count();
        wait_until("the end of everything and its folders", || {
            (self.alive().is_empty() && folders() == 0).then_some(())
        });
    }

    /// The processes that carry this lab's name, in their environment or as an argument.
    pub(crate) fn alive(&self) -> Vec<String> {
        let (own, name) = (std::process::id(), self.path().as_os_str().as_encoded_bytes());
        let mut alive = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let read = |file| std::fs::read(entry.path().join(file)).unwrap_or_default();
            let (environment, arguments) = (read("environ"), read("cmdline"));
            let ours = |bytes: &[u8]| bytes.windows(name.len()).any(|window| window == name);
            if pid != own && (ours(&environment) || ours(&arguments)) {
                alive.push(format!("{pid}: {}", String::from_utf8_lossy(&arguments).replace('\0', " ")));
            }
        }
        alive
    }
}

/// A bourdon that runs; dropped, it is killed.
pub(crate) struct Started(Option<Child>);

impl Started {
    fn new(command: &mut Command) -> Self {
        Started(Some(command.spawn().unwrap()))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Outcome {
        Outcome::from(self.0.take().unwrap().wait_with_output().unwrap())
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Reads what it says until a line has these words; gives the line.
    #[track_caller]
    pub(crate) fn says(&mut self, words: &str) -> String {
        let mut said = String::new();
        let stderr = self.child().stderr.as_mut().unwrap();
        let mut byte = [0];
        while stderr.read(&mut byte).unwrap() > 0 {
            said.push(byte[0].into());
            match said.lines().last() {
                Some(line) if byte == *b"\n" && line.contains(words) => return line.to_owned(),
                _ => {}
            }
        }
        panic!("no `{words}` in\n{said}");
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = self.child().try_wait().unwrap()?;
        let mut said = String::new();
        if let Some(mut stderr) = self.child().stderr.take() {
            stderr.read_to_string(&mut said).unwrap();
        }
        Some(format!("{status}: {said}"))
    }

    /// Looks for something as long as it runs.
    pub(crate) fn until<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        wait_until(what, || {
            let found = look();
            if let (None, Some(end)) = (&found, self.ended()) {
                panic!("never seen: {what}; bourdon ended with {end}");
            }
            found
        })
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&mut self) {
        self.signal(Signal::INT);
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).unwrap();
    }

    /// Whether it is still there to be killed; its end is waited for.
    pub(crate) fn kill_or_end(mut self) -> Outcome {
        self.child().kill().unwrap();
        self.end()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child().kill().unwrap();
        let killed = self.end();
        assert_eq!(killed.status, None, "it had ended before: {killed:?}");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Exit status; none when a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Outcome { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Outcome {
    /// Asserts the exit status.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}", self.all());
        self
    }

    /// Asserts that there was an answer, whatever it is: in a tiny window on a busy machine nothing may be served.
    #[track_caller]
    pub(crate) fn answers(self) -> Self {
        assert!(matches!(self.status, Some(0 | 1 | 3)), "{}", self.all());
        self
    }

    /// Asserts that all of these are in stderr.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        words.iter().for_each(|word| assert!(self.stderr.contains(word), "no `{word}` in stderr\n{}", self.all()));
        self
    }

    /// Asserts that all of these are in stdout.
    #[track_caller]
    pub(crate) fn shows(self, words: &[&str]) -> Self {
        words.iter().for_each(|word| assert!(self.stdout.contains(word), "no `{word}` in stdout\n{}", self.all()));
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        let mut documents = serde_json::Deserializer::from_str(&self.stdout).into_iter();
        let document = documents.next().unwrap_or_else(|| panic!("no JSON\n{}", self.all())).unwrap();
        assert!(documents.next().is_none(), "a second document\n{}", self.all());
        document
    }

    fn all(&self) -> String {
        let mut all = format!("status: {:?}\n", self.status);
        let _ = writeln!(all, "--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        all
    }
}
