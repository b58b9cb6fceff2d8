//! The course of a load, in so few steps that a long one takes no more room than a short one.

use hdrhistogram::Histogram;
use model::{Interval, MOST_STEPS};

use crate::second::{add_to, histogram};
use crate::summary::{micros, quantile};

/// Puts seconds together to steps. The warm-up is one, without quantiles; in the window each step has as many seconds as
/// the others. Where the load's end is not known beforehand, steps are doubled when there are too many; of what was two
/// steps the quantiles are not known.
#[derive(Clone)]
pub(crate) struct Steps {
    step_s: u64,
    done: Vec<Interval>,
    /// What is felt in the last one, where a step is more than a second.
    felt: Option<Histogram<u64>>,
    /// The end of the last second before the window in which a reply came: of the warm-up's step alone nobody would know.
    pub(crate) answered_until_s: Option<f64>,
}

impl Steps {
    pub(crate) fn new(step_s: u64) -> Self {
        Self {
            step_s,
            done: Vec::with_capacity(MOST_STEPS + 1),
            felt: (step_s > 1).then(histogram),
            answered_until_s: None,
        }
    }

    /// Adds a second, with what was felt in it by those without a reply, too; those of the window come in order, but for one of which a thread told late.
    pub(crate) fn add(&mut self, second: &Interval, felt: &Histogram<u64>) {
        if second.at_s < 0.0 && second.completed > 0 {
            // The first one ends with the whole second, too, however short it is.
            let end_s = second.at_s + 1.0;
            self.answered_until_s = Some(self.answered_until_s.map_or(end_s, |known| known.max(end_s)));
        }
        let at_s = self.begin_of(second.at_s);
        match self.done.iter().rposition(|step| self.begin_of(step.at_s) == at_s) {
            Some(place) => {
                add_counts(&mut self.done[place], second);
                self.add_felt(place, second, felt);
            }
            None => self.begin(second, at_s, felt),
        }
    }

    /// When the step begins in which a second lies; all before the window is one.
    fn begin_of(&self, at_s: f64) -> f64 {
        let step_s = self.step_s as f64;
        if at_s < 0.0 { -1.0 } else { (at_s / step_s).floor() * step_s }
    }

    fn begin(&mut self, second: &Interval, at_s: f64, felt: &Histogram<u64>) {
        if self.done.len() > MOST_STEPS {
            self.double();
            return self.add(second, felt);
        }
        self.done.push(if second.at_s < 0.0 {
            let unknown = Interval { p50_us: None, p99_us: None, max_us: None, ..*second };
            Interval { exact_below_us: None, replied_max_us: None, ..unknown }
        } else {
            Interval { at_s, length_s: second.at_s - at_s + second.length_s, ..*second }
        });
        if let Some(all) = &mut self.felt {
            all.reset();
            add_to(all, felt);
        }
    }

    fn add_felt(&mut self, place: usize, second: &Interval, felt: &Histogram<u64>) {
        let is_late = place + 1 < self.done.len();
        let step = &mut self.done[place];
        if step.at_s < 0.0 {
            return;
        }
        add_bounds(step, second);
        step.max_us = larger(step.max_us, second.max_us);
        match &mut self.felt {
            // What comes late has a largest, too; the quantiles are of what came in time.
            _ if is_late => {}
            Some(all) => {
                add_to(all, felt);
                (step.p50_us, step.p99_us, _) = quantiles(all);
            }
            None if self.step_s > 1 => (step.p50_us, step.p99_us) = (None, None),
            None => {}
        }
    }

    /// Makes one of every two steps.
    fn double(&mut self) {
        self.step_s *= 2;
        let mut doubled: Vec<Interval> = Vec::with_capacity(MOST_STEPS + 1);
        for step in std::mem::take(&mut self.done) {
            let at_s = self.begin_of(step.at_s);
            match doubled.last_mut() {
                Some(last) if self.begin_of(last.at_s) == at_s => {
                    add_counts(last, &step);
                    add_bounds(last, &step);
                    (last.p50_us, last.p99_us, last.max_us) = (None, None, larger(last.max_us, step.max_us));
                }
                _ => doubled.push(step),
            }
        }
        // Nobody has kept what the last one felt.
        self.felt = None;
        self.done = doubled;
    }

    /// All of them, in order.
    pub(crate) fn end(mut self) -> Vec<Interval> {
        // A thread that was held up over a whole second never told of it, which delayed that second to here.
        self.done.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        // There was room for as many as there may be, and who keeps many loads keeps all of it.
        self.done.shrink_to_fit();
        self.done
    }
}

/// Median, 99th percentile and largest, in microseconds; none of what is empty. However few they are: a second is looked at
/// beside others, where the largest of three says something, too, and no conclusion rests on one alone.
pub(crate) fn quantiles(felt: &Histogram<u64>) -> (Option<f64>, Option<f64>, Option<f64>) {
    let at = |q: f64| quantile(felt, q).map(micros);
    (at(0.5), at(0.99), at(1.0))
}

