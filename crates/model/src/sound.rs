//! What a plan must be to be carried out. One that is resolved from an experiment is; one that is read may be damaged.

use std::ops::RangeInclusive;

use crate::units::LONGEST_NS;
use crate::{Blocks, CellPlan, Draft, Extent, LoadModel, Rotation, alike};

/// The rates of an open load, in requests a second: from one in a quarter of an hour to more than any server takes.
pub const RATES_PER_S: RangeInclusive<f64> = 0.001..=10_000_000.0;

/// The most blocks: at a second each, more than a week.
const MOST_BLOCKS: u32 = 1_000_000;

/// A slice is at most a minute, in nanoseconds: the machine is to be the same in all of a round.
pub const LONGEST_SLICE_NS: u64 = 60_000_000_000;

/// The most rounds of a launch: at a second each, more than a day.
const MOST_ROUNDS: u32 = 100_000;

/// The kernel knows a CPU by a number below this.
const CPU_NUMBERS: u32 = 1024;

impl Draft {
    /// What keeps it from being carried out; none where it can be.
    pub(crate) fn fault(&self) -> Option<String> {
        let cells = self.cells.len();
        let twin =
            self.twin.filter(|twin| *twin >= cells).map(|twin| format!("`twin = {twin}`: there are {cells} cells"));
        let threads = (self.generator.threads == 0).then(|| "`threads = 0`: a load needs one".to_owned());
        let unnumbered = self.cpus().find(|cpu| *cpu >= CPU_NUMBERS).map(|cpu| format!("CPU {cpu} does not exist"));
        let idle = self.targets.iter().find(|target| target.launch.run.is_empty());
        let idle = idle.map(|target| format!("target `{}` has no command: `run` is empty", target.name));
        let unknown = self.cells.iter().chain(&self.added).map(|cell| cell.levels.target());
        let unknown =
            unknown.filter(|name| self.target(name).is_none()).map(|name| format!("target `{name}` is unknown"));
        let in_cell = |(index, cell): (usize, &CellPlan)| Some(format!("cell {}: {}", index + 1, cell.fault()?));
        twin.or(threads)
            .or(unnumbered)
            .or(idle)
            .or_else(|| self.fault_of_names())
            .or_else(|| unknown.into_iter().next())
            .or_else(|| self.fault_of_blocks())
            .or_else(|| self.rotation.as_ref().and_then(fault_of_rotation))
            .or_else(|| self.fault_of_shares())
            .or_else(|| self.cells.iter().chain(&self.added).enumerate().find_map(in_cell))
    }

    /// What is there twice, and can be named only once.
    fn fault_of_names(&self) -> Option<String> {
        let twice = |groups: Vec<Vec<usize>>| groups.into_iter().find_map(|group| group.get(1).copied());
        let factor = twice(alike(&self.factors)).map(|at| format!("factor `{}` is there twice", self.factors[at]));
        let target = twice(alike(self.targets.iter().map(|target| &target.name)));
        let target = target.map(|at| format!("target `{}` is there twice", self.targets[at].name));
        factor.or(target)
    }

    fn fault_of_blocks(&self) -> Option<String> {
        let of = |blocks: &Blocks| match *blocks {
            Blocks { min, max } if min == 0 || max < min => Some(format!("blocks from {min} to {max}")),
            Blocks { max, .. } if max > MOST_BLOCKS => Some(format!("{max} blocks: {MOST_BLOCKS} are the most")),
            _ => None,
        };
        let repeats =
            (self.repeats > MOST_BLOCKS).then(|| format!("`repeats = {}`: {MOST_BLOCKS} are the most", self.repeats));
        self.blocks_before.iter().chain([&self.blocks]).find_map(of).or(repeats)
    }

    fn fault_of_shares(&self) -> Option<String> {
        let shares = [("margin", self.margin), ("precision", self.precision), ("allow_failures", self.allow_failures)];
        let unsound = shares.into_iter().find(|(_, share)| !(0.0..=1.0).contains(share));
        unsound.map(|(name, share)| format!("`{name} = {share}`: a share is from 0 to 1"))
    }

    /// Every CPU that it names.
    pub fn cpus(&self) -> impl Iterator<Item = u32> {
        let cells = self.cells.iter().chain(&self.added).flat_map(|cell| &cell.target_cpus);
        self.generator.cpus.iter().chain(&self.target_cpus).chain(cells).copied()
    }
}

fn fault_of_rotation(rotation: &Rotation) -> Option<String> {
    let Rotation { slice_ns, lead_in_ns, rounds } = *rotation;
    let times = [("slice_ns", slice_ns), ("lead_in_ns", lead_in_ns)];
    let unsound = times.into_iter().find(|(_, ns)| !(1..=LONGEST_SLICE_NS).contains(ns));
    let unsound = unsound.map(|(name, ns)| format!("`{name} = {ns}`: a slice takes from 1 ns to a minute"));
    let rounds = rounds.filter(|rounds| !(1..=MOST_ROUNDS).contains(rounds));
    unsound.or(rounds.map(|rounds| format!("`rounds = {rounds}`: from 1 to {MOST_ROUNDS}")))
}

impl CellPlan {
    fn fault(&self) -> Option<String> {
        let load = &self.load;
        let zero = [
            ("connections", load.connections == 0),
            ("pipeline", load.pipeline == 0),
            ("window_ns", load.extent == Extent::Window(0)),
        ];
        let zero = zero.into_iter().find(|(_, zero)| *zero).map(|(name, _)| format!("`{name} = 0`"));
        let times = [
            ("warm_up_ns", load.warm_up_ns),
            ("window_ns", load.window_ns()),
            ("timeout_ns", load.timeout_ns.unwrap_or(0)),
            ("network_delay_ns", load.network_delay_ns),
            ("handler_delay_ns", self.handler_delay_ns),
        ];
        let endless = times.into_iter().find(|(_, ns)| *ns > LONGEST_NS);
        let endless = endless.map(|(name, ns)| format!("`{name} = {ns}`: a duration is a year at most"));
        zero.or(endless).or(match load.model {
            LoadModel::Open { rate_per_s, .. } if !RATES_PER_S.contains(&rate_per_s) => {
                Some(format!("`rate_per_s = {rate_per_s}`: a rate is from 0.001 to 10 million requests a second"))
            }
            LoadModel::Closed | LoadModel::Open { .. } => None,
        })
    }
}
