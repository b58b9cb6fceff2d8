use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Messages in one go to each address: more than the server of messages keeps of one node.
const BURST: usize = 1024;

/// How long it pauses after them.
const PAUSE: Duration = Duration::from_millis(1);

/// Somebody who is let in as a node and has not the key: he hears all that a node may hear, and writes garbage wherever what nodes say of
/// a run might be heard.
pub(crate) struct Liar {
    stream: TcpStream,
    is_over: Arc<AtomicBool>,
    lies: JoinHandle<()>,
    told_of_results: Arc<AtomicUsize>,
    /// Lines of the server that refuse him something.
    pub(crate) refusals: Vec<String>,
}

/// What he has heard of.
#[derive(Default)]
struct Heard {
    run: String,
    sessions: BTreeSet<String>,
}

impl Liar {
    /// Connected, and hearing what the server lets this user hear.
    pub(crate) fn start(port: u16, (user, password): (&str, &str)) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let login = serde_json::json!({ "verbose": false, "pedantic": false, "user": user, "pass": password });
        write!(stream, "CONNECT {login}\r\n").unwrap();
        for (id, subject) in ["nodes", "node.>", "run.>", "results.>"].iter().enumerate() {
            write!(stream, "SUB bourdon.main.{subject} {id}\r\n").unwrap();
        }
        stream.write_all(b"SUB _INBOX.> 9\r\nPING\r\n").unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let mut refusals = Vec::new();
        loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "the server hung up: {refusals:?}");
            match line.split_whitespace().next() {
                Some("PONG") => break,
                Some("-ERR") => refusals.push(line),
                _ => {}
            }
        }
        let (heard, is_over) = (Arc::new(Mutex::new(Heard::default())), Arc::new(AtomicBool::new(false)));
        let (hears, ends, mut mouth) = (Arc::clone(&heard), Arc::clone(&is_over), stream.try_clone().unwrap());
        std::thread::spawn(move || hear(lines, &hears));
        let told_of_results = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&told_of_results);
        let lies = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                let (lies, of_results) = lies(&heard.lock().unwrap());
                mouth.write_all(lies.concat().as_bytes()).unwrap();
                counts.fetch_add(of_results, Ordering::Relaxed);
                std::thread::sleep(PAUSE);
            }
        });
        Self { stream, is_over, lies, told_of_results, refusals }
    }

    /// How many lies he has told where the results of nodes would be.
    pub(crate) fn told_of_results(&self) -> usize {
        self.told_of_results.load(Ordering::Relaxed)
    }

    pub(crate) fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.lies.join().unwrap();
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Reads until nothing comes any more.
fn hear(mut lines: BufReader<TcpStream>, heard: &Mutex<Heard>) {
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
        if let ["MSG", subject, .., bytes] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let mut message = vec![0; bytes.parse::<usize>().unwrap() + 2];
            lines.read_exact(&mut message).unwrap();
            // A signature comes before it.
            let text: serde_json::Value = serde_json::from_slice(&message[32..message.len() - 2]).unwrap();
            let mut heard = heard.lock().unwrap();
            heard.run = text["run"].as_str().unwrap().to_owned();
            heard.sessions.extend(subject.strip_prefix("bourdon.main.node.").map(str::to_owned));
        }
        line.clear();
    }
}

/// Messages that are not signed, to all addresses where those of a run might be, and how many of them are where results might.
fn lies(heard: &Heard) -> (Vec<String>, usize) {
    let Heard { run, sessions } = heard;
    let garbage = "x".repeat(64);
    let talk = (!run.is_empty()).then(|| ["run.", run].concat());
    let results = sessions.iter().map(|session| ["results.", run, ".", session].concat());
    let lie = |address: String| format!("PUB bourdon.main.{address} {}\r\n{garbage}\r\n", garbage.len());
    let lies = talk.into_iter().chain(results).flat_map(|address| vec![lie(address); BURST]).collect();
    (lies, sessions.len() * BURST)
}
