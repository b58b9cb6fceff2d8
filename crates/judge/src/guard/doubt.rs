//! The doubts there are, and what a comparison says of each.

use model::Withheld;

/// Why a figure may be another one than was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// A share rests on so many requests: its binomial interval over all launches.
    Sample,
    /// A quantile is known to a bucket of its histogram, and when a server was ready to one question whether it is.
    Resolution,
    /// The generator may have been the limit: a rate is at least this, and what follows from it accordingly.
    Generator,
    /// The handler delay allows hardly more: how fast the server could be is not known up to what it allows.
    Ceiling,
    /// Few completions per connection slot: the edges of the window weigh.
    Edges,
    /// Requests were unfinished: a latency is at least this, and a stall that outlasted its slice would have cost a rate more.
    Unfinished,
    /// The server was still getting faster: with a longer warm-up it does more in less time.
    Warming,
    /// A latency holds much of the generator's own: without its lateness the service time would be left.
    Lateness,
    /// More requests failed than may: a failure may be quick and cheap.
    Failing,
    /// Replies had wrong content: who answers anything may be quick and cheap.
    Wrong,
    /// Nothing was served in a launch, or the server stopped answering in one: the launches that it survived must not speak
    /// for it.
    Silent,
    /// Requests were left without a reply, neither failed nor served: more of them may fail than did.
    Unanswered,
    /// Servers used a CPU in slices of others: its neighbours in its own, or it in theirs.
    Spill,
    /// The server did much when it was woken before its slices, which counts nowhere: alone its requests may have had it.
    Waking,
    /// Before it was launched alone, it did much when the load paused: it may put off until then what no figure has.
    Pauses,
    /// What processes share with other targets that live counts in part: alone their memory may be more.
    SharedMemory,
    /// Several processes of the server, or some that came and went, may have had more memory between two looks.
    BetweenLooks,
    /// The runtime was asked before and after each slice, and its exporter takes memory for that: without, the server has less.
    AskedRuntime,
    /// Processes of the server may have ended without being waited for: its CPU is at least what was counted.
    Unwaited,
    /// Rounds of slices are left out.
    Rounds,
    /// The machine was busy with something else: without that the launch could have been better, and a request not as cheap.
    Noise,
}

/// The doubts that marks stand for; the sample and the resolution are part of every interval, and against noise speak the launches
/// without it, too.
pub(crate) const MARKS: [Doubt; 17] = [
    Doubt::Generator,
    Doubt::Ceiling,
    Doubt::Edges,
    Doubt::Unfinished,
    Doubt::Warming,
    Doubt::Lateness,
    Doubt::Failing,
    Doubt::Wrong,
    Doubt::Silent,
    Doubt::Unanswered,
    Doubt::Spill,
    Doubt::Waking,
    Doubt::Pauses,
    Doubt::SharedMemory,
    Doubt::BetweenLooks,
    Doubt::AskedRuntime,
    Doubt::Unwaited,
];

impl Doubt {
    /// What a comparison says that it takes back.
    pub(crate) fn withheld(self) -> Withheld {
        match self {
            Doubt::Generator | Doubt::Sample | Doubt::Resolution => Withheld::AtLeast,
            Doubt::Ceiling => Withheld::AtCeiling,
            Doubt::Edges => Withheld::Edges,
            Doubt::Unfinished => Withheld::Censored,
            Doubt::Warming => Withheld::Warming,
            Doubt::Lateness => Withheld::Lateness,
            Doubt::Failing => Withheld::Failing,
            Doubt::Wrong => Withheld::Wrong,
            Doubt::Silent => Withheld::Silent,
            Doubt::Unanswered => Withheld::Unanswered,
            Doubt::Spill => Withheld::Spill,
            Doubt::Waking => Withheld::Waking,
            Doubt::Pauses => Withheld::Pauses,
            Doubt::SharedMemory => Withheld::SharedMemory,
            Doubt::BetweenLooks => Withheld::BetweenLooks,
            Doubt::AskedRuntime => Withheld::AskedRuntime,
            Doubt::Unwaited => Withheld::Unwaited,
            Doubt::Rounds => Withheld::Rounds,
            Doubt::Noise => Withheld::Disturbed,
        }
    }
}
