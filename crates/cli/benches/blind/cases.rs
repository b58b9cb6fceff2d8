//! Servers whose faults are drawn, and what is to be found of them.

use serde_json::{Value, json};

/// A server that is to be diagnosed.
pub(crate) struct Case {
    /// In which language it is written.
    pub(crate) runtime: &'static str,
    /// Which command is asked about it.
    pub(crate) command: &'static str,
    /// What makes it what it is, as environment variables.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// What is asked for beside its command.
    pub(crate) options: Vec<&'static str>,
    /// What is to be found; nothing of a decoy.
    pub(crate) planted: Vec<Planted>,
    pub(crate) around: Around,
}

/// What there is beside the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    Nothing,
    /// Another server, which it asks.
    Upstream,
    /// Another program, which takes its CPU for 2 s in every 7.
    BusyMachine,
    /// Half a CPU is all that it may use.
    Quota,
}

/// A fault that is there.
#[derive(Clone)]
pub(crate) struct Planted {
    /// What it is suspected to be.
    pub(crate) suspect: &'static str,
    /// Its size, where it has one that is told: requests at once, seconds, bytes a request.
    pub(crate) value: Option<f64>,
}

/// Languages in which there is a server.
pub(crate) const ALL: [&str; 5] = ["go", "node", "python", "java", "rust"];

/// Classes of cases, each with the runtimes that can have it. Those of soaks take minutes each, and are made where they are named.
pub(crate) const CLASSES: [(&str, &[&str]); 18] = [
    ("pool", &ALL),
    ("serial", &ALL),
    ("path-lock", &ALL),
    ("held-workers", &["python", "java", "rust"]),
    ("blocked-loop", &["node", "python"]),
    ("delayed-ack", &ALL),
    ("closed-connections", &ALL),
    ("stalls", &ALL),
    ("memory-growth", &["go", "node", "python", "rust"]),
    ("thread-growth", &["go", "python", "java", "rust"]),
    ("file-growth", &ALL),
    ("round-trips", &ALL),
    ("failures", &ALL),
    ("decoy", &ALL),
    ("double", &ALL),
    ("outside", &ALL),
    ("soak-healthy", &["go", "node", "java"]),
    ("soak-leak", &["go", "node", "java"]),
];

/// Whether a class is one of soaks.
pub(crate) fn is_soak(class: &str) -> bool {
    class.starts_with("soak-")
}

/// What is drawn: the same of the same class, runtime and number.
struct Drawn(fastrand::Rng);

impl Drawn {
    /// A number between two, on a logarithmic scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.0.f64() * (high / low).ln()).exp()
    }

    fn whole(&mut self, low: f64, high: f64) -> String {
        format!("{:.0}", self.between(low, high))
    }
}

impl Case {
    /// The case of that number.
    pub(crate) fn draw(class: &str, runtime: &'static str, number: usize) -> Case {
        let name = format!("{class}/{runtime}/{number}");
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut drawn = Drawn(fastrand::Rng::with_seed(seed));
        let command = if is_soak(class) { "soak" } else { "diagnose" };
        let mut case = Case {
            runtime,
            command,
            settings: Vec::new(),
            options: Vec::new(),
            planted: Vec::new(),
            around: Around::Nothing,
        };
        if runtime == "java" && command == "diagnose" {
            case.options.extend(["--warm-up", "2s"]);
        }
        match class {
            // A million requests.
            "soak-healthy" => {
                case.healthy(["", "cache", "garbage", "body"][number % 4], &mut drawn);
                case.options = vec!["--for", "100s", "-R", "10000"];
            }
            "soak-leak" => {
                case.options = vec!["--for", "10m", "-R", "500"];
                case.settings.extend([("FAULTS", "memory".to_owned()), ("BYTES", "100".to_owned())]);
                case.planted.push(Planted { suspect: "memory-growth", value: Some(100.0) });
            }
            "decoy" => case.decoy(number, &mut drawn),
            "outside" => case.outside(number, &mut drawn),
            "double" => case.double(number, &mut drawn),
            fault => {
                let named = case.plant(fault, &mut drawn);
                case.settings.push(("FAULTS", named.to_owned()));
                if !matches!(fault, "pool" | "serial" | "path-lock" | "held-workers") {
                    case.settings.push(("DELAY_US", drawn.whole(200.0, 5_000.0)));
                }
            }
        }
        case
    }

