//! A soak in sentences: whether the server stays as it is, what grows, which rules were broken.

use model::{
    Grower, HeapCountedBy, Kept, KeptTrend, LatencyCourse, Measured, RuleResult, Ruled, Soak, SoakCycle, SoakEnd,
    SoakPart, TrendVerdict, TrialRecord, Unit, WhyMayGrow, counted,
};

use crate::format::{bytes, decimals, duration_us, elapsed, measured, number, percent, seconds, thousands};
use crate::launch_words::failed_words;
use crate::page::Tint;
use crate::words::listed;

/// Seconds of a minute, in which growth with time is told: pauses last minutes.
const MINUTE_S: f64 = 60.0;

/// The answer in a sentence or several.
pub(crate) fn answer(soak: &Soak) -> (Tint, String) {
    if soak.ended == SoakEnd::NothingMeasured {
        return (Tint::Unsure, "Nothing could be measured, so nothing can be said.".to_owned());
    }
    let wrong = wrong(soak);
    if !wrong.is_empty() {
        return (Tint::Bad, wrong.join(" "));
    }
    let may: Vec<String> = of_verdict(soak, TrendVerdict::MayGrow).map(title).collect();
    if !may.is_empty() {
        return (Tint::Unsure, format!("Nothing is certain. {}", may.join(" ")));
    }
    let (the, unfinished) = if soak.ended == SoakEnd::Unfinished { ("the", "So far ") } else { ("The", "") };
    let known = soak.trends.iter().any(|trend| trend.verdict != TrendVerdict::TooShort);
    if !known {
        return (Tint::Unsure, "It was too short to tell whether anything grows.".to_owned());
    }
    let memory = [Kept::Heap, Kept::Memory];
    let open: Vec<String> =
        of_verdict(soak, TrendVerdict::TooShort).filter(|trend| memory.contains(&trend.of)).map(title).collect();
    if !open.is_empty() {
        return (Tint::Unsure, format!("Nothing else grows, but memory is open. {}", open.join(" ")));
    }
    let tint = if soak.ended == SoakEnd::Complete { Tint::Good } else { Tint::Unsure };
    let seen = least_visible(soak).map_or(String::new(), |seen| format!(" {seen}"));
    (tint, format!("{unfinished}{the} server stays as it is: nothing grows with requests or with time.{seen}"))
}

/// How small a leak would have been seen.
fn least_visible(soak: &Soak) -> Option<String> {
    let visible = |of: Kept| soak.trends.iter().find(|trend| trend.of == of).and_then(|trend| trend.visible_from);
    let (least, of) = match (visible(Kept::Heap), visible(Kept::Memory)) {
        (Some(least), _) => (least, "on the heap that is counted "),
        (None, Some(least)) => (least, ""),
        (None, None) => return None,
    };
    Some(format!("A leak of {} a request {of}would have been seen.", bytes(least)))
}

/// What is certainly wrong, each as a sentence. Of a heap that grows memory is not told, for it is the same.
fn wrong(soak: &Soak) -> Vec<String> {
    let died = soak.died.as_ref().map(|died| {
        format!(
            "The server ended after {}: {}.",
            counted(died.cycles, "whole cycle", "whole cycles"),
            failed_words(&died.why)
        )
    });
    let certain = [TrendVerdict::Grows, TrendVerdict::GrowsWithTime];
    let is_certain = |trend: &&KeptTrend| certain.contains(&trend.verdict);
    let heap = soak.trends.iter().any(|trend| trend.of == Kept::Heap && is_certain(&trend));
    let grows =
        soak.trends.iter().filter(is_certain).filter(|trend| !(heap && trend.of == Kept::Memory)).map(|trend| {
            let most = soak.growers.first().filter(|_| trend.of == Kept::Heap);
            let most = most.map_or(String::new(), |most| format!(" The largest part is {}.", grower(most)));
            format!("{}{most}{}", title(trend), larger(soak, trend))
        });
    let slower = soak.latencies.iter().filter(|course| course.is_slower()).map(latency);
    let broken = soak.rules.iter().filter(|result| !result.broken.is_empty()).map(rule);
    died.into_iter().chain(grows).chain(slower).chain(broken).collect()
}

