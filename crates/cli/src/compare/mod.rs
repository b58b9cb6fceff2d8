//! `bourdon compare`: is the new server slower than the old one?

mod git;
mod imports;
mod left_behind;
pub(crate) mod loads;
mod options;
mod question;
mod revisions;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ::report::format::{counted, times};
use judge::Terms;
use judge::thresholds::LEAST_ROUNDS;
use lab::{LabError, Prepared, RunFolder};
use model::{
    CompareAnalysis, ComparePlan, ComparedRevision, Draft, Gate, Judged, Load, Metric, Plan, Rotation, Target,
};

use crate::answer::{self, of};
use crate::args::{CompareArgs, RunArgs, ShownArgs, seed};
use crate::conduct::PreparedRun;
use crate::exit::{Exit, Failure};
use crate::experiment::{self, OneLoad, Options, ROTATION, Source};
use crate::found;
use crate::interrupt::flag_on_interrupt;
use crate::output::say;
use crate::progress::RunProgress;
use crate::resume::Opened;
use crate::{commands, conduct, ready};
use loads::Side;
use options::{Form, refuse_strangers};
use question::{Arms, AskedOfBoth};
use revisions::Revisions;

/// Name of the runs that are made of arguments.
const NAME: &str = "compare";

/// How precisely the primary metric's ratio is to be known before a comparison may end: by slices, and by launches alone.
const PRECISION_ROTATING: f64 = 0.01;
const PRECISION: f64 = 0.02;
/// How long each of the two is watched after its first load. A choice: as long as a comparison of 90 seconds has time for.
const REST_NS: u64 = 2_500_000_000;

/// `bourdon compare`.
pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let made_of_arguments = !args.run.is_empty();
    match &args.recorded[..] {
        [] if made_of_arguments => of_arguments(args),
        [_, ..] if made_of_arguments => {
            Err(Failure::usage("name recorded runs or an experiment, or commands with --run, not both"))
        }
        [old, new] if are_one(old, new) => {
            let (old, new) = (old.display(), new.display());
            Err(Failure::usage(format!(
                "{old} and {new} are the same record: every ratio would be 1; name another one"
            )))
        }
        [one, other] => of_two(args, one, other),
        [file] => of_one(args, file),
        _ => Err(Failure::usage(
            "say what to compare: two revisions or commands (--run), two recorded runs, or an experiment file; see bourdon compare --help",
        )),
    }
}

/// Two recorded runs, or two sides of saved loads.
fn of_two(args: &CompareArgs, old: &Path, new: &Path) -> Result<Exit, Failure> {
    if let Some(experiment) = [old, new].into_iter().find(|path| found::is_experiment(path)) {
        let experiment = experiment.display();
        return Err(Failure::usage(format!(
            "{experiment} is an experiment file, which has both servers in it; give it alone, or name two recorded \
             runs or two saved loads"
        )));
    }
    if loads::are_there(old) || loads::are_there(new) { of_loads(args, old, new) } else { of_runs(args, old, new) }
}

/// An experiment file. Of what was recorded one alone is not enough.
fn of_one(args: &CompareArgs, file: &Path) -> Result<Exit, Failure> {
    let what = match file.is_dir() {
        true if loads::are_there(file) => "one side of saved loads",
        true if file.join("plan.toml").exists() => "one recorded run",
        true => return Err(Failure::usage(LabError::NotARun { path: file.to_owned() })),
        false if file.extension().is_some_and(|end| end == "json") => "one saved load",
        false => return of_experiment(args, file),
    };
    Err(Failure::usage(format!("{} is {what}; name the other one too, the old one first", file.display())))
}

/// Whether two paths lead to the same file or folder.
fn are_one(old: &Path, new: &Path) -> bool {
    matches!((old.canonicalize(), new.canonicalize()), (Ok(old), Ok(new)) if old == new)
}

/// Two recorded runs.
fn of_runs(args: &CompareArgs, old: &Path, new: &Path) -> Result<Exit, Failure> {
    refuse_strangers(args, Form::Runs)?;
    let records = [old, new].map(RunFolder::read);
    let [old_record, new_record] = records;
    let (old_record, new_record) = (old_record.map_err(Failure::usage)?, new_record.map_err(Failure::usage)?);
    let names = (old.display().to_string(), new.display().to_string());
    let analysis = judge::compare_runs(of(&old_record), of(&new_record), names, terms(args)).map_err(Failure::usage)?;
    say_what_is_in_one_alone([(old, &old_record.plan), (new, &new_record.plan)]);
    of_records(args, analysis)
}

