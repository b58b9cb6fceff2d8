//! Why a verdict is held back, of which server, and what would settle it.

use model::{Arm, CellAnalysis, Coldness, CompareAnalysis, MarkCause, Rotated, Waited, Withheld, format_duration};

use crate::asker::{Asker, Knob};
use crate::format::LEAST_CPU;

/// Why, as what follows "because".
pub(crate) fn because(why: Withheld, of: &[Arm]) -> String {
    let (who, are) = match of {
        [Arm::Old] => ("the old one", false),
        [Arm::New] => ("the new one", false),
        _ => ("both", true),
    };
    let (was, share) = if are { ("were", "share") } else { ("was", "shares") };
    match why {
        Withheld::AtLeast => format!("the generator may have been the limit of {who}"),
        Withheld::AtCeiling => format!("{who} did all that the handler delay allows"),
        Withheld::Edges => {
            format!("{who} completed so few requests in a window, or such unlike ones, that its edges weigh as much")
        }
        Withheld::Warming => format!("{who} {was} still getting faster"),
        Withheld::Censored => format!("requests of {who} were unfinished, and how long they took is not known"),
        Withheld::Failing => format!("too many requests of {who} failed, and a failure may be quick and cheap"),
        Withheld::Wrong => format!("replies of {who} had wrong content"),
        Withheld::Silent => format!("{who} served nothing inside a window, or stopped answering in one"),
        Withheld::Lateness => format!("much of the latency of {who} may be the generator's own"),
        Withheld::Cold => {
            let needs = if are { "they say they need" } else { "it says it needs" };
            format!("{who} had less load before the window than {needs} to be warm")
        }
        Withheld::Rotation => {
            "launches of one went round with others in slices, and those of the other had the load to themselves"
                .to_owned()
        }
        Withheld::Definition => "figures of the two count different things under the same name".to_owned(),
        Withheld::Zero => format!("a launch of {who} has a zero, to which nothing has a ratio"),
        Withheld::LittleCpu => {
            format!("{who} used too little CPU in a window for a figure, which takes {LEAST_CPU}")
        }
        Withheld::FewRequests => {
            let favour = if are { "a slow server" } else { "it" };
            format!(
                "launches of {who} had too few requests for this quantile, and leaving those out would favour {favour}"
            )
        }
        Withheld::FewCollections => format!(
            "fewer than 10 garbage collections are known to have come within the slices of launches of {who}, and chance decides how much of a p99 they are"
        ),
        Withheld::Disturbed => {
            "the machine was so busy that this alone could have made or hidden the difference".to_owned()
        }
        Withheld::Rounds => {
            "rounds during which the machine was busy are left out, and with them the figures say something else"
                .to_owned()
        }
        Withheld::Spill => "a server used enough CPU in slices of others to make a difference of that size".to_owned(),
        Withheld::Waking => waking(who),
        Withheld::BetweenLooks => between_looks(who),
        Withheld::SharedMemory => shared_memory(who, share),
        Withheld::Unwaited => format!(
            "processes of {who} may have ended without being waited for, and the CPU that those used is counted for nobody"
        ),
        Withheld::Unbounded => "the machine was busy, and how much that adds to such a figure has no bound".to_owned(),
    }
}

fn shared_memory(who: &str, share: &str) -> String {
    format!(
        "memory that {who} {share} with other servers that run at the same time counts in part, and alone it may be more"
    )
}

fn between_looks(who: &str) -> String {
    format!("between two looks at its memory {who} may have had more, by as much as makes a difference of that size")
}

fn waking(who: &str) -> String {
    format!(
        "{who} did much or kept requests waiting when it was woken before its slices, which counts nowhere, and whether requests would \
         have caused that alone is not known"
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
        Withheld::Spill | Withheld::Waking | Withheld::SharedMemory | Withheld::FewCollections | Withheld::Rotation => {
            format!("launches of their own{}", asker.by(Knob::Alone))
        }
        Withheld::Disturbed | Withheld::Unbounded | Withheld::Rounds => {
            "fewer other programs on this machine".to_owned()
        }
        // Only another server would settle it.
        Withheld::Failing
        | Withheld::Wrong
        | Withheld::Silent
        | Withheld::Unwaited
        | Withheld::BetweenLooks
        | Withheld::Definition
        | Withheld::Zero => return None,
    };
    Some(asker.anew(cure))
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
    let cells = analysis.cells.iter().filter(|it| of.contains(&it.arm)).map(|it| &it.cell);
    cure(why, &cells.collect::<Vec<_>>(), analysis.form.into(), analysis.environment.cpus)
}

/// How much load a cell needs to be warm, in seconds, where it had less.
fn needed_s(cell: &CellAnalysis) -> Option<f64> {
    cell.marks.iter().find_map(|note| match &note.cause {
        MarkCause::Cold(Coldness::WarmUp { needed_s, .. }) => Some(*needed_s),
        _ => None,
    })
}
