//! A server that does in bursts what another does evenly: in a few of its slices it pauses, collects, or serves nothing.

use model::{Analysis, ClaimVerdict, Comparison, ComparisonVerdict, Environment, Metric, Plan, TrialRecord, Withheld};

use crate::records::Records;
use crate::testing::{Session, cut, feel, slice};

const ROUNDS: u32 = 12;

/// Two targets with 1,000 requests in each of twelve slices, changed launch by launch.
fn sliced(session: Session, change: impl Fn(&mut TrialRecord)) -> (Plan, Vec<TrialRecord>) {
    let session = session.cell("a", 1_200.0).cell("b", 1_200.0).noise(0.001);
    let mut trials = session.records();
    for trial in &mut trials {
        cut(trial, ROUNDS);
        change(trial);
    }
    let mut draft = session.draft();
    draft.margin = 0.01;
    (draft.resolve().unwrap(), trials)
}

fn analysed((plan, trials): &(Plan, Vec<TrialRecord>)) -> Analysis {
    crate::analyse(plan, &Environment::default(), trials)
}

fn compared(analysis: &Analysis, metric: Metric) -> &Comparison {
    analysis.comparisons.iter().find(|found| found.metric == metric).expect("it is compared")
}

/// What 1,000 requests of a slice took where a pause of 40 ms was in it, and where none was: 0.5 to 1 ms.
fn paused(has_pause: bool) -> Vec<f64> {
    let waited_us = |at: u32| if has_pause && at < 160 { f64::from(at + 1) * 250.0 } else { 0.0 };
    (0..1_000).map(|at| 500.0 + f64::from(at) / 2.0 + waited_us(at)).collect()
}

/// Others used much of the CPUs in these rounds.
fn busy(trial: &mut TrialRecord, rounds: &[u32]) {
    trial.slices.iter_mut().filter(|slice| rounds.contains(&slice.round)).for_each(|slice| slice.others_share = 0.3);
}

#[test]
fn the_p99_of_a_server_that_pauses_in_every_fourth_slice_is_that_of_all_its_requests() {
    let session = Session::new().claim("p99(a) < 5ms");
    let found = analysed(&sliced(session, |trial| {
        let is_first = trial.cell == 0;
        feel(trial, |round| if is_first { paused(round % 4 == 0) } else { vec![5_000.0; 1_000] });
    }));
    let p99_us = found.cells[0].latency_us.p99.estimate.unwrap();
    assert!((p99_us / 30_500.0 - 1.0).abs() < 0.02, "{p99_us}");
    assert_eq!(found.claims[0].verdict, ClaimVerdict::Contradicted);
    assert_eq!(compared(&found, Metric::P99).verdict, ComparisonVerdict::Slower);
}

#[test]
fn a_collection_in_one_slice_of_twelve_costs_what_it_costs() {
    let found = analysed(&sliced(Session::new(), |trial| {
        let each_s = if trial.cell == 0 { 0.22 } else { 0.25 };
        trial.slices.iter_mut().for_each(|slice| slice.cpu_s = each_s);
        if trial.cell == 0 {
            slice(trial, 8).cpu_s += 0.5;
        }
    }));
    let cost = compared(&found, Metric::CpuPerRequest);
    let ratio = cost.ratio.estimate.unwrap();
    assert!((ratio - (12.0 * 0.22 + 0.5) / (12.0 * 0.25)).abs() < 0.002, "{ratio}");
    assert_eq!(cost.verdict, ComparisonVerdict::Slower, "{cost:?}");
}

#[test]
fn a_slice_in_which_nothing_was_right_takes_its_share_of_the_rate_and_no_more() {
    let (plan, trials) = sliced(Session::new(), |trial| {
        slice(trial, 3).ok = 0;
        let window = &mut trial.measurement.as_mut().unwrap().in_window;
        window.ok = trial.slices.iter().filter(|slice| slice.round > 0).map(|slice| slice.ok).sum();
    });
    let per_s = Records::new(&plan, &trials).value(0, 1, Metric::Throughput).unwrap();
    assert!((per_s / 1_100.0 - 1.0).abs() < 0.01, "{per_s}");
}

/// All of it where no round is left out; else what is merged, and what the rounds hide of it.
#[test]
fn quantiles_and_the_mean_are_those_of_the_rounds_that_count() {
    let felt = |left_out: &'static [u32]| {
        let (plan, trials) = sliced(Session::new(), move |trial| {
            feel(trial, |round| paused(round == 4));
            busy(trial, left_out);
        });
        let records = Records::new(&plan, &trials);
        [Metric::P50, Metric::P90, Metric::P99, Metric::Mean].map(|it| records.value(0, 1, it).unwrap() / 1e3)
    };
    let near = |seen: [f64; 4], expected: [f64; 4]| {
        assert!(seen.iter().zip(expected).all(|(seen, expected)| (seen / expected - 1.0).abs() < 0.02), "{seen:?}");
    };
    near(felt(&[]), [0.75, 0.96, 10.5, 0.75 + 20.125 * 160.0 / 12_000.0]);
    near(felt(&[4]), [0.75, 0.95, 0.995, 0.75]);
    near(felt(&[5]), [0.75, 0.96, 13.0, 0.75 + 20.125 * 160.0 / 11_000.0]);
}

