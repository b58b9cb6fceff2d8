//! What a target must keep up with several requests in flight: a cheat may wait until it is asked more than one thing.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use engine::RunOptions;
use fastrand::Rng;
use model::{
    Extent, Factor, HttpVersion, Load, LoadModel, LoadSpec, Measurement, Mix, NS_PER_S, Request, RequestCount, Target,
    Tls, WeightedRequest,
};

use super::digests::digest;
use super::{Check, ContractBreach, DELAY, EARLY, expecting, word};

const CONNECTIONS: u32 = 8;

/// Ten delays, and some hundred replies of the slowest language.
const WINDOW_NS: u64 = NS_PER_S;

/// Before it: a server that starts workers once it is asked adds a few every second, and each of its connections holds one.
const WARM_UP_NS: u64 = NS_PER_S;

/// Different nonces and ids in one load: too many to be an accident if one is answered for another.
const VARIANTS: usize = 64;

/// Passes of each hash under load.
const PASSES: u32 = 2;

/// One endpoint's part of a load.
struct Part {
    endpoint: &'static str,
    /// The point, in words.
    name: String,
    /// Path and body of each of its requests.
    asked: Vec<(String, String)>,
}

/// The points that are tried under load, of what the target serves.
pub(super) fn under_load(
    (address, tls): (SocketAddr, Option<&Tls>),
    target: &Target,
    data: &[u8],
    seed: u64,
    stop: &AtomicBool,
) -> Vec<Check> {
    let waits = target.settings.contains_key(Factor::HandlerDelay.id());
    let (delayed, prompt): (Vec<Part>, Vec<Part>) = parts(data, &mut Rng::with_seed(seed))
        .into_iter()
        .filter(|part| target.serves(part.endpoint))
        .partition(|part| waits && matches!(part.endpoint, "/rest/hello" | "/index"));
    let mut checks = Vec::new();
    for (parts, waits) in [(prompt, false), (delayed, true)] {
        if let Some(mix) = mix(&parts, address) {
            checks.extend(load((address, tls), mix, seed, stop).map_or_else(
                |error| vec![answered(&parts, Some(error))],
                |measured| points(&parts, &measured, waits, seed),
            ));
        }
    }
    checks
}

