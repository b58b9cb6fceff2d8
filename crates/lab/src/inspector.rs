//! The inspector of a Node, over which V8 says what is alive on its heap.
//!
//! A Node opens it where it is told to, on a port of 127.0.0.1, where whoever is on this machine may use it: it is asked for by whoever wants that.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use model::LiveHeap;
use observe::{ProcSource, listening, node_heap};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket, client::client_with_config};

use crate::client::{Answer, Client, Probe};
use crate::deadline::{Deadline, Until};
use crate::tls::Place;

/// What V8 is asked beside the heap: what buffers have is outside of it.
const MEMORY: &str = r#"{"expression":"JSON.stringify(process.memoryUsage())"}"#;

/// More than any machine has: who says so says nothing.
const MOST_HEAP_BYTES: f64 = (1_u64 << 50) as f64;

/// Mean distance of two samples, in bytes that are allocated: V8's own.
const SAMPLE_EVERY: u32 = 32 * 1024;

/// What an inspector says of each thing that can be inspected.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    web_socket_debugger_url: String,
}

/// The part of an answer that says whose it is, and whether it is one.
#[derive(Deserialize)]
struct Head {
    id: Option<u64>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Answered<T> {
    result: T,
}

#[derive(Deserialize)]
struct Evaluated {
    result: Value,
}

#[derive(Deserialize)]
struct Value {
    value: String,
}

/// What Node says of its memory, in bytes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemoryUsage {
    heap_used: f64,
    /// Of buffers and the like.
    external: f64,
}

/// A connection to an inspector, on which V8 samples what is allocated.
pub(crate) struct Inspector {
    socket: WebSocket<Until<'static>>,
    deadline: Arc<Deadline<'static>>,
    asked: u64,
}

impl Inspector {
    /// Has V8 sample in a Node that serves at this address. None where it has no inspector, or that does not answer within `patience`.
    pub(crate) fn open(pid: u32, serves: SocketAddr, (patience, most_bytes): (Duration, usize)) -> Option<Self> {
        let beside = |at: &SocketAddr| at.ip().is_loopback() && at.port() != serves.port();
        let url_at = |at: SocketAddr| {
            let place = Place::plain(at);
            let probe = Probe { path: "/json/list", ..Probe::default() };
            let answer = Client::new(&place, patience, most_bytes).ask(&probe).ok().filter(Answer::is_success)?;
            let listed: Vec<Listed> = serde_json::from_slice(&answer.body).ok()?;
            Some((at, listed.into_iter().next()?.web_socket_debugger_url))
        };
        let (at, url) = listening(pid, &ProcSource::default()).into_iter().filter(beside).find_map(url_at)?;
        let deadline = Deadline::new(&|| true);
        deadline.set(patience);
        let stream = deadline.wait(|at_most| std::net::TcpStream::connect_timeout(&at, at_most)).ok()?;
        let limits = WebSocketConfig::default().max_message_size(Some(most_bytes)).max_frame_size(Some(most_bytes));
        let (socket, _) = client_with_config(url.as_str(), Until::new(stream, deadline.clone()), Some(limits)).ok()?;
        let mut inspector = Inspector { socket, deadline, asked: 0 };
        inspector.ask("HeapProfiler.startSampling", &format!("{{\"samplingInterval\":{SAMPLE_EVERY}}}"))?;
        Some(inspector)
    }

    /// What is alive on the heap after a collection; none where it does not say so in time.
    pub(crate) fn count(&mut self, within: Duration) -> Option<LiveHeap> {
        self.deadline.set(within);
        self.ask("HeapProfiler.collectGarbage", "{}")?;
        let said: Evaluated = result(&self.ask("Runtime.evaluate", MEMORY)?)?;
        let used: MemoryUsage = serde_json::from_str(&said.result.value).ok()?;
        let bytes = Some(used.heap_used + used.external).filter(|bytes| (0.0..MOST_HEAP_BYTES).contains(bytes))?;
        let profile = self.ask("HeapProfiler.getSamplingProfile", "{}")?;
        Some(node_heap(bytes as u64, &profile))
    }

    /// The whole answer to a request; what comes beside it is of no interest.
    fn ask(&mut self, method: &str, params: &str) -> Option<String> {
        self.asked += 1;
        let request = format!("{{\"id\":{},\"method\":\"{method}\",\"params\":{params}}}", self.asked);
        self.socket.send(Message::text(request)).ok()?;
        loop {
            let message = self.socket.read().ok()?;
            if !message.is_text() {
                continue;
            }
            let text = message.to_text().ok()?;
            let head: Head = serde_json::from_str(text).ok()?;
            if head.id == Some(self.asked) {
                return head.error.is_none().then(|| text.to_owned());
            }
        }
    }
}

fn result<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str::<Answered<T>>(text).ok().map(|of| of.result)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use engine::MonotonicClock;
    use model::{Clock, HeapCountedBy};

    use super::*;
    use crate::deadline::{LOOK_EVERY, look_until};

    const PATIENCE: Duration = Duration::from_secs(20);
    const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

    /// A process that ends with the test.
    struct Ends(Child);

    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn started(command: &[&str]) -> Ends {
        Ends(Command::new(command[0]).args(&command[1..]).stderr(Stdio::null()).spawn().unwrap())
    }

    fn within_patience(what: &str, mut is_so: impl FnMut() -> bool) {
        let until_ns = MonotonicClock.now_ns() + PATIENCE.as_nanos() as u64;
        let goes_on = || MonotonicClock.now_ns() < until_ns;
        look_until(LOOK_EVERY, || is_so().then_some(()), goes_on).unwrap_or_else(|| panic!("not in time: {what}"));
    }

    #[test]
    fn what_a_node_keeps_is_counted_with_the_function_that_made_it() {
        let keeps = "require('node:inspector').open(0, '127.0.0.1'); const kept = []; function remember() { kept.push(new Array(1000).fill(kept.length), Buffer.alloc(20000)); } \
                     setInterval(remember, 1)";
        let node = started(&["node", "-e", keeps]);
        let mut opened = None;
        within_patience("it has an inspector", || {
            opened = Inspector::open(node.0.id(), NOWHERE, (PATIENCE, 8 << 20));
            opened.is_some()
        });
        let mut inspector = opened.unwrap();
        let first = inspector.count(PATIENCE).unwrap();
        assert_eq!(first.by, HeapCountedBy::Node);
        within_patience("it grows by what is on the heap and by its buffers, in one function", || {
            let now = inspector.count(PATIENCE).unwrap();
            let kept = now.kinds.iter().find(|kind| kind.name.starts_with("remember ("));
            let on_heap = kept.map_or(0, |kind| kind.bytes);
            on_heap > 500_000 && now.bytes > first.bytes + 2 * on_heap
        });
    }

    #[test]
    fn what_has_none_is_not_counted() {
        let other = started(&["sleep", "60"]);
        assert!(Inspector::open(other.0.id(), NOWHERE, (PATIENCE, 1 << 20)).is_none());
    }
}
