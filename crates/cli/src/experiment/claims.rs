//! `[[claim]]`: published statements, each tried against the cells before anything starts.

use std::collections::BTreeMap;

use judge::{ClaimError, ResolvedClaim, never_enough, resolve_claim};
use model::{Call, Cell, CellPlan, Claim, Draft, Expression, Metric};

use super::Machine;
use super::diagnostic::{Fault, Read, Span};
use super::factor::TARGET;
use super::roster::Roster;
use super::section::{Item, Section};
use super::vary::Vary;

const KEYS: [&str; 9] =
    ["name", "says", "where", "published", "published_value", "expect", "answers", "needs", "cores"];

/// A text that says something.
fn sentence(item: Item) -> Read<String> {
    let text = item.text()?.trim();
    if text.is_empty() {
        return Err(item.fault("this says nothing").help("write a sentence, or leave it out"));
    }
    Ok(text.to_owned())
}

/// What claims are read against: the plan with every cell of the file, and these cells in the full form.
#[derive(Debug)]
pub(super) struct Court<'a> {
    pub(super) text: &'a str,
    pub(super) full: &'a Draft,
    pub(super) full_form: &'a [CellPlan],
    pub(super) vary: &'a Vary,
    pub(super) roster: &'a Roster<'a>,
    pub(super) machine: Machine,
}

