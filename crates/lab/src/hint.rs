//! What is probably wrong with a command that fails, as far as its words show it.

use model::{LaunchRecipe, ProcessEnd};

use crate::tls;

/// What there is to do about a path that answers and does not say that the server is ready.
pub(crate) const ANOTHER_PATH: &str = "ready = \"/…\" in the file, or --ready, asks for another path";

/// What begins a command in a shell and is not a program of its own, or one that would not help.
const BUILTINS: [&str; 9] = [".", "cd", "eval", "exec", "export", "set", "source", "ulimit", "umask"];

/// What stands between the commands of a shell.
const BETWEEN: [&str; 5] = ["&&", "||", "|", "&", ";"];

/// How a word begins that a shell would put something else in the place of.
const SPECIAL: [&str; 7] = [">", "<", "1>", "2>", "&>", "~/", "$("];

/// What is said, with what may be wrong behind it.
pub(crate) fn behind(text: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{text}; {hint}"),
        None => text,
    }
}

/// What in a failed command needs a shell, and how to give it one.
pub(crate) fn shell(words: &[String]) -> Option<String> {
    let programs = words.iter().position(|word| !is_assignment(word)).unwrap_or(words.len());
    let (assignments, command) = words.split_at(programs);
    let builtin = command.first().filter(|first| BUILTINS.contains(&first.as_str()));
    if let Some(word) = builtin.or_else(|| syntax(words)) {
        return Some(format!("it runs without a shell, and `{word}` needs one: sh -c '…'"));
    }
    match command {
        [program, rest @ ..] if !assignments.is_empty() => {
            let more = if rest.is_empty() { "" } else { " …" };
            let set = assignments.join(" ");
            Some(format!("it runs without a shell, and `{set}` needs one, or env: env {set} {program}{more}"))
        }
        _ => None,
    }
}

/// The same of a server that did not become ready. One that is not told its port cannot listen there.
pub(crate) fn server(recipe: &LaunchRecipe) -> Option<String> {
    let shell = shell(&recipe.run);
    let names_port = |text: &String| text.contains("$PORT") || text.contains("${PORT}");
    if shell.is_some() || recipe.run.iter().chain(recipe.env.values()).any(names_port) {
        return shell;
    }
    let unnamed = "its command does not name $PORT, which is the port to listen on: name it, unless the server reads PORT \
                   from its environment";
    Some(unnamed.to_owned())
}

/// A hint, with what sets the variables of a certificate where the command of a server that has none names them or its output
/// does.
pub(crate) fn certificate(hint: Option<String>, recipe: &LaunchRecipe, output: &str) -> Option<String> {
    let names_one = |text: &str| tls::GIVEN_FILES.iter().any(|name| text.contains(name));
    if !recipe.run.iter().chain(recipe.env.values()).map(String::as_str).chain([output]).any(names_one) {
        return hint;
    }
    let unset = "$TLS_CERT and $TLS_KEY are set where it is loaded over TLS with a certificate of bourdon's alone: compare \
                 --tls, or `tls = true` in its [[target]] and in [load]";
    Some(hint.map_or(unset.to_owned(), |hint| behind(hint, Some(unset.to_owned()))))
}

/// The same of one that ended; `known` whether it was heard on its port, or printed something, which says more than a guess.
pub(crate) fn ended(end: ProcessEnd, recipe: &LaunchRecipe, known: bool) -> Option<String> {
    match end {
        // Whatever is wrong with its command, that was not it.
        ProcessEnd::Killed { .. } | ProcessEnd::Unguarded(_) => None,
        // It listened nowhere because it had no more to do.
        ProcessEnd::Exited(0) => shell(&recipe.run),
        _ if known => shell(&recipe.run),
        _ => server(recipe),
    }
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
    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
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
            let said = format!("it runs without a shell, and {needs} needs one: sh -c '…'");
            assert_eq!(shell(&words(line)), Some(said));
        }
        let assigned = shell(&words(&["A=1", "B=", "python3", "server.py"])).unwrap();
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
