//! Style that ratchets: what docs/STYLE.md counts may only fall.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use imports::Imports;

/// Lines of a file above which it is counted.
const LONG_FILE: usize = 450;

/// Calls in the program that one place alone should make, or none.
const CALLS: [&str; 10] = [
    ".expect(",
    "panic!(",
    "unreachable!(",
    "thread::sleep(",
    "Command::new(",
    "fs::write(",
    "SystemTime::now(",
    "Zoned::now(",
    "Timestamp::now(",
    "env::var",
];

/// Where the rules themselves stand.
const OWN: [&str; 3] = ["docs/STYLE.md", "crates/cli/tests/style.rs", "crates/cli/tests/style.toml"];

/// Comparatives and the like that may follow "is no".
const AFTER_NO: [&str; 6] = ["longer", "more", "less", "better", "worse", "doubt"];

/// A text of the project.
struct Page {
    name: String,
    text: String,
}

impl Page {
    fn is_rust(&self) -> bool {
        self.name.ends_with(".rs")
    }

    /// Whether it is of the program and no test.
    fn is_program(&self) -> bool {
        // The engine's simulation is compiled into the program; the judge's is not.
        let test = ["/tests/", "/benches/", "tests.rs", "testing.rs", "judge/src/simulation/"];
        self.is_rust() && self.name.contains("/src/") && !test.iter().any(|part| self.name.contains(part))
    }

    /// Its lines with their numbers, up to the tests that stand at its end.
    fn program(&self) -> impl Iterator<Item = (usize, &str)> {
        let program = self.text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        program
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Its program without the lines that are of tests alone.
    fn without_tests(&self) -> String {
        let mut lines: Vec<&str> = self.program().map(|(_, line)| line).collect();
        let mut is_test = false;
        lines.retain(|line| {
            let (line, was_test) = (line.trim(), is_test);
            is_test = line == "#[cfg(test)]" || (was_test && line.starts_with("#["));
            !was_test
        });
        lines.join("\n")
    }

    /// Its words in small letters, with the number of their line.
    fn words(&self) -> Vec<(usize, String)> {
        let of = |(index, line): (usize, &str)| {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_');
            words.filter(|word| !word.is_empty()).map(move |word| (index + 1, word.to_lowercase())).collect::<Vec<_>>()
        };
        self.text.lines().enumerate().flat_map(of).collect()
    }
}

/// Where a rule is broken, by rule.
type Hits = BTreeMap<String, Vec<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What people read and write in the project: code, pages, experiments; not what is made or was decided.
fn pages() -> Vec<Page> {
    let (root, mut pages) = (root(), Vec::new());
    let mut folders: Vec<PathBuf> = ["crates", "docs", "experiments", "fuzz", "interop", "targets", "ci"]
        .map(|folder| root.join(folder))
        .into_iter()
        .filter(|folder| folder.is_dir())
        .collect();
    let mut files: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|file| root.join(file)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let made = ["target", "node_modules", "decisions", "snapshots"].contains(&&*name) || name.starts_with('.');
            match entry.file_type().unwrap().is_dir() {
                true if !made => folders.push(entry.path()),
                true => {}
                false => files.push(entry.path()),
            }
        }
    }
    files.sort();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        if [".rs", ".md", ".toml"].iter().any(|kind| name.ends_with(kind)) && !OWN.contains(&&*name) {
            pages.push(Page { text: fs::read_to_string(&file).unwrap(), name });
        }
    }
    pages
}

/// The first column of the table of phrases.
fn phrases() -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/STYLE.md")).unwrap();
    let (_, table) = page.split_once("| instead of | write |").unwrap();
    let phrase = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    table.lines().filter_map(phrase).collect()
}

/// Whether a word of the text is what a word of a phrase stands for.
fn stands_for(pattern: &str, word: &str) -> bool {
    match pattern {
        "N" => word.parse::<f64>().is_ok(),
        "X" => word != "there",
        "Y" => !AFTER_NO.contains(&word) && !word.ends_with("er"),
        _ => pattern == word,
    }
}

/// The lines in which a phrase begins.
fn lines_with(phrase: &str, words: &[(usize, String)]) -> Vec<usize> {
    let pattern: Vec<&str> = phrase.split(' ').collect();
    let fits =
        |words: &&[(usize, String)]| words.iter().zip(&pattern).all(|((_, word), pattern)| stands_for(pattern, word));
    words.windows(pattern.len()).filter(fits).map(|words| words[0].0).collect()
}

fn long_files(pages: &[Page], hits: &mut Hits) {
    let long = pages.iter().filter(|page| page.is_rust() && page.text.lines().count() > LONG_FILE);
    let rule = format!("files over {LONG_FILE} lines");
    hits.insert(rule, long.map(|page| format!("{}:{}", page.name, page.text.lines().count())).collect());
}

