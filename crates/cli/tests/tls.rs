//! `bourdon load https://…` from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertificateParams, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use support::{bourdon, load};
use tempfile::TempDir;

/// A server that speaks TLS, with a certificate for `localhost` that is its own authority, as `openssl req -x509` makes
/// it. It serves until the test ends.
struct Secured {
    port: u16,
    folder: TempDir,
}

impl Secured {
    fn start() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap();
        let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let config = config.clone();
                std::thread::spawn(move || serve(stream, config));
            }
        });
        Self { port, folder }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/", self.port)
    }

    fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut buffer = [0; 4096];
    while let Ok(1..) = stream.read(&mut buffer) {
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        if stream.write_all(reply).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

#[test]
fn a_server_behind_tls_is_measured_and_what_was_agreed_on_is_told() {
    let server = Secured::start();
    let ca = server.ca();
    let arguments = ["-n", "100", "-c", "4", "--expect-body", "hello", "--ca", ca.to_str().unwrap()];
    let document = load(&server.url(), &arguments).document_with(0);
    assert_eq!((document.count("accounting/ok"), document.count("tls/handshakes")), (100, 4));
    assert_eq!((document.count("tls/resumed"), document.count("latency_us/handshake/count")), (0, 4));
    let text = bourdon(&["load", &server.url(), "-n", "100", "--ca", ca.to_str().unwrap()]).stdout;
    assert!(text.contains("TLS 1.3") && text.contains("50 handshakes, 0 of them resumed"), "{text}");
    assert!(!text.contains("Insecure"), "{text}");
}

#[test]
fn whoever_cannot_be_trusted_is_not_loaded_unless_that_is_said() {
    let server = Secured::start();
    let distrusted = bourdon(&["load", &server.url(), "-d", "1"]);
    assert_eq!(distrusted.status, Some(4), "{distrusted:?}");
    assert!(distrusted.stderr.contains("TLS failed: the certificate is self-signed, and is not"), "{distrusted:?}");
    assert!(distrusted.stderr.contains("--ca") && distrusted.stderr.contains("--insecure"), "{distrusted:?}");
    let insecure = bourdon(&["load", &server.url(), "-n", "100", "--insecure"]);
    assert_eq!(insecure.status, Some(0), "{insecure:?}");
    assert!(insecure.stdout.contains("Insecure: the certificate was not checked"), "{insecure:?}");
}

#[test]
fn sessions_are_resumed_when_asked_for() {
    let server = Secured::start();
    let document = load(&server.url(), &["-n", "30", "-c", "1", "--no-keepalive", "--insecure", "--tls-resume"]);
    let document = document.document_with(0);
    assert_eq!((document.count("tls/handshakes"), document.count("tls/resumed")), (30, 29));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let server = Secured::start();
    for (arguments, words) in [
        (vec!["http://127.0.0.1:1/", "--insecure"], "--insecure is about TLS"),
        (vec!["http://127.0.0.1:1/", "--ca", "x"], "--ca is about TLS"),
        (vec![&server.url(), "--ca", "/nowhere/ca.pem"], "cannot read /nowhere/ca.pem"),
        (vec![&server.url(), "--ca", "/dev/null"], "the file is empty"),
    ] {
        let ended = bourdon(&[&["load"], &arguments[..]].concat());
        assert_eq!(ended.status, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
}

#[test]
fn a_cure_is_not_what_was_done_already() {
    let (server, other) = (Secured::start(), Secured::start());
    let file = other.ca();
    let ca = file.to_str().unwrap();
    let distrusted = bourdon(&["load", &server.url(), "-n", "5", "--ca", ca]);
    assert!(distrusted.stderr.contains(&format!(", nor does {ca} vouch for it; name the file")), "{distrusted:?}");
    assert!(!distrusted.stderr.contains("CaUsedAsEndEntity"), "{distrusted:?}");
    let (address, file) = (server.url().replace("localhost", "127.0.0.1"), server.ca());
    let misnamed = bourdon(&["load", &address, "-n", "5", "--ca", file.to_str().unwrap()]);
    assert!(misnamed.stderr.contains("; use a name that is in the certificate"), "{misnamed:?}");
    // What connects is taken by the kernel, and nobody ever reads from it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let ended = bourdon(&["load", &url, "-n", "2", "--timeout", "100ms", "--insecure"]);
    let said = "no TLS handshake completed in time; does the port speak plain http?";
    assert!(ended.stderr.contains(said), "{ended:?}");
}
