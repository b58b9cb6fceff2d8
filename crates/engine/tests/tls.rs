//! The loop over TLS, against servers that speak it, speak it badly, or not at all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{LoadError, RunOptions, run};
use model::{Extent, Failure, LoadModel, LoadSpec, Measurement, Mix, NotSent, ReplyExpectation, Tls, TlsFault, Trust};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedKey, DnType, IsCa, Issuer, KeyPair, generate_simple_self_signed,
};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion, version};
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

#[test]
fn every_reply_comes_through_and_what_was_agreed_on_is_told() {
    for (version, name) in [(&version::TLS13, "TLS 1.3"), (&version::TLS12, "TLS 1.2")] {
        let measured = load_tls(&[version], |mut stream| answer(&mut stream, BODY, usize::MAX), |_| {});
        assert_eq!(measured.accounting.ok, 200, "{:?}", measured.failures);
        let tls = measured.tls.unwrap();
        assert_eq!((tls.handshakes, tls.resumed, tls.failed), (4, 0, 0));
        assert_eq!((tls.version.as_deref(), tls.alpn.as_deref()), (Some(name), Some("http/1.1")));
        let latencies = measured.latency_us;
        assert_eq!((latencies.connect.unwrap().count, latencies.handshake.unwrap().count), (4, 4));
    }
}

#[test]
fn replies_in_pieces_long_replies_and_pipelines_come_through() {
    let piecemeal = load_tls(&[&version::TLS13], |mut stream| answer(&mut stream, BODY, 7), |_| {});
    assert_eq!(piecemeal.accounting.ok, 200);

    const LONG: usize = 700_000;
    let long = |mut stream: Served| answer(&mut stream, &"x".repeat(LONG), usize::MAX);
    let measured = load_tls(&[&version::TLS13], long, |spec| {
        spec.extent = Extent::Requests { count: 20, within_ns: None };
        spec.mix = Mix::one(
            spec.mix.requests()[0].request.clone(),
            ReplyExpectation { status: Some(200), body: Some("x".repeat(LONG).into()) },
        );
    });
    assert_eq!(measured.accounting.ok, 20);

    let deep =
        load_tls(&[&version::TLS13], |mut stream| answer(&mut stream, BODY, usize::MAX), |spec| spec.pipeline = 8);
    assert_eq!(deep.accounting.ok, 200);
}

#[test]
fn a_body_larger_than_the_kernel_takes_at_once_is_sent_whole() {
    const LONG: usize = 3_000_000;
    /// Reads slowly at first, so that the client has to wait until it may send on.
    fn count(mut stream: Served) {
        let (mut read, mut buffer, mut head) = (0, vec![0; 16 * 1024], None);
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let end = || buffer[..count].windows(4).position(|four| four == b"\r\n\r\n");
            read += count;
            head = head.or_else(|| end().map(|at| at + 4));
            if head.is_some_and(|head| read == head + LONG) {
                let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
                stream.write_all(reply.as_bytes()).and_then(|()| stream.flush()).unwrap();
                (read, head) = (0, None);
            }
        }
    }
    let measured = load_tls(&[&version::TLS13], count, |spec| {
        spec.extent = Extent::Requests { count: 8, within_ns: None };
        let mut request = spec.mix.requests()[0].request.clone();
        (request.method, request.body) = ("POST".into(), vec![b'y'; LONG]);
        spec.mix = Mix::one(request, spec.mix.requests()[0].expect.clone());
    });
    assert_eq!(measured.accounting.ok, 8, "{:?}", measured.failures);
}

