use std::collections::BTreeMap;

use model::Plan;

/// Which cell each block launches once more, for the noise. Of two servers that are compared it is the one or the other: what a server keeps in its
/// folder (a journal, a cache) its next launch finds, so that neither may begin its blocks with more launches behind it than the other.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    first: Option<usize>,
    /// The other of two that are compared.
    second: Option<usize>,
    /// Launches of the first more than of the second, of all that were made.
    lead: i64,
    /// The leads with which blocks began, added up.
    owed: i64,
    /// The cell that each block launches once more which has begun.
    of: BTreeMap<u32, usize>,
}

impl Turns {
    pub(crate) fn new(plan: &Plan) -> Self {
        let second = plan.twin_in_turn.filter(|_| plan.twin.is_some());
        Turns { first: plan.twin, second, lead: 0, owed: 0, of: BTreeMap::new() }
    }

    /// The cell that a block launches once more.
    pub(crate) fn of(&self, block: u32) -> Option<usize> {
        self.of.get(&block).copied().or_else(|| self.next())
    }

    /// The one that is behind: over all blocks, or, where neither is, just now. From the first block on that is the first, twice the second, and
    /// the first again.
    fn next(&self) -> Option<usize> {
        let second_is_behind = (self.owed + self.lead, self.lead) > (0, 0);
        self.second.filter(|_| second_is_behind).or(self.first)
    }

    /// Takes a launch, in the order of the record; `counts` whether figures of its block are, or will be, of such launches.
    pub(crate) fn take(&mut self, block: u32, cell: usize, twin: bool, counts: bool) {
        if counts {
            if !self.of.contains_key(&block) {
                self.of.extend(self.next().map(|cell| (block, cell)));
                self.owed += self.lead;
            }
            // As it was carried out, by whichever version.
            self.of.extend(twin.then_some((block, cell)));
        }
        if self.first == Some(cell) {
            self.lead += 1;
        } else if self.second == Some(cell) {
            self.lead -= 1;
        }
    }

    /// Leaves what was launched until now behind: no figure of it counts, but it was.
    pub(crate) fn begin_anew(&mut self) {
        self.of.clear();
        self.owed = 0;
    }

    /// Whether a cell takes part.
    pub(crate) fn concern(&self, cell: usize) -> bool {
        [self.first, self.second].contains(&Some(cell))
    }
}
