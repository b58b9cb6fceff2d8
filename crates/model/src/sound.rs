//! What a plan must be to be carried out. One that is resolved from an experiment is; one that is read may be damaged.

use std::ops::RangeInclusive;

use crate::fault::{MOST_BLOCKS, MOST_ROUNDS};
use crate::units::LONGEST_NS;
use crate::{Blocks, CellFault, CellPlan, Draft, Extent, Fault, Gate, LoadModel, Rotation, alike};

/// The rates of an open load, in requests a second: from one in a quarter of an hour to more than any server takes.
pub const RATES_PER_S: RangeInclusive<f64> = 0.001..=10_000_000.0;

/// A slice is at most a minute, in nanoseconds: the machine is to be the same in all of a round.
pub const LONGEST_SLICE_NS: u64 = 60_000_000_000;

/// The kernel knows a CPU by a number below this.
const CPU_NUMBERS: u32 = 1024;

impl Draft {
    /// What keeps it from being carried out; none where it can be.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let cells = self.cells.len();
        let mut twins = self.twin.into_iter().chain(self.twin_in_turn);
        let twin = twins.find(|twin| *twin >= cells).map(|twin| Fault::Twin { twin, cells });
        let threads = (self.generator.threads == 0).then_some(Fault::NoThread);
        let unnumbered = self.cpus().find(|cpu| *cpu >= CPU_NUMBERS).map(Fault::NoSuchCpu);
        let idle = self.targets.iter().find(|target| target.launch.run.is_empty());
        let idle = idle.map(|target| Fault::NoCommand(target.name.clone()));
        let of_cells = self.cells.iter().chain(&self.added).map(|cell| cell.levels.target());
        let mut unknown = of_cells.filter(|name| self.target(name).is_none());
        let in_cell = |(index, cell): (usize, &CellPlan)| Some(Fault::Cell { cell: index + 1, fault: cell.fault()? });
        twin.or(threads)
            .or(unnumbered)
            .or(idle)
            .or_else(|| self.fault_of_names())
            .or_else(|| unknown.next().map(|name| Fault::NoSuchTarget(name.to_owned())))
            .or_else(|| self.fault_of_blocks())
            .or_else(|| self.rotation.as_ref().and_then(fault_of_rotation))
            .or_else(|| self.fault_of_shares())
            .or_else(|| self.fault_of_gates())
            .or_else(|| self.cells.iter().chain(&self.added).enumerate().find_map(in_cell))
    }

    /// What is there twice, and can be named only once.
    fn fault_of_names(&self) -> Option<Fault> {
        let twice = |groups: Vec<Vec<usize>>| groups.into_iter().find_map(|group| group.get(1).copied());
        let factor = twice(alike(&self.factors)).map(|at| Fault::FactorTwice(self.factors[at].clone()));
        let target = twice(alike(self.targets.iter().map(|target| &target.name)));
        factor.or(target.map(|at| Fault::TargetTwice(self.targets[at].name.clone())))
    }

    fn fault_of_blocks(&self) -> Option<Fault> {
        let of = |blocks: &Blocks| match *blocks {
            Blocks { min, max } if min == 0 || max < min => Some(Fault::Blocks { min, max }),
            Blocks { max, .. } if max > MOST_BLOCKS => Some(Fault::ManyBlocks(max)),
            _ => None,
        };
        let repeats = (self.repeats > MOST_BLOCKS).then_some(Fault::ManyRepeats(self.repeats));
        self.blocks_before.iter().chain([&self.blocks]).find_map(of).or(repeats)
    }

    fn fault_of_shares(&self) -> Option<Fault> {
        let shares = [("margin", self.margin), ("precision", self.precision), ("allow_failures", self.allow_failures)];
        let unsound = shares.into_iter().find(|(_, share)| !(0.0..=1.0).contains(share));
        unsound.map(|(key, share)| Fault::Share { key: key.to_owned(), share })
    }

    fn fault_of_gates(&self) -> Option<Fault> {
        let mut gates = self.comparison.iter().flat_map(|compare| &compare.gates);
        gates.find_map(Gate::fault).map(Fault::Gate)
    }

    /// Every CPU that it names.
    pub fn cpus(&self) -> impl Iterator<Item = u32> {
        let cells = self.cells.iter().chain(&self.added).flat_map(|cell| &cell.target_cpus);
        self.generator.cpus.iter().chain(&self.target_cpus).chain(cells).copied()
    }
}

fn fault_of_rotation(rotation: &Rotation) -> Option<Fault> {
    let Rotation { slice_ns, lead_in_ns, rounds } = *rotation;
    let times = [("slice_ns", slice_ns), ("lead_in_ns", lead_in_ns)];
    let unsound = times.into_iter().find(|(_, ns)| !(1..=LONGEST_SLICE_NS).contains(ns));
    let unsound = unsound.map(|(key, ns)| Fault::Slice { key: key.to_owned(), ns });
    unsound.or(rounds.filter(|rounds| !(1..=MOST_ROUNDS).contains(rounds)).map(Fault::Rounds))
}

impl CellPlan {
    fn fault(&self) -> Option<CellFault> {
        let load = &self.load;
        let zero = [
            ("connections", load.connections == 0),
            ("pipeline", load.pipeline == 0),
            ("window_ns", load.extent == Extent::Window(0)),
            ("backend.workers", self.backend.is_some_and(|backend| backend.workers == Some(0))),
        ];
        let zero = zero.into_iter().find(|(_, zero)| *zero).map(|(key, _)| CellFault::Zero(key.to_owned()));
        let times = [
            ("warm_up_ns", load.warm_up_ns),
            ("window_ns", load.window_ns()),
            ("timeout_ns", load.timeout_ns.unwrap_or(0)),
            ("network_delay_ns", load.network_delay_ns),
            ("handler_delay_ns", self.handler_delay_ns),
            ("backend.delay_ns", self.backend.map_or(0, |backend| backend.delay_ns)),
            ("upstream.delay_ns", self.upstream.and_then(|upstream| upstream.delay_ns).unwrap_or(0)),
        ];
        let endless = times.into_iter().find(|(_, ns)| *ns > LONGEST_NS);
        let endless = endless.map(|(key, ns)| CellFault::TooLong { key: key.to_owned(), ns });
        let beside = self.beside.as_ref();
        let models = [Some(load.model), beside.map(|beside| beside.model)].into_iter().flatten();
        let mut rates = models.filter_map(|model| match model {
            LoadModel::Open { rate_per_s, .. } => Some(rate_per_s),
            LoadModel::Closed => None,
        });
        let nobody = beside.filter(|beside| beside.connections == 0).map(|_| CellFault::Zero("beside".to_owned()));
        let impossible = rates.find(|rate| !RATES_PER_S.contains(rate)).map(CellFault::Rate);
        zero.or(endless).or(nobody).or(impossible)
    }
}
