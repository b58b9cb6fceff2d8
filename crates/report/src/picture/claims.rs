//! Claims as a forest plot: each value with its interval against the region that is claimed.

use model::{Analysis, Bound, ClaimAnalysis, ClaimVerdict, Expectation, Measured, Unit};

use super::axis::{Axis, STRIP};
use super::mark::{Glyph, Value, held, is_positive};
use super::scale::{Scale, Steps};
use super::sheet::{Drawn, MARGIN, Sheet, WIDTH};
use super::svg::Node;
use crate::claim_parts::here;
use crate::claim_words;
use crate::format::{quantity, tick};
use crate::words;

/// Claims with the same test on one axis.
struct Panel<'a> {
    test: &'a Expectation,
    claims: Vec<&'a ClaimAnalysis>,
}

/// The picture, whose meaning in one sentence is `says`; none without a claim.
pub(super) fn draw(analysis: &Analysis, says: &str) -> Option<Drawn> {
    let (read, unread): (Vec<_>, Vec<_>) = analysis.claims.iter().partition(|claim| claim.expect.expectation.is_some());
    if analysis.claims.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(&claim_words::claims_title(analysis), words::preliminary(analysis).as_slice());
    for panel in panels(&read) {
        panel.draw(&mut sheet, analysis);
        sheet.gap(8.0);
    }
    unread.iter().for_each(|claim| words_of(&mut sheet, claim, analysis));
    let shown = |glyph: Glyph| read.iter().any(|claim| claim.measured.estimate.is_some() && glyph_of(claim) == glyph);
    let mut key = vec![(Glyph::Shade, "where the claim holds")];
    key.extend(shown(Glyph::Dot).then_some((Glyph::Dot, "measured, with its 95 % interval")));
    key.extend(shown(Glyph::Open).then_some((Glyph::Open, "measured, without a verdict")));
    let published = read.iter().any(|claim| claim.published.is_some());
    key.extend(published.then_some((Glyph::Diamond, "published")));
    sheet.key(&key);
    let says =
        format!("Each claim with the value measured here, its 95 % interval and the region that is claimed: {says}");
    Some(sheet.finish(&says, &words::header(analysis).join(" · ")))
}

/// The claims by their tests, in order of first appearance.
fn panels<'a>(claims: &[&'a ClaimAnalysis]) -> Vec<Panel<'a>> {
    let mut panels: Vec<Panel> = Vec::new();
    for claim in claims {
        let Some(test) = &claim.expect.expectation else { continue };
        let same = |panel: &&mut Panel| {
            let (a, b) = (&panel.test.expression, &test.expression);
            panel.test.bound == test.bound && a.unit() == b.unit() && a.is_ratio() == b.is_ratio()
        };
        match panels.iter_mut().find(same) {
            Some(panel) => panel.claims.push(claim),
            None => panels.push(Panel { test, claims: vec![claim] }),
        }
    }
    panels
}

