//! `[load]`: what is sent, how fast, and what must come back.

use std::collections::BTreeMap;
use std::path::Path;

use model::{
    Arrivals, Extent, HttpVersion, LoadKey, LoadModel, Mix, MixRequests, NS_PER_S, RATES_PER_S, RateInWords,
    ReplyExpectation, Request, format_duration,
};

use super::diagnostic::{Fault, Read, Span};
use super::mix::{Choice, RouteMix};
use super::section::{Item, Section};
use super::value::{Placed, Value};
use crate::framing;

/// Keys of the load that hold for the whole experiment.
pub(super) const FIXED: [&str; 3] = ["model", "headers", "mix"];

/// Reads one value of a key.
pub(super) fn value(key: LoadKey, item: Item) -> Read<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    Ok(match key {
        LoadKey::Path => text(path(item)?),
        LoadKey::Method => text(method(item)?),
        LoadKey::Body | LoadKey::ExpectBody => text(item.content()?),
        LoadKey::Rate if item.is_text() => text(&rate_in_words(item)?),
        LoadKey::Rate => Value::Number(rate(item)?),
        LoadKey::Arrivals => one_of(item, Arrivals::ALL, Arrivals::id)?,
        LoadKey::Connections => Value::Whole(item.small(1, "100")?.into()),
        LoadKey::Pipeline => Value::Whole(pipeline(item)?),
        LoadKey::KeepAlive | LoadKey::Tls | LoadKey::TlsResume => Value::Flag(item.flag()?),
        LoadKey::Http => one_of(item, &[HttpVersion::Http11, HttpVersion::Http10], HttpVersion::id)?,
        LoadKey::Timeout => Value::DurationNs(item.positive_duration()?),
        LoadKey::NetworkDelay => Value::DurationNs(network_delay(item)?),
        LoadKey::ExpectStatus => Value::Whole(status(item)?),
        LoadKey::Requests => one_of(item, MixRequests::ALL, MixRequests::id)?,
    })
}

fn one_of<T: Copy>(item: Item, all: &[T], id: fn(T) -> &'static str) -> Read<Value> {
    let ids: Vec<&str> = all.iter().copied().map(id).collect();
    Ok(Value::Text(item.word(&ids)?.to_owned()))
}

/// A path as it goes on the request line.
pub(super) fn path<'a>(item: Item<'a>) -> Read<&'a str> {
    let path = item.text()?;
    if !path.starts_with('/') {
        return Err(item.fault(format!("`{}` must begin with `/`", item.name())).help(format!("write `\"/{path}\"`")));
    }
    if path.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let cure = "write a space as `%20`";
        return Err(item.fault(format!("`{}` has a space or a control character", item.name())).help(cure));
    }
    Ok(path)
}

fn method<'a>(item: Item<'a>) -> Read<&'a str> {
    let method = item.text()?;
    let fault = || item.fault(format!("`{method}` is not a method to measure with")).help(framing::as_method(method));
    framing::is_method(method).then_some(method).ok_or_else(fault)
}

/// As deep as a connection's books go.
const DEEPEST_PIPELINE: u64 = 1024;

fn pipeline(item: Item) -> Read<u64> {
    let depth = item.whole(1, "16")?;
    let fault = || item.fault(format!("`{}` must be at most {DEEPEST_PIPELINE}, not {depth}", item.name()));
    (depth <= DEEPEST_PIPELINE).then_some(depth).ok_or_else(|| fault().help("write for instance `pipeline = 16`"))
}

fn rate(item: Item) -> Read<f64> {
    let rate = item.number()?;
    let message = || format!("`{}` must be from 0.001 to 10 million, not {rate:?}", item.name());
    RATES_PER_S
        .contains(&rate)
        .then_some(rate)
        .ok_or_else(|| item.fault(message()).help("it is in requests a second over all connections"))
}

/// `"closed"`, or a share of what a closed load gets.
fn rate_in_words(item: Item) -> Read<String> {
    let text = item.text()?;
    let is_rate = |rate: &RateInWords| match rate {
        RateInWords::Closed => true,
        RateInWords::OfClosed(percent) => *percent > 0.0 && *percent <= 100.0,
    };
    RateInWords::parse(text).filter(is_rate).map(|rate| rate.to_string()).ok_or_else(|| {
        let (closed, half) = (RateInWords::Closed, RateInWords::OfClosed(50.0));
        item.fault(format!("`{text}` is not a rate")).help(format!(
            "write requests a second, `\"{closed}\"`, or a share of what a closed load gets: `\"{half}\"`"
        ))
    })
}

