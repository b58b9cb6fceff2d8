//! Ranks as sorted dots: each target as a multiple of one of them, paired block by block, ties by brackets.

use model::{Analysis, Comparison, ComparisonVerdict, Measured, Metric, Unit, Unranked};

use super::axis::{Axis, STRIP};
use super::mark::{Glyph, Value, held, is_positive};
use super::scale::{Scale, Steps};
use super::sheet::{Drawn, MARGIN, Sheet, WIDTH};
use super::svg::Node;
use crate::blanks::no_rank;
use crate::cell_words::with_failures;
use crate::format::{measured, tick};
use crate::rows::{Group, Row};
use crate::words;

/// From one bracket to the next.
const BRACKET: f64 = 8.0;

/// The targets of a table with what was measured of each against the reference.
struct Ranking<'a> {
    metric: Metric,
    rows: &'a [Row<'a>],
    /// The band in which two are the same.
    band: [f64; 2],
    /// The target that the others are held against: the first that has a figure.
    reference: &'a str,
    /// The comparisons of the table by that metric.
    pairs: Vec<&'a Comparison>,
}

/// The picture of a table; none where nothing ranks it, or fewer than two of its targets can be compared.
pub(super) fn draw(analysis: &Analysis, group: &Group<'_>, says: &str) -> Option<Drawn> {
    let ranking = Ranking::of(analysis, group)?;
    let ratios: Vec<Option<Measured>> = ranking.rows.iter().map(|row| ranking.ratio(row)).collect();
    let brackets = ranking.brackets();
    let left = MARGIN + BRACKET * brackets.len() as f64;
    let axis = axis(&ratios, ranking.band, left)?;
    let title = format!("Ranks by {}{}", ranking.metric.words(), words::bracketed(&group.title));
    let mut sheet = Sheet::new(&title, words::preliminary(analysis).as_slice());
    let better = if ranking.metric.more_is_better() { "more is better" } else { "less is better" };
    let against = format!("As a multiple of {}; {better}", ranking.reference);
    sheet.line(("", &against), ("small", "log scale"), 0.0);
    sheet.gap(4.0);
    let mut places = Vec::new();
    for (row, ratio) in ranking.rows.iter().zip(&ratios) {
        let top = sheet.y();
        ranking.row(&mut sheet, row, ratio.as_ref(), &axis);
        places.push([top + 2.0, sheet.y() - 8.0]);
    }
    let drawn = brackets.iter().enumerate().map(|(at, bracket)| {
        let x = MARGIN + BRACKET * at as f64 + 1.0;
        let ([top, _], [_, bottom]) = (places[bracket[0]], places[bracket[1]]);
        let rows = &ranking.rows[bracket[0]..=bracket[1]];
        let tied: Vec<&str> = rows.iter().map(|row| row.cell.levels.target()).collect();
        let what = if ranking.are_same(rows) { "the same" } else { "too close to call" };
        let group = Node::group("tie", &format!("{what}: {}", tied.join(", ")));
        group.hold([Node::path("bracket", &[[x + 4.0, top], [x, top], [x, bottom], [x + 4.0, bottom]])])
    });
    sheet.draw(-6.0, drawn.collect::<Vec<_>>());
    let labels = axis.labels(sheet.y());
    sheet.draw(Axis::LABELS, labels);
    let within = format!("the same: within {}", tick(analysis.margin, Unit::Share));
    let has =
        |ranked: bool| ranking.rows.iter().zip(&ratios).any(|(row, ratio)| ratio.is_some() && is_ranked(row) == ranked);
    let mut key = Vec::new();
    key.extend(has(true).then_some((Glyph::Dot, "ratio, paired by block, with its 95 % interval")));
    key.extend(has(false).then_some((Glyph::Open, "ratio, without a rank")));
    key.push((Glyph::Shade, &within));
    sheet.key(&key);
    let are_same = |bracket: &[usize; 2]| ranking.are_same(&ranking.rows[bracket[0]..=bracket[1]]);
    let what = match (brackets.iter().any(are_same), brackets.iter().all(are_same)) {
        _ if brackets.is_empty() => "",
        (_, true) => "Joined by a bracket: the same as a pair.",
        (true, false) => "Joined by a bracket: the same, or too close to call, as a pair.",
        (false, false) => "Joined by a bracket: too close to call as a pair.",
    };
    sheet.small(what, 1);
    let says = format!("The targets in order with their ratios to {} and 95 % intervals: {says}", ranking.reference);
    Some(sheet.finish(&says, &words::header(analysis).join(" · ")))
}

fn axis(ratios: &[Option<Measured>], band: [f64; 2], left: f64) -> Option<Axis> {
    let values: Vec<&Measured> = ratios.iter().flatten().filter(|ratio| is_positive(ratio)).collect();
    let scale = Scale::around(Steps::Log, &held(Steps::Log, &band, &values), 1.02, [left, WIDTH - MARGIN])?;
    (values.len() > 1).then(|| Axis::new(scale, |ratio| tick(ratio, Unit::Ratio)))
}