impl Panel<'_> {
    fn draw(&self, sheet: &mut Sheet, analysis: &Analysis) {
        let unit = self.test.expression.unit();
        let axis = self.axis();
        let log = axis.as_ref().is_some_and(|axis| axis.scale.steps == Steps::Log).then_some("log scale");
        let scale: Vec<&str> = [unit_words(unit)].into_iter().chain(log).filter(|words| !words.is_empty()).collect();
        let asked = claim_words::bound(self.test.bound, |value| tick(value, unit));
        sheet.line(("", &format!("Holds if {asked}")), ("small", &scale.join(", ")), 0.0);
        for claim in &self.claims {
            words_of(sheet, claim, analysis);
            if let Some(axis) = axis.as_ref().filter(|_| claim.measured.estimate.is_some()) {
                let strip = self.strip(axis, (claim, analysis), sheet.y());
                sheet.draw(STRIP + 8.0, strip);
            }
        }
        if let Some(axis) = &axis {
            sheet.gap(-6.0);
            let labels = axis.labels(sheet.y());
            sheet.draw(Axis::LABELS, labels);
        }
    }

    fn strip(&self, axis: &Axis, (claim, analysis): (&ClaimAnalysis, &Analysis), top: f64) -> Vec<Node> {
        let edges = edges(self.test.bound);
        let region = match self.test.bound {
            Bound::Below(most) => [f64::NEG_INFINITY, most],
            Bound::Above(least) => [least, f64::INFINITY],
            Bound::Between(least, most) => [least, most],
        };
        let lines: Vec<(&str, f64)> = edges.iter().map(|edge| ("edge", *edge)).collect();
        let mut nodes = axis.strip(top, Some(region), &lines);
        let (middle, unit) = (top + STRIP / 2.0, claim.measured.unit);
        nodes.extend(claim.published.filter(|value| axis.scale.holds(*value)).map(|published| {
            let said = format!("{}: published {}", claim.says, quantity(published, unit));
            let group = Node::group("published", &said).figure("data-published", Some(published));
            group
                .with("data-of", claim.name.as_str())
                .with("data-unit", unit.id())
                .hold([Glyph::Diamond.draw([axis.scale.place(published), middle])])
        }));
        let said =
            format!("{}: {}; {}", claim.says, claim_words::verdict(claim), claim_words::figures(claim, analysis));
        let value =
            Value { of: &claim.name, said, measured: &claim.measured, glyph: glyph_of(claim), line: Glyph::Line };
        nodes.extend(value.draw(&axis.scale, middle));
        nodes
    }

    /// One axis for all of its values; none where nothing was measured.
    fn axis(&self) -> Option<Axis> {
        let measured: Vec<&Measured> =
            self.claims.iter().map(|claim| &claim.measured).filter(|value| value.estimate.is_some()).collect();
        measured.first()?;
        let published = self.claims.iter().filter_map(|claim| claim.published);
        let core: Vec<f64> = edges(self.test.bound).into_iter().chain(published).collect();
        let is_log = self.test.expression.is_ratio()
            && measured.iter().all(|value| is_positive(value))
            && core.iter().all(|value| *value > 0.0);
        let steps = if is_log { Steps::Log } else { Steps::Even };
        let held = held(steps, &core, &measured);
        // A region to either side of an edge is seen as one.
        let reach = match steps {
            Steps::Log => 1.03,
            Steps::Even => held.iter().map(|value| value.abs()).fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 0.03,
        };
        let unit = self.test.expression.unit();
        let scale = Scale::around(steps, &held, reach, [MARGIN, WIDTH - MARGIN])?;
        Some(Axis::new(scale, |value| tick(value, unit)))
    }
}

fn edges(bound: Bound) -> Vec<f64> {
    match bound {
        Bound::Below(edge) | Bound::Above(edge) => vec![edge],
        Bound::Between(least, most) => vec![least, most],
    }
}

/// The verdict, what was measured, what was claimed, and why nothing was decided.
fn words_of(sheet: &mut Sheet, claim: &ClaimAnalysis, analysis: &Analysis) {
    let seen = claim_words::seen(claim).unwrap_or_else(|| "not measured".to_owned());
    sheet.line(("strong", &claim_words::verdict(claim)), ("number", &seen), 0.0);
    sheet.words("", &claim_words::says(claim, analysis), 3);
    let parts = here(claim, analysis);
    parts.iter().for_each(|parts| sheet.words("", &format!("Here: {parts}"), 3));
    let conditions = claim_words::claim_conditions(claim);
    sheet.small(&conditions, 1);
    if matches!(claim.verdict, ClaimVerdict::Inconclusive | ClaimVerdict::NotTestable) {
        let why = claim_words::notes(claim, analysis).into_iter().next();
        sheet.small(&why.unwrap_or_default(), 5);
    }
    sheet.gap(4.0);
}

fn glyph_of(claim: &ClaimAnalysis) -> Glyph {
    match claim.verdict {
        ClaimVerdict::Supported | ClaimVerdict::Contradicted => Glyph::Dot,
        ClaimVerdict::Inconclusive | ClaimVerdict::NotTestable => Glyph::Open,
    }
}

/// What the numbers of an axis count, where they do not say it themselves.
fn unit_words(unit: Unit) -> &'static str {
    match unit {
        Unit::None | Unit::Share | Unit::Us | Unit::Ms | Unit::Bytes => "",
        unit => unit.id(),
    }
}
