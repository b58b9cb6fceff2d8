//! What marks mean.

use model::Mark;

/// What a mark means, said once.
pub(crate) fn mark_meaning(mark: Mark) -> &'static str {
    match mark {
        Mark::Generator => "the generator may have been the limit: throughput is at least this",
        Mark::Lateness => {
            "the generator's own lateness is over a tenth of the latency; CPUs of its own, or --spin, lower it"
        }
        Mark::Standstill => "the latency is the generator's, which stood still itself",
        Mark::Silent => "the server gave no reply for half a second or more, and then went on",
        Mark::Hung => "requests never got a reply, long after others had theirs",
        Mark::Reconnects => {
            "the server ended connections that were to be kept: connecting is part of what was measured"
        }
        Mark::Unserved => {
            "some connections completed nothing, or over 10 % of their time went into requests that outlasted the window, or connecting"
        }
        Mark::Thin => "fewer than 30 completions per connection slot",
        Mark::AtCeiling => {
            "the work itself allows no more: servers cannot be ranked there, only shown not to be slower"
        }
        Mark::Noisy => "something else kept the machine busy",
        Mark::Cold => "not warm yet: a longer warm-up gives other figures",
        Mark::WarmUp => {
            "it got better inside the window, by its rate, p99 or CPU per request: the steady figure leaves the start out"
        }
        Mark::SlowDown => {
            "it got worse inside the window, by its rate, p99 or CPU per request: it has no steady figure"
        }
        Mark::Unsteady => "it changed up to the end of the window: it has no steady figure",
        Mark::Growing => {
            "memory grew over the window and had not levelled off: in a longer one it is more, which no warm-up changes"
        }
        Mark::LevelledOff => "memory grew inside the window, and levelled off",
        Mark::Drift => "differences between targets change from block to block: intervals may be too narrow",
        Mark::Correlated => "neighbouring blocks resemble each other: intervals may be too narrow",
        Mark::Errors => "requests that failed",
    }
}
