//! Pictures as SVG, from the same analysis as the text: for Markdown, a page, print.
//!
//! Each says what it shows in a title and a sentence. Whatever is drawn can be read back: a mark has its figures as attributes
//! (`data-estimate`, `data-low`, `data-high`, `data-unit`), and in words for whoever points at it.

pub(crate) mod amounts;
mod axis;
mod changes;
pub(crate) mod chosen;
mod claims;
mod findings;
pub(crate) mod flame;
mod found;
mod latency;
pub(crate) mod launches;
mod mark;
mod memory;
pub(crate) mod over_time;
mod percentiles;
mod plot;
mod ranks;
mod scale;
pub(crate) mod series;
mod sheet;
mod shift;
mod soak;
mod steadiness;
mod svg;
mod text;
mod theme;
mod trials;
mod values;

use model::{Analysis, CompareAnalysis, Diagnosis, Judged, Shift};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::asker::Asker;
use crate::compare_words::Line;
use crate::conditions::{Conditions, conditions};
use crate::markdown::escape;
use crate::rows::{Group, groups};
use crate::{answer, compare_words, words};
pub use launches::pictures_of_launches;
pub(crate) use theme::CSS;

use series::About;
use sheet::Drawn;
pub(crate) use values::Values;

/// A picture for a file of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Name of its file: `claims.svg`, `ranks-1.svg` of the first table.
    pub file: String,
    /// What stands above it; no other picture of the analysis has the same.
    pub(crate) title: String,
    /// What it shows, in one sentence.
    pub says: String,
    /// The picture, a whole SVG document. The same analysis gives the same bytes.
    pub svg: String,
    of: Subject,
    values: Values,
    /// What is drawn from step to step, as CSV.
    steps: Option<String>,
}

impl Picture {
    /// Its values as CSV with units in the header, and the name of the file for them.
    pub fn csv(&self) -> (String, String) {
        let csv = self.steps.clone().unwrap_or_else(|| self.values.csv());
        (format!("{}.csv", self.file.trim_end_matches(".svg")), csv)
    }

    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    pub(crate) fn is_of(&self, subject: Subject) -> bool {
        self.of == subject
    }

    /// Whether it is of a launch over time.
    pub(crate) fn is_over_time(&self) -> bool {
        matches!(self.of, Subject::OverTime(..))
    }

    /// The same for a page that has the style of pictures.
    pub(crate) fn within_a_page(&self) -> String {
        within_a_page(&self.svg)
    }
}

/// A picture without the style that it has as a file.
pub(crate) fn within_a_page(svg: &str) -> String {
    svg.replacen(&svg::Node::new("style").text(CSS).to_xml(), "", 1)
}

/// What a picture stands beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The table of claims.
    Claims,
    /// All tables together.
    Tables,
    /// The table with that place among those of cells, or of figures that are compared.
    Table(usize),
    /// A launch of a table's row over time: the places of both.
    OverTime(usize, usize),
    /// The profile of a table's row.
    Profile(usize, usize),
    /// The finding with that place.
    Finding(usize),
}

/// Every picture of what a record means, in the order of the tables that they belong to.
pub fn pictures(judged: &Judged) -> Vec<Picture> {
    match judged {
        Judged::Run(analysis) => of_run(analysis),
        Judged::Comparison(analysis) => of_comparison(analysis),
        Judged::Soak(of) => soak::draw(of).map(|drawn| picture(Subject::Tables, "soak", drawn)).into_iter().collect(),
        Judged::Diagnosis(of) => of_diagnosis(of),
    }
}

fn of_run(analysis: &Analysis) -> Vec<Picture> {
    let conditions = Conditions::of(analysis);
    let groups = groups(analysis, &conditions);
    let cautions: Vec<String> = words::preliminary(analysis).into_iter().collect();
    let answer = answer::of_run(analysis, &groups).map(|(_, text)| text);
    let says = answer.or_else(|| cautions.first().cloned()).unwrap_or_else(|| analysis.question.clone());
    let made = words::header(analysis).join(" · ");
    let mut all: Vec<Picture> = Vec::new();
    all.extend(claims::draw(analysis, &says).map(|drawn| picture(Subject::Claims, "claims", drawn)));
    all.extend(memory::draw(analysis, &conditions).map(|drawn| picture(Subject::Tables, "memory", drawn)));
    for (at, group) in groups.iter().enumerate() {
        let series = series::of_group(group);
        let void = series::void_of(&series, &analysis.void_trials);
        let void = words::void_trials(&void, Asker::Experiment, |cell| conditions.title(cell));
        let about = About { title: &group.title, cautions: &cautions, void, made: &made };
        all.extend(beside(
            at,
            [
                ("ranks", ranks::draw(analysis, group, &says)),
                ("shift", shift_of_run(analysis, group, &about)),
                ("latency", latency::draw(&series, &about)),
                ("trials", trials::draw(&series, &about)),
                ("steadiness", steadiness::draw(&series, &about)),
            ],
        ));
    }
    for (at, finding) in analysis.findings.iter().enumerate() {
        all.extend(findings::draw(analysis, finding).map(|drawn| picture(Subject::Finding(at), "finding", drawn)));
    }
    all
}

