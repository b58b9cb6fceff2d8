use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, RuntimeSample};
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// How often a runtime is asked: an answer costs the target a millisecond or so.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// How long an answer may take; a target that is too busy for it is asked again a second later.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Largest answer that is taken.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Asks a target once a second what its runtime tells of itself, on a thread of its own.
pub(crate) struct Scraper {
    /// Closing it ends the thread.
    running: Sender<()>,
    told: Receiver<RuntimeSample>,
    thread: JoinHandle<()>,
}

impl Scraper {
    /// Begins to ask `path` of `admin`.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start(admin: SocketAddr, path: &str) -> std::io::Result<Self> {
        let ((running, stopped), (tell, told)) = (mpsc::channel(), mpsc::channel());
        let url = format!("http://{admin}{path}");
        let thread = std::thread::Builder::new().name("scraper".to_owned()).spawn(move || {
            let agent = asking(TIMEOUT).build().into();
            loop {
                if let Some(answer) = ask(&agent, &url) {
                    // Nobody listens only where the load is over.
                    let _ = tell.send(answer);
                }
                if stopped.recv_timeout(ASK_EVERY) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        })?;
        Ok(Self { running, told, thread })
    }

    /// The answers since they were last taken, in the order of time.
    pub(crate) fn take(&self) -> Vec<RuntimeSample> {
        self.told.try_iter().collect()
    }

    /// Ends the asking; gives the answers that are left in the order of time.
    pub(crate) fn stop(self) -> Vec<RuntimeSample> {
        drop(self.running);
        // A panic of the thread has been reported by its hook; the load's figures do not depend on it.
        let _ = self.thread.join();
        self.told.try_iter().collect()
    }
}

/// How a target is asked beside the load: it and nobody else, so neither a redirect nor a proxy of the environment is
/// followed. Each step has a deadline, whatever drips in it. A timeout for all of it would have `ureq` start a thread, to
/// look up a name that is an address.
pub(crate) fn asking(timeout: Duration) -> ConfigBuilder<AgentScope> {
    let timeout = Some(timeout);
    let steps = ureq::Agent::config_builder().timeout_connect(timeout).timeout_send_request(timeout);
    steps.timeout_recv_response(timeout).timeout_recv_body(timeout).max_redirects(0).proxy(None)
}

/// One answer; none when there is none in time, for a runtime that tells nothing is not a failure of the trial.
fn ask(agent: &ureq::Agent, url: &str) -> Option<RuntimeSample> {
    let mut answer = agent.get(url).call().ok().filter(|answer| answer.status().is_success())?;
    let at_ns = MonotonicClock.now_ns();
    let text = answer.body_mut().with_config().limit(MOST_BYTES).read_to_string().ok()?;
    Some(observe::runtime_sample(&text, at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn an_answer_is_read_and_silence_is_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let admin = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\ngo_goroutines 9\n").unwrap();
        });
        let agent: ureq::Agent = asking(TIMEOUT).build().into();
        let told = ask(&agent, &format!("http://{admin}/metrics")).unwrap();
        assert_eq!(told.units, Some(9));
        server.join().unwrap();
        assert!(ask(&agent, &format!("http://{admin}/metrics")).is_none(), "nobody listens any more");
    }

    /// What is made of a server that answers its first request so.
    fn asked(answer: impl FnOnce(TcpStream) + Send + 'static) -> Option<RuntimeSample> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let admin = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            answer(stream);
        });
        let told = ask(&asking(TIMEOUT).build().into(), &format!("http://{admin}/metrics"));
        server.join().unwrap();
        told
    }

    #[test]
    fn a_target_that_points_elsewhere_is_not_followed() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let location = format!("http://{}/metrics", elsewhere.local_addr().unwrap());
        let redirect = format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        assert!(asked(move |mut stream| stream.write_all(redirect.as_bytes()).unwrap()).is_none());
        assert_eq!(elsewhere.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody came");
    }

    /// Sends one byte after the other until the other side hangs up, for a minute at most.
    fn drip(mut stream: TcpStream, head: &str) {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let hung_up = (0..3_000).any(|_| {
            let gone = matches!(stream.read(&mut [0]), Ok(0));
            gone || stream.write_all(b"x").is_err()
        });
        assert!(hung_up, "it was listened to for a minute");
    }

    #[test]
    fn what_drips_is_not_waited_for() {
        assert!(asked(|stream| drip(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")).is_none());
        assert!(asked(|stream| drip(stream, "HTTP/1.1 200 OK\r\nX: ")).is_none());
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let endless = |mut stream: TcpStream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            while stream.write_all(&[b'x'; 65_536]).is_ok() {}
        };
        assert!(asked(endless).is_none());
    }
}