impl<'a> Ranking<'a> {
    fn of(analysis: &'a Analysis, group: &'a Group<'a>) -> Option<Self> {
        let conditions = group.rows.first()?.cell.levels.conditions();
        let leading = analysis.groups.iter().find(|ranks| ranks.leads && ranks.conditions == conditions)?;
        let pairs = analysis.comparisons.iter();
        let pairs = pairs.filter(|pair| pair.metric == leading.metric && pair.conditions == conditions).collect();
        let has_figure = |row: &&Row| row.cell.throughput.estimate.is_some() && !row.cell.failing.bad;
        let reference = group.rows.iter().find(has_figure)?.cell.levels.target();
        let band = [1.0 / (1.0 + analysis.margin), 1.0 + analysis.margin];
        Some(Self { metric: leading.metric, rows: &group.rows, band, reference, pairs })
    }

    fn pair(&self, a: &str, b: &str) -> Option<&'a Comparison> {
        self.pairs.iter().copied().find(|pair| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a))
    }

    /// The row's figure ÷ the reference's; of the reference itself exactly 1, without an interval.
    fn ratio(&self, row: &Row<'_>) -> Option<Measured> {
        let target = row.cell.levels.target();
        if target == self.reference {
            return Some(Measured { estimate: Some(1.0), low: None, high: None, unit: Unit::Ratio });
        }
        let pair = self.pair(target, self.reference)?;
        let Measured { estimate, low, high, unit } = pair.ratio;
        let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
        let upside_down = || Measured { estimate: inverse(estimate), low: inverse(high), high: inverse(low), unit };
        Some(if pair.a == target { pair.ratio.clone() } else { upside_down() })
    }

    fn row(&self, sheet: &mut Sheet, row: &Row<'_>, ratio: Option<&Measured>, axis: &Axis) {
        let indent = axis.scale.from - MARGIN;
        let name = format!("{} {}", row.place, row.cell.levels.target());
        sheet.line(("strong", name.trim_start()), ("number", &self.absolute(row)), indent);
        let said = ratio.and_then(measured).unwrap_or_else(|| "no ratio: no block has both".to_owned());
        let said = if row.cell.levels.target() == self.reference { "reference".to_owned() } else { said };
        sheet.line(("", ""), ("small number", &said), indent);
        if let Some(why) = row.unranked.filter(|_| !is_ranked(row)) {
            let why = if why == Unranked::Failed { Some("it failed".to_owned()) } else { no_rank(row) };
            sheet.small(&format!("no rank: {}", why.unwrap_or_default()), 2);
        }
        let mut nodes = axis.strip(sheet.y(), Some(self.band), &[("reference", 1.0)]);
        let target = row.cell.levels.target();
        let said = format!("{target}: {}, {said}", self.absolute(row));
        let glyph = if is_ranked(row) { Glyph::Dot } else { Glyph::Open };
        let value = ratio.map(|measured| Value { of: target, said, measured, glyph, line: Glyph::Line });
        nodes.extend(value.and_then(|value| value.draw(&axis.scale, sheet.y() + STRIP / 2.0)));
        sheet.draw(STRIP + 8.0, nodes);
    }

    /// The figure itself, as the table has it.
    fn absolute(&self, row: &Row<'_>) -> String {
        match self.metric {
            Metric::Throughput if row.cell.throughput.estimate.is_some() => {
                let rate = format!("{} requests/s {}", row.throughput, row.spread);
                with_failures(rate.trim_end().to_owned(), row.cell.errors)
            }
            Metric::Throughput => row.throughput.clone(),
            _ => row.latency.clone(),
        }
    }

    /// The rows that are tied pair by pair, from one to another: as far as that reaches. Being tied does not pass on, so brackets
    /// may overlap.
    fn brackets(&self) -> Vec<[usize; 2]> {
        let mut brackets: Vec<[usize; 2]> = Vec::new();
        for first in 0..self.rows.len() {
            let joins = |last: &usize| (first..*last).all(|at| self.is_tie(&self.rows[at], &self.rows[*last]));
            let last = (first + 1..self.rows.len()).take_while(joins).last();
            let within = |last: usize| brackets.iter().any(|known| known[1] >= last);
            brackets.extend(last.filter(|last| !within(*last)).map(|last| [first, last]));
        }
        brackets
    }

    /// Whether each pair of these was shown to be the same.
    fn are_same(&self, rows: &[Row<'_>]) -> bool {
        let target = |row: &Row<'_>| row.cell.levels.target().to_owned();
        let is_same = |one: &Row<'_>, other: &Row<'_>| {
            self.pair(&target(one), &target(other)).is_some_and(|pair| pair.verdict == ComparisonVerdict::Same)
        };
        rows.iter().enumerate().all(|(at, one)| rows[at + 1..].iter().all(|other| is_same(one, other)))
    }

    /// Whether two that have ranks are the same or too close to call.
    fn is_tie(&self, one: &Row<'_>, other: &Row<'_>) -> bool {
        let pair = self.pair(one.cell.levels.target(), other.cell.levels.target());
        is_ranked(one) && is_ranked(other) && pair.is_some_and(Comparison::is_undecided)
    }
}

fn is_ranked(row: &Row<'_>) -> bool {
    row.place.rank().is_some()
}
