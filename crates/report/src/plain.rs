//! Text that others wrote (names, questions, a server's output), made fit to be shown.

use std::borrow::Cow;

/// Longest word of a text: a name of ten thousand letters must not push everything else out of sight.
const LONGEST_WORD: usize = 200;

/// Longest cell of a table, all of whose rows are as wide as its widest.
const LONGEST_CELL: usize = 80;

/// Replaces each character that acts on a terminal or on the order of a line, instead of being seen, by one that is
/// seen: control characters by their pictures (`␛`), others by `�`. Newlines and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| seen(c) == c) { Cow::Borrowed(text) } else { text.chars().map(seen).collect() }
}

fn seen(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        c if acts(c) => '\u{fffd}',
        c => c,
    }
}

/// Control characters above ASCII, marks of direction, line separators, and what takes no room at all.
pub(crate) fn acts(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is of a writing that runs from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// The text with whatever runs from right to left kept apart (U+2068 to U+2069), for a page or a picture: what stands between two
/// names would change places with them.
pub(crate) fn isolated(text: &str) -> Cow<'_, str> {
    if !text.contains(is_right_to_left) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(is_right_to_left) {
        // As far as words of it follow one another.
        let is_other = |c: char| !is_right_to_left(c) && c != ' ';
        let run = &rest[begin..];
        let run = run[..run.find(is_other).unwrap_or(run.len())].trim_end();
        shown.extend([&rest[..begin], "\u{2068}", run, "\u{2069}"]);
        rest = &rest[begin + run.len()..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// The text with its middle left out where it has more than `most` characters.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= most {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(most * 2 / 3).collect();
    let tail: String = text.chars().skip(length - (most - most * 2 / 3 - 1)).collect();
    Cow::Owned(format!("{head}…{tail}"))
}

/// A text whose every word may be shown.
pub(crate) fn words(text: &str) -> String {
    let is_long = |word: &str| word.chars().nth(LONGEST_WORD).is_some();
    let text = plain(text);
    let word = |part: &str| match part.strip_suffix([' ', '\n', '\t']) {
        Some(word) if is_long(word) => format!("{}{}", shortened(word, LONGEST_WORD), &part[word.len()..]),
        None if is_long(part) => shortened(part, LONGEST_WORD).into_owned(),
        _ => part.to_owned(),
    };
    text.split_inclusive([' ', '\n', '\t']).map(word).collect()
}

/// A text that may be a cell of a table: one line of a bounded length.
pub(crate) fn cell(text: &str) -> String {
    shortened(&plain(text).replace(['\n', '\t'], " "), LONGEST_CELL).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_instead() {
        assert_eq!(plain("a\u{1b}[31mb\r\u{7f}\u{9b}c\u{202e}d\u{2028}"), "a␛[31mb␍␡�c�d�");
        assert_eq!(plain("Zürich ≥ 1\n\tπ 日本"), "Zürich ≥ 1\n\tπ 日本");
    }

    #[test]
    fn what_runs_from_right_to_left_is_kept_apart() {
        assert_eq!(isolated("plain: 48 %"), "plain: 48 %");
        let said = isolated("אבג 48 %, דהו זח: 2 %");
        assert_eq!(said, "\u{2068}אבג\u{2069} 48 %, \u{2068}דהו זח\u{2069}: 2 %");
    }

    #[test]
    fn what_is_too_long_loses_its_middle() {
        assert_eq!(shortened("abcdefghij", 10), "abcdefghij");
        assert_eq!(shortened("abcdefghijk", 10), "abcdef…ijk");
        let long = "x".repeat(10_000);
        assert_eq!(words(&format!("a {long} b")).chars().count(), LONGEST_WORD + 4);
        assert_eq!(cell(&long).chars().count(), LONGEST_CELL);
        assert_eq!(words("a  b\n"), "a  b\n");
    }
}
