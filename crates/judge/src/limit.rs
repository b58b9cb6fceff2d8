//! What bounded the throughput of a load, and whether the instrument vouches for it.

use model::{
    Code, Cure, Failure, LateCause, LimitCode, Mark, Measurement, NotSent, Observation, Reason, Side, Standstills,
    Verdict, sum,
};

use crate::asked::{Asked, completions_per_s};
use crate::before;
use crate::figures::{count, counted, figure, kinds, micros, percent};
use crate::silence::Answered;
use crate::thresholds::{
    AT_CEILING, GENERATOR_BUSY, OWN_SHORTAGE, RATE_LATE, RATE_SENT, RECONNECTS, STANDSTILL_LEAST_S, STANDSTILL_SHARE,
    STARVED, TARGET_BUSY,
};

/// What bounded a load. `verdict` is about the throughput alone; broken invariants are not its matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Whether the throughput is the server's, a lower bound, or nobody's.
    pub(crate) verdict: Verdict,
    /// The limit, with its figures.
    pub(crate) reason: Reason,
}

impl Limit {
    fn new(verdict: Verdict, code: impl Into<Code>, text: String) -> Self {
        Limit { verdict, reason: Reason::new(code, text) }
    }

    fn with(self, cure: Option<Cure>) -> Self {
        Limit { reason: Reason { cure, ..self.reason }, ..self }
    }
}

/// Finds what bounded the load; `observed` is the target, where it was watched.
pub(crate) fn find(asked: &Asked<'_>, measured: &Measurement, observed: Option<&Observation>) -> Limit {
    match asked.load.rate_per_s() {
        _ if nothing_right(measured) => {
            let text = format!("no reply was right: {}", wrong(measured));
            Limit::new(Verdict::Valid, LimitCode::NothingRight, text)
        }
        _ if asked.nothing_due(measured) => {
            let window = micros(measured.window_s * 1e6);
            let text = format!("no request was due in the window of {window}, so nothing was measured");
            Limit::new(Verdict::Void, LimitCode::NothingDue, text).with(Some(Cure::LongerWindow))
        }
        None => of_closed(asked, measured, observed),
        Some(rate_per_s) => of_open(asked, measured, rate_per_s),
    }
}

/// Whether no reply was completed, in the window or in the books.
pub(crate) fn nothing_completed(measured: &Measurement) -> bool {
    measured.in_window.completed == 0 && measured.accounting.completed == 0
}

/// Whether replies came and not one was right: how fast a server answers wrongly has no limit worth the name.
fn nothing_right(measured: &Measurement) -> bool {
    measured.in_window.ok == 0 && measured.accounting.ok == 0 && !nothing_completed(measured)
}

fn wrong(measured: &Measurement) -> String {
    let books = &measured.accounting;
    kinds([("with a wrong status", books.bad_status), ("with a wrong body", books.bad_body)])
}

/// Everything that kept requests from a reply, in words.
fn failures(measured: &Measurement) -> String {
    let books = &measured.accounting;
    let not_sent = kinds(books.not_sent.iter().map(|(kind, number)| (*kind, *number)));
    let failed = kinds(books.failed.iter().map(|(kind, number)| (*kind, *number)));
    let awaited = kinds([("still awaited at the end", books.in_flight_at_end)]);
    let parts: Vec<String> = [not_sent, failed, awaited].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { before::none_due(measured) } else { parts.join(", ") }
}

fn no_reply(asked: &Asked<'_>, measured: &Measurement) -> Limit {
    let never_connected = measured.connections.opened == 0;
    let (seen, cure) = match measured.tls.as_ref().and_then(|tls| tls.first_failure.as_ref()) {
        Some(why) => (format!("; TLS failed: {why}"), None),
        None if never_connected && measured.tls.is_some() && measured.latency_us.connect.is_some() => {
            ("; it was connected to, and no TLS handshake came to its end".to_owned(), None)
        }
        None if measured.tls.is_none() && hung_up(measured) => {
            ("; the server ends each connection without a reply".to_owned(), Some(Cure::TryTls))
        }
        None if never_connected && shortage_of(measured) > 0 => {
            ("; this machine could not open the connections".to_owned(), None)
        }
        None => (before::answered(measured), never_connected.then_some(Cure::StartServer)),
    };
    let text = match before::hanging(asked, measured) {
        Some(hanging) => format!("no reply came in the window: {hanging}{seen}"),
        None => format!("no request got a complete reply: {}{seen}", failures(measured)),
    };
    Limit::new(Verdict::Valid, LimitCode::NoReply, text).with(cure)
}

