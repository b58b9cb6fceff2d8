//! How a target that was started is waited for.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, LaunchRecipe, format_duration};
use observe::ProcSource;

use super::{Process, Unready};
use crate::client::{Answer, Client, Probe};
use crate::deadline::LOOK_EVERY;
use crate::elsewhere::{ListenerScan, elsewhere};
use crate::hint;
use crate::lacking::lacking_here;
use crate::patience::Patience;
use crate::tls::{self, Place};

/// How often readiness is asked for.
const READY_EVERY: Duration = Duration::from_millis(2);

/// How long one such question may take, however little time is left.
const SHORTEST_QUESTION: Duration = Duration::from_secs(1);

/// Largest answer to one that is taken.
const READY_BYTES: usize = 8 * 1024 * 1024;

/// How long a question may take: half of what is left, so that a slow first reply counts and a lost one leaves time for others.
fn question(left: Duration) -> Duration {
    (left / 2).max(SHORTEST_QUESTION)
}

impl Process {
    /// Returns once it answers as it should; `tell` gets what keeps it waiting, once that is known.
    pub(super) fn wait_until_ready(
        &mut self,
        recipe: &LaunchRecipe,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), Unready> {
        let (path, within_ns) = (recipe.ready.as_str(), recipe.ready_within_ns);
        let patience = Patience::new(MonotonicClock);
        let (mut last, mut heard, mut stranger) = ("it does not listen".to_owned(), false, false);
        let mut answers = None;
        let mut scan = ListenerScan::default();
        let place = Place::new(self.address, self.tls.as_ref()).map_err(|error| Unready::Not(error.to_string()))?;
        let goes_on = || {
            patience.passed(LOOK_EVERY);
            !stop.load(Ordering::Relaxed)
        };
        let mut client = Client::new(&place, SHORTEST_QUESTION, READY_BYTES).while_it(&goes_on);
        loop {
            let left = Duration::from_nanos(within_ns).saturating_sub(patience.waited());
            client.wait_for(question(left));
            if stop.load(Ordering::Relaxed) {
                return Err(Unready::Not("interrupted".to_owned()));
            }
            let started = self.guarded.started();
            if let Some(ended) = self.guarded.ended() {
                let why = Unready::from(ended.clone());
                return Err(if heard { why.of_heard() } else { why });
            }
            let asked = client.ask(&Probe { path, ..Probe::default() });
            patience.passed(LOOK_EVERY);
            match asked {
                Ok(Answer { reply, .. }) if (200..400).contains(&reply.status) && started.is_some() => {
                    let Some(started) = started else { continue };
                    let ready_ns = MonotonicClock.now_ns();
                    if self.listens_elsewhere().is_none() {
                        self.pid = started.pid;
                        let ready_ms = ready_ns.saturating_sub(started.at_ns) as f64 / 1e6;
                        self.time_to_ready_ms = (!patience.stood_still()).then_some(ready_ms);
                        return Ok(());
                    }
                    (heard, stranger) = (true, true);
                }
                Ok(Answer { reply, .. }) => {
                    let seen = format!("{path} answers with status {}", reply.status);
                    last = format!("{seen}; {}", hint::ANOTHER_PATH);
                    (answers, heard) = (Some(seen), true);
                }
                Err(error) => {
                    (heard, last) = (heard || error.kind() != ErrorKind::ConnectionRefused, format!("{path}: {error}"));
                    if let Some(why) = self.lasts(&error, &last, started.is_some()) {
                        return Err(why);
                    }
                }
            }
            let look = || self.keeps_waiting(answers.take(), within_ns);
            scan.again(patience.waited(), look).iter().for_each(|text| tell(text));
            if left.is_zero() {
                break;
            }
            std::thread::sleep(READY_EVERY);
            patience.passed(READY_EVERY);
        }
        let another = if stranger { "another program answers there; " } else { "" };
        let seen = self.listens_elsewhere().map_or(last, |seen| format!("{another}{seen}"));
        let why = Unready::Unheard(format!("it was not ready within {}: {seen}", format_duration(within_ns)));
        Err(if heard { why.of_heard() } else { why })
    }

    /// What to say meanwhile of one that listens elsewhere, or `answers` as it should not.
    fn keeps_waiting(&mut self, answers: Option<String>, within_ns: u64) -> Option<String> {
        let (seen, cure) = match self.listens_elsewhere() {
            Some(seen) => (seen, "ready_within"),
            None => (answers?, hint::ANOTHER_PATH),
        };
        Some(format!("{seen}; it has {} to change that ({cure})", format_duration(within_ns)))
    }

    /// Why no waiting mends an error: this machine lacks something, or the TLS of who `started` is at fault.
    fn lasts(&mut self, error: &std::io::Error, seen: &str, started: bool) -> Option<Unready> {
        if let Some(lacking) = error.raw_os_error().and_then(|errno| lacking_here(errno, self.address.ip())) {
            return Some(Unready::Here(format!("{seen}; {lacking}")));
        }
        let cure = tls::cure_of_fault(error).filter(|_| started && self.listens_elsewhere().is_none())?;
        Some(Unready::Not(format!("{seen}{cure}")))
    }

    /// Where it listens instead of where it was told to.
    fn listens_elsewhere(&mut self) -> Option<String> {
        let port = self.address.port();
        let mut seen = observe::listening(self.guarded.started()?.pid, &ProcSource::default());
        seen.retain(|at| at.port() != self.admin_address.port());
        // A socket of IPv6 may take IPv4, too: a JVM listens on ::ffff:127.0.0.1.
        let ip = |at: &SocketAddr| at.ip().to_canonical();
        let here = |at: &SocketAddr| at.port() == port && (ip(at) == self.address.ip() || ip(at).is_unspecified());
        if seen.is_empty() || seen.iter().any(here) {
            return None;
        }
        Some(elsewhere(&seen.into_iter().collect::<Vec<_>>(), port))
    }
}
