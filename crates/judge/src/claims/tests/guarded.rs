//! Marks take a verdict back where their error could carry the figure across the threshold, and only there.

use super::*;
use crate::testing::measurement;

/// The verdicts of claims after something was done to the measurements of a cell.
fn after(session: &Session, cell: usize, change: impl Fn(&mut Measurement)) -> Vec<ClaimAnalysis> {
    let mut records = session.records();
    let of_cell = records.iter_mut().filter(|trial| trial.cell == cell);
    of_cell.for_each(|trial| change(trial.measurement.as_mut().unwrap()));
    crate::analyse(&session.plan(), &Environment::default(), &records).claims
}

fn verdicts(claims: &[ClaimAnalysis]) -> Vec<ClaimVerdict> {
    claims.iter().map(|claim| claim.verdict).collect()
}

fn generator_limited(measured: &mut Measurement) {
    let threads = &mut measured.generator.threads;
    threads.iter_mut().for_each(|thread| thread.cpu_s = 0.95 * thread.wall_s);
}

use ClaimVerdict::{Contradicted, Inconclusive, Supported};

#[test]
fn what_is_at_least_so_fast_can_still_be_shown_to_be_faster() {
    // a does 100 a second, b at least 200.
    let session = two()
        .claim("throughput(b) / throughput(a) > 1.5")
        .claim("throughput(b) / throughput(a) < 3")
        .claim("throughput(b) > 150")
        .claim("throughput(b) < 300")
        .claim("throughput(b) < 150")
        .claim("throughput(b) / throughput(a) within 10% of 2");
    let plainly = verdicts(&after(&session, 1, |_| {}));
    assert_eq!(plainly, [Supported, Supported, Supported, Supported, Contradicted, Supported]);
    let claims = after(&session, 1, generator_limited);
    assert_eq!(verdicts(&claims), [Supported, Inconclusive, Supported, Inconclusive, Contradicted, Inconclusive]);
    let reason = "the generator may have been the limit for b, so its throughput is only a lower bound";
    assert_eq!(claim_notes(&claims[1])[0], format!("supported by the figures alone, but {reason}"));
    assert_eq!(claim_notes(&claims[0]), [reason], "said, though it changes nothing");
    assert_eq!(claims[1].needs_blocks, None, "more blocks would not help");
}

#[test]
fn the_same_figure_by_another_name_is_guarded_alike() {
    let session = two()
        .claim("elapsed_per_request(b) / elapsed_per_request(a) < 0.6")
        .claim("elapsed_per_request(b) / elapsed_per_request(a) > 0.4")
        .claim("p99(b) / p99(a) < 0.6")
        .claim("mean(b) / mean(a) > 0.4")
        .claim("cpu_per_request(b) / cpu_per_request(a) > 0.4");
    assert_eq!(verdicts(&after(&session, 1, |_| {})), [Supported; 5]);
    let claims = after(&session, 1, generator_limited);
    assert_eq!(verdicts(&claims), [Supported, Inconclusive, Supported, Inconclusive, Supported]);
    let note = "supported by the figures alone, but the generator may have been the limit for b, so its elapsed time per \
                request is only an upper bound";
    assert_eq!(claim_notes(&claims[1])[0], note);
}

#[test]
fn at_its_ceiling_a_server_may_be_faster_by_what_is_left_of_it() {
    // The delay allows both 10,000 a second; the one does all of it, the other 98.5 %.
    let session = Session::new()
        .delayed("a", 100, 10, 9_990.0)
        .delayed("b", 100, 10, 9_850.0)
        .noise(0.0002)
        .claim("throughput(a) / throughput(b) > 1.005")
        .claim("throughput(a) / throughput(b) within 5% of 1")
        .claim("throughput(a) / throughput(b) > 1.05");
    let claims = session.analyse().claims;
    assert_eq!(verdicts(&claims), [Inconclusive, Supported, Contradicted]);
    assert!(
        claim_notes(&claims[0])[0].contains("; b did all that"),
        "conditions that both share are not said: {claims:?}"
    );
}

