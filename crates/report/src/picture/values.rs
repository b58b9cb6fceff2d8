//! The values of a picture as a table, read back from its marks: whatever is drawn is in it.

use model::Unit;

use super::svg::{AT_LEAST, Node};
use crate::format::quantity;
use crate::markdown::{escape, line};
use crate::words::at_least;

/// Attributes of a mark that say what it is, and are no columns of their own.
const SAID: [&str; 2] = ["data-of", "data-unit"];

/// Those that are no figures of the mark, whatever they look like: a target may be called 5.
const WORDS: [&str; 5] = ["data-series", "data-block", "data-connections", "data-use", AT_LEAST];

/// The values of a picture, mark by mark in the order in which they are drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    rows: Vec<Row>,
}

/// A mark.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    of: String,
    unit: Option<Unit>,
    /// Whether it says in words what it is; one of many small ones does not.
    in_words: bool,
    cells: Vec<(&'static str, String)>,
}

/// What names a column: the attribute, and of figures the unit.
type Column = (&'static str, Option<Unit>);

impl Values {
    /// Those of marks that say whose they are.
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut rows = Vec::new();
        nodes.iter().for_each(|node| node.each(&mut |node| rows.extend(Row::of(node))));
        Self { rows }
    }

    /// As CSV with the unit of each column in the header, every digit, and nothing where there is no figure.
    pub(crate) fn csv(&self) -> String {
        let columns = columns(&self.rows, |row| row.unit);
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = columns.iter().map(|(name, unit)| match unit {
            Some(unit) => format!("{} ({})", heading(name), unit.id()),
            None => heading(name).to_owned(),
        });
        let header: Vec<String> = std::iter::once("of".to_owned()).chain(header).collect();
        // Nothing fails that is written to memory.
        let _ = writer.write_record(header);
        for row in &self.rows {
            let cells = columns.iter().map(|(name, unit)| row.cell((name, *unit)).unwrap_or_default().to_owned());
            let _ = writer.write_record(std::iter::once(row.of.clone()).chain(cells));
        }
        writer.into_inner().ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Those of marks that say in words what they are: what a table for people has.
    pub(crate) fn in_words(&self) -> Self {
        Self { rows: self.rows.iter().filter(|row| row.in_words).cloned().collect() }
    }

    /// The table for people in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let (header, rows) = self.table();
        let rule: Vec<&str> = header.iter().map(|(_, is_figure)| if *is_figure { "---:" } else { "---" }).collect();
        let header: Vec<&str> = header.iter().map(|(name, _)| *name).collect();
        let cells = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            line(&cells.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let lines: Vec<String> = [line(&header), line(&rule)].into_iter().chain(rows.iter().map(cells)).collect();
        lines.join("\n")
    }

    /// As a table for people: the header, of each column whether it holds figures, and the rows.
    pub(crate) fn table(&self) -> (Vec<(&'static str, bool)>, Vec<Vec<String>>) {
        let rows: Vec<Row> = self.rows.iter().filter(|row| row.in_words).cloned().collect();
        let mut columns = columns(&rows, |_| None);
        // A sign before the figure says it.
        columns.retain(|(name, _)| *name != AT_LEAST);
        let holds_figures = |name: &str| rows.iter().any(|row| row.figure(name).is_some());
        let header = columns.iter().map(|(name, _)| (heading(name), holds_figures(name)));
        let cell = |row: &Row, name: &str| match row.figure(name) {
            Some((value, unit)) => at_least(row.is_bound(name), quantity(value, unit)),
            None => row.text(name).unwrap_or("–").to_owned(),
        };
        let line = |row: &Row| {
            std::iter::once(row.of.clone()).chain(columns.iter().map(|(name, _)| cell(row, name))).collect()
        };
        (std::iter::once(("of", false)).chain(header).collect(), rows.iter().map(line).collect())
    }
}

impl Row {
    fn of(node: &Node) -> Option<Self> {
        let of = node.attribute("data-of")?.to_owned();
        let unit = node.attribute("data-unit").and_then(Unit::from_id);
        let said = |(name, _): &(&str, &str)| name.starts_with("data-") && !SAID.contains(name);
        let cells = node.attributes().filter(said).map(|(name, value)| (name, value.to_owned())).collect();
        Some(Self { of, unit, in_words: node.is_said(), cells })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.cells.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    fn is_bound(&self, name: &str) -> bool {
        let bounds = self.text(AT_LEAST).unwrap_or_default();
        bounds.split(' ').any(|figure| Some(figure) == name.strip_prefix("data-"))
    }

    fn figure(&self, name: &str) -> Option<(f64, Unit)> {
        let text = self.text(name).filter(|_| !WORDS.contains(&name))?;
        Some((text.parse().ok()?, self.unit?))
    }

    /// What stands in a column, if that is of its unit.
    fn cell(&self, (name, unit): (&str, Option<Unit>)) -> Option<&str> {
        let own = self.figure(name).map(|(_, unit)| unit);
        self.text(name).filter(|_| own == unit)
    }
}

/// Every column that a row has something for, in the order in which they come.
fn columns(rows: &[Row], unit: impl Fn(&Row) -> Option<Unit>) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        for (name, _) in &row.cells {
            let column = (*name, row.figure(name).and_then(|_| unit(row)));
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
    }
    columns
}

/// What a column is called.
fn heading(attribute: &'static str) -> &'static str {
    match attribute {
        "data-low" => "95 % low",
        "data-high" => "95 % high",
        AT_LEAST => "at least",
        other => other.trim_start_matches("data-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<Node> {
        let value = |of: &str, unit: Unit, estimate| {
            let mark = Node::group("value", "said").with("data-of", of).with("data-unit", unit.id());
            mark.figure("data-estimate", Some(estimate)).figure("data-low", Some(estimate / 2.0))
        };
        let slice = Node::new("circle").with("data-of", "slice").with("data-unit", Unit::Us.id());
        vec![
            Node::new("g").hold([value("a, \"b\"", Unit::Us, 1_500.0)]),
            value("errors", Unit::Share, 0.25).with("data-use", "5").at_least(&["estimate"]),
            slice.figure("data-value", Some(0.1 + 0.2)),
            Node::new("line"),
        ]
    }

    #[test]
    fn csv_has_every_digit_and_units_in_its_header() {
        let expected = "of,estimate (us),95 % low (us),estimate (share),95 % low (share),use,at least,value (us)\n\
                        \"a, \"\"b\"\"\",1500,750,,,,,\nerrors,,,0.25,0.125,5,estimate,\nslice,,,,,,,0.30000000000000004\n";
        assert_eq!(Values::of(&nodes()).csv(), expected);
    }

    #[test]
    fn markdown_is_the_table_for_people() {
        let values = Values::of(&nodes());
        let expected = "| of | estimate | 95 % low | use |\n| --- | ---: | ---: | --- |\n\
                        | a, \"b\" | 1.50 ms | 750 µs | – |\n| errors | ≥ 25 % | 12 % | 5 |";
        assert_eq!(values.markdown(), expected);
        assert_eq!(values.in_words().csv().lines().count(), 3, "{}", values.in_words().csv());
    }

    #[test]
    fn a_table_has_figures_with_their_units_and_what_says_itself_in_words() {
        let (header, rows) = Values::of(&nodes()).table();
        assert_eq!(header, [("of", false), ("estimate", true), ("95 % low", true), ("use", false)]);
        assert_eq!(rows, [vec!["a, \"b\"", "1.50 ms", "750 µs", "–"], vec!["errors", "≥ 25 %", "12 %", "5"]]);
    }
}
