use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::Document;

const PROGRAM: &str = env!("CARGO_BIN_EXE_bourdon");

/// A run that has not ended by itself after so long never will.
const LONGEST: Duration = Duration::from_secs(30);

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    /// None if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The JSON document, which is all of stdout, and whose books balance.
    pub(crate) fn document(&self) -> Document {
        Document::of_balanced(&self.stdout).unwrap_or_else(|why| panic!("{why}\n{self:?}"))
    }

    /// The document of a run that ended with `status`.
    pub(crate) fn document_with(&self, status: i32) -> Document {
        assert_eq!(self.status, Some(status), "{self:?}");
        self.document()
    }
}

/// What would change how the program writes.
const TONES: [&str; 4] = ["COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE"];

/// Runs the program to its end.
pub(crate) fn bourdon(arguments: &[&str]) -> Ended {
    finish(assert_cmd::Command::new(PROGRAM).args(arguments))
}

/// Runs `bourdon load … --format json` to its end.
pub(crate) fn load(url: &str, arguments: &[&str]) -> Ended {
    bourdon(&[&["load", url, "--format", "json"], arguments].concat())
}

/// Runs the program from a shell after `before`.
pub(crate) fn on_a_shell(before: &str, arguments: &[&str]) -> Ended {
    let script = format!("{before}; exec \"$0\" \"$@\"");
    finish(assert_cmd::Command::new("sh").arg("-c").arg(script).arg(PROGRAM).args(arguments))
}

/// No calibration of this machine may decide what a test sees.
const NO_STATE: (&str, &str) = ("XDG_STATE_HOME", "/dev/null");

fn finish(command: &mut assert_cmd::Command) -> Ended {
    command.env(NO_STATE.0, NO_STATE.1);
    TONES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.timeout(LONGEST).output().unwrap().into()
}

/// Runs the program with a stdout that nobody reads; gives its status and stderr.
pub(crate) fn without_a_reader(arguments: &[&str]) -> Ended {
    let mut running = spawn(arguments);
    drop(running.0.stdout.take());
    running.end()
}

/// A run that is under way. It is ended with its owner.
pub(crate) struct Running(Child);

/// Starts the program.
pub(crate) fn spawn(arguments: &[&str]) -> Running {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env(NO_STATE.0, NO_STATE.1);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(command.spawn().unwrap())
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits until it ends by itself; what it writes fits into the pipes.
    pub(crate) fn end(mut self) -> Ended {
        let mut errors = self.0.stderr.take().unwrap();
        let (done, waiting) = mpsc::channel();
        // Its stderr ends when it does.
        std::thread::spawn(move || {
            let mut stderr = String::new();
            done.send(errors.read_to_string(&mut stderr).map(|_| stderr))
        });
        let stderr = waiting.recv_timeout(LONGEST).expect("it does not end").unwrap();
        let status = self.0.wait().unwrap().code();
        let mut stdout = String::new();
        if let Some(mut pipe) = self.0.stdout.take() {
            pipe.read_to_string(&mut stdout).unwrap();
        }
        Ended { status, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, and been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