#[test]
fn a_reason_names_the_conditions_in_which_the_figures_of_a_claim_differ() {
    let session = Session::new()
        .delayed("a", 1000, 10, 9_990.0)
        .delayed("a", 100, 10, 9_990.0)
        .generator_busy(0.9)
        .claim("throughput(a, connections = 1000) / throughput(a, connections = 100) > 0.5");
    let notes = claim_notes(&session.analyse().claims[0]).join("; ");
    assert!(notes.contains("limit for a (1,000 connections), so"), "{notes}");
    assert!(!notes.contains("handler delay"), "it is the same in both: {notes}");
}

#[test]
fn a_latency_with_unfinished_requests_is_at_least_that() {
    let session = two()
        .claim("p99(b) < 1s")
        .claim("p99(b) > 1ms")
        .claim("p99(a) / p99(b) < 3")
        .claim("p99(b) / p99(a) > 0.4")
        .claim("p50(b) < 1s")
        .claim("mean(b) < 1s");
    assert_eq!(verdicts(&after(&session, 1, |_| {})), [Supported; 6]);
    let unfinished = |share: f64| {
        after(&session, 1, move |measured| {
            let service = measured.latency_us.service.as_mut().unwrap();
            service.censored = (share * service.count as f64).ceil() as u64;
            service.exact_below = service.p95;
        })
    };
    let few = verdicts(&unfinished(0.001));
    assert_eq!(few, [Supported, Supported, Supported, Supported, Supported, Inconclusive], "no more than the p99.9");
    let claims = unfinished(0.02);
    assert_eq!(verdicts(&claims), [Inconclusive, Supported, Supported, Supported, Supported, Inconclusive]);
    let reason = "the latency p99 of b is only a lower bound: requests were still unfinished";
    assert_eq!(claim_notes(&claims[0])[0], format!("supported by the figures alone, but {reason}"));
}

#[test]
fn few_completions_on_a_connection_leave_the_rate_open_by_one_each() {
    // 10 connections with 10 replies each in 10 s.
    let session = Session::new()
        .cell("a", 10.0)
        .cell("b", 1_000.0)
        .noise(0.001)
        .claim("throughput(a) < 10.5")
        .claim("throughput(a) < 11.5")
        .claim("elapsed_per_request(a) > 95ms")
        .claim("elapsed_per_request(a) > 85ms")
        .claim("throughput(b) < 1010");
    let claims = session.analyse().claims;
    assert_eq!(verdicts(&claims), [Inconclusive, Supported, Inconclusive, Supported, Supported]);
    assert!(claim_notes(&claims[0])[0].contains("crossed an edge of their window can shift the figure by 10 %"));
}

#[test]
fn where_the_time_in_the_handler_is_known_the_edges_weigh_one_delay() {
    // A serial server that takes 10 ms a request: with 1,000 connections hardly one of them gets a reply in 10 s.
    let session = Session::new()
        .delayed("a", 1000, 10, 96.0)
        .delayed("a", 100, 10, 96.0)
        .noise(0.001)
        .claim("throughput(a, connections = 1000) < 97")
        .claim("throughput(a, connections = 1000) / throughput(a, connections = 100) < 1.5");
    let starved = |measured: &mut Measurement| measured.connections.never_served = 40;
    assert_eq!(verdicts(&after(&session, 0, starved)), [Supported, Supported]);
}

#[test]
fn a_server_that_may_use_one_of_its_cpus_fully_was_not_seen_idle() {
    let session = Session::new().delayed("a", 100, 10, 96.0).noise(0.001).claim("throughput(a) < 97");
    let with = |change: &dyn Fn(&mut TrialRecord)| {
        let mut records = session.records();
        records.iter_mut().for_each(change);
        verdicts(&crate::analyse(&session.plan(), &Environment::default(), &records).claims)[0]
    };
    assert_eq!(with(&|_| {}), Supported, "the edges weigh one delay of 10 ms");
    let busy = |trial: &mut TrialRecord| {
        let seen = trial.observation.as_mut().unwrap();
        (seen.cpus, seen.cpu_user_s) = (4, 10.0);
    };
    assert_eq!(with(&busy), Inconclusive, "one thread that is always busy has a quarter of four CPUs");
    assert_eq!(with(&|trial| trial.observation = None), Inconclusive, "nobody watched");
}

