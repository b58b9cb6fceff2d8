//! What cells may differ in, and what the levels of each factor say.

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

kinds! {
    /// A key of the load, by which cells may differ.
    LoadKey {
        /// The path and query that is asked for.
        Path = "path",
        /// The request's method.
        Method = "method",
        /// What is sent with it.
        Body = "body",
        /// Requests a second, or a [`RateInWords`].
        Rate = "rate",
        /// How the requests of an open load are spaced.
        Arrivals = "arrivals",
        /// Connections at once.
        Connections = "connections",
        /// Requests on a connection at once.
        Pipeline = "pipeline",
        /// Whether a connection serves more than one request.
        KeepAlive = "keep_alive",
        /// Whether TLS is spoken.
        Tls = "tls",
        /// Whether TLS sessions are resumed.
        TlsResume = "tls_resume",
        /// The version of HTTP.
        Http = "http",
        /// How long a reply may take.
        Timeout = "timeout",
        /// What the network adds to a round trip.
        NetworkDelay = "network_delay",
        /// The status that a reply must have.
        ExpectStatus = "expect_status",
        /// The body that it must have.
        ExpectBody = "expect_body",
        /// Which requests of a mix are sent.
        Requests = "requests",
    }
}

kinds! {
    /// Which requests of a mix are sent: a level of [`LoadKey::Requests`].
    MixRequests {
        /// One for each route, parameters filled in.
        Hit = "hit",
        /// Those of routes without parameters.
        Static = "static",
        /// Those of routes with parameters.
        Parameter = "parameter",
        /// Paths that are almost routes, and none.
        Miss = "miss",
    }
}

/// What cells may differ in. Settings that targets declare have names of their own, of which one means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// The server.
    Target,
    /// How many CPUs it has.
    TargetCpus,
    /// What it is built with.
    Runtime,
    /// Whether a CPU profile of it is taken.
    Profile,
    /// Whether it is given a port for its runtime's figures.
    Admin,
    /// Whether another load is on it at the same time.
    Beside,
    /// How long the server takes that its handlers ask.
    BackendDelay,
    /// How many requests that one serves at once.
    BackendWorkers,
    /// Whether that one refuses where all of these are busy.
    BackendRefuses,
    /// The setting that says how long its handler waits.
    HandlerDelay,
    /// What it is asked for, and how.
    Load(LoadKey),
}

impl Factor {
    /// Every factor.
    pub fn all() -> impl Iterator<Item = Factor> {
        use Factor::{
            Admin, BackendDelay, BackendRefuses, BackendWorkers, Beside, HandlerDelay, Profile, Runtime, Target,
            TargetCpus,
        };
        let others = [
            Target,
            TargetCpus,
            Runtime,
            Profile,
            Admin,
            Beside,
            BackendDelay,
            BackendWorkers,
            BackendRefuses,
            HandlerDelay,
        ];
        others.into_iter().chain(LoadKey::ALL.iter().copied().map(Factor::Load))
    }

    /// Its name in an experiment, a cell and a claim.
    pub const fn id(self) -> &'static str {
        match self {
            Factor::Target => "target",
            Factor::TargetCpus => "target_cpus",
            Factor::Runtime => "runtime",
            Factor::Profile => "profile",
            Factor::Admin => "admin",
            Factor::Beside => "beside",
            Factor::BackendDelay => "backend_delay",
            Factor::BackendWorkers => "backend_workers",
            Factor::BackendRefuses => "backend_refuses",
            Factor::HandlerDelay => "handler_delay",
            Factor::Load(key) => key.id(),
        }
    }

    /// The factor of that name; none of a setting that means nothing here.
    pub fn from_id(id: &str) -> Option<Factor> {
        Factor::all().find(|factor| factor.id() == id)
    }
}

/// The level of [`Factor::TargetCpus`] of a target that may use every CPU.
pub const ALL_CPUS: &str = "all";

/// A level of [`LoadKey::Rate`] that is not a number of requests a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateInWords {
    /// The load is closed, where that of other cells is open: `closed`.
    Closed,
    /// A share of what the slowest of the compared targets serves in a closed load, in percent: `50% of closed`.
    OfClosed(f64),
}

/// How a share of a closed load ends.
const OF_CLOSED: &str = "% of closed";

impl RateInWords {
    /// What a text says; none where it is not such a rate.
    pub fn parse(text: &str) -> Option<RateInWords> {
        match text.strip_suffix(OF_CLOSED) {
            Some(percent) => percent.trim().parse().ok().map(RateInWords::OfClosed),
            None => (text == "closed").then_some(RateInWords::Closed),
        }
    }
}

impl std::fmt::Display for RateInWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RateInWords::Closed => f.write_str("closed"),
            RateInWords::OfClosed(percent) => write!(f, "{percent}{OF_CLOSED}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_known_by_its_name() {
        for factor in Factor::all() {
            assert_eq!(Factor::from_id(factor.id()), Some(factor));
        }
        assert_eq!(Factor::from_id("gc"), None, "a setting of some target");
    }

    #[test]
    fn a_rate_in_words_is_read_as_it_is_written() {
        for rate in [RateInWords::Closed, RateInWords::OfClosed(50.0), RateInWords::OfClosed(0.5)] {
            assert_eq!(RateInWords::parse(&rate.to_string()), Some(rate), "{rate}");
        }
        assert_eq!(RateInWords::parse("half of closed"), None);
    }
}
