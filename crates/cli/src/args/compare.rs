use std::path::{Path, PathBuf};

use clap::Args;
use judge::thresholds::MARGIN;
use model::{Gate, Metric, parse_gates};

use crate::experiment::nearest;

use super::values::{at_least_one, duration, margin, path, positive_rate, rest, share, window};
use super::{GeneratorArgs, RequestArgs, ShownArgs, TlsArgs};

const COMPARE_EXAMPLES: &str = "\
Examples:
  bourdon compare --build make --run './server --port $PORT' \\
      --rev main --rev HEAD
  bourdon compare --run './server $PORT' --rev HEAD --rev . -c 100 --path /api
  bourdon compare --run './old $PORT' --run './new $PORT' -R 2k
  bourdon compare --run './server $PORT' --rev main --rev . --path /orders \\
      -H 'Authorization: Bearer test' -b @order.json --expect-status 201
  bourdon compare runs/2026-11-20-mine runs/2026-11-21-mine \\
      --gate 'cpu_per_request<+3%'
  bourdon compare before.json after.json

The old one comes first. In each block both are launched together, and the load
rotates between them in slices; where it cannot, they are launched in turn. So a
slow minute of the machine is shared by both; ratios are new ÷ old with intervals
that hold the truth in 95 % of comparisons. A revision is checked out beside your working directory, which is
left as it is; `.` is the working directory itself, with whatever git does not
track in it. What a server keeps in its folder, its next launch finds.

Loads that `bourdon load -o FILE` saved are compared without an interval, or
with one where each side is a folder of several.

A gate fails, and the exit status is 1, when the whole interval lies on its
wrong side. One that the figures leave open is undecided: the exit status is 3.
Without a gate a slower server is not a failure: the exit status is 0.

Requests slower than the p99 are compared where a gate asks: p999<+25%, best at a
rate (-R), for in a closed load those that wait leave the server to the others.

An option that does not go with what is compared is refused. An experiment file
says its load itself; what was recorded is compared as it was measured.

TIME has a unit (500us, 10ms, 1.5s, 2m); a bare number is seconds.";

/// Half width of "the same", as a share, where the load rotates.
const MARGIN_ROTATING: f64 = 0.01;

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Two recorded runs, two saved loads (or folders of them), or an experiment file with two targets
    #[arg(value_name = "RUN|LOAD|EXPERIMENT", num_args = 0..=2)]
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

    /// Path to request [default: /]
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) path: Option<String>,

    #[command(flatten)]
    pub(crate) request: RequestArgs,

    /// Path that is asked for, by GET without headers, until it answers 2xx or 3xx: then the server is ready [default: the
    /// path to request, if that is a GET without -H of which such an answer is expected; else /, with any status below 500]
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) ready: Option<String>,

    /// Connections [default: 50]
    #[arg(short, long, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub(crate) connections: Option<u32>,

    /// Requests a second over all connections (open model); without it each connection sends when its last reply came
    #[arg(short = 'R', long, value_name = "PER_SECOND", allow_negative_numbers = true, value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,

    /// How long each launch is measured, over all its slices where it has any [default: 3s]
    #[arg(short, long, value_name = "TIME", allow_hyphen_values = true, value_parser = window)]
    pub(crate) duration: Option<u64>,

    /// Load before the window, not measured [default: 1s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) warm_up: Option<u64>,

    /// Exactly this many blocks [default: 6 to 12, until the primary metric's ratio is known to ± 1 %,
    /// ± 2 % with --no-rotation, never wider than the margin]. A fixed number is tested at 5 % instead of 3 %
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,

    /// Seed for everything random: launch order, arrivals, mixes [default: a new one; the experiment's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,

    /// Primary metric: tested at its own level, all others share one [default: cpu_per_request]
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub(crate) primary: Option<Metric>,

    /// Launch each server alone, instead of both together with the load rotating between them in slices
    #[arg(long)]
    pub(crate) no_rotation: bool,

    /// How long each server is watched once the first of its loads is over, for work that it put off until then [default: 2.5s]
    #[arg(long, value_name = "TIME", value_parser = rest)]
    pub(crate) rest: Option<u64>,

    /// Ratios within this margin of 1 are the same [default: 1%; 5% with --no-rotation, and of what was recorded]
    #[arg(long, value_name = "SHARE", value_parser = margin)]
    pub(crate) margin: Option<f64>,

    /// Of recorded runs and saved loads that were not measured in turn: by how much the machine may have been slower for one of them; no
    /// verdict on a rate or a time rests on less [default: 35%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) drift: Option<f64>,

    /// How much worse metrics may become, such as 'cpu_per_request<+3%, throughput>-5%, p99<+25%, errors<+1%' (errors in percentage points)
    #[arg(long, value_name = "GATES", value_parser = gates)]
    pub(crate) gate: Option<Gates>,

    /// Exit with 0 instead of 3 where a gate could not be decided, unless nothing could be compared at all
    #[arg(long, requires = "gate")]
    pub(crate) allow_undecided: bool,

    /// The share of requests that may fail before the exit status is 1 [default: the experiment's, else 1%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) allow_failures: Option<f64>,

    #[command(flatten)]
    pub(crate) generator: GeneratorArgs,

    #[command(flatten)]
    pub(crate) tls: TlsArgs,

    /// Let a new connection resume the TLS session of an earlier one; otherwise each makes a full handshake
    #[arg(long)]
    pub(crate) tls_resume: bool,

    /// The status a good reply has [default: 200; of another method than GET any 2xx or 3xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) expect_status: Option<u16>,

    /// The exact body a good reply has, or @file; every reply is compared
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) expect_body: Option<String>,

    /// Compare even if machine, software or load differ, too; the report says what
    #[arg(long)]
    pub(crate) force: bool,

    /// Where the launches are recorded [default: runs]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) runs: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

