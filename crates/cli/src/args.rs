use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use model::{DurationError, Gate, parse_duration, parse_gates};
use specimens::Kind;

/// The gauge for HTTP servers: puts them under controlled load, watches them, and says what holds, how surely, and why.
#[derive(Debug, Parser)]
#[command(name = "bourdon", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "\
Exit status, the first that applies:
  130  interrupted; what was measured is saved
  2    usage or file error
  4    a target could not be built, launched or reached
  1    the answer is bad: replies are wrong, or a claim is contradicted under --gate
  3    void: the instrument cannot vouch for it
  0    all is well";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load one URL and measure it
    Load(LoadArgs),
    /// Put servers on trial: build, launch, interleave, observe, judge, report
    Run(RunArgs),
    /// Judge and show a recorded run again, with no server near
    Report(ReportArgs),
    /// Is the new one slower? Two revisions, two commands, or two recorded runs
    Compare(CompareArgs),
    /// Try somebody else's figures: which of them cannot be true together
    Audit(crate::audit::AuditArgs),
    /// The servers that are here: list them, build them, prove that they honour the contract
    Targets(TargetsArgs),
    /// Measure the instrument itself: what it can be trusted with on this machine
    Calibrate(CalibrateArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example: bourdon completions bash > /etc/bash_completion.d/bourdon")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Run a small server with one known defect, or none, to try a tool on
    Specimen(SpecimenArgs),
    /// Run a command until stdin ends, then end everything it started
    #[command(hide = true)]
    Reaper(ReaperArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  bourdon run business-latency --quick            a shipped experiment in its quick form
  bourdon run all --quick                         every shipped experiment, and one page of verdicts
  bourdon run my.toml --target mine,go-net-http   some targets of an experiment of your own
  bourdon run --resume runs/2026-11-20-my         go on with a run that was stopped or killed

Targets are looked for in targets/ beside the experiment, beside its folder, in the working
directory, and in $BOURDON_HOME. What is built is kept in $XDG_CACHE_HOME/bourdon (~/.cache/bourdon).";

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

    /// Exactly so many blocks: how often every cell is launched
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,

    /// Seed of the order of trials
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,

    /// Go on with this recorded run, or with this folder of `all`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["quick", "target", "blocks", "seed"])]
    pub(crate) resume: Option<PathBuf>,

    /// Where runs are recorded
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,

    /// Exit with 1 when a claim is contradicted
    #[arg(long)]
    pub(crate) gate: bool,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: bourdon report runs/2026-11-20-business-latency --format markdown")]
pub(crate) struct ReportArgs {
    /// Folder of the run
    pub(crate) run: PathBuf,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: ReportFormat,
}

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal
    Text,
    /// One document, schema bourdon.report/1
    Json,
    /// For a pull request or a wiki
    Markdown,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  bourdon compare --build 'make' --run './server --port $PORT' --rev main --rev HEAD
  bourdon compare --run './server --port $PORT' --rev HEAD --rev . -c 100 --path /api
  bourdon compare --run './old --port $PORT' --run './new --port $PORT' -R 2000
  bourdon compare runs/2026-11-20-mine runs/2026-11-21-mine --gate 'p99<+10%'

The old one comes first. Servers are launched in turn, block by block, so that a slow minute of the
machine is shared by both; ratios are new ÷ old with 95 % intervals. A revision is checked out beside
your working directory, which is left as it is; `.` is the working directory itself.

A gate is broken, and the exit status 1, when the whole interval lies on its wrong side. What the
figures leave open is said and breaks nothing.";

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Two recorded runs, or an experiment file with two targets
    #[arg(value_name = "RUN|EXPERIMENT", num_args = 0..=2)]
    pub(crate) recorded: Vec<PathBuf>,

    /// The command that launches the server, without a shell; twice for two servers
    #[arg(long, value_name = "COMMAND")]
    pub(crate) run: Vec<String>,

    /// The command that builds it; twice for two servers
    #[arg(long, value_name = "COMMAND", requires = "run")]
    pub(crate) build: Vec<String>,

    /// A revision of the git repository here, or `.` for the working directory; given twice
    #[arg(long, value_name = "REVISION", requires = "run")]
    pub(crate) rev: Vec<String>,

    /// What is asked for
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = path)]
    pub(crate) path: String,

    /// What answers once the server is ready [default: the path]
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) ready: Option<String>,

    /// Connections
    #[arg(short, long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,

    /// Requests a second over all connections (open model); without it each connection sends when its last reply came
    #[arg(short = 'R', long, value_name = "PER_SECOND", allow_negative_numbers = true, value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,

    /// Window of each launch [default: 3s]
    #[arg(short, long, value_name = "TIME", value_parser = length_of_time)]
    pub(crate) duration: Option<String>,

    /// Load before the window, not measured [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = length_of_time)]
    pub(crate) warm_up: Option<String>,

    /// Exactly so many blocks [default: 6 to 12, until the ratios are known to ± 2 %]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,

    /// Ratios within this margin of 1 are the same
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) margin: String,

    /// How much worse it may become, for instance 'cpu_per_request<+3%, p99<+10%'
    #[arg(long, value_name = "GATES", value_parser = gates)]
    pub(crate) gate: Option<Gates>,

    /// The status a good reply has [default: any 2xx or 3xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) expect_status: Option<u16>,

    /// The exact body a good reply has; every reply is compared
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect_body: Option<String>,

    /// Compare two runs although more differs than the server; it is said
    #[arg(long)]
    pub(crate) force: bool,

    /// Where the launches are recorded
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: ReportFormat,
}

