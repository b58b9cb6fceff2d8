//! The reply reader under any bytes, torn anywhere: no panic, bounded memory, and the same answer however they are torn.
#![no_main]

use arbitrary::Arbitrary;
use engine::{Advance, HeadCache, MAX_HEAD_BYTES, Reply, ReplyReader};
use libfuzzer_sys::fuzz_target;
use model::ReplyExpectation;

/// The body that every reply of the seeds has.
const BODY: &[u8] = b"Hello world";

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    head_only: bool,
    expects_body: bool,
    /// Lengths of the parts, over and over; the rest comes at once.
    parts: [u8; 4],
    bytes: &'a [u8],
}

/// All replies, and whether the bytes ended as malformed.
fn read<'a>(parts: impl Iterator<Item = &'a [u8]>, expect: &ReplyExpectation, head_only: bool) -> (Vec<Reply>, bool) {
    let (mut reader, mut cache, mut replies) = (ReplyReader::default(), HeadCache::default(), Vec::new());
    for part in parts {
        let mut input = part;
        loop {
            let before = input.len();
            match reader.advance(&mut input, expect, head_only, &mut cache) {
                Advance::Complete(reply) => {
                    assert!(input.len() < before || reply.bytes > 0, "a reply takes bytes");
                    replies.push(reply);
                }
                Advance::Malformed => return (replies, true),
                Advance::NeedMore => break,
            }
        }
        assert!(input.is_empty(), "what is not a reply yet was taken");
        assert!(reader.held().len() <= MAX_HEAD_BYTES + 1, "{} bytes held", reader.held().len());
    }
    match reader.end(expect) {
        Advance::Complete(reply) => replies.push(reply),
        Advance::Malformed => return (replies, true),
        Advance::NeedMore => {}
    }
    (replies, false)
}

fn torn<'a>(bytes: &'a [u8], lengths: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    let mut lengths = lengths.iter().cycle();
    std::iter::from_fn(move || {
        let length = usize::from(*lengths.next()?).max(1).min(rest.len());
        let (part, after) = rest.split_at(length);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

fuzz_target!(|input: Input<'_>| {
    let body = input.expects_body.then(|| BODY.to_vec());
    let expect = ReplyExpectation { status: None, body };
    let whole = read(std::iter::once(input.bytes), &expect, input.head_only);
    let parts = read(torn(input.bytes, &input.parts), &expect, input.head_only);
    assert_eq!(whole, parts, "torn by {:?}", input.parts);
});
