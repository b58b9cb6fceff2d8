//! `bourdon load --nodes`: a load that nodes make together, put together here.

use std::collections::BTreeSet;
use std::time::Duration;

use ::report::format::{counted, duration_us};
use ::report::{LostNode, MergedPart, Origin, PartOf, Partial};
use engine::{Brought, Share};
use jiff::Timestamp;
use model::{Extent, GeneratorLimits, LoadModel, LoadSpec, Measurement, NS_PER_S, Validity, Verdict};
use nodes::{Asked, Command, Contribution, Ended, Lost, Made, News, Unmade, WhyLost, command};

use crate::args::{LoadArgs, LoadFormat};
use crate::calibrate;
use crate::exit::{Exit, Failure};
use crate::interrupt::flag_on_interrupt;
use crate::link::{MOST_SAID, key, place, unheeded, unlinked};
use crate::load_files;
use crate::load_seconds::Progress;
use crate::node::refused;
use crate::output::{say, style, write_out};
use crate::saved_load;

/// `bourdon load --nodes URL`. `spec` is the load of all together, but with the threads of one; `shown` what is loaded, as it may be shown.
pub(crate) fn run(args: &LoadArgs, nodes: &str, spec: &LoadSpec, shown: &str) -> Result<Exit, Failure> {
    refuse_what_nodes_have(args)?;
    load_files::prepare(args.output.as_deref(), None)?;
    let (place, key) = (place(nodes, &args.nodes.link)?, key(&args.nodes.link)?);
    let stop = flag_on_interrupt()?;
    let began = saved_load::now();
    let asked = Asked {
        spec: spec.clone(),
        servers: args.servers.servers.clone(),
        nodes: args.nodes.workers,
        gather_ns: args.nodes.gather,
        bourdon: calibrate::instrument().bourdon,
    };
    let (progress, mut unheeded_said, wanted) = (Progress::new(spec), BTreeSet::new(), args.nodes.workers);
    let mut unheeded_count = 0;
    let ended = command(Command { place, key, asked }, &stop, &mut |news| match news {
        News::Second(second) => progress.show(&second),
        News::Unheeded(why, from) => {
            let line = unheeded(why, from.as_deref());
            unheeded_count += 1;
            if unheeded_said.len() < MOST_SAID && unheeded_said.insert(line.clone()) {
                progress.say(&line);
            }
        }
        news => line(&news, wanted).into_iter().for_each(|line| progress.say(&line)),
    });
    progress.finish();
    if unheeded_count > unheeded_said.len() {
        say(format!("{unheeded_count} messages were not heeded in all"));
    }
    match ended.map_err(|error| unlinked(&error))? {
        Ended::Made(made) => tell(args, &made, (spec, shown), began),
        Ended::Unmade(why) => Err(unmade(&why)),
    }
}

