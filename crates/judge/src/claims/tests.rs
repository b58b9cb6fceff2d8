use model::*;
use report::claim_notes;

use crate::resolve::{ClaimError, resolve_claim};
use crate::testing::{Session, fail_at_launch};

fn two() -> Session {
    Session::new().cell("a", 100.0).cell("b", 200.0).noise(0.01).blocks(6)
}

fn judged(session: &Session) -> ClaimAnalysis {
    session.analyse().claims.remove(0)
}

fn refused(session: &Session) -> ClaimError {
    let plan = session.plan();
    resolve_claim(&plan, &plan.claims[0]).unwrap_err()
}

fn varied() -> Session {
    Session::new().delayed("a", 10, 10, 900.0).delayed("a", 100, 10, 9_000.0).delayed("b", 10, 10, 800.0)
}

#[test]
fn the_verdict_turns_with_the_threshold() {
    let ratio = "throughput(a) / throughput(b)";
    for (bound, expected) in [
        ("< 0.6", ClaimVerdict::Supported),
        ("> 0.4", ClaimVerdict::Supported),
        ("< 0.4", ClaimVerdict::Contradicted),
        ("> 0.6", ClaimVerdict::Contradicted),
        ("within 10% of 0.5", ClaimVerdict::Supported),
        ("within 5% of 1", ClaimVerdict::Contradicted),
    ] {
        let claim = judged(&two().claim(&format!("{ratio} {bound}")));
        assert_eq!((claim.verdict, claim.blocks), (expected, 6), "{bound}: {claim:?}");
        assert_eq!((claim.measured.unit, claim.published), (Unit::Ratio, Some(0.5)));
        assert_eq!(claim.needs_blocks, None);
        assert!((claim.measured.estimate.unwrap() - 0.5).abs() < 0.02);
    }
}

#[test]
fn a_claim_has_each_figure_that_it_is_made_of_once() {
    let parts = |test: &str| {
        let session = two().claim(test);
        let analysis = session.analyse();
        let of_cell = |part: &ClaimPart| {
            let cell = analysis.cells.iter().find(|cell| cell.levels == part.levels).unwrap();
            assert_eq!((part.metric, &part.measured), (Metric::Throughput, &cell.throughput));
            part.levels.target().to_owned()
        };
        analysis.claims[0].parts.iter().map(of_cell).collect::<Vec<String>>()
    };
    assert_eq!(parts("throughput(b) / throughput(a) > 1"), ["b", "a"]);
    assert_eq!(parts("throughput(a) / (throughput(a) + throughput(b)) < 1"), ["a", "b"]);
    assert_eq!(parts("throughput(a) > 1"), [""; 0]);
}

#[test]
fn a_threshold_inside_the_interval_says_how_many_blocks_it_would_take() {
    let session = Session::new().cell("a", 100.0).cell("b", 100.0).noise(0.1).blocks(6);
    let claim = judged(&session.claim("throughput(a) / throughput(b) < 1.06"));
    assert_eq!(claim.verdict, ClaimVerdict::Inconclusive);
    assert!(claim.needs_blocks.unwrap() > 6, "{claim:?}");
}

#[test]
fn fewer_than_six_blocks_give_figures_and_no_verdict() {
    let claim = judged(&two().blocks(3).planned(3, 3).claim("throughput(a) / throughput(b) < 0.6"));
    assert_eq!((claim.verdict, claim.blocks, claim.needs_blocks), (ClaimVerdict::Inconclusive, 3, Some(6)));
    assert_eq!(claim_notes(&claim), [""; 0], "the run says that it is preliminary, once");
    assert!(claim.measured.low.is_some());
    let one = judged(&two().blocks(1).planned(1, 1).claim("throughput(a) > 1"));
    assert_eq!((one.measured.low, one.measured.estimate.is_some()), (None, true));
}

