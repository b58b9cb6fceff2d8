use model::{Analysis, CompareAnalysis, ComparePlan, Diagnosis, Judged, Plan, Planner, Soak};

use crate::analysis::analyse;
use crate::compare::{Run, compare_targets};
use crate::diagnosis::{DiagnosisPlanner, diagnose};
use crate::elapsed::time_at_work_s;
use crate::run_planner::RunPlanner;
use crate::soak::{SoakPlanner, soak};

/// The answer to what was asked when a run was recorded, which its plan says: a comparison, with its gates, where it is one.
pub fn answer(run: Run<'_>) -> Judged {
    let elapsed_s = time_at_work_s(run.plan, run.trials);
    if let Some(diagnosis) = diagnose(run) {
        return Judged::Diagnosis(Box::new(Diagnosis { elapsed_s, ..diagnosis }));
    }
    if let Some(soak) = soak(run) {
        return Judged::Soak(Box::new(Soak { elapsed_s, ..soak }));
    }
    match &run.plan.comparison {
        Some(ComparePlan { old, new, gates, .. }) => {
            let analysis = CompareAnalysis { elapsed_s, ..compare_targets(run, old, new, gates) };
            Judged::Comparison(Box::new(analysis))
        }
        None => {
            let analysis = analyse(run.plan, run.environment, run.trials);
            Judged::Run(Box::new(Analysis { elapsed_s, ..analysis }))
        }
    }
}

/// What decides what a run measures next: what was asked when its plan was made.
pub fn planner(plan: &Plan) -> Box<dyn Planner> {
    if plan.soak.is_some() {
        return Box::new(SoakPlanner::new(plan));
    }
    match &plan.diagnosis {
        Some(_) => Box::new(DiagnosisPlanner::new(plan)),
        None => Box::new(RunPlanner::new(plan)),
    }
}