impl Court<'_> {
    /// Reads every claim, each with the cells of the full plan that it needs.
    pub(super) fn claims(&self, sections: &[Section]) -> Read<Vec<(Claim, ResolvedClaim)>> {
        let mut claims: Vec<(Claim, ResolvedClaim)> = Vec::new();
        for section in sections {
            let (claim, resolved) = self.claim(section)?;
            if claims.iter().any(|(known, _)| known.name == claim.name) {
                let item = section.require("name", "")?;
                return Err(item.fault(format!("two claims are named `{}`", claim.name)).help("choose another name"));
            }
            claims.push((claim, resolved));
        }
        Ok(claims)
    }

    fn claim(&self, section: &Section) -> Read<(Claim, ResolvedClaim)> {
        section.only(&KEYS)?;
        let name = section.require("name", "give it a short name: `name = \"…\"`")?.text()?.to_owned();
        let says = section.require("says", "quote the statement: `says = \"…\"`")?.text()?.to_owned();
        let expect = section.require("expect", "write the test: `expect = \"throughput(a) / throughput(b) < 0.5\"`")?;
        let conditions = section.read("where", |item| item.section("`where`"))?;
        let conditions_of = |section: &Section| self.conditions(section);
        let needed = section.read("needs", needed_cores)?.unwrap_or(1);
        let mut claim = Claim {
            name,
            says,
            conditions: conditions.as_ref().map(conditions_of).transpose()?.unwrap_or_default(),
            published: section.read("published", published)?.unwrap_or_default(),
            published_value: section.read("published_value", |item| item.number())?,
            expect: expect.text()?.to_owned(),
            answers: section.read("answers", |item| sentence(item))?,
            cores: section.read("cores", |item| cores(item, needed))?,
            not_testable: self.unmet(needed),
        };
        let resolved =
            resolve_claim(self.full, &claim).map_err(|error| self.fault(&error, expect, conditions.as_ref()))?;
        if resolved.cells.is_empty() {
            let fault = expect.fault("the test names no metric");
            return Err(fault.help("write for instance `throughput(target) > 1000`"));
        }
        self.check_profiles(&resolved, expect)?;
        self.check_units(&resolved, expect)?;
        self.check_sample(&resolved, expect)?;
        claim.published_value = claim.published_value.or_else(|| published_ratio(&claim, &resolved));
        Ok((claim, resolved))
    }

    /// Refuses the share of a profile where none is taken, or where no function is named.
    fn check_profiles(&self, resolved: &ResolvedClaim, expect: Item) -> Read<()> {
        let calls = resolved.expectation.expression.calls();
        for call in calls.into_iter().filter(|call| call.metric == Metric::ProfileShare) {
            let profiled = resolved.cells.get(&call.offset).is_some_and(|cell| self.full.cells[*cell].profile);
            let fault = match (profiled, self.full.profile_functions.is_empty()) {
                (true, false) => continue,
                (true, true) => expect
                    .fault("no function is named whose share of the profile this is")
                    .help("add `[profile]` with `functions = [\"futex\"]`: words that their names contain"),
                (false, _) => expect
                    .fault("no profile is taken in a cell that the test needs")
                    .help("write `profile = [false, true]` in [vary], and `profile = true` in the test"),
            };
            return Err(fault);
        }
        Ok(())
    }

    /// Refuses a bare number that stands for a time or a size: `50` is easily meant as milliseconds.
    fn check_units(&self, resolved: &ResolvedClaim, expect: Item) -> Read<()> {
        let Some(bare) = resolved.expectation.bare else { return Ok(()) };
        let span = expect.span_within(self.text, bare.offset..bare.offset + bare.length);
        Err(Fault::new(span, "this number has no unit").help(format!("write for instance `{}`", bare.example)))
    }

    /// Refuses a quantile that a launch of the full form can never have.
    fn check_sample(&self, resolved: &ResolvedClaim, expect: Item) -> Read<()> {
        let Some((call, reason)) = short_of_requests(resolved, self.full_form) else { return Ok(()) };
        let text = expect.any_text().unwrap_or_default();
        let end =
            text.get(call.offset..).and_then(|rest| rest.find(')')).map_or(text.len(), |end| call.offset + end + 1);
        let fault = Fault::new(expect.span_within(self.text, call.offset..end), reason);
        Err(fault.help("ask for a longer `window`, more `connections` or a higher `rate`, or for a lower quantile"))
    }

    /// Reads `where`: the levels are read as `[vary]` reads them.
    fn conditions(&self, section: &Section) -> Read<Cell> {
        let mut levels = BTreeMap::new();
        for item in section.items() {
            if item.name() == TARGET {
                let fault = Fault::new(item.key_span(), "`where` fixes no target");
                return Err(fault.help("each metric of `expect` names its own: `throughput(target)`"));
            }
            let Some(kind) = self.vary.kind(item.name()) else { return Err(self.not_varied(item)) };
            levels.insert(item.name().to_owned(), kind.read(*item)?.value.level());
        }
        Ok(Cell(levels))
    }

    fn not_varied(&self, item: &Item) -> Fault {
        let names: Vec<String> = self.vary.names().into_iter().filter(|name| name != TARGET).collect();
        let varies = if names.is_empty() { "nothing but the target".to_owned() } else { names.join(", ") };
        Fault::new(item.key_span(), format!("this experiment does not vary `{}`", item.name()))
            .nearest(item.name(), &names)
            .help(format!("it varies {varies}"))
    }

    /// Why the machine is too small, when it is.
    fn unmet(&self, needed: u32) -> Option<String> {
        let here = self.machine.cpus;
        (needed > here).then(|| format!("needs {needed} cores; this machine has {here}"))
    }

    fn fault(&self, error: &ClaimError, expect: Item, conditions: Option<&Section>) -> Fault {
        let text = expect.any_text().unwrap_or_default();
        let (span, word) = match place(text, error) {
            Some(bytes) => {
                let word = text.get(bytes.clone()).unwrap_or_default();
                (expect.span_within(self.text, bytes), word.rsplit("= ").next().unwrap_or(word).to_owned())
            }
            None => in_where(error, conditions).unwrap_or_else(|| (expect.span(), String::new())),
        };
        let fault = Fault::sentence(span, &error.to_string());
        match error {
            ClaimError::FactorLeftOpen { .. } => fault,
            ClaimError::NoSuchCell { .. } => fault.help("add the combination to [vary], or fix other levels"),
            ClaimError::Parse(error) if error.candidates.is_empty() => {
                fault.help("a test is like `throughput(a) / throughput(b) < 0.5`")
            }
            ClaimError::Parse(error) => {
                fault.nearest(&word, &error.candidates).help(format!("write one of {}", error.candidates.join(", ")))
            }
            ClaimError::UnknownTarget { name, .. } if self.roster.names().contains(name) => {
                fault.help(format!("to test it, add `{name}` to `target` in [vary]"))
            }
            _ => fault.nearest(&word, error.candidates()),
        }
    }
}

