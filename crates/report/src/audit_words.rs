//! What the checks of an audit came to, and its remarks.

use model::{
    Allowance, AuditCheck, AuditFigure, AuditNote, AuditRemark, AuditResult, AuditSides, AuditSource, ByteFlow,
    CompletionSides, CountedIn, InFlightSides, LatencyFigure, LatencyPoint, MarkovSides, MeanSides, NotMade, Printed,
    ReplyBytes, ServedSides,
};

use crate::format::{at_most_decimals, counted, duration_us, number, percent, percent_beside, seconds, thousands};

/// A figure whose possible values are no further apart than this share of it is shown alone.
const CLOSE: f64 = 0.01;

/// The arithmetic of a check in figures, or why it could not be made.
pub fn check_words(note: &AuditNote) -> String {
    match &note.result {
        AuditResult::Breach(sides) => format!("{}{}", both(note.check, sides, true), broken(sides)),
        AuditResult::Holds(sides) => both(note.check, sides, false),
        AuditResult::NotMade(why) => not_made(why),
    }
}

/// The two sides, and how they stand to each other.
fn both(check: AuditCheck, sides: &AuditSides, is_broken: bool) -> String {
    match sides {
        AuditSides::InFlight(of) => in_flight(of, is_broken),
        AuditSides::Served(of) => served(of),
        AuditSides::Markov(of) => markov(of, is_broken),
        AuditSides::Completions(of) => completions(check, of, is_broken),
        AuditSides::Delayed { lowest, least_us, early_s, .. } => {
            let (lowest, bound) = (latency(lowest), format!("{} = {}", early(*early_s), duration_us(*least_us)));
            match is_broken {
                true => format!("{lowest} < {bound}"),
                false => format!("{lowest}, the lowest latency, can be as long as {bound}"),
            }
        }
        AuditSides::Ordered { order } if is_broken => order.iter().map(latency).collect::<Vec<_>>().join(" > "),
        AuditSides::Ordered { order } => {
            let names: Vec<String> = order.iter().map(|of| point(of.figure)).collect();
            format!("{} are in order", names.join(", "))
        }
        AuditSides::Between(of) => mean(of, is_broken),
        AuditSides::Fits { stdev_us } => {
            format!("standard deviation {} fits mean, quantiles and extremes", duration_us(*stdev_us))
        }
        AuditSides::TooWide { stdev_us, most_us } => {
            let [stdev, most] = [*stdev_us, *most_us].map(duration_us);
            format!("standard deviation {stdev} > √((max − mean)·(mean − min)) = {most}")
        }
        AuditSides::TooFar { q, quantile_us, mean_us, most_us } => {
            let [quantile, mean, most] = [*quantile_us, *mean_us, *most_us].map(duration_us);
            let root = if quantile_us > mean_us { "√(q ÷ (1 − q))" } else { "√((1 − q) ÷ q)" };
            format!("{} {quantile} and mean {mean} are further apart than σ·{root} = {most}", quantile_name(*q))
        }
        AuditSides::Rate { requests, duration_s, quotient_per_s, rate_per_s } => {
            let quotient = possible(*quotient_per_s, "/s");
            let (requests, duration) = (thousands(*requests), seconds(*duration_s));
            format!("{requests} ÷ {duration} = {quotient}, printed {}/s", number(*rate_per_s))
        }
        AuditSides::Books { ok, errors, requests } => {
            let sum = thousands(ok.saturating_add(*errors));
            let sum = format!("ok {} + errors {} = {sum}", thousands(*ok), thousands(*errors));
            if is_broken { format!("{sum}, requests {}", thousands(*requests)) } else { sum }
        }
        AuditSides::Bytes { flow: of, reply } => {
            let reply = reply.map(|ReplyBytes { bytes, .. }| format!("{} bytes a reply", number(bytes)));
            of.as_ref().map(flow).into_iter().chain(reply).collect::<Vec<_>>().join("; ")
        }
    }
}

fn in_flight(of: &InFlightSides, is_broken: bool) -> String {
    let product = format!("X·R̄ = {} = {}", product(of.rate_per_s, of.mean_us), possible(of.in_clock, ""));
    let slots = whole(of.slots);
    if is_broken {
        return format!("{product} > N = {slots}");
    }
    let least = match of.in_clock.printed > of.most {
        true => format!(", which may be as little as {}", number(of.in_clock.low)),
        false => String::new(),
    };
    format!("{product}{least}, not above N = {slots}{}", allowed(of.allowance))
}

