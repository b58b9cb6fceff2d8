//! Why a verdict is held back, of which server, and what would settle it.

use model::{
    Arm, CellAnalysis, Coldness, CompareAnalysis, MarkCause, MemoryCount, Rotated, Waited, Withheld, format_duration,
};

use crate::asker::{Asker, Knob};
use crate::format::LEAST_CPU;

/// Which of the two it is.
pub(crate) fn of_arm(arm: Arm) -> &'static str {
    match arm {
        Arm::Old => "the old one",
        Arm::New => "the new one",
    }
}

/// Why, as what follows "because".
pub(crate) fn because(why: Withheld, of: &[Arm]) -> String {
    let (who, are) = match of {
        [arm] => (of_arm(*arm), false),
        _ => ("both", true),
    };
    let (was, share) = if are { ("were", "share") } else { ("was", "shares") };
    match why {
        Withheld::AtLeast => format!("the generator may have been the limit of {who}"),
        Withheld::AtCeiling => format!("{who} did all that the handler delay allows"),
        Withheld::Edges => {
            format!(
                "requests of {who} that crossed an edge of their window weigh as much as the difference: few came for each \
                 connection, or some took far longer than others"
            )
        }
        Withheld::Warming => format!("{who} {was} still getting faster"),
        Withheld::Censored => format!("requests of {who} were unfinished, and how long they took is not known"),
        Withheld::Failing => failing(who),
        Withheld::Wrong => format!("replies of {who} had wrong content"),
        Withheld::Silent => format!("{who} served nothing inside a window, or stopped answering in one"),
        Withheld::Unanswered => unanswered(who),
        Withheld::Lateness => format!("much of the latency of {who} may be the generator's own"),
        Withheld::Cold => {
            let needs = if are { "they say they need" } else { "it says it needs" };
            format!("{who} had less load before the window than {needs} to be warm")
        }
        Withheld::Rotation => "one was measured in rotation and the other alone".to_owned(),
        Withheld::AnotherTime => {
            "they were measured at different times, and the machine may have changed as much in between".to_owned()
        }
        Withheld::Definition => "figures of the two count different things under the same name".to_owned(),
        Withheld::Zero => format!("a launch of {who} has a value of zero, so there is no ratio"),
        Withheld::Beside => format!("two loads were on {who}, and what each cost is not known"),
        Withheld::LittleCpu => {
            format!("{who} used less CPU in a window than a figure needs ({LEAST_CPU})")
        }
        Withheld::FewRequests => few_requests(who, are),
        Withheld::FewCollections => format!(
            "fewer than 10 garbage collections are known to have fallen within the slices of launches of {who}, so \
             chance decides how much of a p99 they are"
        ),
        Withheld::Disturbed => {
            "the machine was so busy that this alone could have made or hidden the difference".to_owned()
        }
        Withheld::Uneven => uneven(),
        Withheld::Rounds => "busy rounds were left out, and including them changes the result".to_owned(),
        Withheld::Spill => {
            "a server used enough CPU during other targets' slices to explain a difference of that size".to_owned()
        }
        Withheld::Waking => waking(who, are),
        Withheld::Pauses => pauses(who),
        Withheld::BetweenLooks => between_looks(who),
        Withheld::SharedMemory => shared_memory(who, share),
        Withheld::AskedRuntime => asked_runtime(who),
        Withheld::LittleMemory => little_memory(),
        Withheld::Unwaited => unwaited(who),
        Withheld::Unbounded => {
            "the machine was busy, and there is no limit to how much that can change this figure".to_owned()
        }
    }
}

fn little_memory() -> String {
    "one server's memory can differ by up to 512 KiB from one session to the next".to_owned()
}

fn uneven() -> String {
    "other programs used a few per cent of the CPUs all the time, which can cost one of two different servers that much more".to_owned()
}

fn unwaited(who: &str) -> String {
    format!("child processes of {who} may have exited without being reaped; their CPU time is not counted")
}

fn few_requests(who: &str, are: bool) -> String {
    let favour = if are { "a slow server" } else { "it" };
    format!("launches of {who} had too few requests for this quantile, and leaving those out would favour {favour}")
}

pub(crate) fn failing(who: &str) -> String {
    format!("too many requests to {who} failed or never got a reply, and those can be cheaper than real replies")
}

pub(crate) fn unanswered(who: &str) -> String {
    format!("{who} left requests without a reply, and nothing says how many of those would have failed")
}

pub(crate) fn pauses(who: &str) -> String {
    format!(
        "{who} may put off work until the load pauses, or was not seen to be done then; the figures do not count that"
    )
}

fn shared_memory(who: &str, share: &str) -> String {
    format!("memory that {who} {share} with other processes is only partly counted, and in full it may be higher")
}

pub(crate) fn asked_runtime(who: &str) -> String {
    format!("the runtime of {who} was asked before and after each slice, which takes memory in it")
}

fn between_looks(who: &str) -> String {
    format!("the memory of {who} may have peaked between two samples, by as much as the difference")
}

fn waking(who: &str, are: bool) -> String {
    let its = if are { "their" } else { "its" };
    format!(
        "waking {who} before {its} slices took extra CPU or made requests wait; that is not counted, and it may or may not \
         happen without rotation"
    )
}

