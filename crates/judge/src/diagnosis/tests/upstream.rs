//! Round trips to what is behind a server.

use model::{DiagnosePlan, Diagnosis, Experiment, ServerFault, Suspect, WhyOpen};

use super::faulty::Faulty;
use super::{proved, why_open};
use crate::diagnosis::upstream::is_as_before;

fn named(asked: &mut DiagnosePlan) {
    asked.upstream = Some(([127, 0, 0, 1], 5432).into());
}

fn diagnosed(faulty: Faulty) -> Diagnosis {
    faulty.diagnosed_as(named)
}

#[test]
fn round_trips_one_after_another_are_counted() {
    for round_trips in [3.0, 12.0, 60.0] {
        let diagnosis = diagnosed(Faulty { round_trips, ..Faulty::default() });
        let found = proved(&diagnosis);
        let Some(ServerFault::RoundTrips { round_trips: of, asked, .. }) = found.get(&Suspect::RoundTrips) else {
            panic!("{round_trips}: {diagnosis:?}")
        };
        assert!((of.estimate.unwrap() / round_trips - 1.0).abs() < 0.05, "{round_trips}: {of:?}");
        assert!(asked.is_some_and(|asked| (asked / round_trips - 1.0).abs() < 0.03), "{asked:?}");
        assert_eq!(found.len(), 1, "{diagnosis:?}");
    }
}

#[test]
fn what_a_relay_holds_too_long_does_not_count() {
    let diagnosis = diagnosed(Faulty { round_trips: 12.0, holds_for: 1.06, ..Faulty::default() });
    let found = proved(&diagnosis);
    let Some(ServerFault::RoundTrips { round_trips: of, .. }) = found.get(&Suspect::RoundTrips) else {
        panic!("{diagnosis:?}")
    };
    assert!((of.estimate.unwrap() / 12.0 - 1.0).abs() < 0.01, "{of:?}");
    assert!(of.low <= of.estimate && of.estimate <= of.high && of.high.is_some(), "{of:?}");
}

#[test]
fn a_look_up_and_what_it_leads_to_are_not_many() {
    let diagnosis = diagnosed(Faulty { round_trips: 2.0, ..Faulty::default() });
    assert_eq!(diagnosis.findings, []);
    let excluded = diagnosis.excluded.iter().find(|it| it.suspect == Suspect::RoundTrips);
    assert_eq!(excluded.and_then(|it| it.visible_from), Some(3.0), "{diagnosis:?}");
}

#[test]
fn what_was_not_named_or_not_asked_is_not_known() {
    let faulty = Faulty { round_trips: 12.0, ..Faulty::default() };
    assert_eq!(why_open(&faulty.diagnosed(), Suspect::RoundTrips), Some(WhyOpen::NoUpstream));
    let elsewhere = diagnosed(Faulty { asks: false, ..faulty });
    assert_eq!(why_open(&elsewhere, Suspect::RoundTrips), Some(WhyOpen::NotAsked), "{elsewhere:?}");
    assert_eq!(elsewhere.findings, []);
}

#[test]
fn what_any_delay_adds_as_often_is_not_behind_the_server() {
    // A client that sends its request in many parts waits for the network as often.
    let diagnosis = diagnosed(Faulty { round_trips: 12.0, by_client: 12.0, ..Faulty::default() });
    assert_eq!(why_open(&diagnosis, Suspect::RoundTrips), Some(WhyOpen::NotByControl), "{diagnosis:?}");
    assert!(!proved(&diagnosis).contains_key(&Suspect::RoundTrips));
}

#[test]
fn turns_of_a_long_reply_through_the_relay_are_not_round_trips() {
    let diagnosis = diagnosed(Faulty { round_trips: 5.0, turns: 5.0, ..Faulty::default() });
    assert_eq!(why_open(&diagnosis, Suspect::RoundTrips), Some(WhyOpen::Relayed), "{diagnosis:?}");
    assert!(!proved(&diagnosis).contains_key(&Suspect::RoundTrips));
}

#[test]
fn what_does_not_follow_the_delay_is_no_round_trip() {
    // A server that gives up what is late: twice the delay costs no more.
    let diagnosis = diagnosed(Faulty { gives_up_s: 0.024, round_trips: 12.0, ..Faulty::default() });
    assert_eq!(why_open(&diagnosis, Suspect::RoundTrips), Some(WhyOpen::NotByDose), "{diagnosis:?}");
    let longest = |it: &model::Tried| matches!(it.trying.experiment, Experiment::Upstream { delay_ns, .. } if delay_ns > 2_000_000);
    assert!(diagnosis.tried.iter().any(longest), "{diagnosis:?}");
}

#[test]
fn a_request_without_the_delay_must_take_what_it_took_but_for_a_tenth_of_a_delay() {
    let is = |first_ms: f64, last_ms: f64| is_as_before(&[first_ms / 1e3, 0.1, last_ms / 1e3], 2_000_000);
    assert!(is(0.24, 0.40), "noise of a fast request is little of a delay of 2 ms");
    assert!(is(10.0, 11.9), "nor is a fifth of a slow one another server");
    assert!(!is(0.24, 0.45) && !is(10.0, 12.5) && !is(12.5, 10.0));
    assert!(!is_as_before(&[0.01], 2_000_000), "once is not again");
}
