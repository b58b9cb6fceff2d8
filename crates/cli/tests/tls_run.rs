//! TLS in `run`, `compare` and `diagnose`: targets that are given a certificate, and servers that have one of their own.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use run_support::{Json, Lab, is_here};

/// A server that speaks TLS where it has a certificate: by `TLS_CERT` and `TLS_KEY`, or as its arguments name it.
const SERVER: &str = r#"
import http.server, os, ssl, sys

class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "11")
        if self.path == "/close":
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"Hello world")
    def log_message(self, *args):
        pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

server = Server(("127.0.0.1", int(os.environ["PORT"])), Hello)
files = sys.argv[1:] or [os.environ.get("TLS_CERT"), os.environ.get("TLS_KEY")]
if files[0]:
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(*files)
    server.socket = secured.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

const EXPERIMENT: &str = r#"
question = "What does TLS cost this server?"
load = { expect_body = "Hello world", connections = 2, keep_alive = false }
trials = { warm_up = "50ms", window = "300ms", blocks = 2, repeats = 0 }
[[target]]
name = "mine"
run = "python3 server.py"
tls = true
[[vary]]
tls = false
[[vary]]
tls = true
tls_resume = [false, true]
"#;

/// With the server, and a certificate for `localhost` that is its own authority.
fn with_a_certificate(lab: Lab) -> Lab {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap().pem();
    lab.file("server.py", SERVER).file("own.pem", &certificate).file("key.pem", key.serialize_pem())
}

/// That server, with the certificate, where nobody of bourdon launched it.
struct Python {
    child: Child,
    port: u16,
}

impl Python {
    fn start(lab: &Lab) -> Self {
        let mut command = Command::new("python3");
        command.args(["server.py", "own.pem", "key.pem"]).current_dir(lab.path()).env("PORT", "0");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What was measured under these levels of `tls` and `tls_resume`.
fn measured(trials: &[Json], tls: &str, resume: &str) -> Vec<Json> {
    let of = trials.iter().filter(|trial| trial["where"]["tls"] == tls && trial["where"]["tls_resume"] == resume);
    of.map(|trial| trial["measurement"].clone()).collect()
}

#[test]
fn a_target_that_is_given_a_certificate_is_measured_with_and_without_tls() {
    if !is_here("python3") {
        return;
    }
    let lab = Lab::beside_others().experiment(EXPERIMENT).file("server.py", SERVER);
    let outcome = lab.run(&[]).answers();
    lab.nothing_is_left();
    let trials = lab.record().trials();
    let plain = measured(&trials, "false", "false");
    assert!(plain.len() == 2 && plain.iter().all(|of| of["tls"].is_null() && !of.is_null()), "{trials:?}");
    for resume in ["false", "true"] {
        let secured = measured(&trials, "true", resume);
        assert_eq!(secured.len(), 2);
        for of in &secured {
            let count = |name: &str| of["tls"][name].as_u64().unwrap();
            assert!(count("handshakes") > 0 && count("failed") == 0, "{of}");
            assert_eq!(count("resumed") > 0, resume == "true", "{of}");
            assert!(of["latency_us"]["handshake"]["count"].as_u64().unwrap() > 0);
        }
    }
    let outcome = outcome.shows(&["over TLS", "TLS handshakes, 0 of them resumed; half took"]);
    let told = [lab.record().text("plan.toml"), lab.record().text("trials.jsonl"), outcome.stdout];
    assert!(told.iter().all(|text| !text.contains("PRIVATE KEY")), "{told:?}");
}

#[test]
fn a_server_with_a_certificate_of_its_own_is_compared_if_somebody_vouches_for_it() {
    if !is_here("python3") {
        return;
    }
    let lab = with_a_certificate(Lab::beside_others());
    let run = "python3 server.py own.pem key.pem";
    let short = ["compare", "--run", run, "--run", run, "-c", "2", "-d", "200ms", "--warm-up", "50ms", "--blocks", "2"];
    for (nth, trust) in [&["--ca", "own.pem"][..], &["--insecure"]].into_iter().enumerate() {
        lab.bourdon(&[&short[..], trust].concat()).answers();
        let record = &lab.records()[nth];
        for side in ["old", "new"] {
            record.all_measured(side, 2);
        }
        let secured = |trial: &Json| trial["measurement"]["tls"]["handshakes"].as_u64() > Some(0);
        assert!(record.trials().iter().all(secured), "{:?}", record.trials());
    }
    let strange = lab.bourdon(&[&short[..], &["--tls"]].concat()).exits(4);
    strange.clone().says(&["/: no authority that is trusted has signed the certificate"]);
    assert!(!strange.stderr.contains("it was not ready within"), "{strange:?}");
    for (file, says) in [("key.pem", "the file holds a private key and no certificate"), ("no.pem", "No such file")] {
        lab.bourdon(&["compare", "--run", "x", "--run", "y", "--ca", file]).exits(2).says(&[says]);
    }
}

#[test]
fn a_server_behind_tls_is_diagnosed_where_it_is_launched_and_where_it_runs_already() {
    if !is_here("python3") {
        return;
    }
    let lab = with_a_certificate(Lab::new());
    let closes = |answer: Json| {
        let is_closed = |found: &Json| found["fault"].get("closed-connections").is_some() && found["sureness"] == "is";
        assert!(answer["findings"].as_array().unwrap().iter().any(is_closed), "{answer:#}");
        let trials = lab.records().pop().unwrap().trials();
        let secured = |trial: &Json| trial["measurement"]["tls"]["handshakes"].as_u64() > Some(0);
        assert!(!trials.is_empty() && trials.iter().all(secured), "{trials:?}");
    };
    let short = ["-d", "300ms", "--warm-up", "50ms", "--format", "json"];
    let launched = ["diagnose", "--run", "python3 server.py", "--tls", "--path", "/close"];
    closes(lab.bourdon(&[&launched[..], &short[..]].concat()).answers().json());

    let server = Python::start(&lab);
    let url = format!("https://localhost:{}/close", server.port);
    closes(lab.bourdon(&[&["diagnose", &url, "--ca", "own.pem"], &short[..]].concat()).answers().json());
    let distrusted = lab.bourdon(&["diagnose", &url]).exits(4);
    distrusted.says(&["the certificate is self-signed, and is not", "--ca FILE", "--insecure"]);
    lab.bourdon(&["diagnose", &url, "--tls"]).exits(2).says(&["a URL begins with https://"]);
    let plain = url.replace("https", "http");
    lab.bourdon(&["diagnose", &plain, "--insecure"]).exits(2).says(&["begin the URL with https://"]);
    drop(server);
    lab.nothing_is_left();
}

#[test]
fn a_server_that_does_not_speak_tls_is_told_at_once_with_the_cure() {
    let (lab, server) = (Lab::beside_others(), "$BOURDON specimen clean");
    let sides = ["compare", "--tls", "--run", server, "--run", server, "--ready", "/ping", "--blocks", "2"];
    let refused = lab.bourdon(&sides).exits(4);
    refused.clone().says(&["/ping: what came back is not TLS (", "the server does not speak TLS: leave out --tls"]);
    assert!(!refused.stderr.contains("it was not ready within"), "{refused:?}");
    lab.nothing_is_left();
}
