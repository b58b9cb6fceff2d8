use std::io::Write;
use std::time::Duration;

use model::{GuardEnd, ProcessEnd};
use rustix::process::{Signal, WaitStatus};

use crate::children;
use crate::clock::{AGAIN, after, left};
use crate::output::Output;
use crate::said::Said;
use crate::watch::Watch;

/// How long what is killed may take to be gone. Only the kernel can hold it up.
pub(crate) const KILLED: Duration = Duration::from_secs(5);

/// How a step ends what is below it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    /// TERM; KILL if that is not obeyed in time.
    Asked(Duration),
    /// The child does it; KILL if it does not in time, and whatever it leaves.
    Awaited(Duration),
}

/// A child, and whatever it starts.
pub(crate) struct Guard {
    pub(crate) watch: Watch,
    child: u32,
    ending: Ending,
    kill_at_ns: Option<u64>,
    give_up_ns: u64,
}

impl Guard {
    pub(crate) fn new(watch: Watch, child: u32, ending: Ending) -> Self {
        Self { watch, child, ending, kill_at_ns: None, give_up_ns: u64::MAX }
    }

    /// Waits until nothing is left below, and sees to that once it is to stop. `ended` is told how the child ended.
    /// False when something could not be killed.
    pub(crate) fn stand<W: Write>(
        &mut self,
        mut output: Option<&mut Output<W>>,
        mut ended: impl FnMut(WaitStatus, Option<&mut Output<W>>),
    ) -> bool {
        loop {
            let (changed, any) = children::changed();
            for (pid, status) in changed {
                match status.stopped() {
                    // Whoever stopped it, a child that guards must run.
                    true if self.is_guard(pid) => children::signal_one(pid, Signal::CONT),
                    true => {}
                    false if pid == self.child => {
                        ended(status, output.as_deref_mut());
                        self.orphan();
                    }
                    false => {}
                }
            }
            if !any {
                return true;
            }
            if self.end_what_is_left() {
                return false;
            }
            let (source, rested_ns) = output.as_deref().map_or((None, None), Output::waits_for);
            let until_ns = self.kill_at_ns.into_iter().chain(rested_ns).min();
            self.watch.wait(source, until_ns);
            if let Some(output) = output.as_deref_mut() {
                output.read();
            }
        }
    }

    /// The child is gone. What a reaper leaves behind has nobody else to end it.
    fn orphan(&mut self) {
        if matches!(self.ending, Ending::Awaited(_)) {
            self.kill_within(Duration::ZERO);
        }
    }

    fn is_guard(&self, pid: u32) -> bool {
        pid == self.child && matches!(self.ending, Ending::Awaited(_))
    }

    /// Asks and kills when it is time to; true when that was in vain for too long.
    fn end_what_is_left(&mut self) -> bool {
        if self.watch.stopped && self.kill_at_ns.is_none() {
            if let Ending::Asked(_) = self.ending {
                // Said before it ends: how it does so then is not its own doing.
                if self.watch.signalled {
                    Said::Ended(ProcessEnd::Unguarded(GuardEnd::Told)).say();
                }
                children::signal_descendants(children::own(), Signal::TERM);
            }
            let (Ending::Asked(grace) | Ending::Awaited(grace)) = self.ending;
            self.kill_within(grace);
        }
        if self.kill_at_ns.is_some_and(|at_ns| left(at_ns).is_zero()) {
            children::kill_all(self.child);
            self.kill_at_ns = Some(after(AGAIN));
        }
        left(self.give_up_ns).is_zero()
    }

    fn kill_within(&mut self, grace: Duration) {
        self.kill_at_ns = Some(after(grace));
        self.give_up_ns = after(grace + KILLED);
    }
}
