//! The settings of a specimen, and how they are read from the environment.

use std::path::PathBuf;
use std::time::Duration;
use std::{env, error, fmt};

use crate::kind::Kind;

/// The longest accepted duration: one day, so that no sum of times comes near the range of `u64`.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Everything that decides what a specimen does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Which defect it has.
    pub kind: Kind,
    /// How long a request is handled before the server acts on it.
    pub handler_delay: Duration,
    /// Requests in their delay at a time, for [`Kind::Pool`]; 0 is taken as 1.
    pub workers: usize,
    /// For [`Kind::Stall`]: from the arrival of the first counted request to the stall.
    pub stall_at: Duration,
    /// For [`Kind::Stall`]: how long it lasts.
    pub stall_for: Duration,
    /// Every how-many-th request shows the defect (1 = all), for kinds whose defect is one of single
    /// requests; is how many-th connection [`Kind::Unclosed`] leaves open; and has the delay of [`Kind::LateReplies`]; 0 is taken as 1.
    pub every: u64,
    /// What the outcomes of [`Kind::Mixed`] are drawn from.
    pub seed: u64,
    /// Rounds of computing for each counted request: a known dial of CPU per request. A round is some nanoseconds.
    pub work: u64,
    /// For [`Kind::Leaking`]: how many bytes of a counted request it keeps.
    pub keep: u64,
    /// For [`Kind::Leaking`]: of how many requests, the first ones; 0 is of all.
    pub keep_of: u64,
    /// How long nobody asks before [`Kind::Deferred`] does what it put off, [`Kind::SlowAfterIdle`] is slow, and
    /// [`Kind::IdleTimeout`] closes connections.
    pub idle_for: Duration,
    /// The file that `/hash` hashes, for kinds that have the contract's endpoints.
    pub data_file: Option<PathBuf>,
    /// Port of the admin server, for the same kinds.
    pub admin_port: Option<u16>,
}

impl Settings {
    /// The defaults: 4 workers, every 10th request, a stall of 1 s after 1 s, seed 1, 512 bytes kept, idle after 1 s. There is no
    /// handler delay, except 10 ms for [`Kind::Serialised`], [`Kind::Pool`] and [`Kind::LateReplies`], and no work, except
    /// 10,000 rounds for [`Kind::Deferred`], idle after 50 ms, and [`Kind::SlowAfterIdle`], idle after 100 ms: they have no defect without.
    pub fn new(kind: Kind) -> Self {
        let handler_delay = match kind {
            Kind::Serialised | Kind::Pool | Kind::LateReplies => Duration::from_millis(10),
            _ => Duration::ZERO,
        };
        let second = Duration::from_secs(1);
        let (work, idle_for) = match kind {
            Kind::Deferred => (10_000, Duration::from_millis(50)),
            Kind::SlowAfterIdle => (10_000, Duration::from_millis(100)),
            _ => (0, second),
        };
        Settings {
            kind,
            handler_delay,
            workers: 4,
            stall_at: second,
            stall_for: second,
            every: 10,
            seed: 1,
            work,
            keep: 512,
            keep_of: 0,
            idle_for,
            data_file: None,
            admin_port: None,
        }
    }

