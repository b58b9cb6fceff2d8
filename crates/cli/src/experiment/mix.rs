//! `mix` in `[load]`: many requests in one load, made of a list of routes.

use std::path::Path;

use fastrand::Rng;
use model::{Mix, MixRequests, ReplyExpectation, Request, WeightedRequest};

use super::diagnostic::{Fault, Read, Span};
use super::section::{Item, listed};
use super::value::{Placed, Value};
use crate::bounded;
use crate::home;

/// Letters and digits of a parameter's value.
const VALUE_LENGTH: usize = 8;

/// Put behind a path to make one that no route has.
const NONE: &str = "-none";

/// Zipf's exponent unless the mix gives one: the second route is asked for half as often as the first.
const EXPONENT: f64 = 1.0;

/// The routes to ask for, and how often.
#[derive(Debug, Clone)]
pub(super) struct RouteMix {
    file: String,
    span: Span,
    routes: Vec<Route>,
    set: Option<Placed>,
    zipf: f64,
}

/// One line `SET METHOD /path/:param` of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Route {
    set: String,
    method: String,
    pattern: String,
}

/// What a cell says of its mix.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    /// Which of its requests are sent.
    pub(super) requests: MixRequests,
    /// The cell's level of the setting `routes`, which is the set unless the mix names one.
    pub(super) routes: Option<&'a Placed>,
    /// Decides the values of parameters and which routes are popular.
    pub(super) seed: u64,
}

impl RouteMix {
    /// Reads `{ file, set, zipf }`, and the file.
    pub(super) fn read(item: Item, beside: &Path) -> Read<RouteMix> {
        let section = item.section("`mix`")?;
        section.only(&["file", "set", "zipf"])?;
        let file = section.require("file", "name the list of routes: `file = \"routes.txt\"`")?;
        let set = section
            .read("set", |item| Ok(Placed { value: Value::Text(item.text()?.to_owned()), span: item.span() }))?;
        let zipf = section.read("zipf", exponent)?.unwrap_or(EXPONENT);
        let routes = routes(file, beside)?;
        Ok(RouteMix { file: file.text()?.to_owned(), span: item.span(), routes, set, zipf })
    }

    /// The requests of a cell, each like `like` but for method and path.
    pub(super) fn requests(&self, choice: &Choice, like: &Request) -> Read<Mix> {
        let set = self.set(choice)?;
        let mut rng = Rng::with_seed(choice.seed);
        let mut asked: Vec<(&Route, Filled)> = set.iter().map(|route| (*route, route.fill(&mut rng))).collect();
        rng.shuffle(&mut asked);
        asked.retain(|(route, filled)| match choice.requests {
            MixRequests::Hit => true,
            MixRequests::Static => filled.is_static,
            MixRequests::Parameter => !filled.is_static,
            MixRequests::Miss => !route.catches_all() && !set.iter().any(|other| other.matches(&filled.missing)),
        });
        let one = |(rank, (route, filled)): (usize, (&Route, Filled))| {
            let miss = choice.requests == MixRequests::Miss;
            let (path, expect) =
                if miss { (filled.missing, expecting(404, None)) } else { (filled.path, expecting(200, filled.body)) };
            let request = Request { method: route.method.clone(), path, ..like.clone() };
            WeightedRequest { request, expect, weight: ((rank + 1) as f64).powf(-self.zipf) }
        };
        Mix::of(asked.into_iter().enumerate().map(one).collect()).ok_or_else(|| {
            let name = set.first().map_or("", |route| &route.set);
            let message =
                format!("the set `{name}` of {} has no route for `requests = \"{}\"`", self.file, choice.requests);
            Fault::new(self.span.clone(), message).help("choose another set, or other requests of it")
        })
    }

