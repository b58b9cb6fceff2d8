//! Where a row stands.

/// Where a row stands among those of its table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The table has no ranks.
    #[default]
    Nowhere,
    /// The table has ranks, and this row has none.
    Open,
    /// From 1, and whether others share it.
    Rank { rank: u32, tied: bool },
}

impl Place {
    pub(crate) fn rank(self) -> Option<u32> {
        match self {
            Place::Rank { rank, .. } => Some(rank),
            Place::Nowhere | Place::Open => None,
        }
    }

    pub(crate) fn is_tied(self) -> bool {
        matches!(self, Place::Rank { tied: true, .. })
    }
}

/// `1=`, `3`, `–` where there is no rank, nothing where none has one.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Nowhere => Ok(()),
            Place::Open => f.write_str("–"),
            Place::Rank { rank, tied } => write!(f, "{rank}{}", if *tied { "=" } else { "" }),
        }
    }
}

/// Another target with a rank that neither does better nor worse, as far as is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tie {
    pub(crate) target: String,
    /// Whether the two were shown to be the same; else they are too close to call.
    pub(crate) same: bool,
    /// Whether they share a rank; ties do not pass on.
    pub(crate) shares_rank: bool,
}
