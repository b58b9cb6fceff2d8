//! The server that handlers ask whose work is to ask one (`work = http`): it answers `/hello/NAME` after a known time, so many
//! requests at once.
//!
//! It runs in threads of this process, on the generator's CPUs: what it uses is never charged to the target, and not to others that
//! use the machine either, but to the generator, as a network delay is. A thread for each connection sleeps as the timer of its kernel lets it,
//! however many wait.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::{MAX_HEADERS, MonotonicClock, prepare_thread, thread_cpu_ns};
use httparse::{EMPTY_HEADER, Request, Status};
use model::{Backend, BackendUse, Clock, NS_PER_S, ThreadUse};
use rustix::net::{Shutdown as Way, listen, shutdown};

/// The variable that tells a target where it is.
pub(crate) const BACKEND: &str = "BACKEND";

/// Bytes of a request's head, at most.
const HEAD_BYTES: usize = 8 * 1024;

/// Connections that may wait to be accepted; the kernel caps it at net.core.somaxconn.
const BACKLOG: i32 = 65_535;

/// Connections that may be open beside those of the load: what a target never gives back. More are closed at once.
const MOST_SPARE: u32 = 2_000;

/// Of a thread, which holds one head.
const STACK_BYTES: usize = 128 * 1024;

/// What came where a request with a body, or none at all, was not expected.
const BAD: (&str, &str) = ("400 Bad Request", "bad request\n");

/// A backend that runs. Dropping it ends the thread that accepts and closes the connections, which ends theirs.
pub(crate) struct RunningBackend {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    desk: Arc<Desk>,
    /// What it did before the load that is on.
    before: BackendUse,
    /// When that began, and what its threads had used by then; nanoseconds.
    since: (u64, u64),
    thread: Option<JoinHandle<()>>,
}

/// What its threads share.
struct Desk {
    backend: Backend,
    most: usize,
    cpus: Vec<u32>,
    stopped: AtomicBool,
    state: Mutex<State>,
    /// Somebody has left a place.
    left: Condvar,
    /// It is to end.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests that are served.
    at_once: u32,
    open: Vec<Weak<TcpStream>>,
    seen: BackendUse,
    /// CPU time that its threads have used, in nanoseconds.
    cpu_ns: u64,
}

