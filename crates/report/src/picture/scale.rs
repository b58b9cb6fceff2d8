//! How values become places along an axis.

/// Which distances mean the same along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Equal differences.
    Even,
    /// Equal factors; values are above zero.
    Log,
}

/// An axis: values from `low` to `high` lie between two places, of which the second may be the smaller one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) steps: Steps,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// No value on a log scale is drawn farther from 1 than this factor: nothing that is measured is.
const FARTHEST: f64 = 1e100;

/// What is left free at each end of an axis, as a share of what the values take.
const ROOM: f64 = 0.08;

impl Scale {
    /// An axis that holds all of these and what lies within `reach` of one of them: a factor, or a difference. Values are finite,
    /// and above zero on a log scale. None without a value.
    pub(crate) fn around(steps: Steps, values: &[f64], reach: f64, [from, to]: [f64; 2]) -> Option<Self> {
        let straight =
            |value: f64| if steps == Steps::Log { value.clamp(1.0 / FARTHEST, FARTHEST).ln() } else { value };
        let back = |value: f64| if steps == Steps::Log { value.exp() } else { value };
        let least = values.iter().copied().reduce(f64::min).map(straight)?;
        let most = values.iter().copied().reduce(f64::max).map(straight)?;
        let room = ((most - least) * ROOM).max(straight(reach));
        Some(Self { steps, low: back(least - room), high: back(most + room), from, to })
    }

    /// Whether a value has a place between the ends.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Where a value lies; the nearer end for one beyond it.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = match self.steps {
            Steps::Even => (value - self.low) / (self.high - self.low),
            Steps::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values along it, so many at most, in ascending order.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        // Below such a factor powers of ten and their halves are too few.
        const NARROW: f64 = 6.0;
        if self.steps == Steps::Even || self.high / self.low < NARROW {
            return self.even_ticks(most);
        }
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let of = |digits: &[f64], every: i32| -> Vec<f64> {
            let kept = decades.clone().filter(|decade| decade.rem_euclid(every) == 0);
            let ticks = kept.flat_map(|decade| digits.iter().map(move |digit| power_of_ten(*digit, decade)));
            ticks.filter(|tick| self.holds(*tick)).collect()
        };
        let finer = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0]].map(|digits| of(digits, 1));
        let coarser = (1..40).map(|every| of(&[1.0], every));
        finer.into_iter().chain(coarser).find(|ticks| ticks.len() <= most).unwrap_or_default()
    }

    fn even_ticks(&self, most: usize) -> Vec<f64> {
        let least_step = (self.high - self.low) / most.max(1) as f64;
        let decade = least_step.max(f64::MIN_POSITIVE).log10().floor() as i32;
        let of = |digit: f64, decade: i32| -> Vec<f64> {
            let step = power_of_ten(digit, decade);
            let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
            // Counted in steps, for sums of tenths drift; too many are known from one more than may be.
            let ticks = (first..=last).take(most + 1).map(|at| power_of_ten(digit * at as f64, decade));
            if step > 0.0 { ticks.collect() } else { Vec::new() }
        };
        let steps = [(1.0, decade), (2.0, decade), (5.0, decade), (1.0, decade + 1), (2.0, decade + 1)];
        steps.into_iter().map(|(digit, decade)| of(digit, decade)).find(|ticks| ticks.len() <= most).unwrap_or_default()
    }
}

/// `digit` × 10^`decade`, as close as a float gets.
fn power_of_ten(digit: f64, decade: i32) -> f64 {
    if decade < 0 { digit / 10_f64.powi(-decade) } else { digit * 10_f64.powi(decade) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(steps: Steps, low: f64, high: f64) -> Scale {
        Scale { steps, low, high, from: 0.0, to: 100.0 }
    }

    #[test]
    fn ticks_are_round_and_few() {
        for (steps, low, high, ticks) in [
            (Steps::Even, 0.0, 10.0, &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0][..]),
            (Steps::Even, -0.11, 0.32, &[-0.1, 0.0, 0.1, 0.2, 0.3]),
            (Steps::Log, 0.93, 1.08, &[0.95, 1.0, 1.05]),
            (Steps::Log, 0.3, 12.0, &[0.5, 1.0, 2.0, 5.0, 10.0]),
            (Steps::Log, 0.02, 3.0, &[0.03, 0.1, 0.3, 1.0, 3.0]),
            (Steps::Log, 1.0, 1e7, &[1.0, 100.0, 1e4, 1e6]),
        ] {
            assert_eq!(scale(steps, low, high).ticks(6), ticks, "{low} to {high}");
        }
    }

    #[test]
    fn the_smallest_values_have_an_axis_of_few_ticks() {
        for value in [5e-324, 1e-320, 1e-300, 1e300] {
            for steps in [Steps::Log, Steps::Even] {
                let around = Scale::around(steps, &[value, value * 2.0], 1.01, [0.0, 1.0]).unwrap();
                assert!(around.ticks(6).len() <= 6, "{value}");
                let narrow = Scale { low: 0.0, high: value, ..around };
                assert!(Scale { steps: Steps::Even, ..narrow }.ticks(6).len() <= 6, "{value}");
            }
        }
    }

    #[test]
    fn values_lie_where_their_steps_say_and_never_beyond_the_ends() {
        let log = scale(Steps::Log, 1.0, 100.0);
        assert_eq!([1.0, 10.0, 100.0, 1e9, 0.0].map(|value| log.place(value).round()), [0.0, 50.0, 100.0, 100.0, 0.0]);
        let down = Scale { from: 100.0, to: 0.0, ..scale(Steps::Even, -1.0, 1.0) };
        assert_eq!([-1.0, 0.0, 1.0].map(|value| down.place(value)), [100.0, 50.0, 0.0]);
        assert!(log.holds(1.0) && !log.holds(0.9));
    }

    #[test]
    fn an_axis_leaves_room_around_its_values() {
        let around = Scale::around(Steps::Log, &[0.5, 2.0], 1.01, [0.0, 1.0]).unwrap();
        assert!(around.low < 0.46 && around.low > 0.4 && (around.low * around.high - 1.0).abs() < 1e-12);
        let alone = Scale::around(Steps::Even, &[3.0], 0.5, [0.0, 1.0]).unwrap();
        assert_eq!([alone.low, alone.high], [2.5, 3.5]);
        assert_eq!(Scale::around(Steps::Even, &[], 1.0, [0.0, 1.0]), None);
    }
}
