//! Judging, showing and planning take time in proportion to the number of cells, and not to its square.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use judge::BlockPlanner;
use lab::{RunFolder, RunRecord};
use model::{Cell, Level, Next, Planner, TrialRecord};
use report::Style;
use run_support::{CLEAN_AND_SERIALISED, Lab};

/// The fewer cells: about as many as a large experiment has.
const FEW: usize = 100;
/// By how much their number grows. Caches that no longer hold the greater record cost up to twice the time, which has to be
/// little beside the difference of growth in proportion and by the square.
const TIMES: usize = 16;

/// How the cells of a large experiment differ.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Two targets under many conditions.
    ManyConditions,
    /// One target.
    OneTarget,
    /// Two targets on ladders of twenty rungs.
    Ladders,
}

impl Shape {
    /// Which cell of the small record the cell of this index is like, and its levels.
    fn cell(self, index: usize) -> (usize, [usize; 2]) {
        match self {
            Shape::ManyConditions => (index % 2, [1, index / 2]),
            Shape::OneTarget => (0, [1, index]),
            Shape::Ladders => (index % 2, [index / 2 % 20, index / 40]),
        }
    }
}

/// A record of so many cells out of one of two.
fn grown(small: &RunRecord, shape: Shape, cells: usize) -> RunRecord {
    let (mut cells_grown, mut trials) = (Vec::new(), Vec::new());
    let levels = |levels: &Cell, index: usize| {
        let factors = ["connections", "seed"].into_iter().zip(shape.cell(index).1);
        let more = factors.map(|(factor, level)| (factor.to_owned(), Level::Integer(level as u64)));
        Cell(levels.0.clone().into_iter().chain(more).collect())
    };
    for index in 0..cells {
        let like = shape.cell(index).0;
        let mut cell = small.plan.cells[like].clone();
        cell.levels = levels(&cell.levels, index);
        cells_grown.push(cell);
        let of_it = small.trials.iter().filter(|trial| trial.cell == like && !trial.twin);
        trials.extend(of_it.map(|trial| TrialRecord {
            cell: index,
            id: format!("b{:02}-c{}", trial.block, index + 1),
            levels: levels(&trial.levels, index),
            ..trial.clone()
        }));
    }
    let ladder = matches!(shape, Shape::Ladders).then(|| "connections".to_owned());
    let plan = small.plan.with(|draft| (draft.ladder, draft.cells) = (ladder, cells_grown)).unwrap();
    RunRecord { plan, trials, ..small.clone() }
}

/// What `report` and a run that is resumed do with a record.
fn work(record: &RunRecord) {
    let analysis = judge::analyse(&record.plan, &record.environment, &record.trials);
    assert_eq!(analysis.cells.len(), record.plan.cells.len());
    assert!(
        report::run_text(&analysis, Style { colour: false, width: 100, verbose: false }).len()
            > 100 * analysis.cells.len() / 2
    );
    assert!(report::run_markdown(&analysis).len() > 100 * analysis.cells.len() / 2);
    let Next::Run(trials) = BlockPlanner::new(&record.plan).next() else { panic!("nothing is recorded") };
    assert_eq!(trials.len(), record.plan.cells.len() + 1, "a block, and the twin");
    let mut resumed = BlockPlanner::new(&record.plan);
    record.trials.iter().for_each(|trial| resumed.take(trial));
    let Next::Run(trials) = resumed.next() else { panic!("the record has no twin") };
    assert!(!trials.is_empty() && resumed.expected_trials() >= trials.len(), "{} trials", trials.len());
}

/// CPU time of this thread in nanoseconds, as the kernel counts it: other tests and programs are not in it.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// The least of what the work took for each record, three times by turns: what disturbs adds to it.
fn costs_ns(records: &[RunRecord; 2]) -> [u64; 2] {
    let once = |record| {
        let before = cpu_ns();
        work(record);
        cpu_ns() - before
    };
    let turns: Vec<[u64; 2]> = (0..3).map(|_| records.each_ref().map(once)).collect();
    [0, 1].map(|index| turns.iter().map(|turn| turn[index]).min().unwrap())
}

#[test]
fn the_work_grows_with_the_cells_and_not_with_their_square() {
    let lab = Lab::new().experiment(CLEAN_AND_SERIALISED);
    lab.run(&[]).exits(0);
    let small = RunFolder::read(lab.record().path()).unwrap();
    for shape in [Shape::ManyConditions, Shape::OneTarget, Shape::Ladders] {
        let [few, many] = costs_ns(&[FEW, FEW * TIMES].map(|cells| grown(&small, shape, cells)));
        let growth = many as f64 / few as f64;
        println!("{shape:?}: {TIMES} times the cells take {growth:.1} times as long");
        // Half way, on the scale of exponents, between their number and its square.
        assert!(growth < (TIMES as f64).powf(1.5), "{shape:?}: {TIMES} times the cells, {growth:.1} times the work");
    }
}
