use clap::Args;

use super::OneServerArgs;
use super::values::{duration, path, positive_duration, positive_rate, window};

const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  bourdon diagnose --run './server --port $PORT'
  bourdon diagnose --run './server $PORT' --path /orders --other /customers
  bourdon diagnose --run 'node app.js' --path /ping --heavy /report
  bourdon diagnose --run './server -db $UPSTREAM' --upstream 127.0.0.1:5432
  bourdon diagnose java-tomcat --path /rest/hello --set HANDLER_DELAY=100ms
  bourdon diagnose http://127.0.0.1:8080/orders --overload

A server that runs already shows less: neither its CPU nor its memory is seen,
and without --overload it is sent no more requests a second than --rate says. That
is a mean: what came due while it did not answer is sent when it does again.

Each experiment has a launch of its own. The first ones look for every fault
that is known here; what looks like one is then proved: by two doses, by a
control that must change nothing, and by a return to where it began. Only what
was proved \"is\"; anything else is consistent with what was seen.

Exit status 1: over 1 % of the requests failed, or the server ended or gave no
reply; with --gate also when any fault was proved.

TIME has a unit (500us, 10ms, 1.5s, 2m); a bare number is seconds.";

#[derive(Debug, Args)]
#[command(after_help = DIAGNOSE_EXAMPLES)]
pub(crate) struct DiagnoseArgs {
    /// The URL of a server that runs already, or a target by its name, as `bourdon targets` lists them
    #[arg(value_name = "URL|TARGET", required_unless_present = "run", conflicts_with = "run")]
    pub(crate) target: Option<String>,

    /// Another path, asked for by GET: does a limit hold for both together or for each?
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) other: Option<String>,

    /// A path that costs the server much, asked for by GET: do others wait for it?
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) heavy: Option<String>,

    /// What the server itself asks, HOST:PORT, a database or another service: how many round trips does a request wait for? Its
    /// command or its environment must take that from $UPSTREAM, which is then a relay's now and then
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) upstream: Option<String>,

    /// Of a URL: no more than so many requests a second [default: 60]
    #[arg(short = 'R', long, value_name = "PER_SECOND", allow_negative_numbers = true, value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,

    /// Of a URL: as many requests as it answers, and more at once than it can
    #[arg(long, conflicts_with_all = ["run", "rate"])]
    pub(crate) overload: bool,

    /// Of a URL: also one on another machine
    #[arg(long, conflicts_with = "run")]
    pub(crate) other_host: bool,

    /// How long all of it may take at most
    #[arg(long, value_name = "TIME", default_value = "3m", allow_hyphen_values = true, value_parser = positive_duration)]
    pub(crate) within: u64,

    /// How long each load is measured, unless its experiment needs more [default: 2s]
    #[arg(short, long, value_name = "TIME", allow_hyphen_values = true, value_parser = window)]
    pub(crate) duration: Option<u64>,

    /// Load before each window, not measured: more for a server that compiles itself while it runs [default: 0.5s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) warm_up: Option<u64>,

    /// Exit with 1 when a fault was proved
    #[arg(long)]
    pub(crate) gate: bool,

    #[command(flatten)]
    pub(crate) server: OneServerArgs,
}
