use crate::plain;

/// How a text is laid out for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours are used.
    pub colour: bool,
    /// Columns of the terminal; 100 suits a file.
    pub width: usize,
    /// Whether footnotes are wanted too: why a figure is missing, what a row is about.
    pub verbose: bool,
}

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Unsure,
}

impl Tint {
    fn code(self) -> &'static str {
        match self {
            Tint::Plain => "",
            Tint::Bold => "\u{1b}[1m",
            Tint::Dim => "\u{1b}[2m",
            Tint::Good => "\u{1b}[32m",
            Tint::Bad => "\u{1b}[1;31m",
            Tint::Unsure => "\u{1b}[33m",
        }
    }
}

const RESET: &str = "\u{1b}[0m";
const BAR: &str = "\u{1b}[36m";
/// A text is not squeezed below this, however narrow the terminal says it is.
const LEAST_WIDTH: usize = 40;

/// Lines of text under a style. Colour is added after wrapping, so that it never moves anything, and after everything
/// that others wrote was made plain, so that it is the only thing that acts on a terminal.
pub(crate) struct Page {
    style: Style,
    text: String,
}

impl Page {
    pub(crate) fn new(style: Style) -> Self {
        Self { style: Style { width: style.width.max(LEAST_WIDTH), ..style }, text: String::new() }
    }

    pub(crate) fn width(&self) -> usize {
        self.style.width
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.style.verbose
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// An empty line between two parts, never two in a row nor one at the top.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// One line as it is.
    pub(crate) fn line(&mut self, tint: Tint, text: &str) {
        let painted = self.paint(tint, plain::words(text).trim_end());
        self.raw(&painted);
    }

    fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A text wrapped to the width, each line after `indent` blanks.
    pub(crate) fn paragraph(&mut self, indent: usize, tint: Tint, text: &str) {
        for line in wrap(&plain::words(text), self.style.width.saturating_sub(indent)) {
            self.line(tint, &format!("{:indent$}{line}", ""));
        }
    }

    /// A label in its own column, and a text wrapped in the column after it.
    pub(crate) fn entry(&mut self, indent: usize, label: (Tint, &str), label_width: usize, text: &str) {
        let (tint, word) = label;
        let (word, text) = (&*plain::cell(word), plain::words(text));
        let column = indent + label_width.max(length(word)) + 2;
        let mut lines = wrap(&text, self.style.width.saturating_sub(column)).into_iter();
        let first = lines.next().unwrap_or_default();
        let gap = if first.is_empty() { 0 } else { column - indent - length(word) };
        let painted = self.paint(tint, word);
        self.text.push_str(&format!("{:indent$}{painted}{:gap$}{first}\n", "", ""));
        for line in lines {
            self.text.push_str(&format!("{:column$}{line}\n", ""));
        }
    }

    /// The lines of a table, the first of which is its header; bars get their colour.
    pub(crate) fn table(&mut self, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            if index == 0 {
                self.line(Tint::Bold, line);
            } else {
                let line = plain::plain(line);
                let coloured = if self.style.colour { colour_bar(&line) } else { line.into_owned() };
                self.raw(coloured.trim_end());
            }
        }
    }

    fn paint(&self, tint: Tint, text: &str) -> String {
        if !self.style.colour || tint == Tint::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("{}{text}{RESET}", tint.code())
    }
}

fn colour_bar(line: &str) -> String {
    let is_bar = |c: char| ('█'..='▏').contains(&c);
    let Some(start) = line.find(is_bar) else { return line.to_owned() };
    let end = line.rfind(is_bar).map_or(start, |at| at + '█'.len_utf8());
    format!("{}{BAR}{}{RESET}{}", &line[..start], &line[start..end], &line[end..])
}

/// A bar of at most `cells` cells for a share of 0 to 1, to an eighth of a cell; never empty.
pub(crate) fn bar(share: f64, cells: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize).max(1);
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

/// Columns that a text takes; everything bourdon prints is one column a character.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// A blank at which no line is broken; printed as any other.
const FIXED_BLANK: &str = "\u{a0}";

/// The text as one word.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', FIXED_BLANK)
}

/// Breaks a text at blanks so that no line is longer than `width` unless a word is.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.replace(FIXED_BLANK, " ")).collect()
}

/// Parts joined on as few lines as hold them; a part is broken only when it is longer than a line.
pub(crate) fn join(parts: &[String], separator: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if length(line) + length(separator) + length(part) <= width => {
                line.push_str(separator);
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines.iter().flat_map(|line| wrap(line, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_resolve_an_eighth_of_a_cell_and_are_never_empty() {
        for (share, text) in [(1.0, "████"), (0.5, "██"), (0.53125, "██▏"), (0.0001, "▏"), (7.0, "████")]
        {
            assert_eq!(bar(share, 4), text, "{share}");
        }
    }

    #[test]
    fn text_is_wrapped_at_blanks_and_long_words_are_kept_whole() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("unbreakable is", 4), ["unbreakable", "is"]);
        assert_eq!(wrap(&format!("{} b", unbroken("x 1")), 4), ["x 1", "b"]);
        assert!(wrap("", 10).is_empty());
        let parts = ["one".to_owned(), "two".to_owned(), "three four five".to_owned()];
        assert_eq!(join(&parts, " · ", 10), ["one · two", "three four", "five"]);
    }

    #[test]
    fn colour_moves_nothing() {
        let write = |colour| {
            let mut page = Page::new(Style { colour, width: 40, verbose: false });
            page.line(Tint::Bold, "Title");
            page.gap();
            page.gap();
            page.entry(2, (Tint::Good, "supported"), 12, "a text that is long enough to be wrapped once");
            page.table(&["name".to_owned(), "a  ██▏  1".to_owned()]);
            page.finish()
        };
        let coloured = write(true);
        assert!(coloured.contains("\u{1b}[36m██▏\u{1b}[0m  1"));
        let mut plain = coloured;
        for code in [RESET, BAR, Tint::Bold.code(), Tint::Good.code()] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, write(false));
    }
}
