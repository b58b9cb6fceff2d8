//! Which modules of a crate name each other: by `crate::`, `super::` or a plain path, in a `use` or in the code, and through
//! what other modules hand on.

use std::collections::{BTreeMap, BTreeSet};

/// Names that stand for names, one behind the other, at most.
const LONGEST_CHAIN: usize = 8;

/// What follows a name in its module's text where it is made there.
const MAKES: [&str; 8] = ["struct", "enum", "trait", "fn", "const", "static", "type", "union"];

type Words = Vec<String>;

/// The modules of a crate by their paths, `a::b`; its root is the empty one.
pub(crate) struct Imports(BTreeMap<String, Module>);

#[derive(Default)]
struct Module {
    children: BTreeSet<String>,
    /// Paths by the names that `use` gives them; `*` for all that is in one.
    names: Vec<(String, Words)>,
    /// Every path in it.
    paths: Vec<Words>,
    tokens: Words,
}

impl Imports {
    /// Of the files of a crate by their places below `src`: what no `mod` leads to, such as tests, is left out.
    pub(crate) fn of(files: &BTreeMap<String, String>) -> Self {
        let (mut modules, mut next) = (BTreeMap::new(), vec![String::new()]);
        while let Some(path) = next.pop() {
            let file = path.replace("::", "/");
            let places = match path.as_str() {
                "" => ["lib.rs".to_owned(), "main.rs".to_owned()],
                _ => [format!("{file}.rs"), format!("{file}/mod.rs")],
            };
            let Some(text) = places.iter().find_map(|place| files.get(place)) else { continue };
            let module = Module::read(text);
            next.extend(module.children.iter().map(|child| below(&path, child)));
            modules.insert(path, module);
        }
        Self(modules)
    }

    /// The modules that come back to themselves by way of their siblings, at whatever depth, each with those that it names on
    /// the way.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let named = self.0.iter().map(|(own, module)| (own.as_str(), self.named(own, module))).collect();
        let parents: BTreeSet<&str> = self.0.keys().filter(|own| !own.is_empty()).map(|own| above(own)).collect();
        parents.into_iter().flat_map(|parent| cycles_below(parent, &named)).collect()
    }

    /// The modules that one names.
    fn named(&self, own: &str, module: &Module) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        module.paths.iter().for_each(|path| self.follow(own, path, 0, &mut found));
        found
    }

    /// Finds the modules that a path in a module leads through.
    fn follow(&self, own: &str, path: &[String], chain: usize, found: &mut BTreeSet<String>) {
        let Some((first, behind)) = path.split_first().filter(|_| chain < LONGEST_CHAIN) else { return };
        let (mut at, mut rest) = match first.as_str() {
            "crate" => (String::new(), behind),
            "self" => (own.to_owned(), behind),
            "super" => (own.to_owned(), path),
            _ if self.has(own, first) => (own.to_owned(), path),
            _ => return self.follow_name(own, path, chain, found),
        };
        while let Some((word, after)) = rest.split_first() {
            match word.as_str() {
                "super" => at = above(&at).to_owned(),
                _ if self.has(&at, word) => at = below(&at, word),
                _ => break,
            }
            rest = after;
        }
        if at != own {
            self.follow_name(&at, rest, chain, found);
        }
        found.insert(at);
    }

    /// Follows a path that begins with what a `use` of a module names.
    fn follow_name(&self, at: &str, path: &[String], chain: usize, found: &mut BTreeSet<String>) {
        let (Some(module), Some((word, after))) = (self.0.get(at), path.split_first()) else { return };
        for (_, behind) in module.names.iter().filter(|(name, _)| name == word) {
            self.follow(at, &[behind.as_slice(), after].concat(), chain + 1, found);
        }
        for (_, all) in module.names.iter().filter(|(name, _)| name == "*") {
            let mut handed_on = BTreeSet::new();
            self.follow(at, all, chain + 1, &mut handed_on);
            found.extend(handed_on.into_iter().filter(|path| self.0.get(path).is_some_and(|of| of.makes(word))));
        }
    }

    fn has(&self, path: &str, child: &str) -> bool {
        self.0.contains_key(&below(path, child))
    }
}

