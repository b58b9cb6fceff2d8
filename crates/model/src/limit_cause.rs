use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Failure, NotSent, TlsFault};

/// What bounded a load, in figures; shares are 0 to 1. `report` has the words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitCause {
    /// Replies came, and all were wrong.
    NothingRight {
        /// With a wrong status.
        bad_status: u64,
        /// With a wrong body.
        bad_body: u64,
    },
    /// No request was due.
    NothingDue {
        /// In a window of so many seconds.
        window_s: f64,
    },
    /// No request got a complete reply.
    NoReply(NoReply),
    /// What kept the generator from more: the server does at least this.
    AtLeast(Shortfall),
    /// What kept the generator from showing anything.
    Blind(Shortfall),
    /// The delay allows no more.
    Ceiling(DelayCeiling),
    /// Busy share of the target's CPUs.
    TargetBusy(f64),
    /// The server, or what stands between it and the generator.
    ServerBound {
        /// The generator thread that needed most of a CPU.
        generator: ThreadNeed,
        /// Connections.
        connections: u32,
        /// Whether the server answered all the while.
        answered: Answered,
        /// Whether it may have been CPUs that others use too.
        shared_cpus: bool,
    },
    /// The rate was missed by the generator.
    RateMissed {
        /// Requests a second asked for.
        rate_per_s: f64,
        /// Requests that were sent.
        sent: u64,
        /// Of those that were due.
        scheduled: u64,
        /// Why.
        why: Shortfall,
    },
    /// The rate was sent.
    RateSent {
        /// Requests a second asked for.
        rate_per_s: f64,
        /// The generator thread that needed most of a CPU.
        generator: ThreadNeed,
        /// Requests for which it was too late at the end.
        too_late: u64,
        /// Share that left late for the generator, where that is more than may.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        late_share: Option<f64>,
        /// Share that waited for a connection, where that is more than may.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_share: Option<f64>,
        /// The rate up to which calibration trusts the generator, where the load's is higher.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trusted_per_s: Option<f64>,
    },
    /// The server stopped answering.
    Stopped {
        /// Requests a second asked for.
        rate_per_s: f64,
        /// Requests that were never sent.
        not_sent: BTreeMap<NotSent, u64>,
    },
    /// The server did not keep up with the rate.
    Behind {
        /// Requests a second asked for.
        rate_per_s: f64,
        /// Requests that were never sent.
        not_sent: BTreeMap<NotSent, u64>,
        /// The generator thread that needed most of a CPU.
        generator: ThreadNeed,
        /// How many requests at once the rate needs, where the connections allow fewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_once: Option<AtOnce>,
    },
    /// The server gave no reply for long, and went on.
    Silence(LongSilence),
    /// The load was stopped after so many seconds of its window.
    Interrupted {
        /// Seconds.
        after_s: f64,
    },
}

/// What came of requests that got no reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoReply {
    /// Those that were never sent.
    pub not_sent: BTreeMap<NotSent, u64>,
    /// Those that failed.
    pub failed: BTreeMap<Failure, u64>,
    /// Those still awaited at the end.
    pub awaited: u64,
    /// Those sent in the warm-up.
    pub sent_before: u64,
    /// Those of the warm-up that kept every other from being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hanging: Option<Hanging>,
    /// What explains it, where something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<NoReplySeen>,
}

/// Requests that had no reply since the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hanging {
    /// How many.
    pub requests: u64,
    /// Whether there was one on each connection.
    pub one_each: bool,
}

/// What explains that there was no reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoReplySeen {
    /// TLS failed.
    TlsFailed(TlsFailed),
    /// It was connected to, and no handshake came to its end.
    NoHandshake,
    /// The server ends each connection.
    HungUp,
    /// This machine could not open the connections.
    NoConnections,
    /// The server did answer before the window.
    AnsweredBefore {
        /// How many requests.
        replies: u64,
        /// How many seconds before the window it stopped.
        until_s: f64,
    },
}

/// Why TLS failed first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenTlsFailed")]
pub struct TlsFailed {
    /// What that shows of the server, where it shows more than that it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<TlsFault>,
    /// In the words of who saw it.
    pub why: String,
}

/// As it is written; in records of earlier versions it is the words alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenTlsFailed {
    Words(String),
    Known {
        #[serde(default)]
        fault: Option<TlsFault>,
        why: String,
    },
}

impl From<WrittenTlsFailed> for TlsFailed {
    fn from(written: WrittenTlsFailed) -> TlsFailed {
        let (fault, why) = match written {
            WrittenTlsFailed::Words(why) => (None, why),
            WrittenTlsFailed::Known { fault, why } => (fault, why),
        };
        TlsFailed { fault, why }
    }
}

/// What kept a generator from more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortfall {
    /// It stood still.
    StoodStill {
        /// For so many seconds.
        for_s: f64,
        /// Of a window of so many.
        window_s: f64,
    },
    /// A thread had no CPU left.
    Thread(ThreadNeed),
    /// Requests a second that it can do.
    Attainable(f64),
    /// Its machine could not send these requests.
    Lacking(BTreeMap<NotSent, u64>),
    /// It stood still when so many requests came due.
    HeldUp(u64),
    /// It was too late for so many requests.
    TooLate(u64),
    /// It sent this share of them late.
    Late(f64),
}

fn told() -> bool {
    true
}

/// What a generator thread needed of a CPU, as shares of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThreadNeed {
    /// Which, from 1.
    pub thread: usize,
    /// For how much of it the thread was busy.
    pub busy: f64,
    /// For how much of it the thread waited for a CPU.
    pub starved: f64,
    /// Whether that is enough to be told; of records of earlier versions any is.
    #[serde(default = "told")]
    pub waited: bool,
}

/// Whether a server answered all the while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// It did.
    Always,
    /// But for silences.
    WithGaps,
    /// Until it stopped.
    ToAPoint,
}

/// Requests at once that a rate needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AtOnce {
    /// How long a request took, in µs.
    pub service_us: f64,
    /// How many at once that makes.
    pub needed: u64,
    /// How many the connections allow.
    pub allowed: u64,
}

/// The longest time for which a server gave no reply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LongSilence {
    /// For how many seconds, the generator's standstills taken off.
    pub length_s: f64,
    /// Whether there were such standstills in it.
    pub at_least: bool,
    /// From which second of the window; null from its beginning.
    pub from_s: Option<f64>,
    /// Until which second of the window; null to its end.
    pub until_s: Option<f64>,
    /// Other silences that are long, too.
    pub others: u64,
}

/// What a delay allows a closed load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DelayCeiling {
    /// Replies a second.
    pub per_s: f64,
    /// Replies a second that the delay allows.
    pub most_per_s: f64,
    /// Delay of the handler.
    pub handler_delay_s: f64,
    /// Delay that bourdon adds to the network.
    pub network_delay_s: f64,
    /// How many requests at once the server allows that the handlers ask, where that is less than the connections do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_workers: Option<u32>,
}
