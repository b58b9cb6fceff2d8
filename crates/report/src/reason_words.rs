//! What reasons say, and what would mend them.

use model::{
    Breach, Code, DistrustCause, Imbalance, Mark, MarkCause, NotServed, Reason, RepeatedBlock, SliceFigure,
    UnslicedCause, Why,
};

use crate::asker::{Asker, Knob};
use crate::format::{counted, duration_us, kinds, number, percent, thousands};
use crate::launch_words::{ended, not_again, not_ready, not_started};
use crate::limit_words::limit_words;
use crate::mark_words::{arm_words, levels, mark_words, name};

/// What a reason says.
pub fn reason_words(reason: &Reason) -> String {
    match (&reason.code(), &reason.why) {
        (Code::Mark(Mark::SlowDown), Why::Mark(MarkCause::Course(course))) => {
            format!("the server got slower inside the window ({})", levels(course))
        }
        (_, why) => why_words(why),
    }
}

pub(crate) fn why_words(why: &Why) -> String {
    match why {
        Why::Text(text) => text.clone(),
        Why::Limit(cause) => limit_words(cause),
        Why::Mark(cause) => mark_words(cause),
        Why::Broken(breaches) => breaches.iter().map(breach_words).collect::<Vec<_>>().join("; "),
        Why::Distrusted(why) => distrusted(*why),
        Why::NotStarted(why) => not_started(why),
        Why::NotReady(why) => not_ready(why),
        Why::Ended(end) => ended(end),
        Why::NotAgain(why) => not_again(why),
        Why::Unsliced(cause) => unsliced(*cause),
    }
}

/// The same with what would mend it, in the words of whoever asks.
pub(crate) fn with_cure(reason: &Reason, asker: Asker) -> String {
    let lower_it = || {
        let spin = asker.name(Knob::Spin).map_or(String::new(), |spin| format!(", or {spin},"));
        (reason.code() == Mark::Lateness.into()).then(|| format!("CPUs of its own{spin} lower it"))
    };
    let cure = reason.cure.and_then(|cure| asker.cure(cure)).or_else(lower_it);
    cure.map_or_else(|| reason_words(reason), |cure| format!("{}; {cure}", reason_words(reason)))
}

/// What a block was set aside for.
pub(crate) fn repeated_words(block: &RepeatedBlock) -> String {
    let arm = block.arm.map_or(String::new(), |arm| format!("{}: ", arm_words(arm)));
    format!("{arm}{}: {}", block.trial, why_words(&block.why))
}

/// Why what a target serves is not known.
pub(crate) fn not_served(why: &NotServed) -> String {
    match why {
        NotServed::Said(text) => text.clone(),
        NotServed::Seen(reason) => reason_words(reason),
    }
}

fn distrusted(why: DistrustCause) -> String {
    match why {
        DistrustCause::Late(share) => format!("the generator sent {} of the requests over 1 ms late", percent(share)),
        DistrustCause::Waited(share) => {
            let share = percent(share);
            format!("the null responder was so slow that {share} of the requests waited for a connection")
        }
        DistrustCause::Sent(share) => {
            format!("only {} of the requests were sent: the null responder could not keep up", percent(share))
        }
    }
}

/// Where the books do not balance.
pub(crate) fn imbalance_words(imbalance: &Imbalance) -> String {
    match imbalance {
        Imbalance::Scheduled { scheduled, sent, not_sent } => {
            let [scheduled, sent, not_sent] = [scheduled, sent, not_sent].map(|count| thousands(*count));
            format!("scheduled {scheduled} ≠ sent {sent} + not sent {not_sent}")
        }
        Imbalance::Completed { completed, replies } => {
            format!("completed {} ≠ ok + bad status + bad body {}", thousands(*completed), thousands(*replies))
        }
        Imbalance::Sent { sent, replies, failed, in_flight_at_end } => {
            let [sent, replies, failed, in_flight] =
                [sent, replies, failed, in_flight_at_end].map(|count| thousands(*count));
            format!("sent {sent} ≠ completed {replies} + failed {failed} + in flight {in_flight}")
        }
        Imbalance::Said(text) => text.clone(),
    }
}

