//! What was printed to a file, as far as it is shown.

use std::path::Path;

/// Lines of a target's output that are kept with its failure.
const SHOWN_LINES: usize = 12;

/// Characters of a long line that are kept with it, of its beginning and of its end.
const SHOWN_OF_A_LINE: usize = 200;

/// The last lines of a target's output, of each not more than can be read.
pub(crate) fn tail(output: &Path) -> String {
    let last = last_lines(&text(output), SHOWN_LINES);
    last.lines().map(shortened).collect::<Vec<_>>().join("\n")
}

/// A line whose middle is left out if it is long.
fn shortened(line: &str) -> String {
    let length = line.chars().count();
    if length <= 2 * SHOWN_OF_A_LINE {
        return line.to_owned();
    }
    let start: String = line.chars().take(SHOWN_OF_A_LINE).collect();
    let end: String = line.chars().skip(length - SHOWN_OF_A_LINE).collect();
    format!("{start} … {end}")
}

/// A file's text, as far as it is one; empty where there is none.
pub(crate) fn text(file: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned()
}

/// The last `count` lines of a text.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_middle_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("output");
        std::fs::write(&file, format!("short\na{}b\n", "ä".repeat(5_000))).unwrap();
        let expected = format!("short\na{} … {}b", "ä".repeat(199), "ä".repeat(199));
        assert_eq!(tail(&file), expected);
    }
}