#[test]
fn a_p99_that_the_rounds_left_out_would_change_proves_nothing() {
    let found = |has_pause: bool| {
        let analysis = analysed(&sliced(Session::new(), move |trial| {
            let is_first = trial.cell == 0;
            feel(trial, |round| if is_first { paused(has_pause && round == 4) } else { paused(false) });
            busy(trial, &[4]);
        }));
        let p99 = compared(&analysis, Metric::P99);
        (p99.verdict, p99.withheld)
    };
    assert_eq!(found(false), (ComparisonVerdict::Same, None));
    assert_eq!(found(true), (ComparisonVerdict::Inconclusive, Some(Withheld::Rounds)));
}

/// Of each launch whether the machine counts as busy for a metric whose rounds left out nobody can take off.
fn disturbed(metric: Metric, change: impl Fn(&mut TrialRecord)) -> (bool, usize) {
    let (plan, trials) = sliced(Session::new(), |trial| {
        feel(trial, |_| paused(false));
        busy(trial, &[4]);
        change(trial);
    });
    let records = Records::new(&plan, &trials);
    (records.all().iter().all(|launch| launch.is_disturbed(metric)), records.repeated().len())
}

#[test]
fn what_is_not_known_by_round_counts_as_disturbed_where_rounds_are_left_out() {
    for metric in [Metric::Throughput, Metric::CpuPerRequest, Metric::P50, Metric::P99, Metric::Mean] {
        assert_eq!(disturbed(metric, |_| ()), (false, 0), "{metric:?}");
    }
    for metric in [Metric::SwitchesPerRequest, Metric::Errors, Metric::GcPause] {
        assert_eq!(disturbed(metric, |_| ()), (true, 0), "{metric:?}: and no block is repeated for it");
    }
    assert_eq!(disturbed(Metric::TimeToReady, |_| ()), (false, 0), "it was before");
    let felt = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().latency_us.service.take().unwrap();
    let unanswered = |trial: &mut TrialRecord, censored| {
        let all = felt(trial);
        let service = model::LatencySummary { count: all.count + censored, censored, exact_below: Some(9e6), ..all };
        trial.measurement.as_mut().unwrap().latency_us.service = Some(service);
    };
    type Change<'a> = &'a dyn Fn(&mut TrialRecord);
    let untold: [(&str, Change); 4] = [
        ("an older record", &|trial| trial.slices.iter_mut().for_each(|slice| slice.felt = None)),
        ("one slice of it is unreadable", &|trial| slice(trial, 7).felt = Some("HISTFAAA".to_owned())),
        ("more requests without a reply than leave a p99 a bound", &|trial| unanswered(trial, 200)),
        ("a request that failed", &|trial| {
            let service = felt(trial).beside(1);
            trial.measurement.as_mut().unwrap().latency_us.service = Some(service);
        }),
    ];
    let one: Change = &|trial| unanswered(trial, 1);
    assert_eq!(disturbed(Metric::P99, one), (false, 0), "it cannot have been more than one of the last hundredth");
    assert_eq!(disturbed(Metric::Mean, one), (true, 0), "which may have taken any time");
    for (what, change) in untold {
        assert_eq!(disturbed(Metric::P99, change), (true, 0), "{what}");
        assert_eq!(disturbed(Metric::Throughput, change), (false, 0), "{what}");
    }
}

#[test]
fn switches_in_slices_that_others_disturbed_prove_nothing_beyond_the_launches_without() {
    let session = || Session::new().claim("switches_per_request(a) / switches_per_request(b) > 1.5");
    let verdict = |rounds: &'static [u32]| {
        let found = analysed(&sliced(session(), move |trial| {
            let (seen, requests) = (trial.observation.as_mut().unwrap(), if trial.cell == 0 { 24_000 } else { 12_000 });
            (seen.voluntary_switches, seen.involuntary_switches) = (Some(requests), Some(0));
            busy(trial, rounds);
        }));
        (found.claims[0].verdict, found.claims[0].withheld)
    };
    assert_eq!(verdict(&[]), (ClaimVerdict::Supported, None));
    assert_eq!(verdict(&[4]), (ClaimVerdict::Inconclusive, Some(Withheld::Unbounded)));
}

#[test]
fn a_bound_stays_one_where_rounds_are_left_out() {
    let session = Session::new().claim("p99(a) < 5ms").claim("p99(a) > 1ms");
    let found = analysed(&sliced(session, |trial| {
        feel(trial, |round| paused(round == 4));
        let measured = trial.measurement.as_mut().unwrap();
        let service = measured.latency_us.service.as_mut().unwrap();
        (service.censored, service.exact_below) = (1, Some(2_000.0));
        service.count += 1;
        busy(trial, &[4]);
    }));
    assert!(found.cells[0].latency_us.censored);
    assert!(found.claims.iter().all(|claim| claim.verdict == ClaimVerdict::Inconclusive), "{:?}", found.claims);
}
