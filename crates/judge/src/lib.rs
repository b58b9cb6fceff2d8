//! Decides what the numbers mean: statistics over repeated launches, invariants and marks of a trial, verdicts on
//! claims and comparisons, findings, and the planner that asks for the next block.
//!
//! Everything here is a pure function of a plan and its records: the same records give the same analysis to the
//! bit, in the order of the record: of two records for one launch the later one counts. No file, no socket, no process, no clock.

mod analysis;
mod answer;
mod asked;
mod audit;
mod before;
mod bounds;
mod calibration;
mod cell_launches;
mod cells;
mod choice;
mod claims;
mod comparable;
mod compare;
mod comparisons;
mod course;
mod diagnosis;
mod elapsed;
mod failing;
mod findings;
mod growth;
mod guard;
mod hung;
mod invariants;
mod launch;
mod limit;
mod load;
mod made;
mod marks;
mod memory_slope;
mod needed;
mod others;
mod pair;
mod planner;
mod put_off;
mod rates;
mod records;
mod remarks;
mod resolve;
mod rotation;
mod run_planner;
mod session;
mod shift;
mod silence;
#[cfg(test)]
mod simulation;
mod slices;
mod soak;
pub mod statistics;
mod steps;
mod suspicion;
#[cfg(test)]
mod testing;
pub mod thresholds;
mod timeline;
mod together;
mod trial;
mod turns;

pub use analysis::analyse;
pub use answer::{answer, planner};
pub use audit::audit;
pub use calibration::{CalibrationPlanner, distrust, judge_calibration};
pub use claims::never_enough;
pub use compare::{
    CompareError, Run, Terms, asked_differently, compare_loads, compare_runs, compare_targets, one_server,
};
pub use course::Went;
pub use failing::{answer_is_bad, answer_is_void, is_merely_undecided};
pub use load::judge_load;
pub use planner::{BlockPlanner, blocks_begun, cell_for_twin, cell_for_twin_in_turn, too_few_blocks};
pub use rates::settled_rate;
pub use remarks::{remark, remark_cell};
pub use resolve::{ClaimError, ResolvedClaim, resolve_claim};
pub use rotation::goes_round;
pub use run_planner::RunPlanner;
pub use timeline::timelines;
pub use trial::{TrialJudgement, check_trial};
