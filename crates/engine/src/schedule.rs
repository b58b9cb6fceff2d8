use fastrand::Rng;
use model::{Arrivals, GOLDEN, NS_PER_S};

/// When requests are intended, as nanoseconds since the load's start: a function of the schedule alone, which no
/// late or stalled server can move.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Intended time of the next request: worked out once for each, and looked at several times.
    next_ns: u64,
    course: Course,
}

#[derive(Debug, Clone)]
enum Course {
    /// The n-th request of all threads is intended at n ÷ rate; this thread has every `stride`-th of them.
    Constant {
        /// Distance between two requests over all threads, in nanoseconds.
        gap_ns: f64,
        /// Number of this thread's next request.
        next: u64,
        /// Number of threads.
        stride: u64,
    },
    /// Independent exponential distances at this thread's share of the rate.
    Poisson {
        /// Mean distance on this thread, in nanoseconds.
        gap_ns: f64,
        /// Intended time of the next request, with the fraction that is not lost from one to the next.
        next_ns: f64,
        /// This thread's own stream.
        rng: Rng,
    },
}

impl Course {
    /// Intended time of the next request.
    fn next_ns(&self) -> u64 {
        match self {
            Course::Constant { gap_ns, next, .. } => constant_ns(*next, *gap_ns),
            Course::Poisson { next_ns, .. } => *next_ns as u64,
        }
    }
}

impl Schedule {
    /// The slice of thread `thread` of `threads` at `rate_per_s` over all of them.
    ///
    /// Poisson: the superposition of independent Poisson streams is a Poisson stream of the summed rate (Kingman,
    /// *Poisson Processes*, §2.2), so each thread draws its own from its own seed.
    pub fn new(arrivals: Arrivals, rate_per_s: f64, thread: u32, threads: u32, seed: u64) -> Self {
        let gap_ns = NS_PER_S as f64 / rate_per_s;
        let course = match arrivals {
            Arrivals::Constant => Course::Constant { gap_ns, next: u64::from(thread), stride: u64::from(threads) },
            Arrivals::Poisson => {
                let gap_ns = gap_ns * f64::from(threads);
                let mut rng = Rng::with_seed(seed ^ u64::from(thread).wrapping_mul(GOLDEN));
                let next_ns = exponential(&mut rng, gap_ns);
                Course::Poisson { gap_ns, next_ns, rng }
            }
        };
        Self { next_ns: course.next_ns(), course }
    }

    /// Intended time of the next request.
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Goes on behind the requests that are intended before a moment, `most` at most; gives how many they were. At
    /// constant distances that takes the same time for any number of them; others must be drawn one by one.
    pub fn skip(&mut self, until_ns: u64, most: u64) -> u64 {
        match &mut self.course {
            Course::Constant { gap_ns, next, stride } => {
                let count = constant_before(until_ns, *gap_ns, *next, *stride).min(most);
                *next += count * *stride;
                self.next_ns = self.course.next_ns();
                count
            }
            Course::Poisson { .. } => {
                let mut count = 0;
                while count < most && self.next_ns < until_ns {
                    self.advance();
                    count += 1;
                }
                count
            }
        }
    }

    /// Goes on to the request after it.
    pub fn advance(&mut self) {
        match &mut self.course {
            Course::Constant { next, stride, .. } => *next += *stride,
            Course::Poisson { gap_ns, next_ns, rng } => *next_ns += exponential(rng, *gap_ns),
        }
        self.next_ns = self.course.next_ns();
    }
}

/// When the n-th request of constant arrivals is intended.
fn constant_ns(number: u64, gap_ns: f64) -> u64 {
    (number as f64 * gap_ns).round() as u64
}

/// How many requests, from `next` on in steps of `stride`, are intended before a moment: looked for between bounds, since
/// times are rounded.
fn constant_before(until_ns: u64, gap_ns: f64, next: u64, stride: u64) -> u64 {
    let about = (until_ns as f64 / gap_ns) as u64;
    let (mut low, mut high) = (0, about.saturating_sub(next) / stride + 2);
    while low < high {
        let middle = low.midpoint(high);
        if constant_ns(next + middle * stride, gap_ns) < until_ns { low = middle + 1 } else { high = middle }
    }
    low
}

fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -mean * (1.0 - rng.f64()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first(schedule: &mut Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let at = schedule.next_ns();
                schedule.advance();
                at
            })
            .collect()
    }

    #[test]
    fn constant_arrivals_are_a_table() {
        for (rate, thread, threads, expected) in [
            (1000.0, 0, 1, [0, 1_000_000, 2_000_000]),
            (1000.0, 1, 2, [1_000_000, 3_000_000, 5_000_000]),
            (3.0, 0, 1, [0, 333_333_333, 666_666_667]),
            (0.5, 0, 1, [0, 2_000_000_000, 4_000_000_000]),
        ] {
            let mut schedule = Schedule::new(Arrivals::Constant, rate, thread, threads, 7);
            assert_eq!(first(&mut schedule, 3), expected, "{rate}/s, thread {thread} of {threads}");
        }
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let mut schedule = Schedule::new(Arrivals::Constant, 3.0, 0, 1, 7);
        first(&mut schedule, 3_000_000);
        assert_eq!(schedule.next_ns(), 1_000_000 * NS_PER_S);
    }

    #[test]
    fn poisson_distances_have_mean_and_variance_of_the_exponential() {
        let mut schedule = Schedule::new(Arrivals::Poisson, 1000.0, 0, 1, 42);
        let at = first(&mut schedule, 100_000);
        let gaps: Vec<f64> = at.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }

    /// Anderson and Darling's A² of values against the uniform distribution on 0 to 1 (Stephens 1974, case 0).
    fn anderson_darling(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let mirrored = values.iter().zip(values.iter().rev());
        let sum: f64 =
            (0..).zip(mirrored).map(|(i, (low, high))| f64::from(2 * i + 1) * (low.ln() + (1.0 - high).ln())).sum();
        -n - sum / n
    }

    #[test]
    fn poisson_arrivals_pass_an_anderson_darling_test() {
        // 2.492 is exceeded by 5 % of true samples: by 5 of 100 on average, by more than 12 hardly ever.
        let exceeded = |rate: f64, threads: u32| {
            let a_squared = |seed| {
                let at = first(&mut Schedule::new(Arrivals::Poisson, rate, 0, threads, seed), 2001);
                let mean = NS_PER_S as f64 / rate * f64::from(threads);
                let uniform = |pair: &[u64]| 1.0 - (-((pair[1] - pair[0]) as f64 + 0.5) / mean).exp();
                anderson_darling(at.windows(2).map(uniform).collect())
            };
            (0..100).filter(|seed| a_squared(*seed) > 2.492).count()
        };
        for (rate, threads) in [(1_000.0, 1), (40_000.0, 1), (100_000.0, 2)] {
            let count = exceeded(rate, threads);
            assert!(count <= 12, "{count} of 100 at {rate} a second");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_threads_differ() {
        let make = |thread, seed| first(&mut Schedule::new(Arrivals::Poisson, 100.0, thread, 2, seed), 50);
        assert_eq!(make(0, 9), make(0, 9));
        assert_ne!(make(0, 9), make(1, 9));
        assert_ne!(make(0, 9), make(0, 10));
    }

    proptest! {
        #[test]
        fn threads_share_a_constant_rate_without_loss(rate in 1.0f64..100_000.0, threads in 1u32..9) {
            let count = 40usize;
            let mut all: Vec<u64> = (0..threads)
                .flat_map(|thread| first(&mut Schedule::new(Arrivals::Constant, rate, thread, threads, 1), count))
                .collect();
            all.sort_unstable();
            let alone = first(&mut Schedule::new(Arrivals::Constant, rate, 0, 1, 1), count * threads as usize);
            prop_assert_eq!(all, alone);
        }

        #[test]
        fn skipping_is_going_on_one_by_one(
            rate in 0.1f64..5_000_000.0, threads in 1u32..5, seed: u64, most in 0u64..400, steps in prop::collection::vec(0u64..400, 3)
        ) {
            for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
                let mut skipping = Schedule::new(arrivals, rate, threads - 1, threads, seed);
                let mut going = skipping.clone();
                let mut until_ns = 0;
                for step in &steps {
                    until_ns += (*step as f64 * 1e9 / rate) as u64;
                    let mut count = 0;
                    while count < most && going.next_ns() < until_ns {
                        going.advance();
                        count += 1;
                    }
                    prop_assert_eq!(skipping.skip(until_ns, most), count);
                    prop_assert_eq!(skipping.next_ns(), going.next_ns());
                }
            }
        }

        #[test]
        fn intended_times_never_go_back(rate in 0.1f64..5_000_000.0, seed: u64) {
            for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
                let at = first(&mut Schedule::new(arrivals, rate, 0, 1, seed), 200);
                prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1]));
            }
        }
    }
}
