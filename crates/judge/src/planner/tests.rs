mod rotating;
mod turns;

use model::{
    Accounting, Blocks, ComparePlan, EndedWhen, Environment, Extent, GuardEnd, Measurement, ProcessEnd, TargetEnd,
    TrialFailure, TrialSpec, TrialStage,
};

use super::*;
use crate::analyse;
use crate::launch::LOOKED_AT;
use crate::testing::Session;

fn five_cells() -> Session {
    ["a", "b", "c", "d", "e"].into_iter().fold(Session::new(), |session, name| session.cell(name, 100.0))
}

/// What comes next once these are recorded.
fn after(plan: &Plan, done: &[TrialRecord]) -> Next {
    let mut planner = BlockPlanner::new(plan);
    done.iter().for_each(|trial| planner.take(trial));
    planner.next()
}

fn cells(next: Next) -> Vec<usize> {
    match next {
        Next::Run(specs) => specs.iter().map(|spec| spec.cell).collect(),
        other => panic!("{other:?}"),
    }
}

fn reason(next: Next) -> String {
    match next {
        Next::Done(done) => report::done_words(&done),
        other => panic!("{other:?}"),
    }
}

/// A recorded order: resuming an old run must give the same one, so a change in fastrand must be noticed.
#[test]
fn the_order_is_golden() {
    let planner = BlockPlanner::new(&five_cells().plan());
    let orders: Vec<Vec<usize>> = (1..=3)
        .map(|k| Made::new(&planner.plan).block(k).iter().flat_map(|it| &it.trials).map(|spec| spec.cell).collect())
        .collect();
    assert_eq!(orders, [[0, 2, 3, 4, 1], [1, 4, 3, 2, 0], [1, 4, 2, 3, 0]]);
}

#[test]
fn a_block_is_every_cell_once_and_resuming_gives_the_rest_in_order() {
    let session = five_cells().blocks(1);
    let planner = BlockPlanner::new(&session.plan());
    let all = cells(after(&planner.plan, &[]));
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 4]);
    let done: Vec<TrialRecord> = session.records().into_iter().filter(|trial| all[..2].contains(&trial.cell)).collect();
    let Next::Run(rest) = after(&planner.plan, &done) else { panic!("three are left") };
    assert_eq!(rest.iter().map(|spec| spec.cell).collect::<Vec<_>>(), all[2..]);
    assert_eq!(rest.iter().map(|spec| spec.position).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(planner.expected_trials(), 30);
}

#[test]
fn it_stops_on_precision_on_the_cap_or_as_planned() {
    let precise = Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.002).blocks(6).planned(6, 12);
    let next = |session: &Session| after(&session.plan(), &session.records());
    let said = reason(next(&precise));
    assert!(said.starts_with("6 blocks: throughput is known to ± 0."), "{said}");
    let rough = Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.2).planned(6, 12);
    assert_eq!(cells(next(&rough.clone().blocks(6))).len(), 2, "a seventh block");
    let said = reason(next(&rough.blocks(12)));
    assert!(said.starts_with("the cap of 12 blocks; throughput is known to ± "), "{said}");
    let mut begun = precise.clone().blocks(7).records();
    begun.pop();
    assert_eq!(cells(after(&precise.plan(), &begun)), [1], "a block that was begun is ended");
    let planned = Session::new().cell("a", 100.0).noise(0.2).blocks(6).planned(6, 6);
    assert_eq!(reason(next(&planned)), "6 blocks, as planned");
}

#[test]
fn void_trials_are_not_launched_again_and_dead_targets_do_not_hold_up_the_end() {
    let session = Session::new().cell("a", 100.0).cell("dead", 100.0).noise(0.002).blocks(6).planned(6, 12);
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 1) {
        crate::testing::fail_at_launch(trial);
    }
    let said = reason(after(&session.plan(), &records));
    assert!(said.starts_with("6 blocks: "), "{said}");
}

