//! What a diagnosis looked for and did not find, and what it does not know.

use serde::{Deserialize, Serialize};

use crate::Suspect;
use crate::outcome::kinds;

/// What is not there, and what of it would have been seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Excluded {
    /// What was suspected.
    pub suspect: Suspect,
    /// How likely it still is, 0 to 1.
    pub probability: f64,
    /// How large it would have to be to be seen: requests at once at most, seconds, bytes or pieces a request, or a share of requests.
    pub visible_from: Option<f64>,
    /// For how many seconds it was looked for, where it may be rare.
    pub looked_s: Option<f64>,
    /// Why a larger one would not have been seen, where loads that would have shown it were made.
    pub beyond: Option<WhyOpen>,
}

/// What nobody knows of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// What may be there.
    pub suspect: Suspect,
    /// Why that is not known.
    pub why: WhyOpen,
}

kinds! {
    /// Why it is not known whether something is there.
    WhyOpen {
        /// The server's CPU or the generator was full before it could have shown.
        Busy = "busy",
        /// Others, or the hypervisor, took the CPU each time that it could have shown.
        Others = "others",
        /// A request takes so long that no load was long enough.
        Slow = "slow",
        /// So many requests failed that the others say little.
        Failing = "failing",
        /// It would show only beside a request that costs much, and none was named.
        NoHeavy = "no-heavy",
        /// A JVM takes memory from the system until its heap is full, whatever a request keeps.
        Jvm = "jvm",
        /// It would show only under more than may be sent.
        NoOverload = "no-overload",
        /// It would show only if what is behind the server were further away, and nobody named that.
        NoUpstream = "no-upstream",
        /// The server did not ask it where it was told to.
        NotAsked = "not-asked",
        /// Replies are too long, or it is too far away, for this to show.
        LongReplies = "long-replies",
        /// It showed, but as often as that the server asked nobody: long replies took several turns through the relay.
        Relayed = "relayed",
        /// Its processes are not seen, for it was not launched.
        NotLaunched = "not-launched",
        /// There was no time left.
        OutOfTime = "out-of-time",
        /// The server ended too often.
        Died = "died",
        /// It was stopped before its end.
        Unfinished = "unfinished",
        /// What would tell was void.
        Void = "void",
        /// It showed, and does not follow the dose as it would.
        NotByDose = "not-by-dose",
        /// It showed, and so did what should have changed nothing.
        NotByControl = "not-by-control",
        /// It showed, and no more once the server had been under load for longer.
        Cold = "cold",
        /// It showed, and not again.
        NotAgain = "not-again",
    }
}
