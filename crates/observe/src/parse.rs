//! The kernel's text formats (proc(5)), read by bytes.

use rustix::process::Signal;

/// The fields of `/proc/PID/stat` that are used; times in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) parent: u32,
    /// Ended, and not yet waited for.
    pub(crate) zombie: bool,
    /// Page faults without reading from a disk. What has run has some.
    pub(crate) faults: u64,
    /// Those of descendants that ended and were waited for.
    pub(crate) reaped_faults: u64,
    pub(crate) user: u64,
    pub(crate) system: u64,
    /// User time of descendants that ended and were waited for.
    pub(crate) reaped_user: u64,
    pub(crate) reaped_system: u64,
    pub(crate) threads: u32,
    /// Start in ticks since boot; tells a process from a later one of the same number.
    pub(crate) start: u64,
    /// Where its stack begins, which tells a program from the one that took its place (`execve`); 0 where that may not be read.
    pub(crate) stack: u64,
}

pub(crate) fn process_stat(bytes: &[u8]) -> Option<ProcessStat> {
    // The command's name stands in brackets and may itself hold blanks and brackets: start after the last one.
    let name_end = bytes.iter().rposition(|byte| *byte == b')')?;
    let mut fields = words(&bytes[name_end + 1..]);
    let has_ended = matches!(fields.next()?, b"Z" | b"X");
    let parent = number(fields.next()?)?;
    // Field 4 was the parent, 10 are the faults, 14 is the user time.
    let mut fields = fields.skip(5);
    let mut next = || number::<u64>(fields.next()?);
    let (faults, reaped_faults, _major, _reaped_major) = (next()?, next()?, next()?, next()?);
    let (user, system, reaped_user, reaped_system) = (next()?, next()?, next()?, next()?);
    let (_priority, _nice) = (fields.next()?, fields.next()?);
    let threads = number(fields.next()?)?;
    let _interval_timer = fields.next()?;
    let start = number(fields.next()?)?;
    // Behind it are sizes and where its code lies; field 28 is the stack.
    let stack = fields.nth(5).and_then(number).unwrap_or(0);
    Some(ProcessStat {
        parent,
        // The first thread may have ended where others live.
        zombie: has_ended && threads <= 1,
        faults,
        reaped_faults,
        user,
        system,
        reaped_user,
        reaped_system,
        threads,
        start,
        stack,
    })
}

/// CPU ticks of the whole machine since boot that it did not work in, and how many CPUs it has.
///
/// What it worked in is not among these: most kernels count it by what runs when the clock ticks, 250 times a second say, and a load
/// whose requests come in step with that is seen always or never. When a CPU goes idle and when it no longer is they note to the
/// microsecond.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HostTicks {
    pub(crate) cpus: u64,
    /// Idle, waiting for a disk or not.
    pub(crate) idle: u64,
    pub(crate) steal: u64,
}

pub(crate) fn host_ticks(stat: &[u8]) -> Option<HostTicks> {
    let mut lines = stat.split(|byte| *byte == b'\n');
    let mut fields = words(lines.next()?.strip_prefix(b"cpu ")?);
    let mut next = || number::<u64>(fields.next()?);
    let (_user, _nice, _system) = (next()?, next()?, next()?);
    let idle = next()? + next()?;
    let (_interrupt, _soft_interrupt) = (next()?, next()?);
    let cpus = lines.take_while(|line| line.starts_with(b"cpu")).count() as u64;
    // Where a CPU was never idle since boot, nobody counts.
    (idle > 0).then_some(())?;
    Some(HostTicks { cpus, idle, steal: next().unwrap_or(0) })
}

/// How many processes and threads the machine has started since boot, from `/proc/stat`.
pub(crate) fn processes_started(stat: &[u8]) -> Option<u64> {
    labelled(stat, b"processes ")
}

/// Resident pages from `/proc/PID/statm`.
pub(crate) fn resident_pages(statm: &[u8]) -> Option<u64> {
    number(words(statm).nth(1)?)
}

/// The most that a process had resident since that was last reset, in bytes, from its `status`.
pub(crate) fn peak_resident_bytes(status: &[u8]) -> Option<u64> {
    Some(labelled(status, b"VmHWM:")?.saturating_mul(1024))
}

