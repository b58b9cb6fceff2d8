//! The loop over TLS, against servers that speak it, speak it badly, or not at all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod handshakes;
mod replies;
#[path = "../support/mod.rs"]
mod support;
mod trust;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{RunOptions, run};
use model::{Extent, LoadModel, LoadSpec, Measurement, Mix, ReplyExpectation, Tls, Trust};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use support::MS;

const NAME: &str = "server.test";

type Served = StreamOwned<ServerConnection, TcpStream>;

/// A certificate for [`NAME`] that is its own authority.
fn certificate() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed([NAME.to_owned()]).unwrap()
}

fn config(certified: &CertifiedKey<KeyPair>, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let mut config = builder
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

fn spec(address: SocketAddr, certified: &CertifiedKey<KeyPair>) -> LoadSpec {
    let plain = support::spec(LoadModel::Closed, 4, 200 * MS);
    plain.with(|it| {
        it.address = address;
        it.mix = Mix::one(
            support::request("GET", "/", b""),
            ReplyExpectation { status: Some(200), body: Some(BODY.into()) },
        );
        it.extent = Extent::Requests { count: 200, within_ns: None };
        it.tls =
            Some(Tls { server_name: NAME.into(), trust: Trust::Authorities(certified.cert.pem()), resumption: false });
    })
}

const BODY: &str = "Hello over TLS";

/// Answers each request head of the stream, in as many writes as the reply is cut into.
fn answer(stream: &mut (impl Read + Write), body: &str, cut: usize) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
        while let Some(at) = seen.windows(4).position(|four| four == b"\r\n\r\n") {
            seen.drain(..at + 4);
            let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            for part in reply.as_bytes().chunks(cut) {
                if stream.write_all(part).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        }
    }
}

/// Loads a server that does `serve` with each connection, on a thread of its own.
fn load(serve: impl Fn(TcpStream) + Copy + Send + 'static, spec: impl FnOnce(SocketAddr) -> LoadSpec) -> Measurement {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = spec(listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve(stream));
        }
    });
    let measured = run(&spec, RunOptions::default(), &AtomicBool::new(false), &mut |_| {}).unwrap().measurement;
    assert_eq!(measured.accounting.imbalance(), None);
    measured
}

/// Loads a server that speaks TLS and does `serve` with each connection.
fn load_tls(
    versions: &[&'static SupportedProtocolVersion],
    serve: impl Fn(Served) + Copy + Send + 'static,
    change: impl FnOnce(&mut LoadSpec),
) -> Measurement {
    let certified = certificate();
    let config: &'static Arc<ServerConfig> = Box::leak(Box::new(config(&certified, versions)));
    load(
        move |stream| serve(StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream)),
        |address| {
            let mut spec = spec(address, &certified);
            change(&mut spec);
            spec
        },
    )
}
