//! What `perf script -F event,ip,sym,dso` prints: a line for each sample, with the event, the address, the function,
//! and the file that it is in.
//!
//! ```text
//! cpu-clock:  ffffffff8b4b2c11 do_syscall_64 ([kernel.kallsyms])
//! cpu-clock:      55d0b6f2a1c0 ngx_http_parse_request_line (/usr/sbin/nginx)
//! cpu-clock:      7f0a1c2d3e4f [unknown] (/usr/lib/x86_64-linux-gnu/libc.so.6)
//! ```

use std::collections::BTreeMap;

use model::{Profile, ProfiledBy};

use crate::profile::{ProfileError, shares, unpack};

/// Largest text that is read: a minute of more than a hundred busy CPUs.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The name that `perf` gives a function it does not know.
const UNKNOWN: &str = "[unknown]";

/// Stands before the functions of the kernel, as in `perf report`.
const KERNEL: &str = "[k]";

/// Reads what `perf script -F event,ip,sym,dso` printed, gzipped. A function of the kernel has `[k]` before its name.
/// The share is that of the functions whose name contains one of `words`, as in [`crate::read_profile`]. A line that
/// is not a sample is passed over.
///
/// # Errors
/// When the bytes cannot be unpacked, are more than 64 MiB, or hold text and no sample.
pub fn read_perf_script(gzipped: &[u8], words: &[String]) -> Result<Profile, ProfileError> {
    let text = unpack(gzipped, MOST_BYTES)?;
    let (mut counts, mut by): (BTreeMap<String, u64>, _) = (BTreeMap::new(), ProfiledBy::Perf);
    for line in text.split(|byte| *byte == b'\n').map(String::from_utf8_lossy) {
        let Some(sample) = Sample::read(&line) else { continue };
        if leaves_the_kernel_out(sample.event) {
            by = ProfiledBy::PerfUser;
        }
        *counts.entry(sample.name()).or_default() += 1;
    }
    if counts.is_empty() && !text.trim_ascii().is_empty() {
        return Err(ProfileError::NoSample);
    }
    Ok(shares(by, &counts, words))
}

struct Sample<'a> {
    event: &'a str,
    address: u64,
    function: &'a str,
}

impl<'a> Sample<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (event, rest) = line.trim().split_once(char::is_whitespace)?;
        let (address, rest) = rest.trim_start().split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some(Self { event: event.strip_suffix(':')?, address, function: without_file(rest).trim() })
    }

    fn name(&self) -> String {
        let function = if self.function.is_empty() { UNKNOWN } else { self.function };
        // The kernel has the upper half of the addresses.
        if self.address.leading_ones() > 0 { format!("{KERNEL} {function}") } else { function.to_owned() }
    }
}

/// The function in `function (file)`. The name of a file that was removed is followed by ` (deleted)`.
fn without_file(text: &str) -> &str {
    let Some(inside) = text.strip_suffix(')') else { return text };
    let inside = inside.strip_suffix(" (deleted)").unwrap_or(inside);
    inside.rfind(" (").map_or(text, |at| &inside[..at])
}

