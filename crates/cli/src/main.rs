//! The `bourdon` command: arguments become a plan, the crates are wired together, the answer becomes an exit status.

mod args;
mod exit;
mod interrupt;
mod load;
mod specimen;
mod url;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Load(args) => load::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "bourdon", &mut std::io::stdout());
            Ok(Exit::Good)
        }
        Command::Specimen(args) => specimen::run(&args),
    };
    exit::conclude(done)
}