/// Targets are compared with what bears their name in the other run: those without such are in neither column.
fn say_what_is_in_one_alone(runs: [(&Path, &Plan); 2]) {
    let names = runs.map(|(_, plan)| plan.cells.iter().map(|cell| cell.levels.target()).collect::<BTreeSet<&str>>());
    let alone = |own: usize| {
        let only: Vec<&str> = names[own].difference(&names[1 - own]).copied().collect();
        (!only.is_empty()).then(|| format!("{} of {}", only.join(", "), runs[own].0.display()))
    };
    let alone: Vec<String> = [0, 1].into_iter().filter_map(alone).collect();
    if !alone.is_empty() {
        let both: Vec<&str> = names[0].intersection(&names[1]).copied().collect();
        say(format!("note: {} is compared, which both runs have; {} is not", both.join(", "), alone.join(" and ")));
    }
}

/// Two saved loads, or several on each side.
fn of_loads(args: &CompareArgs, old: &Path, new: &Path) -> Result<Exit, Failure> {
    refuse_strangers(args, Form::Loads)?;
    if let Some(gate) = gates(args).iter().find(|gate| !loads::hold(gate.metric)) {
        return Err(Failure::usage(format!(
            "the gate {gate} cannot be decided: a saved load does not hold the server's {}; compare two commands (--run) or \
             two recorded runs",
            gate.metric.words()
        )));
    }
    let draft = |name: &str, targets, load| draft(args, name, "Which is faster?".to_owned(), targets, load);
    let (before, after) = (Side::read(old, &draft)?, Side::read(new, &draft)?);
    if let Some(lost) = before.lost.iter().chain(&after.lost).next() {
        return Err(Failure::usage(format!("{lost}; make it again")));
    }
    loads::refuse_copies([&before, &after])?;
    let names = (old.display().to_string(), new.display().to_string());
    let in_turn = before.in_turn(&after);
    if before.is_favoured_by_pauses(&after) {
        say(
            "note: one of the two was usually asked after a longer pause than the other, and what a pause gives a machine is in every ratio: they do not \
             count as taken in turn; begin every second pair with the other one",
        );
    }
    let loads = judge::compare_loads(of(&before.record), of(&after.record), names, terms(args), in_turn);
    let mut analysis = loads.map_err(Failure::usage)?;
    // What the plan of a side tells, too, is there already.
    let mut asked = judge::asked_differently(&before.asked, &after.asked);
    asked.retain(|difference| !analysis.differences.contains(difference));
    analysis.differences.extend(asked);
    of_records(args, analysis)
}

/// How what was recorded is held against each other.
fn terms(args: &CompareArgs) -> Terms<'_> {
    let usual = Terms::default();
    Terms { margin: args.margin(), drift: args.drift.unwrap_or(usual.drift), gates: gates(args) }
}

/// What was recorded is compared where nothing but the server differs, or where that is known.
fn of_records(args: &CompareArgs, analysis: CompareAnalysis) -> Result<Exit, Failure> {
    if !analysis.differences.is_empty() && !args.force {
        let differences: Vec<String> = analysis.differences.iter().map(report::difference_words).collect();
        let differences = differences.join("\n  ");
        return Err(Failure::usage(format!(
            "more than the server differs between these two:\n  {differences}\nmeasure both again in the same way, or \
             compare them anyway with --force"
        )));
    }
    let judged = Judged::Comparison(Box::new(analysis));
    // Launches of two runs share their names, and each run has a page of its own.
    answer::print(&judged, &[], args.shown)?;
    Ok(Exit::of_answer(judge::answer_is_bad(&judged), answer::is_void(&judged, args.allow_undecided)))
}

/// Two targets of an experiment file, launched now.
fn of_experiment(args: &CompareArgs, file: &Path) -> Result<Exit, Failure> {
    refuse_strangers(args, Form::Experiment)?;
    let named = file.to_string_lossy();
    let found = found::experiment(&named)?;
    let zoo = found::targets(&found.folder)?;
    let mut plan = plan(args, &found.source, &zoo, &found.folder)?;
    let mut targets: Vec<&str> = Vec::new();
    for cell in &plan.cells {
        if !targets.contains(&cell.levels.target()) {
            targets.push(cell.levels.target());
        }
    }
    let [old, new] = targets[..] else {
        return Err(Failure::usage(format!(
            "{named} has {}; two are compared, the old one first",
            counted(targets.len() as u64, "target", "targets")
        )));
    };
    let (old, new) = (old.to_owned(), new.to_owned());
    plan.comparison = Some(ComparePlan { of_experiment: true, ..asked(args, old, new, Vec::new()) });
    measure(args, plan, &*flag_on_interrupt()?, &|_| Ok(()))
}

