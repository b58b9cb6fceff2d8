use std::fmt::{self, Display};

use rustix::process::WaitStatus;
use signal_hook::low_level::signal_name;

/// How a process that ran came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Status(i32),
    /// This signal ended it.
    Signal(i32),
    /// Its reaper was killed, and it with it.
    ReaperKilled,
    /// Its reaper came to such an end, and it with it: this status.
    ReaperStatus(i32),
    /// The same by this signal.
    ReaperSignal(i32),
    /// Nobody says.
    Unknown,
}

impl End {
    pub(crate) fn of(status: WaitStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(status), _) => End::Status(status),
            (None, Some(signal)) => End::Signal(signal),
            _ => End::Unknown,
        }
    }

    /// That of a command whose reaper ended so.
    pub(crate) fn of_the_reapers(self) -> Self {
        match self {
            End::Status(status) => End::ReaperStatus(status),
            End::Signal(signal) => End::ReaperSignal(signal),
            _ => End::ReaperKilled,
        }
    }

    /// Whether somebody took away what guarded it, and the kernel ended it for that. That says nothing of it, unless it did
    /// so itself.
    pub fn lost_its_reaper(self) -> bool {
        matches!(self, End::ReaperKilled | End::ReaperStatus(_) | End::ReaperSignal(_))
    }

    /// As the steps say it to bourdon.
    pub(crate) fn said(self) -> String {
        match self {
            End::Status(status) => format!("status {status}"),
            End::Signal(signal) => format!("signal {signal}"),
            End::ReaperKilled => "reaper-killed".to_owned(),
            End::ReaperStatus(status) => format!("reaper-status {status}"),
            End::ReaperSignal(signal) => format!("reaper-signal {signal}"),
            End::Unknown => "unknown".to_owned(),
        }
    }

    pub(crate) fn heard(said: &str) -> Option<Self> {
        let (word, number) = said.split_once(' ').unwrap_or((said, ""));
        let number = || number.parse().ok();
        Some(match word {
            "status" => End::Status(number()?),
            "signal" => End::Signal(number()?),
            "reaper-killed" => End::ReaperKilled,
            "reaper-status" => End::ReaperStatus(number()?),
            "reaper-signal" => End::ReaperSignal(number()?),
            "unknown" => End::Unknown,
            _ => return None,
        })
    }
}

/// What it did, for a sentence that begins with its name.
impl Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Status(status) => write!(f, "exited with status {status}"),
            End::Signal(signal) => write!(f, "was ended by {}", named(*signal)),
            End::ReaperKilled => f.write_str("lost its reaper (somebody killed it)"),
            End::ReaperStatus(status) => write!(f, "lost its reaper (which exited with status {status})"),
            End::ReaperSignal(signal) => write!(f, "lost its reaper (which was ended by {})", named(*signal)),
            End::Unknown => f.write_str("ended, and its reaper does not say how"),
        }
    }
}

/// `signal 9 (SIGKILL)`
fn named(signal: i32) -> String {
    let name = signal_name(signal).map(|name| format!(" ({name})"));
    format!("signal {signal}{}", name.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_heard_as_it_was_said_whatever_people_read() {
        let ends = [
            (End::Status(0), "exited with status 0"),
            (End::Status(3), "exited with status 3"),
            (End::Signal(9), "was ended by signal 9 (SIGKILL)"),
            (End::Signal(40), "was ended by signal 40"),
            (End::Signal(9).of_the_reapers(), "lost its reaper (which was ended by signal 9 (SIGKILL))"),
            (End::Status(1).of_the_reapers(), "lost its reaper (which exited with status 1)"),
            (End::ReaperKilled, "lost its reaper (somebody killed it)"),
            (End::Unknown, "ended, and its reaper does not say how"),
        ];
        for (end, read) in ends {
            assert_eq!((End::heard(&end.said()), end.to_string().as_str()), (Some(end), read));
            assert_eq!(end.lost_its_reaper(), read.starts_with("lost its reaper"));
        }
        for said in ["", "exited with status 0", "status", "status x", "status 1 2"] {
            assert_eq!(End::heard(said), None, "{said}");
        }
    }
}
