use std::io::Write;

use hdrhistogram::Histogram;
use model::{
    Arrivals, Extent, Load, LoadModel, LoadSpec, Measurement, Mix, NS_PER_S, ReplyExpectation, Request, Residence,
};
use proptest::prelude::*;

use super::*;
use crate::RunOptions;
use crate::second::{histogram, record};
use crate::serial::{bytes, read};
use crate::simulation::{SimulatedServer, bring_simulated};

/// Two seconds of a load of a server that stops for one of them, at a rate or without.
fn brought(rate_per_s: Option<f64>, seed: u64) -> Brought {
    let model =
        rate_per_s.map_or(LoadModel::Closed, |rate_per_s| LoadModel::Open { rate_per_s, arrivals: Arrivals::Poisson });
    let spec = LoadSpec {
        load: Load {
            mix: Mix::one(Request::get("/"), ReplyExpectation::default()),
            model,
            connections: 3,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: Some(NS_PER_S / 2),
            network_delay_ns: 0,
            warm_up_ns: NS_PER_S / 10,
            extent: Extent::Window(2 * NS_PER_S),
        },
        address: ([127, 0, 0, 1], 80).into(),
        tls: None,
        sources: Vec::new(),
        start_spread_ns: 0,
        threads: 1,
        cpus: Vec::new(),
        spin: false,
        quick_ack: false,
        seed,
    };
    let server = SimulatedServer { stall: Some((NS_PER_S, 2 * NS_PER_S)), ..SimulatedServer::new(1_000_000, "well") };
    bring_simulated(&spec, server, RunOptions::default(), &mut |_| {}).unwrap()
}

fn concluded(brought: Brought) -> Measurement {
    brought.conclude().measurement
}

#[test]
fn what_is_written_is_read_back_whole() {
    for rate_per_s in [None, Some(300.0)] {
        let brought = brought(rate_per_s, 1);
        let read = Brought::from_bytes(&brought.to_bytes()).unwrap();
        assert_eq!(read, brought);
        let measured = concluded(read);
        assert!(measured.accounting.failures() > 0 && !measured.silences.is_empty(), "{measured:?}");
        assert_eq!(measured, concluded(brought));
    }
}

#[test]
fn parts_that_were_handed_over_make_the_whole_that_they_make_at_home() {
    let parts: Vec<Brought> = (0..16).map(|seed| brought(Some(200.0), seed)).collect();
    let together = |parts: Vec<Brought>| parts.into_iter().reduce(|one, other| one.beside(other).unwrap()).unwrap();
    let handed_over = parts.iter().map(|part| Brought::from_bytes(&part.to_bytes()).unwrap()).collect();
    let sent: u64 = parts.iter().map(|part| concluded(part.clone()).accounting.sent).sum();
    let whole = together(handed_over);
    assert_eq!(whole, together(parts));
    let measured = concluded(whole);
    assert_eq!((measured.accounting.imbalance(), measured.accounting.sent), (None, sent));
    assert_eq!(measured.fault(), None);
    assert_eq!((measured.window_s, measured.generator.threads.len()), (2.0, 16));
    let Residence { in_flight_s, requests_s, .. } = measured.residence;
    assert!((in_flight_s - requests_s).abs() < 0.01 * requests_s, "{:?}", measured.residence);
    let [silence] = &measured.silences[..] else { panic!("one of all together: {:?}", measured.silences) };
    assert!((1.0..1.2).contains(&silence.length_s), "{silence:?}");
}

#[test]
fn what_was_at_another_time_is_moved_whole() {
    let brought = brought(None, 1);
    let (later, back) = (brought.clone().moved(1_000), brought.clone().moved(1_000).moved(-1_000));
    assert_eq!(back, brought);
    assert_eq!(concluded(later.clone()), concluded(brought.clone()), "what it says does not depend on the clock");
    let (begin_ns, end_ns) = brought.window_ns();
    assert_eq!(later.window_ns(), (begin_ns + 1_000, end_ns + 1_000));
    let both = brought.clone().beside(later).unwrap();
    assert_eq!(both.window_ns(), (begin_ns, end_ns), "as long as the longer one");
}

#[test]
fn two_loads_that_are_felt_otherwise_are_not_put_together() {
    assert_eq!(brought(None, 1).beside(brought(Some(100.0), 1)), None);
}