/// Two revisions or two commands, launched now.
fn of_arguments(args: &CompareArgs) -> Result<Exit, Failure> {
    refuse_strangers(args, Form::Commands)?;
    if !matches!(args.rev.len(), 0 | 2) {
        return Err(Failure::usage(format!(
            "--rev is given {}; two revisions are compared, the old one first",
            times(args.rev.len() as u64)
        )));
    }
    let here = std::env::current_dir().map_err(Failure::usage)?;
    // A pipe may keep its reader waiting, which Ctrl-C ends.
    let asked_of_both = AskedOfBoth::read(args)?;
    // From here on Ctrl-C ends what was begun instead of the process, so that no checkout is left behind.
    let stop = flag_on_interrupt()?;
    let revisions = if args.rev.is_empty() { None } else { Some(Revisions::check_out(&args.rev, &stop)?) };
    if let Some(revisions) = &revisions {
        revisions.refuse_what_is_of_neither(args)?;
        imports::refuse_what_is_one(&args.run, &revisions.checkouts(), &stop)?;
    }
    let arms = Arms::new(args, revisions.as_ref().map_or(&[], |revisions| &revisions.all), &here)?;
    let mut plan = arms.draft(args, asked_of_both)?;
    let (old, new) = (arms.old.name, arms.new.name);
    let recorded = revisions.as_ref().map_or(Vec::new(), |revisions| revisions.recorded([&old, &new]));
    let may_launch = |prepared: &Prepared| match &revisions {
        Some(revisions) => imports::refuse_what_is_installed(&args.run, revisions.built([&old, &new]), prepared, &stop),
        None => Ok(()),
    };
    plan.comparison = Some(asked(args, old.clone(), new.clone(), recorded));
    let ended = measure(args, plan, &stop, &may_launch);
    if let Some(tree) = revisions.as_ref().and_then(|revisions| revisions.changed(&stop)) {
        say(format!(
            "note: the working tree of {} has changed since the comparison began, and the figures may be of both; measure again, unless \
             it was the server, or what builds it, that wrote there",
            tree.display()
        ));
    }
    ended
}

fn plan(args: &CompareArgs, source: &Source, zoo: &[Target], base: &Path) -> Result<Draft, Failure> {
    let options = Options {
        quick: false,
        targets: None,
        blocks: args.blocks,
        seed: args.seed,
        allow_failures: args.allow_failures,
        rotates: args.rotates(),
        generator: args.generator.asked(),
        zoo,
        machine: ready::machine(),
        base,
    };
    let mut plan = experiment::plan(source, &options)?;
    plan.precise = vec![args.primary()];
    plan.precision = precision(plan.rotation.is_some(), plan.margin);
    Ok(plan)
}

/// Targets under one load, as the arguments have it.
fn draft(args: &CompareArgs, name: &str, question: String, targets: Vec<Target>, load: Load) -> Draft {
    let asked = OneLoad {
        name,
        question,
        seed: seed(args.seed),
        margin: args.margin(),
        precise: vec![args.primary()],
        precision: precision(args.rotates(), args.margin()),
        rotation: rotation(args, &load),
        blocks: args.blocks,
        allow_failures: args.allow_failures,
        generator: args.generator.asked(),
        machine: ready::machine(),
        targets,
        load,
        tls_resume: args.tls_resume,
    };
    asked.draft()
}

/// Not wider than the margin: nobody who asks for a narrow one is helped by an interval that does not fit into it.
fn precision(rotates: bool, margin: f64) -> f64 {
    let usual = if rotates { PRECISION_ROTATING } else { PRECISION };
    usual.min(margin)
}

/// How loads go round: also of a window that is shorter than the usual slices, for somebody asked for both.
fn rotation(args: &CompareArgs, load: &Load) -> Option<Rotation> {
    let slice_ns = ROTATION.slice_ns.min(load.window_ns() / u64::from(LEAST_ROUNDS)).max(1);
    args.rotates().then_some(Rotation { slice_ns, ..ROTATION })
}

fn measure(
    args: &CompareArgs,
    plan: Draft,
    stop: &AtomicBool,
    may_launch: &dyn Fn(&Prepared) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    if let Some(what) = judge::one_server(&plan) {
        say(format!("note: {}", ::report::same_server(&what)));
    }
    refuse_in_vain(&plan)?;
    let mut plan = plan;
    ready::together_or_alone(&mut plan);
    let plan = if judge::goes_round(&plan) { plan } else { alone(args, plan) };
    let mut progress = RunProgress::new();
    let begun = ready::begin_whole(plan, args.runs(), stop, &mut progress, may_launch)?;
    conduct(args.shown, begun, stop, progress)
}

