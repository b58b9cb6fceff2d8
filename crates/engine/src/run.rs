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
