use serde::{Deserialize, Serialize};

use crate::{Cell, Measured};

/// What one connection more costs a target in memory, from the fewest connections of a run to the most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemorySlope {
    /// The target with the conditions, but for the connections.
    #[serde(rename = "where")]
    pub levels: Cell,
    /// The fewest connections, and the most.
    pub connections: [u64; 2],
    /// Bytes a connection: the difference of peak memory in a block ÷ that of the connections, over blocks. Nothing was estimated where
    /// the two count different things, or one only a part.
    pub bytes: Measured,
}