/// Saves and prints what nodes made; `began` is one moment on both clocks.
fn tell(
    args: &LoadArgs,
    made: &Made,
    (spec, shown): (&LoadSpec, &str),
    began: (Timestamp, u64),
) -> Result<Exit, Failure> {
    let whole = together(made)?;
    let part = saved_load::encoded(whole.clone(), began);
    let threads = made.shares.iter().map(|share| share.brought.threads() as u32).sum();
    let spec = spec.clone().with(|spec| spec.threads = threads);
    let limits = limits(made);
    let begun_at = began.0 + Duration::from_nanos(made.begin_ns.saturating_sub(began.1));
    let of_node = |share: &Contribution| merged(share, (&spec, shown), limits, (begun_at, made.begin_ns));
    let merged: Vec<MergedPart> = made.shares.iter().map(of_node).collect();
    let partial = partial(made);
    let measured = whole.conclude().measurement;
    // What nodes told second by second came by a way on which messages can be lost.
    let seconds = &measured.steps;
    let validity = judge::judge_load(&spec, limits, args.allow_failures, &measured);
    let apart: Vec<&Contribution> = made.shares.iter().filter(|share| !share.kept_time()).collect();
    let origin = Origin {
        url: shown,
        started_at: begun_at,
        instrument: calibrate::instrument(),
        merged: &merged,
        partial: partial.as_ref(),
        part: None,
    };
    let document =
        |origin: &Origin<'_>| ::report::load_json(::report::asked_load(&spec), &validity, &measured, seconds, origin);
    // What is not one load is none to compare or merge.
    let is_one = apart.is_empty() && unasked(made).is_none();
    let output = args.output.as_ref().filter(|_| is_one);
    let text = match args.format {
        LoadFormat::Json => document(&origin),
        LoadFormat::Csv => ::report::load_csv(seconds),
        LoadFormat::Text => {
            let style = ::report::Style { verbose: args.verbose, ..style() };
            let partial =
                partial.as_ref().map_or(String::new(), |partial| ::report::partial_text(partial, style) + "\n");
            let load = ::report::load_text(&spec, &validity, &measured, seconds, shown, style);
            let nodes = ::report::merge_text(&merged, style) + &::report::clocks_text(&merged, is_one, style);
            partial + &load + "\n" + &nodes
        }
        LoadFormat::None => String::new(),
    };
    let saved = output.map(|file| load_files::save(file, &document(&Origin { part: Some(&part), ..origin.clone() })));
    // What cannot be saved is still shown.
    write_out(&text)?;
    saved.transpose()?;
    output.iter().for_each(|file| say(format!("saved in {}", file.display())));
    apart.iter().for_each(|share| say(out_of_time(share)));
    unasked(made).into_iter().for_each(say);
    args.output
        .iter()
        .filter(|_| !is_one)
        .for_each(|file| say(format!("not saved in {}: it is not one load", file.display())));
    let unserved = unserved(made);
    unserved.iter().for_each(say);
    Ok(exit(&validity, &measured, partial.is_some() || !is_one, unserved.is_some()))
}

/// That a node did not keep time with the others.
pub(crate) fn out_of_time(share: &Contribution) -> String {
    let moved = duration_us(share.clock_moved_ns().unwrap_or(0).unsigned_abs() as f64 / 1e3);
    format!(
        "the clock of node {} moved by {moved} during the load, further than clocks do: its machine was paused, and its share was not made together \
         with the others'; make the load again",
        share.presence.host
    )
}

/// Whose clock nobody knows after the load; none where all are known, or nodes were lost and none was asked.
pub(crate) fn unasked(made: &Made) -> Option<String> {
    let is_unknown = |share: &&Contribution| made.whole_seconds.is_none() && share.clock_moved_ns().is_none();
    let hosts: Vec<&str> = made.shares.iter().filter(is_unknown).map(|share| share.presence.host.as_str()).collect();
    (!hosts.is_empty()).then(|| {
        format!(
            "did not say what time it is after the load: {}; whether clocks kept time is not known",
            hosts.join(", ")
        )
    })
}

/// Which nodes had no connection while others did; none where all had one, or none did.
fn unserved(made: &Made) -> Option<String> {
    let has_any = |share: &&Contribution| share.brought.clone().conclude().measurement.connections.any();
    let (served, unserved): (Vec<_>, Vec<_>) = made.shares.iter().partition(has_any);
    let names: Vec<_> = unserved.iter().map(|share| ::report::node_name(&share.presence.host, &share.name)).collect();
    (!served.is_empty() && !names.is_empty()).then(|| {
        format!(
            "had no connection at all: {}; replies are those of the other nodes. Does each server listen, and is it reached from there?",
            names.join(", ")
        )
    })
}

/// `is_not_one` says that it is not the one load that was asked for, `is_unserved` that a node had no connection.
fn exit(validity: &Validity, measured: &Measurement, is_not_one: bool, is_unserved: bool) -> Exit {
    if is_not_one {
        Exit::Void
    } else if measured.interrupted {
        Exit::Interrupted
    } else if !measured.connections.any() {
        Exit::Unreachable
    } else {
        Exit::of_answer(validity.failing.bad || is_unserved, validity.verdict == Verdict::Void)
    }
}

