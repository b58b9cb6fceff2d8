//! Times in which no reply came to any connection.

/// Shortest time without a reply that is kept.
pub(crate) const SILENCE_NS: u64 = 500_000_000;

/// How many are kept: the longest.
const SPANS_KEPT: usize = 1024;

/// The times between one thread's replies, those that are long.
#[derive(Default)]
pub(crate) struct Silences {
    pub(crate) last_reply_ns: u64,
    /// As pairs of begin and end, by time.
    spans: Vec<(u64, u64)>,
}

impl Silences {
    /// When it is a silence if no reply comes until then.
    pub(crate) fn begin_ns(&self) -> u64 {
        self.last_reply_ns.saturating_add(SILENCE_NS)
    }

    /// A reply comes.
    pub(crate) fn end(&mut self, now_ns: u64) {
        if now_ns >= self.begin_ns() {
            self.spans.push((self.last_reply_ns, now_ns));
            keep_longest(&mut self.spans);
        }
        self.last_reply_ns = now_ns;
    }

    /// All of them, with the one after the last reply, of which this thread knows no end.
    pub(crate) fn spans(mut self) -> Vec<(u64, u64)> {
        self.spans.push((self.last_reply_ns, u64::MAX));
        self.spans
    }
}

fn keep_longest(spans: &mut Vec<(u64, u64)>) {
    if spans.len() > SPANS_KEPT {
        let shortest = (0..spans.len()).min_by_key(|at| spans[*at].1 - spans[*at].0).unwrap_or(0);
        spans.remove(shortest);
    }
}

/// Where neither of two parts of a load got a reply; both by time.
pub(crate) fn of_both(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut both, mut at, mut beside) = (Vec::new(), 0, 0);
    while let (Some(mine), Some(theirs)) = (one.get(at), other.get(beside)) {
        let (from_ns, until_ns) = (mine.0.max(theirs.0), mine.1.min(theirs.1));
        if until_ns.saturating_sub(from_ns) >= SILENCE_NS {
            both.push((from_ns, until_ns));
        }
        if mine.1 <= theirs.1 {
            at += 1;
        } else {
            beside += 1;
        }
    }
    both
}
