//! Pieces of GitHub Markdown, in which no text that others wrote is read as anything but text.

use crate::plain;

/// The row of a table.
pub(crate) fn line(cells: &[&str]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// A list.
pub(crate) fn bullets(items: impl Iterator<Item = String>) -> String {
    items.map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}

/// Keeps a text from being read as emphasis, code, a link, an image, HTML, a table's rule, a formula, a mention or a
/// line's end.
pub(crate) fn escape(text: &str) -> String {
    let text = plain::words(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '_' if before.is_alphanumeric() && after.is_alphanumeric() => escaped.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => escaped.extend(['\\', c]),
            '#' | '>' | '+' | '-' | '=' if escaped.is_empty() => escaped.extend(['\\', c]),
            // An empty comment parts what would become a link: a mention, an issue's number, an address.
            '@' | '#' if after.is_alphanumeric() => escaped.extend([&c.to_string(), BREAK]),
            ':' if after == '/' => escaped.extend([":", BREAK]),
            '.' if escaped.ends_with("www") => escaped.extend([BREAK, "."]),
            _ => escaped.push(c),
        }
        before = c;
    }
    escaped
}

/// Lines shown letter by letter, in a fence that is longer than any in them.
pub(crate) fn block(text: &str) -> String {
    let text = plain::words(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

const BREAK: &str = "<!-- -->";

/// Text shown letter by letter, in a fence that is longer than any in the text. Even there a rule would part the cells
/// of a table.
pub(crate) fn code(text: &str) -> String {
    let text = plain::words(text).replace(['\n', '\t'], " ").replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A blank on each side is taken away again by whoever reads it.
    let blank = if longest > 0 || text.is_empty() { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_inside_a_table() {
        assert_eq!(escape("a | b\n<c> * d"), "a \\| b &lt;c> \\* d");
        assert_eq!(line(&["x", &code("y|z * < 1")]), "| x | `y\\|z * < 1` |");
    }

    #[test]
    fn what_others_wrote_makes_no_links_images_mentions_or_code() {
        for (text, escaped) in [
            ("`rm -rf`", "\\`rm -rf\\`"),
            ("[a](http://b)", "\\[a\\](http:<!-- -->//b)"),
            ("![x](y)", "!\\[x\\](y)"),
            ("@all #12 www.b.c", "@<!-- -->all #<!-- -->12 www<!-- -->.b.c"),
            ("&lt;img&gt;", "&amp;lt;img&amp;gt;"),
            ("# title", "\\# title"),
            ("_a_ ~~b~~ $c$ \\d", "\\_a\\_ \\~\\~b\\~\\~ \\$c\\$ \\\\d"),
            ("never_served, 5 - 3, 1 @ 2", "never_served, 5 - 3, 1 @ 2"),
            ("a\u{202e}b\u{1b}c", "a\u{fffd}b␛c"),
        ] {
            assert_eq!(escape(text), escaped, "{text}");
        }
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("p99(a) < 5"), "`p99(a) < 5`");
        assert_eq!(block("a\u{1b}\n```\n"), "````text\na␛\n```\n````");
    }
}
