/// A monotonic clock, handed in wherever time is read so that tests can stall it or make it jump.
pub trait Clock {
    /// Nanoseconds since a fixed, arbitrary instant; never runs backwards.
    fn now_ns(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}
