//! One load: a session of one server and one turn.

use std::slice::from_ref;
use std::sync::atomic::AtomicBool;

use model::LoadSpec;

use crate::collector::{Listener, Passed, Stopped};
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

/// Who is told of a share while it is made: of each second that has passed, and of what it would have brought after so many of the window.
pub type ToldOfShare<'t> = (&'t mut dyn FnMut(&Passed), &'t mut dyn FnMut(u64, Brought));

/// Makes one generator's share of a load that several make: opens its connections, and asks `begin` when all of them begin, on the engine's clock;
/// none of it where that says nothing. `stopped` is told after each second of the window, of which so many have passed, what the share would have
/// brought, had it been stopped then.
///
/// # Errors
/// As [`run`], and when that time has passed.
pub fn bring_share(
    spec: &LoadSpec,
    options: RunOptions,
    stop: &AtomicBool,
    begin: &mut dyn FnMut() -> Option<u64>,
    (progress, stopped): ToldOfShare<'_>,
) -> Result<Option<Brought>, LoadError> {
    session(Http1::new, from_ref(spec), options, stop, |session| {
        session.begin_ns = begin();
        if session.begin_ns.is_none() {
            return Ok(None);
        }
        let mut stopped = |told: Stopped| stopped(told.seconds, Brought::stopped(told));
        let listener = Listener { second: progress, stopped: Some(&mut stopped) };
        Ok(Some(session.load(0, spec, (DRAIN_NS, spec.step_s()), listener)?.brought))
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
        Ok(session.load(0, spec, (DRAIN_NS, spec.step_s()), Listener::of(progress))?.brought)
    })
}

#[cfg(test)]
mod tests;