/// Above it, what is held for a busy connection would outgrow every buffer.
const LONGEST_NETWORK_DELAY_NS: u64 = 10 * NS_PER_S;

fn network_delay(item: Item) -> Read<u64> {
    let delay_ns = item.duration()?;
    let longest = format_duration(LONGEST_NETWORK_DELAY_NS);
    let fault =
        || item.fault(format!("`{}` must be at most {longest}, not {}", item.name(), format_duration(delay_ns)));
    (delay_ns <= LONGEST_NETWORK_DELAY_NS)
        .then_some(delay_ns)
        .ok_or_else(|| fault().help("it is what a round trip costs, for instance `\"10ms\"`"))
}

fn status(item: Item) -> Read<u64> {
    let status = item.whole(100, "200")?;
    let fault = || item.fault(format!("{status} is not a status")).help("a status is a number from 100 to 599");
    (status < 600).then_some(status).ok_or_else(fault)
}

fn header(item: &Item) -> Read<(String, String)> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if item.name().is_empty() || !item.name().chars().all(is_token) {
        return Err(Fault::new(item.key_span(), format!("`{}` is not a header's name", item.name()))
            .help("a header's name has letters, digits and `-`"));
    }
    let value = item.any_text()?;
    if value.chars().any(|c| c.is_control() && c != '\t') {
        let fault = item.fault(format!("the header `{}` has a line break or control character", item.name()));
        return Err(fault.help("write each header on its own: `headers = { X-A = \"1\", X-B = \"2\" }`"));
    }
    Ok((item.name().to_owned(), value.to_owned()))
}

/// Which load models the cells have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    Closed,
    Open,
    /// Open where a cell has a rate, closed where it has none: there the level of `rate` is "closed".
    Both,
}

/// The load, with every default filled in; cells override single keys.
#[derive(Debug, Clone)]
pub(super) struct Load {
    model: Model,
    model_span: Span,
    headers: Vec<(String, String)>,
    headers_span: Span,
    mix: Option<RouteMix>,
    values: BTreeMap<LoadKey, Placed>,
}

impl Load {
    /// Reads `[load]`, and the files that it names, relative to the folder `beside`; none is a closed load on `/`.
    pub(super) fn read(section: Option<&Section>, beside: &Path) -> Read<Load> {
        let mut load = Load {
            model: Model::Closed,
            model_span: 0..0,
            headers: Vec::new(),
            headers_span: 0..0,
            mix: None,
            values: defaults(),
        };
        let Some(section) = section else { return Ok(load) };
        let keys: Vec<&str> = FIXED.into_iter().chain(LoadKey::ALL.iter().map(|key| key.id())).collect();
        section.only(&keys)?;
        load.model_span = section.span();
        if let Some(item) = section.get("model") {
            load.model = match item.word(&["closed", "open", "both"])? {
                "open" => Model::Open,
                "both" => Model::Both,
                _ => Model::Closed,
            };
            load.model_span = item.span();
            if load.model == Model::Both {
                load.set(
                    LoadKey::Rate,
                    &Placed { value: Value::Text(RateInWords::Closed.to_string()), span: item.span() },
                );
            }
        }
        if let Some(headers) = section.read("headers", |item| item.section("`headers`"))? {
            load.headers = headers.items().iter().map(header).collect::<Read<_>>()?;
            load.headers_span = headers.span();
        }
        load.mix = section.read("mix", |item| RouteMix::read(item, beside))?;
        for key in LoadKey::ALL.iter().copied() {
            if let Some(item) = section.get(key.id()) {
                load.allow(key, item.key_span())?;
                load.set(key, &Placed { value: value(key, item)?, span: item.span() });
            }
        }
        Ok(load)
    }

