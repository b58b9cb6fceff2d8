//! Asks a target's runtime, between two loads, what is alive on its heap. It is made to collect first, which nobody waits for then.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::{LiveHeap, ProcessEnd};
use observe::{Family, JvmCollections, ProcSource, go_heap, jvm_collections, jvm_heap};
use reaper::{Ended, Question, ask};

use crate::client::{Answer, Client, Probe};
use crate::inspector::Inspector;
use crate::launch::Running;
use crate::tls::Place;

/// How long a runtime may take to count: a large heap takes seconds to collect.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long one may take that was never seen to, or said nothing the last time: it may hang.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);

/// Largest answer that is taken.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Where a Go program that imports `net/http/pprof` tells of its heap, after a collection, in text.
const GO_HEAP: &str = "/debug/pprof/heap?gc=1&debug=1";

/// What `jcmd` is asked. The histogram collects: counting before and after leaves that out.
const COUNTERS: &str = "PerfCounter.print";
const HISTOGRAM: &str = "GC.class_histogram";

/// The names of the programs that are a JVM, and a Node.
const JAVA: &str = "java";
const NODE: &str = "node";

/// Who counts a target's heap; none where nobody does.
pub(crate) struct HeapCounter<'a> {
    executable: &'a Path,
    by: Option<By>,
    /// How long it may take the next time: little, once it said nothing.
    patience: Duration,
}

enum By {
    /// A JVM's process, and the `jcmd` that lies beside its `java`.
    Jvm { pid: u32, jcmd: PathBuf, before: Option<JvmCollections> },
    /// Where Go tells.
    Go(SocketAddr),
    /// Over which V8 tells.
    Node(Box<Inspector>),
}

/// Whether one of a target's processes is a JVM.
pub(crate) fn has_jvm(running: &dyn Running) -> bool {
    serving(running, JAVA).is_some()
}

/// The process that is such a program and serves.
fn serving(running: &dyn Running, name: &str) -> Option<(u32, PathBuf)> {
    let proc = ProcSource::default();
    let all = observe::programs(running.family()?, &proc).into_iter();
    let mut all = all.filter(|(_, program)| program.file_name().is_some_and(|of| of == name));
    // What builds or starts a server may be one, too: that which listens is the last of those below which something does.
    let port = running.address().port();
    let listens = |pid: u32| observe::listening(pid, &proc).iter().any(|at| at.port() == port);
    all.clone().rfind(|(pid, _)| listens(*pid)).or_else(|| all.next())
}

/// The Node that serves alone: of a primary with workers, which has none of their heaps, and of workers, none speaks for all.
fn node(running: &dyn Running) -> Option<u32> {
    let (pid, _) = serving(running, NODE)?;
    let beneath = observe::programs(Family::of(pid), &ProcSource::default()).into_iter();
    let nodes = beneath.filter(|(_, program)| program.file_name().is_some_and(|of| of == NODE)).count();
    (nodes == 1).then_some(pid)
}

impl<'a> HeapCounter<'a> {
    /// Finds who counts; `inspect` is whether a Node may be made to. `executable` is the running one, under whose reaper `jcmd` runs.
    ///
    /// # Errors
    /// When a Node was to be counted, and cannot.
    pub(crate) fn of(running: &dyn Running, inspect: bool, executable: &'a Path) -> Result<Self, String> {
        let by = if inspect { Some(By::node(running)?) } else { By::of(running) };
        Ok(Self { executable, by, patience: PATIENCE })
    }

    /// What is alive now, and how often the target collected since the count before; none where it does not say.
    pub(crate) fn count(&mut self, stop: &AtomicBool) -> Option<LiveHeap> {
        let counted = self.ask(stop);
        self.patience = if counted.is_some() { PATIENCE } else { FIRST_PATIENCE };
        counted
    }

    fn ask(&mut self, stop: &AtomicBool) -> Option<LiveHeap> {
        let within = self.patience;
        match self.by.as_mut()? {
            By::Go(at) => ask_go(*at, within),
            By::Node(inspector) => inspector.count(within),
            By::Jvm { pid, jcmd, before } => {
                let ask = |what| run(self.executable, jcmd, *pid, what, (within, stop));
                let now = ask(COUNTERS).as_deref().and_then(jvm_collections);
                let counted = ask(HISTOGRAM).as_deref().and_then(jvm_heap);
                let collections = now.zip(before.as_ref()).map(|(now, before)| now.since(before));
                *before = ask(COUNTERS).as_deref().and_then(jvm_collections);
                counted.map(|heap| LiveHeap { collections, ..heap })
            }
        }
    }
}

impl By {
    fn of(running: &dyn Running) -> Option<Self> {
        if let Some((pid, java)) = serving(running, JAVA) {
            let jcmd = java.with_file_name("jcmd");
            return jcmd.is_file().then(|| By::Jvm { pid, jcmd, before: None });
        }
        running.family()?;
        if running.tls().is_some() {
            return None;
        }
        let mut places = running.admin_address().into_iter().chain([running.address()]);
        places.find(|at| ask_go(*at, FIRST_PATIENCE).is_some()).map(By::Go)
    }
}

impl By {
    fn node(running: &dyn Running) -> Result<Self, String> {
        let pid = node(running).ok_or("the heap of a Node was to be counted, and no Node serves there by itself")?;
        let opened = Inspector::open(pid, running.address(), (FIRST_PATIENCE, MOST_BYTES));
        let inspector = opened
            .ok_or_else(|| "the heap of the Node was to be counted, and it has no inspector that answers".to_owned())?;
        Ok(By::Node(Box::new(inspector)))
    }
}

/// What `jcmd` says; none where it fails.
fn run(
    executable: &Path,
    jcmd: &Path,
    pid: u32,
    what: &str,
    (within, stop): (Duration, &AtomicBool),
) -> Option<String> {
    let command = vec![jcmd.into(), pid.to_string().into(), OsString::from(what)];
    let question = Question { executable, command, within: Some(within), stop: Some(stop) };
    let mut said = Vec::new();
    let answer = ask(question, |_| {}, &mut |bytes| {
        let room = MOST_BYTES.saturating_sub(said.len());
        said.extend_from_slice(&bytes[..bytes.len().min(room)]);
    });
    matches!(answer.ok()?.ended, Ended::Ran(ProcessEnd::Exited(0))).then(|| String::from_utf8_lossy(&said).into_owned())
}

fn ask_go(at: SocketAddr, within: Duration) -> Option<LiveHeap> {
    let place = Place::plain(at);
    let answer = Client::new(&place, within, MOST_BYTES).ask(&Probe { path: GO_HEAP, ..Probe::default() });
    let answer = answer.ok().filter(Answer::is_success)?;
    go_heap(str::from_utf8(&answer.body).ok()?)
}
