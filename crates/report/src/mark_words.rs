//! What marks mean, and what shows them.

use model::{
    Arm, Coldness, Elsewhere, FailedRequests, Growth, Mark, MarkCause, MarkNote, Measured, Metric, Reopened,
    SpentElsewhere, Touched, WindowCourse, counted, times,
};

use crate::format::{bytes, decimals, duration_us, kinds, number, percent, seconds, thousands};
use crate::limit_words::{formula, limit_words, long_silence};

/// What a mark means, said once.
pub(crate) fn mark_meaning(mark: Mark) -> &'static str {
    match mark {
        Mark::Generator => "the generator may have been the limit: throughput is at least this",
        Mark::Lateness => {
            "the generator's own lateness is over a tenth of the latency; CPUs of its own, or --spin, lower it"
        }
        Mark::Standstill => "the generator itself stood still for a while, and a part of the latency is its own",
        Mark::Silent => "the server gave no whole reply for half a second or more, and then went on",
        Mark::Hung => "requests never got a whole reply, long after others had theirs",
        Mark::NotDrained => "requests had no whole reply within the time allowed at the end of a slice",
        Mark::Reconnects => {
            "the server ended connections that were to be kept: connecting is part of what was measured"
        }
        Mark::Backlog => "connections opened only after a SYN retransmit: the server's accept queue was probably full",
        Mark::Unserved => {
            "some connections completed nothing, or over 10 % of their time went into requests that outlasted the window, or connecting"
        }
        Mark::Thin => "fewer than 30 completions per connection slot",
        Mark::Spill => {
            "it used CPU during other targets' slices: differences small enough to be caused by that stay undecided"
        }
        Mark::AtCeiling => {
            "throughput is at what the delay allows: servers here cannot be ranked against each other, only shown not to be \
             slower"
        }
        Mark::LowRate => "the rate may be a smaller share of capacity than was asked for",
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

/// What a note says: the figures behind it, and of how many launches.
pub fn note_words(note: &MarkNote) -> String {
    let grew = match &note.cause {
        MarkCause::Growth(growth) => grew(note.mark(), *growth),
        cause => mark_words(cause),
    };
    let launches = note.launches.as_ref().map_or(String::new(), |launches| {
        let worst = if launches.with > 1 && note.cause.size().is_some() { "the worst, " } else { "" };
        format!(" (in {} of {} launches; figures of {worst}{})", launches.with, launches.of, launches.told)
    });
    format!("{}{grew}{launches}", note.arm.map_or(String::new(), |arm| format!("{}: ", arm_words(arm))))
}

/// What shows a mark.
pub(crate) fn mark_words(cause: &MarkCause) -> String {
    match cause {
        MarkCause::Limit(cause) => limit_words(cause),
        MarkCause::Late(figures) => {
            let figures = figures.iter().map(|(metric, us)| format!("{} {}", name(*metric), duration_us(*us)));
            let figures = figures.collect::<Vec<_>>().join(", ");
            format!("over a tenth of {figures} may be the generator's own lateness")
        }
        MarkCause::Touched(touched) => changed(touched),
        MarkCause::Silence(silence) => long_silence(silence),
        MarkCause::Reopened(reopened) => reopened_words(reopened),
        MarkCause::OpenedLate { metric, us } => format!(
            "connecting took {} at {}, as it does when a SYN is dropped and retransmitted: the server's accept queue was \
             probably full; raise its listen backlog and net.core.somaxconn",
            duration_us(*us),
            name(*metric)
        ),
        MarkCause::Unserved { never, connections, served_share, elsewhere } => {
            let (never, of) = (Some(*never).filter(|never| *never > 0), thousands(*connections));
            let never = never.map(|never| format!("{} of {of} connections completed nothing", thousands(never)));
            let share = served_share
                .map(|share| format!("completed requests account for {} of the connections' time", percent(share)))
                .map(|said| said + &elsewhere.map_or(String::new(), elsewhere_words));
            either_or_both(never, share)
        }
        MarkCause::Hung { requests, one_each, oldest_s, slowest_s } => {
            hung_words(*requests, *one_each, [*oldest_s, *slowest_s])
        }
        MarkCause::NotDrained { requests, waited_us } => not_drained_words(*requests, *waited_us),
        MarkCause::CompletionsPerSlot(completions) => {
            format!("{} completions per connection slot", number(*completions))
        }
        MarkCause::LowRate { target, per_s } => base_words(target, *per_s),
        MarkCause::Spill { cpus } => format!("it used {} of a CPU outside its own slices", percent(*cpus)),
        MarkCause::BusyRounds { busy, rounds } => {
            format!("others kept the machine busy in {busy} of {rounds} rounds of slices")
        }
        MarkCause::Ceiling(ceiling) => {
            let (share, most) = (percent(ceiling.per_s / ceiling.most_per_s), number(ceiling.most_per_s));
            format!("{share} of the {most} replies a second that {} allows", formula(ceiling))
        }
        MarkCause::Taken { cpus, steal_share, others_share } => {
            // A small share of many CPUs is much of one.
            let taken = |share: f64| match cpus {
                0..=2 => format!("{} of the CPU time", percent(share)),
                cpus => format!("{} of the time of {cpus} CPUs", percent(share)),
            };
            let stolen = steal_share.map(|share| format!("the hypervisor took {}", taken(share)));
            either_or_both(stolen, others_share.map(|share| format!("other processes used {}", taken(share))))
        }
        MarkCause::Itself(differing) => differing.iter().map(itself).collect::<Vec<_>>().join("; "),
        MarkCause::Cold(cold) => cold_words(*cold),
        MarkCause::Course(course) => format!("{}{}", levels(course), steady(course)),
        MarkCause::Growth(growth) => growth_words(*growth),
        MarkCause::Drift { blocks, p } => format!("throughput over {blocks} blocks, p = {}", decimals(*p, 3)),
        MarkCause::Correlated { blocks, correlation, by_chance, p } => {
            let [correlation, chance] = [*correlation, *by_chance].map(|of| decimals(of, 2));
            let said = format!("lag-1 correlation {correlation} where chance gives {chance}, p = {}", decimals(*p, 3));
            format!("throughput over {blocks} blocks, {said}")
        }
        MarkCause::Failures(failures) => failed(failures),
    }
}

/// What a rate is a share of that the generator held back.
pub(crate) fn base_words(target: &str, per_s: f64) -> String {
    format!(
        "{target} served {} requests/s in the closed load that it is a share of, and the generator may have been the limit",
        number(per_s)
    )
}

fn hung_words(requests: u64, one_each: bool, ages_s: [f64; 2]) -> String {
    let [oldest, slowest] = ages_s.map(|seconds| duration_us(seconds * 1e6));
    let connections = || format!(", one on each of {} connections,", thousands(requests));
    let each = if one_each { connections() } else { String::new() };
    let requests = counted(requests, "request", "requests");
    format!("{requests}{each} never got a whole reply in up to {oldest}; the slowest reply took {slowest}")
}

fn not_drained_words(requests: u64, waited_us: f64) -> String {
    let requests = counted(requests, "request", "requests");
    format!("{requests} had no whole reply {} after the end of a slice", duration_us(waited_us))
}

fn elsewhere_words(SpentElsewhere { what, share }: SpentElsewhere) -> String {
    let what = match what {
        Elsewhere::Connecting => "opening connections",
        Elsewhere::TimedOut => "requests that timed out",
        Elsewhere::Unanswered => "requests without a whole reply",
    };
    format!(", {what} for {}", percent(share))
}

fn either_or_both(one: Option<String>, other: Option<String>) -> String {
    one.into_iter().chain(other).collect::<Vec<_>>().join("; ")
}

/// A latency figure as people write it.
pub(crate) fn name(figure: Metric) -> &'static str {
    if figure == Metric::P999 { "p99.9" } else { figure.id() }
}