/// Whether the server took every request and hung up, as one does that waits for TLS.
fn hung_up(measured: &Measurement) -> bool {
    let books = &measured.accounting;
    let ends = [Failure::ClosedBeforeReply, Failure::ResetBeforeReply].map(|kind| books.failed.get(&kind).copied());
    books.sent > 0 && sum(ends.into_iter().flatten()) == books.sent
}

fn of_closed(asked: &Asked<'_>, measured: &Measurement, observed: Option<&Observation>) -> Limit {
    let target_busy = observed.map_or(0.0, Observation::busy);
    let ceiling = asked.ceiling_per_s().filter(|most| completions_per_s(measured) > AT_CEILING * most);
    if let Some(words) = blinding_standstill(measured) {
        // Nothing at all is no lower bound worth the name.
        let limit = match nothing_completed(measured) {
            true => Limit::new(Verdict::Void, LimitCode::GeneratorStalled, words),
            false => {
                let text = format!("{words}: the server does at least this");
                Limit::new(Verdict::AtLeast, LimitCode::GeneratorStalled, text)
            }
        };
        limit.with(Some(Cure::OwnCpus))
    } else if nothing_completed(measured) {
        no_reply(asked, measured)
    } else if let Some(most) = ceiling {
        let rate = figure(completions_per_s(measured));
        let (formula, delay) = (asked.ceiling_formula(), asked.delay_words());
        let text = format!("{rate} replies a second, and {formula} allows {}: the {delay} was the limit", figure(most));
        Limit::new(Verdict::Valid, Mark::AtCeiling, text)
    } else if target_busy >= TARGET_BUSY {
        let text = format!("the target's CPUs were {} busy: they were the limit", percent(target_busy));
        Limit::new(Verdict::Valid, LimitCode::TargetCpu, text)
    } else {
        generator_limit(asked, measured).unwrap_or_else(|| server_bound(asked, measured))
    }
}

/// How long the generator stood still, if that was much of the window: what was served then is not known.
pub(crate) fn standstill(measured: &Measurement) -> Option<String> {
    let sum_s = measured.stood_still_s();
    let least_s = (STANDSTILL_SHARE * measured.window_s).max(STANDSTILL_LEAST_S);
    let [stood, window] = [sum_s, measured.window_s].map(|seconds| micros(seconds * 1e6));
    (sum_s > least_s).then(|| format!("the generator itself stood still for {stood} of a window of {window}"))
}

/// The same where it may be why so little is known of the server. Not where nothing came back and the server was seen to refuse
/// it: that is the server's.
pub(crate) fn blinding_standstill(measured: &Measurement) -> Option<String> {
    let is_seen = nothing_completed(measured) && measured.accounting.failures() > 0;
    standstill(measured).filter(|_| !is_seen)
}

/// The most that a closed load would have come to without its generator's limit, as a share of what it did, by what was said
/// to be the limit. While a generator thread sleeps, all its requests are the server's, which works on them; so of the
/// window at least the share in which it slept was the server's, and what it did in all of it, it could have done in that.
/// A generator that stood still held nothing back in the rest of the window. What it could not send has no such bound.
pub(crate) fn most_without_the_generator(limit: &Reason, measured: &Measurement) -> f64 {
    let held_back = match limit.code {
        Code::LimitCode(LimitCode::GeneratorStalled) => measured.stood_still_s() / measured.window_s,
        _ if own_shortage(measured).is_none() => Needy::of(measured).share(),
        _ => 1.0,
    };
    1.0 / (1.0 - held_back).max(0.0)
}