#[test]
fn a_session_is_resumed_only_where_that_was_asked_for() {
    fn one_each(mut stream: Served) {
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            let reply = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
            stream.write_all(reply.as_bytes()).and_then(|()| stream.flush()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().ok();
            while let Ok(1..) = stream.read(&mut buffer) {}
        }
    }
    // A burst of connections finds a ticket for each.
    let burst = load_tls(&[&version::TLS13], one_each, |spec| {
        (spec.keep_alive, spec.connections) = (false, 32);
        spec.extent = Extent::Requests { count: 320, within_ns: None };
        spec.tls.as_mut().unwrap().resumption = true;
    });
    let tls = burst.tls.unwrap();
    assert!(tls.handshakes == 320 && tls.resumed >= 288, "{tls:?}");
    for resumption in [false, true] {
        let measured = load_tls(&[&version::TLS13], one_each, |spec| {
            spec.keep_alive = false;
            spec.connections = 1;
            spec.extent = Extent::Requests { count: 20, within_ns: None };
            spec.tls.as_mut().unwrap().resumption = resumption;
        });
        assert_eq!(measured.accounting.ok, 20, "{:?}", measured.failures);
        let tls = measured.tls.unwrap();
        assert_eq!((tls.handshakes, tls.resumed), (20, if resumption { 19 } else { 0 }));
        assert_eq!(measured.latency_us.handshake.unwrap().count, 20);
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_and_said() {
    let other = certificate();
    for (trust, name, why) in [
        (Trust::Authorities(other.cert.pem()), NAME, "certificate"),
        (Trust::System, NAME, "certificate"),
        (Trust::Anyone, "elsewhere.test", ""),
    ] {
        let accepted = trust == Trust::Anyone;
        let measured = load_tls(
            &[&version::TLS13],
            |mut stream| answer(&mut stream, BODY, usize::MAX),
            |spec| {
                spec.extent = Extent::Requests { count: 3, within_ns: None };
                spec.tls = Some(Tls { server_name: name.into(), trust, resumption: false });
            },
        );
        let tls = measured.tls.unwrap();
        assert_eq!(measured.accounting.ok > 0, accepted, "{tls:?}");
        if !accepted {
            assert!(measured.accounting.not_sent[&NotSent::HandshakeFailed] > 0, "{:?}", measured.accounting);
            assert!(tls.failed > 0 && tls.first_failure.unwrap().contains(why));
        }
    }
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let measured = load_tls(
        &[&version::TLS13],
        |mut stream| answer(&mut stream, BODY, usize::MAX),
        |spec| {
            spec.extent = Extent::Window(200 * MS);
            spec.tls.as_mut().unwrap().server_name = "elsewhere.test".into();
        },
    );
    assert!(measured.tls.unwrap().first_failure.unwrap().contains("elsewhere.test"));
    assert_eq!(measured.connections.opened, 0);
}

#[test]
fn whoever_does_not_speak_tls_fails_the_handshake_and_nothing_hangs() {
    let certified = certificate();
    let requests = Extent::Requests { count: 3, within_ns: None };
    let spec = |address| spec(address, &certified).with(|it| it.extent = requests);
    let plain = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    };
    let closes = |mut stream: TcpStream| drop(stream.read(&mut [0; 4096]));
    for (serve, fault) in [(plain as fn(TcpStream), Some(TlsFault::NotTls)), (closes, None)] {
        let measured = load(serve, spec);
        assert!(measured.accounting.not_sent[&NotSent::HandshakeFailed] > 0, "{:?}", measured.failures);
        let tls = measured.tls.unwrap();
        assert_eq!((tls.first_failure.is_some(), tls.first_fault), (true, fault));
    }
}

#[test]
fn a_handshake_that_never_ends_is_given_up_when_a_request_would_be() {
    let certified = certificate();
    let silent = |mut stream: TcpStream| while let Ok(1..) = stream.read(&mut [0; 4096]) {};
    let extent = Extent::Requests { count: 3, within_ns: None };
    let measured = load(silent, |address| {
        spec(address, &certified).with(|it| {
            it.extent = extent;
            it.timeout_ns = Some(50 * MS);
        })
    });
    assert_eq!((measured.accounting.not_sent[&NotSent::HandshakeFailed], measured.connections.opened), (3, 0));
    let tls = measured.tls.unwrap();
    assert!(tls.first_failure.unwrap().contains("in time"));
    assert_eq!(tls.first_fault, Some(TlsFault::Unanswered));
}

/// Answers before the body has come, and closes.
fn answers_early(mut stream: Served) {
    if stream.read(&mut [0; 4096]).is_ok() {
        let reply = b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(reply).and_then(|()| stream.flush()).unwrap();
        stream.conn.send_close_notify();
        stream.flush().ok();
    }
}

#[test]
fn a_reply_before_the_whole_request_is_a_reply_over_tls_too() {
    let measured = load_tls(&[&version::TLS13], answers_early, |spec| {
        spec.extent = Extent::Requests { count: 12, within_ns: None };
        let mut request = spec.mix.requests()[0].request.clone();
        (request.method, request.body) = ("POST".into(), vec![b'y'; 8_000_000]);
        spec.mix = Mix::one(request, ReplyExpectation { status: Some(413), body: None });
    });
    let books = &measured.accounting;
    // What the kernel took is never called unsent, and no request is sent twice for one that was booked.
    assert_eq!((books.scheduled, books.sent), (12, 12), "{books:?}");
    assert_eq!(measured.connections.closed_idle, 0, "{books:?}");
}

#[test]
fn a_stream_that_was_cut_is_no_reply_that_ends_with_its_connection() {
    fn until_close(mut stream: Served, goodbye: bool) {
        if stream.read(&mut [0; 4096]).is_ok() {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{BODY}").as_bytes()).unwrap();
            if goodbye {
                stream.conn.send_close_notify();
            }
            stream.flush().ok();
            stream.sock.shutdown(std::net::Shutdown::Write).ok();
            while let Ok(1..) = stream.sock.read(&mut [0; 4096]) {}
        }
    }
    let some = |spec: &mut LoadSpec| spec.extent = Extent::Requests { count: 6, within_ns: None };
    let whole = load_tls(&[&version::TLS13], |stream| until_close(stream, true), some);
    assert_eq!(whole.accounting.ok, 6, "{:?}", whole.accounting);
    let cut = load_tls(&[&version::TLS13], |stream| until_close(stream, false), some);
    assert_eq!((cut.accounting.ok, cut.accounting.failed[&Failure::ClosedInReply]), (0, 6));
}

#[test]
fn what_was_decrypted_before_rubbish_is_a_reply() {
    fn then_rubbish(mut stream: Served) {
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
            let mut bytes = Vec::new();
            stream.conn.writer().write_all(reply.as_bytes()).unwrap();
            while stream.conn.wants_write() {
                stream.conn.write_tls(&mut bytes).unwrap();
            }
            bytes.extend_from_slice(&[0x55; 100]);
            stream.sock.write_all(&bytes).unwrap();
            while let Ok(1..) = stream.sock.read(&mut buffer) {}
        }
    }
    let measured = load_tls(&[&version::TLS13], then_rubbish, |spec| spec.extent = Extent::Window(200 * MS));
    assert!(measured.accounting.ok > 0, "{:?}", measured.accounting);
    assert!(measured.tls.unwrap().failed > 0);
}

