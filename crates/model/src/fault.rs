use serde::{Deserialize, Serialize};

/// The most blocks: at a second each, more than a week.
pub(crate) const MOST_BLOCKS: u32 = 1_000_000;

/// The most rounds of a launch: at a second each, more than a day.
pub(crate) const MOST_ROUNDS: u32 = 100_000;

/// What keeps a plan from being carried out. A `key` is that of `plan.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The cell that each block launches once more is none of its cells.
    #[error("`twin = {twin}`: there are {cells} cells")]
    Twin {
        /// Its number.
        twin: usize,
        /// How many there are.
        cells: usize,
    },
    /// The generator has no thread.
    #[error("`threads = 0`: a load needs one")]
    NoThread,
    /// No kernel has a CPU of this number.
    #[error("CPU {0} does not exist")]
    NoSuchCpu(u32),
    /// The target of this name has nothing to run.
    #[error("target `{0}` has no command: `run` is empty")]
    NoCommand(String),
    /// A cell is of a target of this name, and there is none.
    #[error("target `{0}` is unknown")]
    NoSuchTarget(String),
    /// Two factors have this name.
    #[error("factor `{0}` is there twice")]
    FactorTwice(String),
    /// Two targets have this name.
    #[error("target `{0}` is there twice")]
    TargetTwice(String),
    /// No block, or fewer at most than at least.
    #[error("blocks from {min} to {max}")]
    Blocks {
        /// At least so many.
        min: u32,
        /// At most so many.
        max: u32,
    },
    /// So many blocks.
    #[error("{0} blocks: {most} are the most", most = MOST_BLOCKS)]
    ManyBlocks(u32),
    /// So many blocks that may be launched again.
    #[error("`repeats = {0}`: {most} are the most", most = MOST_BLOCKS)]
    ManyRepeats(u32),
    /// A slice, or its lead-in, takes no time or too long.
    #[error("`{key} = {ns}`: a slice takes from 1 ns to a minute")]
    Slice {
        /// Which.
        key: String,
        /// How long, in nanoseconds.
        ns: u64,
    },
    /// No round, or so many.
    #[error("`rounds = {0}`: from 1 to {most}", most = MOST_ROUNDS)]
    Rounds(u32),
    /// A share below 0 or above 1.
    #[error("`{key} = {share}`: a share is from 0 to 1")]
    Share {
        /// Which.
        key: String,
        /// Its value.
        share: f64,
    },
    /// A gate that nobody can have asked for, and why.
    #[error("`gates`: {0}")]
    Gate(String),
    /// A cell cannot be loaded.
    #[error("cell {cell}: {fault}")]
    Cell {
        /// Its number, from 1.
        cell: usize,
        /// Why.
        fault: CellFault,
    },
}

/// What keeps a cell from being loaded. A `key` is that of `plan.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum CellFault {
    /// Nothing of what has this key.
    #[error("`{0} = 0`")]
    Zero(String),
    /// A time that no load takes.
    #[error("`{key} = {ns}`: a duration is a year at most")]
    TooLong {
        /// Which.
        key: String,
        /// How long, in nanoseconds.
        ns: u64,
    },
    /// No load has this rate, in requests a second.
    #[error("`rate_per_s = {0}`: a rate is from 0.001 to 10 million requests a second")]
    Rate(f64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Done;

    #[test]
    fn what_keeps_a_plan_from_being_carried_out_is_read_as_it_was_written() {
        let share = Fault::Share { key: "margin".to_owned(), share: 1.5 };
        let rate = Fault::Cell { cell: 2, fault: CellFault::Rate(0.0) };
        for (fault, written, said) in [
            (Fault::NoThread, "{\"unsound\":\"no-thread\"}", "`threads = 0`: a load needs one"),
            (
                share,
                "{\"unsound\":{\"share\":{\"key\":\"margin\",\"share\":1.5}}}",
                "`margin = 1.5`: a share is from 0 to 1",
            ),
            (
                rate,
                "{\"unsound\":{\"cell\":{\"cell\":2,\"fault\":{\"rate\":0.0}}}}",
                "cell 2: `rate_per_s = 0`: a rate is from 0.001 to 10 million requests a second",
            ),
            (
                Fault::ManyRepeats(2_000_000),
                "{\"unsound\":{\"many-repeats\":2000000}}",
                "`repeats = 2000000`: 1000000 are the most",
            ),
        ] {
            assert_eq!(fault.to_string(), said);
            let done = Done::Unsound(fault);
            assert_eq!(serde_json::to_string(&done).unwrap(), written);
            assert_eq!(serde_json::from_str::<Done>(written).unwrap(), done);
        }
    }
}
