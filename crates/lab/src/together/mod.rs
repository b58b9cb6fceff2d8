//! Launches that are alive together, while the load goes round among them in slices.

mod member;
mod round;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{LoadError, Passed, RunOptions, Sliced};
use jiff::Timestamp;
use model::{LoadSpec, Plan, TrialSpec, Turn, WhyFailed};
use reaper::MORE_PROCESSES;

use member::Member;
use round::Round;

use crate::error::LabError;
use crate::hint;
use crate::launch::Unlaunched;
use crate::printed::tail;
use crate::trial::{LaunchEvent, TrialOutput, TrialTools, cell_of, given_up, launch, load_spec};

/// One launch of those that are to live together.
pub(crate) struct Launching {
    pub(crate) spec: TrialSpec,
    /// Where its target's output goes.
    pub(crate) output: PathBuf,
    /// Why its target is not launched again, where an earlier launch of it came to nothing.
    pub(crate) barred: Option<WhyFailed>,
}

/// Launches the targets of some trials one after the other, and takes the turns while all of them are alive. None when it was
/// stopped before the last turn's end: then nothing of it is worth keeping.
///
/// What does not start, or dies, is a failure of its own trial: the others take their turns without it.
///
/// # Errors
/// When what bourdon itself needs is missing, or a load is to be delayed on its way: its connections lead through who delays it,
/// who has one server alone. Nothing of it is kept then either.
pub(crate) fn run_together(
    plan: &Plan,
    launches: &[Launching],
    (turns, rest): (&[Turn], Duration),
    tools: TrialTools<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(LaunchEvent<'_>),
) -> Result<Option<Vec<TrialOutput>>, LabError> {
    let delayed = |launching: &&Launching| cell_of(plan, &launching.spec).load.network_delay_ns > 0;
    if let Some(delayed) = launches.iter().find(delayed) {
        let target = cell_of(plan, &delayed.spec).levels.target().to_owned();
        return Err(LabError::Prevented { target, text: "a load with a network delay cannot rotate".to_owned() });
    }
    let (mut made, mut members) = (Vec::new(), Vec::new());
    for (place, launching) in launches.iter().enumerate() {
        let Some((trial, member)) = start(plan, (place, launching), &made, tools, (stop, tell))? else {
            return Ok(None);
        };
        members.extend(member);
        made.push(trial);
    }
    if !members.is_empty() && !rotate(plan, members, (turns, rest), tools, (stop, tell), &mut made)? {
        return Ok(None);
    }
    let up: Vec<bool> = made.iter().map(|trial| trial.record.is_up()).collect();
    for (place, trial) in made.iter_mut().enumerate() {
        let beside = |all: &[bool]| all.iter().filter(|is_up| **is_up).count() as u32;
        let (before, all) = (beside(&up[..place]), beside(&up) - u32::from(up[place]));
        trial.record.failure.iter_mut().for_each(|failure| hint::beside(&mut failure.why, before, all));
    }
    let ended_at = Some(Timestamp::now());
    for (trial, launching) in made.iter_mut().zip(launches) {
        trial.record.ended_at = ended_at;
        if let Some(failure) = trial.record.failure.as_mut().filter(|failure| failure.output.is_empty()) {
            failure.output = tail(&launching.output);
        }
    }
    Ok(Some(made))
}

/// Launches one target, after those of which `made` tells; none when it was stopped.
fn start<'a>(
    plan: &'a Plan,
    (place, launching): (usize, &Launching),
    made: &[TrialOutput],
    tools: TrialTools<'_>,
    (stop, tell): (&AtomicBool, &mut dyn FnMut(LaunchEvent<'_>)),
) -> Result<Option<(TrialOutput, Option<Member<'a>>)>, LabError> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let (spec, cell) = (&launching.spec, cell_of(plan, &launching.spec));
    let target = cell.levels.target();
    tell(LaunchEvent::Trial(*spec));
    let mut trial = TrialOutput::empty(plan, spec);
    // Its twin may have come to nothing a moment ago.
    let unready = |trial: &TrialOutput| trial.record.levels.target() == target && !trial.record.is_up();
    let why = |trial: &TrialOutput| trial.record.failure.as_ref().map(|failure| failure.why.clone());
    if let Some(why) = launching.barred.clone().or_else(|| made.iter().find(|trial| unready(trial)).and_then(why)) {
        trial.record = given_up(trial.record, &why);
        return Ok(Some((trial, None)));
    }
    let mut waiting = |seen| tell(LaunchEvent::Waiting(target, seen));
    match launch(plan, cell, tools, &launching.output, stop, &mut waiting) {
        // What has a backend does not go round.
        Ok((running, _)) => {
            trial.record.time_to_ready_ms = running.time_to_ready_ms();
            Ok(Some((trial, Some(Member::new(plan, *spec, place, running)))))
        }
        Err(Unlaunched::Interrupted) => Ok(None),
        Err(_) if stop.load(Ordering::Relaxed) => Ok(None),
        Err(Unlaunched::Prevented(text)) => Err(LabError::Prevented { target: target.to_owned(), text }),
        Err(Unlaunched::Failed(failure)) => {
            trial.record.failure = Some(failure);
            Ok(Some((trial, None)))
        }
    }
}

/// Takes the turns, ends all that runs, and keeps what came of it; false when it was stopped before it was whole.
fn rotate(
    plan: &Plan,
    members: Vec<Member<'_>>,
    (turns, rest): (&[Turn], Duration),
    tools: TrialTools<'_>,
    (stop, tell): (&AtomicBool, &mut dyn FnMut(LaunchEvent<'_>)),
    made: &mut [TrialOutput],
) -> Result<bool, LabError> {
    let lead_in_ns = turns.iter().filter(|turn| turn.round > 0).map(|turn| turn.lead_in_ns).min().unwrap_or(0);
    // The starts are spread anew in each slice: so at first, then over what replies took.
    let load = |member: &Member<'_>| load_spec(plan, &member.spec, &*member.running, lead_in_ns);
    let loads: Vec<LoadSpec> = members.iter().map(load).collect();
    let options = RunOptions { histograms: true, ..RunOptions::default() };
    let round = RefCell::new(Round::new(members, turns, (rest, stop), tell));
    let (mut next, mut progress) = (
        |sliced: Option<Sliced>| round.borrow_mut().edge(sliced.as_ref()),
        |passed: &Passed| round.borrow_mut().passed(passed),
    );
    let rotated = (tools.rotate)(&loads, options, stop, &mut next, &mut progress);
    let (mut members, is_over, tell) = round.into_inner().end();
    members.iter_mut().for_each(Member::ask_to_stop);
    let (outputs, failed) = match rotated {
        Ok(outputs) => (outputs, None),
        Err(error @ LoadError::Thread(_)) => (Vec::new(), Some(format!("{error}; {MORE_PROCESSES}"))),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let is_whole = is_over && !outputs.iter().flatten().any(|output| output.measurement.interrupted);
    let target = members.first().map_or("", |member| member.cell.levels.target()).to_owned();
    let mut outputs = outputs.into_iter();
    for member in members {
        let (place, output) = (member.place, outputs.next().flatten());
        let name = member.cell.levels.target();
        if let Some(folder) = member.end(plan, output, &mut made[place]) {
            tell(LaunchEvent::Left(name, &folder));
        }
    }
    match failed {
        _ if stop.load(Ordering::Relaxed) => Ok(failed.is_none() && is_whole),
        Some(text) => Err(LabError::Prevented { target, text }),
        None => Ok(true),
    }
}
