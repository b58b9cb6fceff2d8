//! A diagnosis in sentences: what is wrong, how that shows, and what to do.

use model::{
    Diagnosed, Diagnosis, DiagnosisEnd, Experiment, Measured, PATHS_APART, PATHS_SHARE, STALLS_OF_REQUESTS,
    ServerFault, Sureness, Suspect, Tried, Trying, Unit, Unproved, WhyTried, counted,
};

use crate::cure_words::cure;
use crate::experiment_words::experiment_words;
use crate::format::{bytes, duration_us, elapsed, measured, number, percent, seconds, thousands};
use crate::launch_words::failed_words;
use crate::mark_words;
use crate::page::Tint;
use crate::suspect_words::suspect_words;
use crate::suspicion_words::share_above;
use crate::upstream_words;
use crate::words::listed;
use crate::wrong_reply::sentence;

/// Share of those that come meanwhile from which on all are said to wait.
const ALL_WAIT: f64 = 0.7;

/// The answer in one sentence or two.
pub(crate) fn answer(diagnosis: &Diagnosis) -> (Tint, String) {
    let certain: Vec<&Diagnosed> = diagnosis.findings.iter().filter(|it| it.sureness == Sureness::Is).collect();
    let unproved: Vec<&Diagnosed> = diagnosis.findings.iter().filter(|it| it.sureness != Sureness::Is).collect();
    let titles = |all: &[&Diagnosed]| all.iter().map(|it| title(&it.fault)).collect::<Vec<_>>().join(" ");
    let rest = match unproved.len() {
        0 => String::new(),
        _ if certain.is_empty() => {
            return (Tint::Unsure, format!("Nothing is proved. Consistent with what was seen: {}", titles(&unproved)));
        }
        _ => format!("Not proved, but consistent with what was seen: {}", titles(&unproved)),
    };
    if certain.is_empty() {
        let is_good = diagnosis.ended == DiagnosisEnd::Complete && diagnosis.unexplained.is_empty();
        return (if is_good { Tint::Good } else { Tint::Unsure }, nothing(diagnosis));
    }
    (Tint::Bad, [titles(&certain), rest].join(" ").trim_end().to_owned())
}

fn nothing(diagnosis: &Diagnosis) -> String {
    let looked = diagnosis.excluded.len() as u64;
    match diagnosis.ended {
        DiagnosisEnd::NothingMeasured => "Nothing could be measured, so nothing can be said.".to_owned(),
        DiagnosisEnd::Unfinished => format!(
            "Not finished. Nothing wrong was found so far, of {} looked for.",
            counted(looked, "fault", "faults")
        ),
        _ if !diagnosis.unexplained.is_empty() => {
            "Nothing that is looked for here was found, and something is odd that it does not explain.".to_owned()
        }
        _ => format!(
            "Nothing wrong was found, of {} looked for{}.",
            counted(looked, "fault", "faults"),
            unknown(diagnosis)
        ),
    }
}

/// What nobody knows, after what was looked for.
fn unknown(diagnosis: &Diagnosis) -> String {
    let open: Vec<String> = diagnosis.open.iter().map(|open| suspect_words(open.suspect).to_owned()).collect();
    if open.is_empty() { String::new() } else { format!("; not known: {}", listed(&open)) }
}

