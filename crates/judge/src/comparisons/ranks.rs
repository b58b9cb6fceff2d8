use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, CellAnalysis, Comparison, ComparisonVerdict, Mark, Metric, Population, Rank, RankGroup, Withheld};

use super::{COMPARED, can_tie, counts_unlike};
use crate::records::Records;

/// A target that stands for a rank.
#[derive(Debug, Clone)]
struct Entrant {
    target: String,
    /// Its value; none when nothing is known.
    estimate: Option<f64>,
    /// Whether it takes a place: a launch that counts, and no bad answer. One without a figure may stand anywhere.
    counts: bool,
    /// Whether it may be called too close to call: enough launches, and less in doubt than the margin.
    can_tie: bool,
}

/// What the comparisons of a group say of its pairs.
#[derive(Clone, Default)]
struct Pairs<'a> {
    /// Of which the first is the better one.
    better: BTreeSet<(&'a str, &'a str)>,
    /// Whose difference is seen, and may be the work of what kept the machine busy, or of figures that count different things: neither
    /// of them is better, and they are no tie.
    open: BTreeSet<(&'a str, &'a str)>,
    /// Of which the figures alone say nothing.
    undecided: BTreeSet<(&'a str, &'a str)>,
}

impl Pairs<'_> {
    fn is_better(&self, one: &Entrant, other: &Entrant) -> bool {
        self.better.contains(&(one.target.as_str(), other.target.as_str()))
    }

    /// Whether one of the two is better.
    fn differ(&self, one: &Entrant, other: &Entrant) -> bool {
        self.is_better(one, other) || self.is_better(other, one)
    }

    /// Whether nobody knows which of two is better, and they are no tie either.
    fn is_open(&self, one: &Entrant, other: &Entrant) -> bool {
        let (a, b) = (one.target.as_str(), other.target.as_str());
        let can_tie = one.can_tie && other.can_tie && !self.open.contains(&(a, b)) && !self.open.contains(&(b, a));
        a != b && !can_tie && !self.differ(one, other)
    }
}

/// The rank groups of every metric under every set of conditions with two targets or more.
pub(crate) fn group(records: &Records, comparisons: &[Comparison]) -> Vec<RankGroup> {
    let pairs = pairs(comparisons);
    let mut groups = Vec::new();
    for cells in records.plan.by_conditions().into_iter().filter(|cells| cells.len() >= 2) {
        let conditions = records.plan.cells[cells[0]].levels.conditions();
        for metric in COMPARED {
            let entrants: Vec<Entrant> = cells.iter().map(|cell| entrant(records, *cell, metric)).collect();
            if entrants.iter().any(|entrant| entrant.estimate.is_some()) {
                let mut pairs = pairs.get(&(metric, &conditions)).cloned().unwrap_or_default();
                let cell =
                    |name: &str| cells.iter().copied().find(|at| records.plan.cells[*at].levels.target() == name);
                let counts_unlike = |(a, b): &(&str, &str)| {
                    let of = cell(a).zip(cell(b));
                    of.is_some_and(|(a, b)| counts_unlike(records, [a, b], metric))
                };
                pairs.open.extend(pairs.undecided.iter().filter(|pair| counts_unlike(pair)));
                groups.push(RankGroup {
                    metric,
                    conditions: conditions.clone(),
                    leads: false,
                    ranks: rank(metric, entrants, &pairs),
                });
            }
        }
    }
    groups
}

/// Says of each group whether it leads: whether its metric is what distinguishes the targets.
pub(crate) fn choose_leaders(groups: &mut [RankGroup], cells: &[CellAnalysis]) {
    let mut alike: BTreeMap<Cell, Vec<&CellAnalysis>> = BTreeMap::new();
    cells.iter().for_each(|cell| alike.entry(cell.levels.conditions()).or_default().push(cell));
    for group in groups {
        let leading = alike.get(&group.conditions).and_then(|cells| leading(cells));
        group.leads = leading == Some(group.metric);
    }
}

/// By what targets under the same conditions are ranked. In an open load all of them get the rate that was asked, unless they
/// fall behind, and what distinguishes them is how long the replies take; unless that is as much the generator's doing.
fn leading(cells: &[&CellAnalysis]) -> Option<Metric> {
    let is_open = cells.iter().any(|cell| cell.latency_us.population == Population::Response);
    let is_late = |cell: &&CellAnalysis| {
        let by = [Mark::Lateness, Mark::Standstill];
        cell.marks.iter().any(|note| by.contains(&note.mark()) && note.is_about(Metric::P99))
    };
    match (is_open, cells.iter().any(is_late)) {
        (false, _) => Some(Metric::Throughput),
        (true, false) => Some(Metric::P99),
        (true, true) => None,
    }
}

