use crate::{AuditNote, AuditOutcome, AuditRemark, Published};

/// What the arithmetic says of one result.
#[derive(Debug, Clone, PartialEq)]
pub struct RowAudit {
    /// The figures as they were read.
    pub published: Published,
    /// All checks, in the order of `AuditCheck::ALL`.
    pub checks: Vec<AuditNote>,
    /// What explains all of its contradictions, where that is known.
    pub cause: Option<AuditRemark>,
    /// What does not contradict anything but should be known.
    pub remarks: Vec<AuditRemark>,
    /// Whether more of its requests failed than may.
    pub failing: bool,
}

impl RowAudit {
    /// The checks that ended so.
    pub fn that(&self, outcome: AuditOutcome) -> impl Iterator<Item = &AuditNote> {
        self.checks.iter().filter(move |note| note.outcome() == outcome)
    }

    /// Whether some figures cannot be true together.
    pub fn is_contradictory(&self) -> bool {
        self.that(AuditOutcome::Breach).next().is_some()
    }
}

/// What the arithmetic says of published results.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// One entry for each result, in the order of the file.
    pub rows: Vec<RowAudit>,
    /// Remarks about the results together.
    pub remarks: Vec<AuditRemark>,
}

impl Audit {
    /// Whether some figures of a result cannot be true together.
    pub fn is_contradictory(&self) -> bool {
        self.rows.iter().any(RowAudit::is_contradictory)
    }

    /// Whether the answer is bad: some figures cannot be true together, or more requests of a result failed than may.
    pub fn is_bad(&self) -> bool {
        self.is_contradictory() || self.rows.iter().any(|row| row.failing)
    }
}
