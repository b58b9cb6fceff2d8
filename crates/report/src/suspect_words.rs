//! What a diagnosis looked for and did not find, what nobody knows, and what is odd, in sentences.

use model::{Excluded, Open, Suspect, Unexplained, WhyOpen};

use crate::experiment_words::experiment_words;
use crate::format::{bytes, decimals, duration_us, elapsed, number, percent, thousands};

/// What was looked for and is not there.
pub(crate) fn excluded(of: &Excluded) -> String {
    let visible = of.visible_from;
    match of.suspect {
        Suspect::Limit => visible.map_or_else(
            || "no limit of requests at once".to_owned(),
            |most| {
                let up_to = thousands(most as u64);
                format!(
                    "no limit of requests at once up to {up_to}; a higher one would not have been seen{}",
                    beyond(of.beyond)
                )
            },
        ),
        Suspect::HeldWorkers => visible.map_or_else(
            || "no connection holds a worker that others wait for".to_owned(),
            |most| {
                format!("no connection holds a worker that others wait for, of fewer than {}", thousands(most as u64))
            },
        ),
        Suspect::BlockedLoop => format!(
            "light requests do not wait for heavy ones for {} or more; less would not have been seen",
            visible.map_or_else(|| "as long as these take".to_owned(), |s| duration_us(s * 1e6))
        ),
        Suspect::DelayedAck => {
            "replies do not wait for delayed acknowledgements; fewer than one in a hundred would not have been seen"
                .to_owned()
        }
        Suspect::ClosedConnections => {
            "connections stay open; a server that ends some of them would not have been seen".to_owned()
        }
        Suspect::Stalls => {
            let looked = of.looked_s.map_or(String::new(), |s| format!(" in {} under a steady load", elapsed(s)));
            let length = visible.map_or_else(|| "half a second".to_owned(), |s| duration_us(s * 1e6));
            format!("no stall of {length} or more{looked}; shorter and rarer ones would not have been seen")
        }
        Suspect::MemoryGrowth => format!(
            "memory does not grow; {} a request would have been seen, but not in what the server had freed and not given back",
            visible.map(bytes).unwrap_or_default()
        ),
        Suspect::ThreadGrowth => {
            format!("no threads are kept of requests; {} would have been seen{OF_CONNECTIONS}", one_in(visible))
        }
        Suspect::FileGrowth => {
            format!(
                "no files or sockets are kept open of requests; {} would have been seen{OF_CONNECTIONS}",
                one_in(visible)
            )
        }
        Suspect::RoundTrips => format!(
            "a request waits for fewer than {} round trips to what is behind the server, one after another",
            thousands(visible.unwrap_or_default() as u64)
        ),
        Suspect::Failures => format!("no more than {} of requests fail", percent(visible.unwrap_or(0.0))),
    }
}

/// All doses come over the same few connections.
const OF_CONNECTIONS: &str = "; what is kept of each connection was not looked for";

/// Why a higher limit would not have been seen.
fn beyond(why: Option<WhyOpen>) -> &'static str {
    match why {
        None => "",
        Some(WhyOpen::Busy) => ", for a CPU was full, or the generator, when there were more",
        Some(WhyOpen::Others) => ", for others used the CPUs when there were more",
        Some(WhyOpen::Failing) => ", for too many requests failed when there were more",
        Some(_) => ", for what was made with more tells nothing",
    }
}

fn one_in(each: Option<f64>) -> String {
    each.map_or("one a request".to_owned(), |each| format!("one in {} requests", number(1.0 / each)))
}