#[test]
fn who_fails_more_than_it_may_is_not_shown_to_be_quick() {
    let session = two().claim("p99(b) < 1s").claim("p99(b) > 1ms").claim("throughput(b) > 100");
    let claims = after(&session, 1, |measured| {
        let failed = measured.accounting.ok / 10;
        measured.accounting.ok -= failed;
        measured.accounting.bad_status += failed;
        measured.in_window.ok -= failed;
    });
    assert_eq!(verdicts(&claims), [Inconclusive, Supported, Inconclusive]);
    assert!(claim_notes(&claims[0])[0].ends_with("and those can be cheaper than real replies"), "{claims:?}");
    let claims = after(&session, 1, |measured| {
        let second = |at: u32| Interval {
            at_s: at.into(),
            length_s: 1.0,
            completed: u64::from(at < 3),
            failed: u64::from(at >= 3),
            ..Interval::default()
        };
        measured.steps = (0..10).map(second).collect();
        measured.accounting.ok -= 7;
        measured.accounting.completed -= 7;
        measured.accounting.failed.insert(Failure::ClosedBeforeReply, 7);
    });
    assert!(claim_notes(&claims[0])[0].ends_with("but b stopped answering in 6 launches"), "{claims:?}");
}

#[test]
fn a_share_is_tested_at_the_level_of_the_run() {
    // None of 6,000: at 95 % at most 0.0615 %, at 97 % at most 0.0700 %.
    let session = two().noise(0.0).claim("errors(a) < 0.065%");
    assert_eq!(verdicts(&session.analyse().claims), [Supported]);
    assert_eq!(verdicts(&session.planned(6, 12).analyse().claims), [Inconclusive]);
}

#[test]
fn more_blocks_are_not_asked_for_where_the_generator_is_the_limit() {
    let session = two().noise(0.1).claim("throughput(b) > 210").claim("throughput(b) < 210");
    let needs_more = |claim: &ClaimAnalysis| claim.needs_blocks.is_some();
    assert_eq!(session.analyse().claims.iter().map(needs_more).collect::<Vec<_>>(), [true; 2]);
    let claims = after(&session, 1, generator_limited);
    assert_eq!(verdicts(&claims), [Inconclusive; 2]);
    assert!(!claims.iter().any(needs_more), "{claims:?}");
}

#[test]
fn as_many_blocks_are_asked_for_as_bring_the_doubtful_end_away_from_the_threshold() {
    // 10 connections with 14.3 replies each in 10 s, so that the edges weigh 7 %; a block's scatter is 11 %.
    let session = Session::new().cell("a", 14.3).claim("throughput(a) > 13");
    let off = |blocks: usize| [0.104, -0.104].into_iter().cycle().take(blocks).map(|off| vec![off]).collect::<Vec<_>>();
    let claim = |blocks: usize| session.analyse_these(&session.records_of(&off(blocks))).claims.remove(0);
    let open = claim(6);
    assert_eq!(open.verdict, Inconclusive);
    // The threshold is 9.5 % below the estimate and 2.2 % below its doubtful end: 12 blocks would do for the former.
    let needed = open.needs_blocks.unwrap();
    assert!((100..200).contains(&needed), "{needed}");
    assert_eq!([claim(12), claim(needed as usize)].map(|claim| claim.verdict), [Inconclusive, Supported]);
}

/// Others used so much of two CPUs in these blocks, of which one is the target's, while this cell was launched.
fn busy(session: &Session, cell: usize, blocks: &[u32], others_share: f64) -> Vec<ClaimAnalysis> {
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == cell && blocks.contains(&trial.block)) {
        trial.observation.as_mut().unwrap().host = HostUse { cpus: 2, steal_share: 0.0, others_share };
    }
    crate::analyse(&session.plan(), &Environment::default(), &records).claims
}

