//! One load: a session of one server and one turn.

use std::slice::from_ref;
use std::sync::atomic::AtomicBool;

use model::LoadSpec;

use crate::collector::Passed;
use crate::demand::DRAIN_NS;
use crate::http1::Http1;
use crate::output::{Brought, LoadOutput};
use crate::protocol::Protocol;
use crate::session::{LoadError, RunOptions, session};

/// Makes the load that `spec` describes and measures it. Setting `stop` ends it early; what was measured is kept.
/// `progress` is called once for each second that has passed, and for the time after the window.
///
/// # Errors
/// When the generator itself cannot run; whatever the server does is a result.
pub fn run(
    spec: &LoadSpec,
    options: RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    bring(spec, options, stop, progress).map(Brought::conclude)
}

/// The same, still to be put together with what others brought who made a part of the same load.
///
/// # Errors
/// As [`run`].
pub fn bring(
    spec: &LoadSpec,
    options: RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Brought, LoadError> {
    bring_speaking(Http1::new, spec, options, stop, progress)
}

/// Makes a load of any protocol; `speak` gives what a thread speaks.
pub(crate) fn run_speaking<'a, P: Protocol>(
    speak: fn(&'a LoadSpec, u32) -> P,
    spec: &'a LoadSpec,
    options: RunOptions,
    stop: &'a AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    bring_speaking(speak, spec, options, stop, progress).map(Brought::conclude)
}

/// Makes one generator's share of a load that several make: opens its connections, and asks `begin` when all of them begin, on the engine's clock;
/// none of it where that says nothing.
///
/// # Errors
/// As [`run`], and when that time has passed.
pub fn bring_share(
    spec: &LoadSpec,
    options: RunOptions,
    stop: &AtomicBool,
    begin: &mut dyn FnMut() -> Option<u64>,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Option<Brought>, LoadError> {
    session(Http1::new, from_ref(spec), options, stop, |session| {
        session.begin_ns = begin();
        let made = session.begin_ns.map(|_| session.load(0, spec, (DRAIN_NS, spec.step_s()), progress));
        Ok(made.transpose()?.map(|home| home.brought))
    })
}

fn bring_speaking<'a, P: Protocol>(
    speak: fn(&'a LoadSpec, u32) -> P,
    spec: &'a LoadSpec,
    options: RunOptions,
    stop: &'a AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Brought, LoadError> {
    session(speak, from_ref(spec), options, stop, |session| {
        Ok(session.load(0, spec, (DRAIN_NS, spec.step_s()), progress)?.brought)
    })
}

#[cfg(test)]
mod tests;
