//! One server that is launched and asked: by a command, as a specimen, or as a target by its name.

use std::collections::BTreeMap;
use std::path::Path;

use model::{Draft, Load, Mix, ReplyExpectation, Target, TargetTls};
use specimens::Kind;

use crate::args::{OneServerArgs, seed};
use crate::exit::Failure;
use crate::experiment::{self, OneLoad, SPECIMEN, Server, ready_path};
use crate::open_files::raise_files;
use crate::request::{OK, request};
use crate::served_tls::served_tls;
use crate::{found, ready};

/// What a target of ours is asked for.
const TARGET_PATH: &str = "/rest/hello";

/// What is asked; `path` in the place of the one that was given or is usual.
pub(crate) fn mix(args: &OneServerArgs, path: Option<&str>) -> Result<Mix, Failure> {
    let usual = if args.run.is_some() { "/" } else { TARGET_PATH };
    let request = request(&args.request, path.or(args.path.as_deref()).unwrap_or(usual), [])?;
    // What a POST is answered with differs from one server to the next.
    let usual = (request.method == "GET").then_some(OK);
    Ok(Mix::one(request, expectation(args, usual)))
}

/// What is expected of a reply, where this status is usual.
pub(crate) fn expectation(args: &OneServerArgs, usual: Option<u16>) -> ReplyExpectation {
    ReplyExpectation { status: args.expect_status.or(usual), body: None }
}

/// What a GET with the given headers asks of another path.
pub(crate) fn get(args: &OneServerArgs, path: &str) -> Mix {
    let headers = args.request.headers.clone();
    Mix::one(model::Request { headers, ..model::Request::get(path) }, expectation(args, Some(OK)))
}

/// A plan of that server under one load, which has no census.
pub(crate) fn draft(
    args: &OneServerArgs,
    name: &str,
    question: String,
    target: Target,
    load: Load,
) -> Result<Draft, Failure> {
    let asked = OneLoad {
        name,
        question,
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
    Ok(draft)
}

/// The server: a command, one of bourdon's own specimens, or a target that is found by its name.
pub(crate) fn target(args: &OneServerArgs, named: Option<&str>, mix: &Mix) -> Result<Target, Failure> {
    let tls = served_tls(&args.tls).map_err(Failure::usage)?;
    if let Some(run) = &args.run {
        let here = std::env::current_dir().map_err(Failure::usage)?;
        let ready = args.ready.as_deref().unwrap_or_else(|| ready_path(mix));
        let title = format!("`{run}`");
        let build = args.build.as_deref();
        let server = Server { name: "server", title: &title, run, build, cwd: &here, ready, tls };
        return server.target().map_err(Failure::usage);
    }
    let name = named.unwrap_or_default();
    let mut target = found(args, name)?;
    if tls == Some(TargetTls::Given) && target.tls != tls {
        return Err(Failure::usage(format!("`{name}` does not say that it can serve TLS; leave --tls out")));
    }
    // A certificate that is given is used where it is asked for.
    target.tls = tls;
    Ok(target)
}

/// A specimen or a target by its name.
fn found(args: &OneServerArgs, name: &str) -> Result<Target, Failure> {
    let base = Path::new(".");
    if let Some(kind) = name.strip_prefix(SPECIMEN).and_then(Kind::from_name) {
        return Ok(experiment::specimen(kind, base));
    }
    let zoo = found::targets(base)?;
    let near = || experiment::nearest(name, zoo.iter().map(|target| target.name.as_str()));
    let unknown = || {
        let near = near().map_or(String::new(), |near| format!("did you mean `{near}`? "));
        Failure::usage(format!(
            "unknown target `{name}`; {near}`bourdon targets` lists those that are here, and --run 'COMMAND' launches \
             a server of your own"
        ))
    };
    let mut target = zoo.iter().find(|target| target.name == name).cloned().ok_or_else(unknown)?;
    if let Some(ready) = &args.ready {
        target.launch.ready.clone_from(ready);
    }
    Ok(target)
}