#[test]
fn what_a_busy_machine_alone_could_have_made_supports_no_claim() {
    // a does half of what b does; 40 % of its CPU would make that 0.83.
    let session = two()
        .blocks(8)
        .planned(8, 8)
        .claim("throughput(a) / throughput(b) < 0.9")
        .claim("throughput(a) / throughput(b) < 0.7")
        .claim("elapsed_per_request(a) / elapsed_per_request(b) > 1.5")
        .claim("throughput(a) / throughput(b) > 0.4")
        .claim("p99(a) / p99(b) > 1.1")
        .claim("p99(a) / p99(b) < 3")
        .claim("cpu_per_request(a) / cpu_per_request(b) > 1.5")
        .claim("peak_memory(a) / peak_memory(b) < 1.1");
    assert_eq!(verdicts(&session.analyse().claims), [Supported; 8]);
    let all: Vec<u32> = (1..=8).collect();
    let claims = busy(&session, 0, &all, 0.2);
    let open = Inconclusive;
    assert_eq!(verdicts(&claims), [Supported, open, open, Supported, open, Supported, open, Supported]);
    let said = "supported by the figures alone, but the machine was busy in 8 of 8 launches of a, and that alone could have \
                changed the verdict";
    assert_eq!((claim_notes(&claims[1])[0].as_str(), claims[1].needs_blocks), (said, None));
    assert!(
        claim_notes(&claims[4])[0].ends_with("of a, and there is no limit to how much that can change its latency p99"),
        "{claims:?}"
    );
    // Six quiet launches show it by themselves; five are too few.
    assert_eq!(verdicts(&busy(&session, 0, &[2, 7], 0.2)), [Supported; 8]);
    assert_eq!(verdicts(&busy(&session, 0, &[2, 7, 8], 0.2))[4], open);
    // Who was busy itself could only be better: the other way round it takes nothing back.
    assert_eq!(verdicts(&busy(&session, 1, &all, 0.2))[..3], [Supported; 3]);
}

#[test]
fn who_answered_nothing_in_a_launch_is_not_judged_by_the_others() {
    let session = two()
        .blocks(7)
        .planned(7, 7)
        .claim("throughput(b) / throughput(a) > 1.2")
        .claim("elapsed_per_request(b) / elapsed_per_request(a) < 0.8")
        .claim("throughput(b) - throughput(a) > 0")
        .claim("peak_memory(a) > 0")
        .claim("throughput(b) > 100");
    assert_eq!(verdicts(&session.analyse().claims), [Supported; 5]);
    let mut records = session.records();
    let hung = records.iter_mut().find(|trial| (trial.block, trial.cell) == (3, 0)).unwrap();
    let measured = hung.measurement.as_mut().unwrap();
    (measured.in_window.ok, measured.in_window.completed) = (0, 0);
    let claims = crate::analyse(&session.plan(), &Environment::default(), &records).claims;
    assert_eq!(verdicts(&claims), [Inconclusive, Inconclusive, Inconclusive, Supported, Supported]);
    let said = "no verdict: a gave no correct reply in 1 of 7 launches, and leaving those out would favour it";
    for claim in &claims[..3] {
        assert_eq!((claim.blocks, claim.measured.estimate, claim.needs_blocks), (0, None, None), "{claim:?}");
        assert_eq!(claim_notes(claim)[0], said);
    }
    assert!(claim_notes(&claims[3]).is_empty() && claims[3].blocks == 7, "it has memory all the same: {claims:?}");
}

#[test]
fn no_verdict_is_about_a_server_that_was_not_given_what_it_needs_to_be_warm() {
    let tests = ["throughput(a) / throughput(b) < 0.6", "time_to_ready(a) / time_to_ready(b) < 2", "throughput(b) > 1"];
    let session = tests.iter().fold(two(), |session, test| session.claim(test));
    let claims = session.clone().quick().warm_within(20).analyse().claims;
    assert_eq!(verdicts(&claims), [Inconclusive, Supported, Supported]);
    assert_eq!(
        claim_notes(&claims[0]),
        ["cold here: the full form decides (a: 1 s of load before the window, of the 20 s that it needs)"]
    );
    assert_eq!((claims[0].needs_blocks, claims[0].measured.estimate.is_some()), (None, true));
    let marks = &session.clone().warm_within(20).analyse().cells[0].marks;
    assert!(marks.iter().any(|note| note.mark() == Mark::Cold), "{marks:?}");
    assert_eq!(verdicts(&session.warm_within(1).analyse().claims), [Supported; 3]);
}

