use model::{
    Audit, AuditCheck, AuditFigure, AuditModel, AuditNote, AuditOutcome, AuditRemark, AuditSource, Printed, Published,
    RowAudit,
};

use crate::audit_words::{check_words, lacks, quantile_name, remark_words};
use crate::format::{counted, duration_us, number, percent, seconds, thousands};
use crate::page::{Page, Style, Tint, join};
use crate::words::words;

/// What stands over remarks.
const WORTH_KNOWING: &str = "worth knowing";

/// Width of the column of names.
const NAMES: usize = 21;

/// What a person sees of an audit: each result with its breaches, remarks, and what could not be checked.
pub fn audit_text(audit: &Audit, style: Style) -> String {
    let mut page = Page::new(style);
    let alone = audit.rows.len() == 1;
    if !alone {
        overview(&mut page, audit);
    }
    for row in &audit.rows {
        // A table may be long: a row without anything to say about it is in the overview's count.
        if alone || row.is_contradictory() || !row.remarks.is_empty() {
            result(&mut page, row, alone);
        }
    }
    if !alone {
        page.gap();
        not_made(&mut page, audit);
    }
    page.finish()
}

fn overview(page: &mut Page, audit: &Audit) {
    let contradictory = audit.rows.iter().filter(|row| row.is_contradictory()).count();
    let all = counted(audit.rows.len() as u64, "result", "results");
    let (tint, text) = match contradictory {
        0 => (Tint::Good, format!("{all}, nothing contradictory in what could be checked")),
        n => (Tint::Bad, format!("{all}, {} with figures that cannot be true together", thousands(n as u64))),
    };
    page.line(tint, &text);
    let failing = audit.rows.iter().filter(|row| row.failing).count() as u64;
    if failing > 0 {
        page.line(
            Tint::Bad,
            &format!("{} over the allowed share of failed requests", counted(failing, "result", "results")),
        );
    }
    remarks(page, &audit.remarks, WORTH_KNOWING);
}

fn result(page: &mut Page, row: &RowAudit, alone: bool) {
    page.gap();
    let tried = row.that(AuditOutcome::Holds).count() > 0;
    let (tint, verdict) = match (row.is_contradictory(), tried) {
        (true, _) if row.cause.is_some() => (Tint::Bad, "its rate and its latencies are not of the same requests"),
        (true, _) => (Tint::Bad, "some figures cannot be true together"),
        (false, _) if row.failing => (Tint::Bad, ""),
        (false, true) => (Tint::Good, "nothing contradictory in what could be checked"),
        (false, false) => (Tint::Unsure, "no check could be made"),
    };
    let mut parts = vec![failed(row), verdict.to_owned()];
    parts.retain(|part| !part.is_empty());
    page.paragraph(0, tint, &format!("{}: {}", row.published.name, parts.join("; ")));
    for line in join(&figures(&row.published), " · ", page.width()) {
        page.line(Tint::Dim, &line);
    }
    remarks(page, row.cause.as_slice(), "why");
    notes(page, row.that(AuditOutcome::Breach), (Tint::Bad, "cannot be true"));
    remarks(page, &row.remarks, WORTH_KNOWING);
    if alone {
        notes(page, row.that(AuditOutcome::Holds), (Tint::Good, "holds"));
        notes(page, row.that(AuditOutcome::NotMade), (Tint::Dim, "could not be checked"));
    } else {
        let holds: Vec<String> = row.that(AuditOutcome::Holds).map(|note| words(note.check.id())).collect();
        if !holds.is_empty() {
            page.entry(1, (Tint::Good, "holds"), NAMES, &holds.join(", "));
        }
    }
}

/// `99.8 % of the requests failed, over the allowed share`, where they did: nothing else is worth as much.
fn failed(row: &RowAudit) -> String {
    let failed = row.published.failed_of().filter(|_| row.failing);
    failed.map_or(String::new(), |(failed, all)| {
        format!("{} of the requests failed, over the allowed share", percent(failed as f64 / all as f64))
    })
}

/// A title, and below it a line for each check.
fn notes<'a>(page: &mut Page, notes: impl Iterator<Item = &'a AuditNote>, title: (Tint, &str)) {
    let mut notes = notes.peekable();
    if notes.peek().is_some() {
        page.line(title.0, &format!(" {}", title.1));
    }
    for note in notes {
        page.entry(3, (Tint::Plain, &words(note.check.id())), NAMES - 2, &said(note));
    }
}

