//! Words about a comparison that the terminal and Markdown share.

use std::collections::BTreeSet;

use model::{
    Arm, Cell, CellAnalysis, CompareAnalysis, CompareRow, ComparedCell, ComparisonVerdict, CutLoad, Factor, Level,
    Mark, Measured, Metric, ReplySizes, RevisionContent, SameServer, VoidTrial, Withheld, alike,
};

use crate::asked_words;
use crate::asker::{Asker, Knob};
use crate::bad::{self, Bad};
use crate::blanks::{cpu_words, memory_words, peak_words};
use crate::cell_words::is_at_least;
use crate::change_words::{change, change_of, with_interval};
use crate::compare_closed;
use crate::compare_launches::{launches, loads};
use crate::compare_open;
use crate::compare_question::whole;
use crate::compare_row::{has_several_conditions, row_named, row_with_change, with};
use crate::conditions::conditions;
use crate::cpu_words;
use crate::difference_words::difference_words;
use crate::format::{at_most_decimals, bytes, counted, duration_us, elapsed, percent, quantity};
use crate::mark_words::{arm_words, mark_meaning, note_words};
use crate::more_blocks::Blocks;
use crate::page::unbroken;
use crate::reason_words::repeated_words;
use crate::rotation_words;
use crate::withheld::{because, cure_of};
use crate::words::{self, at_least, machine, words};

/// One metric of both servers.
pub(crate) struct Line<'a> {
    pub(crate) row: &'a CompareRow,
    pub(crate) metric: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// `+5.1 %`, or `+36.0 points` of a share.
    pub(crate) change: String,
    /// `(+4.4 to +5.8)`.
    pub(crate) interval: String,
    pub(crate) verdict: String,
}