#[test]
fn no_error_in_n_requests_means_at_most_three_point_seven_in_n() {
    // 1,000 requests a launch, 6,000 in all: at most 0.0615 %.
    let session = two()
        .noise(0.0)
        .claim("errors(a) < 0.07%")
        .claim("errors(a) < 0.05%")
        .claim("errors(a) > 0")
        .claim("errors(a) > 0.07%");
    let claims = session.analyse().claims;
    assert_eq!(verdicts(&claims), [Supported, Inconclusive, Inconclusive, Contradicted]);
    let (low, high) = (claims[0].measured.low.unwrap(), claims[0].measured.high.unwrap());
    assert!(low == 0.0 && (high - 3.69 / 6_000.0).abs() < 1e-6, "{:?}", claims[0].measured);
    assert_eq!(claim_notes(&claims[0]), ["no failure in 6,000 requests of a: the share is at most 0.0615 %"]);
}

#[test]
fn a_share_that_varies_between_launches_is_as_wide_as_they_are() {
    let session = two().noise(0.0).claim("errors(a) < 2%").claim("errors(a) > 0.1%");
    let mut records = session.records();
    for (index, trial) in records.iter_mut().filter(|trial| trial.cell == 0).enumerate() {
        let books = &mut trial.measurement.as_mut().unwrap().accounting;
        let failed = [2, 30, 4, 1, 25, 8][index];
        books.ok -= failed;
        books.completed -= failed;
        books.failed.insert(Failure::TimedOut, failed);
    }
    let claims = crate::analyse(&session.plan(), &Environment::default(), &records).claims;
    let high = claims[0].measured.high.unwrap();
    assert!(high > 0.02, "{high}: wider than the 1.5 % of a binomial interval over 6,000 requests");
}

#[test]
fn a_quantile_for_which_every_launch_has_too_few_requests_is_not_testable() {
    let session = Session::new().cell("a", 30.0).claim("p99(a) < 1s");
    let claims = after(&session, 0, |measured| {
        measured.latency_us.service.iter_mut().for_each(|service| service.p99 = None);
    });
    assert_eq!(verdicts(&claims), [ClaimVerdict::NotTestable]);
    assert!(
        claim_notes(&claims[0])[0]
            .starts_with("a p99 needs 368 requests per launch; a had fewer in 6 of 6 launches (2"),
        "{claims:?}"
    );
}

#[test]
fn a_run_says_how_many_claims_chance_would_support() {
    let session = two().claim("throughput(a) > 1").claim("throughput(b) > 1").claim("throughput(c) > 1");
    let analysis = session.absent("c", "no `go`").analyse();
    assert_eq!(analysis.claims_by_chance, ClaimChance { tested: 2, supported: 0.05 });
}

/// The cells of business-latency that its seven claims use, with what the README's quick form and the full form saw.
fn business_latency() -> Session {
    let delay = |delay: &str, connections: u64| {
        [("handler_delay", Level::Text(delay.to_owned())), ("connections", Level::Integer(connections))]
    };
    let ratio = "throughput(iris-2016) / throughput(net-http)";
    Session::new()
        .delayed("net-http", 100, 0, 45_000.0)
        .delayed("iris-2016", 100, 0, 47_000.0)
        .delayed("net-http", 100, 10, 9_012.0)
        .delayed("iris-2016", 100, 10, 95.7)
        .delayed("iris", 100, 10, 9_000.0)
        .delayed("net-http", 1000, 10, 32_000.0)
        .delayed("iris-2016", 1000, 10, 95.8)
        .delayed("net-http", 100, 1_000, 100.0)
        .delayed("iris-2016", 100, 1_000, 1.0)
        .delayed("net-http", 1000, 1_000, 1_000.0)
        .noise(0.002)
        .claim_where(&delay("10ms", 100), &format!("{ratio} < 0.05"))
        .claim_where(&delay("1s", 100), &format!("{ratio} < 0.05"))
        .claim_where(&delay("0ms", 100), &format!("{ratio} > 0.7"))
        .claim("throughput(net-http, connections = 1000, handler_delay = 10ms) / throughput(net-http, connections = 100, handler_delay = 10ms) > 3")
        .claim("throughput(net-http, connections = 1000, handler_delay = 1s) / throughput(net-http, connections = 100, handler_delay = 1s) > 8")
        .claim_where(&delay("10ms", 100), "throughput(iris) / throughput(net-http) within 5% of 1")
        .claim("throughput(iris-2016, connections = 1000, handler_delay = 10ms) / throughput(iris-2016, connections = 100, handler_delay = 10ms) < 1.5")
}