impl CompareArgs {
    /// What is asked for.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or("/")
    }

    /// Connections.
    pub(crate) fn connections(&self) -> u32 {
        self.connections.unwrap_or(50)
    }

    /// Ratios within this margin of 1 are the same.
    pub(crate) fn margin(&self) -> f64 {
        let is_launched = !self.run.is_empty();
        if is_launched && self.rotates() { self.margin.unwrap_or(MARGIN_ROTATING) } else { self.margin_of_others() }
    }

    /// The same where launches are alone, or were recorded.
    pub(crate) fn margin_of_others(&self) -> f64 {
        self.margin.unwrap_or(MARGIN)
    }

    /// What the comparison is about.
    pub(crate) fn primary(&self) -> Metric {
        self.primary.unwrap_or(Metric::CpuPerRequest)
    }

    /// Whether the load is to rotate between servers that are launched.
    pub(crate) fn rotates(&self) -> bool {
        !self.no_rotation
    }

    /// Where the launches are recorded.
    pub(crate) fn runs(&self) -> &Path {
        self.runs.as_deref().unwrap_or(Path::new("runs"))
    }
}

/// What `--gate` asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gates(pub(crate) Vec<Gate>);

fn metric(text: &str) -> Result<Metric, String> {
    let known = || Metric::ALL.iter().map(|metric| metric.id());
    let near = || nearest(text, known()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let all = || known().collect::<Vec<_>>().join(", ");
    Metric::from_id(text).ok_or_else(|| format!("{}the metrics are {}", near(), all()))
}

fn gates(text: &str) -> Result<Gates, String> {
    let name = |term: &str| term.split(['<', '>']).next().unwrap_or_default().trim().to_owned();
    let unknown = || text.split(',').map(name).find(|name| Metric::from_id(name).is_none());
    let near = || nearest(&unknown()?, Metric::ALL.iter().map(|metric| metric.id()));
    let meant = |why: String| near().map_or(why.clone(), |near| format!("did you mean `{near}`? {why}"));
    let gates = parse_gates(text).map_err(meant)?;
    // Of two the looser one changes nothing, and is often the one that was meant.
    let times = |metric: Metric| gates.iter().filter(|gate| gate.metric == metric).count();
    match gates.iter().find(|gate| times(gate.metric) > 1) {
        None => Ok(Gates(gates)),
        Some(gate) => Err(format!("`{}` has more than one gate; keep one", gate.metric.id())),
    }
}
