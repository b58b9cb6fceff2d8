//! Ages of requests that never got a reply.

use std::collections::BTreeMap;

use model::{Awaited, NS_PER_S};
use serde::{Deserialize, Serialize};

use crate::serial::is_within;

/// Requests by age, those within a factor of two together: a few numbers, however many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ages(BTreeMap<u32, Group>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Group {
    requests: u64,
    youngest_ns: u64,
    oldest_ns: u64,
}

impl Ages {
    /// A request so long after it was sent.
    pub(crate) fn add(&mut self, age_ns: u64) {
        self.put(age_ns.max(1).ilog2(), Group { requests: 1, youngest_ns: age_ns, oldest_ns: age_ns });
    }

    /// Those of another part.
    pub(crate) fn merge(&mut self, other: Ages) {
        other.0.into_iter().for_each(|(of, group)| self.put(of, group));
    }

    /// Whether they are no more than any load has.
    pub(crate) fn are_within(&self) -> bool {
        self.0.values().all(|group| is_within(group.requests))
    }

    fn put(&mut self, of: u32, more: Group) {
        let group = self.0.entry(of).or_insert(Group { requests: 0, ..more });
        group.requests += more.requests;
        group.youngest_ns = group.youngest_ns.min(more.youngest_ns);
        group.oldest_ns = group.oldest_ns.max(more.oldest_ns);
    }

    pub(crate) fn summarise(&self) -> Vec<Awaited> {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let awaited = |group: &Group| Awaited {
            requests: group.requests,
            youngest_s: seconds(group.youngest_ns),
            oldest_s: seconds(group.oldest_ns),
        };
        self.0.values().map(awaited).collect()
    }
}
