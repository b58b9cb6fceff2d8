use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Comparison, ComparisonVerdict, Metric, Rank, RankGroup, Withheld};

use super::{COMPARED, can_tie};
use crate::cells::measured;
use crate::records::Records;
use crate::thresholds::BLOCKS_FOR_A_VERDICT;

/// A target that stands for a rank.
#[derive(Debug, Clone)]
struct Entrant {
    target: String,
    /// Its value; none when nothing is known.
    estimate: Option<f64>,
    /// Whether it may be ranked: enough launches, nothing in doubt that keeps it from a tie, and no bad answer.
    rankable: bool,
}

/// What the comparisons of a group say of its pairs.
#[derive(Default)]
struct Pairs<'a> {
    /// Of which the first is the better one.
    better: BTreeSet<(&'a str, &'a str)>,
    /// Whose difference is seen, and may be the work of what kept the machine busy: neither of them is better, and they are
    /// no tie.
    disturbed: BTreeSet<(&'a str, &'a str)>,
}

impl Pairs<'_> {
    fn is_better(&self, one: &Entrant, other: &Entrant) -> bool {
        self.better.contains(&(one.target.as_str(), other.target.as_str()))
    }

    /// Whether the order of these is open.
    fn is_open(&self, group: &[Entrant]) -> bool {
        let has = |target: &str| group.iter().any(|entrant| entrant.target == target);
        self.disturbed.iter().any(|(a, b)| has(a) && has(b))
    }
}

/// The rank groups of every metric under every set of conditions with two targets or more.
pub(crate) fn group(records: &Records, comparisons: &[Comparison]) -> Vec<RankGroup> {
    let (pairs, none) = (pairs(comparisons), Pairs::default());
    let mut groups = Vec::new();
    for cells in records.plan.by_conditions().into_iter().filter(|cells| cells.len() >= 2) {
        let conditions = records.plan.cells[cells[0]].levels.conditions();
        for metric in COMPARED {
            let entrants: Vec<Entrant> = cells.iter().map(|cell| entrant(records, *cell, metric)).collect();
            if entrants.iter().any(|entrant| entrant.estimate.is_some()) {
                let pairs = pairs.get(&(metric, &conditions)).unwrap_or(&none);
                groups.push(RankGroup { metric, conditions: conditions.clone(), ranks: rank(metric, entrants, pairs) });
            }
        }
    }
    groups
}

/// Who is significantly better than whom, and of whom noise leaves it open, by metric and conditions.
fn pairs(comparisons: &[Comparison]) -> BTreeMap<(Metric, &Cell), Pairs<'_>> {
    let mut pairs: BTreeMap<_, Pairs> = BTreeMap::new();
    for c in comparisons {
        let of = pairs.entry((c.metric, &c.conditions)).or_default();
        let (a, b) = (c.a.as_str(), c.b.as_str());
        match c.verdict {
            ComparisonVerdict::Faster => of.better.insert((a, b)),
            ComparisonVerdict::Slower => of.better.insert((b, a)),
            ComparisonVerdict::Inconclusive if is_left_open_by_noise(c) => of.disturbed.insert((a, b)),
            ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => continue,
        };
    }
    pairs
}

/// Whether a difference is seen that noise alone could have made. A rank that is shared says only that none is seen.
fn is_left_open_by_noise(pair: &Comparison) -> bool {
    pair.withheld.is_some_and(Withheld::is_noise) && pair.seen != Some(ComparisonVerdict::Same)
}

fn entrant(records: &Records, cell: usize, metric: Metric) -> Entrant {
    let values = records.values(cell, metric);
    let is_known = can_tie(records, cell, metric) && !records.together(cell).failing.bad;
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
/// A group in which noise alone could have made what is seen between two has no rank, and keeps its place.
fn rank(metric: Metric, entrants: Vec<Entrant>, pairs: &Pairs) -> Vec<Rank> {
    let better = |one: &Entrant, other: &Entrant| pairs.is_better(one, other);
    let (ranked, unranked): (Vec<Entrant>, Vec<Entrant>) = entrants.into_iter().partition(|entrant| entrant.rankable);
    let mut groups: Vec<Vec<Entrant>> = Vec::new();
    for entrant in ordered(by_estimate(ranked, metric), better) {
        match groups.last_mut() {
            Some(group) if !group.iter().any(|m| better(m, &entrant) || better(&entrant, m)) => group.push(entrant),
            _ => groups.push(vec![entrant]),
        }
    }
    let mut ranks = competition(groups, pairs);
    let none = |entrant: Entrant| Rank { rank: None, tied: false, target: entrant.target };
    ranks.extend(by_estimate(unranked, metric).into_iter().map(none));
    ranks
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

fn competition(groups: Vec<Vec<Entrant>>, pairs: &Pairs) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::new();
    for group in groups {
        let rank = (!pairs.is_open(&group)).then_some(ranks.len() as u32 + 1);
        let tied = rank.is_some() && group.len() > 1;
        ranks.extend(group.into_iter().map(|entrant| Rank { rank, tied, target: entrant.target }));
    }
    ranks
}
