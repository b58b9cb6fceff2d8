//! Where marks lie, turned back into values by the ticks of their axis: a mark may have the right figure and stand in a wrong place.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::*;

/// A value as its mark lies along the axis.
#[derive(Debug, Default)]
struct Placed {
    estimate: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// Where its estimate lies, and its interval from and to.
    at: Option<f64>,
    from: Option<f64>,
    to: Option<f64>,
}

fn number(element: &BytesStart<'_>, name: &str) -> Option<f64> {
    let attribute = element.attributes().map(Result::unwrap).find(|attribute| attribute.key.as_ref() == name)?;
    attribute.value.parse().ok()
}

/// The ticks with their places, those alone that have a line, and the ratios.
fn read(svg: &str) -> (Vec<(f64, f64)>, Vec<Placed>) {
    let (mut ticks, mut lines, mut placed) = (Vec::new(), Vec::new(), Vec::<Placed>::new());
    let (mut reader, mut depth, mut within) = (Reader::from_str(svg), 0, None::<usize>);
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => {
                let is_open = matches!(event, Event::Start(_));
                let name = element.name();
                let name: &str = name.as_ref();
                if let (Some(estimate), true) = (number(element, "data-estimate"), is_open) {
                    let [low, high] = ["data-low", "data-high"].map(|name| number(element, name));
                    placed.push(Placed { estimate, low, high, ..Placed::default() });
                    within = Some(depth);
                }
                match (within.is_some(), name) {
                    (true, "line") => {
                        let last = placed.last_mut().unwrap();
                        (last.from, last.to) = (number(element, "x1"), number(element, "x2"));
                    }
                    (true, "circle") => placed.last_mut().unwrap().at = number(element, "cx"),
                    (false, "line") => lines.extend(number(element, "x1")),
                    (false, "text") => ticks.extend(number(element, "data-tick").zip(number(element, "x"))),
                    _ => {}
                }
                depth += i32::from(is_open) as usize;
            }
            Event::End(_) => {
                depth -= 1;
                within = within.filter(|outer| *outer < depth);
            }
            _ => {}
        }
    }
    ticks.retain(|(_, x)| lines.iter().any(|line: &f64| (line - x).abs() < 0.01));
    (ticks, placed)
}

#[test]
fn marks_and_the_ends_of_their_intervals_lie_where_the_ticks_say() {
    for (record, file) in
        [("comparison", "changes-1.svg"), ("rotating-comparison", "changes-1.svg"), ("in-turn", "ranks-1.svg")]
    {
        let all = pictures(&judged(record));
        let (ticks, placed) = read(named(&all, file));
        let ([first, .., last], false) = (&ticks[..], placed.is_empty()) else { panic!("{record}: {ticks:?}") };
        let each = (last.1 - first.1) / (last.0.ln() - first.0.ln());
        let place = |value: f64| first.1 + each * (value.ln() - first.0.ln());
        // Places are rounded to tenths.
        let lies = |at: Option<f64>, value: f64| at.is_some_and(|at| (at - place(value)).abs() < 0.3);
        let mut intervals = 0;
        for value in &placed {
            assert!(lies(value.at, value.estimate), "{record}: {value:?} at {}", place(value.estimate));
            // An arrow ends at the edge of the paper.
            let ends = [(value.from, value.low), (value.to, value.high)].into_iter();
            let shown = ends
                .filter_map(|(at, end)| end.filter(|end| (20.0..420.0).contains(&place(*end))).map(|end| (at, end)));
            for (at, end) in shown {
                assert!(lies(at, end), "{record}: {value:?}, {end} at {}", place(end));
                intervals += 1;
            }
        }
        assert!(intervals > 1, "{record}");
    }
}