    /// The defaults, overridden by the environment variables `HANDLER_DELAY`, `WORKERS`, `STALL_AT`,
    /// `STALL_FOR`, `EVERY`, `SEED`, `WORK`, `KEEP`, `KEEP_OF`, `IDLE_FOR`, `DATA_FILE` and `ADMIN_PORT` where they are set.
    ///
    /// Durations are a whole number and a unit: `10ms`, `1s`, `1500us`, `800ns`; at most a day.
    ///
    /// # Errors
    ///
    /// The first variable whose value does not make sense, with what to write instead.
    pub fn from_env(kind: Kind) -> Result<Settings, SettingError> {
        Settings::from_lookup(kind, |name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn from_lookup(kind: Kind, lookup: impl Fn(&str) -> Option<String>) -> Result<Settings, SettingError> {
        let mut settings = Settings::new(kind);
        let read = |variable: &'static str| lookup(variable).map(|value| Given { variable, value });
        override_with(&mut settings.handler_delay, read("HANDLER_DELAY"), Given::duration)?;
        override_with(&mut settings.workers, read("WORKERS"), Given::workers)?;
        override_with(&mut settings.stall_at, read("STALL_AT"), Given::duration)?;
        override_with(&mut settings.stall_for, read("STALL_FOR"), Given::duration)?;
        override_with(&mut settings.every, read("EVERY"), Given::every)?;
        override_with(&mut settings.seed, read("SEED"), Given::number)?;
        override_with(&mut settings.work, read("WORK"), Given::number)?;
        override_with(&mut settings.keep, read("KEEP"), Given::number)?;
        override_with(&mut settings.keep_of, read("KEEP_OF"), Given::number)?;
        override_with(&mut settings.idle_for, read("IDLE_FOR"), Given::duration)?;
        settings.data_file = lookup("DATA_FILE").filter(|path| !path.is_empty()).map(PathBuf::from);
        override_with(&mut settings.admin_port, read("ADMIN_PORT"), Given::port)?;
        Ok(settings)
    }

    /// How many requests may be in their delay at a time; `None` is without limit.
    pub(crate) fn slots(&self) -> Option<usize> {
        match self.kind {
            Kind::Serialised => Some(1),
            Kind::Pool => Some(self.workers.max(1)),
            _ => None,
        }
    }
}

fn override_with<T>(
    setting: &mut T,
    given: Option<Given>,
    read: impl Fn(&Given) -> Result<T, SettingError>,
) -> Result<(), SettingError> {
    if let Some(given) = given {
        *setting = read(&given)?;
    }
    Ok(())
}

/// A variable that is set, with its value.
struct Given {
    variable: &'static str,
    value: String,
}

impl Given {
    fn duration(&self) -> Result<Duration, SettingError> {
        parse_duration(&self.value)
            .ok_or_else(|| self.wrong("write a whole number with ns, us, ms or s, at most one day, such as 10ms"))
    }

    fn workers(&self) -> Result<usize, SettingError> {
        let workers = self.value.parse().ok().filter(|&workers| workers > 0);
        workers.ok_or_else(|| self.wrong("write how many requests are handled at a time, from 1 up, such as 4"))
    }

    fn every(&self) -> Result<u64, SettingError> {
        let every = self.value.parse().ok().filter(|&every| every > 0);
        every.ok_or_else(|| self.wrong("write every how-many-th request shows the defect, from 1 (all) up, such as 10"))
    }

    fn number(&self) -> Result<u64, SettingError> {
        self.value.parse().ok().ok_or_else(|| self.wrong("write a whole number from 0 to 18446744073709551615"))
    }

    fn port(&self) -> Result<Option<u16>, SettingError> {
        self.value.parse().map(Some).map_err(|_| self.wrong("write a free port from 1 to 65535"))
    }

    fn wrong(&self, cure: &'static str) -> SettingError {
        SettingError { variable: self.variable, value: self.value.clone(), cure }
    }
}

/// Reads `10ms`, `1s`, `1500us` or `800ns`.
fn parse_duration(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let number: u64 = number.parse().ok()?;
    let duration = match unit {
        "ns" => Duration::from_nanos(number),
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return None,
    };
    (duration <= LONGEST).then_some(duration)
}

/// An environment variable whose value does not make sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The name of the variable.
    pub variable: &'static str,
    /// What it is set to.
    pub value: String,
    /// What to do about it, as an imperative.
    pub cure: &'static str,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is set to {:?}: {}", self.variable, self.value, self.cure)
    }
}

impl error::Error for SettingError {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Result<Settings, SettingError> {
        let find = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::from_lookup(Kind::Pool, find)
    }

    #[test]
    fn unset_variables_leave_the_defaults() {
        assert_eq!(with(&[]).unwrap(), Settings::new(Kind::Pool));
        assert_eq!(Settings::from_env(Kind::Clean).unwrap().kind, Kind::Clean);
    }

    #[test]
    fn every_variable_is_read() {
        let pairs = [
            ("HANDLER_DELAY", "1500us"),
            ("WORKERS", "7"),
            ("STALL_AT", "2s"),
            ("STALL_FOR", "300ms"),
            ("EVERY", "3"),
            ("SEED", "18446744073709551615"),
            ("WORK", "2500"),
            ("KEEP", "4096"),
            ("KEEP_OF", "9"),
            ("IDLE_FOR", "70ms"),
            ("DATA_FILE", "/a/b"),
            ("ADMIN_PORT", "8081"),
        ];
        let expected = Settings {
            kind: Kind::Pool,
            handler_delay: Duration::from_micros(1500),
            workers: 7,
            stall_at: Duration::from_secs(2),
            stall_for: Duration::from_millis(300),
            every: 3,
            seed: u64::MAX,
            work: 2500,
            keep: 4096,
            keep_of: 9,
            idle_for: Duration::from_millis(70),
            data_file: Some("/a/b".into()),
            admin_port: Some(8081),
        };
        assert_eq!(with(&pairs).unwrap(), expected);
    }

    #[test]
    fn errors_name_variable_value_and_cure() {
        let error = with(&[("HANDLER_DELAY", "10 parsecs")]).unwrap_err().to_string();
        assert!(error.contains("HANDLER_DELAY") && error.contains("10 parsecs") && error.contains("10ms"), "{error}");
        for (variable, value) in
            [("WORKERS", "0"), ("EVERY", "0"), ("SEED", "-1"), ("EVERY", "x"), ("STALL_AT", ""), ("ADMIN_PORT", "-1")]
        {
            let error = with(&[(variable, value)]).unwrap_err();
            assert_eq!((error.variable, error.value.as_str()), (variable, value));
        }
    }

    #[test]
    fn durations_need_a_whole_number_and_a_unit() {
        assert_eq!(parse_duration("800ns"), Some(Duration::from_nanos(800)));
        for text in ["", "10", "ms", "1.5s", "-1s", "1 s", "1m", "86401s", "99999999999999999999s", "1ß"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