fn served(of: &ServedSides) -> String {
    let share = format!("{} ÷ {} = {}", product(of.rate_per_s, of.mean_us), whole(of.slots), shares(of.share));
    let less = match of.edges {
        0.0 => String::new(),
        edges => format!(" ({} less {})", percent(of.least + edges), at_the_edges(edges)),
    };
    let least = percent(of.least);
    format!("X·R̄ ÷ N = {share} of the connections' time was spent in requests; a closed load asks for {least}{less}")
}

fn markov(of: &MarkovSides, is_broken: bool) -> String {
    let (slots, rate, most) = (whole(of.slots), number(of.rate_per_s), duration_us(of.most_us));
    let (least, quantile) = (duration_us(of.least_us), quantile_name(of.q));
    let mean = format!("N ÷ X = {slots} ÷ {rate}/s = {most}");
    if is_broken {
        return format!("{mean} < (1 − {})·{quantile} = {least}", at_most_decimals(of.q, 6));
    }
    format!("{mean}, not below the largest (1 − q)·Q(q), {least} of {quantile}{}", allowed(of.allowance))
}

fn completions(check: AuditCheck, of: &CompletionSides, is_broken: bool) -> String {
    let symbol = if check == AuditCheck::Workers { "W" } else { "N" };
    let counted = format!("{} completions{}", number(of.completed), counted_in(of));
    let sides = format!("{counted}, {symbol}·(T ÷ ({}) + 1) = {}", early(of.early_s), number(of.most));
    let delay = duration_us(of.delay_s * 1e6);
    if is_broken {
        return format!("{sides} are all that a delay of {delay} allows");
    }
    let slack = of.slack.map_or(String::new(), |slack| format!(" and {} of slack", percent(slack)));
    format!("{sides} possible with a delay of {delay}{slack}")
}

/// In which time completions were counted, if that was not given.
fn counted_in(of: &CompletionSides) -> String {
    match of.window {
        CountedIn::Given => String::new(),
        CountedIn::FromRate { rate_per_s } => format!(" in T = {} ÷ {}/s", number(of.completed), number(rate_per_s)),
        CountedIn::Shortest => {
            format!(" in each T = {}, the shortest that the figures allow", duration_us(of.window_s * 1e6))
        }
    }
}

fn mean(of: &MeanSides, is_broken: bool) -> String {
    let (shown, least) = (duration_us(of.mean_us.printed), duration_us(of.least_us));
    if is_broken {
        return match of.most_us.filter(|_| of.mean_us.high >= of.least_us).map(duration_us) {
            Some(most) => format!("mean {shown} > {most}, the most that quantiles and maximum allow"),
            None => format!("mean {shown} < {least}, the least that its quantiles allow"),
        };
    }
    let at_most = of.most_us.map_or(String::new(), |most| format!(" nor above {}", duration_us(most)));
    let is_beyond = of.mean_us.printed < of.least_us || of.most_us.is_some_and(|most| of.mean_us.printed > most);
    let [low, high] = [of.mean_us.low, of.mean_us.high].map(duration_us);
    let rounded = if is_beyond { format!(" ({low} to {high} within the rounding)") } else { String::new() };
    let slack = of.slack.map_or(String::new(), |slack| format!(", with {} of slack", percent(slack)));
    format!("mean {shown}{rounded}, not below {least}{at_most}{slack}, as its quantiles ask")
}

/// What a breach means, where its sides do not say it.
fn broken(sides: &AuditSides) -> String {
    let text = match sides {
        AuditSides::InFlight(_) => {
            ": more requests in flight than connections can hold; rate and latency do not describe the same requests"
        }
        AuditSides::Served(_) => {
            ". Requests that never ended, or time that was not timed (connecting, waiting for a worker), are not in these \
             figures"
        }
        AuditSides::Markov(_) => ": rate and latency do not describe the same requests",
        AuditSides::Completions(_) => ": the wait was skipped or is not what was said",
        AuditSides::Delayed { delay_s, .. } => {
            return format!(": replies came sooner than a handler that waits {}", duration_us(delay_s * 1e6));
        }
        AuditSides::Rate { .. } => ": the rate is not that of the whole run",
        AuditSides::Books { .. } => ": the books do not balance",
        AuditSides::Bytes { reply: Some(ReplyBytes { shortest, .. }), .. } => {
            return format!(": the shortest HTTP/1 reply has {}", thousands(*shortest as u64));
        }
        AuditSides::Ordered { .. }
        | AuditSides::Between(_)
        | AuditSides::Fits { .. }
        | AuditSides::TooWide { .. }
        | AuditSides::TooFar { .. }
        | AuditSides::Bytes { reply: None, .. } => "",
    };
    text.to_owned()
}

