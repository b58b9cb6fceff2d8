//! How long a server gave no reply, and whether it came back.

use model::{Answered, HalfCount, Interval, LongSilence, Measurement, NotSent, Side, Silence, StandstillSpan, sum};

use crate::thresholds::{DRAIN_S, HUNG, SILENCE_REPLIES, SILENCE_S, SILENCE_SHARE, SILENCE_TOLD_S};

/// How much two times of a window may differ that mean the same moment, in seconds.
pub(crate) const EDGE_S: f64 = 1e-3;

/// Silences from which they are a server's way, and no accident.
const RECURS: usize = 3;

/// Said of a server that gave no reply for half a second or more in which its pace would have brought ten: when, and how
/// long. The generator's own standstills are taken from it.
pub(crate) fn silent(load: &Measurement) -> Option<LongSilence> {
    let silent_s: f64 = load.silences.iter().map(|it| it.length_s).sum();
    let served_s = load.window_s - silent_s;
    let is_long = |own_s: f64| {
        own_s >= SILENCE_TOLD_S && load.in_window.completed as f64 / served_s.max(0.0) * own_s >= SILENCE_REPLIES
    };
    let own = |silence: &Silence| silence.length_s - stood_still_s(load, silence);
    let all: Vec<(&Silence, f64)> =
        load.silences.iter().map(|it| (it, own(it))).filter(|(_, own_s)| is_long(*own_s)).collect();
    let (longest, own_s) = all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // One whose replies are long in coming, all or those that come together, is silent most of the time.
    let comes_in_bursts = 2.0 * silent_s > load.window_s && *own_s <= HUNG * slow_reply_s(load);
    if load.in_window.completed == 0 || comes_in_bursts {
        return None;
    }
    let until_s = longest.at_s + longest.length_s;
    Some(LongSilence {
        length_s: *own_s,
        at_least: *own_s < longest.length_s,
        from_s: Some(longest.at_s).filter(|from_s| *from_s >= EDGE_S),
        until_s: Some(until_s).filter(|until_s| *until_s <= load.window_s - EDGE_S),
        others: all.len() as u64 - 1,
    })
}

/// For how much of a silence every thread of the generator stood still: one that was awake would have seen a reply.
pub(crate) fn stood_still_s(load: &Measurement, silence: &Silence) -> f64 {
    let Some(stood) = &load.standstills else { return 0.0 };
    let end_s = silence.at_s + silence.length_s;
    let inside = |span: &StandstillSpan| (span.at_s.max(silence.at_s), (span.at_s + span.length_s).min(end_s));
    let of = |thread: u32| -> Vec<(f64, f64)> {
        let mut spans: Vec<_> = stood.spans.iter().filter(|span| span.thread == thread).map(inside).collect();
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        spans
    };
    let threads = (0..load.generator.threads.len() as u32).map(of);
    let all = threads.reduce(|one, other| in_both(&one, &other)).unwrap_or_default();
    all.iter().map(|(from_s, until_s)| (until_s - from_s).max(0.0)).sum()
}

/// What lies in a time of either list.
fn in_both(one: &[(f64, f64)], other: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let pairs = one.iter().flat_map(|mine| other.iter().map(move |theirs| (mine, theirs)));
    let both = pairs.map(|(mine, theirs)| (mine.0.max(theirs.0), mine.1.min(theirs.1)));
    both.filter(|(from_s, until_s)| from_s < until_s).collect()
}

/// That a server answered no more to the end of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stopped {
    /// Seconds of the window after which no reply came.
    pub(crate) after_s: f64,
    /// Requests of the window that it left without an answer from then on.
    pub(crate) unanswered: u64,
}

/// Whether the server answered no more to the end of the window and in the drain: it refused, or it hung. What failed is
/// then a small share only because a refused connection is opened again ever more seldom, and one that waits does not fail.
/// The generator's own standstills are no silence of the server's.
pub(crate) fn stopped(load: &Measurement) -> Option<Stopped> {
    let last = last_silence(load).filter(|last| !last.answered_in_drain && !load.interrupted)?;
    let silent_s = last.length_s - stood_still_s(load, &last);
    let missing = load.in_window.completed as f64 / last.at_s * silent_s;
    let unanswered = without_answer(load, &last);
    let is_over = refused(load, &last, silent_s) || hung(load, &last, silent_s);
    (missing >= SILENCE_REPLIES && is_over && unanswered > 0).then_some(Stopped { after_s: last.at_s, unanswered })
}

