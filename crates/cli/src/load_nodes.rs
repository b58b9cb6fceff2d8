//! `bourdon load --nodes`: a load that nodes make together, put together here.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ::report::format::{counted, duration_us};
use ::report::{LostNode, MergedPart, Origin, PartOf, Partial};
use engine::{Brought, Share};
use jiff::Timestamp;
use model::{Extent, GeneratorLimits, Interval, LoadModel, LoadSpec, Measurement, NS_PER_S, Validity, Verdict};
use nodes::{Asked, Command, Contribution, Ended, Lost, Made, News, NodeName, Unmade, WhyLost, command};

use crate::args::{LoadArgs, LoadFormat};
use crate::calibrate;
use crate::exit::{Exit, Failure};
use crate::interrupt::flag_on_interrupt;
use crate::link::{UnheededTally, key, place, unlinked};
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
    let (progress, mut tally, wanted) = (Progress::new(spec), UnheededTally::default(), args.nodes.workers);
    let ended = command(Command { place, key, asked }, &stop, &mut |news| match news {
        News::Second(second) => progress.show(&second),
        News::Unheeded(why, from) => {
            tally.take(why, from.as_deref()).into_iter().for_each(|line| progress.say(&line));
        }
        news => line(&news, wanted).into_iter().for_each(|line| progress.say(&line)),
    });
    progress.finish();
    tally.sum().into_iter().for_each(say);
    match ended.map_err(|error| unlinked(&error))? {
        Ended::Made(made) => tell(args, &made, (spec, shown), (began, stop.load(Ordering::Relaxed))),
        Ended::Unmade(why) => Err(unmade(&why).of_interrupted(stop.load(Ordering::Relaxed))),
    }
}

/// Saves and prints what nodes made; `began` is one moment on both clocks, and `was_stopped` says whether somebody stopped it.
fn tell(
    args: &LoadArgs,
    made: &Made,
    (spec, shown): (&LoadSpec, &str),
    (began, was_stopped): ((Timestamp, u64), bool),
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
    let seconds: Vec<Interval> = measured.steps.iter().filter(|step| step.length_s > 0.0).cloned().collect();
    let seconds = &seconds;
    let validity = judge::judge_load(&spec, limits, args.allow_failures, &measured);
    let [out_of_time, unserved] = [out_of_time(made).or_else(|| unasked(made)), unserved(made)];
    let not_one_load = out_of_time.clone().or(unserved.clone());
    let origin = Origin {
        url: shown,
        started_at: begun_at,
        instrument: calibrate::instrument(),
        merged: &merged,
        partial: partial.as_ref(),
        not_one_load: not_one_load.as_deref(),
        part: None,
    };
    let document =
        |origin: &Origin<'_>| ::report::load_json(::report::asked_load(&spec), &validity, &measured, seconds, origin);
    // What is not one load is none to compare or merge.
    let is_one = out_of_time.is_none();
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
    out_of_time.iter().chain(&unserved).for_each(say);
    args.output
        .iter()
        .filter(|_| !is_one)
        .for_each(|file| say(format!("not saved in {}: it is not one load", file.display())));
    let (is_partial, is_unserved) = (partial.is_some(), unserved.is_some());
    Ok(exit((&validity, &measured), How { is_not_one: !is_one, was_stopped, is_partial, is_unserved }))
}

/// Which node did not keep time with the others; none where all did.
pub(crate) fn out_of_time(made: &Made) -> Option<String> {
    let share = made.shares.iter().find(|share| !share.kept_time())?;
    let moved = duration_us(share.clock_moved_ns().unwrap_or(0).unsigned_abs() as f64 / 1e3);
    Some(format!(
        "the clock of node {} moved by {moved} during the load, further than clocks do: its machine was paused, and its share was not made together \
         with the others'; make the load again",
        named(share)
    ))
}

/// What a node that made a share is called.
fn named(share: &Contribution) -> String {
    ::report::node_name(&share.presence.host, &share.name)
}

fn name(node: &NodeName) -> String {
    ::report::node_name(&node.host, &node.session)
}

