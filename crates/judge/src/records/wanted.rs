//! When a run has all its blocks: the rule by which its planner stops, and without which its verdicts are none.

use std::collections::BTreeMap;

use model::{Done, Known, Measurement, Metric, TrialRecord};

use super::{Records, pairs};
use crate::asked::Asked;
use crate::failing::{is_unserved, wrong_replies};
use crate::made::{AtOnce, Upcoming, least, most};
use crate::statistics::{logarithms, t_interval};
use crate::thresholds::IN_VAIN;

/// What a run still wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// What is missing of its next block.
    Launches(Vec<AtOnce>),
    /// Nothing more, and why.
    Nothing(Done),
}

impl Records<'_> {
    /// What the run wants next: whole blocks, until what is compared is precise enough or the cap is reached.
    pub(crate) fn wanted(&self) -> Wanted {
        let aside = self.repeated.keys().copied().collect();
        self.wanted_of(self.made.upcoming(self.plan, &aside))
    }

    /// The same where it is known which block would be next. The figures are looked at before a block alone.
    pub(crate) fn wanted_of(&self, upcoming: Option<Upcoming>) -> Wanted {
        let Some(next) = upcoming else { return Wanted::Nothing(self.capped()) };
        let enough = || self.in_vain().or_else(|| self.precise(next.before));
        match next.is_new.then(enough).flatten() {
            Some(why) => Wanted::Nothing(why),
            None => Wanted::Launches(next.missing),
        }
    }

    /// Why so many blocks are enough: there are as many as were asked for at least, and what is compared is precise.
    fn precise(&self, blocks: u32) -> Option<Done> {
        let asked = self.plan.precision;
        let widest = if blocks >= least(self.plan) { self.widest()? } else { return None };
        (widest <= asked).then(|| Done::Precise { blocks, known: self.known(widest), asked })
    }

    /// Whether the planner asks for nothing more because it would show nothing.
    pub(crate) fn are_in_vain(&self) -> bool {
        matches!(self.wanted(), Wanted::Nothing(Done::InVain { .. }))
    }

    /// How many blocks the plan asks for where the run lacks some.
    pub(super) fn lacks(&self) -> Option<u32> {
        let has_all = |block: &&u32| self.cells.iter().all(|launches| launches.contains_key(block));
        let has_least = self.blocks.iter().filter(has_all).count() >= least(self.plan) as usize;
        match self.wanted() {
            Wanted::Launches(_) | Wanted::Nothing(Done::InVain { .. }) if !has_least => Some(least(self.plan)),
            Wanted::Launches(_) => Some(most(self.plan)),
            Wanted::Nothing(_) => None,
        }
    }

    /// Blocks of which no launch is missing, the twin's neither. They are counted from 1.
    pub(crate) fn whole_blocks(&self) -> usize {
        self.blocks.iter().filter(|block| **block > 0 && self.made.missing(**block).is_empty()).count()
    }

    /// Half widths, on the log scale, of what must become precise: the ratios of cells that share their conditions, and the
    /// throughput of a cell that has no partner. A cell without a single valid launch never becomes precise however often it is
    /// launched, and one that once served nothing right has no ratio: neither counts.
    pub(crate) fn half_widths(&self) -> Vec<Option<f64>> {
        let half_width = |values: &[f64]| t_interval(values).map(|interval| interval.half_width());
        let mut widths = Vec::new();
        for group in self.plan.by_conditions() {
            let serves = |cell: &usize| {
                let rates = self.values(*cell, Metric::Throughput);
                !rates.is_empty() && rates.iter().all(|rate| *rate > 0.0)
            };
            let alive: Vec<usize> = group.into_iter().filter(serves).collect();
            if let [single] = alive[..] {
                widths.push(logarithms(&self.values(single, Metric::Throughput)).and_then(|v| half_width(&v)));
            }
            for ((a, b), metric) in
                pairs(&alive).into_iter().flat_map(|pair| self.plan.precise.iter().map(move |metric| (pair, *metric)))
            {
                let ratios = self.log_ratios(a, b, metric);
                // What cannot be measured here never becomes precise either.
                if metric == Metric::Throughput || !ratios.is_empty() {
                    widths.push(half_width(&ratios));
                }
            }
        }
        widths
    }

    fn known(&self, half_width: f64) -> Known {
        Known { metrics: self.plan.precise.clone(), half_width }
    }

    /// The widest half width, if each is known.
    fn widest(&self) -> Option<f64> {
        let widths: Option<Vec<f64>> = self.half_widths().into_iter().collect();
        widths?.into_iter().reduce(f64::max)
    }

    /// Why further blocks would show nothing: of some targets no launch that came up counts, by the server's own doing, and
    /// there is no other one to measure. Of a comparison one such side is enough, but where no reply has the status that is asked for it
    /// takes both: a server that comes to refuse everything is what a comparison may be about.
    fn in_vain(&self) -> Option<Done> {
        let mut targets: BTreeMap<&str, Vec<InVain>> = BTreeMap::new();
        for launch in self.all() {
            let cell = self.plan.cells.get(launch.record.cell);
            let gave = cell.and_then(|cell| InVain::of(&Asked::from(cell), launch.record));
            targets.entry(launch.record.levels.target()).or_default().extend(gave);
        }
        let gave: BTreeMap<&str, InVain> =
            targets.iter().filter_map(|(target, of)| Some((*target, InVain::all(of)?))).collect();
        let is_comparison = self.plan.comparison.is_some();
        let is_heard = self.plan.cells.iter().all(|cell| gave.contains_key(cell.levels.target()));
        let refuses = |of: &InVain| matches!(of, InVain::Refused | InVain::Wrong);
        let is_of_all = is_comparison && is_heard && gave.values().all(refuses);
        let said = |of: &InVain| match of {
            InVain::Refused if is_of_all => InVain::Wrong,
            InVain::Refused => InVain::No,
            of => *of,
        };
        let those = |which: InVain| -> Vec<String> {
            let all = gave.iter().filter(|(_, of)| said(of) == which);
            all.map(|(target, _)| (*target).to_owned()).collect()
        };
        let [wrong, died, silent] = [InVain::Wrong, InVain::Died, InVain::Silent].map(those);
        let others = gave.values().any(|of| said(of) == InVain::No);
        let is_some = [&wrong, &died, &silent].iter().any(|those| !those.is_empty());
        (is_some && (!others || is_comparison)).then_some(Done::InVain { wrong, died, silent })
    }

    fn capped(&self) -> Done {
        let (least, blocks, aside) = (least(self.plan), most(self.plan), self.repeated.len() as u32);
        if least == blocks {
            return Done::Planned { blocks, aside };
        }
        Done::Capped { blocks, aside, known: self.widest().map(|widest| self.known(widest)) }
    }
}

