//! Published statements as tests, evaluated once in each block.

mod evaluate;
mod resolve;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use evaluate::evaluate;
pub use resolve::{ClaimError, ResolvedClaim, resolve_claim};
