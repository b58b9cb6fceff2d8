//! How steady launches were: each in the order in which they were made, with the levels between which it changed.

use model::{CellLaunch, Course, LaunchCourse, Unit};

use super::mark::Glyph;
use super::plot::{ACROSS, ground};
use super::scale::{Scale, Steps};
use super::series::{About, Series};
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::format::signed_tick;
use crate::words::{bracketed, words};

/// Height of a panel.
const HEIGHT: f64 = 72.0;
/// Ticks at its side, at most.
const ROWS: usize = 4;
/// Share of a launch's column that its window takes.
const WINDOW: f64 = 0.86;

/// The picture; none where each launch was level, or none was long enough to say.
pub(super) fn draw(series: &[Series<'_>], about: &About<'_>) -> Option<Drawn> {
    let told: Vec<(&Series, Vec<(&CellLaunch, &LaunchCourse)>)> =
        series.iter().map(|one| (one, courses(one))).filter(|(_, courses)| !courses.is_empty()).collect();
    let all = || told.iter().flat_map(|(_, courses)| courses);
    all().any(|(_, it)| it.course != Course::Flat).then_some(())?;
    let values: Vec<f64> = all().flat_map(|(_, it)| relative(it)).map(|(_, _, value)| value).chain([1.0]).collect();
    let around = Scale::around(Steps::Log, &values, 1.03, [0.0, 1.0])?;
    let mut sheet = Sheet::new(&format!("Steadiness{}", bracketed(about.title)), about.cautions);
    sheet.words(
        "",
        "Levels of each launch over its window, as a change from its last one, in the order of the launches",
        2,
    );
    sheet.gap(4.0);
    for (one, courses) in &told {
        panel(&mut sheet, one, courses, &around);
    }
    sheet.key(&[(Glyph::Line, "level, and where it changed")]);
    sheet.small("Of throughput, p99 or CPU per request, whichever went worst in the launch.", 2);
    let says = format!(
        "How steady each launch was over its window: its levels between the seconds at which it changed{}.",
        bracketed(about.title)
    );
    Some(sheet.finish(&says, about.made))
}

fn courses<'a>(one: &Series<'a>) -> Vec<(&'a CellLaunch, &'a LaunchCourse)> {
    let launches = one.cell.launches.iter();
    launches.filter_map(|launch| Some((launch, launch.course.as_ref()?))).collect()
}

/// The levels from begin to end, as shares of the window, each ÷ the last one.
fn relative(it: &LaunchCourse) -> Vec<(f64, f64, f64)> {
    let last = it.levels.last().map_or(1.0, |(_, value)| *value);
    let ends = it.levels.iter().skip(1).map(|(from_s, _)| *from_s).chain([it.window_s]);
    let level =
        |((from_s, value), end_s): (&(f64, f64), f64)| (from_s / it.window_s, end_s / it.window_s, value / last);
    it.levels.iter().zip(ends).map(level).filter(|(.., value)| value.is_finite() && *value > 0.0).collect()
}

fn panel(sheet: &mut Sheet, one: &Series<'_>, courses: &[(&CellLaunch, &LaunchCourse)], around: &Scale) {
    let level = courses.iter().filter(|(_, it)| it.course == Course::Flat).count();
    sheet.line(("strong", &one.name), ("small number", &format!("{level} of {} level", courses.len())), 0.0);
    sheet.gap(2.0);
    let (top, bottom) = (sheet.y(), sheet.y() + HEIGHT);
    let y = Scale { from: bottom, to: top, ..*around };
    let ticks = y.ticks(ROWS).into_iter().map(|tick| (tick, signed_tick(tick - 1.0))).collect();
    let [from, to] = ACROSS;
    let x = Scale { steps: Steps::Even, low: 0.0, high: courses.len() as f64, from, to };
    let mut nodes = ground((&x, &Vec::new()), (&y, &ticks));
    nodes.push(Node::line("reference", [from, y.place(1.0)], [to, y.place(1.0)]));
    nodes.extend(courses.iter().enumerate().map(|(at, of)| launch((&x, &y), at, of, &one.name)));
    sheet.draw(HEIGHT + 8.0, nodes);
}

fn launch((x, y): (&Scale, &Scale), at: usize, (launch, it): &(&CellLaunch, &LaunchCourse), of: &str) -> Node {
    let course = words(it.course.id());
    let said = format!("{}: {course}, by {}", launch.id, it.metric.words());
    let group = Node::group("launch", &said).with("data-of", launch.id.as_str()).with("data-series", of);
    let group = group.with("data-unit", Unit::Ratio.id()).with("data-course", it.course.id());
    let place = |share: f64| x.place(at as f64 + (1.0 - WINDOW) / 2.0 + share * WINDOW);
    let levels = relative(it);
    let path: Vec<[f64; 2]> = levels
        .iter()
        .flat_map(|(from, to, value)| [[place(*from), y.place(*value)], [place(*to), y.place(*value)]])
        .collect();
    let first = levels.first().map(|(.., value)| *value);
    group.figure("data-first", first).hold([Node::path("line", &path)])
}