impl RunningBackend {
    /// Listens on a free port of loopback for a target with so many connections, and runs on `cpus` (none leaves it to the kernel).
    ///
    /// # Errors
    /// When it cannot listen, or no thread can be had.
    pub(crate) fn start(backend: Backend, connections: u32, cpus: &[u32]) -> Result<Self> {
        let listener = Arc::new(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
        // On a socket that listens already, this changes the length of the queue.
        listen(&listener, BACKLOG)?;
        let address = listener.local_addr()?;
        let (stopped, state) = (AtomicBool::new(false), Mutex::default());
        let (left, ended) = (Condvar::new(), Condvar::new());
        let most = (connections.saturating_add(MOST_SPARE)) as usize;
        let desk = Arc::new(Desk { backend, most, cpus: cpus.to_vec(), stopped, state, left, ended });
        let (its_desk, its_listener) = (Arc::clone(&desk), Arc::clone(&listener));
        let thread =
            std::thread::Builder::new().name("backend".to_owned()).spawn(move || its_desk.accept(&its_listener))?;
        let since = (MonotonicClock.now_ns(), 0);
        Ok(Self { address, listener, desk, before: BackendUse::default(), since, thread: Some(thread) })
    }

    /// As its target is told of it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A load begins: what was before is not its.
    pub(crate) fn begin(&mut self) {
        let mut state = self.desk.state();
        state.open.retain(|stream| stream.strong_count() > 0);
        (state.seen.connections_max, state.seen.at_once_max) = (state.open.len() as u32, state.at_once);
        (self.before, self.since) = (state.seen, (MonotonicClock.now_ns(), state.cpu_ns));
    }

    /// What it did since the load began.
    pub(crate) fn seen(&self) -> BackendUse {
        let (seen, before) = (self.desk.state().seen, self.before);
        BackendUse {
            opened: seen.opened - before.opened,
            replies: seen.replies - before.replies,
            refused: seen.refused - before.refused,
            turned_away: seen.turned_away - before.turned_away,
            ..seen
        }
    }

    /// What its threads used since then, together.
    pub(crate) fn used(&self) -> ThreadUse {
        let ((since_ns, cpu_ns), now_ns) = (self.since, MonotonicClock.now_ns());
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let (cpu_s, wall_s) = (seconds(self.desk.state().cpu_ns - cpu_ns), seconds(now_ns - since_ns));
        ThreadUse { cpu_s, wall_s, ..ThreadUse::default() }
    }
}

impl Drop for RunningBackend {
    fn drop(&mut self) {
        self.desk.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = shutdown(&self.listener, Way::Both);
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by its hook.
            let _ = thread.join();
        }
        let open = std::mem::take(&mut self.desk.state().open);
        // Fails only on a connection that is gone already.
        open.iter().filter_map(Weak::upgrade).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        self.desk.left.notify_all();
        self.desk.ended.notify_all();
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        // What a thread that panicked has counted by then still holds.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<Self>, listener: &TcpListener) {
        prepare_thread(&self.cpus);
        while !self.stopped.load(Ordering::Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                // Mostly no file is free: the connection keeps waiting.
                self.pause(Duration::from_millis(20));
                continue;
            };
            let stream = Arc::new(stream);
            if !self.opened(&stream) {
                continue;
            }
            let desk = Arc::clone(&self);
            let talk = move || desk.talk(&stream);
            // Without a thread the connection is closed, which its client sees.
            let _ = std::thread::Builder::new().name("backend".to_owned()).stack_size(STACK_BYTES).spawn(talk);
        }
    }

    /// Counts a connection; false for one that is too many.
    fn opened(&self, stream: &Arc<TcpStream>) -> bool {
        let mut state = self.state();
        state.seen.opened += 1;
        state.open.retain(|stream| stream.strong_count() > 0);
        if state.open.len() >= self.most {
            state.seen.turned_away += 1;
            return false;
        }
        state.open.push(Arc::downgrade(stream));
        state.seen.connections_max = state.seen.connections_max.max(state.open.len() as u32);
        true
    }

    /// Answers the requests of one connection, one after the other, until either side ends it.
    fn talk(&self, stream: &TcpStream) {
        prepare_thread(&self.cpus);
        // Fails only on a connection that is gone already, which the first read finds out.
        let _ = stream.set_nodelay(true);
        let (mut head, mut counted_ns) = (Head::default(), 0);
        while let Ok(Some(asked)) = head.next(stream) {
            let ((status, body), keeps) = match asked {
                Asked::Hello { name, keeps } => (self.serve(&name), keeps),
                Asked::Other => (("404 Not Found", "not found\n".to_owned()), false),
                Asked::Bad => ((BAD.0, BAD.1.to_owned()), false),
            };
            let connection = if keeps { "" } else { "Connection: close\r\n" };
            let length = body.len();
            let reply = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n{connection}Content-Length: {length}\r\n\r\n{body}"
            );
            let mut stream = stream;
            let is_over = stream.write_all(reply.as_bytes()).is_err() || !keeps;
            let used_ns = thread_cpu_ns();
            self.state().cpu_ns += used_ns.saturating_sub(counted_ns);
            counted_ns = used_ns;
            if is_over {
                return;
            }
        }
    }

    /// Takes its time, but no longer than until it is to end.
    fn pause(&self, length: Duration) {
        let goes_on = |_: &mut State| !self.stopped.load(Ordering::Relaxed);
        // A poisoned lock has been waited for as any other.
        drop(self.ended.wait_timeout_while(self.state(), length, goes_on));
    }

    /// One request: it waits for a place, or is refused, and then takes its time.
    fn serve(&self, name: &str) -> (&'static str, String) {
        let places = self.backend.workers.unwrap_or(u32::MAX);
        let mut state = self.state();
        if self.backend.refuses && state.at_once >= places {
            state.seen.refused += 1;
            return ("503 Service Unavailable", "every worker is busy\n".to_owned());
        }
        while state.at_once >= places && !self.stopped.load(Ordering::Relaxed) {
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.at_once += 1;
        state.seen.at_once_max = state.seen.at_once_max.max(state.at_once);
        drop(state);
        self.pause(Duration::from_nanos(self.backend.delay_ns));
        let mut state = self.state();
        state.at_once -= 1;
        state.seen.replies += 1;
        drop(state);
        self.left.notify_one();
        ("200 OK", format!("hello, {name}!\n"))
    }
}

/// What a request asks for.
#[derive(Debug, PartialEq)]
enum Asked {
    Hello { name: String, keeps: bool },
    Other,
    Bad,
}

/// What has come of heads that are not answered yet.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
}