/// The plan of launches that are alone, with the margin and the precision that such can have.
fn alone(args: &CompareArgs, plan: Draft) -> Draft {
    let of_experiment = plan.comparison.as_ref().is_some_and(|asked| asked.of_experiment);
    let margin = if of_experiment { plan.margin } else { args.margin_of_others() };
    Draft { margin, precision: precision(false, margin), ..plan }
}

/// Refuses to measure for what no launch can have: a quantile of more requests than come due, or what nothing here measures.
fn refuse_in_vain(plan: &Draft) -> Result<(), Failure> {
    let Some(asked) = &plan.comparison else { return Ok(()) };
    let gates = asked.gates.iter().map(|gate| (gate.metric, format!("--gate {gate}")));
    let primary = asked.primary.map(|metric| (metric, format!("--primary {}", metric.id())));
    let in_vain = |(metric, what): (Metric, String)| {
        let why = plan.cells.iter().find_map(|cell| judge::never_enough(cell, metric))?;
        Some(format!("{what} cannot come out: {}", ::report::never_enough_words(why)))
    };
    let is_measured = |metric: Metric| match metric {
        Metric::ProfileShare => plan.cells.iter().any(|cell| cell.profile),
        Metric::BackendConnections | Metric::BackendAtOnce => plan.cells.iter().any(|cell| cell.backend.is_some()),
        _ => true,
    };
    if let Some((_, what)) = gates.clone().chain(primary.clone()).find(|(metric, _)| !is_measured(*metric)) {
        return Err(Failure::usage(format!("{what} cannot come out: nothing in this comparison measures it")));
    }
    gates.chain(primary).find_map(in_vain).map_or(Ok(()), |why| {
        Err(Failure::usage(format!("{why}; ask for a longer window, a higher rate or a lower quantile")))
    })
}

/// `bourdon run --resume` on a recorded comparison: its revisions are checked out again, its gates hold.
pub(crate) fn resume(args: &RunArgs, opened: Opened, asked: &ComparePlan) -> Result<Exit, Failure> {
    let strangers = [
        ("--gate", args.gate, "its gates are those it started with"),
        ("--keep-going", args.keep_going, "it needs both servers to the end"),
    ];
    if let Some((option, _, why)) = strangers.into_iter().find(|(_, given, _)| *given) {
        return Err(Failure::usage(format!("{option} changes nothing about a comparison: {why}; leave it out")));
    }
    let stop = flag_on_interrupt()?;
    let mut progress = RunProgress::new();
    let (_revisions, plan) = Revisions::restore(opened.plan(), &asked.revisions, &stop)?;
    let begun = opened.under(plan).prepare(&stop, &mut progress)?;
    conduct(args.shown, begun, &stop, progress)
}

fn conduct(shown: ShownArgs, begun: PreparedRun, stop: &AtomicBool, progress: RunProgress) -> Result<Exit, Failure> {
    let recorded_before = begun.done.len();
    let ended = conduct::conduct(begun, false, stop, progress)?;
    let printed = answer::print(&ended.judged, &ended.timelines, shown);
    if !ended.interrupted {
        say(format!("\n{}", answer::whereabouts(&ended.path)));
    }
    if !ended.interrupted && ended.unstarted.is_none() {
        ::report::next_step(&ended.judged, &commands::resume(&ended.path, None)).into_iter().for_each(say);
    }
    ended.say_how_to_go_on();
    let launches = ended.record.trials.get(recorded_before..).unwrap_or_default();
    left_behind::say_what_is_left(&ended.record.plan, launches, &ended.path);
    printed.map_err(|failure| failure.of_interrupted(ended.interrupted))?;
    if ended.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(ended.exit(false))
}

/// What was asked of two targets, for the record.
fn asked(args: &CompareArgs, old: String, new: String, revisions: Vec<ComparedRevision>) -> ComparePlan {
    let (gates, primary) = (gates(args).to_vec(), Some(args.primary()));
    let (allow_undecided, of_experiment) = (args.allow_undecided, false);
    let rest_ns = args.rest.unwrap_or(REST_NS);
    ComparePlan { old, new, primary, gates, allow_undecided, of_experiment, rest_ns, revisions }
}

fn gates(args: &CompareArgs) -> &[Gate] {
    args.gate.as_ref().map_or(&[], |gates| &gates.0)
}
