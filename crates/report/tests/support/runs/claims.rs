//! Claims of each verdict.

use model::{Cell, ClaimAnalysis, ClaimDoubt, ClaimNote, ClaimVerdict, FewCores, Measured, Metric, Unit};

use super::cells::{levels, measured, unknown};

pub(super) fn claim(name: &str, says: &str, expect: &str, verdict: ClaimVerdict, measured: Measured) -> ClaimAnalysis {
    ClaimAnalysis {
        name: name.to_owned(),
        says: says.to_owned(),
        conditions: Cell::default(),
        expect: expect.to_owned().into(),
        published: None,
        measured,
        blocks: 6,
        verdict,
        not_refuted: None,
        withheld: None,
        notes: Vec::new(),
        needs_blocks: None,
    }
}

fn bare_claims() -> [ClaimAnalysis; 4] {
    let supported = claim(
        "iris-2016-serialises",
        "With a handler delay of 10 ms, Iris serves 97 requests a second where net/http serves 9294.",
        "throughput(go-iris-2016) / throughput(go-net-http) < 0.05",
        ClaimVerdict::Supported,
        measured(0.010_66, 0.006, Unit::Ratio),
    );
    let contradicted = claim(
        "iris-is-fastest",
        "Iris is the fastest of the routers, well ahead of everything else in the field at any number of connections.",
        "throughput(go-iris) / throughput(go-net-http) > 1.2",
        ClaimVerdict::Contradicted,
        measured(0.998_6, 0.009, Unit::Ratio),
    );
    let inconclusive = claim(
        "gin-costs-nothing",
        "A router costs no CPU that could be measured.",
        "cpu_per_request(go-gin, handler_delay = 0ms) / cpu_per_request(go-net-http, handler_delay = 0ms) within 5% of 1",
        ClaimVerdict::Inconclusive,
        measured(1.052, 0.03, Unit::Ratio),
    );
    let not_testable = claim(
        "scales-to-8",
        "On eight cores it serves 600,000 requests a second.",
        "throughput(go-net-http) > 600000",
        ClaimVerdict::NotTestable,
        unknown(Unit::RequestsPerS),
    );
    [supported, contradicted, inconclusive, not_testable]
}

/// A claim about more cores than the machine has.
fn not_refuted() -> ClaimAnalysis {
    let contradicted = claim(
        "timeouts-cost-throughput",
        "With timeouts a server on many cores loses half of its throughput to a lock.",
        "throughput(go-gin, timeouts = on) / throughput(go-gin, timeouts = off) < 0.6",
        ClaimVerdict::Contradicted,
        measured(0.981, 0.012, Unit::Ratio),
    );
    ClaimAnalysis {
        not_refuted: Some(FewCores { here: 2, about: 8 }),
        notes: vec![ClaimNote::FewCores(FewCores { here: 2, about: 8 })],
        ..contradicted
    }
}

pub(super) fn claims() -> Vec<ClaimAnalysis> {
    let [supported, contradicted, inconclusive, not_testable] = bare_claims();
    vec![
        ClaimAnalysis { published: Some(0.010_437), conditions: levels("", "10ms", 100).conditions(), ..supported },
        ClaimAnalysis {
            published: Some(1.31),
            notes: vec![ClaimNote::Doubt(ClaimDoubt::Generator {
                server: levels("go-gin", "10ms", 100),
                metric: Metric::Throughput,
            })],
            ..contradicted
        },
        ClaimAnalysis { notes: vec![ClaimNote::Unused { blocks: 1, of: 7 }], needs_blocks: Some(9), ..inconclusive },
        ClaimAnalysis {
            notes: vec![ClaimNote::Said("it needs 8 cores, this machine has 2".to_owned())],
            blocks: 0,
            ..not_testable
        },
        not_refuted(),
        claim(
            "few-errors",
            "Hardly a request goes wrong.",
            "errors(go-gin) < 0.0001",
            ClaimVerdict::Supported,
            Measured { estimate: Some(0.0), low: Some(0.0), high: Some(0.000_013_5), unit: Unit::Share },
        ),
        claim(
            "soon-enough",
            "Nobody waits for long.",
            "p99(go-gin) < 50ms",
            ClaimVerdict::Supported,
            measured(12_100.0, 0.02, Unit::Us),
        ),
    ]
}
