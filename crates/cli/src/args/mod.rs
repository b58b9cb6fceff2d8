mod audit;
mod compare;
mod diagnose;
mod generator;
mod load;
mod merge;
mod node;
mod one_server;
mod request;
mod soak;
mod tls;
mod values;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use specimens::Kind;

pub(crate) use audit::{AuditArgs, AuditFormat};
pub(crate) use compare::CompareArgs;
pub(crate) use diagnose::DiagnoseArgs;
pub(crate) use generator::GeneratorArgs;
pub(crate) use load::{ArrivalsArg, LoadArgs, LoadFormat};
pub(crate) use merge::{MergeArgs, MergeFormat};
pub(crate) use node::{LinkArgs, NodeArgs, NodesArgs, ServersArgs};
pub(crate) use one_server::OneServerArgs;
pub(crate) use request::RequestArgs;
pub(crate) use soak::SoakArgs;
pub(crate) use tls::TlsArgs;
use values::share;
pub(crate) use values::{at_least_one, positive_duration, seed};

/// A performance laboratory for HTTP servers: puts them under controlled load, watches them, and says what holds, how
/// surely, and why.
#[derive(Debug, Parser)]
#[command(name = "bourdon", version, max_term_width = 80, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "\
Exit status, the first that applies:
  130  interrupted; what was measured is saved
  2    usage or file error
  4    a target could not be built, launched or reached
  1    replies failed, or a claim or gate failed
  3    void: no figure can be trusted, or a gate is undecided
  0    all is well";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load one URL and measure it
    Load(LoadArgs),
    /// Test servers: build, launch, interleave, observe, judge, report
    Run(RunArgs),
    /// Judge and show a recorded run again, without running any server
    Report(ReportArgs),
    /// Put loads together that several generators made of one server at the same time
    Merge(MergeArgs),
    /// Wait for orders, and make shares of loads that several machines make together
    Node(NodeArgs),
    /// Is the new one slower? Two revisions, two commands, or two recorded runs
    Compare(CompareArgs),
    /// What is wrong with this server, and what proves it?
    Diagnose(DiagnoseArgs),
    /// Does this server stay as it is for hours, or does anything grow?
    Soak(SoakArgs),
    /// Make a site of recorded runs: their verdicts, and the page of each
    Site(SiteArgs),
    /// Check somebody else's figures: which of them cannot be true together
    Audit(AuditArgs),
    /// List the servers that are here, build them, check that they honour the contract
    Targets(TargetsArgs),
    /// Measure the instrument itself: what it can be trusted with on this machine
    Calibrate(CalibrateArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example: bourdon completions bash > /etc/bash_completion.d/bourdon")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Run a small server with one known defect, or none, to test a tool on
    Specimen(SpecimenArgs),
    /// Run a command until stdin ends, then end everything it started
    #[command(hide = true)]
    Reaper {
        /// The step, and what it is for
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

const RUN_EXAMPLES: &str = "\
Examples:
  bourdon run business-latency --quick      a shipped experiment, quick form
  bourdon run all --quick                   every shipped experiment
  bourdon run my.toml --target mine,go-gin  some targets of your own experiment
  bourdon run --resume runs/2026-11-20-my   resume a run that was stopped

Targets are looked for in targets/ beside the experiment, beside its folder, in
the working directory, and in $BOURDON_HOME. What is built is kept in
$XDG_CACHE_HOME/bourdon (~/.cache/bourdon).";

#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// Experiment file, the name of a shipped experiment, or `all` of them
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) experiment: Option<String>,

    /// The quick form: short windows, six launches
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only these targets
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) target: Vec<String>,

    /// Exactly this many blocks: how often every cell is launched; with --resume, at least as many as there are
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,

    /// Seed of the order of trials
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,

    /// Resume this recorded run or comparison, or this folder of `all`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["quick", "target", "seed", "runs", "threads", "spin", "no_rotation"])]
    pub(crate) resume: Option<PathBuf>,

    /// Launch each target alone, instead of those under the same conditions together with the load rotating between them in
    /// slices
    #[arg(long)]
    pub(crate) no_rotation: bool,

    /// When a target never starts, measure the others all the same instead of stopping after the first block
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Where runs are recorded
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,

    /// Exit with 1 when a claim is contradicted
    #[arg(long)]
    pub(crate) gate: bool,

    /// The share of a cell's requests that may fail before the exit status is 1 [default: the experiment's, else 1%]
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "resume")]
    pub(crate) allow_failures: Option<f64>,

    #[command(flatten)]
    pub(crate) generator: GeneratorArgs,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,

    #[command(flatten, next_help_heading = "Several machines")]
    pub(crate) nodes: NodesArgs,

    /// Address of this machine under which nodes elsewhere load the targets, which must listen there [default: 127.0.0.1,
    /// for nodes on this machine]
    #[arg(long, value_name = "ADDRESS", requires = "nodes")]
    pub(crate) at: Option<IpAddr>,
}

