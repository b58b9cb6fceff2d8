use std::collections::{BTreeMap, BTreeSet};

use model::{
    AbsentTarget, CURRENT_RUNTIME, Call, Cell, Claim, Draft, Expectation, Factor, ParseError, format_duration,
    parse_duration, parse_expectation,
};

/// A claim whose every metric is known to stand for exactly one cell of the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedClaim {
    /// The test.
    pub expectation: Expectation,
    /// Index into the plan's cells of each call, by the call's byte offset in the test's text.
    pub cells: BTreeMap<usize, usize>,
}

/// Why a claim cannot be tested with the cells of a plan. Offsets are bytes in the claim's `expect`; none where the
/// word stands in its `where`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// The test does not follow the grammar.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// No cell has this target.
    #[error("unknown target `{name}`; the targets are {}", candidates.join(", "))]
    UnknownTarget {
        /// The word.
        name: String,
        /// Where the call begins.
        offset: usize,
        /// The experiment's targets.
        candidates: Vec<String>,
    },
    /// The target was asked for and cannot run here.
    #[error("`{name}` cannot take part here: {reason}")]
    AbsentTarget {
        /// The target.
        name: String,
        /// Where the call begins.
        offset: usize,
        /// What is missing and how to get it.
        reason: String,
    },
    /// The experiment does not vary this factor.
    #[error("this experiment does not vary `{name}`; it varies {}", or_nothing(candidates))]
    UnknownFactor {
        /// The word.
        name: String,
        /// Where the call begins; none for a word of `where`.
        offset: Option<usize>,
        /// The factors that are varied.
        candidates: Vec<String>,
    },
    /// No cell has this level of the factor.
    #[error("unknown level `{level}` of `{factor}`; its levels are {}", candidates.join(", "))]
    UnknownLevel {
        /// The factor.
        factor: String,
        /// The word.
        level: String,
        /// Where the call begins; none for a word of `where`.
        offset: Option<usize>,
        /// The factor's levels.
        candidates: Vec<String>,
    },
    /// Several cells fit, for neither the call nor `where` fixes this factor.
    #[error("`{call}` leaves `{factor}` open; fix it there or in `where` to one of {}", levels.join(", "))]
    FactorLeftOpen {
        /// The factor.
        factor: String,
        /// The call as understood.
        call: String,
        /// Where it begins.
        offset: usize,
        /// The levels among which one must be chosen.
        levels: Vec<String>,
    },
    /// Each level exists, but no cell has all of them.
    #[error("no cell fits `{call}` and the claim's `where`")]
    NoSuchCell {
        /// The call as understood.
        call: String,
        /// Where it begins.
        offset: usize,
    },
}

impl ClaimError {
    /// Byte offset in `expect`; none where the word stands in `where`.
    pub fn offset(&self) -> Option<usize> {
        match self {
            ClaimError::Parse(error) => Some(error.offset),
            ClaimError::UnknownTarget { offset, .. }
            | ClaimError::AbsentTarget { offset, .. }
            | ClaimError::FactorLeftOpen { offset, .. }
            | ClaimError::NoSuchCell { offset, .. } => Some(*offset),
            ClaimError::UnknownFactor { offset, .. } | ClaimError::UnknownLevel { offset, .. } => *offset,
        }
    }

    /// The words that would be right, where one was wrong.
    pub fn candidates(&self) -> Vec<String> {
        match self {
            ClaimError::Parse(error) => error.candidates.iter().map(|word| (*word).to_owned()).collect(),
            ClaimError::UnknownTarget { candidates, .. }
            | ClaimError::UnknownFactor { candidates, .. }
            | ClaimError::UnknownLevel { candidates, .. } => candidates.clone(),
            ClaimError::FactorLeftOpen { levels, .. } => levels.clone(),
            ClaimError::AbsentTarget { .. } | ClaimError::NoSuchCell { .. } => Vec::new(),
        }
    }
}

/// Reads a claim's test and finds the one cell that each of its metrics means: the cell whose levels are the call's
/// target, the call's own levels, and the claim's `where` for the factors that the call leaves open.
///
/// # Errors
/// When the test cannot be read, or a call means no cell or several.
pub fn resolve_claim(plan: &Draft, claim: &Claim) -> Result<ResolvedClaim, ClaimError> {
    let expectation = parse_expectation(&claim.expect)?;
    let mut cells = BTreeMap::new();
    for call in expectation.expression.calls() {
        cells.insert(call.offset, find_cell(plan, &claim.conditions, call)?);
    }
    Ok(ResolvedClaim { expectation, cells })
}

