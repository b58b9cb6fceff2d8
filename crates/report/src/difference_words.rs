//! What differs between two runs beside the server.

use model::{Aspect, AspectValue, Backend, Difference, Extent, LoadModel, Rotation, format_duration};

use crate::cpu_words::numbers;

/// `kernel: old 6.1, new 6.18`.
pub fn difference_words(difference: &Difference) -> String {
    difference_between(difference, ["old", "new"])
}

/// The same with what the two sides are called.
pub fn difference_between(difference: &Difference, [one, other]: [&str; 2]) -> String {
    let what = aspect(&difference.what);
    let [old, new] = [&difference.old, &difference.new].map(|setting| side(setting.as_ref()));
    match &difference.what {
        Aspect::Mix => format!("{what}: another mix of requests"),
        _ => format!("{what}: {one} {old}, {other} {new}"),
    }
}

fn aspect(what: &Aspect) -> String {
    let words = match what {
        Aspect::Sysctl(name) => name,
        Aspect::Toolchain(target) => return format!("toolchain of {target}"),
        Aspect::Bourdon => "bourdon",
        Aspect::Cpu => "CPU",
        Aspect::Cpus => "CPUs",
        Aspect::Kernel => "kernel",
        Aspect::Governor => "governor",
        Aspect::Smt => "SMT",
        Aspect::Memory => "memory",
        Aspect::TargetCpus => "CPUs of the target",
        Aspect::GeneratorThreads => "generator threads",
        Aspect::GeneratorCpus => "generator CPUs",
        Aspect::Spin => "spin",
        Aspect::Nodes => "nodes that make the load",
        Aspect::Ladder => "ladder",
        Aspect::Rotation => "rotation",
        Aspect::Path => "path",
        Aspect::Method => "method",
        Aspect::Load => "load",
        Aspect::Connections => "connections",
        Aspect::Pipeline => "pipeline",
        Aspect::KeepAlive => "keep-alive",
        Aspect::TimeOut => "time-out",
        Aspect::Window => "window",
        Aspect::NetworkDelay => "network delay",
        Aspect::WarmUp => "warm-up",
        Aspect::QuickAck => "acknowledged at once",
        Aspect::Tls => "TLS",
        Aspect::TlsResume => "TLS sessions resumed",
        Aspect::Runtime => "runtime",
        Aspect::HandlerDelay => "handler delay",
        Aspect::RateShare => "share of capacity",
        Aspect::Arrivals => "arrivals",
        Aspect::Profile => "profile",
        Aspect::Admin => "admin server",
        Aspect::Beside => "load beside",
        Aspect::Backend => "server that handlers ask",
        Aspect::Census => "census",
        Aspect::Mix => "what is asked for",
        Aspect::HttpVersion => "HTTP version",
        Aspect::Headers => "headers",
        Aspect::BodyBytes => "bytes of the body",
        Aspect::ExpectedStatus => "expected status",
        Aspect::ExpectedBody => "SHA-256 of the expected body",
        Aspect::TlsServerName => "name in the certificate",
        Aspect::TlsTrust => "who vouches for the certificate",
    };
    words.to_owned()
}

fn side(setting: Option<&AspectValue>) -> String {
    match setting {
        None => "not known".to_owned(),
        Some(AspectValue::Flag(flag)) => flag.to_string(),
        // Two sizes of memory that differ by a page would look alike in GiB.
        Some(AspectValue::Count(count)) => count.to_string(),
        Some(AspectValue::Share(share)) => share.to_string(),
        Some(AspectValue::Cpus(cpus)) if cpus.is_empty() => "any".to_owned(),
        Some(AspectValue::Cpus(cpus)) => numbers(cpus),
        Some(AspectValue::Time { ns } | AspectValue::Extent(Extent::Window(ns))) => format_duration(*ns),
        Some(AspectValue::Backend(backend)) => in_words(*backend),
        Some(AspectValue::Load(LoadModel::Closed)) => "closed".to_owned(),
        Some(AspectValue::Load(LoadModel::Open { rate_per_s, arrivals })) => {
            format!("open at {rate_per_s} a second ({arrivals})")
        }
        Some(AspectValue::Extent(Extent::Requests { count, within_ns })) => {
            let within = within_ns.map_or(String::new(), |ns| format!(" in {}", format_duration(ns)));
            format!("{count} requests{within}")
        }
        Some(AspectValue::Rotation(Rotation { slice_ns, lead_in_ns, rounds })) => {
            let [slice, lead_in] = [slice_ns, lead_in_ns].map(|ns| format_duration(*ns));
            let rounds = rounds.map_or(String::new(), |rounds| format!("{rounds} "));
            format!("{rounds}slices of {slice}, each after {lead_in}")
        }
        Some(AspectValue::Headers { headers }) if headers.is_empty() => "none".to_owned(),
        Some(AspectValue::Headers { headers }) => headers.iter().map(header).collect::<Vec<_>>().join(", "),
        Some(AspectValue::Text(text)) => text.clone(),
    }
}

