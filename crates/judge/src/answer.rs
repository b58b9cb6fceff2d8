use model::{Analysis, CompareAnalysis, ComparePlan, Judged};

use crate::analysis::analyse;
use crate::compare::{Run, compare_targets};

/// The answer to what was asked when a run was recorded, which its plan says: a comparison, with its gates, where it is one.
/// `elapsed_s` is the wall time during which it was at work; see [`crate::time_at_work_s`].
pub fn answer(run: Run<'_>, elapsed_s: Option<f64>) -> Judged {
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
