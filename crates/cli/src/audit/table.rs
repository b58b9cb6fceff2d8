//! A table of results as CSV: a row for each, units in the header.

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use model::{AuditModel, AuditSource, Printed, Published};

use super::number::{count, number, quantile};
use super::refused::{cut_in_two, meant, without_separators};
use crate::experiment::Fault;

/// Most rows that are read: what is said of each takes some kilobytes.
const MOST_ROWS: usize = 100_000;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Name,
    Connections,
    Pipeline,
    Workers,
    Requests,
    Ok,
    Errors,
    Rate,
    /// In so many seconds.
    Delay(f64),
    Duration(f64),
    /// In so many microseconds.
    Latency(Latency, f64),
}

/// Which figure of the latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Latency {
    Mean,
    Stdev,
    Min,
    Max,
    Quantile(f64),
}

/// Columns without a unit.
const PLAIN: [(&str, Column); 8] = [
    ("name", Column::Name),
    ("connections", Column::Connections),
    ("pipeline", Column::Pipeline),
    ("workers", Column::Workers),
    ("requests", Column::Requests),
    ("ok", Column::Ok),
    ("errors", Column::Errors),
    ("rate", Column::Rate),
];

/// What others call a column, and our name for it.
const ALSO_CALLED: [(&str, &str); 21] = [
    ("rps", "rate"),
    ("qps", "rate"),
    ("tps", "rate"),
    ("req/s", "rate"),
    ("reqs/s", "rate"),
    ("requests/s", "rate"),
    ("requests/sec", "rate"),
    ("requests_per_second", "rate"),
    ("throughput", "rate"),
    ("concurrency", "connections"),
    ("clients", "connections"),
    ("conns", "connections"),
    ("failed", "errors"),
    ("failures", "errors"),
    ("framework", "name"),
    ("server", "name"),
    ("avg", "mean_ms"),
    ("average", "mean_ms"),
    ("avg_ms", "mean_ms"),
    ("latency", "mean_ms"),
    ("latency_ms", "mean_ms"),
];

/// Columns that need a unit behind an underscore.
const TIMES: [&str; 14] =
    ["duration", "delay", "mean", "stdev", "min", "max", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "p99.9"];

/// Units of time in microseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1e-3), ("us", 1.0), ("ms", 1e3), ("s", 1e6)];

/// Reads the rows of a table.
///
/// # Errors
/// At the place of a column that is not known, a cell that is not a number, or a row of another length or too many of them.
pub(super) fn read(text: &str) -> Result<Vec<Published>, Fault> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(text, &error))?.clone();
    let mut lines = Lines { text, at: 0, line: 1 };
    let places = Places::of(&mut lines, &header, end_of(&reader));
    let columns = columns(&header, &places)?;
    if let Some(twice) = (1..columns.len()).find(|at| columns[..*at].contains(&columns[*at])) {
        return Err(Fault::new(places.cell(twice), format!("the column `{}` is there twice", &header[twice])));
    }
    let (mut rows, mut record) = (Vec::new(), StringRecord::new());
    while reader.read_record(&mut record).map_err(|error| broken(text, &error))? {
        let places = Places::of(&mut lines, &record, end_of(&reader));
        if rows.len() == MOST_ROWS {
            let fault = Fault::new(places.cell(0), format!("more than {MOST_ROWS} rows"));
            return Err(fault.help("give the table in parts, each with its header"));
        }
        rows.push(row(&columns, &header, &record, &places, rows.len() + 1)?);
    }
    if rows.is_empty() {
        return Err(Fault::new(0..text.lines().next().map_or(0, str::len), "a header and no row below it"));
    }
    Ok(rows)
}

/// Whether a column is called so, here or elsewhere, in whatever case.
pub(super) fn knows(name: &str) -> bool {
    let asked = name.to_lowercase();
    let base = asked.rsplit_once('_').map_or(&*asked, |(base, _)| base);
    PLAIN.iter().any(|(plain, _)| *plain == asked)
        || ALSO_CALLED.iter().any(|(theirs, _)| *theirs == asked)
        || time_column(base, 1.0).is_some()
}