/// Why a load cannot be cut into slices.
fn unsliced(cause: UnslicedCause) -> String {
    let why = match cause {
        UnslicedCause::SlowDrain { p99_us, waited_us, not_drained } => slow_drain(p99_us, waited_us, not_drained),
        UnslicedCause::FellSilent { round, not_drained } => {
            let left = counted(not_drained, "request", "requests");
            format!("the server gave no whole reply from round {round} on, and left {left} without one")
        }
        UnslicedCause::FewReplies { round, replies, needed } => {
            format!("round {round} had {} of the {needed} that a slice needs", counted(replies, "reply", "replies"))
        }
        UnslicedCause::ConnectionsEnd { idle, said } => {
            let ends = kinds([("while they were idle", idle), ("with a reply", said)]);
            format!("the server ends connections: {ends}")
        }
        UnslicedCause::SlowAfterIdling { slower, slices, neighbours_cpus } => {
            let slower = percent(slower);
            let halves =
                format!("in the first halves of {slices} slices replies took {slower} longer than in the second");
            match neighbours_cpus {
                None => format!("the server is slow after idling ({halves})"),
                Some(cpus) => format!(
                    "the server is slow at the start of its slices, either after idling or because idle neighbours used {} of a \
                     CPU ({halves})",
                    percent(cpus)
                ),
            }
        }
        UnslicedCause::DearAfterIdling { dearer, slices } => format!(
            "requests cost more CPU after the server has been idle ({} more in the loads that woke it for {slices} slices \
             than in the slices themselves)",
            percent(dearer)
        ),
        UnslicedCause::FailsAfterIdling { failed, replies } => format!(
            "requests fail after the server has been idle ({} failed and {} succeeded in the loads that woke it)",
            thousands(failed),
            thousands(replies)
        ),
        UnslicedCause::Unsettled { slower, slices } => format!(
            "slices are too short for the load to settle: each starts rested and with an empty queue (in the second halves \
             of {slices} slices requests took {} longer than in the first)",
            percent(slower)
        ),
        UnslicedCause::FallsBehind { due, replies } => format!(
            "the server falls behind the rate, and slices hide it because each starts with an empty queue ({} arrived \
             while {} came due)",
            counted(replies, "reply", "replies"),
            counted(due, "request", "requests")
        ),
    };
    format!("cannot rotate with other targets: {why}")
}

fn slow_drain(p99_us: Option<f64>, waited_us: f64, not_drained: u64) -> String {
    let p99 = p99_us.map_or(String::new(), |us| format!(", p99 {}", duration_us(us)));
    let requests = counted(not_drained, "request was", "requests were");
    let are_rare = p99_us.is_some_and(|us| us <= waited_us);
    let (which, rare) = match are_rare {
        true => ("some replies", "; such replies are rare, so a short window may miss them"),
        false => ("replies", ""),
    };
    format!(
        "{which} take longer than the {} allowed at the end of a slice ({requests} unfinished{p99}){rare}",
        duration_us(waited_us)
    )
}

fn slice_figure(of: SliceFigure) -> &'static str {
    match of {
        SliceFigure::Completed => "replies",
        SliceFigure::Ok => "replies as expected",
        SliceFigure::Window => "seconds measured",
    }
}

/// The two sides of an invariant that broke.
pub(crate) fn breach_words(breach: &Breach) -> String {
    match breach {
        Breach::Imbalance(where_not) => imbalance_words(where_not),
        Breach::InFlight { in_flight_s, requests_s } => format!(
            "requests in flight over the window {} s, time of all requests inside it {} s",
            number(*in_flight_s),
            number(*requests_s)
        ),
        Breach::TooLong { metric, divisor, least_us, mean_us } => format!(
            "{} ÷ {divisor} = {} > N ÷ X = {}: rate and latency do not describe the same requests",
            name(*metric),
            duration_us(*least_us),
            duration_us(*mean_us)
        ),
        Breach::Completions { completed, most, delay_s } => {
            let (completed, most, delay) = (thousands(*completed), thousands(*most), duration_us(delay_s * 1e6));
            format!("{completed} completions, but a delay of {delay} allows at most {most}: the wait was skipped")
        }
        Breach::SliceSum { of, slices, measured } => {
            let [slices, measured] = [*slices, *measured].map(number);
            format!("{}: {slices} over its slices, {measured} in all", slice_figure(*of))
        }
        Breach::SlicePart { round, of, part, whole } => {
            let [part, whole] = [*part, *whole].map(number);
            format!("{} in the slice of round {round}: {part}, but at most {whole} is possible", slice_figure(*of))
        }
        Breach::Cpus { used, given } => format!(
            "it used {} CPUs and was given {}: it sets its own affinity (`taskset`, `sched_setaffinity`), which also takes the generator's; leave that to bourdon",
            number(*used),
            thousands((*given).into())
        ),
        Breach::Content { replies, bad_body, malformed, unasked } => {
            let wrong = [("with a wrong body", bad_body), ("not HTTP", malformed), ("unrequested", unasked)];
            format!("wrong content among {}: {}", counted(*replies, "reply", "replies"), kinds(wrong))
        }
    }
}
