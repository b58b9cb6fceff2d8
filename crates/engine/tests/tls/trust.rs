//! Whose certificates are trusted, which are asked for, and what is refused before the load.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{LoadError, RunOptions, run};
use model::{Extent, Failure, NotSent, Tls, Trust};
use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ServerConfig, ServerConnection, StreamOwned, version};

use crate::{BODY, NAME, answer, certificate, config, load, load_tls, spec, support::MS};

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
