//! What a target keeps on its heap, as its runtime counts it.

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

kinds! {
    /// Who counted a heap.
    HeapCountedBy {
        /// A JVM, by a histogram of the classes of what is alive (`jcmd GC.class_histogram`).
        Jvm = "jvm",
        /// A Go runtime, after a collection (`/debug/pprof/heap?gc=1`).
        Go = "go",
        /// V8 in a Node, over its inspector, after a collection.
        Node = "node",
    }
}

/// What was alive on a heap right after a collection that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveHeap {
    /// Who counted it.
    pub by: HeapCountedBy,
    /// Bytes of all of it.
    pub bytes: u64,
    /// The kinds that have most of it, the largest first: classes of a JVM; of Go the functions that allocated it, whose figures are from a
    /// sample; of Node the same of what was allocated since the first count.
    pub kinds: Vec<HeapKind>,
    /// Collections since the count before, those that were asked for left out; none where nobody tells, and of the first count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collections: Option<Collections>,
}

/// What of a heap is of one class, or from one function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeapKind {
    /// The class or function, as the runtime calls it.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Objects; none where the runtime counts bytes alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<u64>,
}

/// Collections between two counts of a heap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Collections {
    /// Of young objects.
    pub young: u64,
    /// Of all.
    pub full: u64,
    /// Seconds in the latter.
    pub full_s: f64,
}

/// What a target had at the last look after a load, a moment after its connections were closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterLoad {
    /// Processes.
    pub processes: u32,
    /// Threads in all of them.
    pub threads: u32,
    /// Open files and sockets; null where they may not be read.
    pub open_files: Option<u32>,
    /// Connections to its port that the client has closed and it has not; null where nobody looked.
    pub close_wait: Option<u32>,
}
