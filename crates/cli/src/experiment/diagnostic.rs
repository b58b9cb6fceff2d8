//! What is wrong with a file, where, and the cure.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::exit::Failure;
use crate::output::colour_on_stderr;

/// Bytes of a text.
pub(crate) type Span = Range<usize>;

/// The result of reading a part of a file.
pub(super) type Read<T> = Result<T, Fault>;

/// What is wrong, before it is known in which file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    span: Span,
    message: String,
    helps: Vec<String>,
    command_line: Option<String>,
}

impl Fault {
    /// Something wrong at a place of the file.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Fault { span, message: message.into(), helps: Vec::new(), command_line: None }
    }

    /// Something wrong with an argument, given here as it was typed.
    pub(super) fn of_argument(typed: String, span: Span, message: impl Into<String>) -> Self {
        Fault { command_line: Some(typed), ..Fault::new(span, message) }
    }

    /// From a sentence `what is wrong; the cure`.
    pub(super) fn sentence(span: Span, text: &str) -> Self {
        match text.split_once("; ") {
            Some((message, cure)) => Fault::new(span, message).help(cure),
            None => Fault::new(span, text),
        }
    }

    /// Adds a cure.
    pub(crate) fn help(mut self, cure: impl Into<String>) -> Self {
        self.helps.push(cure.into());
        self
    }

    /// This and something else that is wrong, at the place of this.
    pub(crate) fn and(mut self, other: Fault) -> Self {
        self.message = format!("{}; {}", self.message, other.message);
        let more: Vec<String> = other.helps.into_iter().filter(|help| !self.helps.contains(help)).collect();
        self.helps.extend(more);
        self
    }

    /// Adds the nearest of the words that would be right, if one is near.
    pub(crate) fn nearest<S: AsRef<str>>(mut self, word: &str, candidates: impl IntoIterator<Item = S>) -> Self {
        if let Some(near) = nearest(word, candidates) {
            self.helps.insert(0, format!("did you mean `{near}`?"));
        }
        self
    }

    /// The same with the file it is in.
    pub(crate) fn within(self, name: &str, text: &str) -> Diagnostic {
        let (name, text) = match self.command_line {
            Some(typed) => ("command line".to_owned(), typed),
            None => (name.to_owned(), text.to_owned()),
        };
        // The renderer makes the lines of the file plain itself, and the lengths of those must not change here.
        let (name, message) = (report::plain(&name).into_owned(), clipped(&report::plain(&self.message)));
        let helps = self.helps.iter().map(|help| clipped(&report::plain(help))).collect();
        Diagnostic(Box::new(Inner { name, text, span: self.span, message, helps }))
    }
}

/// Characters of one end of a sentence that are shown of it where it is longer than both: what it quotes may have any length.
const END: usize = 500;

/// A sentence without the middle of it where it is too long to be read.
pub(crate) fn clipped(text: &str) -> String {
    let end_of_first = text.char_indices().nth(END).map_or(text.len(), |(at, _)| at);
    let start_of_last = text.char_indices().rev().nth(END - 1).map_or(0, |(at, _)| at);
    if start_of_last <= end_of_first {
        return text.to_owned();
    }
    format!("{} … {}", &text[..end_of_first], &text[start_of_last..])
}

/// The candidate that takes the fewest typing errors to become `word`: at most one in three letters of the longer of the two.
/// Where there is none, the first that begins with it.
pub(crate) fn nearest<S: AsRef<str>>(word: &str, candidates: impl IntoIterator<Item = S>) -> Option<String> {
    let letters = |text: &str| text.chars().count();
    let mut begins = None;
    let mut best: Option<(usize, String)> = None;
    for candidate in candidates {
        let candidate = candidate.as_ref();
        let distance = strsim::damerau_levenshtein(word, candidate);
        let allowed = (letters(word).max(letters(candidate)) / 3).max(1);
        if (1..=allowed).contains(&distance) && best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, candidate.to_owned()));
        }
        if begins.is_none() && letters(word) > 2 && distance > 0 && candidate.starts_with(word) {
            begins = Some(candidate.to_owned());
        }
    }
    best.map(|(_, near)| near).or(begins)
}

/// An error in an experiment file, a target file or an argument: what, where, and the cure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagnostic(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    name: String,
    text: String,
    span: Span,
    message: String,
    helps: Vec<String>,
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::shown(diagnostic.render(colour_on_stderr()))
    }
}

impl Diagnostic {
    /// The message, the place with its line of the file, and the cures; without a newline at the end.
    pub(crate) fn render(&self, colour: bool) -> String {
        let Inner { name, text, span, message, helps } = &*self.0;
        let place = AnnotationKind::Primary.span(span.clone());
        let snippet = Snippet::source(text.as_str()).path(name.as_str()).annotation(place);
        let group = Group::with_title(Level::ERROR.primary_title(message.as_str())).element(snippet);
        let group = group.elements(helps.iter().map(|help| Level::HELP.message(help.as_str())));
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

#[cfg(test)]
impl Diagnostic {
    /// What is wrong, in one line.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// The cures, most likely first.
    pub(crate) fn helps(&self) -> &[String] {
        &self.0.helps
    }

    /// Line, from 1.
    pub(crate) fn line(&self) -> usize {
        1 + self.before().matches('\n').count()
    }

    /// Column in characters, from 1.
    pub(crate) fn column(&self) -> usize {
        let before = self.before();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        1 + before[line_start..].chars().count()
    }

    fn before(&self) -> &str {
        let text = &self.0.text;
        text.get(..self.0.span.start).unwrap_or(text)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_at_most_one_error_in_three_letters_away() {
        let words = ["connections", "rate", "path"];
        assert_eq!(nearest("conections", words).as_deref(), Some("connections"));
        assert_eq!(nearest("paht", words).as_deref(), Some("path"));
        assert_eq!(nearest("raet", words).as_deref(), Some("rate"));
        assert_eq!(nearest("thruput", ["throughput"]).as_deref(), Some("throughput"), "three of its ten");
        assert_eq!(nearest("cpu", ["p99", "cpu_per_request"]).as_deref(), Some("cpu_per_request"));
        assert_eq!(nearest("colour", words), None);
        assert_eq!(nearest("rate", words), None, "the word itself is not a suggestion");
    }

    #[test]
    fn what_is_too_long_to_be_read_has_both_its_ends() {
        let ends = |middle: usize| format!("{}{}{}", "ä".repeat(END), "m".repeat(middle), "ö".repeat(END));
        assert_eq!(clipped(&ends(0)), ends(0));
        assert_eq!(clipped(&ends(9)), format!("{} … {}", "ä".repeat(END), "ö".repeat(END)));
        let said = Fault::new(0..0, ends(99_999)).help(ends(99_999)).within(&ends(0), "").render(false);
        assert!(said.len() < 20_000, "{said}");
    }

    #[test]
    fn columns_count_characters() {
        let text = "a = 1\nname = \"Zürich\" x";
        let at = text.find(" x").unwrap() + 1;
        let diagnostic = Fault::new(at..at + 1, "wrong").within("f.toml", text);
        assert_eq!((diagnostic.line(), diagnostic.column()), (2, 17));
        assert!(diagnostic.render(false).contains("f.toml:2:17"), "{diagnostic}");
    }
}
