use model::{Environment, Failing, HalfCount, Judged, Latencies, NotSent, Rotated, Rotation, WindowCount};

use super::*;
use crate::testing::{cut, die, slice, wrong_replies};

/// Two targets and a twin, each launch in twelve slices.
fn rotating() -> (Plan, Vec<TrialRecord>) {
    rotating_in(12)
}

fn rotating_in(rounds: u32) -> (Plan, Vec<TrialRecord>) {
    let session = Session::new().cell("a", 1_000.0).cell("b", 1_000.0).noise(0.0).twin().blocks(2);
    let mut draft = session.draft();
    draft.rotation = Some(Rotation { slice_ns: 250_000_000, lead_in_ns: 20_000_000, rounds: Some(rounds) });
    let mut records = session.records();
    records.iter_mut().for_each(|trial| cut(trial, rounds));
    (draft.resolve().unwrap(), records)
}

fn of_block(records: &[TrialRecord], block: u32) -> Vec<TrialRecord> {
    records.iter().filter(|trial| trial.block == block).cloned().collect()
}

/// The block of launches that are asked for at once, these in the order of the plan, and whether they go round.
type Together = (u32, Vec<(usize, bool)>, bool);

fn asked(next: &Next) -> Together {
    let (specs, go_round) = match next {
        Next::Rotate(together) => (&together.trials, true),
        Next::Run(specs) => (specs, false),
        other => panic!("{other:?}"),
    };
    let mut launches: Vec<(usize, bool)> = specs.iter().map(|spec| (spec.cell, spec.twin)).collect();
    launches.sort_unstable();
    (specs[0].block, launches, go_round)
}

const ALL: [(usize, bool); 3] = [(0, false), (0, true), (1, false)];

