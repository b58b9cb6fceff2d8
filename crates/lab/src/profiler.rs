use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Where the admin server of a target gives a CPU profile of so many seconds: what Go's net/http/pprof registers.
const PATH: &str = "/debug/pprof/profile";

/// Longest profile that is asked for. More samples make the shares no truer than the launches differ.
const LONGEST: Duration = Duration::from_secs(60);

/// How long after its end a busy target may take to put a profile together.
const PATIENCE: Duration = Duration::from_secs(20);

/// Largest profile that is taken, packed. Ten seconds of a busy Go server are some 50 KB.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Asks a target for a CPU profile over the window, on a thread of its own.
pub(crate) struct Profiler {
    given: Receiver<Result<Vec<u8>, String>>,
    /// Closing it keeps a profile from being begun.
    _running: Sender<()>,
}

impl Profiler {
    /// Begins once the warm-up has passed, counted from now, and asks `admin` for as many whole seconds as the window
    /// has, one at least and 60 at most: the runtime takes whole seconds, and a profile that went on after the load
    /// would hold the load up. `window` is the length of the warm-up and that of the window.
    pub(crate) fn start(admin: Option<SocketAddr>, window: (Duration, Duration)) -> Self {
        let (tell, given) = mpsc::channel();
        let (running, stopped) = mpsc::channel();
        let (warm_up, window) = window;
        let seconds = window.min(LONGEST).as_secs().max(1);
        std::thread::spawn(move || {
            let Some(admin) = admin else {
                return tell.send(Err("the target has no admin port, which would give a CPU profile".to_owned()));
            };
            if stopped.recv_timeout(warm_up) == Err(RecvTimeoutError::Timeout) {
                tell.send(ask(admin, seconds))?;
            }
            Ok(())
        });
        Self { given, _running: running }
    }

    /// The profile, packed as it came, once it is there; or why there is none.
    pub(crate) fn wait(self) -> Result<Vec<u8>, String> {
        self.given.recv().unwrap_or_else(|_| Err("the CPU profile was given up".to_owned()))
    }
}

fn ask(admin: SocketAddr, seconds: u64) -> Result<Vec<u8>, String> {
    let patience = Duration::from_secs(seconds) + PATIENCE;
    let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(patience)).build().into();
    let answer = agent.get(format!("http://{admin}{PATH}?seconds={seconds}")).call();
    answer.and_then(|mut answer| answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec()).map_err(|error| {
        match error {
            ureq::Error::StatusCode(status) => {
                format!("the target gives no CPU profile: {PATH} on its admin port answers with status {status}")
            }
            error => format!("the target gives no CPU profile: {PATH} on its admin port: {error}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    const WINDOW: (Duration, Duration) = (Duration::ZERO, Duration::from_millis(2_700));

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
        assert_eq!(Profiler::start(Some(admin), WINDOW).wait(), Ok(vec![0x1f, 0x8b, 0x08]));
        assert!(server.join().unwrap().starts_with("GET /debug/pprof/profile?seconds=2 HTTP/1.1\r\n"));
    }

    #[test]
    fn a_target_without_profiles_says_so() {
        let (admin, server) = answer(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        let why = Profiler::start(Some(admin), WINDOW).wait().unwrap_err();
        assert!(why.ends_with("/debug/pprof/profile on its admin port answers with status 404"), "{why}");
        server.join().unwrap();
        let why = Profiler::start(Some(admin), WINDOW).wait().unwrap_err();
        assert!(why.contains("on its admin port: "), "nobody listens any more: {why}");
        assert!(Profiler::start(None, WINDOW).wait().unwrap_err().contains("no admin port"));
    }

    #[test]
    fn a_profile_that_breaks_off_is_none() {
        let (admin, server) = answer(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\x1f\x8b\x08");
        assert!(ask(admin, 1).is_err());
        server.join().unwrap();
    }
}
