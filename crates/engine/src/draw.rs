//! Which request of a mix comes next. The n-th request of a thread is a function of the seed, the thread and n alone.

use model::{GOLDEN, Mix, stirred};

/// Which request comes when.
pub(crate) struct Draw {
    /// For each request but the last, where its share of 2^64 ends and the next one's begins; none for a single one.
    bounds: Vec<u64>,
    stream: u64,
    /// Number of the thread's next request.
    next: u64,
}

impl Draw {
    pub(crate) fn new(mix: &Mix, seed: u64, thread: u32) -> Self {
        let weights: Vec<f64> = mix.requests().iter().map(|one| one.weight).collect();
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let bound = |weight: &f64| {
            sum += weight / total;
            (sum * 2f64.powi(64)) as u64
        };
        // Whatever lies above the last but one is the last.
        let bounds = weights[..weights.len() - 1].iter().map(bound).collect();
        Self { bounds, stream: stirred(seed ^ stirred(u64::from(thread) + 1)), next: 0 }
    }

    /// The place in the mix of the request that is `ahead` of the next one.
    pub(crate) fn place(&self, ahead: u64) -> u32 {
        if self.bounds.is_empty() {
            return 0;
        }
        let number = self.next.wrapping_add(ahead);
        let drawn = stirred(self.stream.wrapping_add(number.wrapping_mul(GOLDEN)));
        self.bounds.partition_point(|bound| *bound <= drawn) as u32
    }

    /// Takes the next request; gives its place in the mix.
    pub(crate) fn take(&mut self) -> u32 {
        let place = self.place(0);
        self.next += 1;
        place
    }
}