/// Whether a generator was seen to do so much more for another server under the same load that it was not the limit of this
/// one. Where it waits longer for a CPU, or has longer replies to read, it can do less. Connections that are opened anew are
/// work of their own, and what it cannot send has other reasons.
pub(crate) fn did_more(of: &Measurement, other: &Measurement) -> bool {
    let awake = |of: &Measurement| (1.0 - Needy::of(of).starved).max(0.0);
    let reply_bytes = |of: &Measurement| of.in_window.ok_bytes as f64 / of.in_window.ok.max(1) as f64;
    let opened = |of: &Measurement| of.connections.opened as f64 / of.in_window.completed.max(1) as f64;
    let longer = (reply_bytes(of) / reply_bytes(other).max(1.0)).max(1.0);
    let able_per_s = completions_per_s(other) * (awake(of) / awake(other)).min(1.0) / longer;
    let is_alike = opened(of) <= opened(other) + RECONNECTS && own_shortage(of).is_none();
    is_alike && standstill(of).is_none() && completions_per_s(of) < GENERATOR_BUSY * able_per_s
}

fn server_bound(asked: &Asked<'_>, measured: &Measurement) -> Limit {
    let needy = Needy::of(measured);
    let (busy, connections) = (needy.words(), counted(asked.load.connections.into(), "connection", "connections"));
    let is_alone = needy.starved < STARVED;
    let limit = match Answered::of(measured) {
        Answered::ToAPoint if is_alone => "the server was the limit, until it stopped answering".to_owned(),
        Answered::WithGaps if is_alone => "the server was the limit, which was silent meanwhile".to_owned(),
        Answered::Always if is_alone => format!("the server (or the {connections}) was the limit"),
        Answered::ToAPoint => {
            "until the server stopped answering, it was the limit, or CPUs that others use too".to_owned()
        }
        Answered::WithGaps => {
            "the limit was the server, which was silent meanwhile, or CPUs that others use too".to_owned()
        }
        Answered::Always => format!("the limit was the server, the {connections}, or CPUs that others use too"),
    };
    Limit::new(Verdict::Valid, LimitCode::ServerBound, format!("the generator {busy}: {limit}"))
}

/// The closed model's generator as the limit, if it may have been.
fn generator_limit(asked: &Asked<'_>, measured: &Measurement) -> Option<Limit> {
    let needy = Needy::of(measured);
    let attainable = asked.attainable_per_s(measured);
    let cure = needy.cure(measured);
    let (words, cure) = if needy.share() >= GENERATOR_BUSY {
        (format!("generator thread {} {}", needy.at, needy.words()), cure)
    } else if completions_per_s(measured) >= GENERATOR_BUSY * attainable {
        (format!("calibration gives this generator {} requests a second", figure(attainable)), cure)
    } else {
        (own_shortage(measured)?, Some(Cure::MorePortsOrFiles))
    };
    let text = format!("{words}: the server does at least this");
    Some(Limit::new(Verdict::AtLeast, Mark::Generator, text).with(cure))
}

/// The generator thread that needed most of a CPU. One that waits for a CPU is not idle: it is starved.
struct Needy {
    /// From 1.
    at: usize,
    busy: f64,
    starved: f64,
}

impl Needy {
    fn of(measured: &Measurement) -> Self {
        let beside = measured.generator.network_delay.as_ref().map_or(0.0, |proxy| proxy.busy());
        let of = |(index, thread): (usize, &model::ThreadUse)| Needy {
            at: index + 1,
            busy: (thread.busy() + beside).min(1.0),
            starved: thread.starved(),
        };
        let threads = measured.generator.threads.iter().enumerate().map(of);
        let neediest = threads.reduce(|most, it| if it.share() > most.share() { it } else { most });
        neediest.unwrap_or(Needy { at: 1, busy: beside, starved: 0.0 })
    }

    /// Share of the window for which it was busy or waited for a CPU.
    fn share(&self) -> f64 {
        (self.busy + self.starved).min(1.0)
    }

    /// Whether it would have been below the limit with a CPU of its own.
    fn is_starved(&self) -> bool {
        self.busy < GENERATOR_BUSY && self.share() >= GENERATOR_BUSY
    }

    fn words(&self) -> String {
        let busy = format!("was {} busy", percent(self.busy));
        // Below a hundredth it explains nothing.
        if self.starved < 0.01 {
            return busy;
        }
        format!("{busy} and waited for a CPU for {} of the time", percent(self.starved))
    }

    fn cure(&self, measured: &Measurement) -> Option<Cure> {
        match Answered::of(measured) {
            _ if self.is_starved() => Some(Cure::OwnCpus),
            Answered::Always => Some(Cure::MoreThreads),
            Answered::WithGaps | Answered::ToAPoint => None,
        }
    }
}