#[test]
fn a_claim_that_is_held_back_says_by_what() {
    let claimed = two().blocks(6).claim("throughput(a) / throughput(b) < 0.6");
    let most = two().blocks(6).claim("throughput(b) < 250");
    let of = |session: &Session, change: &dyn Fn(&mut TrialRecord)| {
        let mut records = session.records();
        records.iter_mut().for_each(change);
        let claim = session.analyse_these(&records).claims.remove(0);
        (claim.verdict, claim.withheld)
    };
    assert_eq!(of(&claimed, &|_| ()), (ClaimVerdict::Supported, None));
    let busy = |trial: &mut TrialRecord| {
        trial.observation.as_mut().unwrap().host = HostUse { cpus: 2, steal_share: 0.0, others_share: 0.9 };
    };
    assert_eq!(of(&claimed, &busy), (ClaimVerdict::Inconclusive, Some(Withheld::Disturbed)));
    let limited = |trial: &mut TrialRecord| {
        trial.measurement.as_mut().unwrap().generator.threads[0].cpu_s = 9.9;
    };
    assert_eq!(of(&most, &limited), (ClaimVerdict::Inconclusive, Some(Withheld::AtLeast)));
    let wide = two().noise(0.1).blocks(6).claim("throughput(a) / throughput(b) < 0.52");
    assert_eq!(judged(&wide).withheld, None, "more blocks would settle it");
}

#[test]
fn a_request_that_looks_cheap_on_a_busy_machine_supports_no_claim() {
    let session = two()
        .blocks(6)
        .claim("cpu_per_request(a) / cpu_per_request(b) < 1.1")
        .claim("cpu_per_request(a) / cpu_per_request(b) < 5")
        .claim("switches_per_request(a) < 1000");
    let mut records = session.records();
    for trial in &mut records {
        let ok = trial.measurement.as_ref().unwrap().in_window.ok;
        let seen = trial.observation.as_mut().unwrap();
        seen.cpu_user_s = ok as f64 * 0.001;
        (seen.voluntary_switches, seen.involuntary_switches) = (Some(ok), Some(u64::from(trial.block)));
        let share = if trial.cell == 0 { 0.2 } else { 0.0 };
        seen.host = HostUse { cpus: 2, steal_share: 0.0, others_share: share };
    }
    let verdicts = session.analyse_these(&records).claims.into_iter().map(|claim| claim.verdict);
    let open = ClaimVerdict::Inconclusive;
    assert_eq!(verdicts.collect::<Vec<_>>(), [open, ClaimVerdict::Supported, open]);
}

#[test]
fn blocks_without_a_value_are_counted() {
    let session = two().blocks(7).claim("throughput(a) / throughput(b) < 0.6");
    let mut records = session.records();
    fail_at_launch(&mut records[5]);
    let claim = session.analyse_these(&records).claims.remove(0);
    assert_eq!((claim.verdict, claim.blocks), (ClaimVerdict::Supported, 6));
    assert!(claim_notes(&claim)[0].starts_with("1 of 7 blocks are not used: "), "{claim:?}");
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        trial.measurement.as_mut().unwrap().in_window.ok = 0;
        trial.measurement.as_mut().unwrap().in_window.completed = 0;
    }
    let claim = session.analyse_these(&records).claims.remove(0);
    assert_eq!((claim.verdict, claim.blocks, claim.measured.estimate), (ClaimVerdict::Inconclusive, 0, None));
}

#[test]
fn differences_are_judged_on_a_linear_scale() {
    let claim = judged(&two().claim("throughput(a) - throughput(b) < 0"));
    assert_eq!(claim.verdict, ClaimVerdict::Supported);
    assert!((claim.measured.estimate.unwrap() + 100.0).abs() < 3.0, "{claim:?}");
    assert_eq!(claim.measured.unit, Unit::RequestsPerS);
}

#[test]
fn a_number_is_in_the_unit_of_what_it_is_added_to_and_takes_that_of_what_it_scales() {
    let unit = |expect: &str| judged(&two().claim(expect)).measured.unit;
    assert_eq!(unit("throughput(a) + 5 > 0"), Unit::RequestsPerS);
    assert_eq!(unit("throughput(a) * 0.2 > 0"), Unit::None);
    assert_eq!(unit("errors(a) + throughput(b) / 300 < 5"), Unit::None);
    assert_eq!(unit("throughput(a) * (throughput(b) / throughput(a)) > 0"), Unit::RequestsPerS);
}

#[test]
fn a_lower_bound_a_reconstruction_and_a_drift_are_said() {
    let near = Session::new().cell("a", 100.0).cell("b", 110.0).noise(0.005).generator_busy(0.9);
    let claim = judged(&near.claim("throughput(a) / throughput(b) < 0.95"));
    let at_least =
        |target| format!("the generator may have been the limit for {target}, so its throughput is only a lower bound");
    let but = format!("supported by the figures alone, but {}; {}", at_least("a"), at_least("b"));
    assert_eq!((claim.verdict, claim_notes(&claim)[0].as_str()), (ClaimVerdict::Inconclusive, but.as_str()));
    let model = Session::new().cell("old-model", 100.0).cell("b", 200.0).blocks(6);
    let claim = judged(&model.claim("throughput(old-model) / throughput(b) < 0.6"));
    assert_eq!(claim_notes(&claim), ["shown for the reconstruction old-model, not for the original code"]);
    let claim = judged(&two().drift(0.03).claim("throughput(a) / throughput(b) < 0.9"));
    assert!(claim_notes(&claim)[0].starts_with("the value drifts over the session, by 1"), "{claim:?}");
}

