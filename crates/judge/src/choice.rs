//! Which target serves a need best, as far as ranks say, and where they do not, who may. It follows from an analysis alone.

use model::{
    Analysis, CellAnalysis, Choice, CloseBelow, Comparison, ComparisonVerdict, Measured, Metric, Population,
    QuantileAbove, Rank, RankGroup, SHARE_OF_THE_QUICK, Standing, Withheld,
};

/// What somebody may want of a server, in the order in which it is told.
const NEEDS: [Metric; 5] =
    [Metric::Throughput, Metric::CpuPerRequest, Metric::P99, Metric::PeakMemory, Metric::TimeToReady];

/// Every need for which there are ranks under some conditions; none while a run is preliminary.
pub(crate) fn choices(analysis: &Analysis) -> Vec<Choice> {
    if analysis.preliminary {
        return Vec::new();
    }
    let is_model = |target: &str| analysis.reconstructions.iter().any(|it| it.target == target);
    let of = |metric: Metric| analysis.groups.iter().filter(move |group| group.metric == metric);
    let choice = |group: &RankGroup| {
        let is_one =
            |cell: &&CellAnalysis| cell.levels.conditions() == group.conditions && !is_model(cell.levels.target());
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(is_one).collect();
        let has_place =
            |rank: &&Rank| cells.iter().any(|cell| cell.levels.target() == rank.target && takes_place(cell));
        let choosing = Choosing {
            group,
            ranks: group.ranks.iter().filter(has_place).collect(),
            cells: cells.clone(),
            comparisons: analysis.comparisons.iter().filter(|of| is_of(of, group)).collect(),
        };
        choosing.is_asked().then(|| choosing.choice())
    };
    NEEDS.into_iter().flat_map(of).filter_map(choice).collect()
}

/// Whether the ranks of a group come from this pair.
fn is_of(pair: &Comparison, group: &RankGroup) -> bool {
    pair.metric == group.metric && pair.conditions == group.conditions
}

/// What a choice by one metric under one set of conditions is made from.
struct Choosing<'a> {
    group: &'a RankGroup,
    /// Of those that take a place.
    ranks: Vec<&'a Rank>,
    cells: Vec<&'a CellAnalysis>,
    comparisons: Vec<&'a Comparison>,
}

