//! What all that belong to one another know, and nobody else: by it a message is known to be theirs.

use ring::hmac::{self, HMAC_SHA256};
use serde::Deserialize;

use crate::message::{MESSAGE_SCHEMA, Message};

/// Bytes of a signature, which come before the message.
const TAG_BYTES: usize = 32;

/// Bytes of a signature that make it as hard to guess as anything.
const PROOF_BYTES: usize = 16;

/// Largest message that is read or sent: what a nats-server takes unless it is told otherwise.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// Fewest bytes of a secret.
const LEAST_SECRET: usize = 16;

/// A shared secret.
#[derive(Clone)]
pub struct Key(hmac::Key);

/// A secret is too short to be one.
#[derive(Debug, thiserror::Error)]
#[error("it has {0} bytes, fewer than {LEAST_SECRET}")]
pub struct TooShort(usize);

/// Why a message is not heeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unheeded {
    /// It is larger than any.
    TooLarge,
    /// Whoever sent it does not know the key.
    Unsigned,
    /// It is of another version, or no message at all.
    Unknown,
    /// It is of another run.
    OtherRun,
    /// It came before.
    Repeated,
    /// Nobody is expected who is called so, or to say that.
    Unexpected,
    /// It says otherwise than before what the same second brought.
    Contradiction,
}

#[derive(Deserialize)]
struct Claimed {
    from: String,
}

impl Key {
    /// A key of the bytes of a secret, without the white space around it.
    ///
    /// # Errors
    /// When it is too short.
    pub fn new(secret: &[u8]) -> Result<Self, TooShort> {
        let secret = secret.trim_ascii();
        if secret.len() < LEAST_SECRET {
            return Err(TooShort(secret.len()));
        }
        Ok(Self(hmac::Key::new(HMAC_SHA256, secret)))
    }

    /// What is at the end of the addresses of a run: only those with the key can know it, whoever may write to any address.
    pub(crate) fn proof(&self, run: &str) -> String {
        let words = ["bourdon addresses of ", run].concat();
        hex(&hmac::sign(&self.0, words.as_bytes()).as_ref()[..PROOF_BYTES])
    }

    /// A message as it is sent, with its signature (RFC 2104) before it.
    pub(crate) fn seal(&self, message: &Message) -> Vec<u8> {
        // Every key is a text, and every number one that JSON has.
        let text = serde_json::to_vec(message).unwrap_or_default();
        let mut bytes = hmac::sign(&self.0, &text).as_ref().to_vec();
        bytes.extend(text);
        bytes
    }

    /// What was sealed.
    ///
    /// # Errors
    /// When it is anything else, with the name of who claims to have sent it.
    pub(crate) fn open(&self, bytes: &[u8]) -> Result<Message, (Unheeded, Option<String>)> {
        if bytes.len() > MOST_BYTES {
            return Err((Unheeded::TooLarge, None));
        }
        let Some((tag, text)) = bytes.split_at_checked(TAG_BYTES) else { return Err((Unheeded::Unknown, None)) };
        if hmac::verify(&self.0, text, tag).is_err() {
            let claimed = serde_json::from_slice::<Claimed>(text).ok().map(|claimed| name(&claimed.from));
            return Err((Unheeded::Unsigned, claimed));
        }
        let message: Message = serde_json::from_slice(text).map_err(|_| (Unheeded::Unknown, None))?;
        if message.schema != MESSAGE_SCHEMA {
            return Err((Unheeded::Unknown, Some(name(&message.from))));
        }
        Ok(message)
    }
}

/// The signature of a sealed message, in hexadecimal digits.
pub(crate) fn signature(sealed: &[u8]) -> String {
    hex(&sealed[..sealed.len().min(TAG_BYTES)])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name that somebody claims, no longer than one is.
fn name(claimed: &str) -> String {
    claimed.chars().take(16).collect()
}

/// A name that nobody else has: 16 hexadecimal digits. It need not be secret.
pub(crate) fn fresh_name() -> String {
    format!("{:016x}", fastrand::u64(..))
}