impl Head {
    /// The next request; none once the client has closed.
    fn next(&mut self, mut stream: &TcpStream) -> Result<Option<Asked>> {
        loop {
            if let Some((asked, length)) = read(&self.bytes) {
                self.bytes.drain(..length);
                return Ok(Some(asked));
            }
            if self.bytes.len() >= HEAD_BYTES {
                return Ok(Some(Asked::Bad));
            }
            let mut buffer = [0; 1024];
            match stream.read(&mut buffer) {
                Ok(0) if self.bytes.is_empty() => return Ok(None),
                Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof)),
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The request whose head is whole, and the length of that.
fn read(bytes: &[u8]) -> Option<(Asked, usize)> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return None,
        Err(_) => return Some((Asked::Bad, bytes.len())),
    };
    let value = |name: &str| request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let has_body = value("transfer-encoding").is_some() || value("content-length").is_some_and(|it| it.value != b"0");
    if has_body || request.method != Some("GET") {
        return Some((Asked::Bad, length));
    }
    let closes = value("connection").is_some_and(|header| header.value.eq_ignore_ascii_case(b"close"));
    let keeps = !closes && request.version == Some(1);
    let name = request.path.and_then(|path| path.strip_prefix("/hello/")).map(str::to_owned);
    Some((name.map_or(Asked::Other, |name| Asked::Hello { name, keeps }), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(backend: &RunningBackend, request: &str) -> String {
        let mut stream = TcpStream::connect(backend.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    const CLOSING: &str = "GET /hello/7 HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";

    #[test]
    fn it_says_hello_and_counts_what_it_did() {
        let backend = RunningBackend::start(Backend::default(), 1, &[]).unwrap();
        let reply = ask(
            &backend,
            &CLOSING
                .replace("Connection: close\r\n", "")
                .repeat(2)
                .replacen("/7", "/8", 1)
                .replace("HTTP/1.1", "HTTP/1.0"),
        );
        assert!(reply.ends_with("\r\n\r\nhello, 8!\n"), "a client of HTTP/1.0 is closed after the first: {reply}");
        let twice = format!("GET /hello/a HTTP/1.1\r\n\r\n{CLOSING}");
        let reply = ask(&backend, &twice);
        assert!(reply.contains("hello, a!\n") && reply.ends_with("hello, 7!\n"), "{reply}");
        let seen = backend.seen();
        assert_eq!((seen.replies, seen.opened, seen.at_once_max, seen.refused), (3, 2, 1, 0));
    }

    #[test]
    fn what_is_no_request_for_it_is_refused_and_closed() {
        let backend = RunningBackend::start(Backend::default(), 1, &[]).unwrap();
        for (request, status) in [
            ("GET /other HTTP/1.1\r\n\r\n", "404"),
            ("POST /hello/7 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "400"),
            ("\u{1}\u{2}\r\n\r\n", "400"),
            (&format!("GET /hello/{} HTTP/1.1\r\n\r\n", "x".repeat(HEAD_BYTES)), "400"),
        ] {
            let mut stream = TcpStream::connect(backend.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).unwrap();
            assert_eq!(&start[9..], status.as_bytes(), "{request:.40}");
        }
        assert_eq!(backend.seen().replies, 0);
    }

    /// Two, of whom the second asks while the first is served.
    fn two(refuses: bool) -> ([String; 2], BackendUse) {
        let delay_ns = 200_000_000;
        let backend = RunningBackend::start(Backend { delay_ns, workers: Some(1), refuses }, 2, &[]).unwrap();
        let replies = std::thread::scope(|threads| {
            let first = threads.spawn(|| ask(&backend, CLOSING));
            while backend.seen().at_once_max == 0 {
                std::thread::yield_now();
            }
            let second = ask(&backend, CLOSING);
            [first.join().unwrap(), second]
        });
        (replies, backend.seen())
    }

    #[test]
    fn whoever_finds_no_worker_waits_for_one() {
        let (replies, seen) = two(false);
        assert!(replies.iter().all(|reply| reply.ends_with("hello, 7!\n")), "{replies:?}");
        assert_eq!((seen.replies, seen.at_once_max, seen.refused), (2, 1, 0));
    }

    #[test]
    fn or_is_refused() {
        let ([first, second], seen) = two(true);
        assert!(first.starts_with("HTTP/1.1 200 ") && second.starts_with("HTTP/1.1 503 "), "{first}\n{second}");
        assert_eq!((seen.replies, seen.refused), (1, 1));
    }

    #[test]
    fn what_it_did_before_a_load_is_not_of_the_load() {
        let mut backend = RunningBackend::start(Backend::default(), 1, &[]).unwrap();
        ask(&backend, CLOSING);
        backend.begin();
        assert_eq!((backend.seen().replies, backend.seen().opened), (0, 0));
        ask(&backend, CLOSING);
        assert_eq!((backend.seen().replies, backend.seen().opened), (1, 1));
        assert!(backend.used().wall_s > 0.0 && backend.used().cpu_s > 0.0, "{:?}", backend.used());
    }

    #[test]
    fn connections_that_are_too_many_are_closed_at_once() {
        let backend = RunningBackend::start(Backend::default(), 1, &[]).unwrap();
        let most = MOST_SPARE as usize + 1;
        let desk = Arc::clone(&backend.desk);
        let elsewhere = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mine = Arc::new(TcpStream::connect(elsewhere.local_addr().unwrap()).unwrap());
        desk.state().open = (0..most).map(|_| Arc::downgrade(&mine)).collect();
        let closed = TcpStream::connect(backend.address).unwrap().read(&mut [0]);
        assert!(closed.is_err() || closed.is_ok_and(|bytes| bytes == 0));
        assert_eq!(backend.seen().turned_away, 1);
    }
}
