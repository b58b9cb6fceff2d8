//! How long a server gave no reply, as far as whole seconds show it.

use model::{Interval, LimitCode, Measurement, Reason};

use crate::figures::micros;
use crate::thresholds::{SILENCE_REPLIES, SILENCE_S};

/// Neighbouring seconds of the window without a reply.
struct Silence {
    from_s: f64,
    length_s: f64,
    /// Whether the window ends with it.
    is_last: bool,
}

/// Said of a server that gave no reply for a second or more in which its pace would have brought ten: when, and how long.
/// The generator's own standstills are taken from it.
pub(crate) fn silent(load: &Measurement) -> Option<Reason> {
    let window: Vec<&Interval> = load.steps.iter().filter(|second| second.at_s >= 0.0).collect();
    let silences: Vec<Silence> = silences(&window);
    let longest = silences.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s))?;
    let served = window.iter().filter(|second| second.completed > 0);
    let (replies, served_s) =
        served.fold((0u64, 0.0), |(n, s), second| (n.saturating_add(second.completed), s + second.length_s));
    let own_s = longest.length_s - load.stood_still_s();
    if replies == 0 || own_s < SILENCE_S || (replies as f64 / served_s * own_s) < SILENCE_REPLIES {
        return None;
    }
    let [until, length] = [longest.from_s + longest.length_s, longest.length_s].map(|seconds| micros(seconds * 1e6));
    let from = if longest.from_s < 1e-3 { "the beginning".to_owned() } else { micros(longest.from_s * 1e6) };
    let until = if longest.is_last { "the end".to_owned() } else { until };
    let others = match silences.len() - 1 {
        0 => String::new(),
        1 => ", and once more".to_owned(),
        more => format!(", and {more} times more"),
    };
    let text = format!("the server gave no reply for at least {length}, from {from} to {until} of the window{others}");
    Some(Reason::new(LimitCode::ServerSilent, text))
}

fn silences(window: &[&Interval]) -> Vec<Silence> {
    let mut silences: Vec<Silence> = Vec::new();
    let mut goes_on = false;
    for second in window {
        let is_silent = second.completed == 0;
        match silences.last_mut().filter(|_| is_silent && goes_on) {
            Some(last) => last.length_s += second.length_s,
            None if is_silent => {
                silences.push(Silence { from_s: second.at_s, length_s: second.length_s, is_last: false });
            }
            None => {}
        }
        goes_on = is_silent;
    }
    if let Some(last) = silences.last_mut() {
        last.is_last = goes_on;
    }
    silences
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Standstills;

    /// Ten seconds of 100 replies each, but for those that are named.
    fn load(silent_in: &[u32]) -> Measurement {
        let second = |at: u32| {
            let completed = if silent_in.contains(&at) { 0 } else { 100 };
            Interval { at_s: f64::from(at), length_s: 1.0, completed, ..Interval::default() }
        };
        Measurement { window_s: 10.0, steps: (0..10).map(second).collect(), ..Measurement::default() }
    }

    fn said(load: &Measurement) -> Option<String> {
        silent(load).map(|reason| reason.text)
    }

    #[test]
    fn a_silence_is_told_with_when_and_how_long() {
        assert_eq!(said(&load(&[])), None);
        let text = "the server gave no reply for at least 3.00 s, from 4.00 s to 7.00 s of the window";
        assert_eq!(said(&load(&[4, 5, 6])).as_deref(), Some(text));
        let text = "the server gave no reply for at least 2.00 s, from 8.00 s to the end of the window, and once more";
        let mut late = load(&[1, 8, 9]);
        assert_eq!(said(&late).as_deref(), Some(text));
        // The seconds of a thread that looked late add up to less than the window.
        late.window_s = 10.02;
        assert_eq!(said(&late).as_deref(), Some(text));
    }

    #[test]
    fn what_is_the_generators_or_chance_is_no_silence() {
        let mut stood = load(&[4, 5, 6]);
        stood.standstills = Some(Standstills { sum_s: 2.5, ..Standstills::default() });
        assert_eq!(said(&stood), None);
        let mut seldom = load(&[4, 5, 6]);
        seldom.steps.iter_mut().for_each(|second| second.completed = second.completed.min(2));
        assert_eq!(said(&seldom), None, "six replies may be missing by chance");
        assert_eq!(said(&load(&(0..10).collect::<Vec<_>>())), None, "nothing at all is told otherwise");
    }
}
