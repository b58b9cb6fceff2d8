//! What a generator brought of its part of a load, as it goes from one process to another: with a saved load, or from a node to who gave it
//! its orders. Whoever reads it may have been sent anything.

use std::io::Read;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use crate::output::Brought;

/// Schema of what [`Brought::to_bytes`] writes.
pub const PART_SCHEMA: &str = "bourdon.part/1";

/// Most that is read of one, inflated.
const MOST_BYTES: u64 = 64 << 20;

/// Why bytes are not what a generator brought of its part.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// They are not deflated, not JSON, or not its fields.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// They are of another version.
    #[error("its schema is `{0}`, not `{PART_SCHEMA}`")]
    Schema(String),
    /// They are more than anybody writes.
    #[error("it is larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    /// It does not agree with itself.
    #[error("{0}")]
    Unsound(String),
}

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    brought: &'a Brought,
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

#[derive(Deserialize)]
struct Document {
    brought: Brought,
}

impl Brought {
    /// Deflated JSON, schema `bourdon.part/1`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = DeflateEncoder::new(Vec::new(), Compression::default());
        // Writing to memory cannot fail, and every key is a text or a number.
        let _ = serde_json::to_writer(&mut bytes, &Written { schema: PART_SCHEMA, brought: self });
        bytes.finish().unwrap_or_default()
    }

    /// Reads what [`Brought::to_bytes`] wrote.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TransferError> {
        let (mut text, mut from) = (Vec::new(), DeflateDecoder::new(bytes).take(MOST_BYTES + 1));
        from.read_to_end(&mut text).map_err(|error| TransferError::Unreadable(error.to_string()))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(TransferError::TooLarge);
        }
        let unreadable = |error: serde_json::Error| TransferError::Unreadable(error.to_string());
        let Head { schema } = serde_json::from_slice(&text).map_err(unreadable)?;
        if schema != PART_SCHEMA {
            return Err(TransferError::Schema(schema));
        }
        let Document { brought } = serde_json::from_slice(&text).map_err(unreadable)?;
        brought.fault().map_or(Ok(brought), |fault| Err(TransferError::Unsound(fault)))
    }
}

#[cfg(test)]
#[path = "transfer/tests.rs"]
mod tests;