/// What would settle it for these cells on a machine with so many CPUs (0 where that is not known), in the words of whoever asks;
/// nothing where only another server would.
pub(crate) fn cure(why: Withheld, cells: &[&CellAnalysis], asker: Asker, cpus: u32) -> Option<String> {
    let cells = || cells.iter().copied();
    let is_starved = |cell: &CellAnalysis| cell.remarks.generator_waited == Some(Waited::MoreThanBusy);
    let cure = match why {
        Withheld::AtLeast if cells().any(is_starved) => {
            "fewer other programs on this machine, which kept the generator from its CPUs".to_owned()
        }
        // Of two the generator has one, and more threads would share it.
        Withheld::AtLeast if matches!(cpus, 1 | 2) => {
            "a machine with more CPUs, of which the generator gets several".to_owned()
        }
        Withheld::AtLeast => format!("more threads or CPUs for the generator{}", asker.by(Knob::Threads)),
        Withheld::AtCeiling => format!("more connections{}", asker.by(Knob::Connections)),
        // More slices have as many more edges.
        Withheld::Edges if cells().all(|cell| matches!(cell.rotation, Some(Rotated::Together { .. }))) => {
            format!("launches of their own{}", asker.by(Knob::Alone))
        }
        Withheld::Edges | Withheld::Censored | Withheld::LittleCpu | Withheld::FewRequests => longer_window(asker),
        Withheld::Warming => {
            let longest_s = cells().map(|cell| cell.remarks.warm_up_to_try_s).fold(0.0, f64::max);
            warm_up("a longer warm-up", longest_s, asker)
        }
        Withheld::Cold => warm_up("a longer warm-up", cells().filter_map(needed_s).fold(0.0, f64::max), asker),
        Withheld::Lateness => {
            let spin = asker.name(Knob::Spin).map_or(String::new(), |spin| format!(", or {spin}"));
            format!("CPUs of its own for the generator{spin}")
        }
        Withheld::Spill => format!(
            "launches of their own{}, which do not show what a server puts off until its load pauses",
            asker.by(Knob::Alone)
        ),
        Withheld::SharedMemory if counts_in_part_anyway(cells()) => return None,
        Withheld::Waking | Withheld::SharedMemory | Withheld::FewCollections | Withheld::Rotation => {
            format!("launches of their own{}", asker.by(Knob::Alone))
        }
        Withheld::Disturbed | Withheld::Unbounded | Withheld::Uneven | Withheld::Rounds => {
            "fewer other programs on this machine".to_owned()
        }
        Withheld::AskedRuntime => "targets without their exporter (admin = false)".to_owned(),
        Withheld::AnotherTime => {
            return Some(
                "measure both in turn (bourdon compare --run … --run …), or say how much this machine changes (--drift 5%; 0% for \
                 what waits in a queue: latencies at a rate, and above the median)"
                    .to_owned(),
            );
        }
        // Only another server would settle it.
        Withheld::Beside
        | Withheld::Failing
        | Withheld::Wrong
        | Withheld::Silent
        | Withheld::Unanswered
        | Withheld::Pauses
        | Withheld::Unwaited
        | Withheld::BetweenLooks
        | Withheld::LittleMemory
        | Withheld::Definition
        | Withheld::Zero => return None,
    };
    Some(asker.anew(cure))
}

/// Whether memory counts in part also in launches alone: beside one process, which has whole what several have in part.
fn counts_in_part_anyway<'a>(cells: impl Iterator<Item = &'a CellAnalysis> + Clone) -> bool {
    let is_alone = |cell: &CellAnalysis| !matches!(cell.rotation, Some(Rotated::Together { .. }));
    cells.clone().any(|cell| cell.memory_count == MemoryCount::Resident) || cells.into_iter().all(is_alone)
}

/// `a longer window (-d)`.
pub(crate) fn longer_window(asker: Asker) -> String {
    format!("a longer window{}", asker.by(Knob::Window))
}

/// `a longer warm-up (--warm-up 5s)`, as it can be typed.
fn warm_up(what: &str, seconds: f64, asker: Asker) -> String {
    let length = format_duration((seconds * 1e3).round() as u64 * 1_000_000);
    match (asker, asker.name(Knob::WarmUp)) {
        (_, None) => format!("{what}, such as {length}"),
        (Asker::Experiment, Some(key)) => format!("{what} ({key} of {length})"),
        (_, Some(option)) => format!("{what} ({option} {length})"),
    }
}

/// The same for one side of a comparison, or both.
pub(crate) fn cure_of(why: Withheld, of: &[Arm], analysis: &CompareAnalysis) -> Option<String> {
    // Of memory that counts in part the other side matters, too.
    let is_of = |arm: &Arm| why == Withheld::SharedMemory || of.contains(arm);
    let cells = analysis.cells.iter().filter(|it| is_of(&it.arm)).map(|it| &it.cell);
    cure(why, &cells.collect::<Vec<_>>(), analysis.form.into(), analysis.environment.cpus)
}

/// How much load a cell needs to be warm, in seconds, where it had less.
fn needed_s(cell: &CellAnalysis) -> Option<f64> {
    cell.marks.iter().find_map(|note| match &note.cause {
        MarkCause::Cold(Coldness::WarmUp { needed_s, .. }) => Some(*needed_s),
        _ => None,
    })
}
