//! What bounded the throughput of a load, and whether the instrument vouches for it.

use model::{
    Answered, AtOnce, Code, Cure, Failure, LateCause, LimitCause, LimitCode, Measurement, NoReply, NoReplySeen,
    NotSent, Observation, Reason, Shortfall, Side, Standstills, ThreadNeed, TlsFailed, TlsUse, Verdict, sum,
};

use crate::asked::{Asked, completions_per_s};
use crate::before;
use crate::silence::answered;
use crate::thresholds::{
    GENERATOR_BUSY, OWN_SHORTAGE, RATE_LATE, RATE_SENT, RECONNECTS, STANDSTILL_LEAST_S, STANDSTILL_SHARE, STARVED,
    TARGET_BUSY, WAITED,
};

/// What bounded a load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit {
    /// The limit, with its figures.
    pub(crate) cause: LimitCause,
    /// What would mend it.
    pub(crate) cure: Option<Cure>,
}

impl Limit {
    /// Whether the throughput is the server's, a lower bound, or nobody's; broken invariants are not its matter.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.cause {
            LimitCause::AtLeast(_) => Verdict::AtLeast,
            LimitCause::Blind(_) | LimitCause::NothingDue { .. } | LimitCause::RateMissed { .. } => Verdict::Void,
            _ => Verdict::Valid,
        }
    }

    /// The same as a reason.
    pub(crate) fn reason(self) -> Reason {
        Reason::from(self.cause).with_cure(self.cure)
    }
}

impl From<LimitCause> for Limit {
    fn from(cause: LimitCause) -> Self {
        Limit { cause, cure: None }
    }
}