/// What `--gate` asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gates(pub(crate) Vec<Gate>);

fn gates(text: &str) -> Result<Gates, String> {
    parse_gates(text).map(Gates)
}

/// A length of time above zero, as it was typed.
fn length_of_time(text: &str) -> Result<String, String> {
    parse_duration(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn path(text: &str) -> Result<String, String> {
    let whole = text.starts_with('/') && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if whole { Ok(text.to_owned()) } else { Err("a path begins with `/` and has no spaces".to_owned()) }
}

const TARGETS_EXAMPLES: &str = "\
Examples:
  bourdon targets                     what is here, and what is missing to build it
  bourdon targets check go-gin        prove that one target honours the contract";

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
  bourdon calibrate                    about a minute; leave the machine alone meanwhile
  bourdon calibrate --format json      every figure

What it finds is kept in $XDG_STATE_HOME/bourdon/calibration.json (~/.local/state/bourdon). From then on
`load` and `run` judge by it where they ask whether the generator was the limit. It holds for this
machine, kernel and version of bourdon; on others it is ignored.";

#[derive(Debug, Args)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub(crate) struct CalibrateArgs {
    /// Window of each of its loads
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
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

#[derive(Debug, Args)]
pub(crate) struct ReaperArgs {
    /// CPUs the command may use, separated by commas; none leaves it to the kernel
    #[arg(long, value_delimiter = ',', value_parser = cpu)]
    pub(crate) cpus: Vec<Option<u32>>,

    /// Folder that is made before the command starts and removed once nothing of it is left
    #[arg(long)]
    pub(crate) scratch: Option<PathBuf>,

    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

fn cpu(text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|_| format!("`{text}` is no CPU")) }
}

const SPECIMEN_SETTINGS: &str = "\
Environment: PORT (8080; 0 takes a free one and says which), and the settings that a line names,
such as HANDLER_DELAY=10ms or EVERY=100. WORK=20000 makes it compute for each request; LOG_FILE
takes a line for each.

Example: bourdon specimen stall & bourdon load -R 1000 -d 5s http://127.0.0.1:8080/; kill %1";

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

/// What is printed on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadFormat {
    /// For people
    Text,
    /// One document, schema bourdon.load/1
    Json,
    /// A line a second
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// At equal distances
    Constant,
    /// At independent exponential distances
    Poisson,
}

