//! A comparison as a forest plot: each figure's change from old to new against the band in which the two are the same.

use model::{CompareAnalysis, CompareRow, ComparisonVerdict, Measured, Metric, Unit};

use super::axis::{Axis, STRIP, change_words};
use super::mark::{Glyph, Value, held, is_positive};
use super::scale::{Scale, Steps};
use super::series::About;
use super::sheet::{Drawn, MARGIN, Sheet, WIDTH};
use crate::change_words::left_open;
use crate::compare_question::question;
use crate::compare_words::{self as say, Line};
use crate::format::{at_most_decimals, signed_tick, tick};
use crate::more_blocks::Blocks;
use crate::withheld::because;
use crate::{compare_answer, words};

/// The values of some rows on an axis of their own.
struct Panel<'a> {
    title: &'static str,
    lines: Vec<&'a Line<'a>>,
    /// The value that means no change, and the band around it.
    same: f64,
    band: [f64; 2],
    axis: Option<Axis>,
}

/// What takes sureness away from all of a comparison.
pub(super) fn cautions(analysis: &CompareAnalysis) -> Vec<String> {
    let too_few = Blocks::of_comparison(analysis).too_few();
    too_few.into_iter().chain(analysis.same.as_ref().map(say::same_server)).collect()
}

/// The picture of the rows under one set of conditions.
pub(super) fn draw(analysis: &CompareAnalysis, lines: &[Line<'_>], about: &About<'_>) -> Drawn {
    let title = format!("{}{}", question(analysis), words::bracketed(about.title));
    let mut sheet = Sheet::new(&title, about.cautions);
    for panel in [of_ratios(analysis, lines), of_shares(lines)].iter().filter(|panel| !panel.lines.is_empty()) {
        panel.draw(&mut sheet, &Blocks::of_comparison(analysis));
    }
    let is_shown =
        |glyph: Glyph| lines.iter().any(|line| value(line.row).estimate.is_some() && glyph_of(line.row) == glyph);
    let mut key = Vec::new();
    key.extend(is_shown(Glyph::Dot).then_some((Glyph::Dot, "change, with its 95 % interval")));
    key.extend(is_shown(Glyph::Open).then_some((Glyph::Open, "change, without a verdict")));
    key.extend(
        lines
            .iter()
            .any(|line| line.row.in_doubt.is_some())
            .then_some((Glyph::Dashed, "as far as what is in doubt leaves it open")),
    );
    let within = format!("the same: within {}", tick(analysis.margin, Unit::Share));
    let is_share = |line: &Line<'_>| line.row.difference.is_some();
    let points = format!("of shares: within {} point", at_most_decimals(100.0 * say::SAME_SHARE, 1));
    key.extend(lines.iter().any(|line| !is_share(line)).then_some((Glyph::Shade, within.as_str())));
    let has_band = |line: &Line<'_>| is_share(line) && !is_outside(line.row);
    key.extend(lines.iter().any(has_band).then_some((Glyph::Shade, points.as_str())));
    sheet.key(&key);
    let place = words::bracketed(about.title);
    let answer = compare_answer::of_comparison(analysis).1;
    let says = format!("The change of each figure from old to new with its 95 % interval{place}: {answer}");
    sheet.finish(&says, about.made)
}

/// What is drawn of a row, and as what line: where it is held back for a doubt, how far that leaves it open.
fn shown(row: &CompareRow) -> (Measured, Glyph) {
    let Some(open) = &row.in_doubt else { return (value(row).clone(), Glyph::Line) };
    let (low, high) = left_open(open);
    (Measured { low, high, ..open.clone() }, Glyph::Dashed)
}

/// What is compared in a row: a ratio, or of shares a difference.
fn value(row: &CompareRow) -> &Measured {
    row.difference.as_ref().unwrap_or(&row.ratio)
}

fn of_ratios<'a>(analysis: &CompareAnalysis, lines: &'a [Line<'a>]) -> Panel<'a> {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.row.difference.is_none()).collect();
    let most = 1.0 + analysis.margin;
    let band = [1.0 / most, most];
    let values: Vec<Measured> = lines.iter().map(|line| shown(line.row).0).filter(is_positive).collect();
    let values: Vec<&Measured> = values.iter().collect();
    let scale = Scale::around(Steps::Log, &held(Steps::Log, &band, &values), 1.02, [MARGIN, WIDTH - MARGIN]);
    let axis = scale.map(|scale| Axis::new(scale, change_words(&scale)));
    Panel { title: "change, new ÷ old, log scale", lines, same: 1.0, band, axis }
}

fn of_shares<'a>(lines: &'a [Line<'a>]) -> Panel<'a> {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.row.difference.is_some()).collect();
    let band = [-say::SAME_SHARE, say::SAME_SHARE];
    let values: Vec<Measured> = lines.iter().map(|line| shown(line.row).0).collect();
    let values: Vec<&Measured> = values.iter().collect();
    let held = held(Steps::Even, &band, &values);
    let scale = Scale::around(Steps::Even, &held, say::SAME_SHARE / 2.0, [MARGIN, WIDTH - MARGIN]);
    let axis = scale.map(|scale| Axis::new(scale, signed_tick));
    Panel { title: "difference, new − old, in points", lines, same: 0.0, band, axis }
}

impl Panel<'_> {
    fn draw(&self, sheet: &mut Sheet, blocks: &Blocks) {
        sheet.line(("", ""), ("small", self.title), 0.0);
        for line in &self.lines {
            self.row(sheet, line, blocks);
        }
        if let Some(axis) = &self.axis {
            sheet.gap(-6.0);
            let labels = axis.labels(sheet.y());
            sheet.draw(Axis::LABELS + 4.0, labels);
        }
    }

    fn row(&self, sheet: &mut Sheet, line: &Line<'_>, blocks: &Blocks) {
        let row = line.row;
        let change = format!("{} {}", line.change, line.interval).trim_end().to_owned();
        sheet.line(("strong", &line.metric), ("strong", &line.verdict), 0.0);
        let figures = format!("{} → {}", line.old, line.new);
        match Sheet::fits(("small", &figures), ("number", &change)) {
            true => sheet.line(("small", &figures), ("number", &change), 0.0),
            false => {
                sheet.line(("small", &figures), ("", ""), 0.0);
                sheet.line(("", ""), ("number", &change), 0.0);
            }
        }
        if let Some(why) = row.withheld {
            sheet.small(&format!("because {}", because(why, &row.withheld_of)), 2);
        } else if is_outside(row) {
            sheet.small("no request to the old one failed, so any failures are a difference", 2);
        } else if let Some(few) = blocks.too_few_of(row.blocks).filter(|few| Some(few) != blocks.too_few().as_ref()) {
            sheet.small(&few, 2);
        }
        let Some(axis) = &self.axis else { return };
        sheet.gap(4.0);
        let band = (!is_outside(row)).then_some(self.band);
        let mut nodes = axis.strip(sheet.y(), band, &[("reference", self.same)]);
        let said = format!("{}: {} to {}, {change}, {}", line.metric, line.old, line.new, line.verdict);
        let (measured, line) = shown(row);
        let drawn = Value { of: row.metric.id(), said, measured: &measured, glyph: glyph_of(row), line };
        nodes.extend(drawn.draw(&axis.scale, sheet.y() + STRIP / 2.0));
        sheet.draw(STRIP + 8.0, nodes);
    }
}

/// Whether the band of what is the same says nothing of it: a share of errors that is worse for there being any.
fn is_outside(row: &CompareRow) -> bool {
    let is_small = |share: &Measured| share.low.is_some_and(|low| low < say::SAME_SHARE);
    let is_first = row.metric == Metric::Errors && row.old.estimate == Some(0.0);
    is_first && row.verdict == ComparisonVerdict::Slower && row.difference.as_ref().is_some_and(is_small)
}

fn glyph_of(row: &CompareRow) -> Glyph {
    match row.verdict {
        ComparisonVerdict::Inconclusive => Glyph::Open,
        ComparisonVerdict::Faster | ComparisonVerdict::Slower | ComparisonVerdict::Same => Glyph::Dot,
    }
}