/// What the column of the intervals is called: some may be how far doubts leave a change open.
pub(crate) fn interval_title(lines: &[Line<'_>]) -> &'static str {
    let is_in_doubt = lines.iter().any(|line| line.row.in_doubt.is_some());
    if is_in_doubt { "95 % interval, or range in doubt" } else { "95 % interval" }
}

/// How often, how, where, when, how long.
pub(crate) fn header(analysis: &CompareAnalysis) -> Vec<String> {
    let launches = launches(analysis);
    let how = match analysis.seed {
        _ if analysis.is_of_loads() && analysis.interleaved => format!("{launches}, taken in turn"),
        _ if analysis.is_of_loads() => launches,
        Some(seed) if analysis.interleaved => format!("{launches}, interleaved, seed {seed}"),
        _ => format!("{launches}, in two runs"),
    };
    let environment = &analysis.environment;
    let names = whole(analysis).is_none().then(|| format!("old: {}, new: {}", analysis.old, analysis.new));
    let mut parts: Vec<String> = names.into_iter().collect();
    let after_how = parts.len() + 1;
    parts.push(how);
    parts.extend(asked_words::load(analysis.cells.iter().map(|of| &of.cell)));
    parts.push(machine(environment));
    parts.extend(cpu_words::on_one(&analysis.session));
    parts.push(environment.started_at.date().to_string());
    let primary = analysis.primary.map(|primary| format!("primary metric: {}", primary.words()));
    parts.extend(analysis.elapsed_s.map(elapsed).into_iter().chain(primary));
    parts.splice(
        after_how..after_how,
        words::not_up(analysis.trials).into_iter().chain(words::set_aside(&analysis.session)),
    );
    parts.retain(|part| !part.is_empty());
    parts
}

/// As many characters of a commit's name as tell it from others.
const SHOWN_OF_A_COMMIT: usize = 10;

/// What of a commit's name is shown.
pub fn short_commit(commit: &str) -> String {
    commit.chars().take(SHOWN_OF_A_COMMIT).collect()
}

/// Said before the first launch, and of what came of it.
pub fn same_server(same: &SameServer) -> String {
    let what = match same {
        SameServer::Revision(RevisionContent::Commit(commit)) => format!("commit {}", short_commit(commit)),
        SameServer::Revision(RevisionContent::WorkingTree(_)) => "the working tree".to_owned(),
        SameServer::Command => "one command in one folder".to_owned(),
    };
    format!("Both sides are the same server ({what}): whatever differs between them is noise.")
}

/// What makes the answer bad, of either server.
pub(crate) fn bad(analysis: &CompareAnalysis) -> Vec<Bad> {
    bad::of_cells(&named(analysis))
}

fn named(analysis: &CompareAnalysis) -> Vec<(String, &CellAnalysis)> {
    analysis.cells.iter().map(|of| (place(analysis, of), &of.cell)).collect()
}

/// What takes sureness away from all that follows.
pub(crate) fn cautions(analysis: &CompareAnalysis) -> Vec<String> {
    let differences: Vec<String> = analysis.differences.iter().map(difference_words).collect();
    let differ = format!("Compared although more than the server differs: {}.", differences.join("; "));
    let mut said: Vec<String> = (!differences.is_empty()).then_some(differ).into_iter().collect();
    said.extend(analysis.same.as_ref().map(same_server));
    said.extend(bad::behind(&named(analysis)));
    said.extend(bad::few(&named(analysis)));
    said.extend(rotation_words::of_cells(&named(analysis), false));
    said.extend(rotation_words::margin(analysis));
    if analysis.is_of_loads() {
        let [old, new] = loads(analysis);
        said.push(if analysis.blocks < 2 {
            let few = match (old, new) {
                (..=1, ..=1) => "One load of each",
                (..=1, _) => "One load of the old one",
                (_, ..=1) => "One load of the new one",
                _ => "One usable load",
            };
            format!("{few} does not show how much the next would differ: the ratios have no interval.")
        } else {
            "Each load counts as one launch of its server. Loads of the same process do not show how launches differ: \
             restart the server before each."
                .to_owned()
        });
        said.push(
            "A saved load does not record how busy the machine was, so other processes may have made the difference."
                .to_owned(),
        );
    }
    if !analysis.cut.is_empty() {
        let cut = |load: &CutLoad| format!("{} ({} measured)", load.id, duration_us(load.window_s * 1e6));
        let cut: Vec<String> = analysis.cut.iter().map(cut).collect();
        said.push(format!("Stopped before the end, and compared as far as it ran: {}.", cut.join(", ")));
    }
    said.extend(words::more_blocks(&analysis.blocks_before, analysis.blocks).map(|text| format!("{text}.")));
    if let Some(drift) = analysis.drift {
        said.push(format!(
            "The two were not measured in turn: the machine may have been up to {} slower for one of them (--drift). \
             Verdicts on rates and times hold in spite of that; their intervals do not contain it.",
            percent(drift)
        ));
    }
    said.extend(analysis.reply_sizes.iter().map(|sizes| reply_sizes(sizes, analysis)));
    said.extend(compare_closed::remarks(analysis));
    said.extend(small(analysis));
    said
}

/// That two builds differ by less than the margin may be how the linker laid them out, which is the same in all their launches.
fn small(analysis: &CompareAnalysis) -> Option<String> {
    use ComparisonVerdict::{Faster, Slower};
    use Metric::{CpuPerRequest, P50, P99, Throughput};
    let is_inside = |ratio: f64| ratio > 0.0 && ratio.ln().abs() <= analysis.margin.ln_1p();
    let is_small = |row: &&CompareRow| {
        matches!(row.verdict, Faster | Slower)
            && matches!(row.metric, Throughput | P50 | P99 | CpuPerRequest)
            && row.ratio.estimate.is_some_and(is_inside)
    };
    let rows: Vec<String> = analysis.rows.iter().filter(is_small).map(|row| row_with_change(row, analysis)).collect();
    (!rows.is_empty() && !analysis.is_of_loads()).then(|| {
        format!(
            "Less than the margin of {}, though not by chance alone: {}. Two builds can differ by so much for how the linker laid them out, in \
             all launches alike; build both again with something else changed before you believe it.",
            percent(analysis.margin),
            words::listed(&rows)
        )
    })
}

fn reply_sizes(sizes: &ReplySizes, analysis: &CompareAnalysis) -> String {
    let place = if has_several_conditions(analysis) { with(&sizes.conditions) } else { String::new() };
    let [old, new] = [sizes.old_bytes, sizes.new_bytes].map(|size| unbroken(&bytes(size)));
    let compared = Asker::from(analysis.form).name(Knob::Body);
    let compared = compared.map_or(String::new(), |option| format!(" {option} compares each body."));
    format!(
        "The replies{place} differ in size: {old} a reply of the old one and {new} of the new one, heads included. If that is not the same \
         answer, the two did different work.{compared}"
    )
}

/// What was found, the worst first: for each verdict the metrics that came to it.
pub(crate) fn summary(analysis: &CompareAnalysis) -> Vec<(ComparisonVerdict, String)> {
    use ComparisonVerdict::{Faster, Inconclusive, Same, Slower};
    let blocks = Blocks::of_comparison(analysis);
    let named = |row: &CompareRow, with_change: bool| {
        if with_change { row_with_change(row, analysis) } else { row_named(row, "", analysis) }
    };
    let came_to = |verdict| analysis.rows.iter().filter(move |row| row.verdict == verdict && row.withheld.is_none());
    let of = |verdict| came_to(verdict).map(|row| named(row, true)).collect::<Vec<String>>();
    let same = |of_shares: bool| {
        let rows = came_to(Same).filter(|row| row.difference.is_some() == of_shares);
        rows.map(|row| named(row, false)).collect::<Vec<String>>()
    };
    let undecided: Vec<&CompareRow> = came_to(Inconclusive).collect();
    let why_open = |row: &CompareRow| blocks.too_few_of(row.blocks).unwrap_or_else(|| "Inconclusive".to_owned());
    let open = |places: Vec<usize>| {
        let rows: Vec<&CompareRow> = places.iter().map(|place| undecided[*place]).collect();
        (Inconclusive, vec![compare_open::rows(&rows, analysis)], why_open(rows[0]))
    };
    let held_back: Vec<&CompareRow> = analysis.rows.iter().filter(|row| row.withheld.is_some()).collect();
    // What the answer has said of the largest is not said again.
    let is_worse = analysis.rows.iter().any(|row| row.verdict == Slower);
    let said = against(analysis).first().filter(|_| !is_worse).map(|row| reason(row));
    let mut cures: Vec<String> = said.and_then(|(why, of)| cure_of(why, of, analysis)).into_iter().collect();
    let withheld = |places: Vec<usize>| {
        let rows: Vec<&CompareRow> = places.iter().map(|place| held_back[*place]).collect();
        let (why, of) = reason(rows[0]);
        let cure = cure_of(why, of, analysis).filter(|cure| !cures.contains(cure));
        cures.extend(cure.clone());
        let cure = cure.map_or(String::new(), |cure| format!(". What would settle it: {cure}"));
        let rows: Vec<String> = rows.iter().map(|row| named(row, true)).collect();
        (Inconclusive, vec![rows.join(", ") + &cure], format!("Inconclusive, because {}", because(why, of)))
    };
    [
        (Slower, of(Slower), "Worse".to_owned()),
        (Faster, of(Faster), "Better".to_owned()),
        (Same, same(false), capitalised(&same_within(analysis, false))),
        (Same, same(true), capitalised(&same_within(analysis, true))),
    ]
    .into_iter()
    .chain(alike(undecided.iter().map(|row| why_open(row))).into_iter().map(open))
    .chain(alike(held_back.iter().map(|row| reason(row))).into_iter().map(withheld))
    .filter(|(_, rows, _)| !rows.is_empty())
    .map(|(verdict, rows, words)| (verdict, format!("{words}: {}.", rows.join(", "))))
    .collect()
}

/// The figures that are worse by what was measured while nothing of that is evidence, the one that moved most first.
pub(crate) fn against(analysis: &CompareAnalysis) -> Vec<&CompareRow> {
    let mut against: Vec<&CompareRow> =
        analysis.rows.iter().filter(|row| row.seen == Some(ComparisonVerdict::Slower)).collect();
    against.sort_by(|a, b| size(b).total_cmp(&size(a)));
    against
}

/// How far a figure moved: by its ratio, or by the points of a share.
fn size(row: &CompareRow) -> f64 {
    let points = row.difference.as_ref().and_then(|difference| difference.estimate);
    points.map(f64::abs).or(row.ratio.estimate.map(|ratio| ratio.ln().abs())).unwrap_or(0.0)
}

/// Half width of the band in which shares are the same.
pub(crate) const SAME_SHARE: f64 = 0.01;

/// `the same within 1 %`, of shares `the same within 1 point`.
pub(crate) fn same_within(analysis: &CompareAnalysis, of_shares: bool) -> String {
    let points = || format!("{} point", at_most_decimals(100.0 * SAME_SHARE, 1));
    let band = if of_shares { points() } else { percent(analysis.margin) };
    format!("the same within {band}")
}

/// Why a row that is held back is, and of which server.
pub(crate) fn reason(row: &CompareRow) -> (Withheld, &[Arm]) {
    (row.withheld.unwrap_or(Withheld::Definition), &row.withheld_of)
}

/// `go-gin, 100 connections`.
fn place_title(place: &Cell) -> String {
    let at = conditions(place);
    [place.target(), &at].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `old`, `new (feature)`, `old (go-gin, 100 connections)`: the target is named where that says which.
fn place(analysis: &CompareAnalysis, of: &ComparedCell) -> String {
    let arm = arm_words(of.arm);
    let names_targets = analysis.rows.iter().any(|row| !row.conditions.target().is_empty());
    let targets = |arm: Arm| {
        let of_arm = analysis.cells.iter().filter(move |of| of.arm == arm);
        of_arm.map(|of| of.cell.levels.target()).collect::<BTreeSet<&str>>()
    };
    let target = of.cell.levels.target();
    let says_which = names_targets || (targets(Arm::Old) != targets(Arm::New) && target != arm);
    let mut levels = if has_several_conditions(analysis) { of.cell.levels.conditions() } else { Cell::default() };
    if says_which {
        levels.0.insert(Factor::Target.id().to_owned(), Level::Text(target.to_owned()));
    }
    format!("{arm}{}", words::bracketed(&place_title(&levels)))
}

/// What `run` would say of each cell: a line a mark, with the cells that have it.
pub(crate) fn marks(analysis: &CompareAnalysis) -> Vec<String> {
    let of = |mark: &Mark| {
        let note = |of: &ComparedCell| {
            let note = of.cell.marks.iter().find(|note| note.mark() == *mark)?;
            Some(format!("{}: {}", place(analysis, of), note_words(note)))
        };
        let cells: Vec<String> = analysis.cells.iter().filter_map(note).collect();
        let name = capitalised(&words(mark.id()));
        (!cells.is_empty()).then(|| format!("{name} ({}): {}.", mark_meaning(*mark), cells.join("; ")))
    };
    Mark::ALL.iter().filter_map(of).collect()
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}

/// The rows by their conditions, in order of first appearance.
pub(crate) fn groups(analysis: &CompareAnalysis) -> Vec<(String, Vec<Line<'_>>)> {
    let rows = &analysis.rows;
    let group = |places: Vec<usize>| {
        (place_title(&rows[places[0]].conditions), places.iter().map(|at| line(&rows[*at], analysis)).collect())
    };
    alike(rows.iter().map(|row| &row.conditions)).into_iter().map(group).collect()
}

fn line<'a>(row: &'a CompareRow, analysis: &CompareAnalysis) -> Line<'a> {
    let is_bound = |arm| cell_of(analysis, arm, row).is_some_and(|cell| is_at_least(cell, row.metric));
    let value = |arm: Arm, measured: &Measured| match measured.estimate {
        None => "–".to_owned(),
        Some(value) => at_least(is_bound(arm), quantity(value, measured.unit)),
    };
    let (change, interval) = change_of(&row.ratio, row.difference.as_ref(), row.in_doubt.as_ref())
        .unwrap_or(("–".to_owned(), String::new()));
    Line {
        row,
        metric: row.metric.words().to_owned(),
        old: value(Arm::Old, &row.old),
        new: value(Arm::New, &row.new),
        change,
        interval,
        verdict: verdict(row).to_owned(),
    }
}

/// The cell of a row on one side; none in documents of before they were kept.
fn cell_of<'a>(analysis: &'a CompareAnalysis, arm: Arm, row: &CompareRow) -> Option<&'a CellAnalysis> {
    let cells = analysis.cells.iter().filter(|of| of.arm == arm).map(|of| &of.cell);
    let is_of_row = |cell: &&CellAnalysis| cell.levels == row.conditions || cell.levels.conditions() == row.conditions;
    let mut cells = cells.filter(is_of_row);
    cells.next()
}

