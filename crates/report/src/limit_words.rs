//! What bounded a load, in words.

use model::{
    Answered, AtOnce, DelayCeiling, Hanging, LimitCause, LongSilence, NoReply, NoReplySeen, Shortfall, ThreadNeed,
    counted, times,
};

use crate::format::{duration_us, kinds, number, percent, thousands};

/// What bounded a load.
pub(crate) fn limit_words(cause: &LimitCause) -> String {
    match cause {
        LimitCause::NothingRight { bad_status, bad_body } => {
            let wrong = [("with a wrong status", *bad_status), ("with a wrong body", *bad_body)];
            format!("no reply was right: {}", kinds(wrong))
        }
        LimitCause::NothingDue { window_s } => {
            format!("no request was due in the window of {}, so nothing was measured", duration_us(window_s * 1e6))
        }
        LimitCause::NoReply(found) => no_reply(found),
        LimitCause::AtLeast(short) => {
            let why = match short {
                Shortfall::Attainable(per_s) => {
                    format!("calibration gives this generator {} requests a second", number(*per_s))
                }
                short => shortfall(short),
            };
            format!("{why}: the server does at least this")
        }
        LimitCause::Blind(short) => shortfall(short),
        LimitCause::Ceiling(ceiling) => at_ceiling(ceiling),
        LimitCause::TargetBusy(busy) => {
            format!("the target's CPUs were {} busy: they were the limit", percent(*busy))
        }
        LimitCause::ServerBound { generator, connections, answered, shared_cpus } => {
            let connections = counted((*connections).into(), "connection", "connections");
            let limit = server_bound(*answered, *shared_cpus, &connections);
            format!("the generator {}: {limit}", busy(generator))
        }
        LimitCause::RateMissed { rate_per_s, sent, scheduled, why } => {
            let (rate, sent, of) = (number(*rate_per_s), thousands(*sent), thousands(*scheduled));
            let why = shortfall(why);
            format!("the rate of {rate} a second was not reached ({sent} of {of} requests were sent): {why}")
        }
        LimitCause::RateSent { .. } => rate_sent(cause),
        LimitCause::Stopped { rate_per_s, not_sent } => {
            let (rate, not_sent) = (number(*rate_per_s), kinds(not_sent));
            format!("the server stopped answering (never sent, of {rate} requests a second: {not_sent})")
        }
        LimitCause::Behind { rate_per_s, not_sent, generator, at_once } => {
            let whose = if at_once.is_some() { "the server, or the connections to it," } else { "the server" };
            let too_few = at_once.as_ref().map_or(String::new(), too_few);
            format!(
                "{whose} did not keep up with {} a second (never sent: {}) while the generator {}; what waited is in the \
                 response percentiles{too_few}",
                number(*rate_per_s),
                kinds(not_sent),
                busy(generator)
            )
        }
        LimitCause::Silence(silence) => long_silence(silence),
        LimitCause::Interrupted { after_s: 0.0 } => {
            "the load was stopped in its warm-up: nothing was measured".to_owned()
        }
        LimitCause::Interrupted { .. } => "the load was stopped before its end".to_owned(),
    }
}

fn server_bound(answered: Answered, shared_cpus: bool, connections: &str) -> String {
    let limit = match (answered, shared_cpus) {
        (Answered::Always, false) => return format!("the server (or the {connections}) was the limit"),
        (Answered::Always, true) => {
            return format!("the limit was the server, the {connections}, or CPUs that others use too");
        }
        (Answered::ToAPoint, false) => "the server was the limit, until it stopped answering",
        (Answered::WithGaps, false) => "the server was the limit, which was silent meanwhile",
        (Answered::ToAPoint, true) => {
            "until the server stopped answering, it was the limit, or CPUs that others use too"
        }
        (Answered::WithGaps, true) => {
            "the limit was the server, which was silent meanwhile, or CPUs that others use too"
        }
    };
    limit.to_owned()
}

fn no_reply(found: &NoReply) -> String {
    let awaited = kinds([("still awaited at the end", found.awaited)]);
    let parts = [kinds(&found.not_sent), kinds(&found.failed), awaited];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    // The books are about what was due in the window alone.
    let failures = match found.sent_before {
        _ if !parts.is_empty() => parts.join(", "),
        0 => "none was sent".to_owned(),
        sent => {
            let requests = counted(sent, "request", "requests");
            format!("none was due in the window, and none of the {requests} sent in the warm-up was answered in it")
        }
    };
    let seen = match &found.seen {
        None => String::new(),
        Some(NoReplySeen::TlsFailed(failed)) => format!("; TLS failed: {}", failed.why),
        Some(NoReplySeen::NoHandshake) => "; connections opened, but no TLS handshake completed".to_owned(),
        Some(NoReplySeen::HungUp) => "; the server ends each connection without a reply".to_owned(),
        Some(NoReplySeen::NoConnections) => "; this machine could not open the connections".to_owned(),
        Some(NoReplySeen::AnsweredBefore { replies, until_s }) => {
            let requests = counted(*replies, "request", "requests");
            let until = if *until_s > 0.0 { duration_us(until_s * 1e6) } else { "less than a second".to_owned() };
            format!("; the server answered {requests} in the warm-up, until {until} before the window")
        }
    };
    let Some(Hanging { requests, one_each }) = found.hanging else {
        return format!("no request got a complete reply: {failures}{seen}");
    };
    let (each, have) =
        (if one_each { ", one on each connection," } else { "" }, if requests == 1 { "has" } else { "have" });
    let waiting = counted(requests, "request", "requests");
    format!(
        "no whole reply came in the window: {waiting}{each} {have} had none since the warm-up, and kept every other from being \
         sent{seen}"
    )
}

