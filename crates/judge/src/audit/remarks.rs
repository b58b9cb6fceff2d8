//! What does not contradict anything, but should be known by whoever reads the figures.

use model::{AuditRemark, AuditSource, Printed, Published};

use super::in_clock;
use crate::thresholds::{
    ALLOWED_FAILURES, AUDIT_SLACK, EQUAL_QUANTILES, SIGNIFICANCE, TIES_AT_LEAST, TIES_SHARE, TIES_SPREAD,
};

/// Remarks about one result.
pub(super) fn of_row(row: &Published) -> Vec<AuditRemark> {
    let remarks = [
        failed_requests(row),
        not_numbers(row),
        time_outs(row),
        added_samples(row),
        waiting_for_workers(row),
        equal_quantiles(row),
        not_estimable(row),
    ];
    remarks.into_iter().flatten().collect()
}

/// Remarks about results side by side.
pub(super) fn of_all(rows: &[Published]) -> Vec<AuditRemark> {
    ties(rows).into_iter().collect()
}

/// The share of the requests that failed.
pub(super) fn failed_share(row: &Published) -> Option<f64> {
    row.failed_of().map(|(failed, all)| failed as f64 / all as f64)
}

/// A failure is no answer, and its time none of an answer.
fn failed_requests(row: &Published) -> Option<AuditRemark> {
    let ((failed, requests), share) = (row.failed_of()?, failed_share(row)?);
    let allowed = (share > ALLOWED_FAILURES).then_some(ALLOWED_FAILURES);
    (failed > 0).then_some(AuditRemark::FailedRequests { failed, requests, allowed })
}

/// No measurement gives what is not a number, and what is not given contradicts nothing.
fn not_numbers(row: &Published) -> Option<AuditRemark> {
    (row.not_numbers > 0).then_some(AuditRemark::NotNumbers { not_numbers: row.not_numbers })
}

/// What wrk calls time-outs: replies that it counts among the requests, or connections that it found waiting.
fn time_outs(row: &Published) -> Option<AuditRemark> {
    (row.timed_out > 0).then_some(AuditRemark::TimeOuts { time_outs: row.timed_out, source: row.source })
}

/// wrk 4 adds samples that nobody measured for each latency above twice the mean time between the requests of a
/// connection (`stats_correct` in its stats.c, called before it prints), so that its latencies are not those of the
/// requests that its rate counts.
fn added_samples(row: &Published) -> Option<AuditRemark> {
    let (rate, slowest, connections) = (row.rate_per_s?, row.latency_us.max?, row.connections?);
    let limit_us = 2.0 * connections as f64 / rate.low * 1e6;
    let is_added = row.source == AuditSource::Wrk && slowest.low > limit_us * (1.0 + AUDIT_SLACK);
    is_added.then_some(AuditRemark::AddedSamples { limit_us, slowest_us: slowest.printed })
}

/// Where more requests are in the clock than can be worked on, the latency includes waiting for a worker.
fn waiting_for_workers(row: &Published) -> Option<AuditRemark> {
    let (workers, in_clock) = (row.workers?, in_clock(row.rate_per_s?, row.latency_us.mean?));
    let waits = in_clock.low > workers as f64;
    waits.then_some(AuditRemark::WaitingForWorkers { in_clock: in_clock.printed, workers })
}

/// Neighbouring quantiles that are the same to all their digits, as when one is stored under the other's name.
fn equal_quantiles(row: &Published) -> Option<AuditRemark> {
    let quantiles = &row.latency_us.quantiles;
    let precise = |value: &Printed| value.low > 0.0 && value.high / value.low - 1.0 <= EQUAL_QUANTILES;
    let below_all = |(q, _): &(f64, Printed)| *q < 1.0;
    let pairs = quantiles.iter().zip(quantiles.iter().skip(1).filter(|pair| below_all(pair)));
    let (first, second) = pairs.into_iter().find(|(a, b)| a.1 == b.1 && precise(&a.1))?;
    Some(AuditRemark::EqualQuantiles { low_q: first.0, high_q: second.0, us: first.1.printed })
}

/// Fewest samples for a two-sided 95 % interval around a quantile from binomial order statistics: ln 0.025 ÷ ln q.
fn required_samples(q: f64) -> u64 {
    ((SIGNIFICANCE / 2.0).ln() / q.ln()).ceil() as u64
}

fn not_estimable(row: &Published) -> Option<AuditRemark> {
    let requests = row.requests?;
    let quantiles = row.latency_us.quantiles.iter().map(|(q, _)| *q).filter(|q| (0.5..1.0).contains(q));
    let needed = quantiles.map(|q| (q, required_samples(q))).filter(|(_, needed)| requests < *needed);
    let needed: Vec<(f64, u64)> = needed.collect();
    (!needed.is_empty()).then_some(AuditRemark::NotEstimable { requests, needed })
}

/// Many rates closer together than independent servers come: a limit that they share.
fn ties(rows: &[Published]) -> Option<AuditRemark> {
    let mut rates: Vec<f64> = rows.iter().filter_map(|row| row.rate_per_s).map(|figure| figure.printed).collect();
    rates.retain(|rate| *rate > 0.0);
    rates.sort_by(f64::total_cmp);
    let tied_from = |first: usize| rates.partition_point(|rate| *rate <= rates[first] * (1.0 + TIES_SPREAD)) - first;
    let (first, tied) = (0..rates.len()).map(|first| (first, tied_from(first))).max_by_key(|(_, tied)| *tied)?;
    if tied < TIES_AT_LEAST || (tied as f64) < TIES_SHARE * rates.len() as f64 {
        return None;
    }
    Some(AuditRemark::Ties {
        tied: tied as u64,
        rates: rates.len() as u64,
        spread: TIES_SPREAD,
        least_per_s: rates[first],
        most_per_s: rates[first + tied - 1],
    })
}