/// The verdict on the new server. What is not a speed is not called slow.
fn verdict(row: &CompareRow) -> &'static str {
    let [better, worse] = match row.metric {
        Metric::Errors => ["fewer", "more"],
        metric if metric.is_speed() => ["faster", "slower"],
        _ => ["uses less", "uses more"],
    };
    match row.verdict {
        ComparisonVerdict::Faster => better,
        ComparisonVerdict::Slower => worse,
        ComparisonVerdict::Same => "same",
        // The summary says why.
        ComparisonVerdict::Inconclusive => "inconclusive",
    }
}

/// What the session says of itself.
pub(crate) fn session(analysis: &CompareAnalysis) -> Vec<String> {
    // A load that was saved does not tell how its launches were made.
    let cells = if analysis.is_of_loads() { Vec::new() } else { named(analysis) };
    let mut said: Vec<String> = whole(analysis).into_iter().collect();
    said.extend(rotation_words::of_cells(&cells, true));
    said.extend(rotation_words::watched(&cells, analysis.rest));
    said.extend(rotation_words::waiting(&cells));
    let measured: Vec<&CellAnalysis> = analysis.cells.iter().map(|of| &of.cell).collect();
    let windows = if analysis.is_of_loads() { None } else { words::windows(&measured) };
    said.extend(windows.map(|windows| format!("{windows}.")));
    said.extend(cpu_words::share(&analysis.session).map(|share| format!("{share}.")));
    let itself = analysis.session.itself.iter().filter(|found| found.ratio.low.is_some());
    let itself = itself.filter_map(|found| Some((found.metric.words(), change(&found.ratio, None)?)));
    let said_of = |(metric, (change, interval)): (&str, (String, String))| {
        format!("{metric} {}", with_interval(&change, &interval))
    };
    let itself: Vec<String> = itself.map(said_of).collect();
    if !itself.is_empty() {
        let is_again = |of: &&ComparedCell| of.cell.launches.iter().any(|launch| launch.twin);
        let again: BTreeSet<Arm> = analysis.cells.iter().filter(is_again).map(|of| of.arm).collect();
        // Earlier versions launched the new one alone once more.
        let of =
            if again.len() > 1 { "each server against others of the same" } else { "the new one against others of it" };
        said.push(format!("The session's noise, launches of {of}: {}.", itself.join(", ")));
    }
    let repeated = analysis.session.repeated.iter().map(repeated_words).collect::<Vec<_>>();
    if !repeated.is_empty() {
        let blocks = counted(repeated.len() as u64, "block", "blocks");
        said.push(format!("{blocks} set aside because the machine was busy: {}.", repeated.join("; ")));
    }
    said.extend(marks(analysis));
    let counts = |of: &ComparedCell| {
        let figures = [
            ("CPU per request", cpu_words(&of.cell)),
            ("Memory", memory_words(&of.cell)),
            ("Peak memory", peak_words(&of.cell)),
        ];
        figures.map(|(figure, words)| Some(format!("{figure} of {}: {}.", place(analysis, of), words?)))
    };
    said.extend(analysis.cells.iter().flat_map(counts).flatten());
    said.extend(bounds(analysis));
    let marks = analysis.session.marks.iter();
    said.extend(marks.map(|note| {
        format!("{} ({}): {}", capitalised(&words(note.mark().id())), mark_meaning(note.mark()), note_words(note))
    }));
    said
}