/// Bytes ÷ duration, and what was published.
fn flow(of: &ByteFlow) -> String {
    let (bytes, duration) = (number(of.bytes), seconds(of.duration_s));
    format!("{bytes} bytes ÷ {duration} = {}, printed {}/s", possible(of.quotient_per_s, "/s"), number(of.bytes_per_s))
}

/// Why a check could not be made.
fn not_made(why: &NotMade) -> String {
    let text = match why {
        NotMade::Missing { missing } => {
            let names: Vec<&str> = missing.iter().map(|figure| figure_words(*figure)).collect();
            return format!("not given: {}", names.join(", "));
        }
        NotMade::Zero => "a figure is 0 within its rounding",
        NotMade::OpenLoad => "does not apply to an open load",
        NotMade::Pauses => "does not apply: clients may pause between requests, or be done before others",
        NotMade::TooManyInFlight => "more requests in flight than connections can hold, see `in flight`",
        NotMade::ShortDelay { early_s } => {
            let early = seconds(*early_s);
            return format!("a delay of at most {early} cannot be distinguished from a timer that fires early");
        }
        NotMade::Coarse { mean_us } => {
            let [low, high] = [mean_us.low, mean_us.high].map(duration_us);
            return format!("the mean is rounded too coarsely to say: anything from {low} to {high}");
        }
        NotMade::Unordered { only: Some(only), mean: true } => {
            let only = point(*only);
            return format!(
                "not given: a minimum, a maximum or a second quantile (a mean may lie above or below a {only})"
            );
        }
        NotMade::Unordered { only: Some(only), mean: false } => {
            return format!("not given: a figure to hold the {} against", point(*only));
        }
        NotMade::Unordered { only: None, mean: true } => "not given: a minimum or a maximum to hold the mean against",
        NotMade::Unordered { only: None, mean: false } => "not given: two of minimum, mean, quantiles, maximum",
        NotMade::BytesAlone => "not given: bytes a second, or bytes of whole replies and their number",
    };
    text.to_owned()
}

/// What should be known of published figures.
pub fn remark_words(remark: &AuditRemark) -> String {
    match remark {
        AuditRemark::FailedRequests { failed, requests, allowed } => {
            let share = *failed as f64 / *requests as f64;
            let share = allowed.map_or_else(|| percent(share), |allowed| percent_beside(share, allowed));
            let more = allowed.map_or(String::new(), |allowed| format!(", over the {} allowed", percent(allowed)));
            let [failed, requests] = [*failed, *requests].map(thousands);
            format!("{failed} of {requests} requests failed, {share}{more}: rate and latencies may be theirs")
        }
        AuditRemark::NotNumbers { not_numbers } => not_numbers_words(*not_numbers),
        AuditRemark::TimeOuts { time_outs, source } => {
            let what = if *source == AuditSource::Wrk2 {
                "at every look, wrk2 counts each connection whose last request began longer ago than its time-out, and \
                 still takes its reply"
            } else {
                "wrk 4 counts each complete reply that took longer than its time-out; it is among the requests, but its \
                 latency is in none of the figures"
            };
            format!("{}, not failed requests: {what}", counted(*time_outs, "time-out", "time-outs"))
        }
        AuditRemark::AddedSamples { limit_us, slowest_us } => {
            let [limit, slowest] = [*limit_us, *slowest_us].map(duration_us);
            format!(
                "wrk adds samples that nobody measured for each latency above 2·N ÷ X = {limit}, and the longest took \
                 {slowest}: its rate is of requests that it counted, its mean, deviation and quantiles are not of those \
                 requests"
            )
        }
        AuditRemark::WaitingForWorkers { in_clock, workers } => {
            let (in_clock, workers) = (number(*in_clock), thousands(*workers));
            format!(
                "X·R̄ = {in_clock} requests are in the clock where W = {workers} can be worked on: the latency is not time \
                 in a worker alone, it includes waiting for one"
            )
        }
        AuditRemark::EqualQuantiles { low_q, high_q, us } => {
            let [low, high] = [*low_q, *high_q].map(quantile_name);
            let (both, share) = (duration_us(*us), percent(high_q - low_q));
            format!(
                "{low} and {high} are both {both}: possible, but then a share of {share} of all requests took exactly as \
                 long; is {low} stored as {high}?"
            )
        }
        AuditRemark::NotEstimable { requests, needed } => {
            let needs = needed.iter().map(|(q, needed)| format!("{} needs {}", quantile_name(*q), thousands(*needed)));
            let needs = needs.collect::<Vec<_>>().join(", ");
            format!("too few samples for an interval: {needs} and there are {}", thousands(*requests))
        }
        AuditRemark::Ties { tied, rates, spread, least_per_s, most_per_s } => {
            let ([tied, rates], [least, most]) =
                ([*tied, *rates].map(thousands), [*least_per_s, *most_per_s].map(number));
            let spread = percent(*spread);
            format!(
                "{tied} of {rates} rates lie within {spread} of each other, from {least}/s to {most}/s: a limit that they \
                 share, such as the generator's; they do not rank these servers"
            )
        }
    }
}