/// What a check came to, with the options that would change it.
fn said(note: &AuditNote) -> String {
    format!("{}{}{}", check_words(note), given_by(lacks(note)), unless_open(note))
}

/// What to say of a load that was not closed, where that alone contradicts a check.
fn unless_open(note: &AuditNote) -> &'static str {
    match (note.check, note.outcome()) {
        (AuditCheck::Unserved, AuditOutcome::Breach) => " (if the generator paused or kept to a rate, say --open)",
        _ => "",
    }
}

fn remarks(page: &mut Page, remarks: &[AuditRemark], title: &str) {
    if !remarks.is_empty() {
        page.line(Tint::Unsure, &format!(" {title}"));
    }
    for remark in remarks {
        page.entry(3, (Tint::Plain, &words(remark.code().id())), NAMES - 2, &remark_words(remark));
    }
}

/// What a table lacks, each reason once: a column that is missing is missing in every row.
fn not_made(page: &mut Page, audit: &Audit) {
    let mut reasons: Vec<(&AuditNote, u64)> = Vec::new();
    for note in audit.rows.iter().flat_map(|row| row.that(AuditOutcome::NotMade)) {
        match reasons.iter_mut().find(|(known, _)| *known == note) {
            Some((_, rows)) => *rows += 1,
            None => reasons.push((note, 1)),
        }
    }
    reasons.sort_by_key(|(note, _)| note.check);
    if !reasons.is_empty() {
        page.line(Tint::Dim, " could not be checked");
    }
    for (note, rows) in reasons {
        let every = rows == audit.rows.len() as u64;
        let of = if every { String::new() } else { format!(" ({})", counted(rows, "result", "results")) };
        page.entry(3, (Tint::Plain, &words(note.check.id())), NAMES - 2, &format!("{}{of}", said(note)));
    }
}

/// The options that give what is missing.
fn given_by(missing: &[AuditFigure]) -> String {
    let option = |figure: &AuditFigure| match figure {
        AuditFigure::Connections => Some("--connections"),
        AuditFigure::Pipeline => Some("--pipeline"),
        AuditFigure::HandlerDelay => Some("--delay"),
        AuditFigure::Workers => Some("--workers"),
        AuditFigure::Duration => Some("--duration"),
        _ => None,
    };
    let options: Vec<&str> = missing.iter().filter_map(option).collect();
    if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) }
}

/// The figures as they were understood.
fn figures(row: &Published) -> Vec<String> {
    let mut parts = Vec::new();
    if row.source != AuditSource::Csv {
        parts.push(row.source.id().to_owned());
    }
    let model = match row.model {
        AuditModel::Closed => "closed",
        AuditModel::ClosedWithPauses => "closed, with pauses",
        AuditModel::Open => "open",
    };
    let connections = row.connections.map(|n| format!(", {}", counted(n, "connection", "connections")));
    parts.push(format!("{model}{}", connections.unwrap_or_default()));
    parts.extend(row.rate_per_s.map(|rate| format!("{} requests/s", number(rate.printed))));
    parts.extend(row.requests.map(|n| counted(n, "request", "requests")));
    parts.extend(row.duration_s.map(|duration| seconds(duration.printed)));
    let latency = &row.latency_us;
    parts.extend(latency.mean.map(|mean| time("mean", mean)));
    let shown: Vec<(f64, Printed)> = latency.quantiles.iter().copied().filter(|(q, _)| *q >= 0.5 && *q < 1.0).collect();
    // Where many quantiles are the same figure, it is shown once.
    parts.extend(shown.chunk_by(|a, b| a.1 == b.1).map(|same| {
        let names: Vec<String> = same.iter().map(|(q, _)| quantile_name(*q)).collect();
        let name = match &names[..] {
            [first, .., last] => format!("{first} to {last}"),
            _ => names.concat(),
        };
        time(&name, same[0].1)
    }));
    parts.extend(latency.max.map(|max| time("max", max)));
    parts
}

/// A 0 stands for all that rounds to it.
fn time(name: &str, value: Printed) -> String {
    match value.printed > 0.0 {
        true => format!("{name} {}", duration_us(value.printed)),
        false => format!("{name} < {}", duration_us(value.high)),
    }
}
