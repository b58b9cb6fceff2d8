//! What nodes tell of the seconds of a load while it runs.

use std::collections::{BTreeMap, BTreeSet};

use model::Interval;

/// How many seconds nodes may be apart before one that has told nothing is no longer waited for.
const SECONDS_APART: i64 = 2;

/// Most seconds that are waited for: nodes of which nothing is known to be wrong wait for a few.
const MOST: usize = 64;

/// Seconds of which not all nodes have told.
#[derive(Default)]
pub(crate) struct Seconds {
    waited_for: BTreeMap<i64, (BTreeSet<usize>, Interval)>,
    /// The last one that was given: what comes of it later comes too late.
    given: Option<i64>,
}

impl Seconds {
    /// Takes a second of one of so many nodes; gives those of which nothing more is waited for.
    pub(crate) fn take(&mut self, second: Interval, (node, nodes): (usize, usize)) -> Vec<Interval> {
        if !second.at_s.is_finite() {
            return Vec::new();
        }
        let index = second.at_s.floor() as i64;
        let empty = || (BTreeSet::new(), Interval { at_s: second.at_s, ..Interval::default() });
        if self.given.is_some_and(|given| index <= given) {
            return Vec::new();
        }
        let (told, sum) = self.waited_for.entry(index).or_insert_with(empty);
        told.insert(node);
        add(sum, &second);
        let is_whole = told.len() >= nodes;
        let due = |at: i64| if is_whole { at <= index } else { at < index.saturating_sub(SECONDS_APART) };
        if self.waited_for.len() > MOST {
            self.waited_for.pop_first();
        }
        let due: Vec<i64> = self.waited_for.keys().copied().filter(|at| due(*at)).collect();
        self.given = due.last().copied().or(self.given);
        due.into_iter().filter_map(|at| self.waited_for.remove(&at)).map(|(_, sum)| sum).collect()
    }

    /// Those that are left when nobody tells of any more.
    pub(crate) fn rest(&mut self) -> Vec<Interval> {
        std::mem::take(&mut self.waited_for).into_values().map(|(_, sum)| sum).collect()
    }
}

/// Counts add up, and so does the largest; quantiles of several nodes are not known.
fn add(sum: &mut Interval, more: &Interval) {
    sum.length_s = sum.length_s.max(more.length_s);
    let counts = |it: &Interval| [it.completed, it.ok, it.sent, it.failed];
    let added = counts(sum).into_iter().zip(counts(more)).map(|(sum, more)| sum.saturating_add(more));
    let added: Vec<u64> = added.collect();
    (sum.completed, sum.ok, sum.sent, sum.failed) = (added[0], added[1], added[2], added[3]);
    sum.max_us = sum.max_us.into_iter().chain(more.max_us).reduce(f64::max);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at_s: f64, completed: u64) -> Interval {
        Interval { at_s, length_s: 1.0, completed, max_us: Some(completed as f64), ..Interval::default() }
    }

    #[test]
    fn a_second_is_told_when_all_nodes_have_or_one_is_far_behind() {
        let mut seconds = Seconds::default();
        let mut node = 0;
        let mut take = |at_s, completed| {
            node = 1 - node;
            seconds
                .take(second(at_s, completed), (node, 2))
                .iter()
                .map(|it| (it.at_s, it.completed, it.max_us))
                .collect::<Vec<_>>()
        };
        assert_eq!(take(-1.0, 1), []);
        assert_eq!(take(-1.0, 2), [(-1.0, 3, Some(2.0))]);
        assert_eq!([take(0.0, 5), take(1.0, 6), take(2.0, 7)], [[], [], []], "each of one node");
        assert_eq!(take(3.0, 8), [(0.0, 5, Some(5.0))]);
        assert_eq!(take(0.0, 9), [], "it comes too late");
        assert_eq!(take(f64::NAN, 1), []);
        assert_eq!(seconds.rest().iter().map(|it| it.completed).collect::<Vec<_>>(), [6, 7, 8]);
    }
}
