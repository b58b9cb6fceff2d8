//! Whose output it is, seen from the output itself.

use model::{AuditSource, Published};
use serde_json::Value;

use super::number::not_numbers;
use super::{ab, h2load, hey, k6, oha, refused, table, vegeta, wrk};
use crate::exit::Failure;
use crate::experiment::Fault;

/// Reads published results, of the source that is given or of the one that the text looks like.
///
/// # Errors
/// When the text is of an unknown tool, of another one than was given, or holds several results.
pub(super) fn read(name: &str, text: &str, from: Option<AuditSource>) -> Result<Vec<Published>, Failure> {
    let refused = refused::empty(name, text).or_else(|| refused::ours(name, text));
    refused.map_or(Ok(()), |why| Err(Failure::usage(why)))?;
    if text.trim_start().starts_with('{') {
        return Ok(vec![legible(name, json(name, text, from)?)?]);
    }
    let Some(source) = from.or_else(|| recognised(text)) else {
        return Err(Failure::usage(format!(
            "cannot tell whose output {name} is; known are {}. A table needs a header such as \
             name,connections,rate,mean_ms,p99_ms{}; --from says which it is",
            names(),
            other_separator(text)
        )));
    };
    if source == AuditSource::Csv {
        return table::read(text).map_err(|fault| fault.within(name, text).into());
    }
    refused::separated(name, text).map_or(Ok(()), |why| Err(Failure::usage(why)))?;
    if source == AuditSource::Ab {
        whole_ab(name, text)?;
    }
    let results = text.lines().filter(|line| line.trim_start().starts_with(anchor(source))).count();
    match results {
        0 => Err(not_from(name, source)),
        1 => Ok(vec![legible(name, Published { not_numbers: not_numbers(text), ..of(source, text) })?]),
        _ => Err(Failure::usage(format!("{name} holds {results} results of {source}; give one at a time, or a table"))),
    }
}

/// Refuses an output of ab that was cut, at its end or in its middle: of what is missing nothing could be said, and what
/// is left would look like all there is.
fn whole_ab(name: &str, text: &str) -> Result<(), Failure> {
    let missing: Vec<&str> = ab::missing(text);
    if missing.is_empty() {
        return Ok(());
    }
    let lines = missing.iter().map(|line| format!("`{line}`")).collect::<Vec<_>>().join(", ");
    Err(Failure::usage(format!("{name} is not a whole output of ab: it lacks {lines}; give all that ab printed")))
}

fn names() -> String {
    let names: Vec<&str> = AuditSource::ALL.iter().map(|source| source.id()).collect();
    names.join(", ")
}

/// Refuses an output of which not even a rate or a latency could be read: nothing said of it would be true of it.
fn legible(name: &str, row: Published) -> Result<Published, Failure> {
    let latency = &row.latency_us;
    if row.rate_per_s.is_none() && latency.mean.is_none() && latency.quantiles.is_empty() {
        let source = row.source;
        return Err(Failure::usage(format!(
            "{name} looks like output of {source}, but neither a rate nor a latency can be read in it; give the output \
             as {source} printed it"
        )));
    }
    Ok(row)
}

fn not_from(name: &str, source: AuditSource) -> Failure {
    let cure = "give the whole output, or another --from";
    let hint = if source == AuditSource::Csv { "columns" } else { anchor(source) };
    Failure::usage(format!("{name} is not output of {source}: it has no `{hint}`; {cure}"))
}

/// How a line begins that each text of a tool has exactly once.
fn anchor(source: AuditSource) -> &'static str {
    match source {
        AuditSource::Wrk | AuditSource::Wrk2 => "Thread Stats",
        AuditSource::Ab => "Concurrency Level:",
        AuditSource::Hey | AuditSource::Oha => "Requests/sec:",
        AuditSource::H2load => "finished in",
        AuditSource::K6 => "http_reqs",
        AuditSource::Vegeta => "Latencies",
        AuditSource::Csv => "",
    }
}

/// The line that would be a table's header.
fn header(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// What a table's header has instead of commas.
fn other_separator(text: &str) -> &'static str {
    match header(text) {
        Some(header) if header.contains(';') => ", with commas between its cells and not `;`",
        Some(header) if header.contains('\t') => ", with commas between its cells and not tabs",
        _ => "",
    }
}

fn recognised(text: &str) -> Option<AuditSource> {
    let has = |source| text.lines().any(|line| line.trim_start().starts_with(anchor(source)));
    if has(AuditSource::Wrk) {
        let is_wrk2 = text.contains("Thread calibration:") || text.contains("HdrHistogram");
        return Some(if is_wrk2 { AuditSource::Wrk2 } else { AuditSource::Wrk });
    }
    if has(AuditSource::Hey) {
        return Some(if text.contains("Success rate:") { AuditSource::Oha } else { AuditSource::Hey });
    }
    if text.lines().any(|line| line.starts_with(ab::FIRST_LINE)) {
        return Some(AuditSource::Ab);
    }
    let others = [AuditSource::Ab, AuditSource::H2load, AuditSource::K6, AuditSource::Vegeta];
    if let Some(source) = others.into_iter().find(|source| has(*source)) {
        return Some(source);
    }
    // A sentence may have a comma, too.
    let mut cells = header(text)?.split(',').map(|cell| cell.trim().trim_matches('"'));
    (header(text)?.contains(',') && cells.any(table::knows)).then_some(AuditSource::Csv)
}

fn of(source: AuditSource, text: &str) -> Published {
    match source {
        AuditSource::Wrk | AuditSource::Wrk2 => wrk::read(text, source),
        AuditSource::Ab => ab::read(text),
        AuditSource::Hey | AuditSource::Oha => hey::read(text, source),
        AuditSource::H2load => h2load::read(text),
        AuditSource::K6 => k6::read(text),
        AuditSource::Vegeta => vegeta::read(text),
        AuditSource::Csv => Published::new(source, model::AuditModel::Closed),
    }
}

fn json(name: &str, text: &str, from: Option<AuditSource>) -> Result<Published, Failure> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let fault = Fault::new(at..at, format!("not JSON: {message}"));
        Failure::from(fault.help("give the whole document, and nothing else").within(name, text))
    })?;
    refused::our_document(name, &document).map_or(Ok(()), |why| Err(Failure::usage(why)))?;
    let found = if document["summary"]["requestsPerSec"].is_number() {
        Some(AuditSource::Oha)
    } else if document["metrics"]["http_reqs"].is_object() {
        Some(AuditSource::K6)
    } else {
        document["latencies"].is_object().then_some(AuditSource::Vegeta)
    };
    let Some(source) = found else {
        return Err(Failure::usage(format!(
            "{name} is JSON of an unknown tool; known are that of oha (--output-format json), k6 (--summary-export) and \
             vegeta (report -type=json)"
        )));
    };
    if let Some(asked) = from.filter(|asked| *asked != source) {
        return Err(Failure::usage(format!("{name} is JSON of {source}, not of {asked}; leave out --from {asked}")));
    }
    Ok(match source {
        AuditSource::Oha => oha::read(&document),
        AuditSource::K6 => k6::read_json(&document),
        _ => vegeta::read_json(&document),
    })
}
