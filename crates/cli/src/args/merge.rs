use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::load::DEFAULT_ALLOWED;
use super::values::{file_name, share};

/// What is printed on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MergeFormat {
    /// For people
    Text,
    /// One document, schema bourdon.load/2
    Json,
    /// Nothing: the file of --output alone
    None,
}

const MERGE_EXAMPLES: &str = "\
Example, on two machines at the same time:
  bourdon load -R 20k -d 30s --seed 1 -o a.json http://10.0.0.7:8080/
  bourdon load -R 20k -d 30s --seed 2 -o b.json http://10.0.0.7:8080/
and then, with both files in one place:
  bourdon merge a.json b.json -o both.json

The result is one load like any other: what each generator measured is added up
request by request, not averaged, and `bourdon compare` and `report` read it. The
loads must have been asked for the same, but for connections, rate, threads and
seed, and must have overlapped. When they were is known as well as the machines'
clocks agree.";

#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArgs {
    /// Loads that were saved with load -o
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Save the result to this file, in place of an older one
    #[arg(short, long, value_name = "FILE", value_parser = file_name)]
    pub(crate) output: Option<PathBuf>,

    /// The share of requests that may fail before the exit status is 1
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_ALLOWED, value_parser = share)]
    pub(crate) allow_failures: f64,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: MergeFormat,
}