/// A session after so many blocks, in which all replies of these targets are wrong.
fn all_wrong(session: &Session, blocks: u32, targets: &[&str]) -> Vec<TrialRecord> {
    let mut records = session.clone().blocks(blocks).records();
    for trial in records.iter_mut().filter(|trial| targets.contains(&trial.levels.target())) {
        let all = trial.measurement.as_ref().unwrap().accounting.ok;
        crate::testing::wrong_replies(trial, all);
    }
    records
}

#[test]
fn what_has_no_right_reply_ends_with_its_first_block_unless_another_target_has_some() {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).planned(6, 12);
    let plan = session.plan();
    let next = |plan: &Plan, records: &[TrialRecord]| after(plan, records);
    let said = reason(next(&plan, &all_wrong(&session, 1, &["a", "b"])));
    assert!(said.starts_with("not one reply of a and b was right, and more blocks would show the same; "), "{said}");
    let half = &all_wrong(&session, 1, &["a", "b"])[..1];
    assert_eq!(cells(next(&plan, half)), [1], "the block is made to its end");
    let one = all_wrong(&session, 1, &["b"]);
    assert_eq!(cells(next(&plan, &one)).len(), 2, "the other one serves");
    let mut dead = one.clone();
    dead.iter_mut().filter(|trial| trial.cell == 0).for_each(crate::testing::fail_at_launch);
    assert!(reason(next(&plan, &dead)).starts_with("not one reply of b was right"));
    let mut some = all_wrong(&session, 1, &["a", "b"]);
    some[0].measurement.as_mut().unwrap().accounting.ok = 1;
    assert_eq!(cells(next(&plan, &some)).len(), 2, "one right reply");
    let (old, new) = ("a".to_owned(), "b".to_owned());
    let both = ComparePlan {
        old,
        new,
        primary: None,
        gates: Vec::new(),
        allow_undecided: false,
        of_experiment: false,
        rest_ns: 0,
        revisions: Vec::new(),
    };
    let compared = plan.with(|draft| draft.comparison = Some(both)).unwrap();
    assert!(reason(next(&compared, &one)).starts_with("not one reply of b was right"), "a comparison needs both");
    let refused = |targets: &[&str]| {
        let mut records = all_wrong(&session, 1, targets);
        for books in records.iter_mut().filter_map(|trial| Some(&mut trial.measurement.as_mut()?.accounting)) {
            (books.bad_status, books.bad_body) = (books.bad_body, 0);
        }
        records
    };
    let said = reason(next(&compared, &refused(&["a", "b"])));
    assert!(said.starts_with("not one reply of a and b was right, and more blocks would show the same; "), "{said}");
    assert_eq!(cells(next(&compared, &refused(&["b"]))).len(), 2, "that one has come to refuse everything is compared");
    assert_eq!(cells(next(&plan, &refused(&["a", "b"]))).len(), 2, "an experiment may be about servers that refuse");
}

