//! What shows a pathology, what else it is not, and what would overturn it.

use model::{Finding, Pathology, Plateau, counted};

use crate::conditions::conditions;
use crate::format::{duration_us, number, percent};

/// What a reader is to know of a finding, each under its label.
pub(crate) fn parts(finding: &Finding) -> [(&'static str, String); 3] {
    [("seen", seen(finding)), ("ruled out", ruled_out(finding)), ("overturned by", overturned_by(finding.pathology))]
}

fn seen(finding: &Finding) -> String {
    let conditions = conditions(&finding.conditions);
    let with = (!conditions.is_empty()).then(|| format!("conditions: {conditions}"));
    finding.evidence.iter().map(plateau).chain(with).collect::<Vec<_>>().join("; ")
}

fn plateau(seen: &Plateau) -> String {
    format!(
        "{} replies a second at {} and a delay of {}: {} requests at once",
        number(seen.requests_per_s),
        counted(seen.connections, "connection", "connections"),
        duration_us(seen.handler_delay_s * 1e6),
        number(seen.at_once)
    )
}

fn ruled_out(finding: &Finding) -> String {
    let of = &finding.ruled_out;
    format!(
        "a CPU limit, even of one thread: the target used {} of one CPU at most; the generator: its busiest thread was {} \
         busy at most; the ceiling N ÷ S: at most {} of it was reached",
        percent(of.target_cpus),
        percent(of.generator),
        percent(of.ceiling)
    )
}

fn overturned_by(pathology: Pathology) -> String {
    let what = match pathology {
        Pathology::SerialisedHandler => {
            "throughput that grows with N at the same delay, for instance at 1, 2 and 8 connections"
        }
        Pathology::FixedWorkerPool => "requests at once (X·S) that change when N or S is doubled",
    };
    what.to_owned()
}
