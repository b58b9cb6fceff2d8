//! What reasons say, and what would mend them.

use model::{Breach, Code, Cure, DistrustCause, Mark, MarkCause, NotServed, Reason, RepeatedBlock, Why};

use crate::format::{counted, duration_us, kinds, number, percent, thousands};
use crate::limit_words::limit_words;
use crate::mark_words::{arm_words, levels, mark_words, name};

/// What a reason says.
pub fn reason_words(reason: &Reason) -> String {
    match (&reason.code, &reason.why) {
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
    }
}

/// The same with what would mend it.
pub(crate) fn with_cure(reason: &Reason) -> String {
    let lower_it = || (reason.code == Mark::Lateness.into()).then_some("CPUs of its own, or --spin, lower it");
    let cure = reason.cure.map(cure).or_else(lower_it);
    cure.map_or_else(|| reason_words(reason), |cure| format!("{}; {cure}", reason_words(reason)))
}

/// How a cure is asked for. What it is to be given to is the generator.
fn cure(of: Cure) -> &'static str {
    match of {
        Cure::OwnCpus => "give it CPUs of its own",
        Cure::MoreThreads => "give it more threads (-t) or other CPUs",
        Cure::MorePortsOrFiles => "raise the limit of open files, widen the port range, or keep connections alive",
        Cure::StartServer => "is the server running, and does it listen there?",
        Cure::LongerWindow => "measure for longer (-d), or at a higher rate (-R)",
        Cure::TryTls => "if the port speaks TLS, try https://",
        Cure::TimeOut => "--timeout counts such as failed",
    }
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
            format!("only {} of the requests were sent: the null responder did not answer more", percent(share))
        }
    }
}

/// The two sides of an invariant that broke.
pub(crate) fn breach_words(breach: &Breach) -> String {
    match breach {
        Breach::Imbalance(text) => text.clone(),
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
            format!("{completed} completions where a delay of {delay} allows {most}: the wait was skipped")
        }
        Breach::Content { replies, bad_body, malformed, unasked } => {
            let wrong =
                [("with a wrong body", bad_body), ("not HTTP", malformed), ("that no request had asked for", unasked)];
            format!("wrong content among {}: {}", counted(*replies, "reply", "replies"), kinds(wrong))
        }
    }
}
