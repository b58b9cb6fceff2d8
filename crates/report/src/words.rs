//! Sentences about a run that the terminal and Markdown share.

use std::collections::BTreeMap;

use model::{
    Analysis, Cell, CellAnalysis, Certainty, Comparison, Environment, Finding, LateCause, Mark, MarkNote, Members,
    Pathology, SessionAnalysis, TrialCount, TrialStage, Unclassified, VoidTrial, alike,
};

use crate::asked_words;
use crate::asker::Asker;
use crate::conditions::Conditions;
use crate::cpu_words::{on_one, share};
use crate::format::{counted, duration_us, elapsed, measured, seconds, thousands};
use crate::mark_words::{arm_words, mark_meaning, note_words};
use crate::rank_words::several_tables;
use crate::rate_words;
use crate::reason_words::{reason_words, repeated_words, with_cure};
use crate::rotation_words;

/// A kebab-case id in words.
pub(crate) fn words(id: &str) -> String {
    id.replace('-', " ")
}

/// Why a request left late.
pub(crate) fn late_words(cause: LateCause) -> &'static str {
    match cause {
        LateCause::NoConnection => "no connection free",
        LateCause::Generator => "generator",
    }
}

/// What a distribution is of.
pub(crate) fn members_words(members: Members) -> &'static str {
    match members {
        Members::Due => "requests due in the window; those timed out, never sent or unfinished count with their age",
        Members::Begun => {
            "requests begun in the window; those timed out, never sent or unfinished count with their age"
        }
        Members::Sent => "requests sent for the window; those timed out or unfinished count with their age",
        Members::DueAndSent => "requests due in the window that were sent",
        Members::Completed => "requests of the window with a complete reply",
        Members::Connections => "connections opened, before the window too",
        Members::Handshakes => "TLS handshakes, before the window too",
    }
}