fn shortfall(short: &Shortfall) -> String {
    match short {
        Shortfall::StoodStill { for_s, window_s } => {
            let [stood, window] = [for_s, window_s].map(|seconds| duration_us(seconds * 1e6));
            format!("the generator itself stood still for {stood} of a window of {window}")
        }
        Shortfall::Thread(needy) => format!("generator thread {} {}", needy.thread, busy(needy)),
        Shortfall::Attainable(per_s) => {
            format!("a generator with its CPUs cannot send more than {} a second", number(*per_s))
        }
        Shortfall::Lacking(lacking) => {
            let all = thousands(model::sum(lacking.values().copied()));
            format!("this machine could not send {all} requests ({})", kinds(lacking))
        }
        Shortfall::HeldUp(held) => {
            format!("the generator itself stood still when {} of them came due", thousands(*held))
        }
        Shortfall::TooLate(late) => format!("the generator itself was too late for {} of them", thousands(*late)),
        Shortfall::Late(share) => format!("the generator itself sent {} of them late", percent(*share)),
    }
}

fn busy(needy: &ThreadNeed) -> String {
    let busy = format!("was {} busy", percent(needy.busy));
    if !needy.waited || needy.starved == 0.0 {
        return busy;
    }
    format!("{busy} and waited for a CPU for {} of the time", percent(needy.starved))
}

fn rate_sent(cause: &LimitCause) -> String {
    let LimitCause::RateSent { rate_per_s, generator, too_late, late_share, waited_share, trusted_per_s } = cause
    else {
        return String::new();
    };
    let too_late = match too_late {
        0 => String::new(),
        late => format!("; for {} it was too late at the end", counted(*late, "request", "requests")),
    };
    let of = |share: &Option<f64>, words: &str| {
        share.map_or(String::new(), |share| format!("; {} of the requests {words}", percent(share)))
    };
    let held_up = of(late_share, "left more than 1 ms late, held up by the generator");
    let waited = of(waited_share, "waited for a connection");
    let above = trusted_per_s.map_or(String::new(), |trusted| {
        format!("; calibration trusts this generator up to {} a second only", number(trusted))
    });
    let (rate, busy) = (number(*rate_per_s), busy(generator));
    format!("the rate of {rate} a second was sent; the generator {busy}{too_late}{held_up}{waited}{above}")
}

fn too_few(of: &AtOnce) -> String {
    format!(
        "; at {} a request this rate needs {} requests at once, and the connections allow {}: try more connections",
        duration_us(of.service_us),
        thousands(of.needed),
        thousands(of.allowed)
    )
}

fn at_ceiling(ceiling: &DelayCeiling) -> String {
    let delay = match (ceiling.handler_delay_s > 0.0, ceiling.network_delay_s > 0.0) {
        _ if ceiling.backend_workers.is_some() => "backend",
        (true, true) => "delay of handler and network",
        (false, true) => "network delay",
        _ => "handler delay",
    };
    let (rate, most) = (number(ceiling.per_s), number(ceiling.most_per_s));
    format!("{rate} replies a second, and {} allows {most}: the {delay} was the limit", formula(ceiling))
}

/// How a ceiling is reckoned.
pub(crate) fn formula(ceiling: &DelayCeiling) -> &'static str {
    match ceiling.backend_workers {
        Some(_) => "the backend's workers ÷ its delay",
        None if ceiling.network_delay_s > 0.0 => "N ÷ (S + network delay)",
        None => "N ÷ S",
    }
}

/// When a server gave no reply, and how long.
pub(crate) fn long_silence(silence: &LongSilence) -> String {
    let moment = |at_s: Option<f64>, edge: &str| at_s.map_or(edge.to_owned(), |at_s| duration_us(at_s * 1e6));
    let (from, until) = (moment(silence.from_s, "the beginning"), moment(silence.until_s, "the end"));
    let at_least = if silence.at_least { "at least " } else { "" };
    let others = match silence.others {
        0 => String::new(),
        1 => ", and once more for half a second or longer".to_owned(),
        more => format!(", and {} more for half a second or longer", times(more)),
    };
    let length = duration_us(silence.length_s * 1e6);
    format!("the server gave no whole reply for {at_least}{length}, from {from} to {until} of the window{others}")
}
