//! CPU of processes that nobody waited for, which is missing in what was counted; and how well it is known when a server was ready.

use model::{
    ClaimAnalysis, ClaimVerdict, ComparisonVerdict, Environment, GateVerdict, Metric, TrialRecord, Withheld,
    parse_gates,
};

use crate::testing::{Session, cut};
use crate::{Run, analyse, compare_targets};

/// Two servers of which each second of a launch costs so many seconds of CPU, and of which one may lack some of it.
fn session() -> Session {
    Session::new().cell("old", 5_000.0).cell("new", 5_000.0).noise(0.005)
}

fn records(session: &Session, cpu_s: [f64; 2], unwaited: [bool; 2], together: bool) -> Vec<TrialRecord> {
    let mut records = session.records();
    for trial in &mut records {
        let seen = trial.observation.as_mut().unwrap();
        let scatter = 1.0 + 0.005 * f64::from(trial.block % 3);
        (seen.cpu_user_s, seen.cpu_system_s) = (cpu_s[trial.cell] * scatter, 0.0);
        if together {
            cut(trial, 10);
        }
        trial.observation.as_mut().unwrap().unwaited = unwaited[trial.cell];
    }
    records
}

#[test]
fn a_server_whose_cpu_may_be_missing_can_lose_by_it_and_never_win_or_tie() {
    use ComparisonVerdict::{Faster, Inconclusive, Same, Slower};
    for together in [false, true] {
        let found = |cpu_s, unwaited| {
            let (session, environment) = (session(), Environment::default());
            let (plan, trials) = (session.plan(), records(&session, cpu_s, unwaited, together));
            let run = Run { plan: &plan, environment: &environment, trials: &trials };
            let analysis = compare_targets(run, "old", "new", &parse_gates("cpu_per_request<+10%").unwrap());
            let row = analysis.rows.iter().find(|row| row.metric == Metric::CpuPerRequest).unwrap();
            ((row.verdict, row.withheld), analysis.gates[0].verdict)
        };
        let open = ((Inconclusive, Some(Withheld::Unwaited)), GateVerdict::Undecided);
        assert_eq!(found([1.0, 0.3], [false, false]), ((Faster, None), GateVerdict::Held));
        assert_eq!(found([1.0, 0.3], [false, true]), open, "together: {together}");
        assert_eq!(found([1.0, 1.0], [false, false]), ((Same, None), GateVerdict::Held));
        assert_eq!(found([1.0, 1.0], [false, true]), open);
        assert_eq!(found([1.0, 3.0], [false, true]), ((Slower, None), GateVerdict::Broken), "it is at least so much");
        assert_eq!(
            found([1.0, 0.3], [true, false]),
            ((Faster, None), GateVerdict::Held),
            "the old one is at least that"
        );
        assert_eq!(found([1.0, 3.0], [true, false]), open);
    }
}

#[test]
fn nor_by_rank_or_claim_and_the_table_says_so() {
    let claims = [
        "cpu_per_request(new) < 1s",
        "cpu_per_request(new) > 1us",
        "cpu_per_request(new) / cpu_per_request(old) < 0.5",
    ];
    let session = claims.iter().fold(session(), |session, claim| session.claim(claim));
    let found = |unwaited| {
        let trials = records(&session, [1.0, 0.3], [false, unwaited], false);
        let analysis = analyse(&session.plan(), &Environment::default(), &trials);
        let group = analysis.groups.iter().find(|group| group.metric == Metric::CpuPerRequest).unwrap();
        let ranks: Vec<Option<u32>> = group.ranks.iter().map(|rank| rank.rank).collect();
        let of = |claim: &ClaimAnalysis| (claim.verdict, claim.withheld);
        (
            ranks,
            analysis.claims.iter().map(of).collect::<Vec<_>>(),
            [0, 1].map(|cell: usize| analysis.cells[cell].cpu_at_least),
        )
    };
    let (sure, open) = ((ClaimVerdict::Supported, None), (ClaimVerdict::Inconclusive, Some(Withheld::Unwaited)));
    assert_eq!(found(false), (vec![Some(1), Some(2)], vec![sure; 3], [false, false]));
    assert_eq!(found(true), (vec![None, None], vec![open, sure, open], [false, true]));
}

#[test]
fn times_to_ready_that_lie_no_further_apart_than_two_questions_are_not_different() {
    let found = |ready_ms: [f64; 2]| {
        let (session, environment) = (session(), Environment::default());
        let (plan, mut trials) = (session.plan(), session.records());
        for trial in &mut trials {
            trial.time_to_ready_ms = Some(ready_ms[trial.cell] + 0.01 * f64::from(trial.block));
        }
        let run = Run { plan: &plan, environment: &environment, trials: &trials };
        let analysis = compare_targets(run, "old", "new", &[]);
        analysis.rows.iter().find(|row| row.metric == Metric::TimeToReady).unwrap().verdict
    };
    assert_eq!(found([4.0, 6.0]), ComparisonVerdict::Inconclusive);
    assert_eq!(found([4.0, 6.5]), ComparisonVerdict::Slower);
    assert_eq!(found([400.0, 460.0]), ComparisonVerdict::Slower);
    assert_eq!(found([4_000.0, 4_000.0]), ComparisonVerdict::Same);
    assert_eq!(found([4.0, 4.0]), ComparisonVerdict::Inconclusive);
}
