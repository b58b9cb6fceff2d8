//! `bourdon audit FILE`: figures that somebody else published, and the arithmetic that they must satisfy together.

mod ab;
mod detect;
mod h2load;
mod hey;
mod k6;
mod number;
mod oha;
mod refused;
mod table;
#[cfg(test)]
mod tests;
mod vegeta;
mod wrk;

use std::io::Read;
use std::path::Path;

use model::{AuditModel, AuditSource, NS_PER_S, Printed, Published};
use report::format::{counted, decimals};

use crate::args::{AuditArgs, AuditFormat};
use crate::bounded;
use crate::exit::{Exit, Failure};
use crate::output::{style, write_out};

/// Largest input that is read: a thousand times the longest summary.
const MOST_BYTES: u64 = 16 << 20;

/// What the standard input is called.
const STDIN: &str = "stdin";

/// `bourdon audit FILE`.
pub(crate) fn run(args: &AuditArgs) -> Result<Exit, Failure> {
    let (name, text) = input(&args.file)?;
    let mut rows = detect::read(&name, &text, args.from)?;
    for row in &mut rows {
        complete(row, args)?;
    }
    let audit = judge::audit(rows);
    write_out(&match args.format {
        AuditFormat::Text => report::audit_text(&audit, style()),
        AuditFormat::Json => report::audit_json(&audit),
    })?;
    Ok(if audit.is_bad() { Exit::Bad } else { Exit::Good })
}

/// The name and text of what is to be audited.
fn input(file: &Path) -> Result<(String, String), Failure> {
    let (name, stdin) = (file.display().to_string(), file == Path::new("-"));
    let name = if stdin { STDIN.to_owned() } else { name };
    let mut bytes = Vec::new();
    let read = |reader: &mut dyn Read, into| reader.take(MOST_BYTES + 1).read_to_end(into);
    let done = match stdin {
        true => read(&mut std::io::stdin(), &mut bytes),
        false => bounded::open(file).and_then(|mut file| read(&mut file, &mut bytes)),
    };
    done.map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}; name a file with a tool's output, or - for stdin"))
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(Failure::usage(format!("{name} is larger than {most} MiB; give the summary, not single requests")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{name} is not UTF-8 text; give what the tool printed")))?;
    // What some editors and shells put before a text does not belong to it.
    Ok((name, text.trim_start_matches('\u{feff}').to_owned()))
}

/// Adds the facts that the output does not hold.
fn complete(row: &mut Published, args: &AuditArgs) -> Result<(), Failure> {
    let is_table = row.source == AuditSource::Csv;
    if let (Some(given), Some(printed), false) = (args.connections, row.connections, is_table)
        && given != printed
    {
        return Err(printed_itself("--connections", &counted(printed, "connection", "connections")));
    }
    let duration_s = args.duration.map(|ns| ns as f64 / NS_PER_S as f64);
    if let (Some(given), Some(printed), false) = (duration_s, row.duration_s, is_table)
        && !(printed.low..=printed.high).contains(&given)
    {
        return Err(printed_itself("--duration", &format!("a duration of {} s", decimals(printed.printed, 3))));
    }
    row.connections = row.connections.or(args.connections);
    row.pipeline = row.pipeline.or(args.pipeline).or(assumed_pipeline(row.source));
    row.duration_s = row.duration_s.or(duration_s.map(Printed::exact));
    row.handler_delay_s = row.handler_delay_s.or(args.delay.map(|ns| ns as f64 / NS_PER_S as f64));
    row.workers = row.workers.or(args.workers);
    if args.open {
        row.model = AuditModel::Open;
    }
    Ok(())
}

fn printed_itself(option: &str, fact: &str) -> Failure {
    Failure::usage(format!("the output itself says {fact}; leave out {option}, which is for what is not printed"))
}

/// h2load and the scripts of k6 may have several requests in flight on a connection and do not print how many.
fn assumed_pipeline(source: AuditSource) -> Option<u64> {
    (!matches!(source, AuditSource::H2load | AuditSource::K6)).then_some(1)
}

/// What stands behind a label at the start of a line.
fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.strip_prefix(label).map(str::trim)
}

/// Adds a quantile that ascends; what does not is of another distribution.
fn add_quantile(row: &mut Published, q: Option<f64>, value: Option<Printed>) {
    let quantiles = &mut row.latency_us.quantiles;
    if let (Some(q), Some(value)) = (q, value)
        && quantiles.last().is_none_or(|(last, _)| *last < q)
    {
        quantiles.push((q, value));
    }
}

/// Adds quantiles that come in any order.
fn add_sorted_quantiles(row: &mut Published, quantiles: impl Iterator<Item = (Option<f64>, Option<Printed>)>) {
    let mut quantiles: Vec<(f64, Printed)> = quantiles.filter_map(|(q, value)| q.zip(value)).collect();
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    quantiles.into_iter().for_each(|(q, value)| add_quantile(row, Some(q), Some(value)));
}