/// Whether a server answered all the while. Of one that did not, nothing can be said that more connections or threads would
/// show.
pub(crate) fn answered(load: &Measurement) -> Answered {
    if stopped(load).is_some() {
        Answered::ToAPoint
    } else if silent(load).is_some() {
        Answered::WithGaps
    } else {
        Answered::Always
    }
}

/// The silence in which the window ended. Records of before silences were kept show it by steps; in others these show none
/// that was long enough to be kept.
fn last_silence(load: &Measurement) -> Option<Silence> {
    let is_last = |silence: &&Silence| silence.at_s + silence.length_s >= load.window_s - EDGE_S;
    let by_steps = || {
        let window: Vec<_> = load.steps.iter().filter(|step| step.at_s >= 0.0).collect();
        let (_, silent) = window.split_at(window.iter().rposition(|step| step.completed > 0)? + 1);
        let length_s = silent.iter().map(|step| step.length_s).sum();
        silent.first().map(|step| Silence { at_s: step.at_s, length_s, ..Silence::default() })
    };
    let last = load.silences.iter().find(is_last).copied().or_else(by_steps)?;
    (load.in_window.completed > 0 && last.at_s > 0.0).then_some(last)
}

/// Whether a server that gave no reply for so long refused: it ended requests in that time, which was longer than replies
/// are in coming. A time-out shows no refusal, for it is bourdon who ends the request.
fn refused(load: &Measurement, last: &Silence, silent_s: f64) -> bool {
    let least_s = (SILENCE_SHARE * load.window_s).clamp(SILENCE_TOLD_S, SILENCE_S);
    silent_s >= least_s && silent_s > HUNG * slow_reply_s(load) && refused_in(load, last) > 0
}

/// Requests that the server ended in the silence that ended the window, or in older records that failed in it; in those of
/// before silences were kept what failed in steps that lie in it whole, for what failed in one that it begins in may have
/// done so before.
fn refused_in(load: &Measurement, last: &Silence) -> u64 {
    let inside = load.steps.iter().filter(|step| step.at_s >= last.at_s - EDGE_S);
    last.refused.or(last.failed).unwrap_or_else(|| sum(inside.map(|step| step.failed)))
}

/// Requests of the window that a server left without an answer from when it was silent to the end: those that failed then, and
/// those that still waited, for a reply or to be sent. Not those that this machine could not send.
fn without_answer(load: &Measurement, last: &Silence) -> u64 {
    let books = &load.accounting;
    let of = |kind: NotSent| books.not_sent.get(&kind).copied().unwrap_or(0);
    if let Some(failed) = last.failed {
        return sum([failed, books.in_flight_at_end, of(NotSent::WaitingAtEnd), of(NotSent::PausedAtEnd)]);
    }
    let is_own = |kind: NotSent| kind.side() == Side::Us && kind != NotSent::PausedAtEnd;
    let own = books.not_sent.iter().filter(|(kind, _)| is_own(**kind)).map(|(_, count)| *count);
    let before = load.steps.iter().filter(|step| step.at_s >= 0.0 && step.at_s < last.at_s - EDGE_S);
    let others = sum(own.chain(before.map(|step| step.failed)));
    books.scheduled.saturating_sub(books.completed).saturating_sub(others)
}

