//! What a CPU profile says: how often the samples found each function running. This one is in the format of pprof
//! (profile.proto); [`crate::perf`] reads what Linux `perf` prints.
//!
//! Format: <https://github.com/google/pprof/blob/main/proto/profile.proto>. Only the fields that are used are declared;
//! a decoder of protocol buffers passes over the others.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use flate2::read::MultiGzDecoder;
use model::{NOT_TOLD, Profile, ProfiledBy, ProfiledFunction, StackNode, short_name};
use prost::Message;

/// Largest profile that is taken once it is unpacked. A minute of a busy server is a tenth of this; a few bytes that
/// unpack to gigabytes are none.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Functions that are kept.
const KEPT_FUNCTIONS: usize = 10;

/// Characters of a function's name that are kept. Names of generic code run to hundreds; the target chooses them.
const KEPT_CHARS: usize = 300;

/// Functions of a stack that are read, those of all stacks together, and functions that are kept where each was called. A minute of a busy
/// server has a tenth of these.
const MOST_DEPTH: usize = 128;
const MOST_PASSED: usize = 500_000;
const MOST_NODES: usize = 20_000;

/// The name of a sample without a known function.
const UNKNOWN: &str = "?";

/// Why bytes are not a profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// They cannot be unpacked.
    #[error("it cannot be unpacked: {0}")]
    Gzip(#[from] std::io::Error),
    /// They unpack to more than is taken.
    #[error("it is larger than {} MiB", .0 / 1024 / 1024)]
    TooLarge(u64),
    /// What is inside is not a profile.
    #[error("it is not in the format of pprof: {0}")]
    Format(#[from] prost::DecodeError),
    /// What is inside is not what `perf` prints.
    #[error("no line of it is a sample as `perf script` prints it")]
    NoSample,
}

#[derive(Clone, PartialEq, Message)]
struct PprofProfile {
    #[prost(message, repeated, tag = "2")]
    samples: Vec<PprofSample>,
    #[prost(message, repeated, tag = "4")]
    locations: Vec<PprofLocation>,
    #[prost(message, repeated, tag = "5")]
    functions: Vec<PprofFunction>,
    #[prost(string, repeated, tag = "6")]
    strings: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct PprofSample {
    /// The stack, the innermost location first.
    #[prost(uint64, repeated, tag = "1")]
    location_ids: Vec<u64>,
    /// In a CPU profile the number of samples, then their nanoseconds.
    #[prost(int64, repeated, tag = "2")]
    values: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct PprofLocation {
    #[prost(uint64, tag = "1")]
    id: u64,
    /// What was inlined into the last line's function stands before it.
    #[prost(message, repeated, tag = "4")]
    lines: Vec<PprofLine>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct PprofLine {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct PprofFunction {
    #[prost(uint64, tag = "1")]
    id: u64,
    /// Index of its name.
    #[prost(int64, tag = "2")]
    name: i64,
}

/// Reads a gzipped CPU profile. The share is that of the functions whose name, without the path of its package,
/// contains one of `words`; letters count as they are written.
///
/// # Errors
/// When the bytes are not such a profile, or one of more than 8 MiB.
pub fn read_profile(gzipped: &[u8], words: &[String]) -> Result<Profile, ProfileError> {
    let bytes = unpack(gzipped, MOST_BYTES)?;
    Ok(summarise(&PprofProfile::decode(bytes.as_slice())?, words))
}

/// Reads the samples of a gzipped CPU profile by stack. Of stacks of more than 128 functions the innermost ones are kept; of a profile far
/// larger than any server's some functions are not told, and said to be missing.
///
/// # Errors
/// When the bytes are not such a profile, or one of more than 8 MiB.
pub fn read_stacks(gzipped: &[u8]) -> Result<StackNode, ProfileError> {
    let bytes = unpack(gzipped, MOST_BYTES)?;
    Ok(by_stack(&PprofProfile::decode(bytes.as_slice())?))
}

/// Unpacks no more than so many bytes.
pub(crate) fn unpack(gzipped: &[u8], most_bytes: u64) -> Result<Vec<u8>, ProfileError> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(gzipped).take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes { Err(ProfileError::TooLarge(most_bytes)) } else { Ok(bytes) }
}

fn summarise(profile: &PprofProfile, words: &[String]) -> Profile {
    shares(ProfiledBy::Pprof, &flat_counts(profile), words)
}

/// Turns the samples of each function into shares.
pub(crate) fn shares<N: AsRef<str>>(by: ProfiledBy, counts: &BTreeMap<N, u64>, words: &[String]) -> Profile {
    let counts = || counts.iter().map(|(name, count)| (name.as_ref(), *count));
    let samples = counts().fold(0, |sum: u64, (_, count)| sum.saturating_add(count));
    let share = |count: u64| count as f64 / samples as f64;
    let named = counts().filter(|(name, _)| words.iter().any(|word| short_name(name).contains(word.as_str())));
    let in_named = named.fold(0, |sum: u64, (_, count)| sum.saturating_add(count));
    let mut functions: Vec<(&str, u64)> = counts().collect();
    functions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    functions.truncate(KEPT_FUNCTIONS);
    Profile {
        by,
        samples,
        share: (samples > 0 && !words.is_empty()).then(|| share(in_named)),
        functions: functions
            .into_iter()
            .map(|(name, count)| ProfiledFunction { name: printable(name), flat_share: share(count) })
            .collect(),
    }
}

/// A name that a terminal can show: no control characters, and not without end.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).take(KEPT_CHARS).collect()
}

/// Names of functions by their numbers.
fn names(profile: &PprofProfile) -> HashMap<u64, &str> {
    let name_of = |function: &PprofFunction| profile.strings.get(usize::try_from(function.name).ok()?);
    profile.functions.iter().filter_map(|function| Some((function.id, name_of(function)?.as_str()))).collect()
}

/// How many samples a stack stands for.
fn count_of(sample: &PprofSample) -> u64 {
    sample.values.first().and_then(|count| u64::try_from(*count).ok()).unwrap_or(0)
}

fn by_stack(profile: &PprofProfile) -> StackNode {
    let shown: HashMap<u64, String> = names(profile).into_iter().map(|(id, name)| (id, printable(name))).collect();
    let lines: HashMap<u64, &[PprofLine]> =
        profile.locations.iter().map(|location| (location.id, location.lines.as_slice())).collect();
    let (mut may_make, mut may_pass, mut root) = (MOST_NODES, MOST_PASSED, StackNode::default());
    for sample in profile.samples.iter().filter(|sample| count_of(sample) > 0) {
        let function = |line: &PprofLine| shown.get(&line.function_id).map_or(UNKNOWN, String::as_str);
        let room = MOST_DEPTH.min(may_pass);
        let mut innermost_first: Vec<&str> = Vec::new();
        // One more tells whether something is cut off.
        for id in sample.location_ids.iter().take(room + 1) {
            let left = room + 1 - innermost_first.len();
            match lines.get(id).copied().unwrap_or_default() {
                [] => innermost_first.extend([UNKNOWN].iter().take(left)),
                lines => innermost_first.extend(lines.iter().take(left).map(function)),
            }
        }
        let is_cut = innermost_first.len() > room;
        innermost_first.truncate(room);
        may_pass -= innermost_first.len();
        if is_cut && room < MOST_DEPTH {
            innermost_first.push(NOT_TOLD);
        } else if innermost_first.is_empty() {
            innermost_first.push(UNKNOWN);
        }
        root.add(innermost_first.into_iter().rev(), count_of(sample), &mut may_make);
    }
    root
}

/// The samples of each function in which a stack ends, by name.
fn flat_counts(profile: &PprofProfile) -> BTreeMap<&str, u64> {
    let names = names(profile);
    let leaf_of = |location: &PprofLocation| names.get(&location.lines.first()?.function_id).copied();
    let leaves: HashMap<u64, &str> =
        profile.locations.iter().filter_map(|location| Some((location.id, leaf_of(location)?))).collect();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let count = count_of(sample);
        let leaf = sample.location_ids.first().and_then(|id| leaves.get(id)).copied().unwrap_or(UNKNOWN);
        if count > 0 {
            let sum = counts.entry(leaf).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gzip;
    use proptest::prelude::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Three functions: `a` was inlined into `b`; each sample is a stack of location ids, and a count.
    fn profile(samples: &[(&[u64], i64)]) -> PprofProfile {
        let line = |function_id| PprofLine { function_id };
        PprofProfile {
            samples: samples
                .iter()
                .map(|(stack, count)| PprofSample { location_ids: stack.to_vec(), values: vec![*count, 10_000_000] })
                .collect(),
            locations: vec![
                PprofLocation { id: 7, lines: vec![line(1), line(2)] },
                PprofLocation { id: 8, lines: vec![line(3)] },
            ],
            functions: (1..=3).map(|id| PprofFunction { id, name: id as i64 }).collect(),
            strings: words(&["", "runtime.futex", "net/http.(*conn).serve", "example.com/futex/app.Handle[a/futex.T]"]),
        }
    }

    #[test]
    fn a_sample_counts_for_the_innermost_function_alone() {
        let seen = summarise(&profile(&[(&[7, 8], 3), (&[8], 1)]), &words(&["futex", "nothing"]));
        assert_eq!((seen.samples, seen.functions.len()), (4, 2));
        assert_eq!(seen.functions[0], ProfiledFunction { name: "runtime.futex".into(), flat_share: 0.75 });
        assert_eq!(seen.functions[1].flat_share, 0.25);
        assert_eq!(summarise(&profile(&[(&[8], 1)]), &words(&["Futex"])).share, Some(0.0), "letters count");
    }

    #[test]
    fn stacks_go_from_the_outermost_function_to_what_was_inlined() {
        let root = by_stack(&profile(&[(&[7, 8], 3), (&[8], 1), (&[99], 2), (&[7], -1)]));
        let [handle, serve, futex] =
            ["example.com/futex/app.Handle[a/futex.T]", "net/http.(*conn).serve", "runtime.futex"];
        assert_eq!((root.samples, root.callees.len()), (6, 2));
        assert_eq!(root.callees[UNKNOWN].samples, 2, "of a location that nobody knows");
        assert_eq!(root.callees[handle].callees[serve].callees[futex].samples, 3);
        assert_eq!(root.callees[handle].samples, 4);
        let deep: Vec<u64> = vec![8; 1_000_000];
        let root = by_stack(&profile(&[(&deep, 1)]));
        let depth = std::iter::successors(Some(&root), |node| node.callees.values().next()).count();
        assert_eq!(depth, MOST_DEPTH + 1);
        // As many stacks as use up the budget to the last function, and one more.
        let full: Vec<(&[u64], i64)> = vec![(&deep[..MOST_DEPTH], 1); MOST_PASSED / MOST_DEPTH];
        let rest = &deep[..MOST_PASSED % MOST_DEPTH];
        let root = by_stack(&profile(&[&full[..], &[(rest, 1)]].concat()));
        assert!(!root.own().contains_key(NOT_TOLD), "all of it is told");
        let root = by_stack(&profile(&[&full[..], &[(rest, 1), (&deep[..1], 1)]].concat()));
        assert_eq!(root.own()[NOT_TOLD], 1);
    }

    #[test]
    fn a_word_is_looked_for_behind_the_path() {
        let share = |word: &str| summarise(&profile(&[(&[7], 1), (&[8], 1)]), &words(&[word])).share;
        assert_eq!(share("app.Handle"), Some(0.5));
        assert_eq!(share("example.com"), Some(0.0));
    }

    #[test]
    fn what_points_nowhere_is_unknown_and_no_count_is_below_nothing() {
        let mut odd =
            profile(&[(&[99], 2), (&[], 1), (&[7], -5), (&[8], i64::MAX), (&[8], i64::MAX), (&[8], i64::MAX)]);
        odd.functions[2].name = -1;
        let seen = summarise(&odd, &words(&["futex"]));
        assert_eq!((seen.samples, seen.share), (u64::MAX, Some(0.0)));
        assert_eq!(seen.functions, [ProfiledFunction { name: UNKNOWN.into(), flat_share: 1.0 }]);
        let empty = summarise(&PprofProfile::default(), &words(&["futex"]));
        assert_eq!(empty, Profile::default(), "no sample, no share");
        assert_eq!(summarise(&profile(&[(&[7], 1)]), &[]).share, None, "no words, no share");
    }

    #[test]
    fn a_name_is_harmless_where_it_is_shown() {
        let mut odd = profile(&[(&[8], 1)]);
        odd.strings[3] = format!("\u{1b}[2J{}", "a".repeat(100_000));
        let seen = summarise(&odd, &words(&["aaa"]));
        let name = &seen.functions[0].name;
        assert!(name.starts_with("\u{fffd}[2Ja") && name.chars().count() == KEPT_CHARS, "{name}");
    }

    /// Taken from targets/go/net-http (Go 1.26) under `bourdon load`; its figures are those of `go tool pprof -top
    /// -sample_index=samples`, see tests/profiles/README.md.
    #[test]
    fn a_profile_of_a_go_server_says_what_gos_own_tool_says() {
        let seen = read_profile(include_bytes!("../tests/profiles/go-net-http.pb.gz"), &words(&["futex", "unlock2"]));
        let seen = seen.unwrap();
        assert_eq!((seen.samples, seen.share, seen.functions.len()), (116, Some((2.0 + 5.0) / 116.0), 10));
        let counted: Vec<(&str, f64)> =
            seen.functions[..3].iter().map(|function| (function.name.as_str(), function.flat_share * 116.0)).collect();
        let linux = "internal/runtime/syscall/linux.Syscall6";
        assert_eq!(counted, [(linux, 53.0), ("runtime.unlock2", 5.0), ("runtime.nanotime", 4.0)]);
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let bomb = gzip(&vec![0; MOST_BYTES as usize + 1]);
        assert!(bomb.len() < 100_000);
        assert!(matches!(read_profile(&bomb, &[]), Err(ProfileError::TooLarge(MOST_BYTES))));
        assert!(matches!(read_profile(b"<html>", &[]), Err(ProfileError::Gzip(_))));
        assert!(matches!(read_profile(&gzip(b"<html>"), &[]), Err(ProfileError::Format(_))));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_profile(&bytes, &words(&["a"]));
            if let Ok(seen) = read_profile(&gzip(&bytes), &words(&["a"])) {
                prop_assert!(seen.functions.len() <= KEPT_FUNCTIONS);
                prop_assert!(seen.share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
        }

        #[test]
        fn a_damaged_profile_never_panics(at in 0_usize..200, byte in any::<u8>()) {
            let mut bytes = profile(&[(&[7, 8], 3), (&[8], 1)]).encode_to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(seen) = read_profile(&gzip(&bytes), &words(&["futex"])) {
                let sum: f64 = seen.functions.iter().map(|function| function.flat_share).sum();
                prop_assert!(sum < 1.0 + 1e-9, "{seen:?}");
            }
        }
    }
}
