use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The running executable, by a name that leads to it even where its file has been replaced meanwhile.
pub const ITSELF: &str = "/proc/self/exe";

/// Says that stdout is apart from stderr.
const APART: &str = "apart";

/// What is to be run, as the arguments of the hidden subcommand say it: `STEP CPUS SCRATCH APART COMMAND…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub(crate) step: Step,
    /// CPUs the command may use; empty leaves it to the kernel.
    pub cpus: Vec<u32>,
    /// Folder that is made before the command starts and removed once nothing of it is left.
    pub scratch: Option<PathBuf>,
    /// Whether stdout goes where bourdon has it go, and only stderr is read by the reaper.
    pub(crate) apart: bool,
    /// The command and its arguments.
    pub command: Vec<OsString>,
}

/// Each starts the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Leaves bourdon's tree.
    Detach,
    Warden,
    Reaper,
    /// Becomes the command, if this is still its parent.
    Command {
        reaper: u32,
    },
}

impl Order {
    /// An order to run a command.
    pub fn new(command: Vec<OsString>, cpus: &[u32], scratch: Option<&Path>) -> Self {
        Self { step: Step::Detach, cpus: cpus.to_vec(), scratch: scratch.map(Path::to_owned), apart: false, command }
    }

    /// The arguments that say it.
    pub fn arguments(&self) -> Vec<OsString> {
        let step = match self.step {
            Step::Detach => "detach".to_owned(),
            Step::Warden => "warden".to_owned(),
            Step::Reaper => "reaper".to_owned(),
            Step::Command { reaper } => format!("command:{reaper}"),
        };
        let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        let scratch = self.scratch.clone().unwrap_or_default();
        let apart = if self.apart { APART } else { "" };
        let mut words = vec![step.into(), cpus.join(",").into(), scratch.into(), apart.into()];
        words.extend(self.command.iter().cloned());
        words
    }

    /// Reads them; none if they say nothing that could be run.
    pub(crate) fn parse(words: &[OsString]) -> Option<Self> {
        let [step, cpus, scratch, apart, command @ ..] = words else { return None };
        let step = match step.to_str()?.split_once(':') {
            None if step == "detach" => Step::Detach,
            None if step == "warden" => Step::Warden,
            None if step == "reaper" => Step::Reaper,
            Some(("command", reaper)) => Step::Command { reaper: reaper.parse().ok()? },
            _ => return None,
        };
        let cpus: Option<_> =
            cpus.to_str()?.split(',').filter(|cpu| !cpu.is_empty()).map(|cpu| cpu.parse().ok()).collect();
        let scratch = (!scratch.is_empty()).then(|| PathBuf::from(scratch));
        let order = Self { step, cpus: cpus?, scratch, apart: apart == APART, command: command.to_vec() };
        (apart.is_empty() || order.apart).then_some(order).filter(|order| !order.command.is_empty())
    }

    /// The running executable as the next step, in a process group of its own.
    pub(crate) fn next(&self, step: Step) -> Command {
        let mut command = call(Path::new(ITSELF), &Self { step, ..self.clone() });
        command.process_group(0);
        command
    }
}

/// The hidden subcommand of an executable. It is not called by the executable's name, which a user may want to kill.
pub(crate) fn call(executable: &Path, order: &Order) -> Command {
    let mut command = Command::new(executable);
    command.arg0("reaper").arg("reaper").args(order.arguments());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let command = || ["sh", "-c", "a, b"].map(OsString::from).to_vec();
        let order = Order::new(command(), &[0, 3], Some(Path::new("/tmp/x y")));
        for step in [Step::Detach, Step::Warden, Step::Reaper, Step::Command { reaper: 7 }] {
            for apart in [false, true] {
                let order = Order { step, apart, ..order.clone() };
                assert_eq!(Order::parse(&order.arguments()), Some(order));
            }
        }
        let bare = Order::new(command(), &[], None);
        assert_eq!(Order::parse(&bare.arguments()), Some(bare));
        for bad in [
            &["warden", "", "", ""][..],
            &["other", "", "", "", "sh"],
            &["warden", "x", "", "", "sh"],
            &["warden", "", "", "x", "sh"],
            &["warden"],
        ] {
            let words: Vec<OsString> = bad.iter().map(OsString::from).collect();
            assert_eq!(Order::parse(&words), None, "{bad:?}");
        }
    }
}
