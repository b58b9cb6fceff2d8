//! The `bourdon` command: arguments become a plan, the crates are wired together, the answer becomes an exit status.

mod args;
mod audit;
mod calibrate;
mod compare;
mod exit;
mod experiment;
mod framing;
mod home;
mod interrupt;
mod load;
mod output;
mod progress;
mod report;
mod run;
mod series;
mod specimen;
mod targets;
mod url;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use exit::{Exit, Failure};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::say_of_arguments(&error),
    };
    let done = match cli.command {
        Command::Load(args) => load::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "bourdon", &mut script);
            output::write_out(&String::from_utf8_lossy(&script)).map(|()| Exit::Good)
        }
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Targets(args) => targets::run(&args),
        Command::Specimen(args) => specimen::run(&args),
        Command::Reaper(args) => {
            let cpus: Vec<u32> = args.cpus.iter().copied().flatten().collect();
            lab::reaper::run(&args.command, &cpus, args.scratch.as_deref()).map(|()| Exit::Good).map_err(|error| {
                Failure::unreachable(format!("cannot run `{}`: {error}", args.command[0].to_string_lossy()))
            })
        }
    };
    exit::conclude(done)
}
