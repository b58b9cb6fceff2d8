//! `/hash`: that the work is done, with nonces and passes that nobody can have prepared for.

use fastrand::Rng;
use sha2::{Digest, Sha256};

use super::{Check, ContractBreach, TEXT, ask, expecting, word};
use crate::client::Probe;
use crate::tls::Place;

/// How often the file is hashed at most: enough that a pass left out is not an accident.
const MOST_PASSES: u32 = 9;

/// The digest that `/hash` must give.
pub(super) fn digest(data: &[u8], passes: u32, nonce: &str) -> String {
    let mut hash = Sha256::new();
    (0..passes).for_each(|_| hash.update(data));
    hash.update(nonce.as_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Each digest with what explains a wrong one: a pass that was left out, or an answer to an earlier question.
pub(super) fn digests(place: &Place, data: &[u8], seed: u64) -> Vec<Check> {
    let mut rng = Rng::with_seed(seed);
    let (few, many) = (rng.u32(2..MOST_PASSES / 2), rng.u32(MOST_PASSES / 2..=MOST_PASSES));
    let (first, second) = (word(&mut rng), word(&mut rng));
    let questions = [(1, ""), (1, &first), (few, &second), (many, &first), (many, &second)];
    let point = |(index, (passes, nonce)): (usize, &(u32, &str))| {
        let expected = digest(data, *passes, nonce);
        let path = format!("/hash?n={passes}&nonce={nonce}");
        let breach_of = |digest: &str, content_type| {
            let expect = expecting(200, Some(digest));
            ask(place, &Probe { path: &path, expect, ..Probe::default() }, content_type)
        };
        let breach = breach_of(&expected, Some(TEXT)).map(|breach| {
            let answers = |digest: &str| breach_of(digest, None).is_none();
            let explained = explain(data, (*passes, nonce), &questions[..index], answers);
            let seen = format!("{} (seed {seed})", explained.as_deref().unwrap_or(&breach.seen));
            // An explanation says all.
            ContractBreach { seen, wrong: breach.wrong.filter(|_| explained.is_none()) }
        });
        Check { endpoint: "/hash", name: format!("GET {path} gives {expected:?}"), breach }
    };
    questions.iter().enumerate().map(point).collect()
}

/// What a wrong digest is: asked again, the target answers with one that was left unfinished or given before.
fn explain(
    data: &[u8],
    (passes, nonce): (u32, &str),
    before: &[(u32, &str)],
    answers: impl Fn(&str) -> bool,
) -> Option<String> {
    if let Some(done) = (1..passes).find(|done| answers(&digest(data, *done, nonce))) {
        let passes = model::counted(done.into(), "pass", "passes");
        return Some(format!("passes were skipped: it is the digest of {passes}"));
    }
    let of = |(passes, nonce): &&(u32, &str)| answers(&digest(data, *passes, nonce));
    before.iter().find(of).map(|(passes, nonce)| {
        format!("looks cached: it is the digest of an earlier request, /hash?n={passes}&nonce={nonce}")
    })
}
