use model::{Audit, AuditNote, Published, Reason};
use serde::Serialize;

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
    checks: &'a [AuditNote],
    cause: Option<&'a Reason>,
    remarks: &'a [Reason],
}

/// An audit as one JSON document (`bourdon.audit/1`), pretty printed.
pub fn audit_json(audit: &Audit) -> String {
    let results = audit.rows.iter().map(|row| OneResult {
        contradictory: row.is_contradictory(),
        figures: &row.published,
        checks: &row.checks,
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
