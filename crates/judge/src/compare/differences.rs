//! What differs between two runs beside the server. What may differ is taken apart without `..`: a field that is new does
//! not compile until somebody has said whether it counts.

use std::collections::BTreeMap;

use model::{
    Arrivals, AskedLoad, AskedReply, AskedTls, Aspect, AspectValue, CellPlan, Difference, Draft, Environment,
    GeneratorPlan, Load, Plan,
};

use super::Run;
use crate::rotation;

/// What a run says of each aspect; none of one that it does not know.
type Said = (Aspect, Option<AspectValue>);

/// What differs. Of the cells that are compared, in `common`, it is told of the first that differs.
pub(super) fn between(old: Run<'_>, new: Run<'_>, common: &[(usize, usize)]) -> Vec<Difference> {
    let mut all = differing(of_environment(old.environment), of_environment(new.environment));
    // What a toolchain was is not known of a run that did not ask it.
    let (before, after) = (&old.environment.toolchains, &new.environment.toolchains);
    let both = |of: &BTreeMap<String, String>| {
        let asked = of.iter().filter(|(target, _)| before.contains_key(*target) && after.contains_key(*target));
        asked.map(|(target, version)| said(Aspect::Toolchain(target.clone()), version.as_str())).collect::<Vec<_>>()
    };
    all.extend(differing(both(before), both(after)));
    all.extend(differing(of_plan(old), of_plan(new)));
    let cells = common.iter().map(|(a, b)| [(old.plan, *a), (new.plan, *b)]);
    all.extend(cells.map(of_cells).find(|found| !found.is_empty()).unwrap_or_default());
    all
}

fn differing(old: Vec<Said>, new: Vec<Said>) -> Vec<Difference> {
    let mut new: BTreeMap<Aspect, Option<AspectValue>> = new.into_iter().collect();
    let paired: Vec<Difference> = old
        .into_iter()
        .map(|(what, old)| {
            let new = new.remove(&what).flatten();
            Difference { what, old, new }
        })
        .collect();
    let missing = new.into_iter().map(|(what, new)| Difference { what, old: None, new });
    paired.into_iter().chain(missing).filter(|found| found.old != found.new).collect()
}

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
        variables: _,
    } = environment;
    let fixed = [
        said(Aspect::Bourdon, bourdon.as_str()),
        said(Aspect::Cpu, cpu.as_str()),
        said(Aspect::Cpus, u64::from(*cpus)),
        said(Aspect::Kernel, kernel.as_str()),
        (Aspect::Governor, governor.as_deref().map(AspectValue::from)),
        (Aspect::Smt, smt.map(AspectValue::from)),
        said(Aspect::Memory, *memory_bytes),
    ];
    let sysctls = sysctls.iter().map(|(name, value)| said(Aspect::Sysctl(name.clone()), value.as_str()));
    fixed.into_iter().chain(sysctls).collect()
}

/// What a plan asks, when it stops and how it is judged differ between runs as their targets and cells do; of cells that are
/// compared, what they are is looked at on its own. What one generator thread can do here is a matter of judging, too.
fn of_plan(run: Run<'_>) -> Vec<Said> {
    let Draft {
        schema: _,
        name: _,
        question: _,
        source: _,
        quick: _,
        seed: _,
        margin: _,
        precision: _,
        allow_failures: _,
        precise: _,
        blocks: _,
        blocks_before: _,
        repeats: _,
        twin: _,
        twin_in_turn: _,
        ladder,
        // Of each cell, since not every one of a plan that asks for it is loaded so.
        rotation: _,
        profile_functions: _,
        generator: GeneratorPlan { threads, cpus, spin, limits: _, nodes },
        target_cpus,
        factors: _,
        targets: _,
        absent: _,
        cells: _,
        added: _,
        relative_rates: _,
        claims: _,
        comparison: _,
        diagnosis: _,
        soak: _,
    } = &**run.plan;
    vec![
        said(Aspect::TargetCpus, AspectValue::Cpus(target_cpus.clone())),
        said(Aspect::GeneratorThreads, u64::from(*threads)),
        said(Aspect::GeneratorCpus, AspectValue::Cpus(cpus.clone())),
        said(Aspect::Spin, *spin),
        said(Aspect::Nodes, nodes.map_or(NONE.into(), |nodes| AspectValue::from(u64::from(nodes)))),
        said(Aspect::Ladder, ladder.as_deref().unwrap_or(NONE)),
    ]
}

/// What a run does not ask for.
const NONE: &str = "none";

/// What a reply had to be that could be anything.
const ANY: &str = "any";