#[test]
fn what_comes_with_the_connection_is_looked_at() {
    let certified = certificate();
    let extent = Extent::Requests { count: 3, within_ns: None };
    let greets = |mut stream: TcpStream| {
        stream.write_all(b"220 hello\r\n").ok();
        while let Ok(1..) = stream.read(&mut [0; 4096]) {}
    };
    let measured = load(greets, |address| spec(address, &certified).with(|it| it.extent = extent));
    assert_eq!(measured.accounting.not_sent[&NotSent::HandshakeFailed], 3);
}

#[test]
fn a_reset_in_the_handshake_is_its_failure() {
    let certified = certificate();
    let extent = Extent::Requests { count: 3, within_ns: None };
    // A socket that is closed with unread bytes resets its connection.
    let resets = |stream: TcpStream| {
        let mut one = [0; 1];
        while matches!(stream.peek(&mut one), Ok(0)) {}
    };
    let measured = load(resets, |address| spec(address, &certified).with(|it| it.extent = extent));
    assert_eq!(measured.accounting.not_sent[&NotSent::HandshakeFailed], 3, "{:?}", measured.failures);
    assert!(measured.tls.unwrap().first_failure.unwrap().contains("in the handshake"));
}

#[test]
fn rubbish_between_records_is_a_bad_reply() {
    fn then_rubbish(mut stream: Served) {
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            stream.sock.write_all(&[0x55; 100]).unwrap();
            while let Ok(1..) = stream.sock.read(&mut buffer) {}
        }
    }
    let measured = load_tls(&[&version::TLS13], then_rubbish, |spec| spec.extent = Extent::Window(200 * MS));
    assert!(measured.accounting.failed[&Failure::Malformed] > 0, "{:?}", measured.accounting);
    assert_eq!(measured.accounting.ok, 0);
}

