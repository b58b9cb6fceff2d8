//! `bourdon diagnose`: what is wrong with this server?

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use model::{
    DiagnosePlan, Draft, LaunchRecipe, Load, NS_PER_S, READY_WITHIN_NS, RunningServer, Target, TargetTls, Tls, Trust,
    Upstream,
};

use crate::args::DiagnoseArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt::flag_on_interrupt;
use crate::output::say;
use crate::progress::RunProgress;
use crate::served_tls::served_tls;
use crate::url::Url;
use crate::{answer, conduct, one_server, ready};

/// Name of the runs that are made of it.
const NAME: &str = "diagnose";

/// Window and warm-up of a load when none is asked for: a diagnosis makes a dozen and more, and is to end within three minutes.
const WINDOW_NS: u64 = 2 * NS_PER_S;
const WARM_UP_NS: u64 = NS_PER_S / 2;

/// Requests a second that a server which runs already is sent unless asked for otherwise: few, and often enough to show delayed acknowledgements.
const RATE_PER_S: f64 = 60.0;

/// `bourdon diagnose`.
pub(crate) fn run(args: &DiagnoseArgs) -> Result<Exit, Failure> {
    let stop = flag_on_interrupt()?;
    let mut progress = RunProgress::without_blocks();
    let begun = ready::begin_whole(draft(args)?, &args.server.runs, &stop, &mut progress, &|_| Ok(()))?;
    let ended = conduct::conduct(begun, false, &stop, progress)?;
    let printed = answer::print(&ended.judged, &ended.timelines, args.server.shown);
    if !ended.interrupted {
        say(format!("\n{}", answer::whereabouts(&ended.path)));
    }
    ended.say_how_to_go_on();
    printed.map_err(|failure| failure.of_interrupted(ended.interrupted))?;
    Ok(if ended.interrupted { Exit::Interrupted } else { ended.exit(args.gate) })
}

/// The URL, where it is one.
fn url(args: &DiagnoseArgs) -> Result<Option<Url>, Failure> {
    let named = args.target.as_deref().filter(|named| named.contains("://"));
    let url = named.map(Url::parse).transpose()?;
    let strangers = [("--rate", args.rate.is_some()), ("--overload", args.overload), ("--other-host", args.other_host)];
    match (&url, strangers.into_iter().find(|(_, given)| *given)) {
        (None, Some((option, _))) => Err(Failure::usage(format!(
            "{option} is about a server that runs already; give its URL, http://host[:port][/path], or leave it out"
        ))),
        (Some(_), _) if args.upstream.is_some() => Err(Failure::usage(
            "--upstream is about a server that is launched, for it must be told where to ask; give its command with --run",
        )),
        (Some(_), _) if args.server.tls.tls => Err(Failure::usage(
            "--tls gives a server that is launched a certificate; a URL begins with https:// instead",
        )),
        (Some(url), _) if !url.secure && (args.server.tls.ca.is_some() || args.server.tls.insecure) => {
            Err(Failure::usage("--ca and --insecure are about TLS; begin the URL with https://"))
        }
        (Some(url), _) if url.authorization.is_some() => Err(Failure::usage(
            "what is asked is recorded, with its headers: a password in a URL would be, too; leave it out, or name a header with -H",
        )),
        (Some(url), _) if args.server.path.is_some() || !args.server.set.is_empty() || args.server.ready.is_some() => {
            let shown = &url.shown;
            Err(Failure::usage(format!("{shown} names the path and runs already; leave --path, --set and --ready out")))
        }
        _ => Ok(url),
    }
}

/// Where a server runs already, and what it may be sent.
fn running(args: &DiagnoseArgs, url: &Url) -> Result<RunningServer, Failure> {
    let address = url.resolve()?;
    if !address.ip().is_loopback() && !args.other_host {
        let shown = &url.shown;
        return Err(Failure::usage(format!(
            "{shown} is at {address}, which is not this machine; if it is yours to load, say so with --other-host"
        )));
    }
    let (host, rate_per_s) = (url.authority.clone(), args.rate.unwrap_or(RATE_PER_S));
    let tls = spoken(args, url)?;
    Ok(RunningServer { address, host, tls, rate_per_s, overload: args.overload })
}

/// How it is spoken to, where that is TLS.
fn spoken(args: &DiagnoseArgs, url: &Url) -> Result<Option<Tls>, Failure> {
    if !url.secure {
        return Ok(None);
    }
    let trust = match served_tls(&args.server.tls).map_err(Failure::usage)? {
        Some(TargetTls::Own(trust)) => trust,
        _ => Trust::System,
    };
    Ok(Some(Tls { server_name: url.host.clone(), trust, resumption: false }))
}

fn draft(args: &DiagnoseArgs) -> Result<Draft, Failure> {
    let url = url(args)?;
    let running = url.as_ref().map(|url| running(args, url)).transpose()?;
    let mix = one_server::mix(&args.server, url.as_ref().map(|url| url.path.as_str()))?;
    let target = match &url {
        Some(url) => at_url(url, running.as_ref().and_then(|running| running.tls.clone())),
        None => one_server::target(&args.server, args.target.as_deref(), &mix)?,
    };
    let (warm_up_ns, window_ns) = (args.warm_up.unwrap_or(WARM_UP_NS), args.duration.unwrap_or(WINDOW_NS));
    let question = format!("What is wrong with {}?", target.title);
    let load = Load::closed(mix, 1, warm_up_ns, window_ns);
    let mut draft = one_server::draft(&args.server, NAME, question, target, load)?;
    let get = |path: &String| one_server::get(&args.server, path);
    let upstream = args.upstream.as_deref().map(resolved).transpose()?;
    draft.diagnosis = Some(DiagnosePlan {
        within_s: args.within as f64 / NS_PER_S as f64,
        other: args.other.as_ref().map(get),
        running,
        heavy: args.heavy.as_ref().map(get),
        upstream,
    });
    draft
        .cells
        .iter_mut()
        .for_each(|cell| cell.upstream = upstream.map(|address| Upstream { address, delay_ns: None }));
    Ok(draft)
}

/// The address of what the server asks.
fn resolved(named: &str) -> Result<SocketAddr, Failure> {
    let unknown = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("--upstream {named}: {why}; write HOST:PORT, as 127.0.0.1:5432"))
    };
    let mut found = named.to_socket_addrs().map_err(|error| unknown(&error))?;
    found.next().ok_or_else(|| unknown(&"it has no address"))
}

/// A server that runs already, as a target that nothing launches.
fn at_url(url: &Url, tls: Option<Tls>) -> Target {
    let launch = LaunchRecipe {
        run: vec![url.shown.clone()],
        cwd: PathBuf::new(),
        env: BTreeMap::new(),
        ready: url.path.clone(),
        metrics: None,
        ready_within_ns: READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    let tls = tls.map(|tls| TargetTls::Own(tls.trust));
    Target { title: url.shown.clone(), tls, ..Target::of("server", launch) }
}
