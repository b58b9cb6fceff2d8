//! How a target that was started is waited for.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, Instead, LaunchRecipe, Waiting};
use observe::{Family, ProcSource};

use super::{Process, Unready};
use crate::client::{Answer, Client, Probe};
use crate::deadline::LOOK_EVERY;
use crate::elsewhere::Looks;
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
        tell: &mut dyn FnMut(Waiting),
    ) -> Result<(), Unready> {
        // Where nobody named a path, whoever answers at all is there, unless it says that it cannot serve.
        let (path, good) = if recipe.ready.is_empty() { ("/", 200..500) } else { (recipe.ready.as_str(), 200..400) };
        let within_ns = recipe.ready_within_ns;
        let patience = Patience::new(MonotonicClock);
        let (mut last, mut heard, mut stranger) = (Instead::Silent, false, false);
        let mut answers = None;
        let mut looks = Looks::default();
        let place = Place::new(self.address, self.tls.as_ref()).map_err(|error| Unready::Here(error.to_string()))?;
        let goes_on = || {
            patience.passed(LOOK_EVERY);
            !stop.load(Ordering::Relaxed)
        };
        let mut client = Client::new(&place, SHORTEST_QUESTION, READY_BYTES).while_it(&goes_on);
        loop {
            let left = Duration::from_nanos(within_ns).saturating_sub(patience.waited());
            let question = question(left);
            client.wait_for(question);
            if stop.load(Ordering::Relaxed) {
                return Err(Unready::Interrupted);
            }
            let started = self.guarded.started();
            if let Some(ended) = self.guarded.ended() {
                return Err(Unready::of_end(ended.clone(), heard));
            }
            let asked = client.ask(&Probe { path, ..Probe::default() });
            patience.passed(LOOK_EVERY);
            match asked {
                Ok(Answer { reply, .. }) if good.contains(&reply.status) && started.is_some() => {
                    let Some(started) = started else { continue };
                    let ready_ns = MonotonicClock.now_ns();
                    if self.elsewhere(stranger).is_none() {
                        self.family = Family { root_pid: started.pid, reaper: Some(started.reaper) };
                        let ready_ms = ready_ns.saturating_sub(started.at_ns) as f64 / 1e6;
                        self.time_to_ready_ms = (!patience.stood_still()).then_some(ready_ms);
                        return Ok(());
                    }
                    (heard, stranger) = (true, true);
                }
                Ok(Answer { reply, .. }) => {
                    last = Instead::Status { path: path.to_owned(), status: reply.status };
                    (answers, heard) = (Some(last.clone()), true);
                }
                Err(error) => {
                    heard = heard || error.kind() != ErrorKind::ConnectionRefused;
                    if let Some(why) = self.lasts(&error, path, started.is_some()) {
                        return Err(why);
                    }
                    last = failed(path, &error, question);
                }
            }
            let look = || self.elsewhere(stranger).or(answers.take());
            let seen = looks.again(patience.waited(), look);
            seen.into_iter().for_each(|seen| tell(Waiting::For { seen, within_ns }));
            if left.is_zero() {
                break;
            }
            std::thread::sleep(READY_EVERY);
            patience.passed(READY_EVERY);
        }
        let seen = self.elsewhere(stranger).unwrap_or(last);
        Err(Unready::Not { seen, within_ns: Some(within_ns), heard })
    }

    /// Why no waiting mends an error: this machine lacks something, or the TLS of who `started` is at fault.
    fn lasts(&mut self, error: &std::io::Error, path: &str, started: bool) -> Option<Unready> {
        if let Some(lacking) = error.raw_os_error().and_then(|errno| lacking_here(errno, self.address.ip())) {
            return Some(Unready::Here(format!("{path}: {error}; {lacking}")));
        }
        let fault = tls::fault(error).filter(|_| started && self.elsewhere(false).is_none())?;
        let seen = Instead::Failed { path: path.to_owned(), error: error.to_string(), fault: Some(fault) };
        Some(Unready::Not { seen, within_ns: None, heard: true })
    }

    /// Where it listens instead of where it was told to; whether a `stranger` answers there.
    fn elsewhere(&mut self, stranger: bool) -> Option<Instead> {
        let port = self.address.port();
        let mut seen = observe::listening(self.guarded.started()?.pid, &ProcSource::default());
        seen.retain(|at| at.port() != self.admin_address.port());
        // A socket of IPv6 may take IPv4, too: a JVM listens on ::ffff:127.0.0.1.
        let ip = |at: &SocketAddr| at.ip().to_canonical();
        let here = |at: &SocketAddr| at.port() == port && (ip(at) == self.address.ip() || ip(at).is_unspecified());
        if seen.is_empty() || seen.iter().any(here) {
            return None;
        }
        Some(Instead::Elsewhere { at: seen.into_iter().collect(), port, stranger })
    }
}

/// What becomes of a question for this path that was to take so long at most.
fn failed(path: &str, error: &std::io::Error, question: Duration) -> Instead {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::TimedOut => Instead::NoReply { path, within_ns: question.as_nanos() as u64 },
        _ => Instead::Failed { path, error: error.to_string(), fault: None },
    }
}