#[test]
fn a_server_that_demands_a_clients_certificate_refuses_the_handshake_and_that_is_said() {
    let certified = certificate();
    for (version, booked_as_sent) in [(&version::TLS13, true), (&version::TLS12, false)] {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certified.cert.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .unwrap();
        let config: &'static Arc<ServerConfig> = Box::leak(Box::new(Arc::new(config)));
        let measured = load(
            |stream| {
                let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream);
                answer(&mut stream, BODY, usize::MAX);
                stream.conn.send_close_notify();
                stream.flush().ok();
                while let Ok(1..) = stream.sock.read(&mut [0; 4096]) {}
            },
            |address| spec(address, &certified).with(|it| it.extent = Extent::Requests { count: 6, within_ns: None }),
        );
        let (books, tls) = (&measured.accounting, measured.tls.as_ref().unwrap());
        let failed = match booked_as_sent {
            true => books.failed.get(&Failure::HandshakeFailed),
            false => books.not_sent.get(&NotSent::HandshakeFailed),
        };
        assert_eq!((failed, books.ok), (Some(&6), 0), "{books:?}");
        let why = tls.first_failure.as_ref().unwrap();
        assert!(why.contains("asks for a client certificate, which bourdon cannot give"), "{why}");
    }
}

/// Certificates for [`NAME`] of a server, and of who signed it, who may be an authority or not.
fn signed_by(signer: IsCa) -> (CertifiedKey<KeyPair>, String) {
    let (mut params, key) = (CertificateParams::new(["signer.test".to_owned()]).unwrap(), KeyPair::generate().unwrap());
    params.distinguished_name.push(DnType::CommonName, "signer");
    params.is_ca = signer;
    let pem = params.self_signed(&key).unwrap().pem();
    let signing_key = KeyPair::generate().unwrap();
    let served = CertificateParams::new([NAME.to_owned()]).unwrap();
    let cert = served.signed_by(&signing_key, &Issuer::new(params, key)).unwrap();
    (CertifiedKey { cert, signing_key }, pem)
}

#[test]
fn only_the_certificate_of_an_authority_vouches_for_others() {
    for (signer, vouches) in
        [(IsCa::Ca(BasicConstraints::Unconstrained), true), (IsCa::NoCa, false), (IsCa::ExplicitNoCa, false)]
    {
        let (certified, signer) = signed_by(signer);
        let config: &'static Arc<ServerConfig> = Box::leak(Box::new(config(&certified, &[&version::TLS13])));
        let measured = load(
            |stream| {
                let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream);
                answer(&mut stream, BODY, usize::MAX);
            },
            |address| {
                let mut spec = spec(address, &certified);
                spec.extent = Extent::Requests { count: 6, within_ns: None };
                spec.tls.as_mut().unwrap().trust = Trust::Authorities(signer);
                spec
            },
        );
        let tls = measured.tls.unwrap();
        assert_eq!(measured.accounting.ok, if vouches { 6 } else { 0 }, "{tls:?}");
        assert_eq!(tls.first_failure.is_some_and(|why| why.contains("no authority that is trusted")), !vouches);
    }
}

#[test]
fn what_cannot_be_spoken_is_refused_before_the_load() {
    let certified = certificate();
    let trusting = |pem: String| Tls { server_name: NAME.into(), trust: Trust::Authorities(pem), resumption: false };
    let key = certified.signing_key.serialize_pem();
    let rubbish = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (tls, says) in [
        (Tls { server_name: "a b".into(), trust: Trust::Anyone, resumption: false }, "neither a host name"),
        (trusting("x".into()), "the file holds no certificate"),
        (trusting(" \n".into()), "the file is empty"),
        (trusting(key), "the file holds a private key and no certificate"),
        (trusting(rubbish.into()), "certificate 1 there cannot be parsed"),
        (
            trusting(certified.cert.pem() + &signed_by(IsCa::Ca(BasicConstraints::Unconstrained)).0.cert.pem()),
            "certificate 2 of those that are to be trusted is a server's that somebody else has signed; name",
        ),
    ] {
        let with = spec("127.0.0.1:1".parse().unwrap(), &certified).with(|it| it.tls = Some(tls));
        let error = run(&with, RunOptions::default(), &AtomicBool::new(false), &mut |_| {}).unwrap_err();
        assert!(matches!(&error, LoadError::Tls(_)));
        assert!(error.to_string().contains(says), "{error}");
    }
}