/// Refuses what belongs to each node, or is made of the seconds of one process.
fn refuse_what_nodes_have(args: &LoadArgs) -> Result<(), Failure> {
    if !args.source.is_empty() {
        return Err(Failure::usage("--source is each node's own: give it to bourdon node"));
    }
    if args.histogram_log.is_some() {
        return Err(Failure::usage(
            "--histogram-log is of one process; with --nodes leave it out (-o keeps the whole distributions)",
        ));
    }
    Ok(())
}

/// What all brought as one load.
pub(crate) fn together(made: &Made) -> Result<Brought, Failure> {
    let mut shares = made.shares.iter().map(|share| share.brought.clone());
    let first = shares.next();
    let whole = shares.try_fold(first, |whole, share| whole?.beside(share).map(Some)).flatten();
    whole.ok_or_else(|| {
        Failure::unreachable("the shares of the nodes are not of one load; is one of them another bourdon?")
    })
}

fn merged(
    share: &Contribution,
    (spec, url): (&LoadSpec, &str),
    limits: Option<GeneratorLimits>,
    (began_at, began_ns): (Timestamp, u64),
) -> MergedPart {
    let measured = share.brought.clone().conclude().measurement;
    let own = own_spec(spec, share.share);
    let validity = judge::judge_load(&own, limits, 1.0, &measured);
    let seconds = |ns: i64| ns as f64 / NS_PER_S as f64;
    let window_began_ns = began_ns + spec.warm_up_ns;
    MergedPart {
        of: PartOf::Node {
            node: share.name.clone(),
            host: share.presence.host.clone(),
            clock_ahead_s: seconds(share.offset.ahead_ns),
            clock_within_us: share.offset.within_ns as f64 / 1e3,
            clock_moved_us: share.clock_moved_ns().map(|ns| ns as f64 / 1e3),
        },
        url: url.to_owned(),
        started_at: began_at,
        instrument: share.presence.instrument.clone(),
        begun_after_s: seconds(share.brought.window_ns().0.saturating_sub(window_began_ns) as i64),
        connections: own.connections,
        requests_per_s: measured.requests_per_s(),
        busiest_thread: measured.generator.busiest_thread(),
        neediest_thread: measured.generator.neediest_thread(),
        verdict: validity.verdict,
    }
}

/// What was asked of one node.
fn own_spec(spec: &LoadSpec, share: Share) -> LoadSpec {
    spec.clone().with(|own| {
        own.threads = share.threads;
        own.load.connections = share.of(spec.connections.into(), spec.threads) as u32;
        if let LoadModel::Open { rate_per_s, .. } = &mut own.load.model {
            *rate_per_s *= f64::from(share.threads) / f64::from(spec.threads);
        }
        if let Extent::Requests { count, .. } = &mut own.load.extent {
            *count = share.of(*count, spec.threads);
        }
    })
}

/// What is known of the generators, where all are like this one.
fn limits(made: &Made) -> Option<GeneratorLimits> {
    let here = calibrate::instrument();
    made.shares.iter().all(|share| share.presence.instrument == here).then(calibrate::stored_limits).flatten()
}

fn partial(made: &Made) -> Option<Partial> {
    let lost = |lost: &Lost| LostNode { node: lost.name.clone(), host: lost.host.clone(), why: why_lost(&lost.why) };
    made.whole_seconds.map(|whole_seconds| Partial { whole_seconds, lost: made.lost.iter().map(lost).collect() })
}

/// Which nodes were lost, and why; none where all brought what they made.
pub(crate) fn partial_words(made: &Made) -> Option<String> {
    let lost =
        |lost: &Lost| format!("node {} was lost: {}", ::report::node_name(&lost.host, &lost.name), why_lost(&lost.why));
    made.whole_seconds.map(|_| made.lost.iter().map(lost).collect::<Vec<_>>().join("; "))
}

