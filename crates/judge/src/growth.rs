//! Whether the target's memory grew over a window, and whether that had come to an end.

use model::{Growth, MarkCause, MarkNote, Measurement, Metric, Observation, Slice, sum};

use crate::thresholds::{
    COURSE_SECONDS, GROWING_PACE, LOWS_FOR_A_LEAK, MEMORY_CHANGE, SECONDS_FOR_A_PACE, SETTLED_SHARE,
};
use crate::{slices, steps};

/// A step of the window: when it ended, the memory then, and how many replies came in it.
#[derive(Clone, Copy)]
struct Step {
    end_s: f64,
    bytes: f64,
    /// The least that it may have been since the end of the step before.
    least_bytes: f64,
    replies: u64,
}

/// The mark of a launch whose memory grew by more than matters: `growing` where it still did when the window ended, else
/// `levelled-off`. None where the window has too few whole seconds, or shows too few teeth of a sawtooth.
///
/// Replies of a lead-in make memory grow as well.
pub(crate) fn mark(measured: &Measurement, observed: Option<&Observation>, slices: &[Slice]) -> Option<MarkNote> {
    let steps: Vec<Step> = steps::with_seen(measured, &observed?.seconds)
        .into_iter()
        .map(|(step, seen)| {
            let bytes = seen.memory_bytes as f64;
            Step { end_s: step.at_s + step.length_s, bytes, least_bytes: bytes, replies: step.completed }
        })
        .collect();
    if steps.len() < COURSE_SECONDS {
        return None;
    }
    let (points, fewest) = comparable(&steps)?;
    let (first, last) = (points.first()?, points.last()?);
    let (grown, lasted_s) = (last.bytes - first.bytes, last.end_s - first.end_s);
    if last.least_bytes <= first.bytes * (1.0 + MEMORY_CHANGE) {
        return None;
    }
    let few = ((SETTLED_SHARE * points.len() as f64).ceil() as usize).max(fewest);
    let is_growing = pace(&points[points.len() - few..]) > GROWING_PACE * grown / lasted_s;
    let between = steps.iter().filter(|step| step.end_s > first.end_s && step.end_s <= last.end_s);
    let replies = (sum(between.map(|step| step.replies)) as f64 * slices::replies_to_measured(slices)) as u64;
    let bytes_per_request = (replies > 0 && is_growing).then(|| grown / replies as f64);
    let growth = Growth { levelled_off: !is_growing, bytes: grown as u64, bytes_per_request };
    Some(MarkNote { metrics: vec![Metric::PeakMemory], ..MarkNote::new(MarkCause::Growth(growth)) })
}

/// The steps that show by how much memory grew, and how many of them at least show its pace: all of the window, unless memory
/// was given back in it. Then what it rises to may be the tooth of a sawtooth, and its lows count; none where too few were seen.
fn comparable(steps: &[Step]) -> Option<(Vec<Step>, usize)> {
    let Some(lows) = lows(steps) else { return Some((steps.to_vec(), SECONDS_FOR_A_PACE)) };
    let lowest = (0..lows.len()).min_by(|one, other| lows[*one].bytes.total_cmp(&lows[*other].bytes))?;
    (lows.len() >= LOWS_FOR_A_LEAK && lowest + 1 < lows.len()).then(|| (lows[lowest..].to_vec(), 2))
}

/// Where memory was least before each time in which it rose by more than matters and was given back, and after the last; not
/// where it may still fall. None where nothing was given back, or memory has since outgrown by far all that it was before.
fn lows(steps: &[Step]) -> Option<Vec<Step>> {
    let is_far_above = |high: f64, low: f64| high > low * (1.0 + MEMORY_CHANGE);
    let (mut lows, mut rises, mut high, mut most_given_back) = (vec![0], true, 0.0, 0.0);
    for (at, &Step { bytes, .. }) in steps.iter().enumerate() {
        let low = steps[lows[lows.len() - 1]].bytes;
        if rises && is_far_above(high, bytes) {
            most_given_back = f64::max(most_given_back, high);
            lows.push(at);
            rises = false;
        } else if bytes < low {
            lows.pop();
            lows.push(at);
        } else if rises || is_far_above(bytes, low) {
            high = if rises { f64::max(high, bytes) } else { bytes };
            rises = true;
        }
    }
    if lows.len() == 1 || is_far_above(steps.last()?.bytes, most_given_back) {
        return None;
    }
    lows.truncate(lows.len() - usize::from(!rises));
    // Between two looks it may have been as much lower as it rose until the next.
    let seen = |at: &usize| {
        let rise = steps.get(at + 1).map_or(0.0, |next| next.bytes - steps[*at].bytes);
        Step { least_bytes: steps[*at].bytes - rise.max(0.0), ..steps[*at] }
    };
    Some(lows.iter().map(seen).collect())
}

/// Bytes a second by which these steps grew: the slope of the line of least squares.
fn pace(steps: &[Step]) -> f64 {
    let mean = |of: &dyn Fn(&Step) -> f64| steps.iter().map(of).sum::<f64>() / steps.len() as f64;
    let (at, level) = (mean(&|step| step.end_s), mean(&|step| step.bytes));
    let with = mean(&|step| (step.end_s - at) * (step.bytes - level));
    with / mean(&|step| (step.end_s - at).powi(2))
}

#[cfg(test)]
mod tests {
    use model::{Interval, Mark, ObservedSecond};

    use super::*;

