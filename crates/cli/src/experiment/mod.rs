//! Experiment files and target files: from what was typed to a resolved plan.
//!
//! A file is walked by hand, table by table, so that whatever is wrong with it is told with line, column, the
//! nearest word that would be right, and a cure. What comes out holds no default and no impossible mix any more.

mod backend;
mod cells;
mod claims;
mod diagnostic;
mod factor;
mod generator;
mod load;
mod mix;
mod one_load;
mod recipe;
mod resolve;
mod roster;
mod rotation;
mod section;
mod target_file;
#[cfg(test)]
mod tests;
mod trials;
mod value;
mod vary;

use std::path::Path;

use model::Target;

#[cfg(test)]
use diagnostic::Diagnostic;
pub(crate) use diagnostic::{Fault, clipped, nearest};
pub(crate) use generator::GeneratorAsked;
pub(crate) use one_load::{OneLoad, Server};
pub(crate) use recipe::authorities_in;
pub(crate) use resolve::{plan, ready_path};
pub(crate) use roster::{SPECIMEN, specimen};
pub(crate) use rotation::ROTATION;
pub(crate) use target_file::target;

/// A file's name as it was typed, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// The path, for messages; the plan is named after its stem.
    pub(crate) name: String,
    /// The whole text.
    pub(crate) text: String,
}

/// The machine that the plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    /// CPUs that bourdon may use.
    pub(crate) cpus: u32,
}

/// What the command line asks of an experiment, and what is known around the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options<'a> {
    /// `--quick`: the form that the file's `[quick]` describes.
    pub(crate) quick: bool,
    /// `--target`: these targets alone, whatever `[quick]` says of targets.
    pub(crate) targets: Option<&'a [String]>,
    /// `--blocks`: exactly so many blocks.
    pub(crate) blocks: Option<u32>,
    /// `--seed`, before that of the file.
    pub(crate) seed: Option<u64>,
    /// `--allow-failures`, before that of the file.
    pub(crate) allow_failures: Option<f64>,
    /// Whether loads may go round among targets: `--no-rotation` comes before the file.
    pub(crate) rotates: bool,
    /// `--threads` and `--spin`, before the file's `[generator]`.
    pub(crate) generator: GeneratorAsked,
    /// The targets of the zoo.
    pub(crate) zoo: &'a [Target],
    /// The machine.
    pub(crate) machine: Machine,
    /// The folder of the file, where relative paths of its `[[target]]` tables start.
    pub(crate) base: &'a Path,
}