/// What nobody knows, and why.
pub(crate) fn open(of: &Open) -> String {
    let what = suspect_words(of.suspect);
    let why = match of.why {
        WhyOpen::Busy => {
            "not known: a CPU was full, or the generator, before a limit could show. A request takes too little time for it \
             to matter"
        }
        WhyOpen::Others => {
            "not known: other programs, or the hypervisor, used the CPUs each time that it could have shown; look again when the \
             machine is quiet"
        }
        WhyOpen::Slow => {
            "not known: a request takes so long that the loads were too short; lengthen them with --duration"
        }
        WhyOpen::Failing => "not known: too many requests failed for the others to show it",
        WhyOpen::NoHeavy => "not tested: name a path that costs much with --heavy",
        WhyOpen::NoUpstream => "not tested: name what the server asks, a database or another service, with --upstream",
        WhyOpen::NotAsked => {
            "not tested: no request came through to what --upstream names; let the command say $UPSTREAM, or the server read that \
             variable, where it is told whom to ask"
        }
        WhyOpen::LongReplies => {
            "not known: replies are so long, or the server is so far away, that what they take does not show it"
        }
        WhyOpen::Relayed => {
            "it looked like it, and is not: a request took longer by more delays than it asked anybody, as where a long reply \
             comes through the relay in several turns"
        }
        WhyOpen::Jvm => "not known: a JVM takes memory from the system until its heap is full, whatever requests keep",
        WhyOpen::Died => "not known: the server ended too often",
        WhyOpen::Unfinished => "not known: it was stopped before that was tested",
        WhyOpen::NoOverload => {
            "not tested: it shows only under more requests than this server may be sent; --overload allows it"
        }
        WhyOpen::NotLaunched => {
            "not known: the processes of a server that runs already are not seen; with --run they are"
        }
        WhyOpen::OutOfTime => "not tested: there was no time left; give it more with --within",
        WhyOpen::Void => "not known: the load that would tell it was void, or too small",
        WhyOpen::NotByDose => "it looked like it, and is not: a larger dose did not have a larger effect",
        WhyOpen::NotByControl => "it looked like it, and is not: what should have changed nothing had the same effect",
        WhyOpen::Cold => {
            "it looked like it at first, and no more after a longer load: the server grows while it is busy. Look again with a \
             longer --warm-up"
        }
        WhyOpen::NotAgain => "it looked like it once, and not again",
    };
    format!("{what}: {why}")
}

/// What is odd, and nothing explains.
pub(crate) fn unexplained(of: &Unexplained) -> String {
    match of {
        Unexplained::Tail { rate_per_s, p50_us, p99_us } => format!(
            "one reply in a hundred takes {} and more, where half of them take {} at most, at {} requests/s: something makes \
             some requests slow that is not looked for here",
            duration_us(*p99_us),
            duration_us(*p50_us),
            number(*rate_per_s)
        ),
        Unexplained::Throttled { under, cpus_used, share } => format!(
            "a quota of CPU (of its container or control group) kept the server from running for {} of the time with {}: it used {} \
             CPUs then, and would be faster with more",
            percent(*share),
            experiment_words(under),
            decimals(*cpus_used, 2)
        ),
        Unexplained::Slowing { first_us, second_us } => format!(
            "replies took {} on average in the first half of a load and {} in the second, at the same rate: the server slows \
             down, and why is not known",
            duration_us(*first_us),
            duration_us(*second_us)
        ),
    }
}

/// What is suspected, in a few words.
pub(crate) fn suspect_words(suspect: Suspect) -> &'static str {
    match suspect {
        Suspect::Limit => "a limit of requests at once",
        Suspect::HeldWorkers => "connections that hold workers",
        Suspect::BlockedLoop => "others that wait while it computes",
        Suspect::DelayedAck => "replies that wait for an acknowledgement",
        Suspect::ClosedConnections => "connections that it closes",
        Suspect::Stalls => "stalls",
        Suspect::MemoryGrowth => "memory that it keeps",
        Suspect::ThreadGrowth => "threads that it keeps",
        Suspect::FileGrowth => "files or sockets that it keeps open",
        Suspect::RoundTrips => "many round trips to what is behind it",
        Suspect::Failures => "failing requests",
    }
}