/// Who is significantly better than whom, and of whom it is open, by metric and conditions.
fn pairs(comparisons: &[Comparison]) -> BTreeMap<(Metric, &Cell), Pairs<'_>> {
    let mut pairs: BTreeMap<_, Pairs> = BTreeMap::new();
    for c in comparisons {
        let of = pairs.entry((c.metric, &c.conditions)).or_default();
        let (a, b) = (c.a.as_str(), c.b.as_str());
        match c.verdict {
            ComparisonVerdict::Faster => of.better.insert((a, b)),
            ComparisonVerdict::Slower => of.better.insert((b, a)),
            ComparisonVerdict::Inconclusive if is_left_open(c) => of.open.insert((a, b)),
            ComparisonVerdict::Inconclusive if c.withheld.is_none() => of.undecided.insert((a, b)),
            ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => continue,
        };
    }
    pairs
}

/// Whether a difference is seen that noise alone could have made, or that is one of definition; or memory counts in part in one of them. A rank
/// that is shared says only that none is seen.
fn is_left_open(pair: &Comparison) -> bool {
    pair.withheld == Some(Withheld::SharedMemory)
        || pair.withheld.is_some_and(|why| why.is_noise() || why == Withheld::Definition)
            && pair.seen != Some(ComparisonVerdict::Same)
}

fn entrant(records: &Records, cell: usize, metric: Metric) -> Entrant {
    let values = records.values(cell, metric);
    Entrant {
        target: records.plan.cells[cell].levels.target().to_owned(),
        estimate: records.measured(&values, metric.unit()).estimate,
        counts: records.valid(cell).next().is_some() && !records.together(cell).failing.bad,
        can_tie: records.are_enough(values.len()) && can_tie(records, cell, metric),
    }
}

/// Ranks targets so that no rank contradicts a pair, and none says more than the pairs do.
///
/// In the order of their estimates, a target joins the current group unless some member of it is significantly
/// better; then it begins the next. So two targets that share a rank were never distinguishable, and of two that were, the
/// better one stands before the other. (The converse cannot hold: being distinguishable is not transitive, so neighbours
/// across a border may be tied as a pair.) A shared rank counts for all its members: 1, 1, 3.
/// A group has no rank where the order of a member and any other target is open, for that one may stand above it or below;
/// it keeps its place, so that those after it are counted from all before them. Who takes no place stands where its
/// estimate puts it; where only one takes a place there is no order, and no rank.
fn rank(metric: Metric, entrants: Vec<Entrant>, pairs: &Pairs) -> Vec<Rank> {
    let order = ordered(by_estimate(entrants, metric), |one, other| pairs.is_better(one, other));
    let placed: Vec<usize> = (0..order.len()).filter(|at| order[*at].counts).collect();
    let mut ranks: Vec<Rank> = order
        .iter()
        .map(|entrant| Rank {
            rank: None,
            tied: false,
            target: entrant.target.clone(),
            unranked: None,
            open: Vec::new(),
        })
        .collect();
    let mut above = 0;
    for group in groups(&placed, |a, b| pairs.differ(&order[a], &order[b])) {
        for at in &group {
            let open = placed.iter().filter(|other| pairs.is_open(&order[*at], &order[**other]));
            ranks[*at].open = open.map(|other| order[*other].target.clone()).collect();
        }
        // Who is alone in its table, or has only rivals that take no place, is not the first of anything.
        if placed.len() > 1 && group.iter().all(|at| ranks[*at].open.is_empty()) {
            for at in &group {
                (ranks[*at].rank, ranks[*at].tied) = (Some(above + 1), group.len() > 1);
            }
        }
        above += group.len() as u32;
    }
    ranks
}

/// Those in order, each with its neighbours from which it does not differ.
fn groups(placed: &[usize], differ: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in placed {
        match groups.last_mut() {
            Some(group) if !group.iter().any(|member| differ(*member, *at)) => group.push(*at),
            _ => groups.push(vec![*at]),
        }
    }
    groups
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
fn ordered(entrants: Vec<Entrant>, better: impl Fn(&Entrant, &Entrant) -> bool) -> Vec<Entrant> {
    let beaten_by = |one: &Entrant| entrants.iter().filter(|other| better(other, one)).count();
    // How many of those that are left are better than each of them.
    let mut left: Vec<(usize, usize)> = entrants.iter().map(beaten_by).enumerate().collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let unbeaten = left.iter().position(|(_, better)| *better == 0);
        let (next, _) = left.remove(unbeaten.unwrap_or(0));
        for (other, beaten_by) in &mut left {
            *beaten_by -= usize::from(better(&entrants[next], &entrants[*other]));
        }
        order.push(next);
    }
    order.into_iter().map(|at| entrants[at].clone()).collect()
}
