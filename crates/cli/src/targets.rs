use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lab::{
    BuildError, Builder, Check, LaunchSpec, Launcher, ProcessLauncher, Unlaunched, check_contract, with_runtime,
};
use model::{CURRENT_RUNTIME, Runtime, Target};
use serde::Serialize;

use crate::args::{TargetsAction, TargetsArgs, TargetsFormat, seed};
use crate::exit::{Exit, Failure};
use crate::found;
use crate::home;
use crate::interrupt::flag_on_interrupt;
use crate::output::{say, write_out};
use crate::unnamed::Unnamed;

/// What is known of one target.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    title: String,
    language: String,
    framework: String,
    about: String,
    /// The runtimes it can be built with; empty where there is no choice.
    runtimes: Vec<String>,
    /// The settings it understands, as experiments name them.
    settings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reconstruction: Option<String>,
    /// `present`, `built`, `passes`, or what is wrong.
    state: String,
    ok: bool,
    /// Whether it is not here because this machine lacks something.
    absent: bool,
    /// Points of the contract that were tried.
    checks: usize,
    breaches: Vec<String>,
}

/// Schema of the JSON document.
const TARGETS_SCHEMA: &str = "bourdon.targets/1";

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'a str,
    targets: &'a [Line],
}

/// `bourdon targets [list|build|check]`.
pub(crate) fn run(args: &TargetsArgs) -> Result<Exit, Failure> {
    let chosen = choose(found::targets(Path::new("."))?, &args.names)?;
    let builder = Builder::new(home::build_cache()?, home::executable());
    let stop = flag_on_interrupt()?;
    let seed = seed(args.seed);
    let mut lines = Vec::new();
    for (target, runtime) in chosen.iter().flat_map(|target| runtimes(target, args.action)) {
        lines.push(look(target, runtime, (args.action, seed), &builder, &stop)?);
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::interrupted("interrupted"));
        }
    }
    match args.format {
        TargetsFormat::Json => {
            let document = Document { schema: TARGETS_SCHEMA, targets: &lines };
            let text = serde_json::to_string_pretty(&document).map_err(Failure::usage)?;
            write_out(&format!("{text}\n"))?;
        }
        TargetsFormat::Text => write_out(&table(&lines))?,
    }
    let failed = args.action != TargetsAction::List && lines.iter().any(|line| !line.ok);
    let breached = lines.iter().any(|line| !line.breaches.is_empty());
    Ok(match (failed, breached) {
        (true, true) => Exit::Bad,
        (true, false) => Exit::Unreachable,
        _ => Exit::Good,
    })
}

fn choose(all: Vec<Target>, names: &[String]) -> Result<Vec<Target>, Failure> {
    if all.is_empty() {
        return Err(Failure::usage(
            "targets/ does not exist here; run bourdon in its repository, or set BOURDON_HOME to it",
        ));
    }
    for name in names {
        if !all.iter().any(|target| target.name == *name) {
            let known: Vec<&str> = all.iter().map(|target| target.name.as_str()).collect();
            return Err(Failure::usage(format!("no target is called `{name}`; there are {}", known.join(", "))));
        }
    }
    Ok(all.into_iter().filter(|target| names.is_empty() || names.contains(&target.name)).collect())
}

/// A target once for each of its runtimes; in the list, once.
fn runtimes(target: &Target, action: TargetsAction) -> Vec<(&Target, &str)> {
    if action == TargetsAction::List || target.runtimes.is_empty() {
        return vec![(target, CURRENT_RUNTIME)];
    }
    target.runtimes.keys().map(|runtime| (target, runtime.as_str())).collect()
}