/// What all columns hold, or what is wrong with each that is not known: whoever mends one wants to hear of the others.
fn columns(header: &StringRecord, places: &Places) -> Result<Vec<Column>, Fault> {
    let (mut columns, mut faults) = (Vec::new(), None::<Fault>);
    for (index, name) in header.iter().enumerate() {
        match column(name, places.cell(index)) {
            Ok(column) => columns.push(column),
            Err(fault) => faults = Some(faults.map_or(fault.clone(), |before| before.and(fault))),
        }
    }
    faults.map_or(Ok(columns), Err)
}

fn column(name: &str, place: std::ops::Range<usize>) -> Result<Column, Fault> {
    let asked = name.to_lowercase();
    if let Some((_, column)) = PLAIN.iter().find(|(plain, _)| *plain == asked) {
        return Ok(*column);
    }
    if let Some((base, unit)) = asked.rsplit_once('_')
        && let Some((_, size_us)) = UNITS.iter().find(|(known, _)| *known == unit)
        && let Some(column) = time_column(base, *size_us)
    {
        return Ok(column);
    }
    if time_column(&asked, 1.0).is_some() {
        let cure = format!("write `{name}_ms`, or `_ns`, `_us`, `_s`");
        return Err(Fault::new(place, format!("the column `{name}` has no unit")).help(cure));
    }
    if let Some((_, ours)) = ALSO_CALLED.iter().find(|(theirs, _)| *theirs == asked) {
        let unit = match *ours {
            "rate" => ", which is in requests a second",
            "mean_ms" => ", or `mean_us` or `mean_s`, whichever its unit is",
            _ => "",
        };
        let cure = format!("write `{ours}`{unit}, instead of `{name}`");
        return Err(Fault::new(place, format!("unknown column `{name}`")).help(cure));
    }
    let times = TIMES.iter().flat_map(|time| UNITS.iter().map(move |(unit, _)| format!("{time}_{unit}")));
    let known: Vec<String> = PLAIN.iter().map(|(plain, _)| (*plain).to_owned()).chain(times).collect();
    let plain: Vec<&str> = PLAIN.iter().map(|(plain, _)| *plain).collect();
    let cure = format!("columns are {}, and with a unit (`p99_ms`) {}", plain.join(", "), TIMES.join(", "));
    Err(Fault::new(place, format!("unknown column `{name}`")).help(cure).nearest(&asked, known))
}

fn time_column(base: &str, size_us: f64) -> Option<Column> {
    let latency = match base {
        "duration" => return Some(Column::Duration(size_us * 1e-6)),
        "delay" => return Some(Column::Delay(size_us * 1e-6)),
        "mean" => Latency::Mean,
        "stdev" => Latency::Stdev,
        "min" => Latency::Min,
        "max" => Latency::Max,
        name if name.starts_with('p') => Latency::Quantile(quantile(name)?),
        _ => return None,
    };
    Some(Column::Latency(latency, size_us))
}

/// A row, the `at`-th from 1.
fn row(
    columns: &[Column],
    header: &StringRecord,
    cells: &StringRecord,
    places: &Places,
    at: usize,
) -> Result<Published, Fault> {
    let mut row = Published::new(AuditSource::Csv, AuditModel::Closed);
    row.name = format!("line {}", places.line);
    for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
        if cell.is_empty() || cell == "-" {
            continue;
        }
        enter(&mut row, *column, cell).ok_or_else(|| {
            let wanted = match column {
                Column::Rate | Column::Delay(_) | Column::Duration(_) | Column::Latency(..) => {
                    "number, for instance 12.5"
                }
                _ => "whole number",
            };
            let whose = columns.iter().zip(cells).find(|(column, _)| **column == Column::Name);
            let whose = whose.map_or(String::new(), |(_, name)| format!(", `{name}`"));
            let message = format!("`{}` must be a {wanted}, not `{cell}` (row {at}{whose})", &header[index]);
            Fault::new(places.cell(index), message).help(cure(cell))
        })?;
    }
    row.latency_us.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(row)
}

/// What to write instead of a cell that is not the number it must be.
fn cure(cell: &str) -> String {
    let unit = cell.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    match without_separators(cell) {
        Some(plain) => meant(cell, &plain),
        None if unit.len() < cell.len() && unit.chars().all(|c| c.is_alphabetic() || "/%".contains(c)) => {
            format!("write the number alone, without `{unit}`: the column has the unit")
        }
        None => "leave the cell empty if the figure is not known".to_owned(),
    }
}

