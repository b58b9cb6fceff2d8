use clap::Args;
use serde::{Deserialize, Serialize};

use crate::experiment::GeneratorAsked;

/// What `run` and `compare` let one say of the generator.
#[derive(Debug, Clone, Copy, Default, Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GeneratorArgs {
    /// Generator threads, each on a CPU of its own as far as there are [default: the experiment's, else one for each
    /// four CPUs]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,

    /// Poll the clock instead of sleeping until a request is due: less lateness, at the cost of a full CPU per thread
    #[arg(long)]
    spin: bool,
}

impl GeneratorArgs {
    /// What was said.
    pub(crate) fn asked(self) -> GeneratorAsked {
        GeneratorAsked { threads: self.threads, cpus: None, spin: self.spin.then_some(true) }
    }
}
