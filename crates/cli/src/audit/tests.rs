//! Garbage is refused or read as what little it says; it never panics.

use model::AuditSource;
use proptest::prelude::{Strategy, any, prop, proptest};
use proptest::sample::Index;
use report::Style;

use super::detect;

const SAMPLES: [&str; 12] = [
    include_str!("../../tests/audit/wrk.txt"),
    include_str!("../../tests/audit/wrk2.txt"),
    include_str!("../../tests/audit/ab.txt"),
    include_str!("../../tests/audit/hey.txt"),
    include_str!("../../tests/audit/h2load.txt"),
    include_str!("../../tests/audit/oha.txt"),
    include_str!("../../tests/audit/oha.json"),
    include_str!("../../tests/audit/k6.txt"),
    include_str!("../../tests/audit/k6.json"),
    include_str!("../../tests/audit/vegeta.txt"),
    include_str!("../../tests/audit/vegeta.json"),
    include_str!("../../tests/audit/published/in-flight.csv"),
];

/// What numbers and tables break on.
const NASTY: [&str; 14] =
    ["", "0", "-1", "NaN", "1e308", "99999999999999999999999", "µ", "\u{0}", "\"", ",", "\n", "%", ": ", "1e-300"];

/// A sample in which some pieces were replaced.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0..12_usize, prop::sample::select(NASTY.to_vec()));
    (prop::sample::select(SAMPLES.to_vec()), prop::collection::vec(change, 1..8)).prop_map(|(sample, changes)| {
        let mut bytes = sample.as_bytes().to_vec();
        for (at, length, by) in changes {
            let start = at.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, by.bytes());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn audited(text: &str, from: Option<AuditSource>) {
    if let Ok(rows) = detect::read("sample", text, from) {
        let audit = judge::audit(rows);
        let shown = report::audit_text(&audit, Style { colour: false, width: 80, verbose: false });
        assert!(!shown.is_empty() && report::audit_json(&audit).starts_with('{'));
    }
}

proptest! {
    #[test]
    fn mutated_samples_do_not_panic(text in mutated(), from in prop::option::of(prop::sample::select(AuditSource::ALL.to_vec()))) {
        audited(&text, None);
        audited(&text, from);
    }

    #[test]
    fn any_text_does_not_panic(text in ".{0,200}", from in prop::sample::select(AuditSource::ALL.to_vec())) {
        audited(&text, Some(from));
    }
}

#[test]
fn every_sample_is_recognised() {
    let read = |text| detect::read("sample", text, None).unwrap()[0].source.id();
    let sources = ["wrk", "wrk2", "ab", "hey", "h2load", "oha", "oha", "k6", "k6", "vegeta", "vegeta", "csv"];
    assert_eq!(SAMPLES.map(read), sources);
}

#[test]
fn a_cell_that_reads_otherwise_than_it_stands_has_a_place() {
    for table in ["\"0\"¡A", "name,\"a\"\"é\"\nx,1", "name,rate\n\"x\n\",\"1\"¡\n"] {
        assert!(detect::read("sample", table, Some(AuditSource::Csv)).is_err(), "{table}");
    }
}

/// The time that this thread has spent.
fn spent_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[test]
fn a_table_of_more_rows_than_can_be_read_is_refused_at_the_first_of_them() {
    let table = |rows: usize| format!("rate\n{}", "9\n".repeat(rows));
    assert_eq!(super::table::read(&table(100_000)).unwrap().len(), 100_000);
    let fault = super::table::read(&table(100_001)).unwrap_err().within("x", &table(100_001));
    assert_eq!((fault.message(), fault.line()), ("more than 100000 rows", 100_002));
}

#[test]
fn a_long_cell_is_not_repeated_whole() {
    let cell = "9x`".repeat(100_000);
    for table in [
        format!("name,rate\nx,{cell}\n"),
        format!("name,{cell}\nx,1\n"),
        format!("name,rate\nx,\"1{}\"\n", ",000".repeat(100_000)),
    ] {
        let said = super::table::read(&table).unwrap_err().within("x", &table).render(false);
        assert!(said.len() < 10_000, "{} bytes", said.len());
    }
}

/// A cell in quotes may not stand in the text as it reads.
#[test]
fn a_table_takes_time_in_proportion_to_its_rows() {
    let took_ns = |rows: usize| {
        let table = format!("name,rate\n{}", "\"a \"\"server\"\"\",1000\n".repeat(rows));
        let of = |_| {
            let before_ns = spent_ns();
            assert_eq!(super::table::read(&table).unwrap().len(), rows);
            spent_ns() - before_ns
        };
        (0..3).map(of).min().unwrap()
    };
    let (few_ns, many_ns) = (took_ns(1_000), took_ns(16_000));
    assert!(many_ns < 64 * few_ns, "16 times the rows took {few_ns} ns and {many_ns} ns");
}