fn calls(pages: &[Page], hits: &mut Hits) {
    for call in CALLS {
        let of = |page: &Page| -> Vec<String> {
            let with = page.program().filter(|(_, line)| line.contains(call));
            with.map(|(line, _)| format!("{}:{line}", page.name)).collect()
        };
        let found = pages.iter().filter(|page| page.is_program()).flat_map(of).collect();
        hits.insert(format!("calls of {}", call.trim_end_matches('(')), found);
    }
}

/// Sentences that are made where the figures are judged: `report` has the words.
fn sentences(pages: &[Page], hits: &mut Hits) {
    let of = |page: &Page| -> Vec<String> {
        let with = page.program().filter(|(_, line)| line.contains("format!("));
        with.map(|(line, _)| format!("{}:{line}", page.name)).collect()
    };
    let own = || pages.iter().filter(|page| page.is_program() && page.name.starts_with("crates/judge/"));
    hits.insert("format! in judge".to_owned(), own().flat_map(of).collect());
    let of = |page: &Page| -> Vec<String> {
        let with = page.program().filter(|(_, line)| writes_sentence(line));
        with.map(|(line, _)| format!("{}:{line}", page.name)).collect()
    };
    hits.insert("sentences of errors in judge".to_owned(), own().flat_map(of).collect());
}

/// Whether a line words an error, or writes words in another way than with `format!`.
fn writes_sentence(line: &str) -> bool {
    line.contains("#[error(\"") || ["write!(", "writeln!(", "write_str("].iter().any(|call| line.contains(call))
}

/// Options in what the program says, where it is said by a crate that knows no command line.
fn options(pages: &[Page], hits: &mut Hits) {
    for krate in ["engine", "judge", "lab", "model", "observe"] {
        let of = |page: &Page| -> Vec<String> {
            let with = page.program().filter(|(_, line)| names_option(line));
            with.map(|(line, _)| format!("{}:{line}", page.name)).collect()
        };
        let own = pages.iter().filter(|page| page.is_program() && page.name.starts_with(&format!("crates/{krate}/")));
        hits.insert(format!("options named in {krate}"), own.flat_map(of).collect());
    }
}

/// Whether a line has `--word`, or `-x` alone: in code that is neither, for a letter behind a minus has more behind it.
fn names_option(line: &str) -> bool {
    let code = line.split_once(" //").map_or(line, |(code, _)| code);
    code.split(|c: char| c.is_whitespace() || "\"'`(),;:".contains(c)).any(|word| {
        let mut letters = word.trim_start_matches('-').chars();
        match word.len() - letters.as_str().len() {
            1 => line.contains('"') && word.len() == 2 && letters.all(char::is_alphabetic),
            2 => letters.next().is_some_and(char::is_alphabetic),
            _ => false,
        }
    })
}

/// The ids of the closed sets that `model` has enums for.
fn ids(pages: &[Page]) -> BTreeSet<&str> {
    let of = |line| {
        let line = str::trim(line);
        // `Name = "id",` of a set that is made by `kinds!`, `Set::Name => "id",` of one that is not.
        let (name, id) = str::strip_suffix(line, "\",")?
            .split_once(" = \"")
            .or_else(|| str::strip_suffix(line, "\",")?.split_once(" => \"").filter(|(name, _)| name.contains("::")))?;
        Some((name.rsplit("::").next().unwrap_or(name), id))
    };
    let model = pages.iter().filter(|page| page.is_program() && page.name.starts_with("crates/model/"));
    let named = model.flat_map(Page::program).filter_map(|(_, line)| of(line));
    let named = named.filter(|(name, id)| name.chars().all(char::is_alphanumeric) && !id.is_empty());
    named.map(|(_, id)| id).collect()
}

/// Ids compared as text, where there are only ids to compare. `cli` may match on them: it reads what people type and what other
/// tools print.
fn compared_ids(pages: &[Page], hits: &mut Hits) {
    let ids = ids(pages);
    let of = |page: &Page| -> Vec<String> {
        let with = page.program().filter(|(_, line)| compares(line, &ids, !page.name.starts_with("crates/cli/")));
        with.map(|(line, _)| format!("{}:{line}", page.name)).collect()
    };
    let crates = ["cli", "engine", "judge", "lab", "observe", "report"].map(|krate| format!("crates/{krate}/"));
    let is_own = |page: &&Page| page.is_program() && crates.iter().any(|krate| page.name.starts_with(krate));
    let own = pages.iter().filter(is_own);
    hits.insert("ids compared as text".to_owned(), own.flat_map(of).collect());
}

