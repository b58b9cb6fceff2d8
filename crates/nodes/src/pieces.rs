//! What a node brought, in pieces that a message has room for.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Bytes of a piece: in base64 it is two thirds of a message.
const PIECE_BYTES: usize = 512 << 10;

/// Most pieces of one whole: what a load of 100,000 connections brings is a few.
const MOST_PIECES: u32 = 64;

/// Most wholes of which pieces are missing.
const MOST_BEGUN: usize = 4;

/// What was brought when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum When {
    /// After so many seconds of the window, had the load been stopped then.
    After(u64),
    /// By the end.
    AtEnd,
}

/// A part of the bytes of a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub(crate) when: When,
    pub(crate) place: u32,
    pub(crate) of: u32,
    /// In base64.
    pub(crate) bytes: String,
}

/// The pieces of a whole.
pub(crate) fn pieces(when: When, bytes: &[u8]) -> Vec<Piece> {
    let of = bytes.len().div_ceil(PIECE_BYTES).max(1) as u32;
    let chunks = bytes.chunks(PIECE_BYTES).chain(bytes.is_empty().then_some(&[][..]));
    let piece = |(place, bytes): (u32, &[u8])| Piece { when, place, of, bytes: STANDARD.encode(bytes) };
    (0..).zip(chunks).map(piece).collect()
}

/// A whole of which pieces are missing.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    begun: BTreeMap<When, Vec<Option<Vec<u8>>>>,
}

impl Assembly {
    /// Takes a piece; gives the whole with the last one, and nothing of one that is not a piece of the same whole as those before it.
    pub(crate) fn take(&mut self, piece: &Piece) -> Option<Vec<u8>> {
        if piece.of == 0 || piece.of > MOST_PIECES || piece.place >= piece.of {
            return None;
        }
        let bytes = STANDARD.decode(&piece.bytes).ok().filter(|bytes| bytes.len() <= PIECE_BYTES)?;
        let whole = self.begun.entry(piece.when).or_insert_with(|| vec![None; piece.of as usize]);
        if whole.len() == piece.of as usize {
            whole[piece.place as usize].get_or_insert(bytes);
        }
        let is_whole = whole.iter().all(Option::is_some);
        if !is_whole && self.begun.len() > MOST_BEGUN {
            self.begun.pop_first();
        }
        let whole = is_whole.then(|| self.begun.remove(&piece.when)).flatten()?;
        // A whole that came later makes one before it of no use.
        self.begun.retain(|when, _| *when > piece.when);
        Some(whole.into_iter().flatten().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_comes_together_in_any_order_and_from_pieces_that_came_twice() {
        let bytes: Vec<u8> = (0..PIECE_BYTES * 2 + 7).map(|at| (at % 251) as u8).collect();
        let all = pieces(When::After(3), &bytes);
        let mut assembly = Assembly::default();
        assert_eq!([2, 0, 0].map(|at: usize| assembly.take(&all[at])), [None, None, None]);
        assert_eq!(assembly.take(&all[1]), Some(bytes));
        assert_eq!(
            pieces(When::AtEnd, &[]).iter().map(|piece| assembly.take(piece)).collect::<Vec<_>>(),
            [Some(vec![])]
        );
    }

    #[test]
    fn what_is_no_piece_changes_nothing() {
        let piece = pieces(When::After(1), b"abc").remove(0);
        let mut assembly = Assembly::default();
        for (place, of, bytes) in [(0, 0, "YQ=="), (1, 1, "YQ=="), (0, u32::MAX, "YQ=="), (0, 1, "?")] {
            let hostile = Piece { place, of, bytes: bytes.to_owned(), ..piece.clone() };
            assert_eq!(assembly.take(&hostile), None, "{hostile:?}");
        }
        assert!(assembly.begun.is_empty());
        let (first, of_another) = (Piece { of: 2, ..piece.clone() }, Piece { of: 3, place: 1, ..piece.clone() });
        assert_eq!([&first, &of_another].map(|piece| assembly.take(piece)), [None, None]);
        assert_eq!(assembly.take(&Piece { place: 1, ..first.clone() }), Some(b"abcabc".to_vec()));
    }
}
