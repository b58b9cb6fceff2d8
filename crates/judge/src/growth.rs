//! Whether the target's memory grew over a window, and whether that had come to an end.

use model::{Growth, Mark, MarkNote, Measurement, Metric, Observation};

use crate::course::measured_and_seen;
use crate::figures::figure;
use crate::thresholds::{COURSE_SECONDS, GROWING_PACE, MEMORY_CHANGE, SECONDS_FOR_A_PACE, SETTLED_SHARE};

/// A step of the window: when it ended, the memory then, and how many replies came in it.
struct Step {
    end_s: f64,
    bytes: f64,
    replies: u64,
}

/// The mark of a launch whose memory grew by more than matters: `growing` where it still did when the window ended, else
/// `levelled-off`. None where the window has too few whole seconds.
pub(crate) fn mark(measured: &Measurement, observed: Option<&Observation>) -> Option<MarkNote> {
    let steps: Vec<Step> = measured_and_seen(measured, &observed?.seconds)
        .into_iter()
        .map(|(step, seen)| Step {
            end_s: step.at_s + step.length_s,
            bytes: seen.memory_bytes as f64,
            replies: step.completed,
        })
        .collect();
    let (first, rest) = steps.split_first().filter(|_| steps.len() >= COURSE_SECONDS)?;
    let last = rest.last()?;
    let (grown, lasted_s) = (last.bytes - first.bytes, last.end_s - first.end_s);
    if last.bytes <= first.bytes * (1.0 + MEMORY_CHANGE) {
        return None;
    }
    let few = ((SETTLED_SHARE * steps.len() as f64).ceil() as usize).max(SECONDS_FOR_A_PACE);
    let is_growing = pace(&steps[steps.len() - few..]) > GROWING_PACE * grown / lasted_s;
    let replies: u64 = rest.iter().map(|step| step.replies).sum();
    let growth =
        Growth { bytes: grown as u64, bytes_per_request: (replies > 0 && is_growing).then(|| grown / replies as f64) };
    let each = growth.bytes_per_request.map_or(String::new(), |each| format!(", {} kB a request", figure(each / 1e3)));
    let (mark, end) = match is_growing {
        true => (Mark::Growing, "had not levelled off"),
        false => (Mark::LevelledOff, "levelled off"),
    };
    let text = format!("memory grew by {} MiB over the window{each}, and {end}", figure(grown / f64::from(1 << 20)));
    Some(MarkNote { metrics: vec![Metric::PeakMemory], growth: Some(growth), ..MarkNote::new(mark, text) })
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
    use model::{Interval, ObservedSecond};

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
        mark(&measured, Some(&seen)).map(|note| (note.mark, note.text))
    }

    #[test]
    fn a_leak_is_growth_to_the_end() {
        let (mark, text) = marked((0..12).map(|second| 10.0 + 2.0 * f64::from(second))).unwrap();
        assert_eq!(mark, Mark::Growing);
        assert_eq!(text, "memory grew by 22.0 MiB over the window, 2.10 kB a request, and had not levelled off");
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

    #[test]
    fn what_breathes_or_shrinks_does_not_grow() {
        assert_eq!(marked((0..12).map(|second| f64::from(20 + second % 4))), None);
        assert_eq!(marked((0..12).map(|second| f64::from(60 - 2 * second))), None);
        assert_eq!(marked((0..9).map(|second| f64::from(10 + 2 * second))), None, "too short to say");
    }
}