/// What else would look like what is kept of each request.
fn larger(soak: &Soak, trend: &KeptTrend) -> String {
    let requests = soak.cycles.last().map_or(0, |cycle| cycle.requests);
    match trend.verdict {
        TrendVerdict::Grows => {
            format!(
                " A cache or a pool that takes more than {} to fill would look the same, and so would what is kept for longer than this soak \
                 lasted.",
                counted(requests, "request", "requests")
            )
        }
        TrendVerdict::GrowsWithTime => " What fills with time and is not full yet would look the same.".to_owned(),
        _ => String::new(),
    }
}

fn of_verdict(soak: &Soak, verdict: TrendVerdict) -> impl Iterator<Item = &KeptTrend> {
    soak.trends.iter().filter(move |trend| trend.verdict == verdict)
}

/// What is said of something that may grow, as a sentence.
pub(crate) fn title(trend: &KeptTrend) -> String {
    let what = what(trend);
    match trend.verdict {
        TrendVerdict::Grows => match trend.of {
            Kept::Heap => format!("The server keeps {} of each request on its heap.", each(trend)),
            Kept::Memory => format!("The server keeps {} of memory of each request.", each(trend)),
            Kept::Unclosed => format!("Of each request {} connections stay unclosed.", each(trend)),
            _ => format!("The server keeps {} {what} of each request.", each(trend)),
        },
        TrendVerdict::GrowsWithTime => {
            let each = trend.idle_per_s.map_or(0.0, |per_s| per_s * MINUTE_S);
            format!(
                "{} {} by {} a minute, whether the server is asked or not.",
                begun(&what),
                grow(trend),
                amount(trend.of, each)
            )
        }
        TrendVerdict::MayGrow => {
            let why = trend.why.map_or("", why_words);
            format!("{} grew by {} a request, and {why}.", begun(&what), each(trend))
        }
        TrendVerdict::LevelledOff => {
            let (first, last) = (amount(trend.of, trend.first), amount(trend.of, trend.last));
            let by = if trend.last > trend.first { format!(", from {first} to {last},") } else { String::new() };
            format!("{} grew at first{by} and came to rest{}.", begun(&what), seen(trend))
        }
        TrendVerdict::Steady => format!("{} {} not grow{}.", begun(&what), does(trend), seen(trend)),
        TrendVerdict::TooShort => format!("{}: too few cycles to tell.", begun(&what)),
    }
}

fn seen(trend: &KeptTrend) -> String {
    let visible = |least: f64| match trend.of {
        Kept::Heap | Kept::Memory => format!("{} a request", bytes(least)),
        _ => format!("one in {} requests", thousands((1.0 / least).floor().max(1.0) as u64)),
    };
    trend
        .visible_from
        .filter(|least| *least > 0.0)
        .map_or(String::new(), |least| format!(" ({} would have been seen)", visible(least)))
}

fn is_one(of: Kept) -> bool {
    matches!(of, Kept::Heap | Kept::Memory)
}

fn does(trend: &KeptTrend) -> &'static str {
    if is_one(trend.of) { "does" } else { "do" }
}

fn grow(trend: &KeptTrend) -> &'static str {
    if is_one(trend.of) { "grows" } else { "grow" }
}

/// What may grow, for people.
fn what(trend: &KeptTrend) -> String {
    match (trend.of, trend.by) {
        (Kept::Heap, Some(HeapCountedBy::Jvm)) => "the heap of the JVM after a collection",
        (Kept::Heap, _) => "the heap after a collection",
        (Kept::Memory, _) => "the memory",
        (Kept::Threads, _) => "threads",
        (Kept::Processes, _) => "processes",
        (Kept::Files, _) => "open files and sockets",
        (Kept::Unclosed, _) => "connections that clients closed and the server did not",
    }
    .to_owned()
}