#[test]
fn what_died_in_two_launches_of_two_is_not_launched_again_unless_another_target_serves() {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).planned(6, 12);
    let (old, new) = ("b".to_owned(), "a".to_owned());
    let both = ComparePlan {
        old,
        new,
        primary: None,
        gates: Vec::new(),
        allow_undecided: false,
        of_experiment: false,
        rest_ns: 0,
        revisions: Vec::new(),
    };
    let compared = session.plan().with(|draft| draft.comparison = Some(both)).unwrap();
    let dead = |blocks: u32, launches: &[(u32, &str)]| {
        let mut records = session.clone().blocks(blocks).records();
        let is_dead = |trial: &TrialRecord| launches.contains(&(trial.block, trial.levels.target()));
        records.iter_mut().filter(|trial| is_dead(trial)).for_each(crate::testing::die);
        records
    };
    let twice = dead(2, &[(1, "a"), (2, "a")]);
    assert!(reason(after(&compared, &twice)).starts_with("a died in every launch, and more blocks would show the"));
    assert_eq!(cells(after(&session.plan(), &twice)).len(), 2, "in a run the other one serves");
    let both = dead(2, &[(1, "a"), (2, "a"), (1, "b"), (2, "b")]);
    assert!(reason(after(&session.plan(), &both)).starts_with("a and b died in every launch"));
    assert_eq!(cells(after(&compared, &dead(1, &[(1, "a")]))).len(), 2, "one may be an accident");
    assert_eq!(cells(after(&compared, &dead(3, &[(2, "a"), (3, "a")]))).len(), 2, "it served once");
    let silent = |blocks: u32| {
        let mut records = session.clone().blocks(blocks).records();
        for trial in records.iter_mut().filter(|trial| trial.levels.target() == "a") {
            let accounting = Accounting { scheduled: 10, sent: 10, in_flight_at_end: 10, ..Accounting::default() };
            trial.measurement = Some(Measurement { accounting, ..Measurement::default() });
        }
        records
    };
    assert!(reason(after(&compared, &silent(2))).starts_with("a served nothing, or died, in every launch, and more"));
    let mut either = silent(2);
    either.iter_mut().filter(|trial| trial.block == 2 && trial.levels.target() == "a").for_each(crate::testing::die);
    assert!(reason(after(&compared, &either)).starts_with("a served nothing, or died, in every launch, and more"));
    assert_eq!(cells(after(&session.plan(), &silent(2))).len(), 2, "in a run the other one serves");
    assert_eq!(cells(after(&compared, &silent(1))).len(), 2, "one may be an accident");
    let mut late = silent(2);
    let answered = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().in_window.completed = 1;
    late.iter_mut().filter(|trial| trial.levels.target() == "a").for_each(answered);
    assert_eq!(cells(after(&compared, &late)).len(), 2, "what was asked for in the warm-up was answered in the window");
}

#[test]
fn a_ladder_is_climbed_in_its_order_and_again_from_its_foot() {
    let session = Session::new()
        .delayed("a", 10, 0, 100.0)
        .delayed("b", 10, 0, 100.0)
        .delayed("a", 20, 0, 100.0)
        .delayed("b", 20, 0, 100.0)
        .blocks(1);
    let mut draft = session.draft();
    draft.ladder = Some("connections".to_owned());
    let plan = draft.clone().resolve().unwrap();
    let planner = BlockPlanner::new(&plan);
    for block in 1..=6 {
        let order: Vec<usize> =
            Made::new(&planner.plan).block(block).iter().flat_map(|it| &it.trials).map(|spec| spec.cell).collect();
        assert!(order == [0, 2, 1, 3] || order == [1, 3, 0, 2], "{order:?}");
    }
    let first = Made::new(&planner.plan).block(1)[0].trials[0].cell;
    let done: Vec<TrialRecord> = session.records().into_iter().filter(|trial| trial.cell != first + 2).collect();
    assert_eq!(cells(after(&planner.plan, &done)), [first, first + 2]);
    assert_eq!(cell_for_twin(&plan), Some(0));
    draft.cells[0].load.extent = Extent::Window(draft.cells[0].load.window_ns() + 1);
    draft.cells[2].load.extent = Extent::Window(0);
    assert_eq!(cell_for_twin(&draft), Some(1), "a later rung cannot stand alone");
}

fn disturb(trial: &mut TrialRecord) {
    trial.observation.as_mut().unwrap().host.steal_share = 0.05;
}

