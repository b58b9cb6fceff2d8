//! What does not contradict anything, but should be known by whoever reads the figures.

use model::{AuditSource, Printed, Published, Reason, Remark};

use super::in_clock;
use crate::figures::{count, counted, figure, micros, percent, quantile_name};
use crate::thresholds::{
    ALLOWED_FAILURES, AUDIT_SLACK, EQUAL_QUANTILES, SIGNIFICANCE, TIES_AT_LEAST, TIES_SHARE, TIES_SPREAD,
};

/// Remarks about one result.
pub(super) fn of_row(row: &Published) -> Vec<Reason> {
    let remarks = [
        failed_requests(row),
        time_outs(row),
        added_samples(row),
        waiting_for_workers(row),
        equal_quantiles(row),
        not_estimable(row),
    ];
    remarks.into_iter().flatten().collect()
}

/// Remarks about results side by side.
pub(super) fn of_all(rows: &[Published]) -> Vec<Reason> {
    ties(rows).into_iter().collect()
}

/// The share of the requests that failed.
pub(super) fn failed_share(row: &Published) -> Option<f64> {
    row.failed_of().map(|(failed, all)| failed as f64 / all as f64)
}

/// A failure is no answer, and its time none of an answer.
fn failed_requests(row: &Published) -> Option<Reason> {
    let ((failed, all), share) = (row.failed_of()?, failed_share(row)?);
    (failed > 0).then(|| {
        let more = if share > ALLOWED_FAILURES {
            format!(", more than the {} that may", percent(ALLOWED_FAILURES))
        } else {
            String::new()
        };
        let [failed, all] = [failed, all].map(count);
        let text =
            format!("{failed} of {all} requests failed, {}{more}: rate and latencies may be theirs", percent(share));
        Reason::new(Remark::FailedRequests, text)
    })
}

/// What wrk calls time-outs: replies that it counts among the requests, or connections that it found waiting.
fn time_outs(row: &Published) -> Option<Reason> {
    let what = if row.source == AuditSource::Wrk2 {
        "at every look, wrk2 counts each connection whose last request began longer ago than its time-out, and still \
         takes its reply"
    } else {
        "wrk 4 counts each complete reply that took longer than its time-out; it is among the requests, but its latency \
         is in none of the figures"
    };
    (row.timed_out > 0).then(|| {
        let number = counted(row.timed_out, "time-out", "time-outs");
        Reason::new(Remark::TimeOuts, format!("{number}, not failed requests: {what}"))
    })
}

/// wrk 4 adds samples that nobody measured for each latency above twice the mean time between the requests of a
/// connection (`stats_correct` in its stats.c, called before it prints), so that its latencies are not those of the
/// requests that its rate counts.
fn added_samples(row: &Published) -> Option<Reason> {
    let (rate, slowest, connections) = (row.rate_per_s?, row.latency_us.max?, row.connections?);
    let limit_us = 2.0 * connections as f64 / rate.low * 1e6;
    (row.source == AuditSource::Wrk && slowest.low > limit_us * (1.0 + AUDIT_SLACK)).then(|| {
        let text = format!(
            "wrk adds samples that nobody measured for each latency above 2·N ÷ X = {}, and the longest took {}: its rate \
             is of requests that it counted, its mean, deviation and quantiles are not of those requests",
            micros(limit_us),
            micros(slowest.printed)
        );
        Reason::new(Remark::AddedSamples, text)
    })
}

/// Where more requests are in the clock than can be worked on, the latency includes waiting for a worker.
fn waiting_for_workers(row: &Published) -> Option<Reason> {
    let (workers, in_clock) = (row.workers? as f64, in_clock(row.rate_per_s?, row.latency_us.mean?));
    (in_clock.low > workers).then(|| {
        let text = format!(
            "X·R̄ = {} requests are in the clock where W = {} can be worked on: the latency is not time in a worker \
             alone, it includes waiting for one",
            figure(in_clock.printed),
            count(workers as u64)
        );
        Reason::new(Remark::WaitingForWorkers, text)
    })
}

/// Neighbouring quantiles that are the same to all their digits, as when one is stored under the other's name.
fn equal_quantiles(row: &Published) -> Option<Reason> {
    let quantiles = &row.latency_us.quantiles;
    let precise = |value: &Printed| value.low > 0.0 && value.high / value.low - 1.0 <= EQUAL_QUANTILES;
    let below_all = |(q, _): &(f64, Printed)| *q < 1.0;
    let pairs = quantiles.iter().zip(quantiles.iter().skip(1).filter(|pair| below_all(pair)));
    let (first, second) = pairs.into_iter().find(|(a, b)| a.1 == b.1 && precise(&a.1))?;
    let (low, high) = (quantile_name(first.0), quantile_name(second.0));
    let text = format!(
        "{low} and {high} are both {}: possible, but then a share of {:.2} % of all requests took exactly as long; \
         is {low} stored as {high}?",
        micros(first.1.printed),
        (second.0 - first.0) * 100.0
    );
    Some(Reason::new(Remark::EqualQuantiles, text))
}

/// Fewest samples for a two-sided 95 % interval around a quantile from binomial order statistics: ln 0.025 ÷ ln q.
fn required_samples(q: f64) -> f64 {
    ((SIGNIFICANCE / 2.0).ln() / q.ln()).ceil()
}

fn not_estimable(row: &Published) -> Option<Reason> {
    let requests = row.requests?;
    let quantiles = row.latency_us.quantiles.iter().map(|(q, _)| *q).filter(|q| (0.5..1.0).contains(q));
    let needs: Vec<String> = quantiles
        .filter(|q| (requests as f64) < required_samples(*q))
        .map(|q| format!("{} needs {}", quantile_name(q), count(required_samples(q) as u64)))
        .collect();
    let text = format!("too few samples for an interval: {} and there are {}", needs.join(", "), count(requests));
    (!needs.is_empty()).then(|| Reason::new(Remark::NotEstimable, text))
}

/// Many rates closer together than independent servers come: a limit that they share.
fn ties(rows: &[Published]) -> Option<Reason> {
    let mut rates: Vec<f64> = rows.iter().filter_map(|row| row.rate_per_s).map(|figure| figure.printed).collect();
    rates.retain(|rate| *rate > 0.0);
    rates.sort_by(f64::total_cmp);
    let tied_from = |first: usize| rates.partition_point(|rate| *rate <= rates[first] * (1.0 + TIES_SPREAD)) - first;
    let (first, tied) = (0..rates.len()).map(|first| (first, tied_from(first))).max_by_key(|(_, tied)| *tied)?;
    if tied < TIES_AT_LEAST || (tied as f64) < TIES_SHARE * rates.len() as f64 {
        return None;
    }
    let text = format!(
        "{} of {} rates lie within {:.0} % of each other, from {}/s to {}/s: a limit that they share, such as the \
         generator's; they do not rank these servers",
        count(tied as u64),
        count(rates.len() as u64),
        TIES_SPREAD * 100.0,
        figure(rates[first]),
        figure(rates[first + tied - 1])
    );
    Some(Reason::new(Remark::Ties, text))
}