impl Choosing<'_> {
    /// Whether there is something to choose: among two or more, and not by the throughput where all serve the rate that is given.
    fn is_asked(&self) -> bool {
        self.cells.len() > 1 && !(self.group.metric == Metric::Throughput && self.is_given())
    }

    fn is_given(&self) -> bool {
        self.cells.iter().any(|cell| cell.latency_us.population == Population::Response)
    }

    fn choice(&self) -> Choice {
        let (mut best, mut above) = (self.first(), Vec::new());
        let is_open = best.is_empty();
        if is_open {
            (best, above) = self.open();
        }
        // Nobody knows how one would have done of which no launch counts.
        let is_unmeasured = |cell: &&CellAnalysis| cell.trials == 0 && !cell.failing.bad;
        if is_open && best.len() == 1 && self.cells.iter().any(is_unmeasured) {
            best.clear();
        }
        best.sort();
        let standing = match &best[..] {
            [_] => Standing::One,
            _ if is_open => Standing::Undecided,
            tied if self.are_the_same(tied) => Standing::Same,
            _ => Standing::TooClose,
        };
        Choice {
            metric: self.group.metric,
            conditions: self.group.conditions.clone(),
            among: self.cells.iter().map(|cell| cell.levels.target().to_owned()).collect(),
            standing,
            close: if is_open { Vec::new() } else { self.close_below(&best) },
            of_the_quick: if is_open { Vec::new() } else { self.of_the_quick(&best) },
            above,
            best,
        }
    }

    /// Who has the first rank; where a better one takes no part, the next are first, unless who has no rank stands before them.
    fn first(&self) -> Vec<String> {
        let is_shown = |rank: &u32| *rank == 1 || self.ranks.first().is_some_and(|rank| rank.rank.is_some());
        let least = self.ranks.iter().filter_map(|rank| rank.rank).min().filter(is_shown);
        let first = self.ranks.iter().filter(|rank| rank.rank.is_some() && rank.rank == least);
        first.map(|rank| rank.target.clone()).collect()
    }

    /// Whether each pair of these was shown to be the same.
    fn are_the_same(&self, targets: &[String]) -> bool {
        let among = |of: &&&Comparison| targets.contains(&of.a) && targets.contains(&of.b);
        let same = self.comparisons.iter().filter(among).filter(|of| of.verdict == ComparisonVerdict::Same).count();
        same == targets.len() * (targets.len() - 1) / 2
    }

    fn close_below(&self, first: &[String]) -> Vec<CloseBelow> {
        let is_below = |name: &String| {
            !first.contains(name) && self.ranks.iter().any(|it| it.target == *name && it.rank.is_some())
        };
        let close = |(target, verdict): (&String, ComparisonVerdict)| {
            let pairs = self.comparisons.iter().filter(|of| of.verdict == verdict);
            let others = pairs.filter_map(|of| match () {
                () if of.a == *target => Some(&of.b),
                () if of.b == *target => Some(&of.a),
                () => None,
            });
            let to: Vec<String> = others.filter(|name| is_below(name)).cloned().collect();
            let same = verdict == ComparisonVerdict::Same;
            (!to.is_empty()).then(|| CloseBelow { target: target.clone(), to, same })
        };
        let either = [ComparisonVerdict::Same, ComparisonVerdict::Inconclusive];
        first.iter().flat_map(|target| either.map(|verdict| (target, verdict))).filter_map(close).collect()
    }

    /// Who may be first where no rank says it, and of a p99 who is out by a lower quantile. Out is also who was shown to do worse than
    /// another that takes a place.
    fn open(&self) -> (Vec<String>, Vec<QuantileAbove>) {
        let has_place = |target: &str| self.ranks.iter().any(|rank| rank.target == target);
        let is_worse = |target: &str| {
            self.comparisons.iter().any(|of| match of.verdict {
                ComparisonVerdict::Faster => of.b == *target && has_place(&of.a),
                ComparisonVerdict::Slower => of.a == *target && has_place(&of.b),
                ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => false,
            })
        };
        // Also who is too close to one whose place is open, and whoever ranks below a reconstruction alone.
        let may_be_first = |rank: &&&Rank| !is_worse(&rank.target);
        let left: Vec<String> = self.ranks.iter().filter(may_be_first).map(|rank| rank.target.clone()).collect();
        let least_us = self.least_p99_us(&left).filter(|_| self.group.metric == Metric::P99);
        let above = |target: &String| quantile_above(self.cell(target)?, least_us?);
        let mut out: Vec<QuantileAbove> = left
            .iter()
            .filter_map(|target| Some(QuantileAbove { target: target.clone(), quantile: above(target)? }))
            .collect();
        out.sort_by(|one, other| one.target.cmp(&other.target));
        (left.into_iter().filter(|target| above(target).is_none()).collect(), out)
    }

    /// The least upper end of a known p99 of these, in microseconds.
    fn least_p99_us(&self, targets: &[String]) -> Option<f64> {
        // What one puts off until the load pauses would have no upper end.
        let puts_off = |target: &str| {
            let of_it = |pair: &&&Comparison| pair.a == target || pair.b == target;
            self.comparisons.iter().filter(of_it).any(|pair| pair.withheld == Some(Withheld::Pauses))
        };
        let cells = targets.iter().filter(|target| !puts_off(target)).filter_map(|target| self.cell(target));
        cells.filter(|cell| !cell.latency_us.censored).filter_map(|cell| cell.latency_us.p99.high).reduce(f64::min)
    }

    /// The best of those that serve as much as [`SHARE_OF_THE_QUICK`] asks, where none of the first does: a server that serves next
    /// to nothing needs little memory.
    fn of_the_quick(&self, first: &[String]) -> Vec<String> {
        let rate = |cell: &CellAnalysis| cell.throughput.estimate.unwrap_or(0.0);
        let most = self.cells.iter().filter(|cell| takes_place(cell)).map(|cell| rate(cell)).fold(0.0, f64::max);
        let is_quick = |target: &str| self.cell(target).is_some_and(|cell| rate(cell) >= SHARE_OF_THE_QUICK * most);
        if self.is_given() || first.iter().any(|target| is_quick(target)) {
            return Vec::new();
        }
        // Best estimate first: one without a rank before the first that has one may be better.
        let mut quick = self.ranks.iter().filter(|rank| is_quick(&rank.target)).peekable();
        let best = quick.peek().and_then(|rank| rank.rank);
        let best = quick.take_while(|rank| rank.rank.is_some() && rank.rank == best);
        let mut named: Vec<String> = best.map(|rank| rank.target.clone()).collect();
        named.sort();
        named
    }

    fn cell(&self, target: &str) -> Option<&CellAnalysis> {
        self.cells.iter().copied().find(|cell| cell.levels.target() == target)
    }
}

