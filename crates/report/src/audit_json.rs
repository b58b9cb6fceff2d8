use model::{Audit, AuditCheck, AuditNote, AuditOutcome, AuditRemark, AuditResult, Published, Remark};
use serde::Serialize;

use crate::audit_words::{check_words, remark_words};

/// Schema of the document that `audit_json` writes.
pub const AUDIT_SCHEMA: &str = "bourdon.audit/1";

#[derive(Serialize)]
struct AuditDocument<'a> {
    schema: &'static str,
    contradictory: bool,
    results: Vec<OneResult<'a>>,
    remarks: Vec<OneRemark<'a>>,
}

#[derive(Serialize)]
struct OneResult<'a> {
    contradictory: bool,
    figures: &'a Published,
    checks: Vec<OneCheck<'a>>,
    cause: Option<OneRemark<'a>>,
    remarks: Vec<OneRemark<'a>>,
}

#[derive(Serialize)]
struct OneCheck<'a> {
    check: AuditCheck,
    outcome: AuditOutcome,
    text: String,
    #[serde(flatten)]
    figures: &'a AuditResult,
}

#[derive(Serialize)]
struct OneRemark<'a> {
    code: Remark,
    text: String,
    #[serde(flatten)]
    figures: &'a AuditRemark,
}

/// An audit as one JSON document (`bourdon.audit/1`), pretty printed.
pub fn audit_json(audit: &Audit) -> String {
    let results = audit.rows.iter().map(|row| OneResult {
        contradictory: row.is_contradictory(),
        figures: &row.published,
        checks: row.checks.iter().map(one_check).collect(),
        cause: row.cause.as_ref().map(one_remark),
        remarks: row.remarks.iter().map(one_remark).collect(),
    });
    crate::to_json(&AuditDocument {
        schema: AUDIT_SCHEMA,
        contradictory: audit.is_contradictory(),
        results: results.collect(),
        remarks: audit.remarks.iter().map(one_remark).collect(),
    })
}

fn one_check(note: &AuditNote) -> OneCheck<'_> {
    OneCheck { check: note.check, outcome: note.outcome(), text: check_words(note), figures: &note.result }
}

fn one_remark(remark: &AuditRemark) -> OneRemark<'_> {
    OneRemark { code: remark.code(), text: remark_words(remark), figures: remark }
}