#[test]
fn a_disturbed_block_is_launched_again_unless_more_were_disturbed_than_the_plan_allows() {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).planned(6, 6).repeats(1);
    let planner = BlockPlanner::new(&session.plan());
    let disturbed = |blocks: u32, which: &[u32]| {
        let mut records = session.clone().blocks(blocks).records();
        records.iter_mut().filter(|trial| trial.cell == 1 && which.contains(&trial.block)).for_each(disturb);
        records
    };
    assert_eq!(reason(after(&planner.plan, &disturbed(6, &[]))), "6 blocks, as planned");
    let Next::Run(again) = after(&planner.plan, &disturbed(6, &[2])) else { panic!("block 7 stands for block 2") };
    assert_eq!(again.iter().map(|spec| spec.block).collect::<Vec<_>>(), [7, 7]);
    let once = "6 blocks, as planned, not counting 1 set aside";
    assert_eq!(reason(after(&planner.plan, &disturbed(7, &[2]))), once);
    let all = "6 blocks, as planned";
    for which in [&[2, 5][..], &[2, 7], &[1, 2, 3, 4, 5, 6]] {
        let records = disturbed(7, which);
        let analysis = session.analyse_these(&records);
        assert_eq!((analysis.session.repeated.len(), analysis.cells[0].trials), (0, 7), "as busy as others: {which:?}");
        assert_eq!(reason(after(&planner.plan, &records)), all);
        assert_eq!(cells(after(&planner.plan, &records[..13])).len(), 1, "a block that was begun is made whole");
    }
    assert_eq!(reason(after(&planner.plan, &disturbed(6, &[2, 5]))), all);
    let mut begun = disturbed(7, &[2]);
    begun.pop();
    assert_eq!(cells(after(&planner.plan, &begun)).len(), 1, "resuming needs the records alone");
}

#[test]
fn a_twin_is_launched_in_each_block_beside_its_cell() {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).blocks(6).planned(6, 6).twin();
    let planner = BlockPlanner::new(&session.plan());
    let Next::Run(specs) = after(&planner.plan, &[]) else { panic!("nothing is recorded") };
    let mut ids: Vec<String> = specs.iter().map(TrialSpec::id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["b01-c01", "b01-c01-twin", "b01-c02"]);
    assert_eq!(planner.expected_trials(), 18);
    let mut records = session.records();
    assert_eq!(reason(after(&planner.plan, &records)), "6 blocks, as planned");
    records.retain(|trial| !(trial.twin && trial.block == 3));
    let Next::Run(rest) = after(&planner.plan, &records) else { panic!("the twin of block 3 is missing") };
    assert_eq!(rest.iter().map(TrialSpec::id).collect::<Vec<_>>(), ["b03-c01-twin"]);
}

#[test]
fn the_twin_is_the_first_of_the_cells_that_wait_and_cost_least() {
    let session = Session::new().delayed("a", 10, 10, 97.0).delayed("a", 10, 0, 97.0).delayed("b", 10, 0, 97.0);
    let mut draft = session.draft();
    assert_eq!(cell_for_twin(&draft), Some(1));
    draft.cells[1].load.extent = Extent::Window(draft.cells[1].load.window_ns() + 1);
    assert_eq!(cell_for_twin(&draft), Some(2));
    draft.cells.clear();
    assert_eq!(cell_for_twin(&draft), None);
}

/// A session in which machines were busy, servers came up late or not, and replies were wrong.
fn eventful() -> (Plan, Vec<TrialRecord>) {
    let session =
        Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.05).planned(6, 12).repeats(2).twin().blocks(9);
    let mut records = session.records();
    records.iter_mut().filter(|trial| trial.cell == 1 && trial.block % 4 == 2).for_each(disturb);
    crate::testing::wrong_replies(&mut records[4], 3);
    crate::testing::fail_at_launch(&mut records[7]);
    (session.plan(), records)
}

#[test]
fn what_is_judged_as_it_comes_is_what_judging_all_anew_says() {
    let (plan, mut records) = eventful();
    for seed in 0..3 {
        fastrand::Rng::with_seed(seed).shuffle(&mut records);
        let mut planner = BlockPlanner::new(&plan);
        for (known, trial) in records.iter().enumerate() {
            planner.take(trial);
            let (kept, anew) = (planner.records(), Records::new(&plan, &records[..=known]));
            let judged = |records: &Records| -> Vec<(String, TrialJudgement)> {
                let of = |launch: &&Launch| (launch.record.id.clone(), launch.judgement.clone().into_owned());
                records.all().iter().map(of).collect()
            };
            assert_eq!(judged(&kept), judged(&anew));
            assert!(kept.repeated().keys().eq(anew.repeated().keys()));
            assert_eq!(kept.half_widths(), anew.half_widths());
            assert_eq!(planner.clone().next(), after(&plan, &records[..=known]), "asking it changes nothing");
        }
        assert_eq!(planner.judged.values().flatten().count(), records.len(), "each was judged once");
    }
}