/// `cpu-clock:u`: what `perf` makes of `cpu-clock` where it may not look into the kernel.
fn leaves_the_kernel_out(event: &str) -> bool {
    event.rsplit_once([':', '/']).is_some_and(|(_, modifiers)| modifiers.contains('u') && !modifiers.contains('k'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gzip;
    use proptest::prelude::*;

    fn read(text: &str, words: &[&str]) -> Result<Profile, ProfileError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read_perf_script(&gzip(text.as_bytes()), &words)
    }

    fn names(text: &str) -> Vec<String> {
        read(text, &[]).unwrap().functions.into_iter().map(|function| function.name).collect()
    }

    #[test]
    fn each_line_is_a_sample_of_its_function() {
        let text = "   cpu-clock:  ffffffff8b4b2c11 tcp_sendmsg ([kernel.kallsyms])\n\
                    \x20  cpu-clock:      55d0b6f2a1c0 ngx_http_send (/usr/sbin/nginx)\n\
                    \x20  cpu-clock:  ffffffff8b4b2c99 tcp_sendmsg ([kernel.kallsyms])\n\
                    \x20  cpu-clock:      7f0a1c2d3e4f [unknown] (/usr/lib/libc.so.6)\n";
        let seen = read(text, &["send"]).unwrap();
        assert_eq!((seen.by, seen.samples, seen.share), (ProfiledBy::Perf, 4, Some(0.75)));
        assert_eq!((seen.functions[0].name.as_str(), seen.functions[0].flat_share), ("[k] tcp_sendmsg", 0.5));
        assert_eq!(read(text, &["[k]"]).unwrap().share, Some(0.5), "the kernel as a whole");
        assert_eq!(read(text, &["[unknown]"]).unwrap().share, Some(0.25));
    }

    /// Taken from targets/rust/axum under `bourdon load`; its figures are those of `perf report`, see
    /// tests/profiles/README.md.
    #[test]
    fn a_profile_of_a_rust_server_says_what_perf_itself_says() {
        let seen = read(include_str!("../tests/profiles/axum.perf.txt"), &["tcp_"]).unwrap();
        assert_eq!((seen.by, seen.samples, seen.share), (ProfiledBy::Perf, 104, Some(17.0 / 104.0)));
        let counted: Vec<(&str, f64)> =
            seen.functions.iter().map(|f| (f.name.as_str(), f.flat_share * 104.0)).collect();
        assert_eq!(counted[0], ("[k] finish_task_switch.isra.0", 12.0));
        assert!(
            counted.contains(&("<hyper::proto::h1::role::Server as hyper::proto::h1::Http1Transaction>::parse", 3.0))
        );
        assert_eq!(
            counted.iter().map(|(_, count)| count).sum::<f64>().round(),
            38.0,
            "12, twice 4, four times 3, thrice 2"
        );
    }

    #[test]
    fn a_name_may_hold_whatever_a_compiler_writes() {
        let one = |function: &str| names(&format!("cpu-clock: 7f00 {function}\n")).remove(0);
        assert_eq!(one("<T as core::ops::Fn<(A, B)>>::call (/tmp/a b)"), "<T as core::ops::Fn<(A, B)>>::call");
        assert_eq!(one("operator new(unsigned long) (/lib/x.so)"), "operator new(unsigned long)");
        assert_eq!(one("LazyCompile:~f /srv/app.js:1 (/tmp/perf-7.map)"), "LazyCompile:~f /srv/app.js:1");
        assert_eq!(one("f (/memfd:jit (deleted))"), "f");
        assert_eq!(one("f"), "f", "no file");
        assert_eq!(one(" (/bin/x)"), UNKNOWN);
    }

    #[test]
    fn a_kernel_that_may_not_be_looked_into_is_told() {
        for (event, by) in [
            ("cpu-clock", ProfiledBy::Perf),
            ("cpu-clock:u", ProfiledBy::PerfUser),
            ("cpu-clock:uH", ProfiledBy::PerfUser),
            ("cpu-clock:uk", ProfiledBy::Perf),
            ("software/cpu-clock/", ProfiledBy::Perf),
        ] {
            assert_eq!(read(&format!("{event}: 7f00 f (/bin/x)"), &[]).unwrap().by, by, "{event}");
        }
    }

    #[test]
    fn nothing_recorded_is_no_error_and_another_text_is() {
        assert_eq!(read("\n", &["f"]).unwrap(), Profile { by: ProfiledBy::Perf, ..Profile::default() });
        assert!(matches!(read("usage: perf script", &[]), Err(ProfileError::NoSample)));
        assert!(matches!(read_perf_script(b"<html>", &[]), Err(ProfileError::Gzip(_))));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([a-z:]{0,9}[ :\\t]{0,3}[0-9a-f]{0,17} ?.{0,30}\n?){0,5}") {
            if let Ok(seen) = read(&text, &["a"]) {
                prop_assert!(seen.samples <= text.lines().count() as u64);
                prop_assert!(seen.share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_perf_script(&gzip(&bytes), &[]);
            let _ = read_perf_script(&bytes, &[]);
        }
    }
}