    /// Refuses keys that have no meaning in this load.
    pub(super) fn allow(&self, key: LoadKey, key_span: Span) -> Read<()> {
        use LoadKey::{Arrivals, Body, ExpectBody, ExpectStatus, Method, Path, Rate, Requests};
        let name = key.id();
        let (message, cure) = match key {
            Rate | Arrivals if self.model == Model::Closed => (
                format!("a closed load has no `{name}`: each connection sends when its last reply came"),
                format!(
                    "write `model = \"open\"` in [load] (or \"both\": open where there is a rate), or leave `{name}` out"
                ),
            ),
            Path | Method | Body | ExpectStatus | ExpectBody if self.mix.is_some() => (
                format!("a mix has no `{name}`: its file says what is asked and what must come back"),
                format!("leave `{name}` out, or `mix`"),
            ),
            Requests if self.mix.is_none() => (
                "`requests` chooses from a mix, and this load has none".to_owned(),
                "write `mix = { file = \"…\", set = \"…\" }` in [load], or leave `requests` out".to_owned(),
            ),
            _ => return Ok(()),
        };
        Err(Fault::new(key_span, message).help(cure))
    }

    /// Overrides one key.
    pub(super) fn set(&mut self, key: LoadKey, placed: &Placed) {
        self.values.insert(key, placed.clone());
    }

    /// The value of a key, where it has one.
    pub(super) fn get(&self, key: LoadKey) -> Option<&Value> {
        self.values.get(&key).map(|placed| &placed.value)
    }

    fn text(&self, key: LoadKey) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A value whose range was looked at when it was read; 1 where none is given.
    fn small<N: TryFrom<u64> + From<u8>>(&self, key: LoadKey) -> N {
        self.whole(key).and_then(|value| N::try_from(value).ok()).unwrap_or_else(|| N::from(1))
    }

    fn whole(&self, key: LoadKey) -> Option<u64> {
        match self.get(key) {
            Some(Value::Whole(value)) => Some(*value),
            _ => None,
        }
    }

    fn flag(&self, key: LoadKey) -> bool {
        self.get(key) == Some(&Value::Flag(true))
    }

    /// The place of what asks for TLS, where the load is over TLS.
    pub(super) fn asks_for_tls(&self) -> Option<Span> {
        self.values.get(&LoadKey::Tls).filter(|_| self.flag(LoadKey::Tls)).map(|placed| placed.span.clone())
    }

    /// Whether sessions are resumed.
    pub(super) fn tls_resume(&self) -> Read<bool> {
        let (resume, span) = (self.flag(LoadKey::TlsResume), self.values.get(&LoadKey::TlsResume));
        if resume && !self.flag(LoadKey::Tls) {
            return Err(Fault::new(
                span.map_or(0..0, |placed| placed.span.clone()),
                "without TLS no session can be resumed",
            )
            .help(
                "write `tls = true` as well, or leave `tls_resume` out; cells without TLS belong into another [[vary]]",
            ));
        }
        Ok(resume)
    }

    /// The path without its query.
    pub(super) fn path_alone(&self) -> &str {
        let path = self.text(LoadKey::Path).unwrap_or("/");
        path.split_once('?').map_or(path, |(alone, _)| alone)
    }

    /// Whether routes of a mix are asked for that exist.
    pub(super) fn asks_routes(&self) -> bool {
        self.mix.is_some() && self.text(LoadKey::Requests) != Some(MixRequests::Miss.id())
    }

    /// What is asked for, in words.
    pub(super) fn asks(&self) -> String {
        if self.mix.is_some() { "routes of a mix".to_owned() } else { format!("the path `{}`", self.path_alone()) }
    }

    /// The load of a cell, whose level of the targets' setting `routes` is given where it has one.
    pub(super) fn cell(
        &self,
        (warm_up_ns, window_ns): (u64, u64),
        seed: u64,
        routes: Option<&Placed>,
    ) -> Read<model::Load> {
        let pipeline = self.small(LoadKey::Pipeline);
        let keep_alive = self.flag(LoadKey::KeepAlive);
        let span = self.values.get(&LoadKey::Pipeline).map_or(0..0, |placed| placed.span.clone());
        if pipeline > 1 && !keep_alive {
            return Err(Fault::new(span, "nothing can be pipelined without keep-alive")
                .help("a connection serves one request then: write `pipeline = 1`, or `keep_alive = true`"));
        }
        if let Some(fault) = framing::fault(&self.headers, self.text(LoadKey::Body).unwrap_or_default().as_bytes()) {
            return Err(Fault::sentence(self.headers_span.clone(), &fault));
        }
        let mix = self.mix(seed, routes)?;
        if let Some((message, cure)) = framing::too_much_at_once(&mix, pipeline, "pipeline = ") {
            return Err(Fault::new(span, message).help(cure));
        }
        Ok(model::Load {
            mix,
            model: self.load_model()?,
            connections: self.small(LoadKey::Connections),
            pipeline,
            keep_alive,
            timeout_ns: self.duration_ns(LoadKey::Timeout),
            network_delay_ns: self.network_delay_ns(),
            warm_up_ns,
            extent: Extent::Window(window_ns),
        })
    }