fn look(
    target: &Target,
    runtime: &str,
    (action, seed): (TargetsAction, u64),
    builder: &Builder,
    stop: &AtomicBool,
) -> Result<Line, Failure> {
    let (name, runtime) = (with_runtime(&target.name, runtime), target.runtime(runtime));
    let mut line = Line {
        name,
        title: target.title.clone(),
        language: target.language.clone(),
        framework: target.framework.clone(),
        about: target.about.clone(),
        runtimes: target.runtimes.keys().cloned().collect(),
        settings: target.settings.keys().cloned().collect(),
        reconstruction: target.reconstruction.clone(),
        state: "present".to_owned(),
        ok: true,
        absent: false,
        checks: 0,
        breaches: Vec::new(),
    };
    if action == TargetsAction::List {
        if let Err(error) = builder.toolchain(target, &runtime, stop) {
            (line.state, line.ok, line.absent) = (format!("absent: {error}"), false, true);
        }
        return Ok(line);
    }
    match builder.build(target, &runtime, None, stop, &mut || say(format!("building {}", line.name))) {
        Err(error @ BuildError::Prevented { .. }) => return Err(Failure::usage(error)),
        Err(error) => (line.state, line.ok, line.absent) = (error.to_string(), false, error.is_absence()),
        Ok(built) if action == TargetsAction::Build => {
            line.state = if built.cached { "built before" } else { "built" }.to_owned();
        }
        Ok(built) => {
            say(format!("checking {}", line.name));
            check(
                target,
                &runtime,
                built.program.as_ref().map(|program| program.path.as_path()),
                seed,
                stop,
                &mut line,
            )?;
        }
    }
    Ok(line)
}

fn check(
    target: &Target,
    runtime: &Runtime,
    binary: Option<&Path>,
    seed: u64,
    stop: &AtomicBool,
    line: &mut Line,
) -> Result<(), Failure> {
    let launcher = ProcessLauncher::new(home::executable());
    let output = Unnamed::new()?;
    let mut waiting = |seen| say(format!("waiting for {}: {}", target.name, report::waiting_words(&seen)));
    let output = output.path();
    let mut checked = |tls| {
        let mut launch = |settings: &BTreeMap<String, String>, admin| {
            let spec = LaunchSpec { target, binary, runtime, settings, cpus: &[], tls, admin, output: &output };
            launcher.launch(&spec, stop, &mut waiting)
        };
        check_contract(target, &mut launch, seed, stop)
    };
    let over_tls = |mut check: Check| {
        check.name.insert_str(0, "over TLS: ");
        check
    };
    let mut checks = checked(false);
    if let (Ok(plain), true) = (&mut checks, target.tls.is_some()) {
        match checked(true) {
            Ok(secured) => plain.extend(secured.into_iter().map(over_tls)),
            Err(why) => checks = Err(why),
        }
    }
    match checks {
        Ok(checks) => conclude(&checks, line),
        Err(Unlaunched::Failed(failure)) => {
            (line.state, line.ok) = (format!("{}\n{}", report::failed_words(&failure.why), failure.output), false)
        }
        Err(Unlaunched::Interrupted) => return Err(Failure::interrupted("interrupted")),
        Err(Unlaunched::Prevented(why)) => {
            return Err(Failure::usage(format!("{} cannot be launched: {why}", target.name)));
        }
    }
    Ok(())
}

fn conclude(checks: &[Check], line: &mut Line) {
    line.checks = checks.len();
    let breach = |check: &Check| {
        let breach = check.breach.as_ref()?;
        let reply = breach.wrong.as_ref().map_or(String::new(), |wrong| format!(": {}", report::wrong_reply(wrong)));
        Some(format!("{}: {}{reply}", check.name, breach.seen))
    };
    line.breaches = checks.iter().filter_map(breach).collect();
    line.ok = line.breaches.is_empty();
    line.state = if line.ok {
        format!("passes, {} points", checks.len())
    } else {
        format!("breaks {} of {} points", line.breaches.len(), checks.len())
    };
}

fn table(lines: &[Line]) -> String {
    let width = |pick: fn(&Line) -> &str| lines.iter().map(|line| pick(line).chars().count()).max().unwrap_or(0);
    let (names, titles) = (width(|line| &line.name), width(|line| &line.title));
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{:names$}  {:titles$}  {}\n", line.name, line.title, line.state.trim_end()));
        line.breaches.iter().for_each(|breach| text.push_str(&format!("{:names$}    {breach}\n", "")));
    }
    text
}