fn changed(touched: &Touched) -> String {
    let figure = |figure: &model::TouchedFigure| {
        let us = figure.us.map_or("–".to_owned(), duration_us);
        let least = figure.least_us.map(duration_us);
        let rest = least.map_or(String::new(), |least| format!(" (at least {least} of it not the generator's)"));
        format!("{} {us}{rest}", name(figure.metric))
    };
    let stood = touched.stood.map_or(String::new(), |(count, sum_s)| {
        format!("the generator stood still {}, for {} in all, while ", times(count), duration_us(sum_s * 1e6))
    });
    let (held, of) = (thousands(touched.requests), thousands(touched.scheduled));
    let figures: Vec<String> = touched.figures.iter().map(figure).collect();
    format!("{stood}{held} of {of} requests came due or waited, which changed these figures: {}", figures.join(", "))
}

fn reopened_words(of: &Reopened) -> String {
    let after = match (of.replies as f64 / of.opened as f64).round() {
        each if each <= 1.0 => "each reply".to_owned(),
        each => format!("about {} replies", thousands(each as u64)),
    };
    let how = match of.said < of.idle.saturating_add(of.in_place) {
        false => "",
        true if of.idle < of.in_place => " or in place of one",
        true => ", or while it was idle, without saying so",
    };
    let opened = counted(of.opened, "connection was", "connections were");
    let (replies, kept) = (counted(of.replies, "reply", "replies"), thousands(of.connections.into()));
    format!(
        "the server closed the connection after {after}{how}: {opened} opened for {replies}, where {kept} kept open would do"
    )
}

