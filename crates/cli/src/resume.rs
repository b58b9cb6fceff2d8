//! A recorded run is taken up again where it stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use lab::{RunFolder, RunRecord};
use model::{Blocks, Environment, Instrument, Next, Plan};
use report::format::counted;

use crate::conduct::PreparedRun;
use crate::exit::Failure;
use crate::output::say;
use crate::progress::RunProgress;
use crate::{calibrate, ready};

/// A recorded run that no other bourdon can write to now.
pub(crate) struct Opened {
    folder: RunFolder,
    record: RunRecord,
    /// The plan that is to be recorded in the place of the one that is.
    raised: Option<Plan>,
}

impl Opened {
    /// Takes hold of a recorded run. `blocks` is how many it is to have, where that changes.
    pub(crate) fn of(path: &Path, blocks: Option<u32>) -> Result<Self, Failure> {
        let (folder, record) = RunFolder::resume(path).map_err(Failure::usage)?;
        let mut opened = Opened { folder, record, raised: None };
        if let Some(blocks) = blocks {
            opened.ask_for(blocks)?;
        }
        if opened.lacks_trials() {
            check_instrument(&opened.record.environment)?;
        }
        Ok(opened)
    }

    /// Whether anything may be launched: where nothing is, nothing is put beside what was measured elsewhere.
    fn lacks_trials(&self) -> bool {
        let (mut planner, trials) = (judge::planner(&self.record.plan), &self.record.trials);
        trials.iter().for_each(|trial| planner.take(trial));
        // What failed may be launched again in its place.
        trials.iter().any(|trial| trial.failure.is_some()) || !matches!(planner.next(), Next::Done(_))
    }

    /// Its plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.record.plan
    }

    /// The same run with things in other places than its plan says.
    pub(crate) fn under(mut self, plan: Plan) -> Self {
        self.record.plan = plan;
        self
    }

    /// The one thing that may change of a plan. The orders of further blocks follow from the seed as those of the first
    /// ones do.
    fn ask_for(&mut self, blocks: u32) -> Result<(), Failure> {
        let plan = &self.record.plan;
        let least = judge::blocks_begun(plan, &self.record.trials).max(plan.blocks.min);
        if blocks < least {
            let begun = judge::blocks_begun(plan, &self.record.trials);
            let has = match counted(least.into(), "block", "blocks") {
                asked if begun < least => {
                    format!("is to have {asked}, and has {begun}; resume it without --blocks, or")
                }
                begun => format!("has {begun} already; with --resume"),
            };
            return Err(Failure::usage(format!("--blocks {blocks}: this run {has} ask for {least} or more")));
        }
        let asked = Blocks { min: blocks, max: blocks };
        if asked != plan.blocks {
            let plan = plan.with(|draft| draft.raise(blocks)).map_err(Failure::usage)?;
            (self.raised, self.record.plan) = (Some(plan.clone()), plan);
        }
        Ok(())
    }

    /// Builds what it launches. Only then is it recorded that there are to be more blocks: what cannot be resumed stays as it
    /// is.
    pub(crate) fn prepare(mut self, stop: &AtomicBool, progress: &mut RunProgress) -> Result<PreparedRun, Failure> {
        let lacks_trials = self.lacks_trials();
        let RunRecord { plan, environment, trials } = self.record;
        check_cpus(&plan)?;
        ready::reserve(&plan)?;
        ready::reserve_together(&plan)?;
        let prepared = ready::build(&plan, &environment.programs, stop, progress)?;
        if !prepared.absent.is_empty() {
            let missing: Vec<&str> = prepared.absent.iter().map(|absent| absent.reason.as_str()).collect();
            return Err(Failure::unreachable(format!("the run cannot be resumed: {}", missing.join("; "))));
        }
        if lacks_trials {
            check_toolchains(&environment.toolchains, &prepared.toolchains)?;
        }
        if let Some(raised) = self.raised {
            self.folder.replace_plan(&raised).map_err(Failure::usage)?;
        }
        let recorded = counted(trials.len() as u64, "trial", "trials");
        say(format!("resuming {}, {recorded} recorded", self.folder.path().display()));
        Ok(PreparedRun { plan, prepared, folder: self.folder, environment, done: trials, nodes: None })
    }
}

/// Whether what measures here is what measured then: all trials of a run are judged as made on one machine by one bourdon.
fn check_instrument(then: &Environment) -> Result<(), Failure> {
    let Instrument { bourdon, cpu, cpus, kernel } = calibrate::instrument();
    refuse_differing([
        ("bourdon".to_owned(), then.bourdon.clone(), bourdon),
        ("CPU".to_owned(), then.cpu.clone(), cpu),
        ("CPUs".to_owned(), then.cpus.to_string(), cpus.to_string()),
        ("kernel".to_owned(), then.kernel.clone(), kernel),
    ])
}

/// The same of the toolchains, as far as the record has them.
fn check_toolchains(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Result<(), Failure> {
    let both = then.iter().filter_map(|(target, version)| {
        Some((format!("toolchain of {target}"), version.clone(), now.get(target)?.clone()))
    });
    refuse_differing(both)
}

fn refuse_differing(all: impl IntoIterator<Item = (String, String, String)>) -> Result<(), Failure> {
    let differ = all.into_iter().filter(|(_, then, now)| then != now);
    let lines: Vec<String> = differ.map(|(what, then, now)| format!("\n  {what}: {then}, and now {now}")).collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "this does not match what the run started with, so its trials would not be comparable:{}\nresume it in the original \
         setup, or start a new run",
        lines.concat()
    )))
}

/// Whether every CPU is here that a plan names; another machine, or a narrower affinity, may have fewer.
fn check_cpus(plan: &Plan) -> Result<(), Failure> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Ok(()) };
    let given: BTreeSet<u32> = (0..1024).filter(|cpu| allowed.is_set(*cpu as usize)).collect();
    let missing: BTreeSet<u32> = plan.cpus().filter(|cpu| !given.contains(cpu)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = |cpus: &BTreeSet<u32>| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    Err(Failure::usage(format!(
        "the run needs CPU {}, but only CPU {} is available; resume it where all are available (see `taskset -p $$`), or \
         start a new run",
        list(&missing),
        list(&given)
    )))
}