fn not_numbers_words(figures: u64) -> String {
    format!(
        "{} printed as `nan` or `inf`: the tool divided by zero, as it does if no request completed; treated as not given",
        counted(figures, "figure is", "figures are")
    )
}

/// What a check needs, as people call it.
fn figure_words(figure: AuditFigure) -> &'static str {
    match figure {
        AuditFigure::MeanLatency => "mean latency",
        AuditFigure::Pipeline => "requests in flight on each",
        AuditFigure::HandlerDelay => "handler delay",
        AuditFigure::RequestsOrRate => "requests or rate",
        AuditFigure::OkReplies => "ok replies",
        AuditFigure::Deviation => "standard deviation",
        AuditFigure::MaximumOrQuantiles => "maximum or quantiles",
        AuditFigure::LatencyOfReplies => "a latency of replies that did not fail",
        figure => figure.id(),
    }
}

/// What is missing, where that is why a check could not be made.
pub(crate) fn lacks(note: &AuditNote) -> &[AuditFigure] {
    match &note.result {
        AuditResult::NotMade(NotMade::Missing { missing }) => missing,
        _ => &[],
    }
}

/// Rate × mean.
fn product(rate_per_s: f64, mean_us: f64) -> String {
    format!("{}/s × {}", number(rate_per_s), duration_us(mean_us))
}

/// A whole number that is reckoned with as any other.
fn whole(slots: f64) -> String {
    thousands(slots as u64)
}

/// `S − 1 ms`: the least that a handler waits.
fn early(early_s: f64) -> String {
    format!("S − {}", seconds(early_s))
}

/// A figure, with its possible values where those read otherwise.
fn possible(value: Printed, unit: &str) -> String {
    format!("{}{unit}{}", number(value.printed), within(value, number))
}

/// The same of a share.
fn shares(value: Printed) -> String {
    format!("{}{}", percent(value.printed), within(value, percent))
}

fn within(value: Printed, shown: fn(f64) -> String) -> String {
    let [low, high] = [value.low, value.high].map(shown);
    let is_open = value.high - value.low > value.printed * CLOSE && low != high;
    if is_open { format!(" ({low} to {high} within the rounding)") } else { String::new() }
}

/// What a bound has beyond itself.
fn allowed(allowance: Option<Allowance>) -> String {
    allowance.map_or(String::new(), |Allowance { slack, edges }| match edges {
        0.0 => format!(" with {} of slack", percent(slack)),
        edges => format!(" with {} of slack and {}", percent(slack), at_the_edges(edges)),
    })
}

fn at_the_edges(share: f64) -> String {
    format!("{} for requests that cross the edges of the window", percent(share))
}

fn latency(of: &LatencyFigure) -> String {
    format!("{} {}", point(of.figure), duration_us(of.us))
}

fn point(of: LatencyPoint) -> String {
    match of {
        LatencyPoint::Min => "min".to_owned(),
        LatencyPoint::Quantile(q) => quantile_name(q),
        LatencyPoint::Mean => "mean".to_owned(),
        LatencyPoint::Max => "max".to_owned(),
    }
}

/// A quantile's usual name: `p50`, `p99`, `p99.9`.
pub(crate) fn quantile_name(q: f64) -> String {
    // Six decimals hide what 99.9 ÷ 100 leaves behind the last digit that was meant.
    format!("p{}", at_most_decimals(q * 100.0, 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_their_usual_names() {
        assert_eq!([0.5, 0.99, 0.999, 99.9 / 100.0, 1.0].map(quantile_name), ["p50", "p99", "p99.9", "p99.9", "p100"]);
    }
}
