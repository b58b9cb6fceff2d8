use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use model::HttpVersion;

use super::values::{at_least_one, duration, file_name, positive_duration, positive_rate, share, window};
use super::{NodesArgs, RequestArgs, ServersArgs};

/// What is printed on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadFormat {
    /// For people
    Text,
    /// One document, schema bourdon.load/2
    Json,
    /// A line a second
    Csv,
    /// Nothing: the file of --output alone
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// At equal distances
    Constant,
    /// At independent exponential distances
    Poisson,
}

/// `judge::thresholds::ALLOWED_FAILURES` as it is typed.
pub(super) const DEFAULT_ALLOWED: &str = "1%";

const LOAD_EXAMPLES: &str = "\
Examples:
  bourdon load http://127.0.0.1:8080/               50 connections for 10 s
  bourdon load -c 200 -R 5k http://127.0.0.1:8080/  5,000 requests a second
  bourdon load -n 1000 --expect-body 'Hello world' http://127.0.0.1:8080/
  bourdon load -o before.json http://127.0.0.1:8080/
  bourdon compare before.json after.json
  bourdon load --ca ca.pem https://localhost:8443/

Without --rate each connection sends when its last reply came (closed model).
With --rate requests are due at fixed times and response time counts from then,
so a server that stalls cannot hide it (open model).

TIME has a unit (500us, 10ms, 1.5s, 2m); a bare number is seconds.";

#[derive(Debug, Args)]
#[command(after_help = LOAD_EXAMPLES)]
pub(crate) struct LoadArgs {
    /// What to load: http[s]://[user:password@]host[:port][/path]
    pub(crate) url: String,

    /// Connections, kept open over all threads
    #[arg(short, long, default_value_t = 50, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub(crate) connections: u32,

    /// Length of the measured window [default: 10s]; with --requests, the longest it may take [default: no
    /// limit; Ctrl-C saves]
    #[arg(short, long, value_name = "TIME", allow_hyphen_values = true, value_parser = window)]
    pub(crate) duration: Option<u64>,

    /// Exactly this many requests instead of a window
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub(crate) requests: Option<u64>,

    /// Generator threads
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,

    /// Requests a second over all connections (open model), for instance 500, 5k or 1.5M
    #[arg(short = 'R', long, value_name = "PER_SECOND", allow_negative_numbers = true, value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,

    /// How requests are spaced in the open model
    #[arg(long, default_value = "constant", requires = "rate")]
    pub(crate) arrivals: ArrivalsArg,

    /// Requests in flight on one connection
    #[arg(long, value_name = "DEPTH", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) pipeline: u16,

    #[command(flatten)]
    pub(crate) request: RequestArgs,

    /// A new connection for every request
    #[arg(long)]
    pub(crate) no_keepalive: bool,

    /// HTTP version of the request
    #[arg(long, default_value = "1.1", value_parser = http_version())]
    pub(crate) http: HttpVersion,

    /// PEM file of certificates to trust instead of this machine's: CA certificates or self-signed server certificates
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) ca: Option<PathBuf>,

    /// Accept any certificate, without verifying the server
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,

    /// Let a new connection resume the TLS session of an earlier one, as browsers do; otherwise each makes a full
    /// handshake
    #[arg(long)]
    pub(crate) tls_resume: bool,

    /// Abandon a request after this long; never unless asked, since that turns slow replies into failures
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = positive_duration)]
    pub(crate) timeout: Option<u64>,

    /// The status a good reply has [default: any 2xx or 3xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) expect_status: Option<u16>,

    /// The exact body a good reply has, or @file; every reply is compared
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) expect_body: Option<String>,

    /// The share of requests that may fail before the exit status is 1
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_ALLOWED, value_parser = share)]
    pub(crate) allow_failures: f64,

    /// Load before the window, not measured [default: 1s; 0s with --requests]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) warm_up: Option<u64>,

    /// Seed of Poisson arrivals
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,

    /// Address that connections come from; several, separated by commas, are used in turn, each with its own ports
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,

    /// Poll the clock instead of sleeping until a request is due: less lateness, at the cost of a full CPU per thread
    #[arg(long, requires = "rate")]
    pub(crate) spin: bool,

    /// Acknowledge at once what the server sends, and not up to 40 ms later: shows whether that is what its replies wait for
    #[arg(long)]
    pub(crate) quick_ack: bool,

    /// Write per-second histograms to this file (HdrHistogram V2 interval log, values in 100 ns)
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    pub(crate) histogram_log: Option<PathBuf>,

    /// Save the result to this file, in place of an older one, as --format json prints it and with all that was measured;
    /// `bourdon compare`, `report` and `merge` read it
    #[arg(short, long, value_name = "FILE", value_parser = file_name)]
    pub(crate) output: Option<PathBuf>,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: LoadFormat,

    /// In text, footnotes too: which requests each row of latencies is about
    #[arg(short, long)]
    pub(crate) verbose: bool,

    #[command(flatten, next_help_heading = "Several machines")]
    pub(crate) nodes: NodesArgs,

    #[command(flatten, next_help_heading = "Several machines")]
    pub(crate) servers: ServersArgs,
}

fn http_version() -> impl TypedValueParser<Value = HttpVersion> {
    PossibleValuesParser::new(HttpVersion::ALL.iter().map(|version| version.id()))
        .try_map(|id| HttpVersion::from_id(&id).ok_or("unknown version"))
}