/// The same as the begin of a sentence.
fn begun(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn why_words(why: WhyMayGrow) -> &'static str {
    match why {
        WhyMayGrow::NotAgain => "it ended before the server was left alone and loaded again, which would prove it",
        WhyMayGrow::Slowing => "ever more slowly: what fills does that; a longer soak would tell",
        WhyMayGrow::GrewInThePause => {
            "a little in the pause, too: with requests or with time, a longer soak would tell"
        }
        WhyMayGrow::HeapUnknown => {
            "nobody counts what is alive on its heap, which may be collected later (jcmd, beside its java, would)"
        }
        WhyMayGrow::HeapSteady => {
            "what is alive on the heap that is counted did not: it is the collector's, the system's, or memory outside of that heap"
        }
        WhyMayGrow::Small => "by little of what it had; a longer soak would tell",
        WhyMayGrow::OnlyAgain => {
            "in the second load alone: what is kept of requests would have been kept of the first ones, too; a longer soak would tell"
        }
        WhyMayGrow::TakenAgain => {
            "had been given back in the pause: what fills, and is emptied, does that; a longer soak would tell"
        }
        WhyMayGrow::Scattered => "cycles are too unlike to say whether that goes on; a longer soak would tell",
    }
}

fn each(trend: &KeptTrend) -> String {
    trend.per_request.as_ref().map_or_else(String::new, |each| value(trend.of, each))
}

fn value(of: Kept, each: &Measured) -> String {
    let unit = if is_one(of) { Unit::Bytes } else { Unit::None };
    measured(&Measured { unit, ..each.clone() }).unwrap_or_default()
}

fn amount(of: Kept, value: f64) -> String {
    if is_one(of) { bytes(value) } else { count(value) }
}

/// A class or a function of which a heap has more.
pub(crate) fn grower(grower: &Grower) -> String {
    let share = percent(grower.share.min(1.0));
    let within = |objects: f64| format!(" in {}", counted(objects.max(0.0) as u64, "object", "objects"));
    let objects = grower.objects.map_or(String::new(), within);
    format!("{}: {} more{objects}, {share} of the growth", grower.name, bytes(grower.bytes))
}

/// How long replies took at first and at last.
pub(crate) fn latency(course: &LatencyCourse) -> String {
    let ratio = measured(&course.ratio).unwrap_or_default();
    let (first, last) = (duration_us(course.first_us), duration_us(course.last_us));
    let words = course.metric.words();
    let said = if course.is_slower() { "Replies became slower" } else { "Replies did not become slower" };
    let certain = course.is_slower() || course.ratio.high.is_some_and(|high| high < model::SOAK_SLOWER);
    let said = if certain { said } else { "Whether replies became slower is open" };
    format!("{said}: {words} {first} in the first part and {last} in the second, {ratio} times.")
}

/// How a rule was kept.
pub(crate) fn rule(result: &RuleResult) -> String {
    let (of, most) = (ruled(result.rule.of), ruled_value(result.rule.of, result.rule.most));
    let Some(worst) = result.worst else { return format!("{of}: not seen here.") };
    let worst = ruled_value(result.rule.of, worst);
    match result.broken.as_slice() {
        [] if result.worst.is_some_and(|worst| worst > result.rule.most) => {
            format!(
                "{of}: {worst} at most, of too few requests to say that this is more than the {most} that are allowed."
            )
        }
        [] => format!("{of}: {worst} at most, and {most} are allowed."),
        [first, rest @ ..] => {
            let whole_s: f64 = result.broken.iter().map(|spell| spell.to_s - spell.from_s).sum();
            let times = if rest.is_empty() { String::new() } else { format!(" in {} spells", rest.len() + 1) };
            format!(
                "{of}: up to {worst}, where {most} are allowed, for {}{times}, first after {}.",
                elapsed(whole_s),
                elapsed(first.from_s)
            )
        }
    }
}

