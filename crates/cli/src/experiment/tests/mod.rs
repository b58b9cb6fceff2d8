//! The vocabulary of the tests: a file with a marker where its error is, and a small zoo.

mod errors;
mod golden;
mod mixes;
mod rotation;
mod rules;
mod shipped;
mod target_errors;
mod tls;

use std::path::Path;

use model::{Draft, Target};

use super::{Diagnostic, GeneratorAsked, Machine, Options, Source, plan, target};

/// Stands in a file right before the place that an error must point at.
const MARK: char = '«';

fn source(text: &str) -> Source {
    Source { name: "experiments/try.toml".to_owned(), text: text.to_owned() }
}

/// A target with a handler delay and a text setting `mode`, and one without the latter.
fn zoo() -> Vec<Target> {
    let delay = "[settings.handler_delay]\nenv = 'HANDLER_DELAY'\ntype = 'duration'\ndefault = '0ms'\n";
    let mode = "[settings.mode]\nenv = 'MODE'\ntype = 'text'\ndefault = 'bare'\n";
    let old = "[runtimes.current]\n[runtimes.old]\nenv = { GOOLD = '1' }\n";
    [("alpha", mode), ("beta", old)]
        .map(|(name, more)| {
            let text =
                format!("name = '{name}'\ntitle = 'T'\n[launch]\nrun = './{name}'\nready = '/ping'\n{delay}{more}");
            target(&source(&text), Path::new("/zoo")).unwrap()
        })
        .to_vec()
}

/// What `read` does with options of defaults.
fn with<T>(read: impl FnOnce(&Options) -> T) -> T {
    let zoo = zoo();
    read(&Options {
        quick: false,
        targets: None,
        blocks: None,
        seed: None,
        rotates: true,
        allow_failures: None,
        generator: GeneratorAsked::default(),
        zoo: &zoo,
        machine: Machine { cpus: 4 },
        base: Path::new("/home/me"),
    })
}

fn resolved(text: &str) -> Draft {
    with(|options| plan(&source(text), options)).unwrap_or_else(|error| panic!("{error}"))
}

fn quick(text: &str) -> Draft {
    with(|options| plan(&source(text), &Options { quick: true, ..*options })).unwrap_or_else(|error| panic!("{error}"))
}

fn only(names: &[&str], text: &str) -> Result<Draft, Diagnostic> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    with(|options| plan(&source(text), &Options { targets: Some(&names), ..*options }))
}

fn refused(text: &str) -> Diagnostic {
    with(|options| plan(&source(text), options)).unwrap_err()
}

/// Asserts that a file is refused at its mark, with this message and a cure that holds these words.
fn assert_refused(marked: &str, message: &str, cure: &str, read: impl Fn(&str) -> Diagnostic) {
    let at = marked.find(MARK).unwrap_or_else(|| panic!("no mark in {marked}"));
    let before: Vec<&str> = marked[..at].split('\n').collect();
    let (line, column) = (before.len(), 1 + before[before.len() - 1].chars().count());
    let error = read(&marked.replace(MARK, ""));
    assert_eq!(error.message(), message, "{error}");
    assert_eq!((error.line(), error.column()), (line, column), "{error}");
    assert!(error.helps().iter().any(|help| help.contains(cure)), "no `{cure}` in\n{error}");
    assert!(error.render(false).contains(&format!(":{line}:{column}\n")), "{error}");
}

/// The levels of each cell, in order.
fn levels(plan: &Draft) -> Vec<String> {
    plan.cells.iter().map(|cell| cell.levels.to_string()).collect()
}
