//! `bourdon diagnose`: what is wrong with this server?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{
    DiagnosePlan, Draft, Extent, LaunchRecipe, Load, LoadModel, Mix, NS_PER_S, READY_WITHIN_NS, ReplyExpectation,
    Request, RunningServer, Target,
};
use specimens::Kind;

use crate::answer;
use crate::args::{DiagnoseArgs, seed};
use crate::conduct;
use crate::exit::{Exit, Failure};
use crate::experiment::{self, OneLoad, SPECIMEN, Server, ready_path};
use crate::found;
use crate::interrupt::flag_on_interrupt;
use crate::open_files::raise_files;
use crate::output::say;
use crate::progress::RunProgress;
use crate::ready;
use crate::request::request;
use crate::url::Url;

/// Name of the runs that are made of it.
const NAME: &str = "diagnose";

/// Window and warm-up of a load when none is asked for: a diagnosis makes a dozen and more, and is to end within three minutes.
const WINDOW_NS: u64 = 2 * NS_PER_S;
const WARM_UP_NS: u64 = NS_PER_S / 2;

/// What a target of ours is asked for.
const TARGET_PATH: &str = "/rest/hello";

/// Requests a second that a server which runs already is sent unless asked for otherwise: few, and often enough to show delayed acknowledgements.
const RATE_PER_S: f64 = 60.0;

/// The status of a good reply to a GET unless another is asked for.
const OK: u16 = 200;

/// `bourdon diagnose`.
pub(crate) fn run(args: &DiagnoseArgs) -> Result<Exit, Failure> {
    let stop = flag_on_interrupt()?;
    let mut progress = RunProgress::without_blocks();
    let begun = ready::begin_whole(draft(args)?, &args.runs, &stop, &mut progress)?;
    let ended = conduct::conduct(begun, false, &stop, progress)?;
    let printed = answer::print(&ended.judged, &ended.timelines, args.shown);
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
        (Some(url), _) if url.secure => Err(Failure::usage(
            "a diagnosis over TLS is not there yet; give an http URL of the same server, or `bourdon load` this one",
        )),
        (Some(url), _) if url.authorization.is_some() => Err(Failure::usage(
            "what is asked is recorded, with its headers: a password in a URL would be, too; leave it out, or name a header with -H",
        )),
        (Some(url), _) if args.path.is_some() || !args.set.is_empty() || args.ready.is_some() => {
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
    Ok(RunningServer { address, host, rate_per_s, overload: args.overload })
}

/// How each request is made.
fn load(args: &DiagnoseArgs, url: Option<&Url>) -> Result<Load, Failure> {
    let usual = if args.run.is_some() { "/" } else { TARGET_PATH };
    let path = url.map_or(args.path.as_deref().unwrap_or(usual), |url| &url.path);
    let request = request(&args.request, path, [])?;
    // What a POST is answered with differs from one server to the next.
    let usual = (request.method == "GET").then_some(OK);
    Ok(Load {
        mix: Mix::one(request, expectation(args, usual)),
        model: LoadModel::Closed,
        connections: 1,
        pipeline: 1,
        keep_alive: true,
        timeout_ns: None,
        network_delay_ns: 0,
        warm_up_ns: args.warm_up.unwrap_or(WARM_UP_NS),
        extent: Extent::Window(args.duration.unwrap_or(WINDOW_NS)),
    })
}

fn expectation(args: &DiagnoseArgs, usual: Option<u16>) -> ReplyExpectation {
    ReplyExpectation { status: args.expect_status.or(usual), body: None }
}

fn draft(args: &DiagnoseArgs) -> Result<Draft, Failure> {
    let url = url(args)?;
    let running = url.as_ref().map(|url| running(args, url)).transpose()?;
    let load = load(args, url.as_ref())?;
    let get = |path: &String| {
        let headers = args.request.headers.clone();
        Mix::one(Request { headers, ..Request::get(path) }, expectation(args, Some(OK)))
    };
    let target = match &url {
        Some(url) => at_url(url),
        None => target(args, &load.mix)?,
    };
    let asked = OneLoad {
        name: NAME,
        question: format!("What is wrong with {}?", target.title),
        seed: seed(args.seed),
        margin: 0.0,
        precise: Vec::new(),
        precision: 0.0,
        rotation: None,
        blocks: Some(1),
        allow_failures: None,
        generator: args.generator.asked(),
        machine: ready::machine(),
        targets: vec![target],
        load,
        tls_resume: false,
    };
    let mut draft = asked.draft();
    raise_files()?;
    let settings: BTreeMap<String, String> = args.set.iter().cloned().collect();
    for cell in &mut draft.cells {
        (cell.settings, cell.census) = (settings.clone(), Some(false));
    }
    draft.diagnosis = Some(DiagnosePlan {
        within_s: args.within as f64 / NS_PER_S as f64,
        other: args.other.as_ref().map(get),
        running,
        heavy: args.heavy.as_ref().map(get),
    });
    Ok(draft)
}

/// A server that runs already, as a target that nothing launches.
fn at_url(url: &Url) -> Target {
    let launch = LaunchRecipe {
        run: vec![url.shown.clone()],
        cwd: PathBuf::new(),
        env: BTreeMap::new(),
        ready: url.path.clone(),
        metrics: None,
        ready_within_ns: READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    Target { title: url.shown.clone(), ..Target::of("server", launch) }
}

/// The server: a command, one of bourdon's own specimens, or a target that is found by its name.
fn target(args: &DiagnoseArgs, mix: &Mix) -> Result<Target, Failure> {
    if let Some(run) = &args.run {
        let here = std::env::current_dir().map_err(Failure::usage)?;
        let ready = args.ready.as_deref().unwrap_or_else(|| ready_path(mix));
        let title = format!("`{run}`");
        let build = args.build.as_deref();
        let server = Server { name: "server", title: &title, run, build, cwd: &here, ready, tls: None };
        return server.target().map_err(Failure::usage);
    }
    let (base, name) = (Path::new("."), args.target.as_deref().unwrap_or_default());
    if let Some(kind) = name.strip_prefix(SPECIMEN).and_then(Kind::from_name) {
        return Ok(experiment::specimen(kind, base));
    }
    let zoo = found::targets(base)?;
    let near = || experiment::nearest(name, zoo.iter().map(|target| target.name.as_str()));
    let unknown = || {
        let near = near().map_or(String::new(), |near| format!("did you mean `{near}`? "));
        Failure::usage(format!(
            "there is no target `{name}` here; {near}`bourdon targets` lists those that are, and --run 'COMMAND' launches \
             a server of your own"
        ))
    };
    let mut target = zoo.iter().find(|target| target.name == name).cloned().ok_or_else(unknown)?;
    if let Some(ready) = &args.ready {
        target.launch.ready.clone_from(ready);
    }
    // A certificate that is given is used where it is asked for: here it is not.
    target.tls = None;
    Ok(target)
}
