//! What a CPU profile found running, by stacks.

use std::collections::BTreeMap;

/// A function where others called it, with those that it called there. The root stands for all samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackNode {
    /// Samples in it and in whatever it called.
    pub samples: u64,
    /// What it called, by name.
    pub callees: BTreeMap<String, StackNode>,
}

/// What stands for functions of a profile that has more of them than are kept.
pub const NOT_TOLD: &str = "(not told)";

impl StackNode {
    /// Adds so many samples of a stack, the outermost function first. Once no more nodes may be made, what is deeper is [`NOT_TOLD`].
    pub fn add<'a>(&mut self, stack: impl IntoIterator<Item = &'a str>, samples: u64, may_make: &mut usize) {
        let mut node = self;
        node.samples = node.samples.saturating_add(samples);
        for function in stack {
            if !node.callees.contains_key(function) {
                let Some(left) = may_make.checked_sub(1) else {
                    let rest = node.callees.entry(NOT_TOLD.to_owned()).or_default();
                    rest.samples = rest.samples.saturating_add(samples);
                    return;
                };
                *may_make = left;
            }
            node = node.callees.entry(function.to_owned()).or_default();
            node.samples = node.samples.saturating_add(samples);
        }
    }

    /// Adds all of another profile.
    pub fn merge(&mut self, other: &StackNode) {
        self.samples = self.samples.saturating_add(other.samples);
        for (name, callee) in &other.callees {
            self.callees.entry(name.clone()).or_default().merge(callee);
        }
    }

    /// Samples in which each function itself was running, wherever it was called.
    pub fn own(&self) -> BTreeMap<&str, u64> {
        let mut own = BTreeMap::new();
        self.callees.iter().for_each(|(name, callee)| callee.add_own(name, &mut own));
        own
    }

    fn add_own<'a>(&'a self, name: &'a str, to: &mut BTreeMap<&'a str, u64>) {
        let called = crate::sum(self.callees.values().map(|callee| callee.samples));
        let known = to.entry(name).or_default();
        *known = known.saturating_add(self.samples.saturating_sub(called));
        self.callees.iter().for_each(|(name, callee)| callee.add_own(name, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stacks: &[(&[&str], u64)], mut most: usize) -> StackNode {
        let mut root = StackNode::default();
        stacks.iter().for_each(|(stack, samples)| root.add(stack.iter().copied(), *samples, &mut most));
        root
    }

    #[test]
    fn a_sample_counts_in_all_that_called_it_and_is_its_innermost_functions_own() {
        let mut all = of(&[(&["main", "serve", "write"], 3), (&["main", "serve"], 1), (&["gc"], 2)], 99);
        assert_eq!((all.samples, all.callees["main"].samples, all.callees["main"].callees["serve"].samples), (6, 4, 4));
        all.merge(&of(&[(&["main", "write"], 5)], 99));
        assert_eq!(all.own(), BTreeMap::from([("main", 0), ("serve", 1), ("write", 8), ("gc", 2)]));
    }

    #[test]
    fn where_no_more_may_be_made_it_is_said_that_the_rest_is_not_told() {
        let all = of(&[(&["a", "b"], 1), (&["a", "c", "d"], 2), (&["a", "b"], 4)], 2);
        assert_eq!((all.samples, all.own()), (7, BTreeMap::from([("a", 0), ("b", 5), (NOT_TOLD, 2)])));
    }
}