impl Module {
    fn read(text: &str) -> Self {
        let tokens = tokens(text);
        let (mut module, mut rest, mut before) = (Self::default(), &tokens[..], "");
        while let [token, after @ ..] = rest {
            rest = after;
            match (*token, after) {
                // Of another crate.
                ("::", _) => {}
                ("use", ["::", ..]) => rest = after.iter().position(|it| *it == ";").map_or(&[], |end| &after[end..]),
                ("use", _) => module.import(&mut rest, &[]),
                ("mod", [child, ";", ..]) => drop(module.children.insert((*child).to_owned())),
                (_, ["::", ..]) if before != "::" => {
                    let mut path = vec![(*token).to_owned()];
                    while let ["::", word, after @ ..] = rest {
                        path.push((*word).to_owned());
                        rest = after;
                    }
                    module.paths.push(path);
                }
                _ => {}
            }
            before = token;
        }
        module.tokens = tokens.into_iter().map(str::to_owned).collect();
        module
    }

    /// Reads what stands behind `use`, or behind a `::` in it.
    fn import(&mut self, rest: &mut &[&str], before: &[String]) {
        let mut path = before.to_vec();
        while let [word, "::", after @ ..] = rest {
            path.push((*word).to_owned());
            *rest = after;
        }
        let [word, after @ ..] = rest else { return };
        *rest = after;
        if *word == "{" {
            while !matches!(rest, [] | ["}", ..]) {
                self.import(rest, &path);
                if let [",", after @ ..] = rest {
                    *rest = after;
                }
            }
            *rest = rest.get(1..).unwrap_or_default();
            return;
        }
        if !matches!(*word, "self" | "*") {
            path.push((*word).to_owned());
        }
        let mut name = if *word == "*" { "*".to_owned() } else { path.last().cloned().unwrap_or_default() };
        if let ["as", other, after @ ..] = rest {
            name = (*other).to_owned();
            *rest = after;
        }
        self.paths.push(path.clone());
        self.names.push((name, path));
    }

    /// Whether a name is made here, also by a macro: `kinds! { Name {`.
    fn makes(&self, name: &str) -> bool {
        let item = |pair: &[String]| MAKES.contains(&pair[0].as_str()) && pair[1] == name;
        let of_macro = |three: &[String]| three[0] == "!" && three[1] == "{" && three[2] == name;
        self.tokens.windows(2).any(item) || self.tokens.windows(3).any(of_macro)
    }
}

/// Of the children of a module those that come back to themselves.
fn cycles_below(parent: &str, named: &BTreeMap<&str, BTreeSet<String>>) -> Vec<String> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (own, named) in named {
        let Some(own) = child(parent, own) else { continue };
        let others = named.iter().filter_map(|path| child(parent, path)).filter(|other| *other != own);
        uses.entry(own.clone()).or_default().extend(others);
    }
    let cycle = |(module, used): (&String, &BTreeSet<String>)| {
        let back: Vec<&str> = used.iter().filter(|used| leads_to(&uses, used, module)).map(String::as_str).collect();
        (!back.is_empty()).then(|| format!("{module} (names {})", back.join(", ")))
    };
    uses.iter().filter_map(cycle).collect()
}

/// Whether a module needs another one, whatever stands between them.
fn leads_to(uses: &BTreeMap<String, BTreeSet<String>>, from: &String, to: &String) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(module) = next.pop() {
        next.extend(uses.get(module).into_iter().flatten().filter(|used| seen.insert(*used)));
    }
    seen.contains(to)
}

/// Words, `::` and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let end = match first {
            first if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            sign => sign.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        found.push(token);
        rest = after.trim_start();
    }
    found
}

/// The child of a module that a path below it leads through.
fn child(parent: &str, path: &str) -> Option<String> {
    let behind = if parent.is_empty() { path } else { path.strip_prefix(parent)?.strip_prefix("::")? };
    let first = behind.split("::").next().filter(|first| !first.is_empty())?;
    Some(below(parent, first))
}

fn above(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(above, _)| above)
}

fn below(path: &str, child: &str) -> String {
    if path.is_empty() { child.to_owned() } else { format!("{path}::{child}") }
}