/// `50ms, 10 at once, others refused`.
fn in_words(Backend { delay_ns, workers, refuses }: Backend) -> String {
    let workers = workers.map_or(String::new(), |workers| format!(", {workers} at once"));
    format!("{}{workers}{}", format_duration(delay_ns), if refuses { ", others refused" } else { "" })
}

fn header((name, value): &(String, Option<String>)) -> String {
    value.as_ref().map_or_else(|| format!("{name} (value not kept)"), |value| format!("{name}: {value}"))
}

#[cfg(test)]
mod tests {
    use model::Arrivals;

    use super::*;

    const BACKEND: &str = r#"{"delay_ns":7,"workers":2,"refuses":true}"#;

    const ROTATION: Rotation = Rotation { slice_ns: 1, lead_in_ns: 2, rounds: Some(3) };

    const HEADERS: [(&str, Option<&str>); 2] = [("A", None), ("B", Some("c"))];

    fn owned((name, value): (&str, Option<&str>)) -> (String, Option<String>) {
        (name.to_owned(), value.map(str::to_owned))
    }

    #[test]
    fn each_side_is_said_in_its_own_unit_and_what_is_not_known_too() {
        let said = |what, old, new| difference_words(&Difference { what, old, new });
        let open = LoadModel::Open { rate_per_s: 500.0, arrivals: Arrivals::Constant };
        let load = said(Aspect::Load, Some(AspectValue::Load(LoadModel::Closed)), Some(AspectValue::Load(open)));
        assert_eq!(load, "load: old closed, new open at 500 a second (constant)");
        let extent = |count, within_ns| Some(AspectValue::Extent(Extent::Requests { count, within_ns }));
        let window = said(Aspect::Window, extent(5, None), extent(6, Some(1_000_000)));
        assert_eq!(window, "window: old 5 requests, new 6 requests in 1ms");
        let cpus = said(Aspect::TargetCpus, Some(AspectValue::Cpus(Vec::new())), Some(AspectValue::Cpus(vec![2, 3])));
        assert_eq!(cpus, "CPUs of the target: old any, new 2 and 3");
        let toolchain = said(Aspect::Toolchain("a".to_owned()), None, Some("go1.26".into()));
        assert_eq!(toolchain, "toolchain of a: old not known, new go1.26");
        let backend = Backend { delay_ns: 50_000_000, workers: Some(10), refuses: true };
        let backend = said(Aspect::Backend, Some("none".into()), Some(AspectValue::Backend(backend)));
        assert_eq!(backend, "server that handlers ask: old none, new 50ms, 10 at once, others refused");
        let headers = |all: &[_]| Some(AspectValue::Headers { headers: all.iter().copied().map(owned).collect() });
        let headers = said(Aspect::Headers, headers(&[]), headers(&HEADERS));
        assert_eq!(headers, "headers: old none, new A (value not kept), B: c");
        assert_eq!(said(Aspect::Mix, None, None), "what is asked for: another mix of requests");
    }

    #[test]
    fn a_difference_is_read_as_it_is_written() {
        let settings = [
            (true.into(), "true"),
            (2.into(), "2"),
            (AspectValue::Share(0.5), "0.5"),
            (AspectValue::Cpus(vec![2, 3]), "[2,3]"),
            (AspectValue::Time { ns: 7 }, r#"{"ns":7}"#),
            (AspectValue::Load(LoadModel::Closed), r#"{"model":"closed"}"#),
            (AspectValue::Extent(Extent::Window(7)), r#"{"window_ns":7}"#),
            (AspectValue::Backend(Backend { delay_ns: 7, workers: Some(2), refuses: true }), BACKEND),
            (AspectValue::Rotation(ROTATION), r#"{"slice_ns":1,"lead_in_ns":2,"rounds":3}"#),
            (AspectValue::Headers { headers: HEADERS.map(owned).to_vec() }, r#"{"headers":[["A",null],["B","c"]]}"#),
            ("none".into(), r#""none""#),
        ];
        for (setting, written) in settings {
            let difference = Difference { what: Aspect::Sysctl("a.b".to_owned()), old: Some(setting), new: None };
            let json = serde_json::to_string(&difference).unwrap();
            assert_eq!(json, format!(r#"{{"what":{{"sysctl":"a.b"}},"old":{written}}}"#));
            assert_eq!(serde_json::from_str::<Difference>(&json).unwrap(), difference);
        }
    }
}