fn names(nodes: &[NodeName]) -> String {
    nodes.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Whose clock nobody knows after the load; none where all are known, or nodes were lost and none was asked.
pub(crate) fn unasked(made: &Made) -> Option<String> {
    let is_unknown = |share: &&Contribution| made.whole_seconds.is_none() && share.clock_moved_ns().is_none();
    let nodes: Vec<String> = made.shares.iter().filter(is_unknown).map(named).collect();
    (!nodes.is_empty()).then(|| {
        format!(
            "did not say what time it is after the load: {}; whether clocks kept time is not known",
            nodes.join(", ")
        )
    })
}

/// Which nodes had no connection while others did; none where all had one, or none did.
pub(crate) fn unserved(made: &Made) -> Option<String> {
    let has_any = |share: &&Contribution| share.brought.clone().conclude().measurement.connections.any();
    let (served, unserved): (Vec<_>, Vec<_>) = made.shares.iter().partition(has_any);
    let names: Vec<_> = unserved.iter().map(|share| named(share)).collect();
    (!served.is_empty() && !names.is_empty()).then(|| {
        format!(
            "had no connection at all: {}; replies are those of the other nodes. Does each server listen, and is it reached from there?",
            names.join(", ")
        )
    })
}

/// How a load was made.
struct How {
    /// It is not known whether all were there at once.
    is_not_one: bool,
    /// Somebody stopped it.
    was_stopped: bool,
    /// A node was lost.
    is_partial: bool,
    /// A node had no connection while others did.
    is_unserved: bool,
}

fn exit((validity, measured): (&Validity, &Measurement), how: How) -> Exit {
    if how.is_not_one {
        Exit::Void
    } else if how.was_stopped && measured.interrupted {
        Exit::Interrupted
    } else if how.is_partial {
        Exit::Void
    } else if !measured.connections.any() {
        Exit::Unreachable
    } else {
        Exit::of_answer(validity.failing.bad || how.is_unserved, validity.verdict == Verdict::Void)
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
    let lost = |lost: &Lost| LostNode {
        node: lost.node.session.clone(),
        host: lost.node.host.clone(),
        why: why_lost(&lost.why),
    };
    made.whole_seconds.map(|whole_seconds| Partial { whole_seconds, lost: made.lost.iter().map(lost).collect() })
}

/// Which nodes were lost, and why; none where all brought what they made.
pub(crate) fn partial_words(made: &Made) -> Option<String> {
    let lost = |lost: &Lost| format!("node {} was lost: {}", name(&lost.node), why_lost(&lost.why));
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
        News::Came { node, of } => {
            let of_all = wanted.map_or(String::new(), |wanted| format!(" of {wanted}"));
            Some(format!("node {of}{of_all}: {}", name(node)))
        }
        News::Ready => Some("all nodes are ready; comparing clocks".to_owned()),
        News::Begins { within_ns, in_ns } => Some(format!(
            "all begin in {}, at one instant to within {}",
            duration_us(*in_ns as f64 / 1e3),
            duration_us(2.0 * *within_ns as f64 / 1e3)
        )),
        News::Lost(lost) => Some(format!("node {} is lost: {}; the load ends", name(&lost.node), why_lost(&lost.why))),
        News::Ordered | News::Second(_) | News::Unheeded(..) => None,
    }
}

pub(crate) fn unmade(why: &Unmade) -> Failure {
    match why {
        Unmade::TooFew { came, wanted, busy, waited_s } => {
            let came_of = |wanted: &u32| format!("{} of {wanted} nodes came", came.len());
            let came_of = wanted.as_ref().map_or("no node came".to_owned(), came_of);
            let named = if came.is_empty() { String::new() } else { format!(" ({})", names(came)) };
            let cure = match *busy as u64 {
                0 => "start bourdon node with the same --pool and --key, or wait longer (--gather)".to_owned(),
                busy => format!(
                    "{} another load: wait longer (--gather), or start more",
                    counted(busy, "node makes", "nodes make")
                ),
            };
            Failure::unreachable(format!("{came_of} in {waited_s:.0} s{named}; {cure}"))
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
        Unmade::Refused { node, why } => {
            Failure::unreachable(format!("node {} refused its share: {}", name(node), refused(why)))
        }
        Unmade::NotReady(nodes) => {
            Failure::unreachable(format!("not ready after 30 s: {}; nothing was loaded", names(nodes)))
        }
        Unmade::NoTime(node) => {
            Failure::unreachable(format!("node {} does not say what time it is; nothing was loaded", name(node)))
        }
        Unmade::NotBegun(nodes) => {
            Failure::unreachable(format!("did not begin with the others: {}; the load was ended at once", names(nodes)))
        }
        Unmade::Lost(lost) => {
            let named: Vec<String> =
                lost.iter().map(|lost| format!("{} ({})", name(&lost.node), why_lost(&lost.why))).collect();
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
