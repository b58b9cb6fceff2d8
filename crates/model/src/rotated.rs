//! Whether launches went round together, and why not.

use serde::{Deserialize, Serialize};

use crate::Reason;
use crate::outcome::kinds;

/// How the launches of a cell are made where its plan rotates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rotated {
    /// Together with those of the other targets under the same conditions.
    Together {
        /// How often each has a slice in a launch.
        rounds: u32,
        /// How long a slice is measured as a mean, in seconds.
        slice_s: f64,
    },
    /// Each alone, as the plan has it.
    Planned(Whole),
    /// Each alone, because a launch of one of these targets cannot go round.
    Seen {
        /// The target; none where another showed the same beside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// What shows that.
        reason: Reason,
    },
}

kinds! {
    /// Why launches are alone by the plan, although it rotates.
    Whole {
        /// One launch has several levels of the load, one after the other.
        Ladder = "ladder",
        /// No other target shares the conditions.
        OneTarget = "one-target",
        /// Each request has a connection of its own.
        NewConnections = "new-connections",
        /// The load is a number of requests, not a window.
        Requests = "requests",
        /// Something delays what passes between load and target.
        NetworkDelay = "network-delay",
        /// A CPU profile is taken.
        Profile = "profile",
        /// Another load is on the target at the same time.
        Beside = "beside",
        /// Its handlers ask another server.
        Backend = "backend",
        /// It is counted who serves the connections.
        Census = "census",
        /// The rate is a share of capacity that is not known.
        RateUnknown = "rate-unknown",
        /// There is a handler delay under a closed load, or one that is as long as the end of a slice waits.
        HandlerDelay = "handler-delay",
        /// The window has no room for two slices.
        ShortWindow = "short-window",
        /// A slice would have too few requests, or none on some connection.
        FewRequests = "few-requests",
        /// A claim is about a quantile that slices do not tell.
        Claimed = "claimed",
    }
}
