//! What is probably wrong with a command that fails, as far as its words show it.

use model::{EndedWhen, Hint, LaunchRecipe, NeedsShell, ProcessEnd, WhyFailed};
use rustix::process::Signal;

use crate::tls;

/// What begins a command in a shell and is not a program of its own, or one that would not help.
const BUILTINS: [&str; 9] = [".", "cd", "eval", "exec", "export", "set", "source", "ulimit", "umask"];

/// What stands between the commands of a shell.
const BETWEEN: [&str; 5] = ["&&", "||", "|", "&", ";"];

/// How a word begins that a shell would put something else in the place of.
const SPECIAL: [&str; 7] = [">", "<", "1>", "2>", "&>", "~/", "$("];

/// What is said of a failed command, with what in it needs a shell behind it.
pub(crate) fn with_shell(text: String, words: &[String]) -> String {
    match shell(words) {
        Some(needs @ NeedsShell::Word(_)) => format!("{text}; {needs}: sh -c '…'"),
        Some(needs @ NeedsShell::Variables { .. }) => format!("{text}; {needs}"),
        None => text,
    }
}

/// What in a failed command needs a shell.
pub(crate) fn shell(words: &[String]) -> Option<NeedsShell> {
    let programs = words.iter().position(|word| !is_assignment(word)).unwrap_or(words.len());
    let (assignments, command) = words.split_at(programs);
    let builtin = command.first().filter(|first| BUILTINS.contains(&first.as_str()));
    if let Some(word) = builtin.or_else(|| syntax(words)) {
        return Some(NeedsShell::Word(word.clone()));
    }
    match command {
        [program, rest @ ..] if !assignments.is_empty() => {
            let (set, more) = (assignments.join(" "), !rest.is_empty());
            Some(NeedsShell::Variables { set, program: program.clone(), more })
        }
        _ => None,
    }
}

/// The same of a server that did not become ready. One that is not told its port cannot listen there.
pub(crate) fn server(recipe: &LaunchRecipe) -> Option<Hint> {
    let names_port = |text: &String| text.contains("$PORT") || text.contains("${PORT}");
    let is_told = recipe.run.iter().chain(recipe.env.values()).any(names_port);
    shell(&recipe.run).map(Hint::Shell).or((!is_told).then_some(Hint::NoPort))
}

/// That a server has no certificate, where its command names the variables of one or its output does.
pub(crate) fn certificate(recipe: &LaunchRecipe, output: &str) -> Option<Hint> {
    let names_one = |text: &str| tls::GIVEN_FILES.iter().any(|name| text.contains(name));
    let mut told = recipe.run.iter().chain(recipe.env.values()).map(String::as_str).chain([output]);
    told.any(names_one).then_some(Hint::NoCertificate)
}

/// The same of one that ended; `known` whether it was heard on its port, or printed something, which says more than a guess.
pub(crate) fn ended(end: ProcessEnd, recipe: &LaunchRecipe, known: bool) -> Option<Hint> {
    match end {
        // Whatever is wrong with its command, that was not it.
        ProcessEnd::Killed { .. } | ProcessEnd::Unguarded(_) => None,
        // It listened nowhere because it had no more to do.
        ProcessEnd::Exited(0) => shell(&recipe.run).map(Hint::Shell),
        _ if known => shell(&recipe.run).map(Hint::Shell),
        _ => server(recipe),
    }
}

/// Adds that others ran at the same time, where that may be why a server did not start, or was told to end: so many of them were started
/// before it, and so many were alive with it.
pub(crate) fn beside(why: &mut WhyFailed, before: u32, all: u32) {
    let (hints, others) = match why {
        WhyFailed::NotReady(not) => (&mut not.hints, before),
        WhyFailed::Ended(end) if end.when == EndedWhen::BeforeReady => (&mut end.hints, before),
        // What crashes does so alone, too.
        WhyFailed::Ended(end) if is_told_to_end(end.how) => (&mut end.hints, all),
        _ => return,
    };
    hints.extend((others > 0).then_some(Hint::Beside(others)));
}

fn is_told_to_end(how: ProcessEnd) -> bool {
    let polite = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM].map(Signal::as_raw);
    matches!(how, ProcessEnd::Killed { signal, .. } if polite.contains(&signal))
}

/// `A=1`
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The first word that only a shell understands. A word with blanks was quoted, and what follows an option is its value.
fn syntax(words: &[String]) -> Option<&String> {
    let is_value = |place: usize| place > 0 && words[place - 1].starts_with('-');
    let ends_a_command = |word: &str| word.ends_with(';') && word.len() > 1;
    let is_special = |(place, word): &(usize, &String)| {
        BETWEEN.contains(&word.as_str())
            || !word.contains(char::is_whitespace)
                && !is_value(*place)
                && (ends_a_command(word) || SPECIAL.iter().any(|begin| word.starts_with(begin)))
    };
    words.iter().enumerate().find(is_special).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use model::TargetEnd;

    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn who_does_not_start_beside_others_or_is_told_to_end_may_not_bear_them() {
        let end = |how, when| WhyFailed::from(TargetEnd { how, when, hints: Vec::new() });
        let killed = |signal: Signal| ProcessEnd::Killed { signal: signal.as_raw(), core_dumped: false };
        let hints = |mut why: WhyFailed, before| {
            beside(&mut why, before, 2);
            let WhyFailed::Ended(end) = why else { panic!("{why:?}") };
            end.hints
        };
        let (first, under_load) = (EndedWhen::BeforeReady, EndedWhen::UnderLoad);
        assert_eq!(hints(end(ProcessEnd::Exited(1), first), 1), [Hint::Beside(1)]);
        assert_eq!(hints(end(ProcessEnd::Exited(1), first), 0), [], "nobody else was there yet");
        assert_eq!(hints(end(killed(Signal::TERM), under_load), 0), [Hint::Beside(2)]);
        assert_eq!(hints(end(killed(Signal::SEGV), under_load), 0), []);
        assert_eq!(hints(end(ProcessEnd::Exited(1), under_load), 0), []);
    }

    #[test]
    fn what_needs_a_shell_is_named_with_a_cure() {
        for (line, needs) in [
            (&["a", "&&", "b"][..], "`&&`"),
            (&["a", "-v", "||", "b"], "`||`"),
            (&["cd", "x;", "b"], "`cd`"),
            (&["a", "x;", "b"], "`x;`"),
            (&["A=1", "exec", "b"], "`exec`"),
            (&["b", "2>log"], "`2>log`"),
            (&["~/b", "1"], "`~/b`"),
        ] {
            let said = format!("it failed; it runs without a shell, and {needs} needs one: sh -c '…'");
            assert_eq!(with_shell("it failed".to_owned(), &words(line)), said);
        }
        let assigned = shell(&words(&["A=1", "B=", "python3", "server.py"])).unwrap().to_string();
        assert!(assigned.ends_with("`A=1 B=` needs one, or env: env A=1 B= python3 …"), "{assigned}");
        for line in [
            &["b", "--port=1"][..],
            &["sh", "-c", "cd x; exec b && c;"],
            &["node", "-e", "serve();"],
            &["b", "A=1", "<"],
            &["env", "A=1", "b"],
            &["=", "b"],
            &["A=1"],
        ] {
            let found = shell(&words(line));
            assert_eq!(found.is_some(), line.last() == Some(&"<"), "{line:?}: {found:?}");
        }
    }
}