fn why_lost(why: &WhyLost) -> String {
    match why {
        WhyLost::Silent(for_s) => format!("nothing was heard of it for {for_s:.1} s"),
        // Line ends and the like are a terminal's.
        WhyLost::Said(why) => format!("it said: {}", why.replace(char::is_control, " ")),
        WhyLost::Apart(for_s) => format!("the server of messages was away for {for_s:.0} s, and nobody knows of it"),
        WhyLost::Late => "it brought nothing in time".to_owned(),
        WhyLost::Unsound => "what it brought is not its share of this load".to_owned(),
    }
}

/// What is said of it while it goes on.
fn line(news: &News, wanted: Option<u32>) -> Option<String> {
    match news {
        News::Came { name, host, of } => {
            let of_all = wanted.map_or(String::new(), |wanted| format!(" of {wanted}"));
            Some(format!("node {of}{of_all}: {}", ::report::node_name(host, name)))
        }
        News::Ready => Some("all nodes are ready; comparing clocks".to_owned()),
        News::Begins { within_ns, in_ns } => Some(format!(
            "all begin in {}, at one instant to within {}",
            duration_us(*in_ns as f64 / 1e3),
            duration_us(2.0 * *within_ns as f64 / 1e3)
        )),
        News::Lost(lost) => {
            let Lost { name, host, why } = lost;
            Some(format!("node {} is lost: {}; the load ends", ::report::node_name(host, name), why_lost(why)))
        }
        News::Ordered | News::Second(_) | News::Unheeded(..) => None,
    }
}

pub(crate) fn unmade(why: &Unmade) -> Failure {
    match why {
        Unmade::TooFew { came, wanted, waited_s } => {
            let came_of = |wanted: &u32| format!("{} of {wanted} nodes came", came.len());
            let came_of = wanted.as_ref().map_or("no node came".to_owned(), came_of);
            let named = if came.is_empty() { String::new() } else { format!(" ({})", came.join(", ")) };
            Failure::unreachable(format!(
                "{came_of} in {waited_s:.0} s{named}; start bourdon node with the same --pool and --key, or wait longer (--gather)"
            ))
        }
        Unmade::TooManyThreads { threads } => {
            let threads = counted(*threads, "thread", "threads");
            Failure::usage(format!(
                "the nodes have {threads} together, more than connections; use more connections (-c)"
            ))
        }
        Unmade::MoreServers { servers, nodes } => Failure::usage(format!(
            "{} of {servers} servers would have no load: {}; use as many nodes as servers, or more (--workers)",
            servers.saturating_sub(*nodes),
            counted(*nodes as u64, "node came", "nodes came")
        )),
        Unmade::TooLarge => Failure::usage("the request is too large to be ordered in a message (1 MiB)"),
        Unmade::Refused { host, why } => {
            Failure::unreachable(format!("node {host} refused its share: {}", refused(why)))
        }
        Unmade::NotReady(hosts) => {
            Failure::unreachable(format!("not ready after 30 s: {}; nothing was loaded", hosts.join(", ")))
        }
        Unmade::NoTime(host) => {
            Failure::unreachable(format!("node {host} does not say what time it is; nothing was loaded"))
        }
        Unmade::NotBegun(hosts) => Failure::unreachable(format!(
            "did not begin with the others: {}; the load was ended at once",
            hosts.join(", ")
        )),
        Unmade::Lost(lost) => {
            let named: Vec<String> =
                lost.iter().map(|lost| format!("{} ({})", lost.host, why_lost(&lost.why))).collect();
            Failure::unreachable(format!(
                "nodes were lost before a whole second had passed: {}; there is nothing to save",
                named.join(", ")
            ))
        }
        Unmade::Apart(for_s) => Failure::unreachable(format!(
            "the server of messages was away for {for_s:.0} s before the load began; see that it runs, and try again"
        )),
        Unmade::Stopped => Failure::interrupted("interrupted before the load began"),
    }
}
