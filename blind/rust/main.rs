//! A server with one fault, or none, for `make diagnose-live`: the environment says which, and how large it is. A thread for each connection.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// So many at a time.
struct Slots {
    free: Mutex<u64>,
    freed: Condvar,
}

impl Slots {
    fn new(most: u64) -> Self {
        Slots { free: Mutex::new(most), freed: Condvar::new() }
    }

    fn enter(&self) {
        let mut free = self.free.lock().unwrap();
        while *free == 0 {
            free = self.freed.wait(free).unwrap();
        }
        *free -= 1;
    }

    fn leave(&self) {
        *self.free.lock().unwrap() += 1;
        self.freed.notify_one();
    }
}

struct Server {
    faults: Vec<String>,
    slots: Slots,
    paths: Mutex<HashMap<String, Arc<Slots>>>,
    requests: AtomicU64,
    standing: RwLock<()>,
    kept: Mutex<(Vec<Vec<u8>>, Vec<File>)>,
    delay: Duration,
    heavy: Duration,
    slow: Duration,
    every: u64,
    bytes: usize,
    cache_bytes: usize,
    trips: u64,
    body: String,
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn compute(duration: Duration) {
    let begun = Instant::now();
    let mut x = 1_u64;
    while begun.elapsed() < duration {
        for _ in 0..1000 {
            x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

/// A head, and how long the body behind it is.
fn head(reader: &mut impl BufRead) -> Option<(String, usize)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let begun = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        let line = head[begun..].trim().to_ascii_lowercase();
        if line.is_empty() {
            return Some((head, length));
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
}

/// What is asked for each request, over one connection of the thread's own.
struct Upstream(Option<BufReader<TcpStream>>);

impl Upstream {
    fn ask(&mut self) -> Option<()> {
        let mut kept = match self.0.take() {
            Some(kept) => kept,
            None => {
                let stream = TcpStream::connect(std::env::var("UPSTREAM").ok()?).ok()?;
                stream.set_nodelay(true).ok()?;
                BufReader::new(stream)
            }
        };
        kept.get_mut().write_all(b"GET / HTTP/1.1\r\nHost: upstream\r\n\r\n").ok()?;
        let (_, length) = head(&mut kept)?;
        kept.read_exact(&mut vec![0; length]).ok()?;
        self.0 = Some(kept);
        Some(())
    }
}

impl Server {
    fn of_environment() -> Self {
        let faults = std::env::var("FAULTS").unwrap_or_default();
        Server {
            faults: faults.split(',').map(str::to_owned).collect(),
            slots: Slots::new(setting("WORKERS", 1)),
            paths: Mutex::default(),
            requests: AtomicU64::new(0),
            standing: RwLock::new(()),
            kept: Mutex::default(),
            delay: Duration::from_micros(setting("DELAY_US", 0)),
            heavy: Duration::from_millis(setting("HEAVY_MS", 0)),
            slow: Duration::from_millis(setting("SLOW_MS", 30)),
            every: setting("EVERY", 1),
            bytes: setting("BYTES", 0) as usize,
            cache_bytes: setting("CACHE_BYTES", 1 << 20) as usize,
            trips: setting("TRIPS", 1),
            body: "ok".repeat(1 + setting("BODY", 0) as usize / 2),
        }
    }

    fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|one| one == fault)
    }

    fn gate(&self, path: &str, work: impl FnOnce()) {
        let lock =
            || Arc::clone(self.paths.lock().unwrap().entry(path.to_owned()).or_insert_with(|| Slots::new(1).into()));
        let of_path = self.has("path-lock").then(lock);
        let gate = of_path.as_deref().or(self.has("limit").then_some(&self.slots));
        gate.inspect(|gate| gate.enter());
        work();
        gate.inspect(|gate| gate.leave());
    }

    fn work(&self, path: &str, count: u64, upstream: &mut Upstream) {
        let _standing = self.standing.read().unwrap();
        if path == "/heavy" {
            return compute(self.heavy);
        }
        self.gate(path, || {
            if self.has("sometimes-slow") && count % self.every == 0 {
                thread::sleep(self.slow);
            }
            if self.has("slower") {
                thread::sleep(Duration::from_micros(count));
            }
            if self.has("garbage") {
                std::hint::black_box(vec![1_u8; self.bytes]);
            }
            if self.has("upstream") {
                (0..self.trips).for_each(|_| {
                    let _ = upstream.ask();
                });
            }
            thread::sleep(self.delay);
        });
    }

    fn keep(&self, count: u64) {
        if count % self.every != 0 {
            return;
        }
        let mut kept = self.kept.lock().unwrap();
        if self.has("memory") || self.has("cache") && kept.0.len() * self.bytes < self.cache_bytes {
            kept.0.push(vec![1; self.bytes]);
        }
        if self.has("files") {
            kept.1.extend(File::open("/dev/null").ok());
        }
        drop(kept);
        if self.has("threads") {
            let _ = thread::Builder::new().stack_size(65_536).spawn(|| {
                loop {
                    thread::park()
                }
            });
        }
    }

    fn converse(&self, stream: TcpStream) -> Option<()> {
        stream.set_nodelay(!self.has("split")).ok()?;
        let mut reader = BufReader::new(stream);
        let mut upstream = Upstream(None);
        loop {
            let (head, _) = head(&mut reader)?;
            let count = 1 + self.requests.fetch_add(1, Ordering::Relaxed);
            if self.has("die") && count >= self.every {
                eprintln!("fatal: no luck left");
                std::process::exit(3);
            }
            self.work(head.split(' ').nth(1)?, count, &mut upstream);
            self.keep(count);
            let last = self.has("close") || head.to_ascii_lowercase().contains("connection: close");
            let status =
                if self.has("errors") && count % self.every == 0 { "500 Internal Server Error" } else { "200 OK" };
            let end = if last { "Connection: close\r\n" } else { "" };
            let reply = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{end}\r\n{}", self.body.len(), self.body);
            let (first, rest) =
                reply.as_bytes().split_at(if self.has("split") { reply.len() - 1 } else { reply.len() });
            reader.get_mut().write_all(first).ok()?;
            reader.get_mut().write_all(rest).ok()?;
            if last {
                return None;
            }
        }
    }
}

fn beside(server: &Arc<Server>, fault: &str, work: fn(&Server)) {
    if server.has(fault) {
        let server = Arc::clone(server);
        thread::spawn(move || {
            loop {
                work(&server)
            }
        });
    }
}

fn serve_all(server: &Server, listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        let _ = server.converse(stream);
    }
}

fn main() {
    let server = Arc::new(Server::of_environment());
    let listener = TcpListener::bind(("127.0.0.1", setting("PORT", 0) as u16)).unwrap();
    beside(&server, "stall", |server| {
        thread::sleep(Duration::from_millis(setting("STALL_EVERY_MS", 3000)));
        let _standing = server.standing.write().unwrap();
        thread::sleep(Duration::from_millis(setting("STALL_MS", 700)));
    });
    beside(&server, "burn", |_| {
        compute(Duration::from_millis(3));
        thread::sleep(Duration::from_millis(7));
    });
    // Each of these serves one connection to its end.
    if server.has("held") {
        for _ in 1..setting("WORKERS", 1) {
            let (server, listener) = (Arc::clone(&server), listener.try_clone().unwrap());
            thread::spawn(move || serve_all(&server, &listener));
        }
        serve_all(&server, &listener);
    }
    for stream in listener.incoming().flatten() {
        let server = Arc::clone(&server);
        let serve = move || {
            let _ = server.converse(stream);
        };
        let _ = thread::Builder::new().stack_size(262_144).spawn(serve);
    }
}