fn enter(row: &mut Published, column: Column, cell: &str) -> Option<()> {
    match column {
        Column::Name => row.name = cell.to_owned(),
        Column::Connections => row.connections = Some(count(cell)?),
        Column::Pipeline => row.pipeline = Some(count(cell)?),
        Column::Workers => row.workers = Some(count(cell)?),
        Column::Requests => row.requests = Some(count(cell)?),
        Column::Ok => row.ok = Some(count(cell)?),
        Column::Errors => row.errors = Some(count(cell)?),
        Column::Rate => row.rate_per_s = Some(number(cell)?),
        Column::Delay(size_s) => row.handler_delay_s = Some(number(cell)?.scaled(size_s).printed),
        Column::Duration(size_s) => row.duration_s = Some(number(cell)?.scaled(size_s)),
        Column::Latency(which, size_us) => latency(row, which, number(cell)?.scaled(size_us)),
    }
    Some(())
}

fn latency(row: &mut Published, which: Latency, value: Printed) {
    let latency = &mut row.latency_us;
    match which {
        Latency::Mean => latency.mean = Some(value),
        Latency::Stdev => latency.stdev = Some(value),
        Latency::Min => latency.min = Some(value),
        Latency::Max => latency.max = Some(value),
        Latency::Quantile(q) => latency.quantiles.push((q, value)),
    }
}

/// Where what was read last ends in the text.
fn end_of(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.position().byte()).unwrap_or(usize::MAX)
}

/// Counts the lines of a text, once.
struct Lines<'a> {
    text: &'a str,
    /// Up to where they were counted.
    at: usize,
    /// The line there, from 1.
    line: u64,
}

impl Lines<'_> {
    /// The line of a place that is not before the last one asked for.
    fn line_at(&mut self, place: usize) -> u64 {
        self.line += self.text.get(self.at..place).map_or(0, |between| between.matches('\n').count() as u64);
        self.at = self.at.max(place);
        self.line
    }
}

/// Where the cells of a record stand in the text.
struct Places {
    line: u64,
    cells: Vec<std::ops::Range<usize>>,
}

impl Places {
    /// Of a record that ends there.
    fn of(lines: &mut Lines<'_>, record: &StringRecord, end: usize) -> Self {
        let text = lines.text;
        let start = record.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(0));
        let mut rest = start..end.min(text.len());
        let find = |cell: &str| {
            let ahead = text.get(rest.clone()).unwrap_or_default();
            // A cell in quotes may not stand in the text as it reads: its place is then the rest of the line.
            let Some(offset) = ahead.find(cell) else {
                return rest.start..rest.start + ahead.lines().next().map_or(0, str::len);
            };
            let found = rest.start + offset..rest.start + offset + cell.len();
            let comma = text.get(found.end..rest.end).and_then(|behind| behind.find(','));
            rest.start = comma.map_or(found.end, |comma| found.end + comma + 1);
            found
        };
        let cells = record.iter().map(find).collect();
        Self { line: lines.line_at(start), cells }
    }

    fn cell(&self, index: usize) -> std::ops::Range<usize> {
        self.cells.get(index).cloned().unwrap_or(0..0)
    }
}

/// A table that the CSV reader cannot take apart.
fn broken(text: &str, error: &csv::Error) -> Fault {
    let at = error.position().and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(0);
    // The position may be that of the line end before the record.
    let rest = text.get(at..).unwrap_or_default();
    let start = at + rest.len() - rest.trim_start().len();
    let end = start + text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let line = text.get(start..end).unwrap_or_default();
    let empty = || "an empty cell still needs its comma".to_owned();
    let (message, cure) = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let message = format!("this row has {len} cells and the header {expected_len}");
            (message, len.checked_sub(*expected_len).and_then(|more| cut_in_two(line, more)).unwrap_or_else(empty))
        }
        _ => ("not CSV".to_owned(), empty()),
    };
    Fault::new(start.min(text.len())..end.min(text.len()), message).help(cure)
}