const LOAD_EXAMPLES: &str = "\
Examples:
  bourdon load http://127.0.0.1:8080/                     50 connections, 10 s, closed model
  bourdon load -c 200 -R 5000 http://127.0.0.1:8080/api   5,000 a second, whatever the server does
  bourdon load -n 1000 --expect-body 'Hello world' http://127.0.0.1:8080/rest/hello

Without --rate each connection sends when its last reply came (closed model). With --rate requests
are due at fixed times and response time counts from then, so a server that stalls cannot hide it
(open model).";

#[derive(Debug, Args)]
#[command(after_help = LOAD_EXAMPLES)]
pub(crate) struct LoadArgs {
    /// What to load: http://host[:port][/path]
    pub(crate) url: String,

    /// Connections, kept open over all threads
    #[arg(short, long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,

    /// Length of the measured window [default: 10s]; with --requests, the longest it may take
    #[arg(short, long, value_name = "TIME", value_parser = positive_duration)]
    pub(crate) duration: Option<u64>,

    /// Exactly so many requests instead of a window
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,

    /// Generator threads
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,

    /// Requests a second over all connections (open model)
    #[arg(short = 'R', long, value_name = "PER_SECOND", allow_negative_numbers = true, value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,

    /// How requests are spaced in the open model
    #[arg(long, default_value = "constant", requires = "rate")]
    pub(crate) arrivals: ArrivalsArg,

    /// Requests in flight on one connection
    #[arg(long, value_name = "DEPTH", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) pipeline: u16,

    /// Method
    #[arg(short = 'X', long, default_value = "GET", value_parser = token)]
    pub(crate) method: String,

    /// Header, for instance 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,

    /// Body, or @file
    #[arg(short = 'b', long, value_name = "TEXT|@FILE")]
    pub(crate) body: Option<String>,

    /// A new connection for every request
    #[arg(long)]
    pub(crate) no_keepalive: bool,

    /// HTTP version of the request
    #[arg(long, default_value = "1.1", value_parser = ["1.0", "1.1"])]
    pub(crate) http: String,

    /// Give a request up after so long; none unless asked for, since it would turn a slow server into an erring one
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub(crate) timeout: Option<u64>,

    /// The status a good reply has [default: any 2xx or 3xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) expect_status: Option<u16>,

    /// The exact body a good reply has, or @file; every reply is compared
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) expect_body: Option<String>,

    /// Load before the window, not measured [default: 1s; 0s with --requests]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) warm_up: Option<u64>,

    /// Seed of Poisson arrivals
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,

    /// Address that connections come from; several, separated by commas, are used in turn, each with its own ports
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,

    /// Watch the clock instead of sleeping until a request is due: less lateness for a whole CPU a thread
    #[arg(long, requires = "rate")]
    pub(crate) spin: bool,

    /// Write per-second histograms to this file (HdrHistogram V2 interval log, values in 100 ns)
    #[arg(long, value_name = "FILE")]
    pub(crate) histogram_log: Option<PathBuf>,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: LoadFormat,
}

fn duration(text: &str) -> Result<u64, DurationError> {
    parse_duration(text)
}

pub(crate) fn positive_duration(text: &str) -> Result<u64, String> {
    match parse_duration(text) {
        Ok(0) => Err("must be above zero".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

fn positive_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("a rate is a number of requests a second above zero, for instance 1000".to_owned()),
    }
}

fn token(text: &str) -> Result<String, String> {
    let valid = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c));
    if valid { Ok(text.to_owned()) } else { Err(format!("`{text}` is no HTTP token")) }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is written 'Name: value'")?;
    if value.contains(['\r', '\n']) {
        return Err("a header's value is one line".to_owned());
    }
    Ok((token(name.trim())?, value.trim().to_owned()))
}