#[test]
fn what_shares_its_conditions_is_asked_for_together_and_again_whole_where_one_lacks() {
    let (plan, records) = rotating();
    let first = after(&plan, &[]);
    assert_eq!(asked(&first), (1, ALL.to_vec(), true));
    let Next::Rotate(together) = &first else { panic!("{first:?}") };
    assert_eq!(together.trials.iter().map(|spec| spec.position).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(together.turns.len(), 2 * 3 + 3 * 12, "a warm-up each in two turns, and twelve rounds");
    assert_eq!(after(&plan, &[]), first, "nothing but the plan decides");
    let second = after(&plan, &of_block(&records, 1));
    assert_eq!(asked(&second), (2, ALL.to_vec(), true));
    let Next::Rotate(other) = &second else { panic!("{second:?}") };
    assert_ne!(other.turns, together.turns);
    assert_eq!(after(&plan, &of_block(&records, 1)[..2]), first);
}

#[test]
fn other_launches_of_a_block_are_asked_for_beside_those_that_go_round() {
    let (plan, _) = rotating();
    let plan = plan.with(|draft| {
        let mut cell = draft.cells[0].clone();
        cell.levels.0.insert("handler_delay".to_owned(), model::Level::Text("5ms".to_owned()));
        draft.cells.push(cell);
    });
    let planner = BlockPlanner::new(&plan.unwrap());
    let blocks: Vec<Vec<AtOnce>> = (1..=6).map(|block| Made::new(&planner.plan).block(block)).collect();
    let with_the_cell = |at_once: &&AtOnce| at_once.trials.iter().any(|spec| spec.cell == 2);
    for block in &blocks {
        assert_eq!(block.iter().map(|it| it.trials.len()).sum::<usize>(), 4);
        assert!(block.iter().filter(with_the_cell).all(|it| it.slicing.is_none() && it.trials.len() == 1));
    }
    assert!(
        blocks.iter().any(|block| block[0].slicing.is_some()) && blocks.iter().any(|block| block[0].slicing.is_none())
    );
}

#[test]
fn once_a_launch_cannot_go_round_every_block_of_its_conditions_is_launched_alone() {
    let (plan, records) = rotating();
    let mut done = of_block(&records, 1);
    let ends = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().connections.closed_idle = 1;
    done.iter_mut().filter(|trial| trial.cell == 1).for_each(ends);
    assert_eq!(asked(&after(&plan, &done)), (1, ALL.to_vec(), false));
    let void = |done: &[TrialRecord]| {
        let void = crate::analyse(&plan, &Environment::default(), done).void_trials;
        void.iter().map(|trial| (trial.id.clone(), trial.reason.code().id())).collect::<Vec<_>>()
    };
    assert_eq!(void(&done), [("b01-c02".to_owned(), "connections-end")]);
    let alone = |block: u32| of_block(&records, block).into_iter().map(|it| TrialRecord { slices: Vec::new(), ..it });
    done.extend(alone(1).take(1));
    assert_eq!(asked(&after(&plan, &done)).1, ALL[1..], "what was launched alone is not launched again");
    done.extend(alone(1).skip(1));
    assert_eq!(asked(&after(&plan, &done)), (2, ALL.to_vec(), false));
    assert_eq!(void(&done), [("b01-c02".to_owned(), "connections-end")], "the later record counts, and why is told");
}

/// As in a quick form: five slices of a launch are too few to show it, and ten of two are not.
#[test]
fn launches_of_few_slices_show_together_that_they_cannot_go_round() {
    let (plan, mut records) = rotating_in(5);
    let judged =
        |records: &[TrialRecord]| [1, 2].map(|blocks| (1..=blocks).flat_map(|it| of_block(records, it)).collect());
    let [one, two]: [Vec<TrialRecord>; 2] = judged(&records);
    assert_eq!(asked(&after(&plan, &one)), (2, ALL.to_vec(), true));
    assert_eq!(asked(&after(&plan, &two)), (3, ALL.to_vec(), true));
    let mut slow = |block: u32| {
        let of_it = records.iter_mut().filter(|trial| trial.cell == 1 && trial.block == block);
        for slice in of_it.flat_map(|trial| &mut trial.slices) {
            let half = HalfCount { completed: 100, service_ns: 100_000_000, ..HalfCount::default() };
            slice.halves = Some([HalfCount { service_ns: 150_000_000, ..half }, half]);
        }
        judged(&records)
    };
    let [_, two] = slow(1);
    assert_eq!(asked(&after(&plan, &two)), (3, ALL.to_vec(), true), "one block may be chance, or the machine");
    let [one, two] = slow(2);
    assert_eq!(asked(&after(&plan, &one)), (2, ALL.to_vec(), true), "five slices may be chance");
    assert_eq!(asked(&after(&plan, &two)), (1, ALL.to_vec(), false));
    let rotation = crate::analyse(&plan, &Environment::default(), &two).cells[0].rotation.clone();
    let Some(Rotated::Seen { target, reason }) = rotation else { panic!("{rotation:?}") };
    assert_eq!((target.as_deref(), reason.code().id()), (Some("b"), "slow-after-idling"));
}

/// The first block in slices, of which the second target's ends connections, and again alone.
fn made_again(of_first: impl Fn(&mut TrialRecord)) -> (Plan, Vec<TrialRecord>, Vec<TrialRecord>) {
    let (plan, records) = rotating();
    let mut in_slices = of_block(&records, 1);
    for trial in in_slices.iter_mut().filter(|trial| !trial.twin) {
        match trial.cell {
            0 => of_first(trial),
            _ => trial.measurement.as_mut().unwrap().connections.closed_idle = 1,
        }
    }
    let alone = of_block(&records, 1).into_iter().map(|it| TrialRecord { slices: Vec::new(), ..it });
    let all = in_slices.iter().cloned().chain(alone).collect();
    (plan, in_slices, all)
}

#[test]
fn a_bad_answer_in_slices_stays_one_when_the_launches_are_made_again_alone() {
    let is_bad = |of_first: &dyn Fn(&mut TrialRecord)| {
        let (plan, in_slices, all) = made_again(of_first);
        [in_slices, all].map(|done| {
            let analysis = crate::analyse(&plan, &Environment::default(), &done);
            let Failing { wrong_content, died, unserved, stopped, bad, .. } = analysis.cells[0].failing;
            let void: Vec<String> = analysis.void_trials.iter().map(|trial| trial.id.clone()).collect();
            let is_bad = crate::answer_is_bad(&Judged::Run(Box::new(analysis)));
            assert_eq!(is_bad, bad);
            ([wrong_content, died, unserved, stopped], is_bad, void.join(" "))
        })
    };
    let found = |counts: [u64; 4], void: &str| (counts, counts != [0; 4], void.to_owned());
    assert_eq!(is_bad(&|_| ()), [(); 2].map(|()| found([0; 4], "b01-c02")));
    let wrong = |trial: &mut TrialRecord| wrong_replies(trial, 500);
    assert_eq!(is_bad(&wrong), [(); 2].map(|()| found([500, 0, 0, 0], "b01-c01 b01-c02")));
    assert_eq!(is_bad(&die), [(); 2].map(|()| found([0, 1, 0, 0], "b01-c01 b01-c02")));
}

/// No reply in any slice: requests that were not waited for, or that were refused.
fn answer_nothing(trial: &mut TrialRecord, not_drained: u64, refused: u64) {
    let measured = trial.measurement.as_mut().unwrap();
    let books = &mut measured.accounting;
    (books.scheduled, books.sent, books.completed, books.ok) = (not_drained + refused, not_drained, 0, 0);
    books.in_flight_at_end = not_drained;
    books.not_sent.insert(NotSent::Refused, refused);
    measured.in_window = WindowCount::default();
    (measured.latency_us, measured.slowest_reply_s) = (Latencies::default(), None);
    measured.steps.clear();
    (measured.residence.requests_s, measured.residence.completed_s) = (measured.residence.in_flight_s, 0.0);
    for slice in &mut trial.slices {
        (slice.completed, slice.ok, slice.replies, slice.not_drained) = (0, 0, 0, not_drained / 12);
        (slice.halves, slice.felt) = (Some(Default::default()), None);
        (slice.p50_us, slice.p99_us) = (None, None);
    }
}

#[test]
fn a_server_that_refused_in_slices_was_not_served_and_one_whose_replies_outlast_them_may_be_slow() {
    let unserved = |not_drained: u64, refused: u64| {
        let (plan, _, all) = made_again(|trial| answer_nothing(trial, not_drained, refused));
        let analysis = crate::analyse(&plan, &Environment::default(), &all);
        let reasons: Vec<&str> = analysis.void_trials.iter().map(|trial| trial.reason.code().id()).collect();
        (analysis.cells[0].failing.unserved, reasons.join(" "))
    };
    assert_eq!(unserved(0, 120), (1, "few-replies connections-end".to_owned()));
    assert_eq!(unserved(120, 0), (0, "slow-drain connections-end".to_owned()));
}

/// The launches of a block, of which those of these cells left requests at the end of a slice.
fn leaving(records: &[TrialRecord], block: u32, cells: &[usize]) -> Vec<TrialRecord> {
    let mut trials = of_block(records, block);
    let leave = |trial: &mut TrialRecord| slice(trial, 4).not_drained = 8;
    trials.iter_mut().filter(|trial| cells.contains(&trial.cell)).for_each(leave);
    trials
}

/// What is asked for after these launches, how those of the first cell are made, and which launches are void.
fn then(plan: &Plan, parts: &[Vec<TrialRecord>]) -> (Together, Option<Rotated>, String) {
    let done = parts.concat();
    let analysis = crate::analyse(plan, &Environment::default(), &done);
    let void: Vec<String> = analysis.void_trials.iter().map(|trial| trial.id.clone()).collect();
    (asked(&after(plan, &done)), analysis.cells[0].rotation.clone(), void.join(" "))
}

/// Whose doing it is said to be that launches are alone, and what.
fn target(rotation: Option<Rotated>) -> (Option<String>, &'static str) {
    match rotation {
        Some(Rotated::Seen { target, reason }) => (target, reason.code().id()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_chance_can_make_counts_until_it_is_seen_of_one_target_in_two_blocks() {
    let (plan, records) = rotating();
    let plan = plan.with(|draft| draft.blocks = model::Blocks { min: 3, max: 3 }).unwrap();
    let (clean, left) = (|block| of_block(&records, block), |block, cells| leaving(&records, block, cells));
    let together = Some(Rotated::Together { rounds: 12, slice_s: 0.25 });
    assert_eq!(then(&plan, &[left(1, &[1])]), ((2, ALL.to_vec(), true), together.clone(), String::new()));
    let other = then(&plan, &[left(1, &[1]), left(2, &[0])]);
    assert_eq!(other, ((3, ALL.to_vec(), true), together, String::new()), "another target, once as well");
    let mut idled = clean(2);
    for trial in idled.iter_mut().filter(|trial| trial.cell == 1) {
        trial.slices.iter_mut().for_each(|slice| slice.halves.as_mut().unwrap()[0].service_ns *= 2);
    }
    let (next, rotation, _) = then(&plan, &[left(1, &[1]), idled]);
    let slow_at_first = (Some("b".to_owned()), "slow-after-idling");
    assert_eq!((next, target(rotation)), ((1, ALL.to_vec(), false), slow_at_first), "whatever it is");
    let (next, rotation, void) = then(&plan, &[left(1, &[1]), left(2, &[1])]);
    let slow = |target: Option<&str>| (target.map(str::to_owned), "slow-drain");
    assert_eq!((next, target(rotation)), ((1, ALL.to_vec(), false), slow(Some("b"))));
    assert_eq!(void, "b01-c02 b02-c02", "both are told");
    let alone = || clean(1).into_iter().map(|trial| TrialRecord { slices: Vec::new(), ..trial }).collect();
    let (next, rotation, _) = then(&plan, &[left(1, &[1]), alone()]);
    assert_eq!((next, target(rotation)), ((2, ALL.to_vec(), false), slow(Some("b"))), "as earlier versions did");
    let (next, rotation, _) = then(&plan, &[left(1, &[0, 1]), left(2, &[1])]);
    assert_eq!((next, target(rotation)), ((1, ALL.to_vec(), false), slow(None)), "both showed it in one block");
}

#[test]
fn where_no_second_block_could_show_it_or_nothing_was_answered_once_is_enough() {
    let (plan, records) = rotating();
    let alone = (1, ALL.to_vec(), false);
    let one_block = plan.with(|draft| draft.blocks = model::Blocks { min: 1, max: 1 }).unwrap();
    assert_eq!(then(&one_block, &[leaving(&records, 1, &[1])]).0, alone);
    let mut silent = of_block(&records, 1);
    silent.iter_mut().filter(|trial| trial.cell == 1).for_each(|trial| answer_nothing(trial, 120, 0));
    assert_eq!(then(&plan, &[silent]).0, alone, "no figure of it is in slices");
}

#[test]
fn a_launch_whose_slices_left_requests_is_part_of_the_figures() {
    let (plan, records) = rotating();
    let slower = |mut trials: Vec<TrialRecord>| {
        for trial in trials.iter_mut().filter(|trial| trial.cell == 1) {
            trial
                .slices
                .iter_mut()
                .for_each(|slice| (slice.window_s, slice.length_s) = (2.0 * slice.window_s, 2.0 * slice.length_s));
            trial.measurement.as_mut().unwrap().window_s *= 2.0;
        }
        trials
    };
    let rate = |first: Vec<TrialRecord>| {
        let analysis = crate::analyse(&plan, &Environment::default(), &[first, of_block(&records, 2)].concat());
        analysis.cells[1].throughput.estimate.unwrap()
    };
    let (clean, stalled) = (rate(of_block(&records, 1)), rate(slower(leaving(&records, 1, &[1]))));
    assert!((stalled / clean - 0.5_f64.sqrt()).abs() < 1e-6, "{stalled} {clean}: half in one of two launches");
}

/// Two targets under two conditions and a twin of the first, in blocks of four cells; each launch in slices.
fn two_sets(blocks: u32) -> (Plan, Vec<TrialRecord>) {
    let session = Session::new()
        .delayed("a", 10, 0, 1_000.0)
        .delayed("b", 10, 0, 1_000.0)
        .delayed("a", 20, 0, 1_000.0)
        .delayed("b", 20, 0, 1_000.0)
        .noise(0.0)
        .twin()
        .planned(blocks, blocks)
        .blocks(blocks);
    let mut draft = session.draft();
    draft.rotation = Some(Rotation { slice_ns: 1_000_000_000, lead_in_ns: 20_000_000, rounds: None });
    let mut records = session.records();
    records.iter_mut().for_each(|trial| cut(trial, 10));
    (draft.resolve().unwrap(), records)
}

/// The block of what was asked for at once, its launches, whether they go round, and how many trials were expected then.
type AskedFor = (u32, usize, bool, usize);

/// Answers whatever a planner asks for: the second conditions' first target ends its connections in this block's slices. Gives the
/// records, and what was asked for at once, with how many trials were expected then.
fn carried_out(plan: &Plan, records: &[TrialRecord], ends_in: u32) -> (Vec<TrialRecord>, Vec<AskedFor>) {
    let (mut planner, mut done, mut asked_for) = (BlockPlanner::new(plan), Vec::new(), Vec::new());
    loop {
        let next = planner.next();
        let (specs, go_round) = match &next {
            Next::Rotate(together) => (together.trials.clone(), true),
            Next::Run(specs) => (specs.clone(), false),
            _ => return (done, asked_for),
        };
        asked_for.push((specs[0].block, specs.len(), go_round, planner.expected_trials()));
        for spec in specs {
            let of = |it: &&TrialRecord| (it.block, it.cell, it.twin) == (spec.block, spec.cell, spec.twin);
            let mut trial = records.iter().find(of).unwrap().clone();
            if !go_round {
                trial.slices.clear();
            } else if spec.cell == 2 && spec.block == ends_in {
                trial.measurement.as_mut().unwrap().connections.closed_idle = 1;
            }
            planner.take(&trial);
            done.push(trial);
        }
    }
}

#[test]
fn of_two_sets_the_one_that_cannot_go_round_is_launched_alone_in_every_block_and_the_other_goes_on() {
    let (plan, records) = two_sets(6);
    let (done, asked_for) = carried_out(&plan, &records, 3);
    let of = |block: u32, go_round: bool| -> usize {
        asked_for.iter().filter(|it| (it.0, it.2) == (block, go_round)).map(|it| it.1).sum()
    };
    for block in 1..=6 {
        assert_eq!(of(block, true), if block <= 3 { 3 + 2 } else { 3 }, "block {block}");
        assert_eq!(of(block, false), 2, "block {block}");
    }
    assert_eq!(done.len(), 6 * 5 + 3 * 2, "what was made in slices in vain is made again");
    let expected: Vec<usize> = asked_for.iter().map(|it| it.3).collect();
    assert_eq!((expected.first(), expected.last()), (Some(&30), Some(&36)), "{expected:?}");
    assert_eq!(blocks_begun(&plan, &done), 6);
    let analysis = crate::analyse(&plan, &Environment::default(), &done);
    assert_eq!((analysis.unfinished, analysis.void_trials.len(), analysis.blocks), (None, 1, 6));
    let rotated: Vec<Option<Rotated>> = analysis.cells.iter().map(|cell| cell.rotation.clone()).collect();
    let together = Some(Rotated::Together { rounds: 10, slice_s: 1.0 });
    assert_eq!(rotated[..2], [together.clone(), together]);
    for cell in &rotated[2..] {
        let Some(Rotated::Seen { target, reason }) = cell else { panic!("{cell:?}") };
        assert_eq!((target.as_deref(), reason.code().id()), (Some("a"), "connections-end"));
    }
}

#[test]
fn until_all_are_launched_alone_no_figure_by_slices_stands_beside_one_of_a_launch_alone() {
    let (plan, records) = two_sets(6);
    let (done, _) = carried_out(&plan, &records, 3);
    let first_alone = done.iter().position(|trial| trial.slices.is_empty()).unwrap();
    let analysis = crate::analyse(&plan, &Environment::default(), &done[..=first_alone]);
    let launches: Vec<u32> = analysis.cells.iter().map(|cell| cell.trials).collect();
    assert_eq!(launches[2] + launches[3], 1, "{launches:?}");
    assert!(launches[0] >= 2 && launches[1] >= 2 && analysis.unfinished == Some(6), "{launches:?}");
}

#[test]
fn a_block_that_was_begun_in_vain_is_made_whole_before_a_run_may_end() {
    let (plan, mut records) = rotating();
    let plan = plan.with(|draft| draft.blocks = model::Blocks { min: 2, max: 3 }).unwrap();
    let third: Vec<TrialRecord> = of_block(&records, 2)
        .into_iter()
        .map(|trial| TrialRecord { block: 3, id: trial.id.replace("b02", "b03"), ..trial })
        .collect();
    records.extend(third);
    let ends = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().connections.closed_idle = 1;
    records.iter_mut().filter(|trial| (trial.cell, trial.block) == (1, 3)).for_each(ends);
    let alone = |block: u32| of_block(&records, block).into_iter().map(|it| TrialRecord { slices: Vec::new(), ..it });
    let done: Vec<TrialRecord> = records.iter().cloned().chain(alone(1)).chain(alone(2)).collect();
    assert_eq!(asked(&after(&plan, &done)), (3, ALL.to_vec(), false), "it is as precise as was asked without");
}
