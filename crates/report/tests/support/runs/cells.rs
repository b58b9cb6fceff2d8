//! The cells of a run, with all that may stand in one.

use std::collections::BTreeMap;

use model::{
    Cell, CellAnalysis, CellCourse, CellLatency, CellProfile, CellRemarks, Changed, Coldness, Course, Failing, Failure,
    Invariant, InvariantCheck, Level, LimitCause, MarkCause, MarkNote, Measured, MemoryCount, Metric, NoPerf, NoPprof,
    NoProfile, Population, ProfiledBy, ProfiledFunction, Shortfall, ThreadNeed, Unit, WindowCourse,
};

use super::super::marks::{failures, note};

pub(crate) fn measured(estimate: f64, half: f64, unit: Unit) -> Measured {
    let (low, high) = (Some(estimate * (1.0 - half)), Some(estimate * (1.0 + half)));
    Measured { estimate: Some(estimate), low, high, unit }
}

pub(crate) fn unknown(unit: Unit) -> Measured {
    Measured { estimate: None, low: None, high: None, unit }
}

pub(crate) fn levels(target: &str, delay: &str, connections: u64) -> Cell {
    let text = |text: &str| Level::Text(text.to_owned());
    let levels =
        [("target", text(target)), ("handler_delay", text(delay)), ("connections", Level::Integer(connections))];
    Cell(levels.into_iter().map(|(factor, level)| (factor.to_owned(), level)).collect())
}

pub(crate) fn cell(levels: Cell, rate: f64, half: f64, p99_us: f64, cpu_us: f64) -> CellAnalysis {
    CellAnalysis {
        levels,
        trials: 6,
        void: 0,
        set_aside: 0,
        warm_up_s: 1.0,
        window_s: 10.0,
        rotation: None,
        throughput: measured(rate, half, Unit::RequestsPerS),
        at_least: false,
        course: CellCourse {
            launches: BTreeMap::from([(Course::Flat, 6)]),
            steady_throughput: Some(measured(rate, half, Unit::RequestsPerS)),
            cut: Some(0.0),
        },
        of_ceiling: None,
        latency_us: CellLatency {
            population: Population::Service,
            mean: measured(p99_us * 0.82, 0.01, Unit::Us),
            p50: measured(p99_us * 0.8, 0.01, Unit::Us),
            p90: measured(p99_us * 0.9, 0.01, Unit::Us),
            p99: measured(p99_us, 0.02, Unit::Us),
            censored: false,
            failed_share: 0.0,
        },
        cpu_us_per_request: measured(cpu_us, 0.02, Unit::Us),
        target_busy: Some(0.31),
        generator_busy: Some(0.22),
        generator_starved: Some(0.004),
        peak_memory_bytes: measured(14_889_779.0, 0.03, Unit::Bytes),
        memory_count: MemoryCount::Resident,
        time_to_ready_ms: measured(12.0, 0.1, Unit::Ms),
        profile: None,
        behind: None,
        handshakes: None,
        errors: 0.0,
        died: None,
        first_wrong: None,
        failing: Failing { allowed_share: 0.01, ..Failing::default() },
        invariants: vec![InvariantCheck {
            invariant: Invariant::Accounting,
            holds: true,
            breach: None,
            trial: None,
            held_in: Some(6),
        }],
        marks: Vec::new(),
        remarks: CellRemarks { warm_up_to_try_s: 5.0, ..CellRemarks::default() },
    }
}

pub(crate) fn profile() -> CellProfile {
    let function = |name: &str, flat_share| ProfiledFunction { name: name.to_owned(), flat_share };
    CellProfile {
        by: vec![ProfiledBy::Pprof],
        launches: 6,
        samples: 3_118,
        share: measured(0.213, 0.06, Unit::Share),
        functions: vec![
            function("internal/runtime/syscall/linux.Syscall6", 0.457),
            function("runtime.futex", 0.158),
            function("net/http.(*conn).serve", 0.0043),
        ],
        no_profile: None,
    }
}

fn mark(cell: &mut CellAnalysis, cause: MarkCause) {
    cell.marks.push(note(cause, 6));
}