/// What a launch that came up gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InVain {
    /// Something.
    No,
    /// Replies, not one of them right, which makes it void.
    Wrong,
    /// Replies, all of a status that was not asked for.
    Refused,
    /// Nothing that counts: the server ended under load.
    Died,
    /// Not one reply, in all launches in which the server did not end.
    Silent,
}

impl InVain {
    /// None of a launch that nobody could measure, nor of one in slices in which no reply came: who does not answer within a slice may
    /// have been about to.
    fn of(asked: &Asked<'_>, trial: &TrialRecord) -> Option<Self> {
        let is_wrong = |measured: &Measurement| measured.accounting.ok == 0 && wrong_replies(measured) > 0;
        let is_refused = |measured: &Measurement| {
            let books = &measured.accounting;
            books.bad_status > 0 && books.bad_status == books.completed
        };
        match &trial.measurement {
            Some(measured) if is_wrong(measured) => Some(InVain::Wrong),
            Some(measured) if is_refused(measured) && trial.died().is_none() => Some(InVain::Refused),
            _ if trial.died().is_some() => Some(InVain::Died),
            Some(measured) if is_unserved(asked, measured) => trial.slices.is_empty().then_some(InVain::Silent),
            measured => measured.as_ref().map(|_| InVain::No),
        }
    }

    /// What all launches so far of a target gave, which all others would, too; [`InVain::No`] where that is not known. None
    /// where nobody could measure one. Thousands of replies show it in one launch; one death or silence may be an accident.
    fn all(launches: &[InVain]) -> Option<Self> {
        let number = |of: InVain| launches.iter().filter(|launch| **launch == of).count();
        let [no, wrong, died, silent] = [InVain::No, InVain::Wrong, InVain::Died, InVain::Silent].map(number);
        let refused = number(InVain::Refused);
        if refused > 0 {
            return Some(if no + died + silent == 0 { InVain::Refused } else { InVain::No });
        }
        Some(match (no, wrong, died, silent) {
            (0, 0, 0, 0) => return None,
            (0, 1.., ..) => InVain::Wrong,
            (0, 0, IN_VAIN.., 0) => InVain::Died,
            (0, 0, ..) if died + silent >= IN_VAIN => InVain::Silent,
            _ => InVain::No,
        })
    }
}
