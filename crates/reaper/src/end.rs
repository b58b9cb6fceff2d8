//! Ends of processes, as the kernel tells them and as the steps say them to bourdon.

use model::{GuardEnd, ProcessEnd};
use rustix::process::WaitStatus;

pub(crate) fn of(status: WaitStatus) -> ProcessEnd {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(status), _) => ProcessEnd::Exited(status),
        (None, Some(signal)) => ProcessEnd::Killed { signal, core_dumped: dumped_core(status.as_raw()) },
        _ => ProcessEnd::Unknown,
    }
}

/// Whether a status of the kernel says that it wrote the process's memory to a file.
fn dumped_core(status: i32) -> bool {
    status & 0x80 != 0
}

/// That of a command whose reaper ended so.
pub(crate) fn with_its_reaper(reaper: ProcessEnd) -> ProcessEnd {
    ProcessEnd::Unguarded(match reaper {
        ProcessEnd::Exited(status) => GuardEnd::Exited(status),
        ProcessEnd::Killed { signal, .. } => GuardEnd::Killed(signal),
        _ => GuardEnd::Unknown,
    })
}

/// As the steps say it to bourdon.
pub(crate) fn said(end: ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited(status) => format!("status {status}"),
        ProcessEnd::Killed { signal, core_dumped: false } => format!("signal {signal}"),
        ProcessEnd::Killed { signal, core_dumped: true } => format!("core {signal}"),
        ProcessEnd::Unguarded(GuardEnd::Exited(status)) => format!("reaper-status {status}"),
        ProcessEnd::Unguarded(GuardEnd::Killed(signal)) => format!("reaper-signal {signal}"),
        ProcessEnd::Unguarded(GuardEnd::Told) => "reaper-told".to_owned(),
        ProcessEnd::Unguarded(GuardEnd::Unknown) => "reaper".to_owned(),
        ProcessEnd::Unknown => "unknown".to_owned(),
    }
}

pub(crate) fn heard(said: &str) -> Option<ProcessEnd> {
    let (word, number) = said.split_once(' ').unwrap_or((said, ""));
    let number = || number.parse().ok();
    Some(match word {
        "status" => ProcessEnd::Exited(number()?),
        "signal" => ProcessEnd::Killed { signal: number()?, core_dumped: false },
        "core" => ProcessEnd::Killed { signal: number()?, core_dumped: true },
        "reaper-status" => ProcessEnd::Unguarded(GuardEnd::Exited(number()?)),
        "reaper-signal" => ProcessEnd::Unguarded(GuardEnd::Killed(number()?)),
        "reaper-told" => ProcessEnd::Unguarded(GuardEnd::Told),
        "reaper" => ProcessEnd::Unguarded(GuardEnd::Unknown),
        "unknown" => ProcessEnd::Unknown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::process::{Pid, WaitOptions, waitpid};

    use super::*;

    #[test]
    fn an_end_is_heard_as_it_was_said() {
        let own = [
            ProcessEnd::Exited(0),
            ProcessEnd::Killed { signal: 9, core_dumped: false },
            ProcessEnd::Killed { signal: 11, core_dumped: true },
            ProcessEnd::Unknown,
        ];
        let told = ProcessEnd::Unguarded(GuardEnd::Told);
        for end in own.into_iter().chain(own.map(with_its_reaper)).chain([told]) {
            assert_eq!(heard(&said(end)), Some(end));
        }
        for said in ["", "exited with status 0", "status", "status x", "status 1 2"] {
            assert_eq!(heard(said), None, "{said}");
        }
    }

    #[test]
    fn the_kernel_tells_a_status_from_a_signal() {
        let ended = |line: &str| {
            #[expect(clippy::zombie_processes, reason = "waited for by its pid, as the reaper does")]
            let child = Command::new("sh").args(["-c", line]).process_group(0).spawn().unwrap();
            let pid = Pid::from_child(&child);
            of(waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap().1)
        };
        assert_eq!(ended("exit 3"), ProcessEnd::Exited(3));
        assert_eq!(ended("kill -9 $$"), ProcessEnd::Killed { signal: 9, core_dumped: false });
        assert_eq!([11, 0x80 | 11].map(dumped_core), [false, true]);
    }
}
