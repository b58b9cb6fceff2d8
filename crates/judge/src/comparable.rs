//! Whether two cells say anything of each other by a metric, and of which of them it is so that they do not.

use std::collections::BTreeSet;

use model::{Arm, MemoryCount, Metric, Withheld};

use crate::cells::{self, Counted};
use crate::guard::{self, MARKS};
use crate::launch::Launch;
use crate::pair::Pair;
use crate::records::Records;

impl Pair<'_> {
    /// Why the two say nothing of each other, whatever the figures are.
    pub(crate) fn incomparable(&self, metric: Metric) -> Option<Withheld> {
        let counted = |(records, cell): (&Records, usize)| cells::counted(records, cell, metric);
        // Within a run memory is proportional where there are several processes, and only there. What it divides with others that
        // live is a doubt of the figure.
        let differ = match (counted(self.old), counted(self.new)) {
            (Counted::Memory(old, at_any_moment), Counted::Memory(new, too)) => {
                let is_sum = |counts: &BTreeSet<MemoryCount>| counts.contains(&MemoryCount::ResidentSum);
                // Of a cell without a launch nothing is known.
                let are_known = !old.is_empty() && !new.is_empty();
                let differ = are_known && if self.paired { is_sum(&old) != is_sum(&new) } else { old != new };
                differ || at_any_moment.zip(too).is_some_and(|(old, new)| old != new)
            }
            (old, new) => old != new,
        };
        let is_short = |(records, cell): (&Records, usize)| records.short_of(cell, metric) > 0;
        let has_lost = |(records, cell): (&Records, usize)| records.has_lost(cell, metric) > 0;
        let lacks_collections = |(records, cell): (&Records, usize)| records.valid(cell).any(Launch::lacks_collections);
        let has_beside = |(records, cell): (&Records, usize)| records.plan.cells[cell].beside.is_some();
        let why = match metric {
            Metric::CpuPerRequest if [self.old, self.new].into_iter().any(has_beside) => Withheld::Beside,
            Metric::CpuPerRequest => Withheld::LittleCpu,
            _ if has_lost(self.old) || has_lost(self.new) => Withheld::Failing,
            Metric::P99 if lacks_collections(self.old) || lacks_collections(self.new) => Withheld::FewCollections,
            _ => Withheld::FewRequests,
        };
        let short = (is_short(self.old) || is_short(self.new)).then_some(why);
        let zero = self.has_zero(metric).then_some(Withheld::Zero);
        let otherwise = (!metric.is_before_load() && self.were_launched_otherwise()).then_some(Withheld::Rotation);
        short.or(zero).or(otherwise).or_else(|| differ.then_some(Withheld::Definition))
    }

    /// Whether launches of the one went round with others, where those of the other had the load to themselves: two runs of one plan,
    /// of which one met what cannot go round.
    fn were_launched_otherwise(&self) -> bool {
        let [old, new] = [self.old, self.new].map(|(records, cell)| -> BTreeSet<bool> {
            records.valid(cell).map(|launch| launch.rounds.is_some()).collect()
        });
        !old.is_empty() && !new.is_empty() && old != new
    }

    /// Of which server it is so that a verdict is held back.
    pub(crate) fn sides(&self, metric: Metric, why: Withheld) -> Vec<Arm> {
        let is_of = |arm: &Arm| {
            let (records, cell) = self.side(*arm);
            match why {
                Withheld::Definition | Withheld::Rotation => true,
                Withheld::Zero => records.has_zero(cell, metric),
                Withheld::Beside | Withheld::LittleCpu | Withheld::FewRequests | Withheld::FewCollections => {
                    records.short_of(cell, metric) > 0
                }
                Withheld::Failing if records.has_lost(cell, metric) > 0 => true,
                Withheld::Cold => cells::too_short_to_warm(records, cell).is_some(),
                Withheld::Disturbed | Withheld::Unbounded => {
                    records.valid(cell).any(|launch| launch.is_disturbed(metric))
                }
                Withheld::Rounds => records.valid(cell).any(Launch::lacks_rounds),
                _ => {
                    let doubt = MARKS.into_iter().find(|doubt| doubt.withheld() == why);
                    doubt.is_some_and(|doubt| guard::is_open(records, self.beside(*arm), metric, doubt))
                }
            }
        };
        [Arm::Old, Arm::New].into_iter().filter(is_of).collect()
    }
}
