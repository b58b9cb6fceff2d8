use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use model::AuditSource;

use super::{at_least_one, positive_duration};

const AUDIT_EXAMPLES: &str = "\
Examples:
  wrk -c 64 -d 10s --latency http://127.0.0.1:8080/ | bourdon audit -
  hey -c 50 -z 10s http://127.0.0.1:8080/ | bourdon audit - --connections 50
  bourdon audit published.csv --delay 10ms

A row of a table: name,connections,rate,mean_ms,p99_ms. Known outputs: wrk,
wrk2, ab, hey, h2load, oha, k6, vegeta, and CSV with units in its header.

TIME has a unit (500us, 10ms, 1.5s, 2m); a bare number is seconds.

Exit status:
  0  nothing contradictory
  1  some figures cannot be true together, or over 1 % of the requests failed
  2  not readable";

#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditArgs {
    /// What a load generator printed, or a table as CSV; - for stdin
    pub(crate) file: PathBuf,

    /// Tool that printed it [default: detected]
    #[arg(long, value_name = "TOOL", value_parser = audit_source())]
    pub(crate) from: Option<AuditSource>,

    /// Connections, if not printed
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub(crate) connections: Option<u64>,

    /// Requests in flight on one connection (h2load's -m) [default: 1; not assumed for h2load and k6]
    #[arg(long, value_name = "DEPTH", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub(crate) pipeline: Option<u64>,

    /// Time in which the requests were counted, if not printed
    #[arg(short, long, value_name = "TIME", allow_hyphen_values = true, value_parser = positive_duration)]
    pub(crate) duration: Option<u64>,

    /// What the handler waits before each reply
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = positive_duration)]
    pub(crate) delay: Option<u64>,

    /// Requests that the server can work on at once
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub(crate) workers: Option<u64>,

    /// Requests came at a rate (hey -q, oha -q), not when the last reply came
    #[arg(long)]
    pub(crate) open: bool,

    /// What to print on stdout
    #[arg(long, default_value = "text")]
    pub(crate) format: AuditFormat,
}

/// How an audit is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// For people
    Text,
    /// One document, schema bourdon.audit/1
    Json,
}

fn audit_source() -> impl TypedValueParser<Value = AuditSource> {
    let of_id = |id: String| AuditSource::ALL.iter().copied().find(|source| source.id() == id);
    PossibleValuesParser::new(AuditSource::ALL.iter().map(|source| source.id()))
        .try_map(move |id| of_id(id).ok_or("unknown tool"))
}
