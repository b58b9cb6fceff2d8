use std::fs::File;
use std::io::{Result, Write};
use std::os::fd::AsFd;

use model::ProcessEnd;

use crate::end;

/// What the steps say to bourdon, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// The command begins now, as this process below this reaper.
    Started { pid: u32, reaper: u32, at_ns: u64 },
    /// It cannot be run.
    Failed(String),
    /// It was not run, because it cannot be guarded.
    Unguarded(String),
    /// It ended by itself, or lost its reaper.
    Ended(ProcessEnd),
    /// Nothing of it is left.
    Done,
}

impl Said {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "pid" => {
                let (pid, rest) = rest.split_once(' ')?;
                let (reaper, at_ns) = rest.split_once(' ')?;
                Said::Started { pid: pid.parse().ok()?, reaper: reaper.parse().ok()?, at_ns: at_ns.parse().ok()? }
            }
            "failed" => Said::Failed(rest.to_owned()),
            "unguarded" => Said::Unguarded(rest.to_owned()),
            "exit" => Said::Ended(end::heard(rest)?),
            "done" => Said::Done,
            _ => return None,
        })
    }

    fn line(&self) -> String {
        match self {
            Said::Started { pid, reaper, at_ns } => format!("pid {pid} {reaper} {at_ns}\n"),
            Said::Failed(text) => format!("failed {}\n", text.replace('\n', " ")),
            Said::Unguarded(text) => format!("unguarded {}\n", text.replace('\n', " ")),
            Said::Ended(how) => format!("exit {}\n", end::said(*how)),
            Said::Done => "done\n".to_owned(),
        }
    }

    /// Says it in one write.
    pub(crate) fn say(&self) {
        let _ = to_bourdon().map(|to| self.say_to(&to));
    }

    /// bourdon may be gone; then nobody listens, and the end of the socket says so.
    pub(crate) fn say_to(&self, mut to: &File) {
        let _ = to.write_all(self.line().as_bytes());
    }
}

/// The socket to bourdon, which a step has as its stdin. A command does not inherit this copy.
pub(crate) fn to_bourdon() -> Result<File> {
    std::io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_heard_as_it_was_said() {
        let (started, done) = (Said::Started { pid: 7, reaper: 6, at_ns: 123 }, Said::Done);
        let [failed, unguarded] = [Said::Failed, Said::Unguarded].map(|said| said("no: such".into()));
        for said in [started, failed, unguarded, Said::Ended(ProcessEnd::Exited(3)), done] {
            assert_eq!(Said::parse(said.line().trim_end()), Some(said));
        }
        assert_eq!(Said::Failed("two\nlines".into()).line(), "failed two lines\n");
        assert_eq!(["", "pid", "pid x 1 1", "pid 1", "pid 1 1"].map(Said::parse), [const { None }; 5]);
    }
}