/// Whether a line asks if a text is one of `ids`, with `==` and the like, or as a pattern of a `match`.
fn compares(line: &str, ids: &BTreeSet<&str>, or_matches: bool) -> bool {
    let parts: Vec<&str> = line.split('"').collect();
    parts.windows(3).step_by(2).any(|around| {
        let (before, text, after) = (around[0].trim_end(), around[1], around[2].trim_start());
        let before = before.strip_suffix("Some(").unwrap_or(before).trim_end();
        let is_compared = before.ends_with("==") || before.ends_with("!=");
        let is_last = line.contains("matches!(") && after.starts_with(')') && !before.ends_with('(');
        let is_pattern = after.starts_with("=>") || after.trim_end() == "|" || is_last;
        ids.contains(text) && (is_compared || (or_matches && is_pattern))
    })
}

fn exceptions(pages: &[Page], hits: &mut Hits) {
    let of = |page: &Page| -> Vec<String> {
        let with = page.program().filter(|(_, line)| line.contains("[allow(") || line.contains("[expect("));
        with.map(|(line, _)| format!("{}:{line}", page.name)).collect()
    };
    hits.insert("exceptions to lints".to_owned(), pages.iter().filter(|page| page.is_program()).flat_map(of).collect());
}

fn phrases_used(pages: &[Page], hits: &mut Hits) {
    let words: Vec<_> = pages.iter().map(|page| (page, page.words())).collect();
    for phrase in phrases() {
        let of = |(page, words): &(&Page, Vec<(usize, String)>)| -> Vec<String> {
            lines_with(&phrase, words).iter().map(|line| format!("{}:{line}", page.name)).collect()
        };
        hits.insert(format!("phrase: {phrase}"), words.iter().flat_map(of).collect());
    }
}

/// The modules of a crate that need each other, whatever stands between them.
fn cycles(pages: &[Page], hits: &mut Hits) {
    let mut crates: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for page in pages.iter().filter(|page| page.is_rust()) {
        let Some((krate, file)) = page.name.strip_prefix("crates/").and_then(|name| name.split_once("/src/")) else {
            continue;
        };
        crates.entry(krate).or_default().insert(file.to_owned(), page.without_tests());
    }
    let of = |(krate, files)| Imports::of(files).cycles().into_iter().map(move |found| format!("{krate}: {found}"));
    hits.insert("modules in a cycle".to_owned(), crates.iter().flat_map(of).collect());
}

/// What differs from the counts that are kept: where a rule is broken more often, and what to write where it is seldomer.
fn differences(kept: &BTreeMap<String, usize>, hits: &Hits) -> Vec<String> {
    let mut said = Vec::new();
    for (rule, found) in hits {
        match (kept.get(rule), found.len()) {
            (Some(kept), count) if *kept == count => {}
            (Some(kept), count) if *kept < count => {
                said.push(format!("\"{rule}\" rose from {kept} to {count}:\n  {}", found.join("\n  ")));
            }
            (_, count) => said.push(format!("write into crates/cli/tests/style.toml: \"{rule}\" = {count}")),
        }
    }
    let gone = kept.keys().filter(|rule| !hits.contains_key(*rule));
    said.extend(gone.map(|rule| format!("strike from crates/cli/tests/style.toml: \"{rule}\"")));
    said
}

#[test]
fn style_only_gets_better() {
    let (pages, mut hits) = (pages(), Hits::new());
    long_files(&pages, &mut hits);
    calls(&pages, &mut hits);
    exceptions(&pages, &mut hits);
    options(&pages, &mut hits);
    sentences(&pages, &mut hits);
    compared_ids(&pages, &mut hits);
    cycles(&pages, &mut hits);
    phrases_used(&pages, &mut hits);
    let kept = fs::read_to_string(root().join("crates/cli/tests/style.toml")).unwrap();
    let said = differences(&toml::from_str(&kept).unwrap(), &hits);
    assert!(said.is_empty(), "\n{}\n", said.join("\n"));
}

#[test]
fn a_count_that_rises_or_falls_is_told() {
    let hits = Hits::from([("rises".to_owned(), vec!["a.rs:1".to_owned()]), ("falls".to_owned(), Vec::new())]);
    let kept = [("rises", 0), ("falls", 1), ("gone", 3)].map(|(rule, count)| (rule.to_owned(), count)).into();
    assert_eq!(
        differences(&kept, &hits),
        [
            "write into crates/cli/tests/style.toml: \"falls\" = 0",
            "\"rises\" rose from 0 to 1:\n  a.rs:1",
            "strike from crates/cli/tests/style.toml: \"gone\"",
        ]
    );
    assert!(differences(&BTreeMap::from([("rises".to_owned(), 1), ("falls".to_owned(), 0)]), &hits).is_empty());
}

