//! The `bourdon` command: arguments become a plan, the crates are wired together, the answer becomes an exit status.

mod answer;
mod args;
mod audit;
mod bounded;
mod calibrate;
mod commands;
mod compare;
mod conduct;
mod diagnose;
mod exit;
mod experiment;
mod found;
mod framing;
mod home;
mod interrupt;
mod link;
mod load;
mod load_files;
mod load_nodes;
mod load_seconds;
mod merge;
mod node;
mod one_server;
mod open_files;
mod output;
mod progress;
mod ready;
mod report;
mod request;
mod resume;
mod run;
mod run_nodes;
mod saved_load;
mod series;
mod served_tls;
mod site;
mod soak;
mod sources;
mod specimen;
mod stack;
mod targets;
mod unnamed;
mod url;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    match stack::check() {
        Err(failure) => output::conclude(Err(failure)),
        Ok(()) => begin(),
    }
}

/// Out of line: what it puts on the stack has been checked for.
#[inline(never)]
fn begin() -> ExitCode {
    reaper::let_signals_come();
    interrupt::outlive_file_limits();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::say_of_arguments(&error),
    };
    let done = match cli.command {
        Command::Load(args) => load::run(&args),
        Command::Site(args) => site::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "bourdon", &mut script);
            output::write_out(&String::from_utf8_lossy(&script)).map(|()| Exit::Good)
        }
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Node(args) => node::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Targets(args) => targets::run(&args),
        Command::Specimen(args) => specimen::run(&args),
        // Stderr is the command's output: what went wrong has been said where bourdon hears it.
        Command::Reaper { words } => {
            Ok(if reaper::run(&words, &lab::furnish) { Exit::Good } else { Exit::Unreachable })
        }
    };
    output::conclude(done)
}
