//! Whether a server stays as it is: what it has after each cycle of load, against the requests that it was sent.
//!
//! Load, a pause, the same load again. What grows with each request grows as fast again after the pause, and not in it; what fills comes to
//! rest; what grows in the pause as well grows with time.

mod arrange;
mod line;
mod thresholds;
mod trend;
mod watched;

use model::{
    Grower, HeapKind, Kept, KeptTrend, LatencyCourse, Measured, Metric, Rule, RuleResult, Ruled, SOAK_SCHEMA, Soak,
    SoakDeath, SoakPart, Spell, TrendVerdict, Unit,
};

use crate::compare::Run;
use crate::statistics::{geometric_interval, geometric_mean, logarithms};
use crate::thresholds::CONFIDENCE;
pub(crate) use arrange::SoakPlanner;
use thresholds::{FEWEST_PAIRS, GROWERS, LEAST_SHARE, WARMS_UP};
use watched::{Cycle, watched};

/// What a soak came to; none where the plan is not one's.
pub(crate) fn soak(run: Run<'_>) -> Option<Soak> {
    run.plan.soak.as_ref()?;
    let cycles = watched(run.plan, run.trials);
    let target = run.plan.targets.first();
    let rate_per_s = run.plan.added.first().and_then(|cell| cell.load.model.mean_rate_per_s());
    let mut trends = trend::all(&cycles);
    trends.sort_by_key(|trend| TrendVerdict::ALL.iter().position(|verdict| *verdict == trend.verdict));
    Some(Soak {
        schema: SOAK_SCHEMA.to_owned(),
        question: run.plan.question.clone(),
        title: target.map_or(String::new(), |target| target.title.clone()),
        environment: run.environment.clone(),
        ended: arrange::ended(run.plan, run.trials),
        elapsed_s: None,
        most_per_s: arrange::most_per_s(run.plan, run.trials),
        most_cpus_used: arrange::most(run.trials).and_then(|first| first.observation.as_ref()?.all_cpus_used()),
        rate_per_s,
        growers: growers(&cycles, &trends),
        trends,
        latencies: [Metric::P50, Metric::P99].into_iter().filter_map(|metric| latency(run, &cycles, metric)).collect(),
        rules: run.plan.soak.iter().flat_map(|asked| &asked.rules).map(|rule| kept_to(&cycles, *rule)).collect(),
        died: died(run, &cycles),
        cycles: cycles.iter().map(Cycle::told).collect(),
    })
}

/// The cycles of a part; of the first one without those in which the server gets warm.
fn part<'a, 'b>(cycles: &'b [Cycle<'a>], of: SoakPart) -> Vec<&'b Cycle<'a>> {
    let all: Vec<&Cycle<'a>> = cycles.iter().filter(|cycle| cycle.part == of).collect();
    let warms_up = if of == SoakPart::First { (all.len() as f64 * WARMS_UP).ceil() as usize } else { 0 };
    all[warms_up..].to_vec()
}

/// How long replies took in the second part, by how long they took in the cycles of the first that lie as far from its end.
fn latency(run: Run<'_>, cycles: &[Cycle<'_>], metric: Metric) -> Option<LatencyCourse> {
    let (first, again) = (part(cycles, SoakPart::First), part(cycles, SoakPart::Again));
    let response = |cycle: &Cycle<'_>| cycle.response_us(metric).filter(|us| cycle.is_quiet(run.plan) && *us > 0.0);
    let pairs = first.iter().rev().zip(again.iter().rev());
    let (before, after): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(first, again)| Some((response(first)?, response(again)?))).unzip();
    let ratios: Vec<f64> = before.iter().zip(&after).map(|(before, after)| after / before).collect();
    let interval = geometric_interval(&ratios, CONFIDENCE).filter(|_| ratios.len() >= FEWEST_PAIRS)?;
    // A cycle is like the one before it: by as much fewer independent ones there are.
    let alike = line::depends(&logarithms(&ratios)?);
    let wider = ((1.0 + alike) / (1.0 - alike)).sqrt();
    let bound = |bound: f64| Some(interval.estimate * (bound / interval.estimate).powf(wider));
    let ratio = Measured {
        estimate: Some(interval.estimate),
        low: bound(interval.low),
        high: bound(interval.high),
        unit: Unit::None,
    };
    Some(LatencyCourse { metric, first_us: geometric_mean(&before)?, last_us: geometric_mean(&after)?, ratio })
}