/// What a verdict is worth beside a figure that is a bound; nothing where no row has both.
fn bounds(analysis: &CompareAnalysis) -> Option<String> {
    let has_both = |row: &CompareRow| {
        // What grows is that window's, and nobody knows what it comes to.
        let grows = |cell: &CellAnalysis| cell.marks.iter().any(|note| note.mark() == Mark::Growing);
        let is_bound = |arm| {
            let cell = cell_of(analysis, arm, row).filter(|cell| row.metric != Metric::PeakMemory || !grows(cell));
            cell.is_some_and(|cell| is_at_least(cell, row.metric))
        };
        row.verdict != ComparisonVerdict::Inconclusive && (is_bound(Arm::Old) || is_bound(Arm::New))
    };
    let said = "Figures with ≥ are lower bounds. A verdict beside one holds however much higher the true figure is; the change \
                is that of the figures shown.";
    analysis.rows.iter().any(has_both).then(|| said.to_owned())
}

/// The void launches.
pub(crate) fn void_trials(analysis: &CompareAnalysis) -> Vec<String> {
    let count = analysis.trials;
    let mut said = Vec::new();
    if count.void > 0 {
        let [one, many] = if analysis.is_of_loads() { ["load", "loads"] } else { ["launch", "launches"] };
        let void = || words::void_of(count, one, many);
        said.push(format!("{}:", words::not_all_up(count, "server", "servers").unwrap_or_else(void)));
    }
    let asker = analysis.form.into();
    let files = |trials: &[&VoidTrial]| trials.iter().map(|trial| trial.id.as_str()).collect::<Vec<_>>().join(", ");
    said.extend(if analysis.is_of_loads() {
        words::void_trials_named(&analysis.void_trials, asker, files, conditions)
    } else {
        words::void_trials(&analysis.void_trials, asker, conditions)
    });
    said
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_band_of_shares_is_that_of_the_verdict() {
        assert_eq!(super::SAME_SHARE, judge::thresholds::ALLOWED_FAILURES);
    }
}
