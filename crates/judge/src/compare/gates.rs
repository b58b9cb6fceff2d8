//! What became of the gates.

use model::{
    Cell, CompareRow, ComparisonVerdict, Gate, GateResult, GateSide, GateVerdict, Measured, Scale, Unit, Withheld,
};

use super::needed::AtLast;
use crate::comparisons::doubt;
use crate::guard::Doubt;
use crate::pair::{LaunchSelection, Pair};
use crate::statistics::{Interval, LogRatio};

/// A gate under every set of conditions; `rows` are those of the pairs.
pub(super) fn held(gate: &Gate, pairs: &[Pair<'_>], rows: &[CompareRow]) -> Vec<GateResult> {
    let of_metric = |pair: &Pair| {
        let place = pair.place();
        rows.iter().find(|row| row.metric == gate.metric && row.conditions == place).cloned()
    };
    // A gate must not be passed by what was not measured.
    let of_pair = |pair: &Pair| match of_metric(pair) {
        Some(row) => result(gate, pair, &row),
        None => GateResult { conditions: pair.place(), ..unmeasured(gate) },
    };
    if pairs.iter().all(|pair| of_metric(pair).is_none()) {
        return vec![unmeasured(gate)];
    }
    pairs.iter().map(of_pair).collect()
}

fn unmeasured(gate: &Gate) -> GateResult {
    GateResult {
        gate: gate.to_string(),
        metric: gate.metric,
        conditions: Cell::default(),
        ratio: Measured { estimate: None, low: None, high: None, unit: Unit::Ratio },
        difference: None,
        verdict: GateVerdict::Undecided,
        withheld: None,
        withheld_of: Vec::new(),
        in_doubt: None,
        needs_blocks: None,
    }
}

/// Each gate is asked for by itself, as a claim is: there is no family of them.
fn result(gate: &Gate, pair: &Pair<'_>, row: &CompareRow) -> GateResult {
    if pair.gives_nothing(gate.metric) {
        return GateResult { conditions: pair.place(), verdict: GateVerdict::Broken, ..unmeasured(gate) };
    }
    // It may become worse, and there is nothing that could.
    if pair.have_none(gate.metric) && gate.side == GateSide::Below && gate.change >= 0.0 {
        return GateResult { conditions: pair.place(), verdict: GateVerdict::Held, ..unmeasured(gate) };
    }
    let change = pair.change(gate.metric, pair.confidence());
    let seen = side(gate, pair, change);
    let is_open = |at_last: &AtLast| side_of(gate, &at_last.apart) == GateVerdict::Undecided;
    let undecided = change.filter(|found| pair.is_enough(found) && seen == GateVerdict::Undecided);
    let withheld = pair
        .incomparable(gate.metric)
        .or_else(|| withheld(gate, pair, seen))
        .or_else(|| undecided.and_then(|_| pair.open_for_good(gate.metric, is_open)));
    let is_undecided = seen == GateVerdict::Undecided && withheld.is_none();
    let needs_blocks = is_undecided.then(|| pair.needs_for_a_side(gate.metric, limit(gate), is_open)).flatten();
    let too_busy = needs_blocks.and_then(|blocks| pair.too_busy(gate.metric, blocks, is_open));
    let withheld = withheld.or(too_busy);
    GateResult {
        gate: gate.to_string(),
        metric: gate.metric,
        conditions: row.conditions.clone(),
        ratio: row.ratio.clone(),
        difference: row.difference.clone(),
        verdict: if withheld.is_some() { GateVerdict::Undecided } else { seen },
        withheld,
        withheld_of: withheld.map_or(Vec::new(), |why| pair.sides(gate.metric, why)),
        in_doubt: withheld.and_then(|why| pair.in_doubt(gate.metric, why)),
        needs_blocks: needs_blocks.filter(|_| too_busy.is_none()),
    }
}

/// Why what the figures say of a gate is not evidence, where it is not: a broken gate says that the new server is
/// worse than its limit, one that holds that it is better.
fn withheld(gate: &Gate, pair: &Pair<'_>, seen: GateVerdict) -> Option<Withheld> {
    let says = match seen {
        GateVerdict::Broken => ComparisonVerdict::Slower,
        GateVerdict::Held => ComparisonVerdict::Faster,
        GateVerdict::Undecided => return None,
    };
    let judge = |doubts: &[Doubt]| {
        side(gate, pair, pair.within(gate.metric, (LaunchSelection::All, doubts), pair.confidence()))
    };
    let stands = |found: Option<LogRatio>| side(gate, pair, found) == seen;
    doubt([pair.new, pair.old], gate.metric, seen, judge)
        .or_else(|| pair.noise(gate.metric, (says, limit(gate)), pair.confidence(), stands))
}

/// On which side of the limit the change is; undecided with fewer blocks than a verdict needs.
fn side(gate: &Gate, pair: &Pair<'_>, found: Option<LogRatio>) -> GateVerdict {
    let enough = found.filter(|found| pair.is_enough(found));
    enough.map_or(GateVerdict::Undecided, |found| side_of(gate, &found.interval))
}

/// A gate's limit on the scale on which changes are compared.
fn limit(gate: &Gate) -> f64 {
    match gate.metric.scale() {
        Scale::Ratio => gate.change.ln_1p(),
        Scale::Difference => gate.change,
    }
}

fn side_of(gate: &Gate, interval: &Interval) -> GateVerdict {
    let limit = limit(gate);
    let (below, above) = (interval.high < limit, interval.low > limit);
    match gate.side {
        GateSide::Below if below => GateVerdict::Held,
        GateSide::Above if above => GateVerdict::Held,
        _ if below || above => GateVerdict::Broken,
        _ => GateVerdict::Undecided,
    }
}
