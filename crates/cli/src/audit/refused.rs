//! What is recognised only to be refused: an empty text, our own output, numbers with separators.

use report::format::counted;

use super::number::number;
use crate::experiment::clipped;

/// How lines begin, or what stands in them, in what bourdon itself prints.
const OURS: [&str; 4] = ["service time ", "response time ", "scheduled ", "scheduled_ns,"];

/// Why an empty text is refused, with what to give instead; nothing where there is a text.
pub(super) fn empty(name: &str, text: &str) -> Option<String> {
    let is_stdin = name == super::STDIN;
    let why = if is_stdin { "the command before the pipe printed nothing there" } else { "there is nothing to audit" };
    let cure = "give what the tool printed, as in `wrk --latency URL | bourdon audit -`";
    text.trim().is_empty().then(|| format!("{name} is empty: {why}; {cure}"))
}

/// Why a text of our own is refused: what made it has done the checks already.
pub(super) fn ours(name: &str, text: &str) -> Option<String> {
    let is_ours = |line: &str| OURS.iter().any(|sign| line.starts_with(sign)) || line.contains("interleaved, seed ");
    text.lines().any(|line| is_ours(line.trim_start())).then(|| already(name))
}

/// The same of a document.
pub(super) fn our_document(name: &str, document: &serde_json::Value) -> Option<String> {
    document["schema"].as_str().is_some_and(|schema| schema.starts_with("bourdon.")).then(|| already(name))
}

fn already(name: &str) -> String {
    format!(
        "{name} is output of bourdon itself, which puts its own figures to the same arithmetic before it prints them; give \
         the output of another tool"
    )
}

/// Why a text in which a number has a separator is refused: read as it stands, it would be another number.
pub(super) fn separated(name: &str, text: &str) -> Option<String> {
    text.lines().zip(1..).find_map(|(line, number)| {
        let words = line.split_whitespace().map(|word| word.trim_end_matches([',', ';', '.', ':', ')']));
        // With dots alone it may be an address.
        let words = words.filter(|word| word.contains([',', '\'']));
        let (word, plain) = words.filter_map(|word| Some((word, without_separators(word)?))).next()?;
        Some(format!("{name}:{number}: {}", clipped(&meant(word, &plain))))
    })
}

/// What is wrong with such a number, and what to write.
pub(super) fn meant(word: &str, plain: &str) -> String {
    format!(
        "`{word}` has a separator of thousands or a comma for its decimals; write {plain}, if that is what it means"
    )
}

/// The digits of a row that has too many cells, where two neighbours look like one number that a comma cut in two.
pub(super) fn cut_in_two(row: &str, too_many: u64) -> Option<String> {
    let cells: Vec<&str> = row.split(',').map(str::trim).collect();
    let digits = |cell: &str| !cell.is_empty() && cell.chars().all(|c| c.is_ascii_digit());
    let pair = cells.windows(2).find(|pair| digits(pair[0]) && pair[1].len() == 3 && digits(pair[1]))?;
    let many = counted(too_many, "cell", "cells");
    Some(format!("{many} too many: write {}{}, if that is one number, for a comma ends a cell", pair[0], pair[1]))
}

/// A number that is written with separators of thousands, or a comma for its decimals, as bourdon reads it; none of
/// other text. Whatever unit stands behind it is kept.
pub(super) fn without_separators(word: &str) -> Option<String> {
    let end = word.find(|c: char| !c.is_ascii_digit() && !".,'_ ".contains(c)).unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    let starts_well =
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.ends_with(|c: char| c.is_ascii_digit());
    let is_unit = unit.chars().all(|c| c.is_alphabetic() || "/%".contains(c));
    let plain = if starts_well && is_unit && number(digits).is_none() { plain(digits)? } else { return None };
    number(&plain).map(|_| format!("{plain}{unit}"))
}

fn plain(digits: &str) -> Option<String> {
    let marks: Vec<char> = digits.chars().filter(|c| !c.is_ascii_digit()).collect();
    let last = *marks.last()?;
    let behind = digits.len() - digits.rfind(last)? - 1;
    // The last mark is that of the decimals unless it is there again, or three digits follow and no other mark says more.
    let is_decimal = ".,".contains(last)
        && marks.iter().filter(|mark| **mark == last).count() == 1
        && (marks.len() > 1 || last == '.' || behind != 3);
    let (whole, decimals) = if is_decimal { digits.rsplit_once(last)? } else { (digits, "") };
    let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
    let is_grouped = groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    let point = if is_decimal { "." } else { "" };
    (groups.len() == 1 || is_grouped).then(|| format!("{}{point}{decimals}", groups.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_separators_are_told_from_others() {
        for (written, meant) in [
            ("1,000", "1000"),
            ("45,913.24", "45913.24"),
            ("1.000,5", "1000.5"),
            ("1.000.000", "1000000"),
            ("1'000", "1000"),
            ("1 000", "1000"),
            ("12,5ms", "12.5ms"),
            ("1,000/s", "1000/s"),
        ] {
            assert_eq!(without_separators(written).as_deref(), Some(meant), "{written}");
        }
        for other in
            ["1000", "1.5", "1.5ms", "127.0.0.1:80", "127.0.0.1", "", ",", "1,", "x,1", "10,20:30", "2026-11-22"]
        {
            assert_eq!(without_separators(other), None, "{other}");
        }
    }
}
