//! The server that handlers ask: the real binary, and a target that passes every byte on to it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Json, Lab, repository};

/// A target in Node, which every machine of ours has, that connects each client with the backend.
const PASSES_ON: &str = "const net = require('net'), { hostname, port } = new URL(process.env.BACKEND); \
    net.createServer(client => { \
      const backend = net.connect(port, hostname); \
      client.pipe(backend).pipe(client); \
      client.on('error', () => backend.destroy()); \
      backend.on('error', () => client.destroy()); \
    }).listen(process.env.PORT, '127.0.0.1')";

/// Eight connections, and two workers that take 20 ms for each request: a hundred a second.
fn experiment(more: &str) -> String {
    format!(
        "question = 'What does a backend cost?'\n\
         load = {{ path = '/hello/7', expect_body = \"hello, 7!\\n\", connections = 8 }}\n\
         trials = {{ warm_up = '100ms', window = '600ms', blocks = 1 }}\n\
         [vary]\ntarget = 'it'\n{more}\n\
         [[target]]\nname = 'it'\nrun = '''node -e \"{PASSES_ON}\"'''\nready = '/hello/ready'\n"
    )
}

/// What a run says of its one cell.
fn cell_of(lab: &Lab) -> Json {
    lab.nothing_is_left();
    lab.record().analysis()["cells"][0].clone()
}

#[test]
fn a_backend_serves_as_many_at_once_as_it_has_workers() {
    let lab = Lab::new().experiment(experiment("backend_delay = '20ms'\nbackend_workers = 2"));
    let run = lab.run(&[]).answers().shows(&["its backend had", "served 2 requests at once"]);
    let cell = cell_of(&lab);
    let count = |name: &str| cell["backend"][name].as_u64().unwrap();
    assert_eq!((count("at_once_max"), count("refused")), (2, 0), "{cell}");
    assert!(count("connections_max") >= 8 && count("opened") >= count("connections_max"), "{cell}");
    // What two workers can do is the ceiling, and nobody serves more; what else the machine does only makes it less.
    let of_ceiling = cell["of_ceiling"].as_f64().unwrap();
    let served = cell["throughput"]["estimate"].as_f64().unwrap();
    assert!((served / of_ceiling - 100.0).abs() < 0.5, "{cell}");
    assert!(of_ceiling <= 1.1, "{of_ceiling}\n{}", run.stdout);
}

#[test]
fn a_backend_that_refuses_makes_errors_of_what_is_above() {
    let lab = Lab::new().experiment(experiment("backend_delay = '20ms'\nbackend_workers = 2\nbackend_refuses = true"));
    lab.run(&[]).shows(&["and refused"]);
    let cell = cell_of(&lab);
    assert!(cell["backend"]["refused"].as_u64().unwrap() > 0 && cell["errors"].as_f64().unwrap() > 0.1, "{cell}");
}

#[test]
fn a_backend_that_cannot_be_is_refused() {
    for (more, why) in [
        ("backend_workers = 2", "`backend_workers` is of no backend"),
        ("backend_refuses = true", "`backend_refuses` is of no backend"),
        ("backend_delay = '20ms'\nbackend_refuses = true", "a backend without limit refuses nobody"),
        ("backend_delay = '20ms'\nbackend_workers = 0", "must be a whole number from 1 up"),
    ] {
        Lab::new().experiment(experiment(more)).run(&[]).exits(2).says(&[why]);
    }
    let of_ours = |vary: &str| {
        let asks = "load = { path = '/work?key=1', connections = 1 }\n";
        format!("question = 'x'\n{asks}[vary]\ntarget = 'node-http-work'\n{vary}\n")
    };
    for (vary, why) in [
        ("backend_delay = '20ms'\nwork = 'cpu'", "`node-http-work` asks no backend"),
        ("work = 'http'", "this work asks a server, and there is none"),
    ] {
        let home = repository().display().to_string();
        Lab::new().env("BOURDON_HOME", home).experiment(of_ours(vary)).run(&[]).exits(2).says(&[why]);
    }
}