fn itself((target, metric, ratio): &(String, Metric, Measured)) -> String {
    let [ratio, low, high] = [ratio.estimate, ratio.low, ratio.high].map(|value| value.map_or("–".to_owned(), number));
    format!("{target} against itself, {metric}: {ratio} ({low} to {high})")
}

/// How cold a server was.
pub(crate) fn cold_words(cold: Coldness) -> String {
    match cold {
        Coldness::FasterBy { share, low, high } => {
            let [faster, low, high] = [share, low, high].map(percent);
            format!("{faster} faster in the second half of the window than in the first ({low} to {high})")
        }
        Coldness::WarmUp { given_s, needed_s } => {
            format!("{} of load before the window, of the {} that it needs", seconds(given_s), seconds(needed_s))
        }
    }
}

/// The levels that were seen in a window.
pub(crate) fn levels(course: &WindowCourse) -> String {
    let (unit, of_us) = match course.metric {
        Metric::P99 => ("ms of p99", 1e3),
        Metric::CpuPerRequest => ("µs of CPU a request", 1.0),
        _ => ("requests/s", 1.0),
    };
    // Slices begin within seconds.
    let tenths = |seconds: f64| (seconds * 10.0).round() / 10.0;
    let level = |(from_s, mean): &(f64, f64)| format!("{} from second {}", number(mean / of_us), tenths(*from_s));
    format!("{unit}: {}", course.levels.iter().map(level).collect::<Vec<_>>().join(", "))
}

fn steady(course: &WindowCourse) -> String {
    course.steady_from_s.map_or(String::new(), |from_s| {
        let share = percent(from_s / course.window_s);
        format!("; steady after {share} of the window: {} more of warm-up would leave that out", seconds(from_s))
    })
}

fn grew(mark: Mark, of: Growth) -> String {
    let end = if mark == Mark::Growing { "had not levelled off" } else { "levelled off" };
    let each = of.bytes_per_request.map_or(String::new(), |each| format!(", {} a request", bytes(each)));
    format!("memory grew by {} over the window{each}, and {end}", bytes(of.bytes as f64))
}

/// `by 22.0 MiB, 4.1 KiB a request`.
pub(crate) fn growth_words(of: Growth) -> String {
    let each = of.bytes_per_request.map_or(String::new(), |each| format!(", {} a request", bytes(each)));
    format!("by {}{each}", bytes(of.bytes as f64))
}

pub(crate) fn failed(of: &FailedRequests) -> String {
    let all = model::sum(of.not_sent.values().chain(of.failed.values()).copied().chain([of.bad_status, of.bad_body]));
    let wrong = [("with a wrong status", of.bad_status), ("with a wrong body", of.bad_body)];
    let parts = [kinds(&of.not_sent), kinds(&of.failed), kinds(wrong)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let share = percent(all as f64 / of.scheduled.max(1) as f64);
    format!("{share} of {} requests: {}", thousands(of.scheduled), parts.join(", "))
}

/// Which of two servers.
pub(crate) fn arm_words(arm: Arm) -> &'static str {
    match arm {
        Arm::Old => "old",
        Arm::New => "new",
    }
}