#[test]
fn a_latency_that_is_as_much_the_generators_is_said() {
    let session = two().claim("p99(a) / p99(b) < 3").claim("p50(a) / p50(b) < 3").claim("p99(a) / p99(b) > 2.1");
    let (plan, mut records) = (session.plan(), session.records());
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    let plan = plan.with(|draft| draft.cells[0].load.model = open).unwrap();
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        let latency_us = &mut trial.measurement.as_mut().unwrap().latency_us;
        latency_us.lateness = latency_us.service.clone();
        latency_us.lateness.iter_mut().for_each(|late| late.p50 = Some(1.0));
        latency_us.response = latency_us.service.clone();
        latency_us.response.iter_mut().for_each(|response| response.p99 = response.p99.map(|us| us * 1.2));
    }
    let claims = crate::analyse(&plan, &Environment::default(), &records).claims;
    let said = "the latency p99 of a is the generator's as much as the server's".to_owned();
    assert_eq!([&claims[0], &claims[1]].map(|claim| claim_notes(claim).contains(&said)), [true, false], "{claims:?}");
    assert_eq!(claims[0].verdict, ClaimVerdict::Supported, "without the lateness it would be less still");
    assert_eq!(claims[2].verdict, ClaimVerdict::Inconclusive, "{:?}", claims[2]);
    assert_eq!(claim_notes(&claims[2])[0], format!("supported by the figures alone, but {said}"));
    assert!(claim_notes(&judged(&session)).iter().all(|note| !note.contains("generator")));
}

#[test]
fn a_server_that_was_still_getting_faster_is_said() {
    let cold = "a was still getting faster, so a longer warm-up gives other figures (110 % faster in the second half of the \
                window than in the first (110 % to 110 %))";
    for (expect, said, is_settled) in [
        ("throughput(a) / throughput(b) < 0.6", true, false),
        ("cpu_per_request(a) / cpu_per_request(b) > 1.5", true, false),
        ("p99(b) / peak_memory(a) > 0", true, false),
        // When it is warm, it can only be faster.
        ("throughput(a) / throughput(b) > 0.4", true, true),
        ("throughput(b) > 0", false, true),
        ("time_to_ready(a) / time_to_ready(b) < 2", false, true),
    ] {
        let session = two().claim(expect).window(9);
        let mut records = session.records();
        for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
            let first = &mut trial.measurement.as_mut().unwrap().in_window.halves[0];
            first.service_ns = first.service_ns * 21 / 10;
            let seconds = &mut trial.observation.as_mut().unwrap().seconds;
            seconds.iter_mut().take(4).for_each(|second| second.cpu_s *= 2.1);
        }
        let claim = crate::analyse(&session.plan(), &Environment::default(), &records).claims.remove(0);
        assert_eq!(claim_notes(&claim).iter().any(|note| note.ends_with(cold)), said, "{expect}: {claim:?}");
        assert_eq!(claim.verdict == ClaimVerdict::Supported, is_settled, "{expect}: {claim:?}");
        assert!(claim_notes(&judged(&session)).iter().all(|note| !note.contains("getting faster")));
    }
}

/// A claim about so many cores, judged on a machine with so many.
fn on_cores(session: &Session, about: u32, cpus: u32) -> ClaimAnalysis {
    let plan = session.plan().with(|draft| draft.claims[0].cores = Some(about)).unwrap();
    crate::analyse(&plan, &Environment { cpus, ..Environment::default() }, &session.records()).claims.remove(0)
}

#[test]
fn few_cores_do_not_see_what_is_claimed_of_many() {
    let session = two().claim("throughput(a) / throughput(b) > 0.6");
    for (cpus, is_fewer) in [(1, true), (2, true), (7, true), (8, false), (16, false), (0, false)] {
        let few = is_fewer.then_some(FewCores { here: cpus, about: 8 });
        let claim = on_cores(&session, 8, cpus);
        assert_eq!((claim.verdict, claim.not_refuted), (ClaimVerdict::Contradicted, few), "{cpus} cores");
    }
    assert_eq!(claim_notes(&on_cores(&session, 8, 2)), ["the claim is about 8 cores; the machine of this run has 2"]);
    assert_eq!(on_cores(&session, 8, 8), judged(&session), "with enough cores as if it said nothing");
}