fn of_diagnosis(diagnosis: &Diagnosis) -> Vec<Picture> {
    let drawn = |(at, found)| Some(picture(Subject::Finding(at), "finding", found::draw(diagnosis, found)?));
    diagnosis.findings.iter().enumerate().filter_map(drawn).collect()
}

fn of_comparison(analysis: &CompareAnalysis) -> Vec<Picture> {
    let made = compare_words::header(analysis).join(" · ");
    let cautions = changes::cautions(analysis);
    let mut all: Vec<Picture> = Vec::new();
    for (at, (title, lines)) in compare_words::groups(analysis).iter().enumerate() {
        let series =
            lines.first().map(|line| series::of_comparison(analysis, &line.row.conditions)).unwrap_or_default();
        let void = series::void_of(&series, &analysis.void_trials);
        let void = words::void_trials(&void, analysis.form.into(), conditions);
        let about = About { title, cautions: &cautions, void, made: &made };
        all.extend(beside(
            at,
            [
                ("changes", Some(changes::draw(analysis, lines, &about))),
                ("shift", shift_of_comparison(analysis, lines, &about)),
                ("latency", latency::draw(&series, &about)),
                ("trials", trials::draw(&series, &about)),
                ("steadiness", steadiness::draw(&series, &about)),
            ],
        ));
    }
    all
}

/// Of two targets that a table has, and no third.
fn shift_of_run(analysis: &Analysis, group: &Group<'_>, about: &About<'_>) -> Option<Drawn> {
    let conditions = group.rows.first()?.cell.levels.conditions();
    let of_table = |shift: &&Shift| {
        let has = |name: &str| group.rows.iter().any(|row| row.cell.levels.target() == name);
        shift.conditions == conditions && has(&shift.a) && has(&shift.b)
    };
    let shift = analysis.shifts.iter().find(of_table)?;
    shift::draw(shift, &format!("{} ÷ {}", shift.a, shift.b), analysis.margin, about)
}

fn shift_of_comparison(analysis: &CompareAnalysis, lines: &[Line<'_>], about: &About<'_>) -> Option<Drawn> {
    let conditions = &lines.first()?.row.conditions;
    let shift = analysis.shifts.iter().find(|shift| shift.conditions == *conditions)?;
    shift::draw(shift, "new ÷ old", analysis.margin, about)
}

/// Those that could be drawn, beside the table with that place.
fn beside(at: usize, drawn: [(&'static str, Option<Drawn>); 5]) -> impl Iterator<Item = Picture> {
    drawn.into_iter().filter_map(move |(name, drawn)| Some(picture(Subject::Table(at), name, drawn?)))
}

fn picture(of: Subject, name: &str, drawn: Drawn) -> Picture {
    let file = match of {
        Subject::Claims | Subject::Tables => format!("{name}.svg"),
        Subject::Table(at) | Subject::Finding(at) => format!("{name}-{}.svg", at + 1),
        Subject::OverTime(at, row) | Subject::Profile(at, row) => format!("{name}-{}-{}.svg", at + 1, row + 1),
    };
    Picture { file, title: drawn.title, says: drawn.says, svg: drawn.svg, of, values: drawn.values, steps: drawn.steps }
}

/// What of a path may stand in an address as it is.
pub(crate) const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Pictures as Markdown refers to them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Illustrations<'a> {
    /// The folder of their files, seen from where the Markdown is.
    pub(crate) folder: &'a str,
    pub(crate) pictures: &'a [Picture],
}

impl Illustrations<'_> {
    /// The images that stand beside a table.
    pub(crate) fn of_table(&self, at: usize) -> impl Iterator<Item = String> {
        let is_of_row =
            move |of: &Subject| matches!(of, Subject::OverTime(table, _) | Subject::Profile(table, _) if *table == at);
        self.those(move |of| *of == Subject::Table(at)).chain(self.those(is_of_row))
    }

    /// The images that stand beside it.
    pub(crate) fn of(&self, subject: Subject) -> impl Iterator<Item = String> {
        self.those(move |of| *of == subject)
    }

    fn those(&self, is_meant: impl Fn(&Subject) -> bool) -> impl Iterator<Item = String> {
        let image = |picture: &Picture| {
            let path = format!("{}/{}", self.folder.trim_end_matches('/'), picture.file);
            format!("![{}]({})", escape(&picture.says), utf8_percent_encode(&path, KEPT))
        };
        self.pictures.iter().filter(move |picture| is_meant(&picture.of)).map(image)
    }
}
