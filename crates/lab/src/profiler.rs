use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, NoPerf, NoPprof, NoProfile};

use crate::client::{Client, Probe};
use crate::perf::Perf;
use crate::tls::Place;

/// Where the admin server of a target gives a CPU profile of so many seconds: what Go's net/http/pprof registers.
const PATH: &str = "/debug/pprof/profile";

/// Longest profile that is asked for. More samples make the shares no truer than the launches differ.
const LONGEST: Duration = Duration::from_secs(60);

/// How long after its end a busy target may take to put a profile together.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a wait looks whether it is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Largest profile that is taken, packed. Ten seconds of a busy Go server are some 50 KB.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How what is packed by gzip begins. A profile is; a page that is given whatever is asked for is not.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whose profile is taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Profiled {
    /// Where it might give one itself.
    pub(crate) admin: Option<SocketAddr>,
    /// Its process.
    pub(crate) pid: Option<u32>,
}

/// A CPU profile, gzipped, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// As the target gave it, in the format of pprof.
    Pprof(Vec<u8>),
    /// What `perf script` told.
    Perf(Vec<u8>),
}

/// Takes a CPU profile of a target over the window, on a thread of its own: asks the target, and where it has none to
/// give lets `perf` take one.
pub(crate) struct Profiler {
    given: Receiver<Result<Taken, NoProfile>>,
    /// Closing it keeps a profile from being begun, and ends `perf`.
    _running: Sender<()>,
}

impl Profiler {
    /// Begins once the warm-up has passed, counted from now. `window` is the length of the warm-up and that of the
    /// window, of which 60 seconds at most are profiled; `perf` runs on `cpus`.
    pub(crate) fn start(target: Profiled, window: (Duration, Duration), perf: Perf, cpus: Vec<u32>) -> Self {
        let (tell, given) = mpsc::channel();
        let (running, stopped) = mpsc::channel();
        let (warm_up, window) = window;
        let taking = move || {
            if stopped.recv_timeout(warm_up) == Err(RecvTimeoutError::Timeout) {
                let _ = tell.send(take(target, window.min(LONGEST), &perf, &cpus, &stopped));
            }
        };
        // Without a thread the channel is closed, and there is no profile.
        let _ = std::thread::Builder::new().name("profiler".to_owned()).spawn(taking);
        Self { given, _running: running }
    }

    /// The profile once it is there, or why there is none; none of both where it is to stop before.
    pub(crate) fn wait(self, stop: &AtomicBool) -> Option<Result<Taken, NoProfile>> {
        loop {
            match self.given.recv_timeout(LOOK_EVERY) {
                Ok(given) => return Some(given),
                Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(Err(NoPerf::GivenUp.into())),
            }
        }
    }
}

fn take(
    target: Profiled,
    window: Duration,
    perf: &Perf,
    cpus: &[u32],
    stopped: &Receiver<()>,
) -> Result<Taken, NoProfile> {
    let start_ns = MonotonicClock.now_ns();
    // A runtime takes whole seconds, and a profile that went on after the load would hold the load up.
    let seconds = window.as_secs().max(1);
    let asked = target.admin.map_or(Err(NoPprof::NoAdminPort), |admin| ask(admin, seconds));
    asked.map(Taken::Pprof).or_else(|no_pprof| {
        let rest = window.saturating_sub(Duration::from_nanos(MonotonicClock.now_ns() - start_ns));
        let recorded = match target.pid {
            None => Err(NoPerf::NoProcess),
            Some(_) if rest.is_zero() => Err(NoPerf::NoTime),
            Some(pid) => perf.record(pid, cpus, rest, stopped),
        };
        recorded.map(Taken::Perf).map_err(|no_perf| NoProfile::Seen { pprof: Some(no_pprof), perf: Some(no_perf) })
    })
}

fn ask(admin: SocketAddr, seconds: u64) -> Result<Vec<u8>, NoPprof> {
    let patience = Duration::from_secs(seconds) + PATIENCE;
    let place = Place::plain(admin);
    let path = format!("{PATH}?seconds={seconds}");
    let given = Client::new(&place, patience, MOST_BYTES).ask(&Probe { path: &path, ..Probe::default() });
    match given {
        Ok(answer) if !answer.is_success() => Err(NoPprof::Status(answer.reply.status)),
        Ok(answer) if answer.body.starts_with(&GZIP) => Ok(answer.body),
        Ok(_) => Err(NoPprof::SomethingElse),
        Err(error) => Err(NoPprof::Unanswered(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const WINDOW: (Duration, Duration) = (Duration::ZERO, Duration::from_millis(2_700));

    /// The profile of a target without a process, on a machine without perf.
    fn profile_of(admin: Option<SocketAddr>) -> Result<Taken, NoProfile> {
        Profiler::start(Profiled { admin, pid: None }, WINDOW, Perf::default(), Vec::new()).wait(&GO_ON).unwrap()
    }

    /// Answers one request, and gives what was asked.
    fn answer(text: &'static [u8]) -> (SocketAddr, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let admin = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 1024];
            let length = stream.read(&mut asked).unwrap();
            stream.write_all(text).unwrap();
            String::from_utf8_lossy(&asked[..length]).into_owned()
        });
        (admin, server)
    }

    #[test]
    fn the_windows_whole_seconds_are_asked_for() {
        let (admin, server) = answer(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08");
        assert_eq!(profile_of(Some(admin)), Ok(Taken::Pprof(vec![0x1f, 0x8b, 0x08])));
        assert!(server.join().unwrap().starts_with("GET /debug/pprof/profile?seconds=2 HTTP/1.1\r\n"));
    }

    #[test]
    fn a_target_without_profiles_says_so() {
        let (admin, server) = answer(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        let lacks = |pprof| Err(NoProfile::Seen { pprof: Some(pprof), perf: Some(NoPerf::NoProcess) });
        assert_eq!(profile_of(Some(admin)), lacks(NoPprof::Status(404)));
        server.join().unwrap();
        let NoProfile::Seen { pprof, .. } = profile_of(Some(admin)).unwrap_err() else { panic!("it is seen") };
        assert!(matches!(pprof, Some(NoPprof::Unanswered(_))), "nobody listens any more: {pprof:?}");
        assert_eq!(profile_of(None), lacks(NoPprof::NoAdminPort));
        let (admin, server) = answer(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>");
        assert_eq!(profile_of(Some(admin)), lacks(NoPprof::SomethingElse));
        server.join().unwrap();
    }

    #[test]
    fn a_profile_is_not_waited_for_once_it_is_to_stop() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Profiled { admin: Some(silent.local_addr().unwrap()), pid: None };
        let profiler = Profiler::start(target, WINDOW, Perf::default(), Vec::new());
        let (_asking, _) = silent.accept().unwrap();
        assert_eq!(profiler.wait(&AtomicBool::new(true)), None);
    }

    #[test]
    fn perf_is_not_begun_without_a_rest_of_the_window_or_a_perf() {
        let own = Profiled { admin: None, pid: Some(std::process::id()) };
        let (_running, stopped) = mpsc::channel();
        for (rest, perf) in [(Duration::ZERO, NoPerf::NoTime), (WINDOW.1, NoPerf::NotInstalled)] {
            let why = NoProfile::Seen { pprof: Some(NoPprof::NoAdminPort), perf: Some(perf) };
            assert_eq!(take(own, rest, &Perf::default(), &[], &stopped), Err(why));
        }
    }

    #[test]
    fn a_profile_that_breaks_off_is_none() {
        let (admin, server) = answer(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\x1f\x8b\x08");
        assert!(ask(admin, 1).is_err());
        server.join().unwrap();
    }
}