/// What is wrong, as a sentence.
pub(crate) fn title(fault: &ServerFault) -> String {
    match fault {
        ServerFault::Limit { at_once, exactly, paths_together, most_per_s, .. } => {
            let paths = if paths_together.is_some_and(|share| share >= PATHS_APART) { " to this path" } else { "" };
            match exactly {
                Some(1) => format!("The server works on one request{paths} at a time."),
                Some(exactly) => format!("The server works on {exactly} requests{paths} at once, and on no more."),
                None => format!(
                    "The server answers no more than {} requests{paths} a second, however many ask, though its CPU is idle: as if {} \
                     were worked on at once, or so many were let through a second.",
                    number(*most_per_s),
                    bare(at_once)
                ),
            }
        }
        ServerFault::HeldWorkers { served, .. } => {
            format!("Each open connection holds a worker, of which there are {served}.")
        }
        ServerFault::BlockedLoop { blocked, share, computes, .. } => {
            let who = match share {
                Some(share) if *share < ALL_WAIT => format!("{} of the others wait", percent(share.max(0.0))),
                _ => "all others wait".to_owned(),
            };
            let how = if *computes == Some(true) { "computes for" } else { "works on" };
            format!("While the server {how} one heavy request, {who}: for {}.", time(blocked))
        }
        ServerFault::DelayedAck { quantile, service_us, .. } => format!(
            "{} of the replies take {} or more because their last part waits for the client's delayed acknowledgement.",
            share_above(*quantile),
            duration_us(*service_us)
        ),
        ServerFault::ClosedConnections { .. } => "The server closes the connection after each reply.".to_owned(),
        ServerFault::Stalls { count, in_s, length_s, at_twice_the_rate } => {
            let why = match at_twice_the_rate {
                Some(times) if *times >= STALLS_OF_REQUESTS => ", more often the more requests there are",
                Some(_) => ", as often at twice the rate: something on a timer",
                None => "",
            };
            let times = counted(*count, "time", "times");
            let (of, length) = (elapsed(*in_s), duration_us(length_s * 1e6));
            format!("The server stopped answering {times} in {of} of load, for {length} on average{why}.")
        }
        ServerFault::Growth { suspect, per_request, .. } => grows(*suspect, per_request),
        ServerFault::RoundTrips { round_trips, .. } => format!(
            "A request waits for {} round trips to what is behind the server, one after another.",
            bare(round_trips)
        ),
        ServerFault::Failures { share, connections, .. } => {
            let from = connections.map(|it| format!(", from {} on", counted(it.into(), "connection", "connections")));
            format!("Requests fail: {} of them{}.", value(share), from.unwrap_or_default())
        }
        ServerFault::Unanswered { under, after_s: None, window_s } => {
            format!("The server gives no reply: it was asked for {} ({}).", seconds(*window_s), experiment_words(under))
        }
        ServerFault::Unanswered { under, after_s: Some(after_s), .. } => {
            format!("The server stopped answering after {} of load ({}).", seconds(*after_s), experiment_words(under))
        }
        ServerFault::Died { under, why, .. } => {
            format!("The server ended under load ({}): {}.", experiment_words(under), failed_words(why))
        }
    }
}

fn grows(suspect: Suspect, per_request: &Measured) -> String {
    match suspect {
        Suspect::MemoryGrowth => {
            format!(
                "The memory of the server grew by {} a request; it may keep that, or only not have collected it yet.",
                value(per_request)
            )
        }
        Suspect::ThreadGrowth => {
            format!("The server keeps {} threads or processes for each request.", bare(per_request))
        }
        _ => format!("The server keeps {} files or sockets open for each request.", bare(per_request)),
    }
}

/// A figure whose name stands behind it: `7.3 (6.9 to 7.7)`.
fn bare(of: &Measured) -> String {
    value(&Measured { unit: Unit::None, ..of.clone() })
}

fn value(value: &Measured) -> String {
    measured(value).unwrap_or_else(|| "an unknown number".to_owned())
}

fn time(us: &Measured) -> String {
    let part = |us: Option<f64>| us.map(duration_us).unwrap_or_default();
    format!("{} ({} to {})", part(us.estimate), part(us.low), part(us.high))
}

