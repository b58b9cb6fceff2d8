use clap::Args;
use model::{Rule, Ruled};

use super::OneServerArgs;
use super::values::{at_least_one, positive_duration, positive_rate, share};

const SOAK_EXAMPLES: &str = "\
Examples:
  bourdon soak --run './server --port $PORT'
  bourdon soak --run 'java -jar app.jar --port=$PORT' --for 4h -R 500
  bourdon soak go-gin --share 0.3 --rule failed=1% --rule established=200
  bourdon soak --run './server $PORT' --for 10m --gate
  bourdon soak --run 'node server.js' --inspect

Two fifths of the time the server is under load, then for a fifth it is hardly
asked, then the load comes once more. After each of some dozens of cycles its
connections are closed, and what it still has is counted: memory, threads, files,
what is alive on its heap. What grows as fast again after the pause, and not in
it, grows with each request; what fills comes to rest. Ctrl-C gives the answer so
far.

The heap is counted where the runtime does so: a JVM beside whose java a jcmd lies
(by a histogram of its classes, which makes it collect), and Go with
net/http/pprof (/debug/pprof/heap, for which every other server is asked once); with
--inspect also a Node (V8, by a sample of what is allocated from the first count on). Of
others memory stands for it: half an hour and more tells what a collector takes
from what is kept, and a cache that fills from a leak.

Rules, each as NAME=MOST, with what holds unless it is given: failed=5%,
established=1000, accept-queue=50, cpu=90% (of the CPUs it may use),
young-collections=30 (a minute), full-collections=5 (within an hour),
full-collection-time=1 (in seconds, as a mean).

Exit status 1: the server ended, or the rule about failed requests was broken;
with --gate also when anything grows, replies became slower, or any rule was
broken.

TIME has a unit (90s, 10m, 4h); a bare number is seconds.";

#[derive(Debug, Args)]
#[command(after_help = SOAK_EXAMPLES)]
pub(crate) struct SoakArgs {
    /// A target by its name, as `bourdon targets` lists them
    #[arg(value_name = "TARGET", required_unless_present = "run", conflicts_with = "run")]
    pub(crate) target: Option<String>,

    /// How long it is watched
    #[arg(long = "for", value_name = "TIME", default_value = "1h", allow_hyphen_values = true, value_parser = long)]
    pub(crate) lasts: u64,

    /// Requests a second [default: a share of what it serves at most]
    #[arg(short = 'R', long, value_name = "PER_SECOND", allow_negative_numbers = true, value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,

    /// Share of what it serves at most, which is measured first
    #[arg(long, value_name = "SHARE", default_value = "0.5", conflicts_with = "rate", value_parser = part)]
    pub(crate) share: f64,

    /// Connections
    #[arg(short, long, default_value = "32", allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub(crate) connections: u32,

    /// What may not be exceeded, NAME=MOST; may be repeated
    #[arg(long = "rule", value_name = "NAME=MOST", value_parser = rule)]
    pub(crate) rules: Vec<Rule>,

    /// Count the heap of a Node, over its inspector, which NODE_OPTIONS has it open: until the soak ends, whoever is on this machine can reach that on a port of 127.0.0.1,
    /// and run code in the server with it
    #[arg(long)]
    pub(crate) inspect: bool,

    /// Exit with 1 when anything grows, replies became slower, or any rule was broken
    #[arg(long)]
    pub(crate) gate: bool,

    #[command(flatten)]
    pub(crate) server: OneServerArgs,
}

/// The shortest soak: one second of load in each of twenty cycles.
const SHORTEST_NS: u64 = 40_000_000_000;

fn long(text: &str) -> Result<u64, String> {
    let found = positive_duration(text)?;
    (found >= SHORTEST_NS).then_some(found).ok_or_else(|| "must be 40s at least, and says more from 10m on".to_owned())
}

fn part(text: &str) -> Result<f64, String> {
    let found = share(text)?;
    (found > 0.0).then_some(found).ok_or_else(|| "must be above zero".to_owned())
}

fn rule(text: &str) -> Result<Rule, String> {
    let names = || Ruled::ALL.iter().map(|of| of.id()).collect::<Vec<_>>().join(", ");
    let (name, most) = text.split_once('=').ok_or_else(|| "write NAME=MOST".to_owned())?;
    let of = Ruled::from_id(name).ok_or_else(|| format!("unknown rule `{name}`; the rules are {}", names()))?;
    let most = match of {
        Ruled::Failed | Ruled::Cpu => share(most)?,
        _ => most
            .parse::<f64>()
            .ok()
            .filter(|most| *most >= 0.0 && most.is_finite())
            .ok_or("must be a number of 0 or more")?,
    };
    Ok(Rule { of, most })
}
