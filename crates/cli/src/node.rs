//! `bourdon node`: makes shares of loads that somebody else commands.

use model::NS_PER_S;
use nodes::{Allowed, NodeNews, Presence, Refusal, Serve, serve};
use report::format::counted;
use rustix::process::{Resource, getrlimit};
use rustix::system::uname;

use crate::args::NodeArgs;
use crate::calibrate;
use crate::exit::{Exit, Failure};
use crate::interrupt::flag_on_interrupt;
use crate::link::{UnheededTally, key, place, unlinked};
use crate::open_files::raise_files;
use crate::output::say;
use crate::sources;

/// Longest time by which a clock may be ahead, in seconds: what starts with this machine has room to be behind.
const MOST_AHEAD_S: f64 = 1e6;

/// `bourdon node`.
pub(crate) fn run(args: &NodeArgs) -> Result<Exit, Failure> {
    let (place, key) = (place(&args.nats, &args.link)?, key(&args.link)?);
    if args.clock_ahead.is_nan() || args.clock_ahead.abs() > MOST_AHEAD_S {
        return Err(Failure::usage("--clock-ahead is a number of seconds"));
    }
    sources::refuse_strange(&args.source)?;
    raise_files()?;
    let stop = flag_on_interrupt()?;
    let allowed = if args.allow.is_empty() { Allowed::own().to_vec() } else { args.allow.clone() };
    let may: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    say(format!("waits for orders in pool {}; it may load {}", args.link.pool, may.join(", ")));
    let node = Serve {
        place,
        key,
        own: presence(),
        allowed,
        sources: args.source.clone(),
        ahead_ns: (args.clock_ahead * NS_PER_S as f64) as i64,
        once: args.once,
        raw_log: args.raw_log.clone().map(|folder| &*folder.leak()),
    };
    let (mut tally, mut came_to_nothing) = (UnheededTally::default(), false);
    serve(node, &stop, &mut |news| {
        match &news {
            NodeNews::Began => came_to_nothing = false,
            NodeNews::Ordered { .. } | NodeNews::Refused(_) | NodeNews::Failed(_) | NodeNews::Deserted => {
                came_to_nothing = true;
            }
            _ => {}
        }
        line(&news, &mut tally).into_iter().for_each(say);
    })
    .map_err(|error| unlinked(&error))?;
    tally.sum().into_iter().for_each(say);
    Ok(Exit::of_answer(args.once && came_to_nothing, false))
}

/// What this node is.
fn presence() -> Presence {
    Presence {
        host: own_host(),
        instrument: calibrate::instrument(),
        boot: boot(),
        open_files: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
    }
}

/// What is said of it; nothing where that was said before.
fn line(news: &NodeNews, tally: &mut UnheededTally) -> Option<String> {
    Some(match news {
        NodeNews::Waits { url, why } => format!("cannot reach {url}: {why}; tries again until it can"),
        NodeNews::Ordered { run, session, address, threads, connections } => {
            let threads = counted(u64::from(*threads), "thread", "threads");
            let connections = counted(*connections, "connection", "connections");
            let own = ::report::node_name(&own_host(), session);
            format!("run {run}, as {own}: {connections} to {address}, {threads}")
        }
        NodeNews::Refused(why) => format!("refused a share: {}", refused(why)),
        NodeNews::Began => "begins".to_owned(),
        NodeNews::Delivered => "delivered what it measured".to_owned(),
        NodeNews::Free => "free".to_owned(),
        NodeNews::Deserted => "nothing was heard of whoever commands it for too long: the load is ended".to_owned(),
        NodeNews::Failed(why) => format!("made nothing: {why}"),
        NodeNews::Unheeded(why, from) => return tally.take(*why, from.as_deref()),
    })
}

/// What the kernel calls this time that the machine is up; nothing where it does not say.
pub(crate) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map_or(String::new(), |text| text.trim().to_owned())
}

fn own_host() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// Why a node does not make its share, with the cure.
pub(crate) fn refused(why: &Refusal) -> String {
    match why {
        Refusal::Version { bourdon } => {
            format!(
                "it is bourdon {bourdon}, and this one is {}; run one version everywhere",
                env!("CARGO_PKG_VERSION")
            )
        }
        Refusal::Address { allowed } => {
            format!("it may load {allowed} only; start it with --allow ADDRESS")
        }
        Refusal::OpenFiles { needed, most } => {
            format!(
                "its share takes {needed} open files, and it may have {most}; raise the limit there (ulimit -Hn), or use more nodes"
            )
        }
        Refusal::Busy { run } => {
            format!("it makes a share of run {run}; wait until that is over, or use another --pool")
        }
        Refusal::Absurd => {
            "the order is not valid: its threads, connections, rate or times are out of range".to_owned()
        }
    }
}