/// Whether a launch of it counts and it did not fail: else it takes no place, and puts nobody out.
pub(crate) fn takes_place(cell: &CellAnalysis) -> bool {
    cell.trials > 0 && !cell.failing.bad
}

/// The lower quantile of a target without a p99 that is surely above such a p99: its own is no lower.
fn quantile_above(cell: &CellAnalysis, p99_us: f64) -> Option<Metric> {
    let latency = &cell.latency_us;
    let is_above = |figure: &Measured| figure.low.is_some_and(|low_us| low_us > p99_us);
    let lower = [(Metric::P90, &latency.p90), (Metric::P50, &latency.p50)];
    let known = || lower.into_iter().find(|(_, figure)| is_above(figure)).map(|(metric, _)| metric);
    if latency.p99.estimate.is_none() { known() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;

    /// Three servers of which the second serves a fifth less than the first, and the third half.
    fn analysis() -> Analysis {
        Session::new().cell("a", 100.0).cell("b", 80.0).cell("c", 50.0).noise(0.01).analyse()
    }

    fn by_throughput(analysis: &Analysis) -> Choice {
        choices(analysis).into_iter().find(|choice| choice.metric == Metric::Throughput).unwrap()
    }

    fn named(choice: &Choice) -> (Standing, Vec<&str>) {
        (choice.standing, choice.best.iter().map(String::as_str).collect())
    }

    #[test]
    fn the_first_by_rank_is_best_and_who_failed_or_is_a_reconstruction_takes_no_part() {
        let mut analysis = analysis();
        assert_eq!(named(&by_throughput(&analysis)), (Standing::One, vec!["a"]));
        analysis.reconstructions =
            vec![model::Reconstruction { target: "a".to_owned(), text: "the model of 2016".to_owned() }];
        let without = by_throughput(&analysis);
        assert_eq!(named(&without), (Standing::One, vec!["b"]), "the next is first");
        assert_eq!(without.among, ["b", "c"]);
        analysis.reconstructions.clear();
        analysis.cells[0].failing.bad = true;
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| {
            if rank.target == "a" {
                rank.rank = None;
            }
        });
        assert_eq!(
            named(&by_throughput(&analysis)),
            (Standing::One, vec!["b"]),
            "it stands before it and puts nobody out"
        );
        analysis.preliminary = true;
        assert_eq!(choices(&analysis), []);
    }

    #[test]
    fn where_no_rank_is_known_those_may_be_best_of_whom_no_other_was_shown_to_be_better() {
        let mut analysis = analysis();
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| rank.rank = None);
        assert_eq!(named(&by_throughput(&analysis)), (Standing::One, vec!["a"]), "it beats both");
        let is_of_a = |of: &&mut Comparison| of.a == "a" || of.b == "a";
        analysis.comparisons.iter_mut().filter(is_of_a).for_each(|of| of.verdict = ComparisonVerdict::Inconclusive);
        assert_eq!(named(&by_throughput(&analysis)), (Standing::Undecided, vec!["a", "b"]), "c is worse than b");
    }

    #[test]
    fn who_is_the_same_as_a_pair_is_not_called_too_close_to_call() {
        let mut analysis = analysis();
        let of_a_and_b = |of: &&mut Comparison| [&of.a, &of.b] == ["a", "b"] || [&of.a, &of.b] == ["b", "a"];
        let with = |analysis: &mut Analysis, verdict| {
            analysis.comparisons.iter_mut().filter(of_a_and_b).for_each(|of| of.verdict = verdict);
            by_throughput(analysis).close
        };
        let close = |same| vec![CloseBelow { target: "a".to_owned(), to: vec!["b".to_owned()], same }];
        assert_eq!(with(&mut analysis, ComparisonVerdict::Same), close(true));
        assert_eq!(with(&mut analysis, ComparisonVerdict::Inconclusive), close(false));
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| {
            if rank.target == "b" {
                rank.rank = Some(1);
            }
        });
        assert_eq!(named(&by_throughput(&analysis)), (Standing::TooClose, vec!["a", "b"]));
        with(&mut analysis, ComparisonVerdict::Same);
        assert_eq!(named(&by_throughput(&analysis)), (Standing::Same, vec!["a", "b"]));
    }

    #[test]
    fn a_lone_winner_beside_one_of_which_no_launch_counts_is_undecided() {
        let mut analysis = analysis();
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| rank.rank = None);
        analysis.cells[2].trials = 0;
        assert_eq!(
            named(&by_throughput(&analysis)),
            (Standing::Undecided, vec![]),
            "nobody knows how c would have done"
        );
        analysis.cells[2].failing.bad = true;
        assert_eq!(named(&by_throughput(&analysis)), (Standing::One, vec!["a"]), "c failed");
    }

    #[test]
    fn who_ranks_below_a_reconstruction_alone_may_be_first() {
        let mut analysis = analysis();
        analysis.reconstructions =
            vec![model::Reconstruction { target: "a".to_owned(), text: "the model of 2016".to_owned() }];
        let b_leads = analysis.comparisons.iter().any(|of| of.a == "b" && of.b == "c");
        let mut with = |verdict| {
            let b_and_c = |of: &&mut Comparison| of.a != "a" && of.b != "a";
            analysis.comparisons.iter_mut().filter(b_and_c).for_each(|of| of.verdict = verdict);
            for rank in analysis.groups.iter_mut().flat_map(|group| &mut group.ranks) {
                rank.rank =
                    [("a", 1), ("c", 2)].iter().find(|(target, _)| rank.target == *target).map(|(_, rank)| *rank);
            }
            by_throughput(&analysis)
        };
        let open = with(ComparisonVerdict::Inconclusive);
        assert_eq!(named(&open), (Standing::Undecided, vec!["b", "c"]), "c is below a alone");
        let better = if b_leads { ComparisonVerdict::Faster } else { ComparisonVerdict::Slower };
        assert_eq!(named(&with(better)), (Standing::One, vec!["b"]), "c is worse than b");
    }

    #[test]
    fn what_puts_work_off_until_pauses_puts_nobody_out_by_its_p99() {
        let mut analysis = analysis();
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| rank.rank = None);
        let unit = analysis.cells[0].latency_us.p99.unit;
        let known = |low, estimate, high| Measured { low, estimate, high, unit };
        analysis.cells[0].latency_us.p99 = known(Some(800.0), Some(900.0), Some(1_000.0));
        for cell in &mut analysis.cells[1..] {
            cell.latency_us.p99 = known(None, None, None);
            cell.latency_us.p90 = known(Some(2_000.0), Some(2_100.0), Some(2_200.0));
        }
        let by_p99 = |analysis: &Analysis| {
            let choice = choices(analysis).into_iter().find(|choice| choice.metric == Metric::P99).unwrap();
            (choice.best.clone(), choice.above.iter().map(|out| out.target.clone()).collect::<Vec<_>>())
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        analysis.comparisons.iter_mut().for_each(|of| of.verdict = ComparisonVerdict::Inconclusive);
        assert_eq!(by_p99(&analysis), (names(&["a"]), names(&["b", "c"])));
        let of_a = |of: &&mut Comparison| of.a == "a" || of.b == "a";
        analysis.comparisons.iter_mut().filter(of_a).for_each(|of| of.withheld = Some(Withheld::Pauses));
        assert_eq!(by_p99(&analysis), (names(&["a", "b", "c"]), names(&[])));
    }
}
