//! The whole loop, in either language and over either wire, against a peer that may do anything: the load ends on time and
//! its books balance.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use engine::simulation::echo::{Kind, frame};
use engine::simulation::{Act, Connecting, Language, Script, follow};
use libfuzzer_sys::fuzz_target;
use model::{
    Arrivals, Extent, HttpVersion, Load, LoadModel, LoadSpec, Mix, ReplyExpectation, Request, Tls, Trust,
    WeightedRequest,
};

const MS: u64 = 1_000_000;

/// Replies and parts of replies; the fuzzer adds bytes of its own.
const TEXTS: [&[u8]; 12] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHello world",
    b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHello worle",
    b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"6;ext=\"a\"\r\nHello \r\n",
    b"5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 11\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nHello world",
    b"HTTP/1.1 200 OK\r\nX: ",
];

#[derive(Debug)]
struct Input {
    spec: LoadSpec,
    script: Script,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Input { spec: spec(u)?, script: script(u)? })
    }
}

fn spec(u: &mut Unstructured<'_>) -> Result<LoadSpec> {
    let keep_alive = u.ratio(3, 4)?;
    let window_ns = u.int_in_range(1..=200)? * MS;
    let rate_per_s = f64::from(u.int_in_range(1..=2000u32)?);
    let arrivals = if u.arbitrary()? { Arrivals::Constant } else { Arrivals::Poisson };
    let exact = Extent::Requests { count: u.int_in_range(1..=100)?, within_ns: Some(window_ns) };
    Ok(LoadSpec {
        load: Load {
            mix: mix(u)?,
            model: if u.arbitrary()? { LoadModel::Closed } else { LoadModel::Open { rate_per_s, arrivals } },
            connections: u.int_in_range(1..=4)?,
            pipeline: if keep_alive { u.int_in_range(1..=4)? } else { 1 },
            keep_alive,
            timeout_ns: if u.arbitrary()? { Some(u.int_in_range(1..=100)? * MS) } else { None },
            warm_up_ns: u.int_in_range(0..=20)? * MS,
            extent: if u.ratio(3, 4)? { Extent::Window(window_ns) } else { exact },
            network_delay_ns: 0,
        },
        address: ([127, 0, 0, 1], 1).into(),
        start_spread_ns: 0,
        threads: 1,
        cpus: vec![],
        seed: u.arbitrary()?,
        sources: vec![],
        tls: if u.ratio(1, 8)? { Some(tls()) } else { None },
        // Virtual time does not pass while a thread spins.
        spin: false,
    })
}

/// Of a peer that does not speak it, what it says meets the handshake.
fn tls() -> Tls {
    Tls { server_name: "x".into(), trust: Trust::Anyone, resumption: false }
}

fn mix(u: &mut Unstructured<'_>) -> Result<Mix> {
    let version = if u.ratio(7, 8)? { HttpVersion::Http11 } else { HttpVersion::Http10 };
    let requests = (0..u.int_in_range(1..=3usize)?).map(|_| {
        let request = Request {
            method: u.choose(&["GET", "HEAD", "POST"])?.to_string(),
            path: "/".into(),
            host: "x".into(),
            headers: vec![],
            body: vec![b'x'; if u.ratio(1, 8)? { 4000 } else { 0 }],
            version,
        };
        let body = u.arbitrary::<bool>()?.then(|| b"Hello world".to_vec());
        Ok(WeightedRequest { request, expect: ReplyExpectation { status: Some(200), body }, weight: 1.0 })
    });
    Ok(Mix::of(requests.collect::<Result<_>>()?).expect("there is a request, weights are 1, and all are of one version"))
}

fn script(u: &mut Unstructured<'_>) -> Result<Script> {
    use Connecting::{Hangs, Opens, Refused, RefusedAtOnce};
    let few = |u: &mut Unstructured<'_>| u.int_in_range(0..=4usize);
    let connects =
        (0..few(u)?).map(|_| Ok(*u.choose(&[Opens, Opens, RefusedAtOnce, Refused, Hangs])?)).collect::<Result<_>>()?;
    let sends = (0..few(u)?).map(|_| Ok(*u.choose(&[usize::MAX, 0, 1, 20, 37, 100])?)).collect::<Result<_>>()?;
    let behind_tls = u.arbitrary()?;
    let language = if u.ratio(2, 3)? { Language::Http1 } else { Language::Echo };
    let mut acts = Vec::new();
    while !u.is_empty() && acts.len() < 400 {
        acts.push(act(u, language)?);
    }
    Ok(Script { connects, sends, send_error: None, acts, behind_tls, language })
}

/// A text of the language.
fn text(u: &mut Unstructured<'_>, language: Language) -> Result<Vec<u8>> {
    if language == Language::Http1 {
        return Ok(u.choose(&TEXTS)?.to_vec());
    }
    let kind = *u.choose(&[Kind::Answer, Kind::Answer, Kind::Drop, Kind::Limit, Kind::Ping, Kind::Leave, Kind::Ask])?;
    let payload: &[u8] = u.choose(&[&b"Hello world"[..], b"", b"Hello worle", &[b'x'; 4000]])?;
    Ok(frame(kind, u.int_in_range(0..=20)?, payload))
}

fn act(u: &mut Unstructured<'_>, language: Language) -> Result<Act> {
    let slot = u.int_in_range(0..=3)?;
    Ok(match u.int_in_range(0..=11)? {
        0..=4 => Act::Bytes(slot, text(u, language)?),
        5 => {
            let text = text(u, language)?;
            let (from, length) = (u.choose_index(text.len())?, u.arbitrary::<u8>()?);
            Act::Bytes(slot, text[from..].iter().copied().take(usize::from(length)).collect())
        }
        6 => {
            let length = u.int_in_range(0..=32)?;
            Act::Bytes(slot, u.bytes(length.min(u.len()))?.to_vec())
        }
        7 => Act::Bytes(slot, vec![u.arbitrary()?; u.int_in_range(0..=70_000)?]),
        8 => Act::Pass(u.int_in_range(0..=30)? * MS),
        9 => Act::Drain(slot),
        10 => Act::Close(slot),
        _ => Act::Reset(slot),
    })
}

fuzz_target!(|input: Input| {
    let (output, over_ns) = follow(&input.spec, input.script).expect("whatever a peer does is a result");
    let measured = output.measurement;
    assert_eq!(over_ns, 0, "the load ended late");
    assert_eq!(measured.accounting.imbalance(), None);
    let residence = measured.residence;
    let difference = (residence.in_flight_s - residence.requests_s).abs();
    assert!(difference <= 1e-6 + 1e-9 * residence.requests_s, "Little's identity: {residence:?}");
    if let Extent::Requests { count, .. } = input.spec.extent {
        assert!(measured.accounting.scheduled <= count, "{:?}", measured.accounting);
    }
});