#[test]
fn of_few_cores_nothing_is_said_where_a_claim_is_not_contradicted() {
    for (session, verdict) in [
        (two().claim("throughput(a) / throughput(b) < 0.6"), ClaimVerdict::Supported),
        (two().blocks(3).claim("throughput(a) / throughput(b) > 0.6"), ClaimVerdict::Inconclusive),
        (two().absent("c", "no `go`").claim("throughput(a) / throughput(c) > 1"), ClaimVerdict::NotTestable),
    ] {
        assert_eq!(on_cores(&session, 8, 2), judged(&session));
        assert_eq!(judged(&session).verdict, verdict);
    }
}

#[test]
fn a_reconstruction_on_few_cores_contradicts_nothing_in_words() {
    let model = Session::new().cell("old-model", 100.0).cell("b", 200.0).blocks(6);
    let session = model.claim("throughput(old-model) / throughput(b) > 0.6");
    let last = |cpus| claim_notes(&on_cores(&session, 8, cpus)).pop();
    assert_eq!(last(2).as_deref(), Some("old-model is a reconstruction, not the original code"));
    let plainly = "contradicted by the reconstruction old-model, not by the original code";
    assert_eq!(last(16).as_deref(), Some(plainly));
}

#[test]
fn what_cannot_be_tried_says_why() {
    let why = Some("needs 8 cores; there are 2".to_owned());
    let plan = two().claim("throughput(a) > 1").plan().with(|draft| draft.claims[0].not_testable = why).unwrap();
    let analysis = crate::analyse(&plan, &Environment::default(), &two().records());
    assert_eq!(analysis.claims[0].verdict, ClaimVerdict::NotTestable);
    assert_eq!(claim_notes(&analysis.claims[0]), ["needs 8 cores; there are 2"]);
    let session = two().absent("c", "no `go` on PATH").claim("throughput(a) / throughput(c) > 1");
    let claim = judged(&session);
    assert_eq!(claim.verdict, ClaimVerdict::NotTestable);
    assert_eq!(claim_notes(&claim), ["`c` cannot take part here: no `go` on PATH"]);
}

#[test]
fn the_call_or_where_fixes_every_factor() {
    let ten = [("handler_delay", Level::Text("0.01s".into())), ("connections", Level::Integer(10))];
    let session = varied().claim_where(&ten, "throughput(a, connections = 100) / throughput(b) > 5");
    let plan = session.plan();
    let resolved = resolve_claim(&plan, &plan.claims[0]).unwrap();
    assert_eq!(resolved.cells.into_values().collect::<Vec<_>>(), [1, 2], "the call's own level counts first");
    let seconds = varied().claim("throughput(a, connections = 10, handler_delay = 10ms) > 5").plan();
    assert!(resolve_claim(&seconds, &seconds.claims[0]).is_ok());
}

#[test]
fn a_factor_left_open_is_named_with_its_levels() {
    let error = refused(&varied().claim("1 * throughput(a, handler_delay = 10ms) > 5"));
    let expected = ClaimError::FactorLeftOpen {
        factor: "connections".into(),
        call: "throughput(a, handler_delay = 10ms)".into(),
        offset: 4,
        levels: vec!["10".into(), "100".into()],
    };
    assert_eq!(error, expected);
    assert_eq!((error.offset(), error.candidates().len()), (Some(4), 2));
}

#[test]
fn unknown_words_come_with_the_right_ones() {
    let target = refused(&two().claim("throughput(c) > 1"));
    assert_eq!(target.to_string(), "unknown target `c`; the targets are a, b");
    let factor = refused(&varied().claim("throughput(a, conections = 10) > 1"));
    assert_eq!(factor.candidates(), ["connections", "handler_delay"]);
    let level = refused(&varied().claim_where(&[("connections", Level::Integer(11))], "throughput(a) > 1"));
    assert_eq!((level.offset(), level.candidates()), (None, vec!["10".to_owned(), "100".to_owned()]));
    let nowhere = refused(&varied().claim("throughput(b, connections = 100) > 1"));
    assert_eq!(nowhere.to_string(), "no cell fits `throughput(b, connections = 100)` and the claim's `where`");
    assert!(matches!(refused(&two().claim("speed(a) > 1")), ClaimError::Parse(_)));
}

mod guarded;
