use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::MonotonicClock;
use model::{CellPlan, Clock, Plan, RuntimeSample};

use crate::client::{Answer, Client, Probe};
use crate::launch::Running;
use crate::tls::Place;

/// How often a runtime is asked: an answer costs the target a millisecond or so.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// How long an answer may take; a target that is too busy for it is asked again a second later.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Largest answer that is taken.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Where the runtime of what runs for a cell tells of itself, and by which path, if it does.
pub(crate) fn told_at<'a>(running: &dyn Running, plan: &'a Plan, cell: &CellPlan) -> Option<(SocketAddr, &'a str)> {
    let metrics = plan.target(cell.levels.target()).and_then(|target| target.launch.metrics.as_deref());
    running.admin_address().zip(metrics)
}

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
        let path = path.to_owned();
        let thread = std::thread::Builder::new().name("scraper".to_owned()).spawn(move || {
            let place = Place::plain(admin);
            let mut client = Client::new(&place, TIMEOUT, MOST_BYTES);
            loop {
                if let Some(answer) = ask(&mut client, &path) {
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

/// What a runtime tells of itself now, on a connection of its own.
pub(crate) fn ask_once(admin: SocketAddr, path: &str) -> Option<RuntimeSample> {
    ask(&mut Client::new(&Place::plain(admin), TIMEOUT, MOST_BYTES), path)
}

/// One answer; none when there is none in time, for a runtime that tells nothing is not a failure of the trial.
fn ask(client: &mut Client<'_>, path: &str) -> Option<RuntimeSample> {
    let answer = client.ask(&Probe { path, ..Probe::default() }).ok().filter(Answer::is_success)?;
    let at_ns = MonotonicClock.now_ns();
    Some(observe::runtime_sample(str::from_utf8(&answer.body).ok()?, at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// What is made of a server that answers its first request so, and then of nobody.
    fn asked(answer: impl FnOnce(TcpStream) + Send + 'static) -> Option<RuntimeSample> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::plain(listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            answer(stream);
        });
        let mut client = Client::new(&place, TIMEOUT, MOST_BYTES);
        let told = ask(&mut client, "/metrics");
        server.join().unwrap();
        assert!(ask(&mut client, "/metrics").is_none(), "nobody listens any more");
        told
    }

    #[test]
    fn an_answer_is_read_and_silence_is_none() {
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\ngo_goroutines 9\n";
        assert_eq!(asked(|mut stream| stream.write_all(reply).unwrap()).unwrap().units, Some(9));
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