/// A launch as a serial server that starves its clients, or a sleeping one, leaves it after a window of so many seconds.
fn shaped(trial: &mut TrialRecord, cell: &mut CellPlan, rate: f64, window_s: f64) {
    cell.load.extent = Extent::Window((window_s * 1e9) as u64);
    let slots = f64::from(cell.load.connections);
    let mut measured = measurement(slots, rate, 0.3);
    let completed = (rate * window_s).round() as u64;
    measured.window_s = window_s;
    let books = &mut measured.accounting;
    (books.completed, books.ok, books.sent, books.scheduled) = (completed, completed, completed, completed);
    (measured.in_window.completed, measured.in_window.ok) = (completed, completed);
    let busy_s = slots * window_s;
    measured.residence = Residence { in_flight_s: busy_s, requests_s: busy_s, completed_s: busy_s };
    measured.connections.never_served = (slots as u64).saturating_sub(completed);
    if measured.connections.never_served > 0 {
        // Most of the time went into requests that outlasted the window.
        measured.residence.completed_s = 0.3 * busy_s;
        let service = measured.latency_us.service.as_mut().unwrap();
        (service.censored, service.exact_below) = (measured.connections.never_served, Some(1.0));
    }
    trial.measurement = Some(measured);
}

#[test]
fn the_seven_claims_of_business_latency_keep_their_verdicts_in_both_forms() {
    for quick in [true, false] {
        let session = business_latency();
        let (mut draft, mut records) = (session.draft(), session.records());
        for trial in &mut records {
            let cell = &mut draft.cells[trial.cell];
            let (delay_s, rate) =
                (cell.handler_delay_ns as f64 / 1e9, trial.measurement.as_ref().unwrap().requests_per_s());
            let window_s = if quick { f64::max(1.0, 6.0 * delay_s) } else { f64::max(10.0, 30.0 * delay_s) };
            shaped(trial, cell, rate, window_s);
        }
        let analysis = crate::analyse(&draft.resolve().unwrap(), &Environment::default(), &records);
        assert_eq!(analysis.trials.void, 0, "{:?}", analysis.void_trials);
        let marked =
            |mark: Mark| analysis.cells.iter().filter(|c| c.marks.iter().any(|note| note.mark() == mark)).count();
        assert!(marked(Mark::Unserved) >= 2 && marked(Mark::Thin) >= 3 && marked(Mark::AtCeiling) >= 2);
        assert_eq!(verdicts(&analysis.claims), [Supported; 7], "quick {quick}: {:#?}", analysis.claims);
    }
}

/// With a time-out slow replies become failures, and whom others keep from a CPU changes context.
#[test]
fn failures_with_a_time_out_and_switches_have_no_bound_where_the_machine_was_busy() {
    let verdict = |claim: &str, timeout_ns: Option<u64>, others_share: f64| {
        let session = Session::new().cell("a", 1_000.0).claim(claim);
        let (mut draft, mut records) = (session.draft(), session.records());
        draft.cells[0].load.timeout_ns = timeout_ns;
        for trial in &mut records {
            let seen = trial.observation.as_mut().unwrap();
            seen.host = HostUse { cpus: 2, steal_share: 0.0, others_share };
            (seen.voluntary_switches, seen.involuntary_switches) = (Some(100), Some(100_000 + u64::from(trial.block)));
            let books = &mut trial.measurement.as_mut().unwrap().accounting;
            books.failed.insert(Failure::TimedOut, 50);
            (books.scheduled, books.sent) = (books.scheduled + 50, books.sent + 50);
        }
        crate::analyse(&draft.resolve().unwrap(), &Environment::default(), &records).claims.remove(0).verdict
    };
    let [supported, open] = [ClaimVerdict::Supported, ClaimVerdict::Inconclusive];
    let (errors, switches) = ("errors(a) > 0.001", "switches_per_request(a) > 5");
    assert_eq!([0.0, 0.3].map(|others| verdict(errors, Some(1_000_000_000), others)), [supported, open]);
    assert_eq!(verdict(errors, None, 0.3), supported);
    assert_eq!([0.0, 0.3].map(|others| verdict(switches, None, others)), [supported, open]);
}