/// Whether a server that gave no reply for so long hung: it left requests unanswered after the window, too, and even the
/// slowest of those that it ended took much less long. The mean would not do: where one request in fifty is slow, all
/// connections soon wait for slow ones together. Where all had timed out, none was left to show in the drain whether it came
/// back, and the silence must have been as much longer. Where some wait on, the drain has shown a second of silence more, and
/// half of a short window is enough: what was measured is less than half of what was asked for.
fn hung(load: &Measurement, last: &Silence, silent_s: f64) -> bool {
    let timed_out = last.failed.zip(last.refused).map_or(0, |(failed, refused)| failed.saturating_sub(refused));
    let waits = load.accounting.in_flight_at_end > 0;
    let long_s = SILENCE_S.max(SILENCE_SHARE * load.window_s);
    let least_s = if waits { long_s.min(load.window_s / 2.0) } else { long_s + DRAIN_S };
    let is_longer = slowest_reply_s(load).is_some_and(|slowest_s| silent_s > HUNG * slowest_s);
    (waits || timed_out > 0) && silent_s >= least_s && is_longer
}

/// How long the slowest reply was waited for; none where nothing says so. Records of before it was kept say it of the window's
/// requests, and of all replies in the window what they took in the mean.
pub(crate) fn slowest_reply_s(load: &Measurement) -> Option<f64> {
    let of_steps = load.steps.iter().filter_map(Interval::slowest_reply_us);
    let of_halves = load.in_window.halves.iter().filter_map(HalfCount::mean_service_us);
    load.slowest_reply_s.or_else(|| of_steps.chain(of_halves).reduce(f64::max).map(|us| us / 1e6))
}

