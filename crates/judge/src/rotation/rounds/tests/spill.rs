//! What a target uses of a CPU while another has its slices.

use super::*;

/// What `a` says of itself and `b`, where it used so many CPUs while `b` had its slices, and both launches tell so or neither does.
fn beside_one_that_spills(session: &Session, metric: Metric, cpus: f64, is_told: bool) -> Comparison {
    let spilling = move |trial: &mut TrialRecord| {
        for slice in &mut trial.slices {
            let (idle, neighbours) = if trial.cell == 0 { (cpus, 0.0) } else { (0.0, cpus) };
            slice.idle_cpu_s = idle * slice.idle_s;
            slice.neighbours_cpu_s = is_told.then_some(neighbours * slice.length_s);
        }
    };
    let (plan, records) = sliced(session, spilling);
    let found = crate::analyse(&plan, &Environment::default(), &records).comparisons;
    found.into_iter().find(|found| found.metric == metric).expect("it is compared")
}

#[test]
fn what_a_target_used_in_slices_of_others_takes_back_a_difference_of_that_size_and_no_larger_one() {
    let verdict = |cpus: f64, is_told| {
        let session = Session::new().cell("a", 1_100.0).cell("b", 1_000.0).noise(0.001).blocks(6);
        let found = beside_one_that_spills(&session, Metric::Throughput, cpus, is_told);
        (found.verdict, found.withheld)
    };
    // What is left of a CPU to the other is 1 − 0.03, so that it could have done 1 ÷ 0.97 as much: 3.1 % more. And the first idled for
    // 1.7 times as long as it was asked, and would have needed 5.2 % more time for all that it did.
    for is_told in [true, false] {
        assert_eq!(verdict(0.0, is_told), (ComparisonVerdict::Faster, None));
        assert_eq!(verdict(0.03, is_told), (ComparisonVerdict::Faster, None));
        assert_eq!(verdict(0.04, is_told), TAKEN_BACK);
    }
}

/// Who hands its requests on to the neighbour, or shares a process with it, is not the cheaper for it.
#[test]
fn what_a_neighbour_did_in_its_slices_may_be_its_own_work() {
    // `a` needs so many times the CPU of `b`, which hands such a share of its own on.
    let handed_on = |share: f64, times: f64| {
        let spilling = move |trial: &mut TrialRecord| {
            let is_a = trial.cell == 0;
            trial.slices.iter_mut().filter(|_| is_a).for_each(|slice| slice.cpu_s *= times);
            for slice in trial.slices.iter_mut().filter(|_| !is_a) {
                let handed_on_s = share * slice.cpu_s;
                slice.cpu_s -= handed_on_s;
                slice.neighbours_cpu_s = Some(handed_on_s);
            }
        };
        let session = Session::new().cell("a", 1_000.0).cell("b", 1_000.0).noise(0.001).blocks(6);
        let (plan, records) = sliced(&session, spilling);
        let found = crate::analyse(&plan, &Environment::default(), &records).comparisons;
        let found = found.into_iter().find(|found| found.metric == Metric::CpuPerRequest).expect("it is compared");
        (found.verdict, found.withheld)
    };
    assert_eq!(handed_on(0.0, 1.0), (ComparisonVerdict::Same, None));
    assert_eq!(handed_on(0.8, 1.0), TAKEN_BACK);
    // Of a few per cent no more than the margin, which is 5 % here, is seen as a difference.
    assert_eq!(handed_on(0.06, 1.0), TAKEN_BACK);
    assert_eq!(handed_on(0.06, 1.03), (ComparisonVerdict::Slower, None), "1.096 times is seen, and 6 % were handed on");
}

#[test]
fn less_than_a_hundredth_of_a_cpu_takes_back_what_it_could_have_made() {
    let beside = |cpus: f64, margin: f64| {
        let neighbours = move |slice: &mut Slice| slice.neighbours_cpu_s = Some(cpus * slice.length_s);
        changed(Metric::Throughput, (1.0, margin), neighbours)
    };
    assert_eq!(beside(0.0, 0.01), (ComparisonVerdict::Same, None));
    assert_eq!(beside(0.009_9, 0.01), TAKEN_BACK);
    assert_eq!(beside(0.009_9, 0.02), (ComparisonVerdict::Same, None));
}

#[test]
fn who_spilt_is_not_the_slower_for_it_and_who_is_in_spite_of_it_is() {
    let session = Session::new().cell("a", 1_000.0).cell("b", 1_060.0).noise(0.001).blocks(6);
    for metric in [Metric::Throughput, Metric::P99] {
        let found = beside_one_that_spills(&session, metric, 0.2, true);
        assert_eq!((found.verdict, found.withheld), (ComparisonVerdict::Slower, None), "{metric}");
    }
}

/// What is said of the p99 of `a`, and `b` with its 12 ms, where `a` used so many CPUs in slices of `b`: in each of the twelve, or
/// all of it in one.
fn tail_beside(a: f64, cpus: f64, at_once: bool) -> (ComparisonVerdict, Option<Withheld>) {
    let spilling = move |trial: &mut TrialRecord| {
        for slice in trial.slices.iter_mut().filter(|_| trial.cell == 1) {
            let used_s = cpus * slice.length_s;
            let at_once_s = if slice.round == 4 { f64::from(ROUNDS) * used_s } else { 0.0 };
            slice.neighbours_cpu_s = Some(if at_once { at_once_s } else { used_s });
        }
    };
    let session = Session::new().cell("a", a).cell("b", 1_000.0).noise(0.001).blocks(6);
    let (plan, records) = sliced(&session, spilling);
    let found = crate::analyse(&plan, &Environment::default(), &records).comparisons;
    let found = found.into_iter().find(|found| found.metric == Metric::P99).expect("it is compared");
    (found.verdict, found.withheld)
}

#[test]
fn a_request_may_have_waited_for_all_that_neighbours_used_in_its_slice() {
    let faster = (ComparisonVerdict::Faster, None);
    assert_eq!(tail_beside(20_000.0, 0.17, false), TAKEN_BACK, "156 ms of each slice, of which one flush has 12");
    assert_eq!(tail_beside(20_000.0, 0.002, false), faster, "1.8 ms do not make 12 of 0.6");
    assert_eq!(tail_beside(20_000.0, 0.002, true), TAKEN_BACK, "22 ms in one slice may");
    assert_eq!(tail_beside(1_100.0, 0.002, false), TAKEN_BACK, "and 1.8 ms 12 of 11");
    assert_eq!(tail_beside(1_100.0, 0.000_9, false), faster, "too few for a p99 waited");
    assert_eq!(tail_beside(1_100.0, 0.000_9, true), faster);
}
