//! The inspector of a Node, over which V8 says what is alive on its heap.
//!
//! A Node opens it at SIGUSR1, on a port of 127.0.0.1, where whoever is on this machine may use it: it is asked for by whoever wants that.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, LiveHeap};
use observe::{ProcSource, handles_signal, listening, node_heap};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket, client::client_with_config};

use crate::client::{Answer, Client, Probe};
use crate::deadline::{Deadline, LOOK_EVERY, Until, look_until};
use crate::tls::Place;

/// How long a Node may take to open it.
const OPENS_WITHIN: Duration = Duration::from_secs(5);

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
#[serde(rename_all = "camelCase")]
struct HeapUsage {
    used_size: f64,
}

/// A connection to an inspector, on which V8 samples what is allocated.
pub(crate) struct Inspector {
    socket: WebSocket<Until<'static>>,
    deadline: Arc<Deadline<'static>>,
    asked: u64,
}

impl Inspector {
    /// Has a Node open its inspector, and V8 sample. None where it does not within `patience`, or answers otherwise.
    pub(crate) fn open(pid: u32, (patience, most_bytes): (Duration, usize)) -> Option<Self> {
        let at = wake(pid, &ProcSource::default())?;
        let place = Place::plain(at);
        let answer = Client::new(&place, patience, most_bytes).ask(&Probe { path: "/json/list", ..Probe::default() });
        let answer = answer.ok().filter(Answer::is_success)?;
        let listed: Vec<Listed> = serde_json::from_slice(&answer.body).ok()?;
        let url = &listed.first()?.web_socket_debugger_url;
        let deadline = Deadline::new(&|| true);
        deadline.set(patience);
        let stream = deadline.wait(|at_most| std::net::TcpStream::connect_timeout(&at, at_most)).ok()?;
        let limits = WebSocketConfig::default().max_message_size(Some(most_bytes)).max_frame_size(Some(most_bytes));
        let (socket, _) = client_with_config(url, Until::new(stream, deadline.clone()), Some(limits)).ok()?;
        let mut inspector = Inspector { socket, deadline, asked: 0 };
        inspector.ask("HeapProfiler.startSampling", &format!("{{\"samplingInterval\":{SAMPLE_EVERY}}}"))?;
        Some(inspector)
    }

    /// What is alive on the heap after a collection; none where it does not say so in time.
    pub(crate) fn count(&mut self, within: Duration) -> Option<LiveHeap> {
        self.deadline.set(within);
        self.ask("HeapProfiler.collectGarbage", "{}")?;
        let used: HeapUsage = result(&self.ask("Runtime.getHeapUsage", "{}")?)?;
        let profile = self.ask("HeapProfiler.getSamplingProfile", "{}")?;
        Some(node_heap(used.used_size.max(0.0) as u64, &profile))
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

/// Has a Node open its inspector: where that listens. One that has no handler for the signal would end by it.
fn wake(pid: u32, proc: &ProcSource) -> Option<SocketAddr> {
    if !handles_signal(pid, Signal::USR1.as_raw(), proc) {
        return None;
    }
    let before = listening(pid, proc);
    kill_process(Pid::from_raw(i32::try_from(pid).ok()?)?, Signal::USR1).ok()?;
    let until_ns = MonotonicClock.now_ns() + OPENS_WITHIN.as_nanos() as u64;
    let opened = |at: &SocketAddr| at.ip().is_loopback() && !before.contains(at);
    look_until(LOOK_EVERY, || listening(pid, proc).into_iter().find(opened), || MonotonicClock.now_ns() < until_ns)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use model::HeapCountedBy;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

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
        let keeps = "const kept = []; function remember() { kept.push(new Array(1000).fill(kept.length)); } setInterval(remember, 1)";
        let node = started(&["node", "-e", keeps]);
        let pid = node.0.id();
        let proc = ProcSource::default();
        within_patience("it takes the signal", || handles_signal(pid, Signal::USR1.as_raw(), &proc));
        let mut inspector = Inspector::open(pid, (PATIENCE, 8 << 20)).unwrap();
        let first = inspector.count(PATIENCE).unwrap();
        assert_eq!(first.by, HeapCountedBy::Node);
        within_patience("it grows by a MB, all of it in one function", || {
            let now = inspector.count(PATIENCE).unwrap();
            let kept = now.kinds.iter().find(|kind| kind.name.starts_with("remember ("));
            now.bytes > first.bytes + 1_000_000 && kept.is_some_and(|kind| kind.bytes > 500_000)
        });
    }

    #[test]
    fn what_would_end_by_the_signal_is_not_sent_it() {
        let mut other = started(&["sleep", "60"]);
        assert!(Inspector::open(other.0.id(), (PATIENCE, 1 << 20)).is_none());
        assert!(other.0.try_wait().unwrap().is_none(), "it runs on");
    }
}
