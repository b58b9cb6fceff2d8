use model::{Cell, Comparison, ComparisonVerdict, Metric, Rank, RankGroup};

use super::{COMPARED, can_tie};
use crate::cells::{failing, measured};
use crate::records::{Records, by_conditions};
use crate::thresholds::BLOCKS_FOR_A_VERDICT;

/// A target that stands for a rank.
#[derive(Debug, Clone)]
pub(crate) struct Entrant {
    pub(crate) target: String,
    /// Its value; none when nothing is known.
    pub(crate) estimate: Option<f64>,
    /// Whether it may be ranked: enough launches, nothing in doubt that keeps it from a tie, and no bad answer.
    pub(crate) rankable: bool,
}

/// The rank groups of every metric under every set of conditions with two targets or more.
pub(crate) fn group(records: &Records, comparisons: &[Comparison]) -> Vec<RankGroup> {
    let mut groups = Vec::new();
    for cells in by_conditions(records.plan).into_iter().filter(|cells| cells.len() >= 2) {
        for metric in COMPARED {
            let entrants: Vec<Entrant> = cells.iter().map(|cell| entrant(records, *cell, metric)).collect();
            if entrants.iter().any(|entrant| entrant.estimate.is_some()) {
                let conditions = records.plan.cells[cells[0]].levels.conditions();
                groups.push(rank(metric, conditions, entrants, comparisons));
            }
        }
    }
    groups
}

fn entrant(records: &Records, cell: usize, metric: Metric) -> Entrant {
    let values = records.values(cell, metric);
    let is_known = can_tie(records, cell, metric) && !failing(records, cell).bad;
    Entrant {
        target: records.plan.cells[cell].levels.target().to_owned(),
        estimate: measured(&values, metric.unit()).estimate,
        rankable: values.len() >= BLOCKS_FOR_A_VERDICT && is_known,
    }
}

/// Ranks targets so that no rank contradicts a pair.
///
/// In the order of their estimates, a target joins the current group unless some member of it is significantly
/// better; then it begins the next. So two targets that share a rank were never distinguishable, and of two that were, the
/// better one stands before the other. (The converse cannot hold: being distinguishable is not transitive, so neighbours
/// across a border may be tied as a pair.) A shared rank counts for all its members: 1, 1, 3.
pub(crate) fn rank(metric: Metric, conditions: Cell, entrants: Vec<Entrant>, comparisons: &[Comparison]) -> RankGroup {
    let better = |one: &Entrant, other: &Entrant| {
        comparisons.iter().any(|c| {
            let about = c.metric == metric && c.conditions == conditions;
            let forward = c.a == one.target && c.b == other.target && c.verdict == ComparisonVerdict::Faster;
            let backward = c.b == one.target && c.a == other.target && c.verdict == ComparisonVerdict::Slower;
            about && (forward || backward)
        })
    };
    let (ranked, unranked): (Vec<Entrant>, Vec<Entrant>) = entrants.into_iter().partition(|entrant| entrant.rankable);
    let mut groups: Vec<Vec<Entrant>> = Vec::new();
    for entrant in ordered(by_estimate(ranked, metric), better) {
        match groups.last_mut() {
            Some(group) if !group.iter().any(|m| better(m, &entrant) || better(&entrant, m)) => group.push(entrant),
            _ => groups.push(vec![entrant]),
        }
    }
    let mut ranks = competition(groups);
    let none = |entrant: Entrant| Rank { rank: None, tied: false, target: entrant.target };
    ranks.extend(by_estimate(unranked, metric).into_iter().map(none));
    RankGroup { metric, conditions, ranks }
}

/// Best estimate first; those without one last. Equal estimates keep the order of the plan.
fn by_estimate(mut entrants: Vec<Entrant>, metric: Metric) -> Vec<Entrant> {
    let key = |entrant: &Entrant| {
        let value = entrant.estimate.map(|value| if metric.more_is_better() { -value } else { value });
        value.unwrap_or(f64::INFINITY)
    };
    entrants.sort_by(|left, right| key(left).total_cmp(&key(right)));
    entrants
}

/// Moves a target behind those that are significantly better. Void launches can make the order of the estimates, each
/// over its own launches, differ from that of the pairs, which share their blocks; then the pairs count.
fn ordered(mut left: Vec<Entrant>, better: impl Fn(&Entrant, &Entrant) -> bool) -> Vec<Entrant> {
    let mut order = Vec::new();
    while !left.is_empty() {
        let unbeaten = left.iter().position(|one| !left.iter().any(|other| better(other, one)));
        order.push(left.remove(unbeaten.unwrap_or(0)));
    }
    order
}

fn competition(groups: Vec<Vec<Entrant>>) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::new();
    for group in groups {
        let (place, tied) = (ranks.len() as u32 + 1, group.len() > 1);
        ranks.extend(group.into_iter().map(|entrant| Rank { rank: Some(place), tied, target: entrant.target }));
    }
    ranks
}