/// Adds the steps of another generator under the same load: of both together the quantiles are not known. All are as long as the longest, for who
/// is done sooner has shorter ones.
pub(crate) fn add_beside(steps: &mut Vec<Interval>, others: &[Interval]) {
    let longest_s = steps.iter().chain(others).filter(|step| step.at_s >= 0.0).map(|step| step.length_s);
    let step_s = longest_s.fold(1.0, f64::max).ceil();
    for step in std::mem::take(steps).into_iter().chain(others.iter().copied()) {
        let at_s = if step.at_s < 0.0 { step.at_s } else { (step.at_s / step_s).floor() * step_s };
        let step = Interval { at_s, length_s: step.at_s + step.length_s - at_s, ..step };
        match steps.iter_mut().find(|known| known.at_s == at_s || known.at_s.max(at_s) < 0.0) {
            Some(known) => {
                add_counts(known, &step);
                add_bounds(known, &step);
                (known.p50_us, known.p99_us, known.max_us) = (None, None, larger(known.max_us, step.max_us));
            }
            None => steps.push(step),
        }
    }
    steps.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
}

/// Ends them with the window. An exact number of requests ends it with the last of them, or when the next one would be due; a thread that only woke
/// in the second after that has told of the whole second before.
pub(crate) fn end_at(steps: &mut Vec<Interval>, window_s: f64) {
    steps.retain(|step| step.at_s < window_s || step.completed + step.sent + step.failed > 0);
    let within = |step: &mut Interval| step.length_s = step.length_s.min((window_s - step.at_s).max(0.0));
    steps.iter_mut().for_each(within);
}

fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

/// Adds from where on figures are bounds, before the largest of both is known.
fn add_bounds(step: &mut Interval, second: &Interval) {
    let replied_us = larger(step.slowest_reply_us(), second.slowest_reply_us());
    step.exact_below_us = step.exact_below_us.into_iter().chain(second.exact_below_us).reduce(f64::min);
    step.replied_max_us = replied_us.filter(|_| step.exact_below_us.is_some());
}

