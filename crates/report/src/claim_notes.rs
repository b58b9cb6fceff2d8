//! What is to be known of a claim's verdict, a sentence each.

use model::{Cell, ClaimAnalysis, ClaimDoubt, ClaimNote, ClaimVerdict, Metric, NeverEnough, Unit, counted};

use crate::conditions::conditions;
use crate::format::{decimals, number, percent, quantity, thousands};
use crate::mark_words::{base_words, cold_words};
use crate::withheld::{asked_runtime, failing, pauses, unanswered};
use crate::words::bracketed;

const NARROW: &str = "the interval may be too narrow";

/// What is to be known of a claim's verdict.
pub fn claim_notes(claim: &ClaimAnalysis) -> Vec<String> {
    claim.notes.iter().map(|note| note_words(note, claim)).collect()
}

/// Why a claim cannot be tested: `a p99 needs 368 requests per launch, and at most 111 are possible`.
pub fn never_enough_words(NeverEnough { metric, needed, most }: NeverEnough) -> String {
    format!("a {metric} needs {} requests per launch, and at most {} are possible", thousands(needed), thousands(most))
}

fn note_words(note: &ClaimNote, claim: &ClaimAnalysis) -> String {
    match note {
        ClaimNote::Unfinished { measured, asked } => {
            format!("no verdict yet: {measured} of {asked} blocks are complete")
        }
        ClaimNote::LowRate { server, target, per_s } => {
            format!("the rate of {} may be a smaller share of capacity: {}", place(server), base_words(target, *per_s))
        }
        ClaimNote::FewBlocks { used, needed } => {
            format!("preliminary: {}, {needed} are needed", counted((*used).into(), "block", "blocks"))
        }
        ClaimNote::Unused { blocks, of } => format!(
            "{blocks} of {of} blocks are not used: a launch is void or missing, or a figure could not be estimated"
        ),
        ClaimNote::Unanswered { server, launches, of } => format!(
            "no verdict: {} gave no correct reply in {}, and leaving those out would favour it",
            place(server),
            launches_of(*launches, *of)
        ),
        ClaimNote::Cold { servers, quick } => {
            let cold = |(server, cold): &(Cell, _)| format!("{}: {}", place(server), cold_words(*cold));
            let decides = if *quick { "the full form" } else { "a longer warm-up" };
            format!("cold here: {decides} decides ({})", joined(servers.iter().map(cold)))
        }
        ClaimNote::TakenBack { verdict, because } => {
            let but = if *verdict == ClaimVerdict::Inconclusive { "and" } else { "but" };
            format!("{} by the figures alone, {but} {}", verdict.words(), joined(because.iter().map(doubt_words)))
        }
        ClaimNote::Doubt(doubt) => doubt_words(doubt),
        ClaimNote::NoFailure { server, requests, most_share } => {
            // How small it is, is what it says.
            let (most, requests) = (number(most_share * 100.0), thousands(*requests));
            format!("no failure in {requests} requests of {}: the share is at most {most} %", place(server))
        }
        ClaimNote::FewCores(cores) => {
            format!("the claim is about {} cores; the machine of this run has {}", cores.about, cores.here)
        }
        ClaimNote::Reconstruction(target) => reconstruction(target, claim),
        ClaimNote::Drift { change, unit } => drift(*change, *unit),
        ClaimNote::Correlated { correlation } => correlated(*correlation),
        ClaimNote::FewRequests { metric, server, needed, least, launches, of } => {
            let ([needed, least], launches) = ([needed, least].map(|of| thousands(*of)), launches_of(*launches, *of));
            format!(
                "a {metric} needs {needed} requests per launch; {} had fewer in {launches} ({least})",
                place(server)
            )
        }
        ClaimNote::FewCollections { server, needed, least, launches, of } => format!(
            "a p99 in slices needs {needed} garbage collections within each launch's slices; of {} fewer are known in {} \
             ({least})",
            place(server),
            launches_of(*launches, *of)
        ),
        ClaimNote::Lost { metric, server, launches, of } => format!(
            "the {metric} of {} is not known: more requests failed than lie above it, in {}",
            place(server),
            launches_of(*launches, *of)
        ),
        ClaimNote::Absent { target, reason } => format!("`{target}` cannot take part here: {reason}"),
        ClaimNote::Unfit(error) => format!("the claim does not fit the plan: {error}"),
        ClaimNote::Said(text) => text.clone(),
    }
}

fn drift(change: f64, unit: Unit) -> String {
    let change = quantity(change, unit);
    format!("the value drifts over the session, by {change} from first to last block: {NARROW}")
}

fn correlated(correlation: f64) -> String {
    format!("neighbouring blocks resemble each other (lag-1 correlation {}): {NARROW}", decimals(correlation, 2))
}