/// Finds what bounded the load; `observed` is the target, where it was watched.
pub(crate) fn find(asked: &Asked<'_>, measured: &Measurement, observed: Option<&Observation>) -> Limit {
    let books = &measured.accounting;
    match asked.load.rate_per_s() {
        _ if nothing_right(measured) => {
            LimitCause::NothingRight { bad_status: books.bad_status, bad_body: books.bad_body }.into()
        }
        _ if asked.nothing_due(measured) => {
            let cause = LimitCause::NothingDue { window_s: measured.window_s };
            Limit { cause, cure: Some(Cure::LongerWindow) }
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

fn no_reply(asked: &Asked<'_>, measured: &Measurement) -> Limit {
    let never_connected = !measured.connections.any();
    let failed = |tls: &TlsUse| Some(TlsFailed { fault: tls.first_fault, why: tls.first_failure.clone()? });
    let (seen, cure) = match measured.tls.as_ref().and_then(failed) {
        Some(failed) => (Some(NoReplySeen::TlsFailed(failed)), None),
        None if never_connected && measured.tls.is_some() && measured.latency_us.connect.is_some() => {
            (Some(NoReplySeen::NoHandshake), None)
        }
        None if measured.tls.is_none() && hung_up(measured) => (Some(NoReplySeen::HungUp), Some(Cure::TryTls)),
        None if never_connected && shortage_of(measured) > 0 => (Some(NoReplySeen::NoConnections), None),
        None => (before::answered(measured), never_connected.then_some(Cure::StartServer)),
    };
    let books = &measured.accounting;
    let cause = NoReply {
        not_sent: books.not_sent.clone(),
        failed: books.failed.clone(),
        awaited: books.in_flight_at_end,
        sent_before: before::sent(measured),
        hanging: before::hanging(asked, measured),
        seen,
    };
    Limit { cause: LimitCause::NoReply(cause), cure }
}

/// Whether the server took every request and hung up, as one does that waits for TLS.
fn hung_up(measured: &Measurement) -> bool {
    let books = &measured.accounting;
    let ends = [Failure::ClosedBeforeReply, Failure::ResetBeforeReply].map(|kind| books.failed.get(&kind).copied());
    books.sent > 0 && sum(ends.into_iter().flatten()) == books.sent
}

fn of_closed(asked: &Asked<'_>, measured: &Measurement, observed: Option<&Observation>) -> Limit {
    let target_busy = observed.map_or(0.0, Observation::busy);
    let ceiling = asked.reached_ceiling(measured);
    if let Some(stood) = blinding_standstill(measured) {
        // Nothing at all is no lower bound worth the name.
        let cause = if nothing_completed(measured) { LimitCause::Blind(stood) } else { LimitCause::AtLeast(stood) };
        Limit { cause, cure: Some(Cure::OwnCpus) }
    } else if nothing_completed(measured) {
        no_reply(asked, measured)
    } else if let Some(ceiling) = ceiling {
        LimitCause::Ceiling(ceiling).into()
    } else if target_busy >= TARGET_BUSY {
        LimitCause::TargetBusy(target_busy).into()
    } else {
        generator_limit(asked, measured).unwrap_or_else(|| server_bound(asked, measured))
    }
}

/// How long the generator stood still, if that was much of the window: what was served then is not known.
pub(crate) fn standstill(measured: &Measurement) -> Option<Shortfall> {
    let (for_s, window_s) = (measured.stood_still_s(), measured.window_s);
    let least_s = (STANDSTILL_SHARE * window_s).max(STANDSTILL_LEAST_S);
    (for_s > least_s).then_some(Shortfall::StoodStill { for_s, window_s })
}

/// The same where it may be why so little is known of the server. Not where nothing came back and the server was seen to refuse
/// it: that is the server's.
pub(crate) fn blinding_standstill(measured: &Measurement) -> Option<Shortfall> {
    let is_seen = nothing_completed(measured) && measured.accounting.failures() > 0;
    standstill(measured).filter(|_| !is_seen)
}

/// The most that a closed load would have come to without its generator's limit, as a share of what it did, by what was said
/// to be the limit. While a generator thread sleeps, all its requests are the server's, which works on them; so of the
/// window at least the share in which it slept was the server's, and what it did in all of it, it could have done in that.
/// A generator that stood still held nothing back in the rest of the window. What it could not send has no such bound.
pub(crate) fn most_without_the_generator(limit: &Reason, measured: &Measurement) -> f64 {
    let held_back = match limit.code() {
        Code::LimitCode(LimitCode::GeneratorStalled) => measured.stood_still_s() / measured.window_s,
        _ if own_shortage(measured).is_none() => share(&neediest(measured)),
        _ => 1.0,
    };
    1.0 / (1.0 - held_back).max(0.0)
}

/// Whether a generator was seen to do so much more for another server under the same load that it was not the limit of this
/// one. Where it waits longer for a CPU, or has longer replies to read, it can do less. Connections that are opened anew are
/// work of their own, and what it cannot send has other reasons.
pub(crate) fn did_more(of: &Measurement, other: &Measurement) -> bool {
    let awake = |of: &Measurement| (1.0 - neediest(of).starved).max(0.0);
    let reply_bytes = |of: &Measurement| of.in_window.ok_bytes as f64 / of.in_window.ok.max(1) as f64;
    let opened = |of: &Measurement| {
        let opened = of.connections.opened_in_window.unwrap_or(of.connections.opened);
        opened as f64 / of.in_window.completed.max(1) as f64
    };
    let longer = (reply_bytes(of) / reply_bytes(other).max(1.0)).max(1.0);
    let able_per_s = completions_per_s(other) * (awake(of) / awake(other)).min(1.0) / longer;
    let is_alike = opened(of) <= opened(other) + RECONNECTS && own_shortage(of).is_none();
    is_alike && standstill(of).is_none() && completions_per_s(of) < GENERATOR_BUSY * able_per_s
}

fn server_bound(asked: &Asked<'_>, measured: &Measurement) -> Limit {
    let generator = neediest(measured);
    let shared_cpus = generator.starved >= STARVED;
    let (connections, answered) = (asked.load.connections, answered(measured));
    LimitCause::ServerBound { generator, connections, answered, shared_cpus }.into()
}

/// The closed model's generator as the limit, if it may have been.
fn generator_limit(asked: &Asked<'_>, measured: &Measurement) -> Option<Limit> {
    let needy = neediest(measured);
    let attainable = asked.attainable_per_s(measured);
    let thread_cure = thread_cure(&needy, measured);
    let (short, cure) = if share(&needy) >= GENERATOR_BUSY {
        (Shortfall::Thread(needy), thread_cure)
    } else if completions_per_s(measured) >= GENERATOR_BUSY * attainable {
        (Shortfall::Attainable(attainable), thread_cure)
    } else {
        (own_shortage(measured)?, Some(Cure::MorePortsOrFiles))
    };
    Some(Limit { cause: LimitCause::AtLeast(short), cure })
}

/// The generator thread that needed most of a CPU. One that waits for a CPU is not idle: it is starved.
fn neediest(measured: &Measurement) -> ThreadNeed {
    let beside = measured.generator.beside();
    let of = |(index, thread): (usize, &model::ThreadUse)| ThreadNeed {
        thread: index + 1,
        busy: (thread.busy() + beside).min(1.0),
        starved: thread.starved(),
        waited: thread.starved() >= WAITED,
    };
    let threads = measured.generator.threads.iter().enumerate().map(of);
    let neediest = threads.reduce(|most, it| if share(&it) > share(&most) { it } else { most });
    neediest.unwrap_or(ThreadNeed { thread: 1, busy: beside, starved: 0.0, waited: false })
}

/// Share of the window for which it was busy or waited for a CPU.
fn share(needy: &ThreadNeed) -> f64 {
    (needy.busy + needy.starved).min(1.0)
}

fn thread_cure(needy: &ThreadNeed, measured: &Measurement) -> Option<Cure> {
    // Whether it would have been below the limit with a CPU of its own.
    let is_starved = needy.busy < GENERATOR_BUSY && share(needy) >= GENERATOR_BUSY;
    match answered(measured) {
        _ if is_starved => Some(Cure::OwnCpus),
        Answered::Always => Some(Cure::MoreThreads),
        Answered::WithGaps | Answered::ToAPoint => None,
    }
}

/// What the generator's own machine lacked in a closed load, if that was much of it. A connection that it cannot open is
/// tried anew ever more seldom: where connections served nothing and more attempts than these failed for want of something
/// here, few attempts stand for all that they would have sent.
fn own_shortage(measured: &Measurement) -> Option<Shortfall> {
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
fn shortage(measured: &Measurement, share: f64) -> Option<Shortfall> {
    let lacking = shortage_of(measured);
    (lacking as f64 > share * measured.accounting.scheduled as f64)
        .then(|| Shortfall::Lacking(own_kinds(measured).collect()))
}

fn of_open(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Limit {
    if let Some(stood) = blinding_standstill(measured) {
        return Limit { cause: LimitCause::Blind(stood), cure: Some(Cure::OwnCpus) };
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
    if let Some((why, cure)) = blame(asked, measured, rate_per_s) {
        let cause = LimitCause::RateMissed { rate_per_s, sent: books.sent, scheduled: books.scheduled, why };
        return Limit { cause, cure };
    }
    if nothing_completed(measured) { no_reply(asked, measured) } else { server_behind(asked, measured, rate_per_s) }
}

/// What the generator did to miss the rate, and what would mend it; none when it was the server's doing.
fn blame(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Option<(Shortfall, Option<Cure>)> {
    let short = shortage(measured, 1.0 - RATE_SENT);
    if short.is_some() || refused(measured) {
        return short.map(|short| (short, Some(Cure::MorePortsOrFiles)));
    }
    let late = late_share(measured, LateCause::Generator);
    let attainable = asked.attainable_per_s(measured);
    let needy = neediest(measured);
    let held_up = held_up(measured, rate_per_s);
    let too_late = not_sent(measured, NotSent::LateAtEnd);
    let missing = measured.accounting.scheduled.saturating_sub(measured.accounting.sent);
    let own_cpus = |short: Shortfall| Some((short, Some(Cure::OwnCpus)));
    if rate_per_s > attainable {
        Some((Shortfall::Attainable(attainable), None))
    } else if share(&needy) >= GENERATOR_BUSY {
        Some((Shortfall::Thread(needy), thread_cure(&needy, measured)))
    } else if 2 * held_up > missing {
        own_cpus(Shortfall::HeldUp(held_up))
    } else if too_late.saturating_mul(2) > missing {
        own_cpus(Shortfall::TooLate(too_late))
    } else if late > RATE_LATE && late_explains(measured, missing) && !waits_explain(measured) {
        own_cpus(Shortfall::Late(late))
    } else {
        None
    }
}

/// Whether so many left late by the generator's doing that it may be why others never left: a few are no reason for many.
fn late_explains(measured: &Measurement, missing: u64) -> bool {
    2 * late(measured, LateCause::Generator) > missing
}

/// Whether more requests never left because they waited for the server than were late by the doing of a generator all of whose threads
/// had their CPUs: one that waits for a CPU reads replies late, so that connections seem to wait for the server.
fn waits_explain(measured: &Measurement) -> bool {
    let had_its_cpu = |thread: &model::ThreadUse| thread.run_delay_s.is_some() && thread.starved() < STARVED;
    let waited = sum([NotSent::WaitingAtEnd, NotSent::TurnedAwayAtEnd].map(|kind| not_sent(measured, kind)));
    measured.generator.threads.iter().all(had_its_cpu) && waited > late(measured, LateCause::Generator)
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

fn late(measured: &Measurement, cause: LateCause) -> u64 {
    measured.accounting.sent_late.get(&cause).copied().unwrap_or(0)
}

fn late_share(measured: &Measurement, cause: LateCause) -> f64 {
    let scheduled = measured.accounting.scheduled;
    if scheduled == 0 { 0.0 } else { late(measured, cause) as f64 / scheduled as f64 }
}

fn rate_reached(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Limit {
    let late = |cause| Some(late_share(measured, cause)).filter(|share| *share > RATE_LATE);
    let cause = LimitCause::RateSent {
        rate_per_s,
        generator: neediest(measured),
        too_late: not_sent(measured, NotSent::LateAtEnd),
        late_share: late(LateCause::Generator),
        waited_share: late(LateCause::NoConnection),
        trusted_per_s: asked.trusted_rate_per_s(measured).filter(|trusted| rate_per_s > *trusted),
    };
    cause.into()
}

/// The server fell behind, or it was never asked for so much: N requests at once that take S each are N ÷ S a second at
/// most (Little 1961).
fn server_behind(asked: &Asked<'_>, measured: &Measurement, rate_per_s: f64) -> Limit {
    let (not_sent, answered) = (measured.accounting.not_sent.clone(), answered(measured));
    if answered == Answered::ToAPoint {
        return LimitCause::Stopped { rate_per_s, not_sent }.into();
    }
    let allowed = asked.load.slots();
    let at_once = |service_us: f64| {
        let needed = rate_per_s * service_us / 1e6;
        let too_few = answered == Answered::Always && needed > allowed;
        too_few.then(|| AtOnce { service_us, needed: needed.ceil() as u64, allowed: allowed as u64 })
    };
    let at_once = measured.latency_us.service.as_ref().and_then(|service| service.mean).and_then(at_once);
    LimitCause::Behind { rate_per_s, not_sent, generator: neediest(measured), at_once }.into()
}