/// What is to be known of a finding, each under its label.
pub(crate) fn parts(diagnosis: &Diagnosis, found: &Diagnosed) -> Vec<(&'static str, String)> {
    let how = match found.sureness {
        Sureness::Is => ("proved by", proof(&found.fault)),
        Sureness::ConsistentWith => ("not proved", unproved(found.unproved)),
    };
    let all = [
        ("felt as", felt(&found.fault)),
        ("seen", seen(diagnosis, found)),
        how,
        ("ruled out", ruled_out(diagnosis, found)),
        ("overturned by", overturned_by(&found.fault)),
        ("to change", cure(&found.fault)),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

fn felt(fault: &ServerFault) -> String {
    match fault {
        ServerFault::Limit { service_s, most_per_s, waits_s, connections, .. } => format!(
            "beyond {} requests/s they wait in line: a request that takes {} alone takes {} with {}",
            number(*most_per_s),
            duration_us(service_s * 1e6),
            duration_us(waits_s * 1e6),
            counted(u64::from(*connections), "connection", "connections")
        ),
        ServerFault::HeldWorkers { served, connections, .. } => format!(
            "of {connections} clients that keep their connections {} got no reply at all, while the others noticed nothing",
            u64::from(*connections).saturating_sub(*served)
        ),
        ServerFault::Unanswered { .. } => "nothing: they wait".to_owned(),
        ServerFault::BlockedLoop { alone_s, beside_s, .. } => format!(
            "a light request that never took more than {} took up to {} while somebody else made a heavy one",
            duration_us(alone_s * 1e6),
            duration_us(beside_s * 1e6)
        ),
        ServerFault::DelayedAck { quantile, .. } => format!(
            "{} of the replies on connections that are kept are late by some 40 ms, however fast the server is",
            share_above(*quantile).to_lowercase()
        ),
        ServerFault::ClosedConnections { share } => format!(
            "each request pays for a new connection, and over TLS for a handshake ({} of all replies)",
            percent(*share)
        ),
        ServerFault::Stalls { length_s, .. } => {
            format!("now and then everybody waits for {} at the same time", duration_us(length_s * 1e6))
        }
        ServerFault::Growth { suspect: Suspect::MemoryGrowth, per_request, .. } => {
            let million = per_request.estimate.map(|each| bytes(each * 1e6)).unwrap_or_default();
            format!("nothing until the memory is gone: if it goes on like this, after a million requests {million}")
        }
        ServerFault::Growth { .. } => "nothing until a limit is reached, and failures from then on".to_owned(),
        ServerFault::RoundTrips { service_s, slowed_s, delay_s, .. } => {
            upstream_words::felt(*service_s, *slowed_s, *delay_s)
        }
        ServerFault::Failures { how, first_wrong, .. } => {
            let how = how.as_ref().map(|how| format!(": {}", mark_words::failed(how))).unwrap_or_default();
            let wrong = first_wrong.as_ref().map(|wrong| format!("; the first wrong reply: {}", sentence(wrong)));
            format!("errors{how}{}", wrong.unwrap_or_default())
        }
        ServerFault::Died { .. } => "errors".to_owned(),
    }
}

fn seen(diagnosis: &Diagnosis, found: &Diagnosed) -> String {
    if let ServerFault::Died { printed, threads, files, memory_bytes, .. } = &found.fault {
        let had = [
            threads.map(|threads| counted(threads, "thread", "threads")),
            files.map(|files| counted(files, "open file or socket", "open files and sockets")),
            memory_bytes.map(|grown| format!("{} more memory than at rest", bytes(grown as f64))),
        ];
        let had: Vec<String> = had.into_iter().flatten().collect();
        let words = (!printed.is_empty()).then(|| format!("its last words: {printed}"));
        let had = (!had.is_empty()).then(|| format!("it had up to {}", listed(&had)));
        return words.into_iter().chain(had).collect::<Vec<_>>().join("; ");
    }
    let rows = found.shown_by.iter().filter_map(|at| diagnosis.tried.get(*at));
    let rows = rows.map(|row| figure(&found.fault, row));
    rows.chain(upstream_words::asked(&found.fault)).collect::<Vec<_>>().join("; ")
}

/// The figure of an experiment that a finding is about.
fn figure(fault: &ServerFault, row: &Tried) -> String {
    let of = experiment_words(&row.trying.experiment);
    let rate = || row.requests_per_s.map_or("nothing".to_owned(), |rate| format!("{} requests/s", number(rate)));
    let time = |us: Option<f64>| us.map_or("nothing".to_owned(), duration_us);
    let said = match (fault, &row.trying.experiment) {
        (_, Experiment::Burst { .. }) => format!("all answered within {}", time(row.slowest_us)),
        (ServerFault::HeldWorkers { .. }, _) => {
            format!("{} got nothing", row.unserved.map_or("an unknown number".to_owned(), thousands))
        }
        (ServerFault::BlockedLoop { .. }, _) => format!("slowest {}", time(row.slowest_us)),
        (ServerFault::DelayedAck { .. } | ServerFault::ClosedConnections { .. }, _) => {
            format!("{} a reply", time(row.service_us))
        }
        (ServerFault::Growth { suspect: Suspect::MemoryGrowth, .. }, _) => {
            row.grown_bytes.map_or("not known".to_owned(), |grown| format!("{} more", bytes(grown.max(0.0))))
        }
        (ServerFault::Growth { suspect: Suspect::ThreadGrowth, .. }, _) => {
            row.threads.map_or("not known".to_owned(), |threads| counted(threads, "thread", "threads"))
        }
        (ServerFault::Growth { .. }, _) => {
            row.open_files.map_or("not known".to_owned(), |files| counted(files, "open file", "open files"))
        }
        (ServerFault::RoundTrips { .. }, _) => upstream_words::figure(row),
        (ServerFault::Failures { .. }, _) => format!("{} failed", row.failed.map_or("none".to_owned(), percent)),
        _ => rate(),
    };
    format!("{of}: {said}")
}

fn proof(fault: &ServerFault) -> String {
    match fault {
        ServerFault::Limit { at_once, exactly, paths_together, .. } => {
            let is_one = at_once.estimate.is_some_and(|at_once| at_once < 1.5);
            let half = if is_one { "one is served as much" } else { "fewer than the limit are served in proportion" };
            let bursts = exactly.map(|exactly| {
                format!(
                    ". A burst of {exactly} is answered in the time of one request, one of {} takes twice as long",
                    exactly + 1
                )
            });
            let paths = paths_together.map(|share| {
                let how = if share >= PATHS_APART {
                    "the other does not share its limit"
                } else if share <= PATHS_SHARE {
                    "both share one limit"
                } else {
                    "which says neither that they share it nor that they do not"
                };
                format!(". Beside as many connections to the other path, this one is served {} of what it is alone: {how}", percent(share))
            });
            format!(
                "twice and four times as many connections are served no more; {half}; a network that takes longer by as much as \
                 a request changes nothing; again in the opposite order, and after ten seconds of load{}{}",
                bursts.unwrap_or_default(),
                paths.unwrap_or_default()
            )
        }
        ServerFault::HeldWorkers { served, .. } => format!(
            "with twice and four times as many connections just {served} are served; clients that close after each request are \
             all served; again in the opposite order, and after ten seconds of load"
        ),
        ServerFault::BlockedLoop { .. } => "twice as many heavy requests make light ones wait longer (1.3 to 3.5 times) on average; as \
                                            many light ones in the place of the heavy ones change nothing; and again in \
                                            the opposite order"
            .to_owned(),
        ServerFault::DelayedAck { quick_us, .. } => format!(
            "a client that acknowledges at once has its reply after {}; a second connection changes nothing; and again in \
             the opposite order",
            quick_us.map(duration_us).unwrap_or_default()
        ),
        ServerFault::Stalls { at_twice_the_rate: Some(times), .. } => {
            format!(
                "they come at equal distances, which at twice the rate are {} of what they are, in two loads of each",
                percent(1.0 / times)
            )
        }
        ServerFault::Growth { .. } => "one, two and four doses of requests, each on a fresh server, grow it in proportion; a \
                                       server that is hardly asked for some seconds does not grow, or less than a quarter; and again \
                                       after that"
            .to_owned(),
        ServerFault::RoundTrips { .. } => "twice the delay behind the server adds twice as much; the same delay before it adds \
                                           less than half of that; and again in the opposite order"
            .to_owned(),
        ServerFault::ClosedConnections { .. }
        | ServerFault::Failures { .. }
        | ServerFault::Unanswered { .. }
        | ServerFault::Died { .. }
        | ServerFault::Stalls { .. } => "it was seen itself".to_owned(),
    }
}

fn unproved(why: Option<Unproved>) -> String {
    match why {
        Some(Unproved::OutOfTime) => "there was no time left for the proof; give it more with --within".to_owned(),
        Some(Unproved::Void) => "an experiment of the proof was void each time it was made".to_owned(),
        Some(Unproved::Others) => {
            "other programs, or the hypervisor, used the CPUs each time that an experiment of the proof was made; look again \
             when the machine is quiet"
                .to_owned()
        }
        Some(Unproved::Died) => "the server ended too often for the proof".to_owned(),
        Some(Unproved::Unfinished) => "it was stopped before the proof was whole".to_owned(),
        Some(Unproved::Heap) => {
            "it grows in proportion to the requests, and what the system gave to a server is not what it keeps: a heap that is \
             collected grows like this until it is. Its runtime's own figures would tell"
                .to_owned()
        }
        Some(Unproved::NoOverload) => {
            "the proof takes more requests than this server may be sent; --overload allows it".to_owned()
        }
        Some(Unproved::CpuUnseen) => {
            "nobody sees the CPU of a server that runs already, and a full one would look the same; with --run bourdon sees it"
                .to_owned()
        }
        Some(Unproved::NoProof) => "it was seen, and no experiment told what makes it".to_owned(),
        None => String::new(),
    }
}

fn ruled_out(diagnosis: &Diagnosis, found: &Diagnosed) -> String {
    if !matches!(found.fault, ServerFault::Limit { .. }) {
        return String::new();
    }
    let tried = found.shown_by.iter().filter_map(|at| diagnosis.tried.get(*at));
    let is_delayed = |tried: &Tried| matches!(tried.trying.experiment, Experiment::Delayed { .. });
    let all = [
        found.cpus_used.map(|used| format!("the CPU: the server used {} of one at most", percent(used))),
        Some(format!("the generator: it was {} busy at most", percent(found.generator_busy))),
        tried.into_iter().any(is_delayed).then(|| "connections that are kept and hold what works".to_owned()),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn overturned_by(fault: &ServerFault) -> String {
    match fault {
        ServerFault::Limit { .. } => "throughput that grows with the connections beyond the limit",
        ServerFault::HeldWorkers { .. } => "replies to more connections than that while all are kept open",
        ServerFault::BlockedLoop { .. } => "light requests that are as fast beside heavy ones as without",
        ServerFault::DelayedAck { .. } => "replies that are as late to a client that acknowledges at once",
        ServerFault::Growth { .. } => {
            "growth that comes to rest after more requests, as that of a cache that becomes full does"
        }
        ServerFault::Stalls { .. } => "loads as long without any",
        ServerFault::RoundTrips { .. } => "requests that take no longer by more than one delay",
        ServerFault::Unanswered { .. } => "a reply",
        ServerFault::ClosedConnections { .. } | ServerFault::Failures { .. } | ServerFault::Died { .. } => "",
    }
    .to_owned()
}

/// What an experiment is, and what for.
pub(crate) fn trying_words(trying: &Trying) -> String {
    let what = experiment_words(&trying.experiment);
    match &trying.why {
        WhyTried::Proving(suspect) => format!("{what}, to prove or refute {}", suspect_words(*suspect)),
        WhyTried::Telling(told) => {
            let told: Vec<String> =
                told.iter().map(|(suspect, p)| format!("{} ({})", suspect_words(*suspect), percent(*p))).collect();
            format!("{what}, to look for {}", listed(&told))
        }
    }
}

/// Why it ended.
pub(crate) fn end_words(end: DiagnosisEnd) -> &'static str {
    match end {
        DiagnosisEnd::Complete => "no further experiment would tell more",
        DiagnosisEnd::OutOfTime => "further experiments would take longer than it may",
        DiagnosisEnd::Died => "the server ended",
        DiagnosisEnd::NothingMeasured => "nothing was measured",
        DiagnosisEnd::Unfinished => "interrupted",
    }
}

/// How much was tried, how long it took, and why it ended.
pub(crate) fn header(diagnosis: &Diagnosis) -> Vec<String> {
    let ended = end_words(diagnosis.ended);
    let tried = counted(diagnosis.tried.len() as u64, "experiment", "experiments");
    [Some(tried), diagnosis.elapsed_s.map(elapsed), Some(ended.to_owned())].into_iter().flatten().collect()
}