fn parts(data: &[u8], rng: &mut Rng) -> Vec<Part> {
    let words = |rng: &mut Rng| -> Vec<String> { (0..VARIANTS).map(|_| word(rng)).collect() };
    let one = |endpoint, body: &str| Part {
        endpoint,
        name: format!("GET {endpoint} gives {body:?} under load"),
        asked: vec![(endpoint.to_owned(), body.to_owned())],
    };
    let hash = |nonce: String| (format!("/hash?n={PASSES}&nonce={nonce}"), digest(data, PASSES, &nonce));
    let user = |id: String| (format!("/user/{id}"), format!("{{\"id\":\"{id}\",\"name\":\"User\"}}"));
    vec![
        Part {
            endpoint: "/hash",
            name: format!("GET /hash gives the digests of {VARIANTS} nonces under load"),
            asked: words(rng).into_iter().map(hash).collect(),
        },
        Part {
            endpoint: "/user/:id",
            name: format!("GET /user/:id gives {VARIANTS} users under load"),
            asked: words(rng).into_iter().map(user).collect(),
        },
        one("/", "Welcome!\n"),
        one("/ping", r#"{"message":"pong"}"#),
        one("/rest/hello", "Hello world"),
        one("/index", "index\n"),
    ]
}

/// Each part as often as any other; none without parts.
fn mix(parts: &[Part], address: SocketAddr) -> Option<Mix> {
    let weighted = |part: &Part| {
        let weight = 1.0 / part.asked.len() as f64;
        let one = move |(path, body): &(String, String)| WeightedRequest {
            request: Request {
                method: "GET".to_owned(),
                path: path.clone(),
                host: address.to_string(),
                headers: Vec::new(),
                body: Vec::new(),
                version: HttpVersion::Http11,
            },
            expect: expecting(200, Some(body)),
            weight,
        };
        part.asked.iter().map(one).collect::<Vec<_>>()
    };
    Mix::of(parts.iter().flat_map(weighted).collect())
}

fn load(
    (address, tls): (SocketAddr, Option<&Tls>),
    mix: Mix,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Measurement, String> {
    let spec = LoadSpec {
        load: Load {
            mix,
            model: LoadModel::Closed,
            connections: CONNECTIONS,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            warm_up_ns: WARM_UP_NS,
            extent: Extent::Window(WINDOW_NS),
            network_delay_ns: 0,
        },
        address,
        start_spread_ns: 0,
        threads: 1,
        cpus: Vec::new(),
        seed,
        sources: Vec::new(),
        tls: tls.cloned(),
        spin: false,
        quick_ack: false,
    };
    let output = engine::run(&spec, RunOptions::default(), stop, &mut |_| {});
    output.map(|output| output.measurement).map_err(|error| error.to_string())
}

/// The points of one load, endpoint by endpoint and as a whole.
fn points(parts: &[Part], measured: &Measurement, waits: bool, seed: u64) -> Vec<Check> {
    let books = &measured.accounting;
    // A load of a single request is counted by its books alone.
    let alone = [RequestCount { completed: books.completed, wrong: books.completed - books.ok }];
    let mut counts = if measured.by_request.is_empty() { &alone } else { &measured.by_request[..] };
    let mut checks = Vec::new();
    for part in parts {
        let (own, others) = counts.split_at(part.asked.len().min(counts.len()));
        counts = others;
        // The first wrong reply of the load is this endpoint's where no other gave a wrong one.
        let of_others =
            total(&measured.by_request, |count| count.wrong).saturating_sub(total(own, |count| count.wrong));
        let first = measured.first_wrong.clone().filter(|_| of_others == 0 || measured.by_request.is_empty());
        let breach =
            wrong(part, own).map(|seen| ContractBreach { seen: format!("{seen} (seed {seed})"), wrong: first });
        checks.push(Check { endpoint: part.endpoint, name: part.name.clone(), breach });
    }
    checks.push(answered(parts, unanswered(measured)));
    checks.extend(waits.then(|| waited(parts, measured)));
    checks
}

fn total(counts: &[RequestCount], pick: fn(&RequestCount) -> u64) -> u64 {
    counts.iter().map(pick).sum()
}

/// How many replies to an endpoint were wrong, and to which request.
fn wrong(part: &Part, counts: &[RequestCount]) -> Option<String> {
    let (completed, wrong) = (total(counts, |count| count.completed), total(counts, |count| count.wrong));
    let first = counts.iter().zip(&part.asked).find(|(count, _)| count.wrong > 0)?.1;
    Some(format!(
        "{wrong} of {completed} replies were wrong with {CONNECTIONS} requests in flight, one to GET {}",
        first.0
    ))
}

/// The point that every request of a load got a reply.
fn answered(parts: &[Part], breach: Option<String>) -> Check {
    let breach = breach.map(ContractBreach::from);
    let endpoints: Vec<&str> = parts.iter().map(|part| part.endpoint).collect();
    Check {
        endpoint: endpoints.first().copied().unwrap_or("/"),
        name: format!("{CONNECTIONS} connections that ask for {} are answered", endpoints.join(", ")),
        breach,
    }
}

fn unanswered(measured: &Measurement) -> Option<String> {
    let books = &measured.accounting;
    let not_sent: u64 = books.not_sent.iter().filter(|(kind, _)| !kind.is_at_end()).map(|(_, count)| count).sum();
    let failed = books.failed_total();
    match books.in_flight_at_end {
        _ if books.completed == 0 => Some("there was no whole reply at all".to_owned()),
        _ if failed + not_sent > 0 => Some(format!(
            "{} of {} requests failed: {}",
            failed + not_sent,
            books.scheduled,
            measured.failures.iter().map(|failure| failure.kind.id()).collect::<Vec<_>>().join(", ")
        )),
        0 => None,
        left => Some(format!("{left} of {} requests had no whole reply a second after the load", books.scheduled)),
    }
}

/// The `ceiling` of docs/METHOD.md: N·(T ÷ (S − 1 ms) + 1) replies at most, or the wait was skipped.
fn waited(parts: &[Part], measured: &Measurement) -> Check {
    let rounds = measured.window_s / (DELAY - EARLY).as_secs_f64() + 1.0;
    let most = f64::from(CONNECTIONS) * rounds;
    let completed = measured.in_window.completed;
    let endpoints: Vec<&str> = parts.iter().map(|part| part.endpoint).collect();
    let breach = (completed as f64 > most).then(|| {
        format!(
            "the delay was skipped: {completed} replies in {:.1} s, where {CONNECTIONS} connections allow {most:.0}",
            measured.window_s
        )
        .into()
    });
    Check {
        endpoint: endpoints.first().copied().unwrap_or("/rest/hello"),
        name: format!("{} wait {DELAY:?} under load", endpoints.join(" and ")),
        breach,
    }
}
