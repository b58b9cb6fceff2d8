use serde::{Deserialize, Serialize};

use crate::Unit;

/// A value with its uncertainty. `estimate` is null when nothing could be estimated, the bounds when there were
/// too few launches for an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Point estimate.
    pub estimate: Option<f64>,
    /// Lower bound of the 95 % interval.
    pub low: Option<f64>,
    /// Upper bound of the 95 % interval.
    pub high: Option<f64>,
    /// Unit of all three.
    pub unit: Unit,
}

impl Measured {
    /// Half the interval's width as a share of the estimate.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (estimate, low, high) = (self.estimate?, self.low?, self.high?);
        (estimate != 0.0).then(|| (high - low) / 2.0 / estimate.abs())
    }
}
