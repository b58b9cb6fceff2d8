//! Published statements as tests, evaluated once in each block.

mod evaluate;
mod notes;
mod sample;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use evaluate::evaluate;
pub use sample::never_enough;
