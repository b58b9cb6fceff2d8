//! What a comparison leaves open: how far that may go either way, why, and how many launches may settle it.

use model::{CompareAnalysis, CompareRow, ComparisonVerdict, alike};

use crate::change_words::ends;
use crate::compare_row::{row_named, row_with_change};
use crate::more_blocks::Blocks;
use crate::words::listed;

/// How many times as much worse than the primary figure another may be before it is named beside it.
const FAR_WORSE: f64 = 2.0;

/// The ends of the interval of what is worse, below 0 where the new one is better; none where they are not known.
fn bounds(row: &CompareRow) -> Option<[f64; 2]> {
    let [low, high] = match &row.difference {
        Some(difference) => [difference.low?, difference.high?],
        None => [row.ratio.low?.ln(), row.ratio.high?.ln()],
    };
    Some(if row.metric.more_is_better() { [-high, -low] } else { [low, high] })
}

/// `, so anything from 0.7 % better to 17.8 % worse`: what an open figure may come to.
pub(crate) fn reach(row: &CompareRow) -> String {
    if let Some(figures) = row.open_as_one_of {
        return format!(", which one of {figures} figures tested at once may do by chance");
    }
    let both_ways = bounds(row).is_some_and(|[low, high]| low < 0.0 && high > 0.0);
    let Some([low, high]) = ends(&row.ratio, row.difference.as_ref()).filter(|_| both_ways) else {
        return String::new();
    };
    let [better, worse] = if row.metric.more_is_better() { [high, low] } else { [low, high] };
    format!(", so anything from {better} better to {worse} worse")
}

/// `latency p50 -36 % (-79 to +99)` of the open figure that may be far worse than this one, at its interval's end; none where none may.
pub(crate) fn furthest<'a>(than: &CompareRow, analysis: &'a CompareAnalysis) -> Option<&'a CompareRow> {
    let worst = |row: &CompareRow| bounds(row).map(|[_, high]| high);
    let least = FAR_WORSE * worst(than)?.max(analysis.margin);
    let is_open = |row: &&CompareRow| row.verdict == ComparisonVerdict::Inconclusive && row.withheld.is_none();
    // Of a few milliseconds before the load most of what may be is noise.
    let is_of_load = |row: &&CompareRow| !row.metric.is_before_load();
    let far = analysis.rows.iter().filter(is_open).filter(is_of_load).filter_map(|row| Some((worst(row)?, row)));
    far.filter(|(by, _)| *by > least).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
}

/// The open figures with their changes, and what may settle them: `throughput -7 % (-15 to +1), latency p50 +8 % (-2 to +19). About 26
/// launches of each in all (1 min 19 s more) may settle throughput`.
pub(crate) fn rows(rows: &[&CompareRow], analysis: &CompareAnalysis) -> String {
    let changes: Vec<String> = rows.iter().map(|row| row_with_change(row, analysis)).collect();
    let by_chance = by_chance(rows, analysis).map(|said| format!(". {said}"));
    let settled = settled(rows, analysis).map(|said| format!(". {said}"));
    format!("{}{}{}", changes.join(", "), by_chance.unwrap_or_default(), settled.unwrap_or_default())
}

/// Why figures have no verdict whose intervals leave 0 out.
fn by_chance(rows: &[&CompareRow], analysis: &CompareAnalysis) -> Option<String> {
    let figures = rows.iter().filter_map(|row| row.open_as_one_of).max()?;
    let open = rows.iter().filter(|row| row.open_as_one_of.is_some());
    let names: Vec<String> = open.map(|row| row_named(row, "", analysis)).collect();
    let (intervals, leave) = if names.len() == 1 { ("interval", "leaves") } else { ("intervals", "leave") };
    Some(format!(
        "The {intervals} of {} just {leave} 0 out, which one of {figures} figures tested at once may do by chance (Holm's correction)",
        listed(&names),
    ))
}

fn settled(rows: &[&CompareRow], analysis: &CompareAnalysis) -> Option<String> {
    // More launches of one server against itself show nothing but noise.
    if analysis.same.is_some() {
        return None;
    }
    let needed = rows.iter().filter_map(|row| Some((row.needs_blocks?, row_named(row, "", analysis))));
    let mut needed: Vec<(u32, String)> = needed.collect();
    needed.sort_by_key(|(blocks, _)| *blocks);
    if let ([_], [(_, name)]) = (rows, &mut needed[..]) {
        "it".clone_into(name);
    }
    let groups = alike(needed.iter().map(|(blocks, _)| *blocks)).into_iter();
    let names = |places: &[usize]| places.iter().map(|place| needed[*place].1.clone()).collect::<Vec<_>>();
    let groups: Vec<(u32, Vec<String>)> = groups.map(|places| (needed[places[0]].0, names(&places))).collect();
    Blocks::of_comparison(analysis).may_settle(&groups)
}
