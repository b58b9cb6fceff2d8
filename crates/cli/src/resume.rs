//! A recorded run is taken up again where it stopped.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use lab::{RunFolder, RunRecord};
use model::{Blocks, Plan};
use report::format::counted;

use crate::conduct::PreparedRun;
use crate::exit::Failure;
use crate::output::say;
use crate::progress::RunProgress;
use crate::ready;

/// A recorded run that no other bourdon can write to now.
pub(crate) struct Opened {
    folder: RunFolder,
    record: RunRecord,
}

impl Opened {
    /// Takes hold of a recorded run. `blocks` is how many it is to have, where that changes.
    pub(crate) fn of(path: &Path, blocks: Option<u32>) -> Result<Self, Failure> {
        let (folder, record) = RunFolder::resume(path).map_err(Failure::usage)?;
        let mut opened = Opened { folder, record };
        if let Some(blocks) = blocks {
            opened.ask_for(blocks)?;
        }
        Ok(opened)
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
            self.folder.replace_plan(&plan).map_err(Failure::usage)?;
            self.record.plan = plan;
        }
        Ok(())
    }

    /// Builds what it launches.
    pub(crate) fn prepare(self, stop: &AtomicBool, progress: &mut RunProgress) -> Result<PreparedRun, Failure> {
        let RunRecord { plan, environment, trials } = self.record;
        check_cpus(&plan)?;
        ready::reserve(&plan)?;
        let prepared = ready::build(&plan, &environment.programs, stop, progress)?;
        if !prepared.absent.is_empty() {
            let missing: Vec<&str> = prepared.absent.iter().map(|absent| absent.reason.as_str()).collect();
            return Err(Failure::unreachable(format!("the run cannot be resumed: {}", missing.join("; "))));
        }
        let recorded = counted(trials.len() as u64, "trial", "trials");
        say(format!("resuming {}, {recorded} recorded", self.folder.path().display()));
        Ok(PreparedRun { plan, prepared, folder: self.folder, environment, done: trials })
    }
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
        "the run needs CPU {}, and this machine gives CPU {}; resume it where all are (see `taskset -p $$`), or begin anew",
        list(&missing),
        list(&given)
    )))
}
