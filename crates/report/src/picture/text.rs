//! How much room a text takes. Whoever looks has fonts of their own, so that is estimated on the wide side.

use std::borrow::Cow;

use crate::plain::plain;

/// Size of the letters.
pub(crate) const SIZE: f64 = 13.0;
/// Size of small ones.
pub(crate) const SMALL: f64 = 12.0;
/// From one line of text to the next.
pub(crate) const LINE: f64 = 18.0;

/// Units that a text takes at this size of letters.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// A character's width as a share of the size of the letters.
fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '[' | ']' | ' ' => 0.36,
        'f' | 'r' | 't' | '-' | '/' | '"' | '`' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.95,
        'A'..='Z' | '≥' | '±' | '<' | '>' | '=' | '+' | '&' => 0.72,
        // Writing in which a character is as wide as it is high.
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 1.05,
        _ => 0.6,
    }
}

/// A text in one line of so many units, its middle left out where it is longer.
pub(crate) fn fit(text: &str, units: f64, size: f64) -> String {
    let text = plain(text).replace(['\n', '\t'], " ");
    if width(&text, size) <= units {
        return text;
    }
    // Of ten thousand characters few are worth a look.
    let mut most = text.chars().count().min((units / (0.36 * size)) as usize + 1);
    loop {
        match crate::shortened(&text, most) {
            Cow::Owned(shown) if most <= 2 || width(&shown, size) <= units => return shown,
            Cow::Borrowed(_) if most <= 2 => return text,
            _ => most -= 1,
        }
    }
}

/// A text in lines of so many units, so many at most: the last one is shortened.
pub(crate) fn lines(text: &str, units: f64, size: f64, most: usize) -> Vec<String> {
    let text = plain(text);
    let mut words = text.split_whitespace().peekable();
    let mut lines = Vec::new();
    while words.peek().is_some() && lines.len() + 1 < most {
        let mut line = fit(words.next().unwrap_or_default(), units, size);
        while let Some(word) = words.next_if(|word| width(&format!("{line} {word}"), size) <= units) {
            line = format!("{line} {word}");
        }
        lines.push(line);
    }
    let rest: Vec<&str> = words.collect();
    if !rest.is_empty() {
        lines.push(fit(&rest.join(" "), units, size));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_shortened_to_its_room() {
        assert_eq!(fit("short\nname", 200.0, SIZE), "short name");
        let long = fit(&"x".repeat(10_000), 100.0, SIZE);
        assert!(long.contains('…') && width(&long, SIZE) <= 100.0, "{long}");
        assert!(width(&fit(&"長".repeat(100), 100.0, SIZE), SIZE) <= 100.0);
        assert!(fit("a\u{202e}b", 100.0, SIZE).contains('\u{fffd}'));
    }

    #[test]
    fn lines_break_between_words_and_end_in_time() {
        assert_eq!(lines("one two three", 60.0, SIZE, 9), ["one two", "three"]);
        let two = lines("one two three four five six seven", 60.0, SIZE, 2);
        assert!(two.len() == 2 && two[1].contains('…'), "{two:?}");
        assert!(lines(" \n", 60.0, SIZE, 3).is_empty());
    }
}
