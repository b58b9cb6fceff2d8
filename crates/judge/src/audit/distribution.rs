//! Checks inside one latency distribution: no rate or load is needed.

use model::{AuditFigure, Printed, Published, PublishedLatency};

use super::{Attempt, TOO_SHORT_A_DELAY, Tried, is_coarse, missing, too_coarse};
use crate::figures::{micros, quantile_name};
use crate::thresholds::{AUDIT_SLACK, TIMER_EARLY_S};

/// Minimum, quantiles and maximum ascend, and the mean lies between the ends.
pub(super) fn order(latency: &PublishedLatency) -> Attempt {
    let mut figures: Vec<(String, Printed)> = latency.min.map(|min| ("min".to_owned(), min)).into_iter().collect();
    figures.extend(latency.quantiles.iter().map(|(q, value)| (quantile_name(*q), *value)));
    figures.extend(latency.max.map(|max| ("max".to_owned(), max)));
    let mean = latency.mean.map(|mean| ("mean".to_owned(), mean));
    let mut pairs: Vec<_> = figures.iter().zip(figures.iter().skip(1)).collect();
    if let Some(mean) = &mean {
        pairs.extend(figures.first().filter(|_| latency.min.is_some()).map(|min| (min, mean)));
        pairs.extend(figures.last().filter(|_| latency.max.is_some()).map(|max| (mean, max)));
    }
    if pairs.is_empty() {
        return Err(unordered(&figures, mean.is_some()).into());
    }
    let breach = pairs.iter().find(|(lower, upper)| lower.1.low > upper.1.high * (1.0 + AUDIT_SLACK));
    let shown = |figure: &(String, Printed)| format!("{} {}", figure.0, micros(figure.1.printed));
    Ok(match breach {
        Some((lower, upper)) => Tried::broken(format!("{} > {}", shown(lower), shown(upper))),
        None => {
            let names: Vec<&str> = figures.iter().chain(&mean).map(|(name, _)| name.as_str()).collect();
            Tried::holding(format!("{} are in order", names.join(", ")))
        }
    })
}

/// What is missing where nothing that is given must be above or below anything else.
fn unordered(figures: &[(String, Printed)], has_mean: bool) -> String {
    match (figures, has_mean) {
        ([(only, _), ..], true) => {
            format!("not given: a minimum, a maximum or a second quantile (a mean may lie above or below a {only})")
        }
        ([(only, _), ..], false) => format!("not given: a figure to hold the {only} against"),
        ([], true) => "not given: a minimum or a maximum to hold the mean against".to_owned(),
        ([], false) => "not given: two of minimum, mean, quantiles, maximum".to_owned(),
    }
}

