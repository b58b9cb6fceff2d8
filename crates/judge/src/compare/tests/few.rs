//! Figures that rest on fewer blocks than the comparison has.

use super::*;

/// A new server at half the rate, of which so many launches are void although they were measured.
fn with_void(void: u32) -> CompareAnalysis {
    let session = session(50.0, 100.0, 0.005);
    let (plan, mut trials) = (session.plan(), session.records());
    let of_new = trials.iter_mut().filter(|trial| trial.levels.target() == "new");
    of_new.take(void as usize).for_each(|trial| trial.measurement.as_mut().unwrap().accounting.sent += 1);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates("throughput>-5%").unwrap())
}

#[test]
fn a_row_says_on_how_many_blocks_it_rests() {
    let of = |void| {
        let analysis = with_void(void);
        let throughput = row(&analysis, Metric::Throughput);
        (throughput.blocks, throughput.verdict, analysis.gates[0].verdict, analysis.blocks)
    };
    assert_eq!(of(0), (Some(6), ComparisonVerdict::Slower, GateVerdict::Broken, 6));
    assert_eq!(of(2), (Some(4), ComparisonVerdict::Inconclusive, GateVerdict::Undecided, 6));
    assert_eq!(of(6).0, Some(0));
}

/// Launches that do not belong together: the fewer of both.
#[test]
fn a_row_of_two_runs_says_how_many_launches_the_side_has_that_has_fewer() {
    let [few, many] = [4, 6].map(|blocks| session(100.0, 100.0, 0.005).blocks(blocks).planned(blocks, blocks));
    let (old_plan, new_plan) = (few.plan(), many.plan());
    let (old, new) = (few.records(), many.records());
    let environment = Environment::default();
    let run = |plan, trials| Run { plan, environment: &environment, trials };
    let names = ("a".to_owned(), "b".to_owned());
    let analysis = compare_runs(run(&old_plan, &old), run(&new_plan, &new), names, steady(&[])).unwrap();
    assert_eq!(row(&analysis, Metric::Throughput).blocks, Some(4));
}

/// As when the last line of the record was cut.
#[test]
fn a_block_that_lacks_its_twin_is_not_among_those_that_were_measured() {
    let session = session(100.0, 100.0, 0.005).twin();
    let (plan, mut trials) = (session.plan(), session.records());
    let last = trials.pop().unwrap();
    assert!(last.twin && last.block == 6);
    let environment = Environment::default();
    let run = Run { plan: &plan, environment: &environment, trials: &trials };
    let compared = compare_targets(run, "old", "new", &[]);
    assert_eq!((compared.blocks, compared.unfinished), (5, Some(6)));
    let run = crate::analyse(&plan, &environment, &trials);
    assert_eq!((run.blocks, run.unfinished), (5, Some(6)));
}

#[test]
fn who_had_none_and_has_none_is_the_same_and_holds_a_gate() {
    let (session, gates) = (session(100.0, 100.0, 0.005), "never_served<+1%, never_served<-1%");
    let found = |blocks: &[u32]| {
        let analysis = altered(&session, gates, blocks, |trial| {
            trial.measurement.as_mut().unwrap().connections.never_served = 3;
        });
        let verdict = row(&analysis, Metric::NeverServed).verdict;
        (verdict, analysis.gates.iter().map(|gate| gate.verdict).collect::<Vec<_>>())
    };
    use GateVerdict::{Held, Undecided};
    assert_eq!(found(&[]), (ComparisonVerdict::Same, vec![Held, Undecided]), "less than none there is not");
    assert_eq!(found(&[1]), (ComparisonVerdict::Inconclusive, vec![Undecided, Undecided]));
}