/// How often a record is looked at meanwhile.
fn looks<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = LOOKED_AT.get();
    let done = work();
    (LOOKED_AT.get() - before, done)
}

#[test]
fn between_launches_as_little_is_looked_at_late_in_a_run_as_early_and_all_records_before_a_block_alone() {
    let session = five_cells().blocks(20).planned(20, 20).repeats(1);
    let (plan, records) = (session.plan(), session.records());
    let cells = plan.cells.len();
    let mut planner = BlockPlanner::new(&plan);
    for block in 1..=20 {
        let (before, Next::Run(specs)) = looks(|| planner.next()) else { panic!("block {block} is missing") };
        let recorded = (block - 1) * cells;
        assert_eq!(before, if block == 1 { 0 } else { recorded + cells }, "all, and once more the last block");
        for (place, spec) in specs.iter().enumerate() {
            assert_eq!(looks(|| planner.expected_trials()), (0, 100));
            let trial = records.iter().find(|it| (it.block, it.cell) == (spec.block, spec.cell)).unwrap();
            assert_eq!(looks(|| planner.take(trial)).0, 1);
            if place + 1 < cells {
                let (of_the_block, next) = looks(|| planner.next());
                assert_eq!((of_the_block, next), (place + 1, Next::Run(specs[place + 1..].to_vec())));
            }
        }
    }
    assert_eq!(reason(planner.next()), "20 blocks, as planned");
}

#[test]
fn a_raise_keeps_the_share_of_blocks_that_are_launched_again() {
    let raised = |repeats: u32, blocks: u32| {
        let mut draft = Session::new().cell("a", 1.0).planned(6, 12).repeats(repeats).draft();
        draft.raise(blocks);
        (draft.repeats, draft.blocks, draft.blocks_before)
    };
    let (asked, before) = (Blocks { min: 48, max: 48 }, vec![Blocks { min: 6, max: 12 }]);
    assert_eq!(raised(2, 48), (8, asked, before.clone()));
    assert_eq!(raised(0, 48), (0, asked, before));
    assert_eq!(raised(2, 7).0, 2, "a block that was set aside and replaced stays so");
}

/// Makes a trial one whose guard somebody took away.
fn unguard(trial: &mut TrialRecord) {
    (trial.measurement, trial.observation) = (None, None);
    let how = ProcessEnd::Unguarded(GuardEnd::Told);
    let end = TargetEnd { how, when: EndedWhen::UnderLoad, hints: Vec::new() };
    trial.failure = Some(TrialFailure::new(TrialStage::Unguarded, end));
}

#[test]
fn a_launch_that_lost_its_guard_is_made_again_in_its_place_but_not_for_ever() {
    let session = five_cells().blocks(1).planned(1, 1);
    let (plan, mut records) = (session.plan(), session.records());
    unguard(&mut records[3]);
    let Next::Run(again) = after(&plan, &records) else { panic!("one is to be made again") };
    let [again] = again[..] else { panic!("{again:?}") };
    assert_eq!((again.block, again.cell), (1, 3), "in the block that lacks it");
    let whole = session.records()[3].clone();
    assert_eq!(reason(after(&plan, &[&records[..], &[whole]].concat())), "1 block, as planned");
    let twice = [&records[..], &[records[3].clone()]].concat();
    assert_eq!(reason(after(&plan, &twice)), "1 block, as planned", "it may be the target that kills its guard");
}
