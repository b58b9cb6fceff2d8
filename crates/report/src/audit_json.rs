use model::{Audit, AuditCheck, AuditNote, AuditOutcome, AuditResult, Published, Reason};
use serde::Serialize;

use crate::audit_words::check_words;

/// Schema of the document that `audit_json` writes.
pub const AUDIT_SCHEMA: &str = "bourdon.audit/1";

#[derive(Serialize)]
struct AuditDocument<'a> {
    schema: &'static str,
    contradictory: bool,
    results: Vec<OneResult<'a>>,
    remarks: &'a [Reason],
}

#[derive(Serialize)]
struct OneResult<'a> {
    contradictory: bool,
    figures: &'a Published,
    checks: Vec<OneCheck<'a>>,
    cause: Option<&'a Reason>,
    remarks: &'a [Reason],
}

#[derive(Serialize)]
struct OneCheck<'a> {
    check: AuditCheck,
    outcome: AuditOutcome,
    text: String,
    #[serde(flatten)]
    figures: &'a AuditResult,
}

/// An audit as one JSON document (`bourdon.audit/1`), pretty printed.
pub fn audit_json(audit: &Audit) -> String {
    let results = audit.rows.iter().map(|row| OneResult {
        contradictory: row.is_contradictory(),
        figures: &row.published,
        checks: row.checks.iter().map(one_check).collect(),
        cause: row.cause.as_ref(),
        remarks: &row.remarks,
    });
    crate::to_json(&AuditDocument {
        schema: AUDIT_SCHEMA,
        contradictory: audit.is_contradictory(),
        results: results.collect(),
        remarks: &audit.remarks,
    })
}

fn one_check(note: &AuditNote) -> OneCheck<'_> {
    OneCheck { check: note.check, outcome: note.outcome(), text: check_words(note), figures: &note.result }
}