/// Voluntary and involuntary context switches from the `status` of a thread.
pub(crate) fn switches(status: &[u8]) -> Option<(u64, u64)> {
    Some((labelled(status, b"voluntary_ctxt_switches:")?, labelled(status, b"nonvoluntary_ctxt_switches:")?))
}

/// Whether a process ignores that its children end, from the `status` of any of its threads: then nobody waits for them.
pub(crate) fn ignores_children(status: &[u8]) -> bool {
    let ignored =
        line(status, b"SigIgn:").and_then(|mask| u64::from_str_radix(std::str::from_utf8(mask).ok()?, 16).ok());
    // Signal n is bit n - 1.
    ignored.is_some_and(|mask| mask >> (Signal::CHILD.as_raw() - 1) & 1 == 1)
}

/// The number after a label at the start of a line; a unit after it is ignored.
pub(crate) fn labelled(text: &[u8], label: &[u8]) -> Option<u64> {
    number(line(text, label)?)
}

/// The word after a label at the start of a line.
fn line<'a>(text: &'a [u8], label: &[u8]) -> Option<&'a [u8]> {
    text.split(|byte| *byte == b'\n').find_map(|line| words(line.strip_prefix(label)?).next())
}

/// Numbers in a list separated by blanks.
pub(crate) fn numbers(text: &[u8]) -> impl Iterator<Item = u32> {
    words(text).filter_map(number)
}

/// How many CPUs a list such as `0-3,8` names.
pub(crate) fn cpu_list_length(list: &str) -> Option<u32> {
    list.trim().split(',').try_fold(0, |total, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some(total + last.checked_sub(first)? + 1)
    })
}

pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_brackets_in_its_name() {
        let line = b"812 (a) b (c) S 7 812 812 0 -1 4194560 1 2 3 4 150 50 20 10 20 0 15 0 96086 3133440 382 99 4096 8192 140737";
        let expected = ProcessStat {
            parent: 7,
            zombie: false,
            faults: 1,
            reaped_faults: 2,
            user: 150,
            system: 50,
            reaped_user: 20,
            reaped_system: 10,
            threads: 15,
            start: 96_086,
            stack: 140_737,
        };
        assert_eq!(process_stat(line), Some(expected));
        assert_eq!(process_stat(b"812 (a"), None);
        assert_eq!(process_stat(b"812 (a) S 7 812"), None);
    }

    #[test]
    fn the_host_is_away_while_it_is_idle_and_may_tell_nothing_of_steal() {
        let with_steal = b"cpu  100 10 20 900 5 1 2 7 50 0\ncpu0 1 1 1 1\n";
        assert_eq!(host_ticks(with_steal), Some(HostTicks { cpus: 1, idle: 905, steal: 7 }));
        let two = b"cpu  1 1 1 1 1 1 1\ncpu0 1\ncpu1 1\nintr 5\ncpu9 1\n";
        assert_eq!(host_ticks(two), Some(HostTicks { cpus: 2, idle: 2, steal: 0 }));
        assert_eq!(host_ticks(b"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0\n"), None, "a sandbox that tells nothing");
        assert_eq!(host_ticks(b"intr 5"), None);
    }

    #[test]
    fn small_formats() {
        assert_eq!(processes_started(b"cpu  1 1\nbtime 9\nprocesses 812\nprocs_running 2\n"), Some(812));
        assert_eq!(resident_pages(b"765 411 382 5 0 123 0\n"), Some(411));
        assert_eq!(switches(b"voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"), Some((12, 3)));
        assert!(ignores_children(b"SigBlk:\t0000000000000000\nSigIgn:\t0000000000011000\nSigCgt:\t0000000000000000\n"));
        assert!(!ignores_children(
            b"SigBlk:\t0000000000010000\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000010000\n"
        ));
        assert_eq!(labelled(b"MemTotal:       8000 kB\n", b"MemTotal:"), Some(8000));
        assert_eq!(numbers(b"4 17 x 9 ").collect::<Vec<_>>(), [4, 17, 9]);
        assert_eq!(cpu_list_length("0-3,8\n"), Some(5));
        assert_eq!(cpu_list_length("3-0"), None);
    }
}