fn ruled(of: Ruled) -> &'static str {
    match of {
        Ruled::Failed => "Failed requests",
        Ruled::Established => "Established connections",
        Ruled::AcceptQueue => "Connections that wait to be accepted",
        Ruled::Cpu => "CPU of what the server may use",
        Ruled::YoungCollections => "Collections of young objects a minute",
        Ruled::FullCollections => "Collections of all objects in an hour",
        Ruled::FullCollectionTime => "Time of a collection of all objects",
    }
}

fn ruled_value(of: Ruled, value: f64) -> String {
    match of {
        Ruled::Failed | Ruled::Cpu => percent(value),
        Ruled::FullCollectionTime => seconds(value),
        _ => count(value),
    }
}

/// A number of things: whole where it is.
fn count(value: f64) -> String {
    if value.fract() == 0.0 { thousands(value.max(0.0) as u64) } else { number(value) }
}

/// Why it ended.
pub(crate) fn end_words(end: SoakEnd) -> &'static str {
    match end {
        SoakEnd::Complete => "the time is over",
        SoakEnd::Unfinished => "interrupted",
        SoakEnd::Died => "the server ended",
        SoakEnd::NothingMeasured => "nothing was measured",
    }
}

/// What was sent, for how long, and why it ended.
pub(crate) fn header(soak: &Soak) -> Vec<String> {
    let requests = soak.cycles.last().map_or(0, |cycle| cycle.requests);
    let rate = soak.rate_per_s.map(|rate| match soak.most_per_s {
        Some(most) => format!("{} requests/s of the {} that it serves", number(rate), number(most)),
        None => format!("{} requests/s", number(rate)),
    });
    let parts = [
        rate,
        Some(counted(requests, "request", "requests")),
        Some(counted(soak.cycles.len() as u64, "cycle", "cycles")),
        soak.elapsed_s.map(elapsed),
        Some(end_words(soak.ended).to_owned()),
    ];
    parts.into_iter().flatten().collect()
}

/// The last words of a server that ended.
pub(crate) fn last_words(soak: &Soak) -> Option<&str> {
    soak.died.as_ref().map(|died| died.printed.as_str()).filter(|printed| !printed.is_empty())
}

/// What grows, what else is known of it, how replies and rules went: the sections of every page, each with its title.
pub(crate) fn sections(soak: &Soak) -> Vec<(&'static str, Vec<String>)> {
    let all = [
        ("What may grow", soak.trends.iter().map(title).collect::<Vec<_>>()),
        ("What the heap has more of", soak.growers.iter().map(grower).collect()),
        ("Latencies", soak.latencies.iter().map(latency).collect()),
        ("Rules", soak.rules.iter().filter(|result| result.worst.is_some()).map(rule).collect()),
        ("Not seen here", unseen(soak).into_iter().collect()),
        ("Note", idle_maximum(soak).into_iter().collect()),
    ];
    all.into_iter().filter(|(_, said)| !said.is_empty()).collect()
}

/// CPUs below which the most that a server serves is not by its CPU.
const IDLE_CPUS: f64 = 0.5;

fn idle_maximum(soak: &Soak) -> Option<String> {
    let (most, used) = soak.most_per_s.zip(soak.most_cpus_used).filter(|(_, used)| *used < IDLE_CPUS)?;
    Some(format!(
        "The {} requests/s that it serves at most took {} of a CPU: something else limits it, which `bourdon diagnose` looks for. -R sets another rate.",
        number(most),
        decimals(used, 2)
    ))
}

