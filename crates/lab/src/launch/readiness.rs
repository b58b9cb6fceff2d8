//! How a target that was started is waited for.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, Instead, LaunchRecipe, READY_WITHIN_NS, Waiting};
use observe::{Family, ProcSource};

use super::{Process, Unready};
use crate::client::{Answer, Client, Probe};
use crate::deadline::LOOK_EVERY;
use crate::elsewhere::Looks;
use crate::lacking::lacking_here;
use crate::patience::Patience;
use crate::tls::{self, Place};

/// How often readiness is asked for.
const READY_EVERY: Duration = Duration::from_millis(model::READY_EVERY_MS);

/// How long one such question may take, however little time is left.
const SHORTEST_QUESTION: Duration = Duration::from_secs(1);

/// Largest answer to one that is taken.
const READY_BYTES: usize = 8 * 1024 * 1024;

/// How long a server may refuse with one and the same status before nobody waits for another answer: applications that answer
/// before they are loaded are there within seconds, and a wrong path stays wrong.
const REFUSED_FOR: Duration = Duration::from_secs(20);

/// Since when a server has refused with the same status of the client's fault, after how long a wait.
#[derive(Debug, Default)]
struct Refusal(Option<(u16, Duration)>);

impl Refusal {
    /// Hears an answer after so long a wait. Statuses that say "later" are none.
    fn hear(&mut self, status: u16, waited: Duration) {
        let is_refusal = (400..500).contains(&status) && !matches!(status, 408 | 425 | 429);
        let goes_on = self.0.filter(|(before, _)| *before == status);
        self.0 = is_refusal.then(|| goes_on.unwrap_or((status, waited)));
    }

    /// How long is waited from the start, where it is `within` that it may take. Who says how long that is means it.
    fn ends(&self, within: Duration) -> Duration {
        let is_meant = within.as_nanos() != u128::from(READY_WITHIN_NS);
        self.0.filter(|_| !is_meant).map_or(within, |(_, since)| within.min(since.saturating_add(REFUSED_FOR)))
    }

    /// How long it had, to the second where it was not waited for as long as it may take.
    fn within_ns(&self, within: Duration) -> u64 {
        let ends = self.ends(within);
        if ends == within { within.as_nanos() as u64 } else { Duration::from_secs(ends.as_secs()).as_nanos() as u64 }
    }
}

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
        let within = Duration::from_nanos(recipe.ready_within_ns);
        let patience = Patience::new(MonotonicClock);
        let (mut last, mut heard, mut stranger) = (Instead::Silent, false, false);
        let (mut answers, mut refusal, mut looks) = (None, Refusal::default(), Looks::default());
        let place = Place::new(self.address, self.tls.as_ref()).map_err(|error| Unready::Here(error.to_string()))?;
        let goes_on = || {
            patience.passed(LOOK_EVERY);
            !stop.load(Ordering::Relaxed)
        };
        let mut client = Client::new(&place, SHORTEST_QUESTION, READY_BYTES).while_it(&goes_on);
        loop {
            let left = refusal.ends(within).saturating_sub(patience.waited());
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
                    refusal.hear(reply.status, patience.waited());
                }
                Err(error) => {
                    // Who does not answer at all has not been refusing all the time.
                    (refusal, heard) = (Refusal::default(), heard || error.kind() != ErrorKind::ConnectionRefused);
                    if let Some(why) = self.lasts(&error, path, started.is_some()) {
                        return Err(why);
                    }
                    last = failed(path, &error, question);
                }
            }
            let look = || self.elsewhere(stranger).or(answers.take());
            let (seen, within_ns) = (looks.again(patience.waited(), look), refusal.within_ns(within));
            seen.into_iter().for_each(|seen| tell(Waiting::For { seen, within_ns }));
            if left.is_zero() {
                break;
            }
            std::thread::sleep(READY_EVERY);
            patience.passed(READY_EVERY);
        }
        let seen = self.elsewhere(stranger).unwrap_or(last);
        Err(Unready::Not { seen, within_ns: Some(refusal.within_ns(within)), heard })
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
        seen.retain(|at| Some(at.port()) != self.admin_address.map(|at| at.port()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_refusal_for_long_ends_the_wait_and_what_changes_or_says_later_does_not() {
        let (minute, s) = (Duration::from_nanos(READY_WITHIN_NS), Duration::from_secs);
        let ends = |heard: &[(u16, u64)]| {
            let mut refusal = Refusal::default();
            heard.iter().for_each(|(status, waited_s)| refusal.hear(*status, s(*waited_s)));
            refusal.ends(minute)
        };
        assert_eq!(ends(&[(404, 3), (404, 15)]), s(23));
        assert_eq!(ends(&[(404, 3), (401, 15)]), s(35), "it came further");
        assert_eq!(ends(&[(404, 3), (503, 15)]), minute);
        assert_eq!(ends(&[(429, 3)]), minute);
        assert_eq!(ends(&[(404, 50)]), minute, "no longer than it may take at all");
        let mut refusal = Refusal::default();
        assert_eq!(refusal.within_ns(Duration::from_nanos(7)), 7);
        refusal.hear(404, s(1));
        assert_eq!(refusal.within_ns(Duration::from_nanos(7)), 7);
        assert_eq!(refusal.within_ns(minute), 21_000_000_000);
        assert_eq!(refusal.ends(2 * minute), 2 * minute, "somebody said that it takes long");
    }
}