/// What the system says of an error number.
fn system_words(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// An error number of Linux in words, and its name where it is one that connections end with; empty for none.
pub fn errno(number: i32) -> String {
    let name = match number {
        0 => return String::new(),
        23 => "ENFILE",
        24 => "EMFILE",
        32 => "EPIPE",
        71 => "EPROTO",
        98 => "EADDRINUSE",
        99 => "EADDRNOTAVAIL",
        101 => "ENETUNREACH",
        103 => "ECONNABORTED",
        104 => "ECONNRESET",
        105 => "ENOBUFS",
        110 => "ETIMEDOUT",
        111 => "ECONNREFUSED",
        113 => "EHOSTUNREACH",
        _ => return format!("{}, errno {number}", system_words(number)),
    };
    format!("{}, {name} ({number})", system_words(number))
}

/// What a run is, in parts: the experiment, how often, on what, when, how long.
pub(crate) fn header(analysis: &Analysis) -> Vec<String> {
    let quick = if analysis.quick { " --quick" } else { "" };
    let launches = match analysis.blocks {
        0 => "no complete block".to_owned(),
        blocks => format!("{}, interleaved", counted(blocks.into(), "launch a cell", "launches a cell")),
    };
    let mut parts = match (analysis.of_loads, analysis.trials.total) {
        (true, ..=1) => vec![counted(analysis.trials.total.into(), "load", "loads")],
        (true, loads) => vec![format!("{loads} loads, taken as of one server: addresses are not saved")],
        (false, _) => vec![format!("{}{quick}", analysis.name), format!("{launches}, seed {}", analysis.seed)],
    };
    parts.extend(not_up(analysis.trials).into_iter().chain(set_aside(&analysis.session)));
    parts.extend(asked_words::load(analysis.cells.iter()));
    parts.push(machine(&analysis.environment));
    parts.extend(on_one(&analysis.session));
    parts.push(analysis.environment.started_at.date().to_string());
    parts.extend(analysis.elapsed_s.map(elapsed));
    parts.retain(|part| !part.is_empty());
    parts
}

/// `2 launches did not become ready`, where some did not: they are none of those that are counted beside it.
pub(crate) fn not_up(count: TrialCount) -> Option<String> {
    (count.not_up > 0).then(|| format!("{} did not become ready", counted(count.not_up.into(), "launch", "launches")))
}

/// `1 block set aside: the machine was busy`, where some were: their launches are none of those that are counted beside it.
pub(crate) fn set_aside(session: &SessionAnalysis) -> Option<String> {
    let blocks = session.repeated.len() as u64;
    (blocks > 0).then(|| format!("{} set aside: the machine was busy", counted(blocks, "block", "blocks")))
}

pub(crate) fn machine(environment: &Environment) -> String {
    let mut parts = vec![environment.cpu.clone()];
    if environment.cpus > 0 {
        parts.push(counted(environment.cpus.into(), "CPU", "CPUs"));
    }
    let release: Vec<&str> = environment.kernel.splitn(3, ['.', '-']).take(2).collect();
    if !environment.kernel.is_empty() {
        parts.push(format!("Linux {}", release.join(".")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// What the targets were built with or run by: `Toolchains: go version go1.26.8 linux/amd64 (go-gin, go-iris); …`.
pub(crate) fn toolchains(environment: &Environment) -> Option<String> {
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (target, version) in &environment.toolchains {
        users.entry(version).or_default().push(target);
    }
    let said: Vec<String> =
        users.iter().map(|(version, targets)| format!("{version} ({})", targets.join(", "))).collect();
    match users.first_key_value() {
        None => None,
        Some((only, _)) if users.len() == 1 => Some(format!("Toolchain: {only}")),
        Some(_) => Some(format!("Toolchains: {}", said.join("; "))),
    }
}

/// What holds for the whole run, a sentence each.
pub(crate) fn notes(analysis: &Analysis, conditions: &Conditions) -> Vec<String> {
    let once = [noise(analysis, conditions), repeated(analysis), more_blocks(&analysis.blocks_before, analysis.blocks)];
    let cpus = share(&analysis.session).filter(|_| has_launches(analysis));
    let windows = windows(&analysis.cells.iter().collect::<Vec<_>>());
    let first = [windows, launched_alike(analysis), cpus, toolchains(&analysis.environment)];
    let notes = first.into_iter().chain(once).flatten();
    let name = |cell: &CellAnalysis| {
        format!("{}{}", cell.levels.target(), bracketed(&conditions.title(&cell.levels.conditions())))
    };
    let named: Vec<(String, &CellAnalysis)> = analysis.cells.iter().map(|cell| (name(cell), cell)).collect();
    let waiting = rotation_words::waiting(&named);
    notes.chain(waiting).chain(several_tables(analysis)).chain(rate_words::relative(analysis, conditions)).collect()
}

/// How all launches were made, where they were made alike; else each table says it.
fn launched_alike(analysis: &Analysis) -> Option<String> {
    rotation_words::alike(&analysis.cells).filter(|_| has_launches(analysis))
}

/// Whether launches were made in different ways, so that each table says in which.
pub(crate) fn launched_differently(analysis: &Analysis) -> bool {
    has_launches(analysis) && rotation_words::alike(&analysis.cells).is_none()
}

/// Of saved loads nobody knows how their server was launched.
fn has_launches(analysis: &Analysis) -> bool {
    !analysis.of_loads && analysis.trials.total > 0
}

/// Whether no launch counts. Then there is nothing of which few would be known.
pub(crate) fn nothing_measured(analysis: &Analysis) -> bool {
    analysis.cells.iter().all(|cell| cell.throughput.estimate.is_none())
}

/// Said at the top when there are too few blocks.
pub(crate) fn preliminary(analysis: &Analysis) -> Option<String> {
    let blocks = match analysis.blocks {
        0 => "no complete block".to_owned(),
        blocks => counted(blocks.into(), "complete block", "complete blocks"),
    };
    let said = match analysis.unfinished {
        Some(asked) => {
            format!("Not finished: {blocks} of {asked}. These figures carry no verdict and no rank until it is.")
        }
        None if analysis.of_loads => {
            let loads = counted(analysis.blocks.into(), "load", "loads");
            format!("Preliminary: {loads}. An interval takes six, each with the server restarted.")
        }
        None => format!("Preliminary: {blocks}, a verdict needs six. These figures carry no verdict and no rank."),
    };
    (analysis.preliminary && !nothing_measured(analysis)).then_some(said)
}

/// `Looks serialised: go-iris-2016`, with the size where there is one.
pub(crate) fn finding_title(finding: &Finding) -> String {
    let verb = match finding.certainty {
        Certainty::ConsistentWith => "Looks",
    };
    let size = finding.value.as_ref().and_then(measured).map_or(String::new(), |size| format!(", {size}"));
    format!("{verb} {}: {}{size}", adjective(finding.pathology), finding.target)
}

fn adjective(pathology: Pathology) -> &'static str {
    match pathology {
        Pathology::SerialisedHandler => "serialised",
        Pathology::FixedWorkerPool => "limited by a fixed pool of workers",
    }
}

/// How sure it is, and how to be surer.
pub(crate) fn certainty(finding: &Finding) -> String {
    match finding.certainty {
        Certainty::ConsistentWith => {
            "its signature is consistent with it; no experiment here distinguishes it from a look-alike".to_owned()
        }
    }
}

/// The absent targets by reason, in order of first appearance: one missing toolchain is one thing to get.
pub(crate) fn absent(analysis: &Analysis) -> Vec<(Vec<String>, &str)> {
    let mut by_reason: Vec<(Vec<String>, &str)> = Vec::new();
    for target in &analysis.absent {
        match by_reason.iter_mut().find(|(_, reason)| *reason == target.reason) {
            Some((names, _)) => names.push(target.label()),
            None => by_reason.push((vec![target.label()], &target.reason)),
        }
    }
    by_reason
}

/// `1 of 36 trials is void`, and nothing when none is; `30 trials came up, 1 of them void; 2 did not become ready; 4 not
/// tried` where targets did not become ready.
pub(crate) fn void_title(analysis: &Analysis) -> Option<String> {
    let count = analysis.trials;
    (count.void > 0).then(|| not_all_up(count, "trial", "trials").unwrap_or_else(|| void_of(count, "trial", "trials")))
}

/// `2 of 42 trials are void`.
pub(crate) fn void_of(count: TrialCount, one: &str, many: &str) -> String {
    let is = if count.void == 1 { "is" } else { "are" };
    format!("{} of {} {is} void", thousands(count.void.into()), counted(count.total.into(), one, many))
}

/// What became of the trials where not every target came up.
pub(crate) fn not_all_up(count: TrialCount, one: &str, many: &str) -> Option<String> {
    let others = count.not_up + count.not_tried;
    let up = format!("{} came up", counted(count.up().into(), one, many));
    let void = match count.void.saturating_sub(others) {
        0 => String::new(),
        void => format!(", {} of them void", thousands(void.into())),
    };
    let not_up = format!("; {} did not become ready", thousands(count.not_up.into()));
    let not_tried = match count.not_tried {
        0 => String::new(),
        number => format!("; {} not tried", thousands(number.into())),
    };
    (others > 0).then(|| format!("{up}{void}{not_up}{not_tried}"))
}

/// A line for all void trials of a cell that have one cause, in the words of the first of them, and one for all that were not
/// made because their target had not started before. `conditions` says those of a cell.
pub(crate) fn void_trials(trials: &[VoidTrial], asker: Asker, conditions: impl Fn(&Cell) -> String) -> Vec<String> {
    let blocks = |trials: &[&VoidTrial]| numbered(&trials.iter().map(|trial| trial.block).collect::<Vec<_>>());
    void_trials_named(trials, asker, blocks, conditions)
}

/// The same, of trials that are known by other names than their blocks.
pub(crate) fn void_trials_named(
    trials: &[VoidTrial],
    asker: Asker,
    names: impl Fn(&[&VoidTrial]) -> String,
    conditions: impl Fn(&Cell) -> String,
) -> Vec<String> {
    let (not_tried, told): (Vec<_>, Vec<_>) =
        trials.iter().partition(|trial| trial.reason.code() == TrialStage::NotTried.into());
    let together = alike(told.iter().map(|trial| (trial.arm, trial.twin, &trial.levels, trial.reason.code().id())));
    let line = |places: Vec<usize>| {
        let alike: Vec<&VoidTrial> = places.iter().map(|place| told[*place]).collect();
        let trial = told[places[0]];
        let differ = alike.iter().any(|other| reason_words(&other.reason) != reason_words(&trial.reason));
        let of = if differ { format!("in {}: ", names(&[trial])) } else { String::new() };
        let place = format!("{}, {}{}", names(&alike), place_of(trial), bracketed(&conditions(&trial.levels)));
        void_trial(&place, (trial, &of), asker)
    };
    let mut said: Vec<String> = together.into_iter().map(line).collect();
    if !not_tried.is_empty() {
        let more = counted(not_tried.len() as u64, "more was not launched: its", "more were not launched: their");
        said.push(format!("{more} target had not started"));
    }
    said
}

/// `block 3, go-gin (10 ms handler delay, 100 connections): 12 of 9,180 replies are wrong`.
/// `of` says which of several the words are of.
fn void_trial(place: &str, (trial, of): (&VoidTrial, &str), asker: Asker) -> String {
    let noise = if trial.twin { ", launched again for the noise" } else { "" };
    let reason = &trial.reason;
    format!("{place}{noise}: {}: {of}{}", words(reason.code().id()), with_cure(reason, asker))
}

fn place_of(trial: &VoidTrial) -> String {
    let arm = trial.arm.map_or(String::new(), |arm| format!("{}, ", arm_words(arm)));
    format!("{arm}{}", trial.levels.target())
}

/// `block 3`, `blocks 1 to 4, 7 and 9`; each is told once.
fn numbered(blocks: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for block in blocks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *block => *last = *block,
            _ => ranges.push((*block, *block)),
        }
    }
    let range = |(first, last): &(u32, u32)| match last - first {
        0 => vec![first.to_string()],
        1 => vec![first.to_string(), last.to_string()],
        _ => vec![format!("{first} to {last}")],
    };
    let parts: Vec<String> = ranges.iter().flat_map(range).collect();
    format!("{} {}", if blocks.len() == 1 { "block" } else { "blocks" }, listed(&parts))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn either(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => listed(names),
    }
}

/// `Noise, from launching go-gin twice in each block and comparing it with itself (no handler delay): throughput
/// 1.004 (0.981 to 1.028), p99 …`.
fn noise(analysis: &Analysis, conditions: &Conditions) -> Option<String> {
    let first = analysis.session.itself.first()?;
    let ratio = |c: &Comparison| Some(format!("{} {}", c.metric.words(), measured(&c.ratio)?));
    let ratios: Vec<String> = analysis.session.itself.iter().filter_map(ratio).collect();
    let place = bracketed(&conditions.title(&first.conditions));
    Some(format!(
        "Noise, from launching {} twice in each block and comparing it with itself{place}: {}",
        first.a,
        ratios.join(", ")
    ))
}

/// ` (text)`, or nothing.
pub(crate) fn bracketed(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

/// How long each launch was loaded, and that this is too short to tell a warm-up from noise or to see a leak, where it is:
/// `Each launch: 300 ms of warm-up, then 1 s to 5 s measured, too short to say how steady it was and whether memory grew (10 s at least)`.
pub(crate) fn windows(cells: &[&CellAnalysis]) -> Option<String> {
    let range = |length: fn(&CellAnalysis) -> f64| {
        let lengths = || cells.iter().copied().map(length);
        let (least, most) = (lengths().reduce(f64::min)?, lengths().reduce(f64::max)?);
        let (least, most) = (seconds(least), seconds(most));
        Some(if least == most { least } else { format!("{least} to {most}") })
    };
    let measured = || cells.iter().filter(|cell| cell.trials > 0);
    // What is said of all launches must hold of each, and a gap in one is more than that another was short.
    let why: Option<Vec<Unclassified>> = measured().map(|cell| cell.remarks.unclassified).collect();
    let is_gap = |why: &Unclassified| *why == Unclassified::Gaps;
    let why = why.and_then(|all| all.iter().copied().find(is_gap).or(all.first().copied()));
    let unclassified = match why {
        None => String::new(),
        Some(Unclassified::Gaps) => {
            ", with seconds that had no right reply: how steady it was cannot be said".to_owned()
        }
        Some(Unclassified::FewSlices { slices, least }) => {
            format!(" in {slices} slices, too few to say how steady it was and whether memory grew ({least} at least)")
        }
        Some(Unclassified::TooShort { least_s }) => {
            format!(", too short to say how steady it was and whether memory grew ({} at least)", seconds(least_s))
        }
    };
    let (warm_up, window) = (range(|cell| cell.warm_up_s)?, range(|cell| cell.window_s)?);
    Some(format!("Each launch: {warm_up} of warm-up, then {window} measured{unclassified}"))
}

/// `2 blocks set aside because the machine was busy: b02-c03: …; …`.
fn repeated(analysis: &Analysis) -> Option<String> {
    let blocks = &analysis.session.repeated;
    let why: Vec<String> = blocks.iter().map(repeated_words).collect();
    let number = counted(blocks.len() as u64, "block", "blocks");
    (!blocks.is_empty()).then(|| format!("{number} set aside because the machine was busy: {}", why.join("; ")))
}

/// `More blocks asked for after these had been seen: 6 at first; 14 now`.
pub(crate) fn more_blocks(before: &[u32], now: u32) -> Option<String> {
    let (first, later) = before.split_first()?;
    let later = later.iter().map(|blocks| format!(", then {blocks}")).collect::<String>();
    Some(format!("More blocks asked for after these had been seen: {first} at first{later}; {now} now"))
}

/// What a reader must know of the whole session, one line each: `Drift (…): …`.
pub(crate) fn session_marks(analysis: &Analysis) -> Vec<String> {
    let line = |note: &MarkNote| {
        let name = words(note.mark().id());
        let (first, rest) = name.split_at(1);
        let meaning = match note.mark() {
            Mark::Noisy => "a target differs from itself: differences between targets of that size mean nothing",
            mark => mark_meaning(mark),
        };
        format!("{}{rest} ({meaning}): {}", first.to_uppercase(), note_words(note))
    };
    analysis.session.marks.iter().map(line).collect()
}

/// A figure, `≥` before it where it is at least that.
pub(crate) fn at_least(is_bound: bool, shown: String) -> String {
    if is_bound { format!("≥ {shown}") } else { shown }
}

/// A latency, `≥` before it when it is only a lower bound.
pub(crate) fn latency(us: f64, bound: bool) -> String {
    at_least(bound, duration_us(us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_have_names() {
        assert_eq!(
            (errno(104).as_str(), errno(7).as_str(), errno(0).as_str()),
            ("connection reset by peer, ECONNRESET (104)", "argument list too long, errno 7", "")
        );
    }
}