    /// What is marked of a window whose seconds have 1,000 replies each and end with so many MiB.
    fn marked(mebibytes: impl IntoIterator<Item = f64>) -> Option<(Mark, String)> {
        let (mut measured, mut seen) = (Measurement::default(), Observation::default());
        for (at, mebibytes) in mebibytes.into_iter().enumerate() {
            let at_s = at as f64;
            measured.steps.push(Interval { at_s, length_s: 1.0, completed: 1_000, ..Interval::default() });
            let memory_bytes = (mebibytes * f64::from(1 << 20)) as u64;
            seen.seconds.push(ObservedSecond { at_s, length_s: 1.0, memory_bytes, ..ObservedSecond::default() });
        }
        measured.window_s = measured.steps.len() as f64;
        mark(&measured, Some(&seen), &[]).map(|note| (note.mark(), report::note_words(&note)))
    }

    #[test]
    fn a_leak_is_growth_to_the_end() {
        let (mark, text) = marked((0..12).map(|second| 10.0 + 2.0 * f64::from(second))).unwrap();
        assert_eq!(mark, Mark::Growing);
        assert_eq!(text, "memory grew by 22.0 MiB over the window, 2.05 KiB a request, and had not levelled off");
    }

    #[test]
    fn steps_up_to_the_end_are_growth_and_one_that_ends_early_is_not() {
        let stairs = (0..20).map(|second| 10.0 * f64::from(1 + second / 4));
        assert_eq!(marked(stairs).unwrap().0, Mark::Growing);
        let late = (0..16).map(|second| if second < 13 { 20.0 } else { 40.0 });
        assert_eq!(marked(late).unwrap().0, Mark::Growing);
        let early = (0..12).map(|second| if second < 4 { 20.0 } else { 40.0 });
        let (mark, text) = marked(early).unwrap();
        assert_eq!(
            (mark, text.as_str()),
            (Mark::LevelledOff, "memory grew by 20.0 MiB over the window, and levelled off")
        );
        let nears_a_limit = (0..20).map(|second| 60.0 - 40.0 * (-f64::from(second) / 4.0).exp());
        assert_eq!(marked(nears_a_limit).unwrap().0, Mark::LevelledOff);
    }

    /// MiB at the end of each second: a heap that grows by `tooth` in each period and is then given back, over one that
    /// grows by `leak` a second.
    fn sawtooth(tooth: f64, leak: f64, period: f64, phase: f64) -> impl Iterator<Item = f64> {
        let at = move |second: u32| (f64::from(second) + phase) / period;
        (0..).map(move |second| 100.0 + leak * f64::from(second) + tooth * at(second).fract())
    }

    #[test]
    fn a_leak_under_a_sawtooth_is_seen_by_its_lows() {
        for (tooth, leak, period, window) in [(80.0, 4.0, 8_u8, 30), (40.0, 4.0, 4, 20), (15.0, 4.0, 4, 20)] {
            for quarter in 0..4 * period {
                let teeth = sawtooth(tooth, leak, period.into(), f64::from(quarter) / 4.0).take(window);
                let said = marked(teeth).map(|said| said.0);
                assert_eq!(said, Some(Mark::Growing), "{tooth} of {period} s, {quarter}");
            }
        }
        let tooth = |low: u32| [low, low + 30, low + 60, low + 90];
        let levels = [100, 140, 180, 180, 180].into_iter().flat_map(tooth).map(f64::from);
        let (mark, text) = marked(levels).unwrap();
        assert_eq!(
            (mark, text.as_str()),
            (Mark::LevelledOff, "memory grew by 80.0 MiB over the window, and levelled off")
        );
    }

    /// Nothing that was seen to fall back is a leak, at whatever phase it is looked at, however tall its teeth are, and however
    /// much they differ.
    #[test]
    fn a_sawtooth_is_not_a_leak() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut fell = 0;
        for (tooth, window) in
            [40.0, 80.0, 200.0, 500.0].into_iter().flat_map(|tooth| [10, 20, 30].map(|it| (tooth, it)))
        {
            for (quarters, phase) in
                (12..4 * window).flat_map(|quarters| (0..quarters).map(move |phase| (quarters, phase)))
            {
                let period = quarters as f64 / 4.0;
                let scattered = |memory: f64| 100.0 + (memory - 100.0) * (0.9 + 0.2 * rng.f64());
                let teeth: Vec<f64> =
                    sawtooth(tooth, 0.0, period, phase as f64 / 4.0).map(scattered).take(window).collect();
                if teeth.windows(2).any(|two| two[0] > two[1] * 1.25) {
                    fell += 1;
                    assert_eq!(marked(teeth), None, "{tooth} % in {period} s from {phase} on, {window} s");
                }
            }
        }
        assert!(fell > 30_000, "{fell}");
    }

    #[test]
    fn what_outgrows_all_that_it_gave_back_grows() {
        let started = [50.0, 80.0, 40.0].into_iter().chain((0..12).map(|second| 60.0 + 20.0 * f64::from(second)));
        assert_eq!(marked(started).unwrap().0, Mark::Growing);
    }

    #[test]
    fn what_breathes_or_shrinks_does_not_grow() {
        assert_eq!(marked((0..12).map(|second| f64::from(20 + second % 4))), None);
        assert_eq!(marked((0..12).map(|second| f64::from(60 - 2 * second))), None);
        assert_eq!(marked((0..9).map(|second| f64::from(10 + 2 * second))), None, "too short to say");
    }
}