/// Adds the counts; the length grows where the second is not one that is there already.
fn add_counts(step: &mut Interval, second: &Interval) {
    let end_s = (second.at_s + second.length_s).max(step.at_s + step.length_s);
    step.length_s = end_s - step.at_s;
    step.completed += second.completed;
    step.ok += second.ok;
    step.sent += second.sent;
    step.failed += second.failed;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second::record;

    /// A second in which so many requests took each of these times.
    fn second(at_s: f64, ms: &[u64]) -> (Interval, Histogram<u64>) {
        let mut felt = histogram();
        ms.iter().for_each(|ms| record(&mut felt, ms * 1_000_000));
        let (p50_us, p99_us, max_us) = quantiles(&felt);
        let completed = ms.len() as u64;
        (
            Interval { at_s, length_s: 1.0, completed, ok: completed, p50_us, p99_us, max_us, ..Interval::default() },
            felt,
        )
    }

    fn steps(step_s: u64, seconds: impl IntoIterator<Item = (f64, Vec<u64>)>) -> Vec<Interval> {
        let mut steps = Steps::new(step_s);
        for (at_s, ms) in seconds {
            let (interval, felt) = second(at_s, &ms);
            steps.add(&interval, &felt);
        }
        steps.end()
    }

    #[test]
    fn a_short_window_keeps_its_seconds_and_the_warm_up_is_one_step() {
        let given = (-3i32..5).map(|at| (f64::from(at), vec![1; 1 + at.unsigned_abs() as usize]));
        let seen = steps(1, given);
        assert_eq!((seen[0].at_s, seen[0].length_s, seen[0].completed, seen[0].p99_us), (-3.0, 3.0, 4 + 3 + 2, None));
        assert_eq!(seen.len(), 6);
        for (at, step) in seen[1..].iter().enumerate() {
            assert_eq!(*step, second(at as f64, &vec![1; 1 + at]).0);
        }
    }

    #[test]
    fn until_when_the_warm_up_was_answered_is_known() {
        let until = |replies: [usize; 4]| {
            let mut steps = Steps::new(1);
            for (at, replies) in replies.into_iter().enumerate() {
                let (interval, felt) = second(at as f64 - 3.0, &vec![1; replies]);
                let length_s = if at == 0 { 0.02 } else { 1.0 };
                steps.add(&Interval { length_s, ..interval }, &felt);
            }
            steps.answered_until_s
        };
        assert_eq!([until([5, 5, 5, 5]), until([5, 5, 0, 0]), until([0, 0, 0, 5])], [Some(0.0), Some(-1.0), None]);
        assert_eq!(until([5, 0, 0, 0]), Some(-2.0));
    }

    #[test]
    fn a_step_of_several_seconds_has_the_quantiles_of_all_its_replies() {
        let seen = steps(3, (0..7).map(|at| (f64::from(at), if at == 4 { vec![9; 50] } else { vec![1; 100] })));
        assert_eq!(
            seen.iter().map(|step| (step.at_s, step.length_s)).collect::<Vec<_>>(),
            [(0.0, 3.0), (3.0, 3.0), (6.0, 1.0)]
        );
        let (_, merged) = second(0.0, &[vec![1; 200], vec![9; 50]].concat());
        assert_eq!((seen[1].p50_us, seen[1].p99_us, seen[1].max_us), quantiles(&merged));
        assert_eq!(seen.iter().map(|step| step.completed).collect::<Vec<_>>(), [300, 250, 100]);
    }

    #[test]
    fn a_step_in_which_some_had_no_reply_knows_how_long_replies_took() {
        let seconds = [(0.0, vec![1, 7], None), (1.0, vec![2, 150], Some((150_000.0, 2_000.0)))];
        let mut steps = Steps::new(2);
        for (at_s, ms, unanswered) in seconds {
            let (interval, felt) = second(at_s, &ms);
            let (exact_below_us, replied_max_us) = (unanswered.map(|it| it.0), unanswered.map(|it| it.1));
            steps.add(&Interval { exact_below_us, replied_max_us, ..interval }, &felt);
        }
        let seen = steps.end()[0];
        assert!(seen.is_lower_bound(seen.p99_us.unwrap()) && !seen.is_lower_bound(seen.p50_us.unwrap()), "{seen:?}");
        assert!((seen.slowest_reply_us().unwrap() - 7_000.0).abs() < 10.0, "{seen:?}");
    }

    #[test]
    fn a_load_without_a_known_end_has_no_more_steps_than_others_and_loses_no_reply() {
        let seen = steps(1, (0..1_000).map(|at| (f64::from(at), vec![1 + at as u64 % 7])));
        assert!(seen.len() <= MOST_STEPS + 1, "{}", seen.len());
        assert_eq!(seen.iter().map(|step| step.completed).sum::<u64>(), 1_000);
        assert!(seen.iter().all(|step| step.p99_us.is_none() && step.max_us.is_some()), "what was two has no quantile");
        assert!(seen.windows(2).all(|pair| pair[0].at_s + pair[0].length_s == pair[1].at_s), "{seen:?}");
    }

    #[test]
    fn what_a_thread_tells_late_is_counted_in_its_second() {
        let seen = steps(1, [(0.0, vec![1; 10]), (1.0, vec![1; 10]), (2.0, vec![1; 10]), (0.0, vec![5; 3])]);
        assert_eq!(
            seen.iter().map(|step| (step.at_s, step.completed)).collect::<Vec<_>>(),
            [(0.0, 13), (1.0, 10), (2.0, 10)]
        );
        assert_eq!(seen[0].p99_us, second(0.0, &[1]).0.p99_us, "of what came in time");
        assert_eq!(seen[0].max_us, second(0.0, &[5]).0.max_us, "the largest is of all");
    }

    #[test]
    fn what_is_told_late_of_a_longer_step_has_its_largest_and_its_bounds_there() {
        let mut steps = Steps::new(2);
        for (at_s, ms, exact_below_us) in [(0.0, 1, None), (1.0, 2, None), (2.0, 3, None), (1.0, 700, Some(9_000.0))] {
            let (interval, felt) = second(at_s, &[ms; 9]);
            let replied_max_us = exact_below_us.map(|_| 8_000.0);
            steps.add(&Interval { exact_below_us, replied_max_us, ..interval }, &felt);
        }
        let seen = steps.end();
        let largest = |ms| second(0.0, &[ms]).0.max_us;
        assert_eq!([seen[0].max_us, seen[1].max_us], [largest(700), largest(3)]);
        assert!(seen[0].is_lower_bound(seen[0].max_us.unwrap()) && seen[1].exact_below_us.is_none(), "{seen:?}");
        assert_eq!((seen[0].slowest_reply_us(), seen[0].p99_us), (Some(8_000.0), largest(2)));
    }

    #[test]
    fn steps_of_generators_are_as_long_as_the_longest() {
        let steps = |lengths_s: &[f64], each: u64| -> Vec<Interval> {
            let mut at_s = 0.0;
            let step = |length_s: &f64| {
                let (begun_s, completed) = (at_s, each * *length_s as u64);
                at_s += length_s;
                Interval { at_s: begun_s, length_s: *length_s, completed, ..second(0.0, &[1]).0 }
            };
            lengths_s.iter().map(step).collect()
        };
        let course =
            |steps: &[Interval]| -> Vec<(f64, u64)> { steps.iter().map(|step| (step.at_s, step.completed)).collect() };
        // One that went on for so long that its steps have two seconds.
        let mut both = steps(&[1.0; 4], 10);
        add_beside(&mut both, &steps(&[2.0; 3], 5));
        assert_eq!(course(&both), [(0.0, 30), (2.0, 30), (4.0, 10)]);
        assert!(both.iter().all(|step| step.length_s == 2.0), "{both:?}");
    }
}
