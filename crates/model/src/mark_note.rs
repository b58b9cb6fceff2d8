use serde::{Deserialize, Serialize};

use crate::{Arm, Cure, Mark, MarkCause, Metric};

/// In how many of a cell's launches something was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launches {
    /// Those in which it was.
    pub with: u32,
    /// All that count.
    pub of: u32,
    /// The one whose figures are told.
    pub told: String,
}

/// What shows a mark. Written as a document it has the mark, too; one that is not the mark that it shows is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct MarkNote {
    /// The figures, which say which mark it is.
    pub cause: MarkCause,
    /// The metrics that it is about; empty where it is about whatever that mark can be about.
    pub metrics: Vec<Metric>,
    /// In how many launches of its cell; none where all of them together tell it, or it is of no cell.
    pub launches: Option<Launches>,
    /// What would mend it, where that is known.
    pub cure: Option<Cure>,
    /// Of a session that is one of two, which.
    pub arm: Option<Arm>,
}

/// A note as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    mark: Mark,
    #[serde(flatten)]
    cause: MarkCause,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<Metric>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    launches: Option<Launches>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cure: Option<Cure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arm: Option<Arm>,
}

impl From<MarkNote> for Written {
    fn from(note: MarkNote) -> Self {
        let MarkNote { cause, metrics, launches, cure, arm } = note;
        Written { mark: cause.mark(), cause, metrics, launches, cure, arm }
    }
}

impl TryFrom<Written> for MarkNote {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { mark, cause, metrics, launches, cure, arm } = written;
        Ok(MarkNote { cause: cause.beside(mark)?, metrics, launches, cure, arm })
    }
}

impl MarkNote {
    /// A mark of no metric in particular.
    pub fn new(cause: MarkCause) -> Self {
        Self { cause, metrics: Vec::new(), launches: None, cure: None, arm: None }
    }

    /// Which mark it is.
    pub fn mark(&self) -> Mark {
        self.cause.mark()
    }

    /// Whether it is about a metric. What marks decide asks this, and not only whether the mark is there.
    pub fn is_about(&self, metric: Metric) -> bool {
        self.metrics.is_empty() || self.metrics.contains(&metric)
    }
}