const SITE_EXAMPLES: &str = "\
Exit status: 0 whatever the runs found; 2 where one cannot be read, which the site names.

Examples:
  bourdon site runs/2026-11-20-all -o public
  bourdon site runs/2026-11-20-timeouts runs/2026-11-21-own-server -o public";

#[derive(Debug, Args)]
#[command(after_help = SITE_EXAMPLES)]
pub(crate) struct SiteArgs {
    /// Folders of runs, or folders that hold some
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,

    /// Write the site into this folder: a new one, an empty one, or an earlier site, which is replaced
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  bourdon report runs/2026-11-20-timeouts
  bourdon report before.json --format html > before.html
  bourdon report runs/2026-11-20-timeouts --format markdown --charts charts > report.md";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Folder of the run; or a load that was saved with load -o, or a folder of several of one server
    pub(crate) run: PathBuf,

    /// With --format markdown: draw pictures (SVG) and their values (CSV) into this folder, and show them beside
    /// their tables; a relative path starts where you are
    #[arg(long, value_name = "FOLDER")]
    pub(crate) charts: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// How a run or a comparison is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct ShownArgs {
    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: ReportFormat,

    /// In text, footnotes too: why a figure is missing
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// What a run or a comparison is printed as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal
    Text,
    /// One document, schema bourdon.report/2, bourdon.compare/2 of a comparison, or bourdon.diagnosis/1
    Json,
    /// For a pull request or a wiki
    Markdown,
    /// One page with pictures, for a browser: it needs no network and no script
    Html,
}

const TARGETS_EXAMPLES: &str = "\
Examples:
  bourdon targets               what is here, and what is missing to build it
  bourdon targets check go-gin  check that one target honours the contract";

#[derive(Debug, Args)]
#[command(after_help = TARGETS_EXAMPLES)]
pub(crate) struct TargetsArgs {
    /// What to do with them
    #[arg(default_value = "list")]
    pub(crate) action: TargetsAction,

    /// Only these
    pub(crate) names: Vec<String>,

    /// Seed of the nonces, ids and passes that `check` asks for; a breach names it [default: another each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: TargetsFormat,
}

/// How targets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetsFormat {
    /// For people
    Text,
    /// One document, schema bourdon.targets/1
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetsAction {
    /// Name them, with what is missing to build them
    List,
    /// Build them
    Build,
    /// Build them, launch each, and try every point of the contract
    Check,
}

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  bourdon calibrate                about a minute; leave the machine idle
  bourdon calibrate --format json  every figure

What it finds is kept in $XDG_STATE_HOME/bourdon/calibration.json
(~/.local/state/bourdon). From then on `load` and `run` use it to tell whether
the generator was the limit. It holds for this machine, kernel and version of
bourdon; elsewhere it is ignored.";

#[derive(Debug, Args)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub(crate) struct CalibrateArgs {
    /// Window of each of its loads
    #[arg(short, long, value_name = "TIME", default_value = "1s", allow_hyphen_values = true, value_parser = values::calibration_window)]
    pub(crate) duration: u64,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: CalibrateFormat,
}

/// How a calibration is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrateFormat {
    /// For people
    Text,
    /// One document, schema bourdon.calibration/1
    Json,
}

const SPECIMEN_SETTINGS: &str = "\
Environment: PORT (8080; 0 takes a free one and prints it), ADDRESS
(127.0.0.1), and the settings that a line names, such as HANDLER_DELAY=10ms or
EVERY=100. WORK=20000 makes it compute for each request; LOG_FILE takes a line
for each.

Example:
  bourdon specimen stall & bourdon load -R 1000 http://127.0.0.1:8080/; kill %1";

#[derive(Debug, Args)]
#[command(after_help = SPECIMEN_SETTINGS)]
pub(crate) struct SpecimenArgs {
    /// What it does
    #[arg(value_name = "NAME", value_parser = specimen_names())]
    pub(crate) name: String,
}

fn specimen_names() -> PossibleValuesParser {
    Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.about())).into()
}
