use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

/// A command under a reaper of its own: whatever it starts ends with it, and with bourdon.
pub(crate) struct Guarded {
    reaper: Child,
    /// Closing it tells the reaper to end the command.
    pipe: Option<ChildStdin>,
    said: Receiver<String>,
    pid: u32,
    ended: Option<String>,
}

impl Guarded {
    /// Starts `words` on `cpus` (empty leaves them to the kernel) through the hidden subcommand `reaper` of
    /// `executable`, which removes `scratch` once nothing of it is left. What the command prints goes to `output`;
    /// `prepare` sets folder and environment.
    pub(crate) fn start(
        executable: &Path,
        words: &[String],
        cpus: &[u32],
        scratch: Option<&Path>,
        output: File,
        prepare: impl FnOnce(&mut Command),
    ) -> std::io::Result<Self> {
        let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let mut command = Command::new(executable);
        command.arg("reaper").arg(format!("--cpus={}", cpus.join(",")));
        command.args(scratch.iter().flat_map(|scratch| [OsStr::new("--scratch"), scratch.as_os_str()]));
        command.arg("--").args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(output).process_group(0);
        prepare(&mut command);
        let mut reaper = command.spawn()?;
        Ok(Self { pipe: reaper.stdin.take(), said: lines(&mut reaper), reaper, pid: 0, ended: None })
    }

    /// The command's process; 0 until the reaper has said it.
    pub(crate) fn pid(&mut self) -> u32 {
        self.listen();
        self.pid
    }

    /// How the command ended, if it has ended by itself: `exited with status 0`.
    pub(crate) fn ended(&mut self) -> Option<&str> {
        self.listen();
        if self.ended.is_none()
            && let Ok(Some(status)) = self.reaper.try_wait()
        {
            self.listen();
            self.ended.get_or_insert_with(|| format!("could not be run ({status})"));
        }
        self.ended.as_deref()
    }

    /// Ends it with everything it started: TERM, then KILL. Returns when nothing of it is left.
    pub(crate) fn end(&mut self) {
        self.pipe = None;
        let _ = self.reaper.wait();
    }

    /// Takes what the reaper has said.
    fn listen(&mut self) {
        while let Ok(line) = self.said.try_recv() {
            match line.split_once(' ') {
                Some(("pid", pid)) => self.pid = pid.parse().unwrap_or(0),
                Some(("exit", text)) => self.ended = Some(text.to_owned()),
                _ => {}
            }
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}

/// The lines that the reaper says, as they come.
fn lines(reaper: &mut Child) -> Receiver<String> {
    let (tell, said) = mpsc::channel();
    if let Some(out) = reaper.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
    }
    said
}
