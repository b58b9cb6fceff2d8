//! The one place where a text leaves the program. Whatever others wrote into it, it acts on no terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use report::Style;

use crate::exit::{Exit, Failure};

/// Longest line of stderr.
const LONGEST_LINE: usize = 2_000;

/// Writes to stdout. A reader that has gone (a closed pipe) is not an error.
pub(crate) fn write_out(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(printable(text, style().colour).as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr. A reader that has gone (`2>&1 | head`) does not stop anything.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{}", stderr_text(&line.to_string()));
}

/// Writes a line to stderr in which colours stay, if it is a terminal.
fn say_coloured(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(line, colour_on_stderr()));
}

/// A text for stderr: plain, and no line longer than anybody reads.
pub(crate) fn stderr_text(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| report::shortened(&report::plain(line), LONGEST_LINE).into_owned()).collect();
    lines.join("\n")
}

/// Says what went wrong on stderr and gives the exit status.
pub(crate) fn conclude(done: Result<Exit, Failure>) -> ExitCode {
    let exit = done.unwrap_or_else(|failure| {
        let text = failure.to_string();
        say_coloured(&if failure.is_coloured() { text } else { stderr_text(&text) });
        failure.exit()
    });
    ExitCode::from(exit.status())
}

/// Shows help on stdout, or what is wrong with the arguments on stderr, and gives the exit status.
pub(crate) fn say_of_arguments(error: &clap::Error) -> ExitCode {
    let rendered = error.render();
    let coloured = if error.use_stderr() { colour_on_stderr() } else { style().colour };
    let text = if coloured { rendered.ansi().to_string() } else { rendered.to_string() };
    if error.use_stderr() {
        say_coloured(text.trim_end());
    } else if let Err(failure) = write_out(&text) {
        return conclude(Err(failure));
    }
    ExitCode::from(error.exit_code() as u8)
}

/// Colour only on a terminal, and not where NO_COLOR asks for none.
pub(crate) fn style() -> Style {
    Style { colour: std::io::stdout().is_terminal() && !plain_wanted(), width: 100, verbose: false }
}

/// The same for stderr.
pub(crate) fn colour_on_stderr() -> bool {
    std::io::stderr().is_terminal() && !plain_wanted()
}

fn plain_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The text without anything that acts on a terminal, but for colours where they are wanted.
fn printable(text: &str, coloured: bool) -> Cow<'_, str> {
    if !coloured {
        return report::plain(text);
    }
    let mut printable = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let length = colour(&rest[at..]).unwrap_or(0);
        printable.push_str(&report::plain(&rest[..at]));
        printable.push_str(if length > 0 { &rest[at..at + length] } else { "␛" });
        rest = &rest[at + length.max(1)..];
    }
    printable.push_str(&report::plain(rest));
    Cow::Owned(printable)
}

/// Length of the sequence that a text begins with, if it is one that only colours, underlines or emboldens.
fn colour(text: &str) -> Option<usize> {
    let (codes, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let is_colour = |code: &str| matches!(code.parse(), Ok(0..=2 | 4 | 22 | 24 | 30..=37 | 39 | 90..=97));
    codes.split(';').all(is_colour).then_some(codes.len() + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_pass_where_they_are_wanted_and_nothing_else_does() {
        let text = "\u{1b}[1;31mbad\u{1b}[0m \u{1b}[2J\u{1b}]0;title\u{7} \u{1b}[8mhidden \u{1b}";
        assert_eq!(printable(text, true), "\u{1b}[1;31mbad\u{1b}[0m ␛[2J␛]0;title␇ ␛[8mhidden ␛");
        assert_eq!(printable(text, false), "␛[1;31mbad␛[0m ␛[2J␛]0;title␇ ␛[8mhidden ␛");
    }

    #[test]
    fn a_line_of_stderr_is_bounded() {
        let text = stderr_text(&format!("a\r\n{}\nb", "x".repeat(100_000)));
        assert!(text.starts_with("a␍\nxxx") && text.ends_with("xxx\nb"), "{text}");
        assert_eq!(text.chars().count(), LONGEST_LINE + 5);
    }
}
