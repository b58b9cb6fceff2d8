use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use model::{AbsentTarget, CURRENT_RUNTIME, Draft, Event, Target};

use crate::build::{BuildError, Builder};
use crate::fingerprint::digest;
use crate::named::named;
use crate::programs::{Launched, Program, written_at};

/// The targets of a plan, built.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    programs: BTreeMap<(String, String), Launched>,
    /// The programs that the command of each target names by their paths, each as it is named there.
    named: BTreeMap<String, Vec<(String, Launched)>>,
    /// When the build of each target ended.
    built: BTreeMap<String, Timestamp>,
    /// What the toolchain of each target and runtime says of its version, by the target's name as in [`with_runtime`]; those
    /// that need none are missing.
    pub toolchains: BTreeMap<String, String>,
    /// Targets that cannot run here, as far as the plan did not say so already.
    pub absent: Vec<AbsentTarget>,
    /// What bourdon itself lacks to build any more, or why it may not launch what is built now, where that is so.
    pub prevented: Option<String>,
    /// Whether it was stopped before every target was built.
    pub interrupted: bool,
}

impl Prepared {
    /// The built file of a target with one of its runtimes.
    pub fn binary(&self, target: &str, runtime: &str) -> Option<&Path> {
        self.launched(target, runtime).map(|launched| launched.program.path.as_path())
    }

    /// Why what was built is not launched any more, where somebody has changed it since.
    pub(crate) fn changed(&self, target: &str, runtime: &str, stop: &AtomicBool) -> Option<String> {
        let named = self.named.get(target).into_iter().flatten().map(|(_, launched)| launched);
        let launched = self.launched(target, runtime).into_iter().chain(named).find(|it| it.is_another(stop))?;
        Some(another(&launched.program.path))
    }

    /// Whether a file was written, or put where it is, while `other` was built after `own`.
    pub fn was_written_after(&self, own: &str, other: &str, path: &Path) -> bool {
        let [own, other] = [own, other].map(|name| self.built.get(name));
        let was_building = |at| own.zip(other).is_some_and(|(own, other)| (*own..=*other).contains(&at));
        written_at(path).is_some_and(was_building)
    }

    fn launched(&self, target: &str, runtime: &str) -> Option<&Launched> {
        self.programs.get(&(target.to_owned(), runtime.to_owned()))
    }

    /// The digest of each program, by the target's name as in [`with_runtime`].
    pub fn digests(&self) -> BTreeMap<String, String> {
        let digest = |((target, runtime), launched): (&(String, String), &Launched)| {
            (with_runtime(target, runtime), launched.program.digest.clone())
        };
        let named = |(target, all): (&String, &Vec<(String, Launched)>)| {
            all.iter().map(|(word, launched)| (key(target, word), launched.program.digest.clone())).collect::<Vec<_>>()
        };
        self.programs.iter().map(digest).chain(self.named.iter().flat_map(named)).collect()
    }

    /// Takes the programs that a target's command names; why it may not be launched, where one is another than was recorded.
    fn name(&mut self, target: &Target, recorded: &BTreeMap<String, String>, stop: &AtomicBool) -> Option<String> {
        let mut all = Vec::new();
        for (word, path) in named(&target.launch) {
            // What cannot be read will not be launched either.
            let Ok(digest) = digest(&path, stop) else { continue };
            if recorded.get(&key(&target.name, &word)).is_some_and(|before| *before != digest) {
                return Some(another(&path));
            }
            all.push((word, Program { path, digest }.into()));
        }
        self.named.insert(target.name.clone(), all);
        None
    }

    /// Why two revisions may not be launched: the build of `built` has written a program that the other one's command names, too. What it starts
    /// was installed beside it as likely as not, also where its own bytes are the same.
    fn installed_over(&self, plan: &Draft, built: &str) -> Option<String> {
        let [first, second] = &plan.comparison.as_ref()?.revisions[..] else { return None };
        let is_of_both = |path: &Path| {
            let of_it = self.named.get(built).into_iter().flatten();
            of_it.into_iter().any(|(_, launched)| launched.program.path == path)
        };
        let others = self.named.iter().filter(|(target, _)| *target != built).flat_map(|(_, all)| all);
        let over = others.map(|(_, launched)| launched).find(|it| is_of_both(&it.program.path) && it.is_rewritten());
        let path = over.filter(|_| first.content != second.content)?.program.path.display();
        Some(format!(
            "{path} was written by the builds of both revisions: what the last one installed would be launched for both. Each must be built into a \
             folder of its own; what is the same for both is installed once beforehand"
        ))
    }
}

/// What a program is recorded under that a command names.
fn key(target: &str, word: &str) -> String {
    format!("{target}: {word}")
}

fn another(path: &Path) -> String {
    format!(
        "{} is another program than the run began with: it was changed since, by itself or by somebody else; leave it as it is while it \
         is measured, and start a new run. Of two servers, each must be built into a folder of its own",
        path.display()
    )
}

/// Builds what the plan's cells need. A target that cannot be built is listed as absent with what is missing, and ends a comparison. `recorded` are
/// the digests of the programs that a run was begun with: it is resumed with no others.
pub fn prepare(
    plan: &Draft,
    recorded: &BTreeMap<String, String>,
    builder: &Builder,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Prepared {
    let mut prepared = Prepared::default();
    let needed: BTreeSet<(String, String)> =
        plan.cells.iter().map(|cell| (cell.levels.target().to_owned(), cell.runtime.clone())).collect();
    for (name, runtime) in needed {
        if plan.absent.iter().chain(&prepared.absent).any(|absent| absent.covers(&name, &runtime)) {
            continue;
        }
        let Some(target) = plan.target(&name).cloned() else { continue };
        let named_target = with_runtime(&name, &runtime);
        let mut on_start = || on_event(&Event::Building { target: named_target.clone() });
        let before = recorded.get(&named_target).map(String::as_str);
        match builder.build(&target, &target.runtime(&runtime), before, stop, &mut on_start) {
            Ok(built) => {
                prepared.built.insert(name.clone(), Timestamp::now());
                prepared.toolchains.extend(built.toolchain.map(|version| (named_target, version)));
                if let Some(program) = built.program {
                    prepared.programs.insert((name.clone(), runtime), program.into());
                }
                let why = prepared.name(&target, recorded, stop);
                if let Some(why) = why.or_else(|| prepared.installed_over(plan, &name)) {
                    prepared.prevented = Some(why);
                    return prepared;
                }
            }
            Err(BuildError::Interrupted { .. }) => {
                prepared.interrupted = true;
                return prepared;
            }
            Err(error @ (BuildError::Prevented { .. } | BuildError::Another { .. })) => {
                prepared.prevented = Some(error.to_string());
                return prepared;
            }
            Err(error) => {
                let (runtime, failed) = ((target.runtimes.len() > 1).then_some(runtime), !error.is_absence());
                let absent = AbsentTarget { name: name.clone(), runtime, reason: error.to_string(), failed };
                on_event(&Event::Absent { target: absent.label(), reason: absent.reason.clone() });
                prepared.absent.push(absent);
                // One server alone cannot be compared.
                if plan.comparison.is_some() {
                    return prepared;
                }
            }
        }
    }
    prepared
}

/// `go-net-http`, or `go-net-http@1.9` for another runtime than the one on PATH.
pub fn with_runtime(target: &str, runtime: &str) -> String {
    if runtime == CURRENT_RUNTIME { target.to_owned() } else { format!("{target}@{runtime}") }
}