    /// Puts a fault in; its name for the server.
    fn plant(&mut self, fault: &str, drawn: &mut Drawn) -> &'static str {
        let mut planted = |suspect, value| self.planted.push(Planted { suspect, value });
        match fault {
            "pool" | "held-workers" => {
                let workers = drawn.whole(2.0, 60.0);
                let suspect = if fault == "pool" { "limit" } else { "held-workers" };
                planted(suspect, workers.parse().ok());
                self.settings.extend([("WORKERS", workers), ("DELAY_US", drawn.whole(12_000.0, 120_000.0))]);
                if fault == "pool" { "limit" } else { "held" }
            }
            "serial" | "path-lock" => {
                planted("limit", Some(1.0));
                self.settings.extend([("WORKERS", "1".to_owned()), ("DELAY_US", drawn.whole(12_000.0, 80_000.0))]);
                self.options.extend(["--other", "/other"]);
                if fault == "serial" { "limit" } else { "path-lock" }
            }
            "blocked-loop" => {
                let heavy_ms = drawn.whole(30.0, 250.0);
                planted("blocked-loop", heavy_ms.parse::<f64>().ok().map(|ms| ms / 1e3));
                self.settings.push(("HEAVY_MS", heavy_ms));
                self.options.extend(["--heavy", "/heavy"]);
                ""
            }
            "memory-growth" => {
                let bytes = drawn.whole(300.0, 8_000.0);
                planted("memory-growth", bytes.parse().ok());
                self.settings.push(("BYTES", bytes));
                "memory"
            }
            "thread-growth" => self.plant_now_and_then("thread-growth", "threads", drawn.whole(2.0, 20.0)),
            "file-growth" => self.plant_now_and_then("file-growth", "files", drawn.whole(2.0, 20.0)),
            "failures" => self.plant_now_and_then("failures", "errors", drawn.whole(3.0, 200.0)),
            "round-trips" => {
                let trips = drawn.whole(4.0, 40.0);
                planted("round-trips", trips.parse().ok());
                self.settings.push(("TRIPS", trips));
                self.around = Around::Upstream;
                "upstream"
            }
            "stalls" => {
                planted("stalls", None);
                let (length, every) = (drawn.whole(600.0, 1_200.0), drawn.whole(2_500.0, 4_000.0));
                self.settings.extend([("STALL_MS", length), ("STALL_EVERY_MS", every)]);
                "stall"
            }
            "delayed-ack" => {
                planted("delayed-ack", None);
                "split"
            }
            "closed-connections" => {
                planted("closed-connections", None);
                "close"
            }
            other => panic!("no class {other}"),
        }
    }

    /// Puts a fault in that every so many-th request has.
    fn plant_now_and_then(&mut self, suspect: &'static str, named: &'static str, every: String) -> &'static str {
        let value = every.parse::<f64>().ok().map(|every| 1.0 / every);
        self.planted.push(Planted { suspect, value });
        self.settings.push(("EVERY", every));
        named
    }

    /// Two faults of which neither hides the other.
    fn double(&mut self, number: usize, drawn: &mut Drawn) {
        let pairs = [
            ("pool", "failures"),
            ("serial", "closed-connections"),
            ("closed-connections", "failures"),
            ("round-trips", "failures"),
            ("pool", "file-growth"),
        ];
        let (one, other) = pairs[number % pairs.len()];
        let faults = [self.plant(one, drawn), self.plant(other, drawn)];
        self.settings.push(("FAULTS", faults.join(",")));
    }

    /// A server of which nothing is to be said.
    fn decoy(&mut self, number: usize, drawn: &mut Drawn) {
        let mut kinds = vec!["", "cache", "garbage", "body", "busy-machine", "quota", "two-trips"];
        // These compute in threads, so that others are served meanwhile.
        kinds.extend(["go", "java", "rust"].contains(&self.runtime).then_some("heavy"));
        kinds.extend((self.runtime == "java").then_some("cold"));
        let kind = kinds[number % kinds.len()];
        let slow = drawn.0.bool();
        self.settings.push(("DELAY_US", if slow { drawn.whole(2_000.0, 60_000.0) } else { "0".to_owned() }));
        if kind != "heavy" {
            self.options.extend(["--other", "/other"]);
        }
        self.healthy(kind, drawn);
    }

    fn healthy(&mut self, kind: &'static str, drawn: &mut Drawn) {
        match kind {
            "busy-machine" => self.around = Around::BusyMachine,
            "quota" => self.around = Around::Quota,
            "two-trips" => {
                self.around = Around::Upstream;
                self.settings.push(("TRIPS", "2".to_owned()));
            }
            "heavy" => {
                self.options.extend(["--heavy", "/heavy"]);
                self.settings.push(("HEAVY_MS", drawn.whole(30.0, 250.0)));
            }
            // It compiles itself while it is measured.
            "cold" => self.options.retain(|option| !["--warm-up", "2s"].contains(option)),
            "cache" => {
                self.settings.extend([("BYTES", drawn.whole(500.0, 4_000.0)), ("CACHE_BYTES", drawn.whole(5e5, 2e7))])
            }
            "garbage" => self.settings.push(("BYTES", drawn.whole(1_000.0, 50_000.0))),
            "body" => self.settings.push(("BODY", drawn.whole(1_000.0, 100_000.0))),
            _ => {}
        }
        self.settings.push(("FAULTS", if kind == "two-trips" { "upstream" } else { kind }.to_owned()));
    }

    /// A fault that nothing here is about: nothing that is proved may be said.
    fn outside(&mut self, number: usize, drawn: &mut Drawn) {
        let kinds = ["sometimes-slow", "slower", "burn"];
        let kind = kinds[number % kinds.len()];
        self.settings.extend([
            ("FAULTS", kind.to_owned()),
            ("EVERY", drawn.whole(5.0, 50.0)),
            ("SLOW_MS", drawn.whole(20.0, 80.0)),
        ]);
        self.settings.push(("DELAY_US", drawn.whole(200.0, 10_000.0)));
    }

    pub(crate) fn to_json(&self) -> Value {
        let settings: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let planted: Vec<Value> =
            self.planted.iter().map(|it| json!({ "suspect": it.suspect, "value": it.value })).collect();
        json!({
            "runtime": self.runtime,
            "settings": settings,
            "options": self.options,
            "planted": planted,
            "around": format!("{:?}", self.around),
        })
    }
}