pub(crate) fn delayed_cells() -> Vec<CellAnalysis> {
    let mut cells = vec![
        cell(levels("go-net-http", "10ms", 100), 9_214.0, 0.006, 12_100.0, 31.0),
        cell(levels("go-iris-2016", "10ms", 100), 98.2, 0.003, 1_020_000.0, 58.0),
        cell(levels("go-iris", "10ms", 100), 9_201.0, 0.007, 12_300.0, 34.0),
    ];
    for (cell, share) in cells.iter_mut().zip([0.921, 0.009_8, 0.920]) {
        cell.of_ceiling = Some(share);
    }
    cells[0].profile = Some(profile());
    cells[1].profile = Some(CellProfile {
        by: Vec::new(),
        launches: 0,
        samples: 0,
        share: unknown(Unit::Share),
        functions: Vec::new(),
        no_profile: Some(NoPprof::Status(404).into()),
    });
    cells[2].profile = Some(CellProfile {
        by: vec![ProfiledBy::Perf, ProfiledBy::PerfUser],
        launches: 5,
        samples: 902,
        share: unknown(Unit::Share),
        functions: vec![ProfiledFunction { name: "[k] tcp_sendmsg".to_owned(), flat_share: 0.12 }],
        no_profile: Some(NoProfile::Seen { pprof: Some(NoPprof::NoAdminPort), perf: Some(NoPerf::NotInstalled) }),
    });
    cells[1].latency_us.censored = true;
    cells[2].course = CellCourse {
        launches: BTreeMap::from([(Course::Flat, 2), (Course::WarmUp, 4)]),
        steady_throughput: Some(measured(9_388.0, 0.005, Unit::RequestsPerS)),
        cut: Some(0.3),
    };
    let levels = vec![(0.0, 8_120.0), (3.0, 9_390.0)];
    let (went, metric) = (Changed::WarmUp, Metric::Throughput);
    let course = WindowCourse { went, metric, levels, steady_from_s: Some(3.0), window_s: 10.0 };
    mark(&mut cells[2], MarkCause::Course(course));
    let unserved = MarkCause::Unserved { never: 9, connections: 100, served_share: None, elsewhere: None };
    mark(&mut cells[1], unserved);
    mark(&mut cells[1], MarkCause::CompletionsPerSlot(9.82));
    cells
}

pub(crate) fn bare_cells() -> Vec<CellAnalysis> {
    let mut cells = vec![
        cell(levels("go-net-http", "0ms", 100), 45_678.0, 0.012, 4_310.0, 17.2),
        cell(levels("go-iris-2016", "0ms", 100), 61_034.0, 0.021, 3_020.0, 14.8),
        cell(levels("go-iris", "0ms", 100), 0.0, 0.0, 0.0, 0.0),
        cell(levels("go-gin", "0ms", 100), 44_950.0, 0.014, 4_520.0, 18.1),
    ];
    cells[1].at_least = true;
    cells[1].generator_busy = Some(0.978);
    let busy = Shortfall::Thread(ThreadNeed { thread: 1, busy: 0.978, starved: 0.0, waited: false });
    mark(&mut cells[1], MarkCause::Limit(LimitCause::AtLeast(busy)));
    let nothing = &mut cells[2];
    (nothing.trials, nothing.void) = (0, 6);
    nothing.throughput = unknown(Unit::RequestsPerS);
    for value in [&mut nothing.latency_us.p50, &mut nothing.latency_us.p90, &mut nothing.latency_us.p99] {
        *value = unknown(Unit::Us);
    }
    nothing.cpu_us_per_request = unknown(Unit::Us);
    nothing.peak_memory_bytes = unknown(Unit::Bytes);
    cells[3].errors = 0.001_3;
    mark(&mut cells[3], failures(274_068, Failure::ResetBeforeReply, 356));
    cells[3].latency_us.p99 = unknown(Unit::Us);
    mark(&mut cells[3], MarkCause::CompletionsPerSlot(21.0));
    let cold = Coldness::FasterBy { share: 0.19, low: 0.13, high: 0.25 };
    cells[3].marks.push(MarkNote::new(MarkCause::Cold(cold)));
    cells
}