fn deflated(text: &str) -> Vec<u8> {
    let mut bytes = DeflateEncoder::new(Vec::new(), Compression::default());
    bytes.write_all(text.as_bytes()).unwrap();
    bytes.finish().unwrap()
}

/// As it is written, with another value at a place of its part.
fn with(path: &str, value: serde_json::Value) -> String {
    let bytes = brought(None, 1).to_bytes();
    let mut document: serde_json::Value = serde_json::from_reader(DeflateDecoder::new(&bytes[..])).unwrap();
    *document.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
    document.to_string()
}

#[test]
fn what_does_not_agree_with_itself_is_refused() {
    let refused = |text: &str| Brought::from_bytes(&deflated(text)).map_err(|error| error.to_string()).unwrap_err();
    assert!(refused("{}").contains("missing field `schema`"));
    assert_eq!(
        refused(&with("/schema", "bourdon.part/0".into())),
        "its schema is `bourdon.part/0`, not `bourdon.part/1`"
    );
    assert_eq!(refused(&with("/brought/parts", serde_json::json!([]))), "it has no thread");
    assert_eq!(refused(&with("/brought/parts/0/books/sent", 7.into())), "its books do not balance");
    assert_eq!(refused(&with("/brought/parts/0/window_start_ns", u64::MAX.into())), "its window ends before it begins");
    let too_much = "a count in it is larger than any load has";
    for path in ["in_window/ok_bytes", "silences/0/failed/count", "halves/0/completed", "standstills/count"] {
        assert_eq!(refused(&with(&format!("/brought/parts/0/{path}"), u64::MAX.into())), too_much, "{path}");
    }
    let of_another = serde_json::json!([[u32::MAX, 0, 1]]);
    assert_eq!(
        refused(&with("/brought/parts/0/standstills/kept", of_another)),
        too_much,
        "one of a thread that it has not"
    );
    assert_eq!(refused(&with("/brought/steps/1/sent", u64::MAX.into())), "a step in it has more than any load");
    let step = serde_json::json!({ "at_s": 0, "length_s": 1, "completed": 0, "ok": 0, "sent": 0, "failed": 0 });
    assert_eq!(refused(&with("/brought/steps", vec![step; 2_000].into())), "it has more steps than any load");
    assert!(refused(&with("/brought/parts/0/in_window/ok", 7.into())).contains("`in_window.ok` is 7"));
    assert!(refused(&with("/brought/parts/0/connect", "AAAA".into())).contains("that no load has"));
    // Room for what a header says would be made before anything else is read.
    let mut claims = bytes(&Histogram::<u64>::new_with_bounds(1, 1_000, 3).unwrap());
    claims[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let claims = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, claims);
    assert!(refused(&with("/brought/parts/0/connect", claims.into())).contains("that no load has"));
    let mut other = Histogram::<u64>::new_with_bounds(1, 1_000, 2).unwrap();
    other.record(5).unwrap();
    let coarse = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes(&other));
    assert!(refused(&with("/brought/parts/0/connect", coarse.into())).contains("that no load has"));
    assert!(Brought::from_bytes(b"not deflated").is_err() && Brought::from_bytes(b"").is_err());
}

#[test]
fn times_that_are_longer_than_any_are_added_to_no_more() {
    let huge = Brought::from_bytes(&deflated(&with("/brought/parts/0/halves/0/service_ns", u64::MAX.into()))).unwrap();
    let both = concluded(huge.clone().beside(huge).unwrap());
    assert_eq!(both.in_window.halves[0].service_ns, u64::MAX);
}

#[test]
fn what_inflates_without_end_is_not_read_to_its_end() {
    let mut bytes = DeflateEncoder::new(Vec::new(), Compression::best());
    (0..=MOST_BYTES >> 20).for_each(|_| bytes.write_all(&vec![b' '; 1 << 20]).unwrap());
    assert!(matches!(Brought::from_bytes(&bytes.finish().unwrap()), Err(TransferError::TooLarge)));
}

proptest! {
    #[test]
    fn a_histogram_is_read_back_bucket_for_bucket(ns in prop::collection::vec(0u64..7_200_000_000_000, 0..100)) {
        let mut filled = histogram();
        ns.iter().for_each(|ns| record(&mut filled, *ns));
        prop_assert_eq!(read(&bytes(&filled)).unwrap(), filled);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Brought::from_bytes(&bytes);
        let _ = read(&bytes);
    }
}