/// Why a claim cannot be tested with these cells, those of the quick form: launches have too few requests for a quantile.
pub(super) fn too_quick(resolved: &ResolvedClaim, cells: &[CellPlan]) -> Option<String> {
    short_of_requests(resolved, cells).map(|(_, reason)| format!("too little in the quick form: {reason}"))
}

/// The first quantile of a test for which its cell has too few requests, with the reason.
fn short_of_requests<'a>(resolved: &'a ResolvedClaim, cells: &[CellPlan]) -> Option<(&'a Call, String)> {
    resolved.expectation.expression.calls().into_iter().find_map(|call| {
        let cell = cells.get(*resolved.cells.get(&call.offset)?)?;
        Some((call, report::never_enough_words(never_enough(cell, call.metric)?)))
    })
}

/// Reads `needs`: the cores without which a claim is not tested.
fn needed_cores(item: Item) -> Read<u32> {
    let section = item.section("`needs`")?;
    section.only(&["cores"])?;
    Ok(section.read("cores", |item| item.small(1, "8"))?.unwrap_or(1))
}

/// Reads `cores`: how many the statement is about. Of a claim that is not tested on fewer it would say nothing.
fn cores(item: Item, needed: u32) -> Read<u32> {
    let cores = item.small(1, "8")?;
    if needed > 1 && cores <= needed {
        let fault = item.fault(format!("`cores` has no effect: with fewer than {needed} the claim is not tested"));
        return Err(fault.help("leave out `cores`, or `needs`"));
    }
    Ok(cores)
}

/// The published figures by target or label.
fn published(item: Item) -> Read<BTreeMap<String, f64>> {
    let section = item.section("`published`")?;
    section.items().iter().map(|item| Ok((item.name().to_owned(), item.number()?))).collect()
}

/// The published value of `m(a) / m(b)`, where a figure is given for either target.
fn published_ratio(claim: &Claim, resolved: &ResolvedClaim) -> Option<f64> {
    let Expression::Binary('/', left, right) = &resolved.expectation.expression else { return None };
    let (Expression::Metric(a), Expression::Metric(b)) = (&**left, &**right) else { return None };
    let ratio = claim.published.get(&a.target)? / claim.published.get(&b.target)?;
    (a.metric == b.metric && a.target != b.target && ratio.is_finite()).then_some(ratio)
}

/// The level of `where` that an error is about, and the level as it is written in cells.
fn in_where(error: &ClaimError, conditions: Option<&Section>) -> Option<(Span, String)> {
    let ClaimError::UnknownLevel { factor, level, .. } = error else { return None };
    Some((conditions?.get(factor)?.span(), level.clone()))
}

/// The bytes of the test that an error is about.
fn place(expect: &str, error: &ClaimError) -> Option<Span> {
    let offset = error.offset()?;
    let rest = expect.get(offset..)?;
    let call = offset..offset + rest.find(')').map_or(rest.len(), |end| end + 1);
    let words = call.start + rest.find('(').unwrap_or(0)..call.end;
    match error {
        ClaimError::Parse(error) => Some(offset..(offset + error.length).min(expect.len().max(offset))),
        ClaimError::UnknownTarget { name, .. } | ClaimError::AbsentTarget { name, .. } => find(expect, words, name),
        ClaimError::UnknownFactor { name, .. } => find(expect, words, name),
        ClaimError::UnknownLevel { factor, .. } => {
            let found = find(expect, words.clone(), factor)?;
            let end = expect.get(found.start..words.end)?.find([',', ')'])?;
            Some(found.start..found.start + end)
        }
        ClaimError::FactorLeftOpen { .. } | ClaimError::NoSuchCell { .. } => Some(call),
    }
}

fn find(text: &str, range: Span, word: &str) -> Option<Span> {
    let start = range.start + text.get(range)?.find(word)?;
    Some(start..start + word.len())
}