/// How a rule was kept, and when it was not.
fn kept_to(cycles: &[Cycle<'_>], rule: Rule) -> RuleResult {
    let (mut worst, mut broken) = (None::<f64>, Vec::<Spell>::new());
    for (at, cycle) in cycles.iter().enumerate() {
        let Some(value) = cycle.ruled(rule.of) else { continue };
        let value = if rule.of == Ruled::FullCollections { within_an_hour(&cycles[..=at], rule.of) } else { value };
        worst = Some(worst.map_or(value, |worst| worst.max(value)));
        let is_kept = if rule.of == Ruled::Failed { !cycle.fails_beyond(rule.most) } else { value <= rule.most };
        if is_kept {
            continue;
        }
        let from_s = (cycle.at_s - cycle.length_s).max(0.0);
        match broken.last_mut().filter(|spell| at > 0 && spell.to_s >= cycles[at - 1].at_s) {
            Some(spell) => (spell.to_s, spell.worst) = (cycle.at_s, spell.worst.max(value)),
            None => broken.push(Spell { from_s, to_s: cycle.at_s, worst: value }),
        }
    }
    RuleResult { rule, worst, broken }
}

/// How often something happened within the hour before the end of the last of these cycles.
fn within_an_hour(cycles: &[Cycle<'_>], of: Ruled) -> f64 {
    let end_s = cycles.last().map_or(0.0, |cycle| cycle.at_s);
    let recent = cycles.iter().filter(|cycle| cycle.at_s > end_s - 3_600.0);
    recent.filter_map(|cycle| cycle.ruled(of)).sum()
}

/// What a heap that grows has more of than before, from the first cycle after the server was warm to the last.
fn growers(cycles: &[Cycle<'_>], trends: &[KeptTrend]) -> Vec<Grower> {
    let grows = |trend: &KeptTrend| {
        let verdicts = [TrendVerdict::Grows, TrendVerdict::GrowsWithTime, TrendVerdict::MayGrow];
        trend.of == Kept::Heap && verdicts.contains(&trend.verdict)
    };
    let heap = |cycle: &Cycle<'_>| cycle.observed().and_then(|seen| seen.heap.clone());
    let first = part(cycles, SoakPart::First).into_iter().find_map(heap);
    let last = cycles.iter().rev().find_map(heap);
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    if !trends.iter().any(grows) {
        return Vec::new();
    }
    let whole = last.bytes as f64 - first.bytes as f64;
    let grown = |kind: &HeapKind| {
        let before = first.kinds.iter().find(|before| before.name == kind.name);
        let by = |now: u64, before: Option<u64>| now as f64 - before.unwrap_or(0) as f64;
        let bytes = by(kind.bytes, before.map(|it| it.bytes));
        let objects = kind.objects.map(|now| by(now, before.and_then(|it| it.objects)));
        Grower { name: kind.name.clone(), bytes, objects, share: bytes / whole }
    };
    let mut all: Vec<Grower> =
        last.kinds.iter().map(grown).filter(|it| whole > 0.0 && it.share >= LEAST_SHARE).collect();
    all.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    all.truncate(GROWERS);
    all
}

fn died(run: Run<'_>, cycles: &[Cycle<'_>]) -> Option<SoakDeath> {
    let failure = run.trials.iter().find(|trial| arrange::has_died(trial))?.failure.as_ref()?;
    Some(SoakDeath { why: failure.why.clone(), cycles: cycles.len() as u64, printed: failure.output.clone() })
}

#[cfg(test)]
mod tests;