fn unseen(soak: &Soak) -> Option<String> {
    let rules =
        soak.rules.iter().filter(|result| result.worst.is_none()).map(|result| ruled(result.rule.of).to_lowercase());
    let heap = soak.trends.iter().all(|trend| trend.of != Kept::Heap).then(|| "what is alive on the heap".to_owned());
    let slower = soak.latencies.is_empty().then(|| {
        "whether replies became slower (that takes ten cycles of each load, not void, in which others used less than 5 % of the machine)"
            .to_owned()
    });
    let all: Vec<String> = slower.into_iter().chain(heap).chain(rules).collect();
    (!all.is_empty() && !soak.cycles.is_empty()).then(|| format!("{}.", begun(&listed(&all))))
}

/// The cycles as a table: its header, and its rows.
pub(crate) fn table(soak: &Soak) -> (Vec<(&'static str, bool)>, Vec<Vec<String>>) {
    let shown: Vec<Kept> = Kept::ALL
        .iter()
        .copied()
        .filter(|of| soak.cycles.iter().any(|cycle| has(cycle, *of).is_some_and(|value| value > 0.0)))
        .collect();
    let mut header = vec![
        ("after", false),
        ("load", false),
        ("requests", true),
        ("p50", true),
        ("p99", true),
        ("failed", true),
        ("CPUs", true),
    ];
    header.extend(shown.iter().map(|of| (column(*of), true)));
    let row = |cycle: &SoakCycle| {
        let nothing = || "–".to_owned();
        let mut row = vec![
            elapsed(cycle.at_s),
            part(cycle.part).to_owned(),
            thousands(cycle.requests),
            cycle.p50_us.map_or_else(nothing, duration_us),
            cycle.p99_us.map_or_else(nothing, duration_us),
            percent(cycle.failed),
            cycle.cpus_used.map_or_else(nothing, |used| decimals(used, 2)),
        ];
        row.extend(shown.iter().map(|of| has(cycle, *of).map_or_else(nothing, |value| amount(*of, value))));
        row
    };
    (header, few(&soak.cycles).map(row).collect())
}

/// What a cycle showed, while others are to come.
pub fn cycle_words(record: &TrialRecord) -> String {
    let measured =
        record.measurement.as_ref().map(|measured| counted(measured.accounting.completed, "request", "requests"));
    let seen = record.observation.as_ref();
    let heap = seen.and_then(|seen| seen.heap.as_ref()).map(|heap| format!("heap {}", bytes(heap.bytes as f64)));
    let memory =
        seen.and_then(model::Observation::memory_after).map(|memory| format!("memory {}", bytes(memory as f64)));
    let threads = seen.and_then(|seen| seen.after).map(|after| counted(after.threads.into(), "thread", "threads"));
    let files =
        seen.and_then(|seen| seen.after?.open_files).map(|files| counted(files.into(), "open file", "open files"));
    [measured, heap, memory, threads, files].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Rows that are shown at most.
const MOST_ROWS: usize = 24;

/// Some of the cycles, at equal distances, the last one among them.
fn few(cycles: &[SoakCycle]) -> impl Iterator<Item = &SoakCycle> {
    let step = cycles.len().div_ceil(MOST_ROWS).max(1);
    let last = cycles.len().saturating_sub(1);
    cycles.iter().enumerate().filter(move |(at, _)| (last - at).is_multiple_of(step)).map(|(_, cycle)| cycle)
}

fn has(cycle: &SoakCycle, of: Kept) -> Option<f64> {
    cycle.kept.iter().find(|(kept, _)| *kept == of).map(|(_, value)| *value)
}

fn column(of: Kept) -> &'static str {
    match of {
        Kept::Heap => "heap",
        Kept::Memory => "memory",
        Kept::Threads => "threads",
        Kept::Processes => "processes",
        Kept::Files => "files",
        Kept::Unclosed => "unclosed",
    }
}

fn part(of: SoakPart) -> &'static str {
    match of {
        SoakPart::First => "on",
        SoakPart::Idle => "off",
        SoakPart::Again => "on again",
    }
}
