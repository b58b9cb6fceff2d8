//! The most memory that a process had between two looks. The kernel has one such figure for each process, and whoever looks at this
//! one begins it anew, so that nothing else is tested here.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use observe::{Family, ProcSource, Sampler};
use support::monotonic;

#[test]
fn memory_that_a_process_had_for_a_moment_between_two_looks_is_seen() {
    const MOST: usize = 64 << 20;
    let mut sampler = Sampler::new(Family::of(std::process::id()), None, &ProcSource::default(), monotonic());
    // What it had before anybody looked does not count.
    drop(std::hint::black_box(vec![1_u8; 4 * MOST]));
    let first = sampler.sample();
    assert_eq!((first.peak_rss_bytes, first.peak_is_whole), (first.rss_bytes, true));
    drop(std::hint::black_box(vec![1_u8; MOST]));
    let second = sampler.sample();
    let had = second.peak_rss_bytes as usize;
    assert!((second.rss_bytes as usize) < had - MOST / 2, "it has given it back: {second:?}");
    assert!(
        (first.rss_bytes as usize + MOST / 2..first.rss_bytes as usize + 2 * MOST).contains(&had),
        "{first:?} {second:?}"
    );
    let third = sampler.sample();
    assert!((third.peak_rss_bytes as usize) < had - MOST / 2, "that look has seen it: {third:?}");
}
