//! Checks inside one latency distribution: no rate or load is needed.

use model::{
    AuditFigure, AuditSides, LatencyFigure, LatencyPoint, MeanSides, NotMade, Printed, Published, PublishedLatency,
};

use super::{Attempt, either, is_coarse, long_enough, missing};
use crate::thresholds::{AUDIT_SLACK, TIMER_EARLY_S};

/// A figure of the distribution.
type Figure = (LatencyPoint, Printed);

fn quantiles(latency: &PublishedLatency) -> impl Iterator<Item = Figure> {
    latency.quantiles.iter().map(|(q, value)| (LatencyPoint::Quantile(*q), *value))
}

fn published((figure, value): Figure) -> LatencyFigure {
    LatencyFigure { figure, us: value.printed }
}

/// Minimum, quantiles and maximum ascend, and the mean lies between the ends.
pub(super) fn order(latency: &PublishedLatency) -> Attempt {
    let min = latency.min.map(|min| (LatencyPoint::Min, min));
    let max = latency.max.map(|max| (LatencyPoint::Max, max));
    let mean = latency.mean.map(|mean| (LatencyPoint::Mean, mean));
    let figures: Vec<Figure> = min.into_iter().chain(quantiles(latency)).chain(max).collect();
    let neighbours = figures.iter().copied().zip(figures.iter().copied().skip(1));
    let pairs: Vec<(Figure, Figure)> = neighbours.chain(min.zip(mean)).chain(mean.zip(max)).collect();
    if pairs.is_empty() {
        return Err(NotMade::Unordered { only: figures.first().map(|(point, _)| *point), mean: mean.is_some() });
    }
    let breach = pairs.iter().find(|(lower, upper)| lower.1.low > upper.1.high * (1.0 + AUDIT_SLACK));
    let order = match breach {
        Some((lower, upper)) => vec![*lower, *upper],
        None => figures.into_iter().chain(mean).collect(),
    };
    either(breach.is_some(), AuditSides::Ordered { order: order.into_iter().map(published).collect() })
}

/// A handler that waits S before each reply lets none come sooner, timers that fire early aside. Where requests failed,
/// as many of the fastest may be theirs.
pub(super) fn delay(row: &Published) -> Attempt {
    let delay_s = row.handler_delay_s.ok_or_else(|| missing(&[(AuditFigure::HandlerDelay, false)]))?;
    let delay_s = long_enough(delay_s)?;
    let latency = &row.latency_us;
    let failed = match (row.errors, row.requests) {
        (Some(errors), Some(requests)) if requests > 0 => errors as f64 / requests as f64,
        (Some(errors), None) if errors > 0 => 1.0,
        _ => 0.0,
    };
    let whole =
        |point: LatencyPoint, value: Option<Printed>| value.filter(|_| failed == 0.0).map(|value| (point, value));
    let of_answers = quantiles(latency).filter(|(point, _)| matches!(point, LatencyPoint::Quantile(q) if *q > failed));
    let figures = whole(LatencyPoint::Min, latency.min)
        .into_iter()
        .chain(of_answers)
        .chain(whole(LatencyPoint::Mean, latency.mean))
        .chain(whole(LatencyPoint::Max, latency.max));
    let least_us = (delay_s - TIMER_EARLY_S) * 1e6;
    let lowest = figures.min_by(|a, b| a.1.high.total_cmp(&b.1.high));
    let lowest = lowest.ok_or_else(|| missing(&[(AuditFigure::LatencyOfReplies, false)]))?;
    either(
        lowest.1.high * (1.0 + AUDIT_SLACK) < least_us,
        AuditSides::Delayed { lowest: published(lowest), least_us, delay_s, early_s: TIMER_EARLY_S },
    )
}

/// The distribution as steps: pairs (share of the values, their bounds), from quantile to quantile.
struct Step {
    share: f64,
    least_us: f64,
    most_us: f64,
}

fn steps(latency: &PublishedLatency) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut below, mut least_us) = (0.0, latency.min.map_or(0.0, |min| min.low));
    for (q, value) in latency.quantiles.iter().filter(|(q, _)| *q < 1.0) {
        steps.push(Step { share: q - below, least_us, most_us: value.high });
        (below, least_us) = (*q, value.low);
    }
    let most_us = latency.max.map_or(f64::INFINITY, |max| max.high);
    steps.push(Step { share: 1.0 - below, least_us, most_us });
    steps
}

