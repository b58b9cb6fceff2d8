use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use model::{AbsentTarget, Event, Plan};

use crate::build::{BuildError, Builder, toolchain};

/// The targets of a plan, built.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    binaries: BTreeMap<(String, String), PathBuf>,
    /// Targets that have a toolchain here and still could not be built.
    pub failed: Vec<AbsentTarget>,
    /// Whether it was stopped before every target was built.
    pub interrupted: bool,
}

impl Prepared {
    /// The built file of a target with one of its runtimes.
    pub fn binary(&self, target: &str, runtime: &str) -> Option<&PathBuf> {
        self.binaries.get(&(target.to_owned(), runtime.to_owned()))
    }
}

/// Builds what the plan's cells need. A target that cannot be built leaves the plan, its cells with it, and is
/// listed as absent with what is missing.
pub fn prepare(plan: &mut Plan, builder: &Builder, stop: &AtomicBool, on_event: &mut dyn FnMut(Event<'_>)) -> Prepared {
    let mut prepared = Prepared::default();
    let needed: BTreeSet<(String, String)> =
        plan.cells.iter().map(|cell| (cell.levels.target().to_owned(), cell.runtime.clone())).collect();
    for (name, runtime) in needed {
        if plan.absent.iter().any(|absent| absent.name == name) {
            continue;
        }
        let Some(target) = plan.target(&name).cloned() else { continue };
        let environment = target.runtimes.get(&runtime).cloned().unwrap_or_default();
        if target.build.is_some() {
            on_event(Event::Building { target: &name });
        }
        match builder.build(&target, &environment, stop) {
            Ok(built) => {
                on_event(Event::Built { target: &name, cached: built.cached });
                if let Some(binary) = built.binary {
                    prepared.binaries.insert((name, runtime), binary);
                }
            }
            Err(BuildError::Interrupted { .. }) => {
                prepared.interrupted = true;
                return prepared;
            }
            Err(error) => {
                let absent = AbsentTarget { name: name.clone(), reason: error.to_string() };
                on_event(Event::Absent { target: &name, reason: &absent.reason });
                if !matches!(error, BuildError::NoToolchain { .. }) {
                    prepared.failed.push(absent.clone());
                }
                plan.absent.push(absent);
            }
        }
    }
    let absent: BTreeSet<&str> = plan.absent.iter().map(|absent| absent.name.as_str()).collect();
    plan.cells.retain(|cell| !absent.contains(cell.levels.target()));
    prepared
}

/// What each target's toolchain says of its version, by target; those that need none are missing.
pub fn toolchain_versions(plan: &Plan) -> BTreeMap<String, String> {
    let version = |target: &model::Target| toolchain(target).ok().flatten();
    plan.targets.iter().filter_map(|target| Some((target.name.clone(), version(target)?))).collect()
}
