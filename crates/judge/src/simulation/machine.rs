//! How fast a machine is from moment to moment, where others use it too.

use crate::testing::normal;

/// Seconds between two moments of which the speed is known; it stays until the next one.
pub(super) const STEP_S: f64 = 0.02;

/// What a fixed piece of work took on a shared machine, every 20 ms for half an hour: by the clock on the wall, and by the
/// CPU time that it used. A byte is the logarithm of a sample ÷ the least of all, in the unit beside it (`trace/README.md`).
const WALL: (&[u8], f64) = (include_bytes!("trace/wall"), 1.0 / 64.0);
const CPU: (&[u8], f64) = (include_bytes!("trace/cpu"), 1.0 / 256.0);

/// A way in which a machine's speed changes, by about 30 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drift {
    /// Another level every 8 s or so: a neighbour comes or goes.
    Steps,
    /// A slow wave of 15 to 120 s and a quick one of 2 to 10 s.
    Waves,
    /// Each moment resembles the ones before, over 3 s or so.
    Correlated,
    /// It stands still for 60 ms about as often as a round of two slices takes.
    Pulses,
    /// Half of each of the first three.
    All,
    /// A recorded half hour, from some moment on, by the wall.
    Recorded,
    /// The same, by the CPU time.
    RecordedCpu,
}

impl Drift {
    pub(super) const ALL: [Drift; 7] =
        [Drift::Steps, Drift::Waves, Drift::Correlated, Drift::Pulses, Drift::All, Drift::Recorded, Drift::RecordedCpu];

    pub(super) fn words(self) -> &'static str {
        match self {
            Drift::Steps => "steps",
            Drift::Waves => "waves",
            Drift::Correlated => "correlated",
            Drift::Pulses => "stops of 60 ms",
            Drift::All => "steps, waves, correlated",
            Drift::Recorded => "recorded, by the clock",
            Drift::RecordedCpu => "recorded, CPU time",
        }
    }

    /// The logarithm of the speed at so many moments.
    fn logarithms(self, moments: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        match self {
            Drift::Steps => steps(moments, rng),
            Drift::Waves => waves(moments, rng),
            Drift::Correlated => correlated(moments, rng),
            Drift::Pulses => pulses(moments, rng),
            Drift::All => {
                let (steps, waves, rest) = (steps(moments, rng), waves(moments, rng), correlated(moments, rng));
                (0..moments).map(|at| (steps[at] + waves[at] + rest[at]) / 2.0).collect()
            }
            Drift::Recorded => recorded(WALL, moments, rng),
            Drift::RecordedCpu => recorded(CPU, moments, rng),
        }
    }
}

fn steps(moments: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
    let mut level = -0.3 * rng.f64();
    let mut next = || {
        if rng.f64() < STEP_S / 8.0 {
            level = -0.3 * rng.f64();
        }
        level
    };
    (0..moments).map(|_| next()).collect()
}

fn waves(moments: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
    let mut wave = |least_s: f64, most_s: f64| {
        let period_s = least_s * (most_s / least_s).powf(rng.f64());
        let phase = rng.f64();
        move |at: usize| (2.0 * std::f64::consts::PI * (at as f64 * STEP_S / period_s + phase)).sin()
    };
    let (slow, quick) = (wave(15.0, 120.0), wave(2.0, 10.0));
    (0..moments).map(|at| 0.12 * slow(at) + 0.03 * quick(at)).collect()
}

fn correlated(moments: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
    let (kept, scatter) = ((-STEP_S / 3.0_f64).exp(), 0.08);
    let mut value = scatter * normal(rng);
    let mut next = || {
        value = kept * value + (1.0 - kept * kept).sqrt() * scatter * normal(rng);
        value
    };
    (0..moments).map(|_| next()).collect()
}

fn pulses(moments: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
    let (period, phase) = (27, rng.usize(..27));
    (0..moments).map(|at| if (at + phase) % period < 3 { f64::NEG_INFINITY } else { 0.0 }).collect()
}

fn recorded((trace, unit): (&[u8], f64), moments: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
    let from = rng.usize(..trace.len());
    (0..moments).map(|at| -unit * f64::from(trace[(from + at) % trace.len()])).collect()
}

/// A machine over a session.
pub(super) struct Machine {
    /// What was done until each moment at the speed of the machine at its best, in seconds.
    done_s: Vec<f64>,
}

impl Machine {
    /// One that drifts so, and whose speed scatters by 5 % from moment to moment beside what was recorded.
    pub(super) fn new(drift: Drift, for_s: f64, rng: &mut fastrand::Rng) -> Self {
        let is_recorded = matches!(drift, Drift::Recorded | Drift::RecordedCpu);
        let mut done_s = vec![0.0];
        for logarithm in drift.logarithms((for_s / STEP_S).ceil() as usize, rng) {
            let scatter = if is_recorded { 0.0 } else { 0.05 * normal(rng) };
            done_s.push(done_s[done_s.len() - 1] + STEP_S * (logarithm + scatter).exp());
        }
        Machine { done_s }
    }

    /// Its mean speed from a moment on, as a share of its best.
    pub(super) fn speed(&self, at_s: f64, for_s: f64) -> f64 {
        (self.until(at_s + for_s) - self.until(at_s)) / for_s
    }

    fn until(&self, at_s: f64) -> f64 {
        let step = (at_s / STEP_S).floor();
        let (before, after) = (self.done_s[step as usize], self.done_s[step as usize + 1]);
        before + (after - before) * (at_s / STEP_S - step)
    }
}
