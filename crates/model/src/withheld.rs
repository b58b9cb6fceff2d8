use serde::{Deserialize, Serialize};

/// Why a verdict that the figures alone would give is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    /// The throughput is only a lower bound, a latency an upper one: the generator may have been the limit.
    AtLeast,
    /// The handler delay allowed no more.
    AtCeiling,
    /// So few requests were completed in the window that its edges weigh as much.
    Edges,
    /// A server was still getting faster within its windows.
    Warming,
    /// The quantile is only a lower bound: requests were unfinished.
    Censored,
    /// More requests failed than may: the figures are of failures, too.
    Failing,
    /// Replies had wrong content: who answers anything may be quick and cheap.
    Wrong,
    /// Nothing was served in a launch, or the server stopped answering in one.
    Silent,
    /// A server left requests without a reply, and nothing says how many of those it would have failed.
    Unanswered,
    /// It rests on launches during which the machine was disturbed, by enough to have made it.
    Disturbed,
    /// It rests on launches during which the machine was busy, and nothing bounds what that does to such a figure.
    Unbounded,
    /// Others used a few per cent of the CPUs all the time, which may have cost one of two different programs as much more than the other.
    Uneven,
    /// Rounds during which the machine was busy are left out, and with them the figures say something else.
    Rounds,
    /// A server used as much CPU in slices of others as makes a difference of that size, to them or to what it is charged.
    Spill,
    /// One of them did much when it was woken before its slices, and whether its requests would cause that alone is not known.
    Waking,
    /// Before it was launched alone, one of them did much when the load paused: what it puts off until then is in no figure.
    Pauses,
    /// The latency holds much of the generator's own.
    Lateness,
    /// A server had less load before the window than it says it needs to be warm.
    Cold,
    /// Launches of the one went round with others, and the other had the load to itself.
    Rotation,
    /// What processes of one of them share with others that live at the same time counts in part for each: in full its memory may be more.
    SharedMemory,
    /// Processes of one of them may have had more memory between two looks, by as much as makes a difference of that size.
    BetweenLooks,
    /// The runtime of one of them was asked before and after each slice, which takes memory in it.
    AskedRuntime,
    /// They differ by less memory than one server does from one session to the next.
    LittleMemory,
    /// Processes of one of them may have ended without being waited for, and nobody is credited with the CPU that those used.
    Unwaited,
    /// The two were measured at different times, and a machine that has changed in between by as much as was said could have made or hidden it.
    AnotherTime,
    /// The two count different things under one name.
    Definition,
    /// A launch of one of them has a zero, to which nothing has a ratio.
    Zero,
    /// Another load was on them at the same time, and what each cost is not known.
    Beside,
    /// One of them used too little CPU in a window for a figure.
    LittleCpu,
    /// A launch of one of them had too few requests for the quantile.
    FewRequests,
    /// In a launch of one of them too few garbage collections are known to have come within its slices for a p99 to hold their share.
    FewCollections,
}

impl Withheld {
    /// Whether it is because the machine was busy.
    pub fn is_noise(self) -> bool {
        matches!(self, Withheld::Disturbed | Withheld::Unbounded)
    }
}
