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

/// How an admin server is asked, each step with a deadline. A timeout for all of it would have `ureq` start a thread, to
/// look up a name that is an address.
pub(crate) fn asking(timeout: Duration) -> ConfigBuilder<AgentScope> {
    let timeout = Some(timeout);
    let steps = ureq::Agent::config_builder().timeout_connect(timeout).timeout_send_request(timeout);
    steps.timeout_recv_response(timeout).timeout_recv_body(timeout)
}

/// One answer; none when there is none in time, for a runtime that tells nothing is not a failure of the trial.
fn ask(agent: &ureq::Agent, url: &str) -> Option<RuntimeSample> {
    let mut answer = agent.get(url).call().ok()?;
    let at_ns = MonotonicClock.now_ns();
    let text = answer.body_mut().with_config().limit(MOST_BYTES).read_to_string().ok()?;
    Some(observe::runtime_sample(&text, at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn an_answer_is_read_and_silence_is_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let admin = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\ngo_goroutines 9\n").unwrap();
        });
        let agent = ureq::Agent::new_with_defaults();
        let told = ask(&agent, &format!("http://{admin}/metrics")).unwrap();
        assert_eq!(told.units, Some(9));
        server.join().unwrap();
        assert!(ask(&agent, &format!("http://{admin}/metrics")).is_none(), "nobody listens any more");
    }
}