/// A level that a call must have, and where it was written.
struct Wanted<'a> {
    level: String,
    call: Option<&'a Call>,
}

fn find_cell(plan: &Draft, conditions: &Cell, call: &Call) -> Result<usize, ClaimError> {
    let mut wanted: BTreeMap<&str, Wanted> = BTreeMap::new();
    for (factor, level) in &conditions.0 {
        wanted.insert(factor, Wanted { level: canonical(&level.to_string()), call: None });
    }
    for (factor, level) in &call.levels {
        wanted.insert(factor, Wanted { level: level.clone(), call: Some(call) });
    }
    known_target(plan, call, wanted.get(Factor::Runtime.id()).map(|runtime| runtime.level.as_str()))?;
    for (factor, want) in &wanted {
        known_level(plan, factor, want)?;
    }
    let fits = |cell: &Cell| {
        let fixed = |factor: &&str| cell.get(factor).map(ToString::to_string).as_ref() == Some(&wanted[factor].level);
        cell.target() == call.target && wanted.keys().all(fixed)
    };
    let found: Vec<usize> = (0..plan.cells.len()).filter(|index| fits(&plan.cells[*index].levels)).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(ClaimError::NoSuchCell { call: call.to_string(), offset: call.offset }),
        _ => Err(left_open(plan, &found, call)),
    }
}

fn known_target(plan: &Draft, call: &Call, runtime: Option<&str>) -> Result<(), ClaimError> {
    let (name, offset) = (call.target.clone(), call.offset);
    let covers = |absent: &&AbsentTarget| absent.covers(&name, runtime.unwrap_or(CURRENT_RUNTIME));
    Err(match plan.absent.iter().find(covers) {
        Some(absent) => ClaimError::AbsentTarget { name: absent.label(), offset, reason: absent.reason.clone() },
        None if plan.cells.iter().any(|cell| cell.levels.target() == name) => return Ok(()),
        None => ClaimError::UnknownTarget { name, offset, candidates: levels_of(plan, Factor::Target.id()) },
    })
}

fn known_level(plan: &Draft, factor: &str, want: &Wanted) -> Result<(), ClaimError> {
    let offset = want.call.map(|call| call.offset);
    let candidates = levels_of(plan, factor);
    if factor == Factor::Target.id() || candidates.is_empty() {
        let candidates = factors(plan);
        return Err(ClaimError::UnknownFactor { name: factor.to_owned(), offset, candidates });
    }
    if candidates.contains(&want.level) {
        return Ok(());
    }
    Err(ClaimError::UnknownLevel { factor: factor.to_owned(), level: want.level.clone(), offset, candidates })
}

/// The first factor, in the order of the file, in which the cells that fit differ.
fn left_open(plan: &Draft, found: &[usize], call: &Call) -> ClaimError {
    let levels_in = |factor: &str| {
        let levels: Vec<String> =
            found.iter().filter_map(|i| plan.cells[*i].levels.get(factor)).map(ToString::to_string).collect();
        distinct(levels)
    };
    let named = plan.factors.iter().cloned().chain(factors(plan));
    let factor = named.into_iter().find(|factor| levels_in(factor).len() > 1).unwrap_or_default();
    let levels = levels_in(&factor);
    ClaimError::FactorLeftOpen { factor, call: call.to_string(), offset: call.offset, levels }
}

/// The factors of the cells but for the target.
fn factors(plan: &Draft) -> Vec<String> {
    let names: BTreeSet<&str> = plan.cells.iter().flat_map(|cell| cell.levels.factors()).collect();
    names.into_iter().filter(|name| *name != Factor::Target.id()).map(str::to_owned).collect()
}

/// The levels of a factor in the order of the plan, as written.
fn levels_of(plan: &Draft, factor: &str) -> Vec<String> {
    distinct(plan.cells.iter().filter_map(|cell| cell.levels.get(factor)).map(ToString::to_string).collect())
}

fn distinct(words: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    words.into_iter().filter(|word| seen.insert(word.clone())).collect()
}

/// A duration in the form that cells have; other words as they are.
fn canonical(word: &str) -> String {
    parse_duration(word).map_or_else(|_| word.to_owned(), format_duration)
}

fn or_nothing(factors: &[String]) -> String {
    if factors.is_empty() { "nothing but the target".to_owned() } else { factors.join(", ") }
}