#[test]
fn an_option_is_found_and_a_minus_is_none() {
    for line in ["\"more threads (-t)\"", "\"not given: `--delay`\"", "text.push_str(\"; -c 2\")"] {
        assert!(names_option(line), "{line}");
    }
    for line in ["let x = -y;", "a - b", "-1.0", "x - (-2.0)", "foo() // or `-t`", "fn f() -> T", "\"a -- b\""] {
        assert!(!names_option(line), "{line}");
    }
}

#[test]
fn ids_are_found_however_their_set_is_written_and_sentences_of_errors_too() {
    let text = "    Closed = \"closed\",\n    Factor::Target => \"target\",\n    1 => \"one\",\n".to_owned();
    let page = Page { name: "crates/model/src/factor.rs".to_owned(), text };
    assert_eq!(ids(std::slice::from_ref(&page)), BTreeSet::from(["closed", "target"]));
    let said = ["#[error(\"no such\")]", "write!(f, \"x\")", "#[error(transparent)]", "let write = 1;"];
    assert_eq!(said.map(writes_sentence), [true, true, false, false]);
}

#[test]
fn an_id_that_is_compared_is_found_and_other_text_is_not() {
    let ids = BTreeSet::from(["closed", "p99"]);
    for line in [
        "if text == \"closed\" {",
        "a(\"x\", b != Some(\"p99\"))",
        "\"closed\" => 1,",
        "\"p99\" | \"p50\" => 2,",
        "matches!(id, \"x\" | \"p99\")",
    ] {
        assert!(compares(line, &ids, true), "{line}");
    }
    for line in ["say(\"closed\")", "[(\"p99\", self.p99)]", "if method == \"GET\" {", "\"a\" => \"closed\","] {
        assert!(!compares(line, &ids, true), "{line}");
    }
    assert!(!compares("\"closed\" => 1,", &ids, false), "what people type is read");
}

#[test]
fn a_phrase_is_found_across_lines_and_its_placeholders_hold() {
    let text = "/// A wait of 10 ms\n/// of Work.\nThat is no\nmetric; there is no other, and it is no longer one.";
    let words = Page { name: String::new(), text: text.to_owned() }.words();
    assert_eq!(lines_with("N ms of work", &words), [1]);
    assert_eq!(lines_with("X is no Y", &words), [3]);
    assert!(lines_with("N s of work", &words).is_empty());
}

#[test]
fn modules_that_name_each_other_are_found_by_whichever_way_they_do() {
    let cycles = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        Imports::of(&files).cycles()
    };
    let both = ["a (names b)", "b (names a)"];
    let root = "mod a;\nmod b;\nmod c;\npub use a::*;\npub use b::{Other as B};\nuse c::C;";
    for (a, b) in [
        ("use crate::b::Other;", "use super::a;\nfn f() -> a::One {}"),
        ("use crate::{c, b::{self, Other}};", "fn f() { crate::a::g(); }"),
        ("pub struct One;\nuse crate::B;", "use crate::{C, One};"),
        ("mod inner;", "use crate::a::inner::Deep;"),
        ("mod inner;\npub use inner::Deep;", "use super::a;\nfn f() { a::Deep::new(); }"),
        ("use super::b;\nkinds! { One { Two = 2 } }", "mod inner;"),
    ] {
        let found = cycles(&[
            ("lib.rs", root),
            ("a.rs", a),
            ("b.rs", b),
            ("c.rs", "pub struct C;"),
            ("a/inner.rs", "fn f() { super::super::b::g(); }"),
            ("b/inner.rs", "use crate::{One, B};"),
        ]);
        assert_eq!(found, both, "{a} / {b}");
    }
    let through_a_third = [
        ("lib.rs", root),
        ("a.rs", "use crate::c::C;"),
        ("b.rs", "use crate::a;"),
        ("c.rs", "pub use crate::b::B as C;"),
    ];
    assert_eq!(cycles(&through_a_third), ["a (names b, c)", "b (names a)", "c (names b)"]);
    let one_way = [
        ("lib.rs", root),
        ("a.rs", "use crate::b;\nuse ::b::a;"),
        ("b.rs", "use a::One;\nuse other::a;"),
        ("c.rs", ""),
    ];
    assert!(cycles(&one_way).is_empty());
    let siblings_below = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod x;\nmod y;\npub use y::Y;"),
        ("a/x.rs", "use super::Y;"),
        ("a/y.rs", "use super::x::X;"),
    ];
    assert_eq!(cycles(&siblings_below), ["a::x (names a::y)", "a::y (names a::x)"]);
}