    /// The routes of the cell's set, at least one.
    fn set(&self, choice: &Choice) -> Read<Vec<&Route>> {
        let Some(Placed { value, span }) = self.set.as_ref().or(choice.routes) else {
            return Err(Fault::new(self.span.clone(), "the mix has no `set`")
                .help("write `set = \"…\"` in it, or vary the targets' setting `routes`"));
        };
        let name = value.level().to_string();
        let routes: Vec<&Route> = self.routes.iter().filter(|route| route.set == name).collect();
        if !routes.is_empty() {
            return Ok(routes);
        }
        let mut known: Vec<&str> = self.routes.iter().map(|route| route.set.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let fault = Fault::new(span.clone(), format!("{} has no set `{name}`", self.file));
        Err(fault.nearest(&name, &known).help(format!("its sets are {}", listed(&known))))
    }
}

fn exponent(item: Item) -> Read<f64> {
    let zipf = item.number()?;
    let fault = || item.fault(format!("`zipf` must be from 0 to 10, not {zipf}"));
    (0.0..=10.0)
        .contains(&zipf)
        .then_some(zipf)
        .ok_or_else(|| fault().help("1 is usual, and 0 asks for each route equally often"))
}

fn expecting(status: u16, body: Option<Vec<u8>>) -> ReplyExpectation {
    ReplyExpectation { status: Some(status), body }
}

/// The routes of every set in the file.
fn routes(item: Item, beside: &Path) -> Read<Vec<Route>> {
    let name = item.text()?;
    let Some(path) = home::file(beside, name) else {
        return Err(item
            .fault(format!("`{name}` does not exist"))
            .help("it is looked for beside the experiment and its folder, here, and in $BOURDON_HOME"));
    };
    let text = bounded::read_text(&path)
        .map_err(|error| item.fault(format!("cannot read {}: {error}", path.display())).help("make it readable"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let route = |(index, line): (usize, &str)| {
        Route::parse(line).ok_or_else(|| {
            let message = format!("{}:{}: `{line}` is not a route", path.display(), index + 1);
            item.fault(message).help("a line is `SET METHOD /path/:parameter`, or a comment after `#`")
        })
    };
    lines.map(route).collect()
}

/// A route with values for its parameters.
#[derive(Debug, PartialEq, Eq)]
struct Filled {
    path: String,
    /// The same path behind [`NONE`]; a route may have it nevertheless.
    missing: String,
    /// What the target answers; none for HEAD, whose reply has no body.
    body: Option<Vec<u8>>,
    is_static: bool,
}

impl Route {
    fn parse(line: &str) -> Option<Route> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [set, method, pattern] = words[..] else { return None };
        let sound = pattern.starts_with('/') && method.chars().all(|c| c.is_ascii_uppercase());
        sound.then(|| Route { set: set.to_owned(), method: method.to_owned(), pattern: pattern.to_owned() })
    }

    fn catches_all(&self) -> bool {
        self.pattern.split('/').any(|segment| segment.starts_with('*'))
    }

    fn fill(&self, rng: &mut Rng) -> Filled {
        let mut body = format!("{} {}", self.method, self.pattern);
        let mut is_static = true;
        let mut segment = |segment: &str| match parameter(segment) {
            None => segment.to_owned(),
            Some(name) => {
                let value: String = (0..VALUE_LENGTH).map(|_| rng.alphanumeric()).collect();
                body.push_str(&format!(" {name}={value}"));
                is_static = false;
                value
            }
        };
        let path = self.pattern.split('/').map(&mut segment).collect::<Vec<_>>().join("/");
        let body = (self.method != "HEAD").then(|| body.into_bytes());
        Filled { missing: format!("{path}{NONE}"), path, body, is_static }
    }

    /// Whether a path is one of the route's, whatever the method: a known path with another method may get 405.
    fn matches(&self, path: &str) -> bool {
        let mut asked = path.split('/');
        for own in self.pattern.split('/') {
            if own.starts_with('*') {
                return true;
            }
            let Some(segment) = asked.next() else { return false };
            let same = if parameter(own).is_some() { !segment.is_empty() } else { own == segment };
            if !same {
                return false;
            }
        }
        asked.next().is_none()
    }
}

/// The name of the parameter that a segment of a pattern stands for.
fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix(':').or_else(|| segment.strip_prefix('*'))
}