    fn mix(&self, seed: u64, routes: Option<&Placed>) -> Read<Mix> {
        let Some(mix) = &self.mix else { return Ok(Mix::one(self.request(), self.expect())) };
        let requests = self.text(LoadKey::Requests).and_then(MixRequests::from_id).unwrap_or(MixRequests::Hit);
        mix.requests(&Choice { requests, routes, seed }, &self.request())
    }

    fn request(&self) -> Request {
        let text = |key| self.text(key).unwrap_or_default().to_owned();
        Request {
            method: text(LoadKey::Method),
            path: text(LoadKey::Path),
            host: String::new(),
            headers: self.headers.clone(),
            body: text(LoadKey::Body).into_bytes(),
            version: self.text(LoadKey::Http).and_then(HttpVersion::from_id).unwrap_or(HttpVersion::Http11),
        }
    }

    fn expect(&self) -> ReplyExpectation {
        ReplyExpectation {
            status: self.whole(LoadKey::ExpectStatus).and_then(|status| u16::try_from(status).ok()),
            body: self.text(LoadKey::ExpectBody).map(|body| body.as_bytes().to_vec()),
        }
    }

    fn load_model(&self) -> Read<LoadModel> {
        if self.model == Model::Closed || self.rate_in_words() == Some(RateInWords::Closed) {
            return Ok(LoadModel::Closed);
        }
        match self.get(LoadKey::Rate) {
            // Closed until the rate is measured.
            _ if self.rate_share().is_some() => Ok(LoadModel::Closed),
            Some(Value::Number(rate)) => Ok(LoadModel::Open { rate_per_s: *rate, arrivals: self.arrivals() }),
            _ => Err(Fault::new(self.model_span.clone(), "an open load needs a `rate`")
                .help("write for instance `rate = 1000` (requests a second) in [load] or [vary]")),
        }
    }

    /// How the arrivals of an open load are spaced.
    pub(super) fn arrivals(&self) -> Arrivals {
        self.text(LoadKey::Arrivals).and_then(Arrivals::from_id).unwrap_or(Arrivals::Constant)
    }

    /// The share of capacity that the rate is, where it is one.
    pub(super) fn rate_share(&self) -> Option<f64> {
        match self.rate_in_words()? {
            RateInWords::OfClosed(percent) => Some(percent / 100.0),
            RateInWords::Closed => None,
        }
    }

    fn rate_in_words(&self) -> Option<RateInWords> {
        self.text(LoadKey::Rate).and_then(RateInWords::parse)
    }

    /// What the network adds to a round trip.
    pub(super) fn network_delay_ns(&self) -> u64 {
        self.duration_ns(LoadKey::NetworkDelay).unwrap_or(0)
    }

    fn duration_ns(&self, key: LoadKey) -> Option<u64> {
        match self.get(key) {
            Some(Value::DurationNs(ns)) => Some(*ns),
            _ => None,
        }
    }
}

fn defaults() -> BTreeMap<LoadKey, Placed> {
    let text = |text: &str| Value::Text(text.to_owned());
    let values = [
        (LoadKey::Path, text("/")),
        (LoadKey::Method, text("GET")),
        (LoadKey::Connections, Value::Whole(100)),
        (LoadKey::Pipeline, Value::Whole(1)),
        (LoadKey::KeepAlive, Value::Flag(true)),
        (LoadKey::Tls, Value::Flag(false)),
        (LoadKey::TlsResume, Value::Flag(false)),
        (LoadKey::Http, text(HttpVersion::Http11.id())),
        (LoadKey::NetworkDelay, Value::DurationNs(0)),
        (LoadKey::ExpectStatus, Value::Whole(200)),
        (LoadKey::Requests, text(MixRequests::Hit.id())),
    ];
    values.into_iter().map(|(key, value)| (key, Placed { value, span: 0..0 })).collect()
}