/// How long replies are in coming: the mean, or where silences recur, what one in a hundred takes.
fn slow_reply_s(load: &Measurement) -> f64 {
    let slow_us = load.latency_us.service.as_ref().and_then(|service| service.p99);
    let mean_s = load.residence.completed_s / load.in_window.completed as f64;
    slow_us.filter(|_| load.silences.len() >= RECURS).map_or(mean_s, |us| mean_s.max(us / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        Accounting, Failure, GeneratorUse, LatencySummary, LimitCause, Mark, Standstills, ThreadUse, WindowCount,
    };

    /// Ten seconds of 100 replies each, but for these times.
    fn load(silences: &[(f64, f64)]) -> Measurement {
        let silent_s: f64 = silences.iter().map(|(_, length_s)| length_s).sum();
        let completed = ((10.0 - silent_s) * 100.0) as u64;
        Measurement {
            window_s: 10.0,
            in_window: WindowCount { completed, ..WindowCount::default() },
            slowest_reply_s: Some(0.01),
            silences: silences
                .iter()
                .map(|(at_s, length_s)| Silence { at_s: *at_s, length_s: *length_s, ..Silence::default() })
                .collect(),
            ..Measurement::default()
        }
    }

    fn said(load: &Measurement) -> Option<String> {
        silent(load).map(|silence| report::reason_words(&LimitCause::Silence(silence).into()))
    }

    #[test]
    fn a_silence_is_told_with_when_and_how_long() {
        assert_eq!(said(&load(&[])), None);
        let text = "the server gave no whole reply for 1.00 s, from 4.61 s to 5.61 s of the window";
        assert_eq!(said(&load(&[(4.61, 1.0)])).as_deref(), Some(text), "whatever seconds it lies across");
        let text = "the server gave no whole reply for 1.70 s, from 8.30 s to the end of the window, and once more for half a \
                    second or longer";
        assert_eq!(said(&load(&[(1.0, 0.6), (8.3, 1.7)])).as_deref(), Some(text));
    }

    #[test]
    fn what_is_the_generators_or_chance_is_no_silence() {
        let stood = |threads: usize, spans: &[(u32, f64, f64)]| {
            let span = |(thread, at_s, length_s): &(u32, f64, f64)| StandstillSpan {
                thread: *thread,
                at_s: *at_s,
                length_s: *length_s,
            };
            let spans = spans.iter().map(span).collect();
            let standstills = Some(Standstills { spans, ..Standstills::default() });
            let generator = GeneratorUse { threads: vec![ThreadUse::default(); threads], ..GeneratorUse::default() };
            said(&Measurement { standstills, generator, ..load(&[(4.0, 3.0)]) })
        };
        assert_eq!(stood(1, &[(0, 4.2, 2.7)]), None);
        let told = stood(1, &[(0, 6.0, 2.0)]).expect("two seconds of it are the server's");
        assert!(
            told.starts_with("the server gave no whole reply for at least 2.00 s, from 4.00 s to 7.00 s"),
            "{told}"
        );
        assert!(stood(1, &[(0, 0.0, 4.0)]).is_some_and(|told| told.contains("for 3.00 s")), "another time");
        // A thread that was awake is a witness.
        assert!(stood(2, &[(1, 4.2, 2.7)]).is_some_and(|told| told.contains("for 3.00 s")));
        assert!(stood(3, &[(0, 4.0, 3.0), (2, 4.0, 3.0)]).is_some_and(|told| told.contains("for 3.00 s")));
        assert_eq!(stood(2, &[(0, 4.0, 1.5), (1, 4.0, 3.0), (0, 5.6, 1.4)]), None, "neither was");
        let told = stood(2, &[(0, 4.0, 2.0), (1, 5.0, 2.0)]).expect("one of them was for two seconds");
        assert!(told.contains("for at least 2.00 s"), "{told}");
        let mut seldom = load(&[(4.0, 3.0)]);
        seldom.in_window.completed = 14;
        assert_eq!(said(&seldom), None, "six replies may be missing by chance");
        seldom.in_window.completed = 0;
        assert_eq!(said(&seldom), None, "nothing at all is told otherwise");
    }

    #[test]
    fn a_run_tells_of_a_silence_of_a_single_launch() {
        let session = crate::testing::Session::new().cell("a", 100.0).cell("b", 120.0);
        let mut records = session.records();
        let of_b = records.iter_mut().filter(|trial| trial.cell == 1).nth(2).expect("there are six");
        of_b.measurement.as_mut().expect("it was measured").silences = load(&[(4.61, 1.0)]).silences;
        let analysis = session.analyse_these(&records);
        let notes = |cell: usize| -> Vec<String> {
            let silent = analysis.cells[cell].marks.iter().filter(|note| note.mark() == Mark::Silent);
            silent.map(report::note_words).collect()
        };
        let text = "the server gave no whole reply for 1.00 s, from 4.61 s to 5.61 s of the window (in 1 of 6 launches; figures of \
                    b03-c02)";
        assert_eq!((notes(0), notes(1)), (vec![], vec![text.to_owned()]));
        assert!(!analysis.cells[1].failing.bad);
        assert_eq!(analysis.comparisons, session.analyse().comparisons, "no verdict changes");
    }

    #[test]
    fn replies_that_come_in_bursts_are_no_silence() {
        let mut bursts = load(&[(0.0, 2.0), (2.0, 2.0), (4.0, 2.0), (6.0, 2.0), (8.0, 2.0)]);
        bursts.in_window.completed = 250;
        bursts.residence.completed_s = 500.0;
        assert_eq!(said(&bursts), None, "a handler that takes two seconds");
        bursts.residence.completed_s = 25.0;
        assert!(said(&bursts).is_some(), "one that takes a tenth of a second, and stopped five times");
        let service = LatencySummary { p99: Some(1.9e6), ..crate::testing::summary(1e5, 250) };
        bursts.latency_us.service = Some(service);
        assert_eq!(said(&bursts), None, "some requests are slow, and all connections wait for such together");
    }

    /// Ten seconds in two steps, of which the last is silent from then to the end, with so many failures in it and in the
    /// silence, and so many requests that still waited for a reply.
    fn ended(at_s: f64, (of_step, failed): (u64, Option<u64>), in_flight_at_end: u64) -> Measurement {
        let step = |at_s: f64, failed| Interval { at_s, length_s: 5.0, completed: 100, failed, ..Interval::default() };
        let mut load = Measurement { steps: vec![step(0.0, 0), step(5.0, of_step)], ..load(&[(at_s, 10.0 - at_s)]) };
        let completed = load.in_window.completed;
        load.accounting = Accounting {
            scheduled: completed + of_step + in_flight_at_end,
            sent: completed + of_step + in_flight_at_end,
            completed,
            ok: completed,
            failed: [(Failure::ClosedBeforeReply, of_step)].into(),
            in_flight_at_end,
            ..Accounting::default()
        };
        load.silences[0].failed = failed;
        load
    }

    #[test]
    fn a_server_that_stops_is_noticed_whatever_the_steps_of_its_load() {
        let of = |at_s, failed, left| stopped(&ended(at_s, failed, left)).map(|it| (it.after_s, it.unanswered));
        assert_eq!(of(8.6, (3, Some(3)), 2), Some((8.6, 5)), "it refused");
        assert_eq!(of(9.2, (3, Some(3)), 2), None, "below a second");
        assert_eq!(of(8.6, (0, Some(0)), 0), None, "nothing failed, and nothing was left waiting");
        assert_eq!(of(8.6, (3, Some(0)), 0), None, "what failed had done so before");
        assert_eq!(of(8.6, (3, None), 0), None, "or may have, in a record that does not say");
        assert_eq!(of(8.6, (0, Some(0)), 1), Some((8.6, 1)), "it hung");
        let mut back = ended(8.6, (3, Some(3)), 2);
        back.silences[0].length_s = 1.3;
        assert_eq!(stopped(&back), None);
    }

    #[test]
    fn a_server_that_hangs_for_half_of_a_short_window_has_stopped() {
        let of = |at_s: f64, left| {
            let mut load = Measurement { window_s: 1.0, ..ended(8.6, (0, Some(0)), left) };
            (load.silences[0].at_s, load.silences[0].length_s) = (at_s, 1.0 - at_s);
            stopped(&load).map(|it| it.unanswered)
        };
        assert_eq!((of(0.3, 2), of(0.5, 2)), (Some(2), Some(2)));
        assert_eq!(of(0.51, 2), None, "it served for most of it");
        assert_eq!(of(0.3, 0), None, "nobody waited after it");
    }

    #[test]
    fn a_server_that_answers_in_the_drain_has_not_stopped() {
        let mut back = ended(8.6, (3, Some(3)), 2);
        back.silences[0].answered_in_drain = true;
        assert_eq!(stopped(&back), None);
        back.silences[0] = Silence { failed: Some(0), ..back.silences[0] };
        assert_eq!(stopped(&back), None, "nor does it hang");
    }

    #[test]
    fn one_failure_shows_no_end_where_replies_are_as_long_in_coming() {
        let slow = |mean_s: f64| {
            let mut load = ended(8.6, (1, Some(1)), 0);
            load.residence.completed_s = mean_s * load.in_window.completed as f64;
            stopped(&load).is_some()
        };
        assert!(slow(0.4) && !slow(0.5));
    }

    /// At its end a pause cannot be told from a server that hangs before it has lasted.
    #[test]
    fn a_time_out_shows_no_refusal() {
        let timed_out = |at_s: f64, refused: u64, in_flight_at_end: u64| {
            let mut load = ended(at_s, (40, Some(40)), in_flight_at_end);
            load.silences[0].refused = Some(refused);
            stopped(&load).map(|it| it.unanswered)
        };
        assert_eq!((timed_out(8.6, 0, 0), timed_out(8.1, 0, 0)), (None, None));
        assert_eq!(timed_out(7.9, 0, 0), Some(40), "it lasted");
        assert_eq!(timed_out(8.6, 0, 1), Some(41), "one was left to wait in the drain, and waited to its end");
        assert_eq!(timed_out(8.6, 1, 0), Some(40), "one was refused");
    }

    #[test]
    fn a_step_that_is_shorter_than_a_silence_is_none() {
        let with = |length_s: f64, silences: &[(f64, f64)]| {
            let mut load = ended(8.6, (3, None), 2);
            load.window_s = 2.0 + length_s;
            let step = |at_s, length_s, completed, failed| Interval {
                at_s,
                length_s,
                completed,
                failed,
                ..Interval::default()
            };
            load.steps = vec![step(0.0, 1.0, 100, 0), step(1.0, 1.0, 100, 0), step(2.0, length_s, 0, 3)];
            load.silences = self::load(silences).silences;
            stopped(&load).map(|it| it.after_s)
        };
        assert_eq!(with(0.3, &[]), None, "one refusal in the last third of a second");
        assert_eq!(with(0.6, &[]), Some(2.0), "a record of before silences were kept");
    }
}