/// What the generator's own machine lacked in a closed load, if that was much of it. A connection that it cannot open is
/// tried anew ever more seldom: where connections served nothing and more attempts than these failed for want of something
/// here, few attempts stand for all that they would have sent.
fn own_shortage(measured: &Measurement) -> Option<String> {
    let never = measured.connections.never_served;
    let again = never > 0 && shortage_of(measured) > never;
    shortage(measured, if again { 0.0 } else { OWN_SHORTAGE })
}

/// Requests that could not be sent for want of something on the generator's own machine.
fn shortage_of(measured: &Measurement) -> u64 {
    sum(own_kinds(measured).map(|(_, number)| number))
}

fn own_kinds(measured: &Measurement) -> impl Iterator<Item = (NotSent, u64)> {
    let is_ours = |kind: NotSent| kind.side() == Side::Us && !kind.is_at_end();
    measured.accounting.not_sent.iter().filter(move |(kind, _)| is_ours(**kind)).map(|(kind, number)| (*kind, *number))
}

/// What the generator's own machine lacked, if that kept more than `share` of the requests from being sent.
fn shortage(measured: &Measurement, share: f64) -> Option<String> {
    let lacking = shortage_of(measured);
    (lacking as f64 > share * measured.accounting.scheduled as f64)
        .then(|| format!("this machine could not send {} requests ({})", count(lacking), kinds(own_kinds(measured))))
}