/// The mean is at least each value at the lower end of its step, and at most each at the upper end. Sharper than
/// mean ≥ (1 − q)·Q(q), which it contains. Tools define quantiles one sample apart: one sample is allowed for.
pub(super) fn mean(row: &Published) -> Attempt {
    let latency = &row.latency_us;
    let (Some(mean), false) = (latency.mean, latency.quantiles.is_empty()) else {
        return Err(missing(&[
            (AuditFigure::Mean, latency.mean.is_some()),
            (AuditFigure::Quantiles, !latency.quantiles.is_empty()),
        ]));
    };
    let steps = steps(latency);
    let one_us = one_sample(row) * steps.last().map_or(0.0, |step| step.least_us);
    let least_us = steps.iter().map(|step| step.share * step.least_us).sum::<f64>() - one_us;
    let most_us = steps.iter().map(|step| step.share * step.most_us).sum::<f64>() + one_us;
    let is_outside = mean.high < least_us || mean.low > most_us;
    if is_coarse(mean) && !is_outside {
        return Err(NotMade::Coarse { mean_us: mean });
    }
    either(
        mean.high * (1.0 + AUDIT_SLACK) < least_us || mean.low > most_us * (1.0 + AUDIT_SLACK),
        AuditSides::Between(MeanSides {
            mean_us: mean,
            least_us: least_us.max(0.0),
            most_us: Some(most_us).filter(|most_us| most_us.is_finite()),
            slack: is_outside.then_some(AUDIT_SLACK),
        }),
    )
}

/// Share of one sample; 0 where their number is not known.
fn one_sample(row: &Published) -> f64 {
    row.requests.filter(|n| *n > 0).map_or(0.0, |n| 1.0 / n as f64)
}

/// σ² ≤ (max − mean)·(mean − min) (Bhatia & Davis 2000, never above Popoviciu's (max − min)² ÷ 4), and
/// Q(q) − mean ≤ σ·√(q ÷ (1 − q)) (Cantelli), which for the median is |median − mean| ≤ σ.
pub(super) fn spread(row: &Published) -> Attempt {
    let latency = &row.latency_us;
    let (Some(mean), Some(stdev)) = (latency.mean, latency.stdev) else {
        return Err(missing(&[
            (AuditFigure::Mean, latency.mean.is_some()),
            (AuditFigure::Deviation, latency.stdev.is_some()),
        ]));
    };
    if latency.max.is_none() && latency.quantiles.is_empty() {
        return Err(missing(&[(AuditFigure::MaximumOrQuantiles, false)]));
    }
    let breach = too_wide(row, mean, stdev).or_else(|| too_far(row, mean, stdev));
    if breach.is_none() && is_coarse(mean) {
        return Err(NotMade::Coarse { mean_us: mean });
    }
    either(breach.is_some(), breach.unwrap_or(AuditSides::Fits { stdev_us: stdev.printed }))
}

fn too_wide(row: &Published, mean: Printed, stdev: Printed) -> Option<AuditSides> {
    let (min_us, max_us) = (row.latency_us.min.map_or(0.0, |min| min.low), row.latency_us.max?.high);
    // The product is largest where the mean is in the middle between the ends.
    let mean_us = f64::midpoint(min_us, max_us).clamp(mean.low, mean.high);
    let samples = row.requests.filter(|n| *n > 1).map_or(1.0, |n| n as f64 / (n as f64 - 1.0));
    let most_us = (samples * ((max_us - mean_us) * (mean_us - min_us)).max(0.0)).sqrt();
    let is_broken = stdev.low > most_us * (1.0 + AUDIT_SLACK);
    is_broken.then_some(AuditSides::TooWide { stdev_us: stdev.printed, most_us })
}

fn too_far(row: &Published, mean: Printed, stdev: Printed) -> Option<AuditSides> {
    let quantiles = row.latency_us.quantiles.iter();
    quantiles.filter(|(q, _)| *q < 1.0 && *q > 0.0).find_map(|(q, value)| {
        let above = 1.0 - q + one_sample(row);
        let below = q + one_sample(row);
        let most_above_us = stdev.high * (below / (1.0 - q)).sqrt().max((below / above).sqrt());
        let most_below_us = stdev.high * (above / q).sqrt();
        let slack_us = AUDIT_SLACK * value.high;
        let most_us = if value.low - mean.high > most_above_us + slack_us {
            most_above_us
        } else if mean.low - value.high > most_below_us + slack_us {
            most_below_us
        } else {
            return None;
        };
        Some(AuditSides::TooFar { q: *q, quantile_us: value.printed, mean_us: mean.printed, most_us })
    })
}
