//! What is said of CPU profiles.

use model::{CellAnalysis, NoPerf, NoPprof, NoProfile, ProfiledBy, short_name};

use crate::format::{counted, measured, percent};
use crate::page::unbroken;
use crate::words::bracketed;

/// Where a target's runtime would give one.
const PPROF: &str = "the target gives no CPU profile: /debug/pprof/profile on its admin port";

/// `Profile of nginx by perf (1,840 samples in 6 launches): [k] tcp_sendmsg 46 %, …; the functions asked for 21 % (…)`,
/// or why there is none. `place` are the conditions in words where the table's title does not say them.
pub(crate) fn profile(cell: &CellAnalysis, place: &str) -> Option<String> {
    let profile = cell.profile.as_ref()?;
    let target = format!("{}{}", cell.levels.target(), bracketed(place));
    if profile.launches == 0 {
        return Some(format!("No profile of {target}: {}", no_profile_words(profile.no_profile.as_ref()?)));
    }
    let launches = counted(profile.launches.into(), "launch", "launches");
    let shares: Vec<String> = profile
        .functions
        .iter()
        .map(|function| unbroken(&format!("{} {}", short_name(&function.name), percent(function.flat_share))))
        .collect();
    let samples = counted(profile.samples, "sample", "samples");
    let mut text = format!("Profile of {target}{} ({samples} in {launches})", taken_by(&profile.by));
    // A target that did nothing has no function to name.
    if !shares.is_empty() {
        text.push_str(&format!(": {}", shares.join(", ")));
    }
    if let Some(share) = measured(&profile.share) {
        text.push_str(&format!("; the functions asked for {share}"));
    }
    if let Some(why) = &profile.no_profile {
        text.push_str(&format!("; a launch has none: {}", no_profile_words(why)));
    }
    Some(text)
}

/// ` by perf`; nothing where all of a profile is what the target's runtime gave.
fn taken_by(by: &[ProfiledBy]) -> String {
    if by.iter().all(|by| *by == ProfiledBy::Pprof) {
        return String::new();
    }
    let name = |by: &ProfiledBy| match by {
        ProfiledBy::Pprof => "pprof",
        ProfiledBy::Perf => "perf",
        ProfiledBy::PerfUser => "perf without the kernel",
    };
    format!(" by {}", by.iter().map(name).collect::<Vec<_>>().join(" and "))
}

/// Why there is no profile, with what would mend it.
pub(crate) fn no_profile_words(why: &NoProfile) -> String {
    match why {
        NoProfile::Said(text) => text.clone(),
        NoProfile::Seen { pprof, perf } => {
            let words: Vec<String> = pprof.iter().map(no_pprof).chain(perf.iter().map(no_perf)).collect();
            words.join("; ")
        }
    }
}

fn no_pprof(why: &NoPprof) -> String {
    match why {
        NoPprof::NoAdminPort => "the target has no admin port, which would give a CPU profile".to_owned(),
        NoPprof::Status(status) => format!("{PPROF} answers with status {status}"),
        NoPprof::SomethingElse => format!("{PPROF} answers with something else"),
        NoPprof::Unanswered(error) => format!("{PPROF}: {error}"),
        NoPprof::Unreadable(error) => format!("the target's CPU profile cannot be read: {error}"),
    }
}

fn no_perf(why: &NoPerf) -> String {
    match why {
        NoPerf::NoProcess => "it has no process that `perf` could look at".to_owned(),
        NoPerf::NoTime => "nothing of the window was left for `perf`".to_owned(),
        NoPerf::NotInstalled => {
            "`perf` is not on PATH: install linux-perf (Debian), linux-tools-generic (Ubuntu) or perf (Fedora)"
                .to_owned()
        }
        NoPerf::NotStarted(error) => format!("`perf` cannot be run: {error}"),
        NoPerf::NotAllowed(level) => {
            let level = level.map_or(String::new(), |level| format!(" (kernel.perf_event_paranoid is {level})"));
            format!(
                "`perf` is not allowed to look at it{level}: run bourdon as root or with CAP_PERFMON, or `sysctl \
                 kernel.perf_event_paranoid=1`"
            )
        }
        NoPerf::Failed { how, said } if said.is_empty() => format!("`perf` {how}"),
        NoPerf::Failed { how, said } => format!("`perf` {how}: {said}"),
        NoPerf::Late(seconds) => format!("`perf` did not end within {seconds} s"),
        NoPerf::Unreadable(error) => format!("what `perf` tells cannot be read: {error}"),
        NoPerf::GivenUp => "the CPU profile was given up".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::ProcessEnd;

    use super::*;

    #[test]
    fn why_there_is_no_profile_is_said_of_both_that_could_have_taken_one() {
        let of = |pprof, perf| no_profile_words(&NoProfile::Seen { pprof, perf });
        assert_eq!(
            of(Some(NoPprof::Status(404)), Some(NoPerf::NoTime)),
            "the target gives no CPU profile: /debug/pprof/profile on its admin port answers with status 404; nothing of the \
             window was left for `perf`"
        );
        let cure = ": run bourdon as root or with CAP_PERFMON, or `sysctl kernel.perf_event_paranoid=1`";
        let not_allowed = "`perf` is not allowed to look at it";
        for (why, said) in [
            (NoPerf::NotAllowed(Some(4)), format!("{not_allowed} (kernel.perf_event_paranoid is 4){cure}")),
            (NoPerf::NotAllowed(None), format!("{not_allowed}{cure}")),
            (
                NoPerf::Failed { how: ProcessEnd::Exited(255), said: "no room".to_owned() },
                "`perf` exited with status 255: no room".to_owned(),
            ),
            (
                NoPerf::Failed { how: ProcessEnd::Killed { signal: 9, core_dumped: false }, said: String::new() },
                "`perf` was ended by signal 9 (SIGKILL)".to_owned(),
            ),
        ] {
            assert_eq!(of(None, Some(why)), said);
        }
        let recorded = NoProfile::Said("in words".to_owned());
        assert_eq!(no_profile_words(&recorded), "in words");
    }
}
