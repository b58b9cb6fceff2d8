use model::{Analysis, CompareAnalysis, ComparePlan, Judged};

use crate::analysis::analyse;
use crate::compare::{Run, compare_targets};
use crate::elapsed::time_at_work_s;

/// The answer to what was asked when a run was recorded, which its plan says: a comparison, with its gates, where it is one.
pub fn answer(run: Run<'_>) -> Judged {
    let elapsed_s = time_at_work_s(run.plan, run.trials);
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
