//! What differs between two runs beside the server. What may differ is taken apart without `..`: a field that is new does
//! not compile until somebody has said whether it counts.

use std::collections::BTreeMap;
use std::fmt::Display;

use model::{CellPlan, Environment, Extent, GeneratorPlan, Load, LoadModel, format_duration};

use super::Run;

/// Something of a run by its name, in words.
type Said = (String, String);

/// What differs, in words. Of the cells that are compared, in `common`, it is told of the first that differs.
pub(super) fn between(old: Run<'_>, new: Run<'_>, common: &[(usize, usize)]) -> Vec<String> {
    let mut all = differing(of_environment(old.environment), &of_environment(new.environment));
    // What a toolchain was is not known of a run that did not ask it.
    let (before, after) = (&old.environment.toolchains, &new.environment.toolchains);
    let both = |of: &BTreeMap<String, String>| {
        let asked = of.iter().filter(|(target, _)| before.contains_key(*target) && after.contains_key(*target));
        asked.map(|(target, version)| (format!("toolchain of {target}"), version.clone())).collect::<Vec<_>>()
    };
    all.extend(differing(both(before), &both(after)));
    all.extend(differing(of_plan(old), &of_plan(new)));
    let cells = common.iter().map(|(a, b)| [&old.plan.cells[*a], &new.plan.cells[*b]]);
    all.extend(cells.map(of_cells).find(|found| !found.is_empty()).unwrap_or_default());
    all
}

fn differing(old: Vec<Said>, new: &[Said]) -> Vec<String> {
    let known: BTreeMap<&str, &str> = new.iter().map(|(what, it)| (what.as_str(), it.as_str())).collect();
    let missing = new.iter().filter(|(what, _)| !old.iter().any(|(other, _)| other == what));
    let missing: Vec<Said> = missing.map(|(what, _)| (what.clone(), NOT_SAID.to_owned())).collect();
    let difference = |(what, before): Said| {
        let after = known.get(what.as_str()).copied().unwrap_or(NOT_SAID);
        (before != after).then(|| format!("{what}: old {before}, new {after}"))
    };
    old.into_iter().chain(missing).filter_map(difference).collect()
}

/// What stands for something that a run does not say.
const NOT_SAID: &str = "not known";

/// When, by which command line and of which programs a run was made is what a comparison is for; its limit of open files
/// bourdon raises itself.
fn of_environment(environment: &Environment) -> Vec<Said> {
    let Environment {
        schema: _,
        started_at: _,
        bourdon,
        command_line: _,
        cpu,
        cpus,
        governor,
        smt,
        memory_bytes,
        kernel,
        open_files: _,
        sysctls,
        toolchains: _,
        programs: _,
    } = environment;
    let fixed = [
        said("bourdon", bourdon),
        said("CPU", cpu),
        said("CPUs", cpus),
        said("kernel", kernel),
        said("governor", maybe(governor.as_ref())),
        said("SMT", maybe(smt.as_ref())),
        said("memory", memory_bytes),
    ];
    fixed.into_iter().chain(sysctls.iter().map(|(name, value)| said(name, value))).collect()
}

/// What one generator thread can do here is a matter of judging.
fn of_plan(run: Run<'_>) -> Vec<Said> {
    let GeneratorPlan { threads, cpus, spin, limits: _ } = &run.plan.generator;
    vec![
        said("CPUs of the target", list(&run.plan.target_cpus)),
        said("generator threads", threads),
        said("generator CPUs", list(cpus)),
        said("spin", spin),
        said("ladder", run.plan.ladder.as_deref().unwrap_or("none")),
    ]
}

fn of_cells(both: [&CellPlan; 2]) -> Vec<String> {
    let [old, new] = both.map(of_cell);
    let found = differing(old, &new);
    let [a, b] = both.map(|cell| &cell.load.mix);
    let other_mix = found.is_empty() && a != b;
    let mix = other_mix.then(|| "what is asked for: another mix of requests".to_owned());
    found.into_iter().chain(mix).collect()
}

/// Cells are of the same levels, or of single targets under the same conditions; how a target is told of them is its own.
fn of_cell(cell: &CellPlan) -> Vec<Said> {
    let CellPlan {
        levels: _,
        load,
        settings: _,
        runtime,
        handler_delay_ns,
        target_cpus,
        rate_share,
        rate_arrivals,
        profile,
        tls,
        tls_resume,
        census: _,
    } = cell;
    let of_cell = [
        said("TLS", tls),
        said("TLS sessions resumed", tls_resume),
        said("runtime", runtime),
        said("handler delay", format_duration(*handler_delay_ns)),
        said("CPUs of the target", list(target_cpus)),
        said("share of capacity", maybe(rate_share.as_ref())),
        said("arrivals", rate_arrivals.map_or("constant".to_owned(), |arrivals| arrivals.id().to_owned())),
        said("profile", profile),
        said("census", cell.takes_census()),
    ];
    of_load(load).into_iter().chain(of_cell).collect()
}

fn of_load(load: &Load) -> Vec<Said> {
    let Load { mix, model, connections, pipeline, keep_alive, timeout_ns, network_delay_ns, warm_up_ns, extent } = load;
    let model = match model {
        LoadModel::Closed => "closed".to_owned(),
        LoadModel::Open { rate_per_s, arrivals } => format!("open at {rate_per_s} a second ({})", arrivals.id()),
    };
    let extent = match extent {
        Extent::Window(ns) => format_duration(*ns),
        Extent::Requests { count, within_ns: None } => format!("{count} requests"),
        Extent::Requests { count, within_ns: Some(ns) } => format!("{count} requests in {}", format_duration(*ns)),
    };
    let first = &mix.first().request;
    vec![
        said("path", &first.path),
        said("method", &first.method),
        said("load", model),
        said("connections", connections),
        said("pipeline", pipeline),
        said("keep-alive", keep_alive),
        said("time-out", timeout_ns.map_or("none".to_owned(), format_duration)),
        said("window", extent),
        said("network delay", format_duration(*network_delay_ns)),
        said("warm-up", format_duration(*warm_up_ns)),
    ]
}

fn said(what: &str, it: impl Display) -> Said {
    (what.to_owned(), it.to_string())
}

fn maybe(it: Option<&impl Display>) -> String {
    it.map_or(NOT_SAID.to_owned(), ToString::to_string)
}

fn list(cpus: &[u32]) -> String {
    match cpus {
        [] => "any".to_owned(),
        some => some.iter().map(u32::to_string).collect::<Vec<_>>().join(" and "),
    }
}
