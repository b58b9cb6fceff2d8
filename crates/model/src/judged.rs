use crate::{Analysis, CompareAnalysis, Diagnosis, Soak};

/// What a record means. What was asked, which is in its plan, decides which of them it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    /// Cells, ranks, claims.
    Run(Box<Analysis>),
    /// An old server against a new one.
    Comparison(Box<CompareAnalysis>),
    /// What is wrong with one server.
    Diagnosis(Box<Diagnosis>),
    /// Whether one server stays as it is.
    Soak(Box<Soak>),
}