fn doubt_words(doubt: &ClaimDoubt) -> String {
    match doubt {
        ClaimDoubt::Generator { server, metric } => {
            let bound = if *metric == Metric::Throughput { "a lower bound" } else { "an upper bound" };
            let metric = metric.words();
            format!("the generator may have been the limit for {}, so its {metric} is only {bound}", place(server))
        }
        ClaimDoubt::Ceiling { server } => {
            format!("{} did all that the handler delay allows: it may be faster than that", place(server))
        }
        ClaimDoubt::Edges { server, share } => format!(
            "requests of {} that crossed an edge of their window can shift the figure by {}: few came for each \
             connection, or some took far longer than others",
            place(server),
            percent(*share)
        ),
        ClaimDoubt::Unfinished { server, metric } => unfinished(server, *metric),
        ClaimDoubt::Warming { server, gain } => format!(
            "{} was still getting faster, so a longer warm-up gives other figures ({})",
            place(server),
            cold_words(*gain)
        ),
        ClaimDoubt::Lateness { server, metric } => {
            format!("the {} of {} is the generator's as much as the server's", metric.words(), place(server))
        }
        ClaimDoubt::Noise { server, launches, of, unbounded } => {
            let why = noise_words(*unbounded);
            format!("the machine was busy in {} of {}, {why}", launches_of(*launches, *of), place(server))
        }
        ClaimDoubt::Spill { server, cpus } => format!(
            "others used up to {} of a CPU during slices of {}, which could explain the result",
            percent(*cpus),
            place(server)
        ),
        ClaimDoubt::PutOff { server, share } => format!(
            "{} used {} of its CPU time outside its own slices, and it is unclear whether its requests caused that",
            place(server),
            percent(share / (1.0 + share))
        ),
        ClaimDoubt::Waking { server, share, waited } => waking(server, *share, *waited),
        ClaimDoubt::Pauses { server } => pauses(&place(server)),
        ClaimDoubt::BetweenLooks { server } => between_looks(server),
        ClaimDoubt::AskedRuntime { server } => asked_runtime(&place(server)),
        ClaimDoubt::Unwaited { server } => unwaited(server),
        ClaimDoubt::SharedMemory { server, metric } => shared_memory(server, *metric),
        ClaimDoubt::Rounds { server, launches, of } => format!(
            "busy rounds were left out in {} of {}, and including them changes the result",
            launches_of(*launches, *of),
            place(server)
        ),
        ClaimDoubt::Failing { server } => failing(&place(server)),
        ClaimDoubt::Wrong { server } => format!("replies of {} had wrong content", place(server)),
        ClaimDoubt::Unanswered { server } => unanswered(&place(server)),
        ClaimDoubt::Unserved { server, launches } => {
            format!("{} served nothing in {}", place(server), counted(*launches, "launch", "launches"))
        }
        ClaimDoubt::Stopped { server, launches } => {
            format!("{} stopped answering in {}", place(server), counted(*launches, "launch", "launches"))
        }
    }
}

/// Of what its requests cost and of what they waited the larger share is told.
fn waking(server: &Cell, share: f64, waited: f64) -> String {
    let server = place(server);
    let took = match waited > share {
        true => format!(
            "waking {server} before its slices made requests wait longer, by {} of the total waiting in its slices",
            percent(waited)
        ),
        false => format!(
            "waking {server} before its slices took {} of its CPU time on top of the cost of its requests",
            percent(share / (1.0 + share))
        ),
    };
    format!("{took}; it is unclear whether that would also happen without rotation")
}

fn shared_memory(server: &Cell, metric: Metric) -> String {
    format!(
        "memory that {} shares with other processes is only partly counted, so its {} may be higher",
        place(server),
        metric.words()
    )
}

fn between_looks(server: &Cell) -> String {
    format!("the memory of {} may have peaked between two samples, by enough to change the verdict", place(server))
}

fn unwaited(server: &Cell) -> String {
    let server = place(server);
    format!("child processes of {server} may have exited without being reaped; their CPU time is not counted")
}

fn unfinished(server: &Cell, metric: Metric) -> String {
    let bound = if metric.more_is_better() { "an upper bound" } else { "a lower bound" };
    format!("the {} of {} is only {bound}: requests were still unfinished", metric.words(), place(server))
}

fn noise_words(unbounded: Option<Metric>) -> String {
    match unbounded {
        None => "and that alone could have changed the verdict".to_owned(),
        Some(metric) => format!("and there is no limit to how much that can change its {}", metric.words()),
    }
}

fn reconstruction(target: &str, claim: &ClaimAnalysis) -> String {
    match (claim.verdict, claim.not_refuted) {
        (ClaimVerdict::Supported, _) => format!("shown for the reconstruction {target}, not for the original code"),
        (ClaimVerdict::Contradicted, None) => {
            format!("contradicted by the reconstruction {target}, not by the original code")
        }
        _ => format!("{target} is a reconstruction, not the original code"),
    }
}

/// `go-gin`, `go-gin (100 connections)`.
fn place(server: &Cell) -> String {
    format!("{}{}", server.target(), bracketed(&conditions(server)))
}

fn launches_of(launches: u64, of: u64) -> String {
    format!("{launches} of {}", counted(of, "launch", "launches"))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ")
}