fn of_open(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Limit {
    if let Some(words) = blinding_standstill(measured) {
        return Limit::new(Verdict::Void, LimitCode::GeneratorStalled, words).with(Some(Cure::OwnCpus));
    }
    let books = &measured.accounting;
    // What was sent late was measured from its time: lateness is a mark, and only what never left voids. A few for which
    // the generator was too late at the end are its own, and too few to void.
    let too_late = not_sent(measured, NotSent::LateAtEnd);
    let tolerated = if too_late as f64 <= RATE_LATE * books.scheduled as f64 { too_late } else { 0 };
    let missed = (books.sent.saturating_add(tolerated) as f64) < RATE_SENT * books.scheduled as f64;
    if !missed {
        return if nothing_completed(measured) {
            no_reply(asked, measured)
        } else {
            rate_reached(asked, measured, rate_per_s)
        };
    }
    if let Some((blame, cure)) = blame(asked, measured, rate_per_s) {
        let sent = format!("{} of {} requests were sent", count(books.sent), count(books.scheduled));
        let text = format!("the rate of {} a second was not reached ({sent}): {blame}", figure(rate_per_s));
        return Limit::new(Verdict::Void, LimitCode::RateNotReached, text).with(cure);
    }
    if nothing_completed(measured) { no_reply(asked, measured) } else { server_behind(asked, measured, rate_per_s) }
}

/// What the generator did to miss the rate, and what would mend it; none when it was the server's doing.
fn blame(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Option<(String, Option<Cure>)> {
    let short = shortage(measured, 1.0 - RATE_SENT);
    if short.is_some() || refused(measured) {
        return short.map(|words| (words, Some(Cure::MorePortsOrFiles)));
    }
    let late = late_share(measured, LateCause::Generator);
    let attainable = asked.attainable_per_s(measured);
    let needy = Needy::of(measured);
    let held_up = held_up(measured, rate_per_s);
    let too_late = not_sent(measured, NotSent::LateAtEnd);
    let missing = measured.accounting.scheduled.saturating_sub(measured.accounting.sent);
    let own_cpus = |words: String| Some((words, Some(Cure::OwnCpus)));
    if rate_per_s > attainable {
        Some((format!("a generator with its CPUs cannot send more than {} a second", figure(attainable)), None))
    } else if needy.share() >= GENERATOR_BUSY {
        Some((format!("generator thread {} {}", needy.at, needy.words()), needy.cure(measured)))
    } else if 2 * held_up > missing {
        own_cpus(format!("the generator itself stood still when {} of them came due", count(held_up)))
    } else if too_late.saturating_mul(2) > missing {
        own_cpus(format!("the generator itself was too late for {} of them", count(too_late)))
    } else if late > RATE_LATE && 2.0 * late * measured.accounting.scheduled as f64 > missing as f64 {
        // A few that left late are no reason for many that never left.
        own_cpus(format!("the generator itself sent {} of them late", percent(late)))
    } else {
        None
    }
}

/// How many of the requests that never left the generator's standstills explain: what came due in them, and as many again
/// that waited behind these.
fn held_up(measured: &Measurement, rate_per_s: f64) -> u64 {
    let most = |stood: &Standstills| (2.0 * stood.sum_s * rate_per_s).ceil() as u64;
    measured.standstills.as_ref().map_or(0, |stood| stood.never_sent.min(most(stood)))
}

/// Whether the server refused what was not sent: nothing left, or all that is missing met a refusal.
fn refused(measured: &Measurement) -> bool {
    let books = &measured.accounting;
    let refusals = not_sent(measured, NotSent::Refused);
    // Pauses between attempts follow from refusals.
    let without_attempt = not_sent(measured, NotSent::TurnedAwayAtEnd);
    let missing_for_other_reasons = books.scheduled.saturating_sub(sum([books.sent, refusals, without_attempt]));
    let explained = missing_for_other_reasons as f64 <= (1.0 - RATE_SENT) * books.scheduled as f64;
    refusals > 0 && (books.sent == 0 || (explained && late_share(measured, LateCause::Generator) <= RATE_LATE))
}

fn not_sent(measured: &Measurement, kind: NotSent) -> u64 {
    measured.accounting.not_sent.get(&kind).copied().unwrap_or(0)
}

fn late_share(measured: &Measurement, cause: LateCause) -> f64 {
    let books = &measured.accounting;
    let late = books.sent_late.get(&cause).copied().unwrap_or(0);
    if books.scheduled == 0 { 0.0 } else { late as f64 / books.scheduled as f64 }
}

fn rate_reached(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Limit {
    let late = |cause, words: &str| match late_share(measured, cause) {
        share if share > RATE_LATE => format!("; {} of the requests {words}", percent(share)),
        _ => String::new(),
    };
    let held_up = late(LateCause::Generator, "left more than 1 ms late, held up by the generator");
    let waited = late(LateCause::NoConnection, "waited for a connection");
    let above = match asked.trusted_rate_per_s(measured) {
        Some(trusted) if rate_per_s > trusted => {
            format!("; calibration trusts this generator up to {} a second only", figure(trusted))
        }
        _ => String::new(),
    };
    let busy = Needy::of(measured).words();
    let rate = figure(rate_per_s);
    let unsent = match not_sent(measured, NotSent::LateAtEnd) {
        0 => String::new(),
        late => format!("; for {} it was too late at the end", counted(late, "request", "requests")),
    };
    let text = format!("the rate of {rate} a second was sent; the generator {busy}{unsent}{held_up}{waited}{above}");
    Limit::new(Verdict::Valid, LimitCode::RateReached, text)
}

/// The server fell behind, or it was never asked for so much: N requests at once that take S each are N ÷ S a second at
/// most (Little 1961).
fn server_behind(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Limit {
    let busy = Needy::of(measured).words();
    let not_sent = kinds(measured.accounting.not_sent.iter().map(|(kind, number)| (*kind, *number)));
    let (rate, answered) = (figure(rate_per_s), Answered::of(measured));
    if answered == Answered::ToAPoint {
        let text = format!("the server stopped answering (never sent, of {rate} requests a second: {not_sent})");
        return Limit::new(Verdict::Valid, LimitCode::ServerBehind, text);
    }
    let at_once = asked.load.slots();
    let service_us = measured.latency_us.service.as_ref().and_then(|service| service.mean);
    let too_few = service_us.filter(|us| answered == Answered::Always && rate_per_s * us / 1e6 > at_once);
    let too_few = too_few.map_or(String::new(), |us| {
        format!(
            "; with the {} that a request took, so many a second need {} requests at once, and the connections allow {}: \
             with more of them it is seen whether the server was the limit",
            micros(us),
            count((rate_per_s * us / 1e6).ceil() as u64),
            count(at_once as u64)
        )
    });
    let whose = if too_few.is_empty() { "the server" } else { "the server, or the connections to it," };
    let text = format!(
        "{whose} did not keep up with {rate} a second (never sent: {not_sent}) while the generator {busy}; \
         what waited is in the response percentiles{too_few}"
    );
    Limit::new(Verdict::Valid, LimitCode::ServerBehind, text)
}