/// A handler that waits S before each reply lets none come sooner, timers that fire early aside. Where requests failed,
/// as many of the fastest may be theirs.
pub(super) fn delay(row: &Published) -> Attempt {
    let Some(delay_s) = row.handler_delay_s else { return Err(missing(&[(AuditFigure::HandlerDelay, false)])) };
    if delay_s <= TIMER_EARLY_S {
        return Err(TOO_SHORT_A_DELAY.to_owned().into());
    }
    let latency = &row.latency_us;
    let failed = match (row.errors, row.requests) {
        (Some(errors), Some(requests)) if requests > 0 => errors as f64 / requests as f64,
        (Some(errors), None) if errors > 0 => 1.0,
        _ => 0.0,
    };
    let whole = |figure: Option<Printed>| figure.filter(|_| failed == 0.0);
    let mut figures: Vec<(String, Printed)> = Vec::new();
    figures.extend(whole(latency.min).map(|min| ("min".to_owned(), min)));
    figures.extend(latency.quantiles.iter().filter(|(q, _)| *q > failed).map(|(q, value)| (quantile_name(*q), *value)));
    figures.extend(whole(latency.mean).map(|mean| ("mean".to_owned(), mean)));
    figures.extend(whole(latency.max).map(|max| ("max".to_owned(), max)));
    let least_us = (delay_s - TIMER_EARLY_S) * 1e6;
    let Some((name, lowest)) = figures.iter().min_by(|a, b| a.1.high.total_cmp(&b.1.high)) else {
        return Err(missing(&[(AuditFigure::LatencyOfReplies, false)]));
    };
    let sides = format!("{name} {}", micros(lowest.printed));
    let bound = format!("S − 1 ms = {}", micros(least_us));
    Ok(Tried::either(
        lowest.high * (1.0 + AUDIT_SLACK) < least_us,
        format!("{sides} < {bound}: replies came sooner than a handler that waits {}", micros(delay_s * 1e6)),
        format!("{sides}, the lowest latency, can be as long as {bound}"),
    ))
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
    let shown = micros(mean.printed);
    if is_coarse(mean) && mean.low <= most_us && mean.high >= least_us {
        return Err(too_coarse(Some(mean)).into());
    }
    if mean.high * (1.0 + AUDIT_SLACK) < least_us {
        let text = format!("mean {shown} < {}, the least that its quantiles allow", micros(least_us));
        return Ok(Tried::broken(text));
    }
    if mean.low > most_us * (1.0 + AUDIT_SLACK) {
        let text = format!("mean {shown} > {}, the most that quantiles and maximum allow", micros(most_us));
        return Ok(Tried::broken(text));
    }
    let at_least = micros(least_us.max(0.0));
    let at_most = if most_us.is_finite() { format!(" nor above {}", micros(most_us)) } else { String::new() };
    let rounded = match mean.printed < least_us || mean.printed > most_us {
        true => format!(" ({} to {} within the rounding)", micros(mean.low), micros(mean.high)),
        false => String::new(),
    };
    let slack = if mean.high < least_us || mean.low > most_us { ", with 1 % of slack" } else { "" };
    Ok(Tried::holding(format!("mean {shown}{rounded}, not below {at_least}{at_most}{slack}, as its quantiles ask")))
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
    let breach = too_wide(row, mean, stdev).or_else(|| too_narrow(row, mean, stdev));
    let fits = format!("standard deviation {} fits mean, quantiles and extremes", micros(stdev.printed));
    if breach.is_none() && is_coarse(mean) {
        return Err(too_coarse(Some(mean)).into());
    }
    Ok(breach.map_or_else(|| Tried::holding(fits), Tried::broken))
}

fn too_wide(row: &Published, mean: Printed, stdev: Printed) -> Option<String> {
    let (min_us, max_us) = (row.latency_us.min.map_or(0.0, |min| min.low), row.latency_us.max?.high);
    // The product is largest where the mean is in the middle between the ends.
    let mean_us = f64::midpoint(min_us, max_us).clamp(mean.low, mean.high);
    let samples = row.requests.filter(|n| *n > 1).map_or(1.0, |n| n as f64 / (n as f64 - 1.0));
    let most_us = (samples * ((max_us - mean_us) * (mean_us - min_us)).max(0.0)).sqrt();
    (stdev.low > most_us * (1.0 + AUDIT_SLACK)).then(|| {
        let shown = micros(stdev.printed);
        format!("standard deviation {shown} > √((max − mean)·(mean − min)) = {}", micros(most_us))
    })
}

fn too_narrow(row: &Published, mean: Printed, stdev: Printed) -> Option<String> {
    let quantiles = row.latency_us.quantiles.iter();
    quantiles.filter(|(q, _)| *q < 1.0 && *q > 0.0).find_map(|(q, value)| {
        let above = 1.0 - q + one_sample(row);
        let below = q + one_sample(row);
        let most_above_us = stdev.high * (below / (1.0 - q)).sqrt().max((below / above).sqrt());
        let most_below_us = stdev.high * (above / q).sqrt();
        let slack_us = AUDIT_SLACK * value.high;
        let name = quantile_name(*q);
        let shown = format!("{name} {} and mean {}", micros(value.printed), micros(mean.printed));
        if value.low - mean.high > most_above_us + slack_us {
            let most = micros(most_above_us);
            return Some(format!("{shown} are further apart than σ·√(q ÷ (1 − q)) = {most}"));
        }
        (mean.low - value.high > most_below_us + slack_us)
            .then(|| format!("{shown} are further apart than σ·√((1 − q) ÷ q) = {}", micros(most_below_us)))
    })
}