fn of_cells(both: [(&Plan, usize); 2]) -> Vec<Difference> {
    let [old, new] = both.map(|(plan, cell)| {
        let slices = rotation::of_cell(plan, cell).map_or(NONE.into(), AspectValue::Rotation);
        let mut all = of_cell(&plan.cells[cell]);
        all.push(said(Aspect::Rotation, slices));
        all
    });
    let found = differing(old, new);
    let [a, b] = both.map(|(plan, cell)| &plan.cells[cell].load.mix);
    let other_mix = found.is_empty() && a != b;
    let mix = other_mix.then_some(Difference { what: Aspect::Mix, old: None, new: None });
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
        without_admin,
        beside,
        backend,
        upstream: _,
        tls,
        tls_resume,
        census: _,
        quick_ack,
        tried: _,
    } = cell;
    let beside = beside.as_ref().map_or(NONE, |beside| &beside.mix.first().request.path);
    let of_cell = [
        said(Aspect::Tls, *tls),
        said(Aspect::TlsResume, *tls_resume),
        said(Aspect::Runtime, runtime.as_str()),
        said(Aspect::HandlerDelay, time(*handler_delay_ns)),
        said(Aspect::TargetCpus, AspectValue::Cpus(target_cpus.clone())),
        (Aspect::RateShare, rate_share.map(AspectValue::Share)),
        said(Aspect::Arrivals, rate_arrivals.unwrap_or(Arrivals::Constant).id()),
        said(Aspect::Profile, *profile),
        said(Aspect::Admin, !without_admin),
        said(Aspect::Beside, beside),
        said(Aspect::Backend, backend.map_or(NONE.into(), AspectValue::Backend)),
        said(Aspect::Census, cell.takes_census()),
        said(Aspect::QuickAck, *quick_ack),
    ];
    of_load(load).into_iter().chain(of_cell).collect()
}

fn of_load(load: &Load) -> Vec<Said> {
    let Load { mix, model, connections, pipeline, keep_alive, timeout_ns, network_delay_ns, warm_up_ns, extent } = load;
    let first = &mix.first().request;
    vec![
        said(Aspect::Path, first.path.as_str()),
        said(Aspect::Method, first.method.as_str()),
        said(Aspect::Load, AspectValue::Load(*model)),
        said(Aspect::Connections, u64::from(*connections)),
        said(Aspect::Pipeline, u64::from(*pipeline)),
        said(Aspect::KeepAlive, *keep_alive),
        said(Aspect::TimeOut, timeout_ns.map_or(NONE.into(), time)),
        said(Aspect::Window, AspectValue::Extent(*extent)),
        said(Aspect::NetworkDelay, time(*network_delay_ns)),
        said(Aspect::WarmUp, time(*warm_up_ns)),
    ]
}

/// What was asked of two saved loads that is not the same; of what one of them does not say nothing is known.
pub fn asked_differently(old: &AskedLoad, new: &AskedLoad) -> Vec<Difference> {
    let mut found = differing(of_asked(old), of_asked(new));
    found.retain(|found| found.old.is_some() && found.new.is_some());
    found
}

fn of_asked(asked: &AskedLoad) -> Vec<Said> {
    let AskedLoad {
        model,
        method,
        path,
        http,
        headers,
        body_bytes,
        expect,
        connections,
        pipeline,
        keep_alive,
        tls,
        // In nanoseconds below.
        timeout_s: _,
        warm_up_s: _,
        window_s: _,
        requests: _,
        threads,
        cpus,
        spin,
        quick_ack,
        // Each load draws anew.
        seed: _,
    } = asked;
    let fixed = [
        said(Aspect::Path, path.as_str()),
        said(Aspect::Method, method.as_str()),
        said(Aspect::Load, AspectValue::Load(*model)),
        said(Aspect::Connections, u64::from(*connections)),
        said(Aspect::Pipeline, u64::from(*pipeline)),
        said(Aspect::KeepAlive, *keep_alive),
        said(Aspect::TimeOut, asked.timeout_ns().map_or(NONE.into(), time)),
        (Aspect::Window, asked.extent().map(AspectValue::Extent)),
        said(Aspect::WarmUp, time(asked.warm_up_ns())),
        (Aspect::HttpVersion, http.map(|version| version.id().into())),
        (Aspect::Headers, headers.clone().map(|headers| AspectValue::Headers { headers })),
        said(Aspect::BodyBytes, *body_bytes),
        said(Aspect::GeneratorThreads, u64::from(*threads)),
        said(Aspect::GeneratorCpus, AspectValue::Cpus(cpus.clone())),
        (Aspect::Spin, spin.map(AspectValue::from)),
        said(Aspect::QuickAck, *quick_ack),
        said(Aspect::Tls, tls.is_some()),
    ];
    let expected = expect.iter().flat_map(of_asked_reply);
    fixed.into_iter().chain(expected).chain(tls.iter().flat_map(of_asked_tls)).collect()
}

fn of_asked_reply(expect: &AskedReply) -> [Said; 2] {
    // Bodies of two lengths have two digests.
    let AskedReply { status, body_bytes: _, body_sha256 } = expect;
    [
        said(Aspect::ExpectedStatus, status.map_or(ANY.into(), |status| AspectValue::from(u64::from(status)))),
        said(Aspect::ExpectedBody, body_sha256.as_deref().unwrap_or(ANY)),
    ]
}

fn of_asked_tls(tls: &AskedTls) -> [Said; 3] {
    let AskedTls { server_name, trust, resumption } = tls;
    [
        said(Aspect::TlsServerName, server_name.as_str()),
        said(Aspect::TlsTrust, trust.id()),
        said(Aspect::TlsResume, *resumption),
    ]
}

fn said(what: Aspect, it: impl Into<AspectValue>) -> Said {
    (what, Some(it.into()))
}

fn time(ns: u64) -> AspectValue {
    AspectValue::Time { ns }
}
