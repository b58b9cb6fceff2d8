//! `bourdon load` as a command: what it refuses, and what it prints.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use specimens::{Action, Kind};
use support::{Closed, Ended, Specimen, bourdon, interval_log, load, on_a_shell, without_a_reader};

// What cannot be done.

/// The program said why not, and what to do about it, and nothing on stdout.
fn assert_refused(what: &str, ended: &Ended, status: i32, cause: &str, cure: &str) {
    assert_eq!(ended.status, Some(status), "{what}: {ended:?}");
    assert_eq!(ended.stdout, "", "{what}");
    assert!(ended.stderr.contains(cause) && ended.stderr.contains(cure), "{what}: {}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{what}: {}", ended.stderr);
}

#[test]
fn what_cannot_be_done_is_said_with_its_cause_and_its_cure() {
    for (line, status, cause, cure) in [
        ("-c 0 http://h/", 2, "invalid value '0' for '--connections", "must be a whole number of 1 or more"),
        ("-R -5 http://h/", 2, "invalid value '-5' for '--rate", "from 0.001 to 10M requests a second"),
        ("-R 0 http://h/", 2, "invalid value '0' for '--rate", "from 0.001 to 10M requests a second"),
        ("-R inf http://h/", 2, "invalid value 'inf' for '--rate", "from 0.001 to 10M requests a second"),
        ("-d soon http://h/", 2, "`soon` is not a duration", "write for instance `500us`, `10ms`"),
        ("-d -1 http://h/", 2, "`-1` is negative", "a duration starts at 0ms"),
        ("-R 5m http://h/", 2, "invalid value '5m' for '--rate", "1000, 1.5k or 2M"),
        ("-H Content-Length:5 http://127.0.0.1/", 2, "the body has 0 bytes", "leave the header out"),
        (
            "-b x -H Transfer-Encoding:chunked http://127.0.0.1/",
            2,
            "sent whole",
            "leave the header Transfer-Encoding out",
        ),
        ("-H Host:a -H host:b http://127.0.0.1/", 2, "`host` is given twice", "a request has one"),
        ("-d 0s http://h/", 2, "invalid value '0s' for '--duration", "must be above zero"),
        ("http://", 2, "`http://` is not a URL to load", "write http://host[:port][/path]"),
        ("http://[::1/", 2, "`http://[::1/` is not a URL to load", "write http://host[:port][/path]"),
        ("http://127.0.0.1:99999/", 2, "`99999` is not a port", "1 to 65535"),
        ("--insecure http://127.0.0.1/", 2, "--insecure is about TLS", "begin the URL with https://"),
        ("ftp://127.0.0.1/", 2, "is not a URL to load", "must begin with http://"),
        ("http://no-such-host.invalid/", 4, "`no-such-host.invalid` is unknown", "check its spelling"),
        ("--threads 5 -c 2 http://h/", 2, "5 threads cannot share 2 connections", "at most -t 2"),
        ("--pipeline 4 --no-keepalive http://h/", 2, "--pipeline needs connections", "leave out --no-keepalive"),
        ("--arrivals poisson http://h/", 2, "required arguments were not provided", "--rate <PER_SECOND>"),
        ("-b @ http://127.0.0.1/", 2, "`@` has no file name behind it", "write @FILE"),
        ("--expect-body @missing http://127.0.0.1/", 2, "cannot read missing: No such file", "leave the @ out"),
        ("-b @missing http://127.0.0.1/", 2, "cannot read missing: No such file", "leave the @ out"),
        (
            "--histogram-log no/such/folder/log http://127.0.0.1/",
            2,
            "cannot write no/such/folder/log: No such file",
            "in a folder that can be written",
        ),
        ("-H nonsense http://h/", 2, "invalid value 'nonsense' for '--header", "written 'Name: value'"),
        (
            "-o - http://h/",
            2,
            "invalid value '-' for '--output",
            "name a file (--format json prints the whole document on stdout)",
        ),
        (
            "--source 192.0.2.9 http://127.0.0.1/",
            2,
            "192.0.2.9 is not an address of this machine",
            "`ip address` lists those that are",
        ),
        ("-k http://127.0.0.1/", 2, "--insecure is about TLS", "begin the URL with https://"),
        ("--expect-status 700 http://h/", 2, "invalid value '700'", "100..=599"),
        ("--http 2 http://h/", 2, "invalid value '2' for '--http", "possible values: 1.0, 1.1"),
        ("", 2, "required arguments were not provided", "<URL>"),
    ] {
        let arguments: Vec<&str> = ["load"].into_iter().chain(line.split_whitespace()).collect();
        assert_refused(line, &bourdon(&arguments), status, cause, cure);
    }
}

#[test]
fn more_connections_than_open_files_are_refused_before_the_load() {
    let ended = on_a_shell("ulimit -n 100", &["load", "-c", "50", "http://127.0.0.1/"]);
    assert_refused("open files", &ended, 2, "50 connections need 114 open files, and 100 are allowed", "at most -c 36");
    let closed = Closed::port();
    let within = on_a_shell("ulimit -n 100", &["load", "-c", "36", "-n", "36", "--format", "json", &closed.url()]);
    assert_eq!(within.document_with(4).count("accounting/not_sent/refused"), 36, "36 are few enough");
    let raised = on_a_shell(
        "ulimit -Hn 100; ulimit -Sn 30",
        &["load", "-c", "36", "-n", "36", "--format", "json", &closed.url()],
    );
    assert_eq!(raised.document_with(4).count("accounting/not_sent/refused"), 36, "the soft limit is raised");
}

// What is printed.

#[test]
fn stdout_is_the_document_or_plain_text() {
    let specimen = Specimen::of(Kind::Clean);
    let (url, arguments) = (specimen.url(), ["-n", "50"]);
    let json = load(&url, &arguments);
    let document = json.document_with(0);
    assert_eq!(document.get("schema"), "bourdon.load/2");
    assert_eq!(document.get("url"), url.as_str());
    let text = bourdon(&[&["load", &url][..], &arguments].concat());
    assert_eq!(text.status, Some(0));
    assert!(text.stdout.contains("requests/s") && text.stdout.contains("ok 50"), "{text:?}");
    for (ended, what) in [(&json, "json"), (&text, "text")] {
        assert!(!ended.stdout.contains('\u{1b}'), "{what} has colour where no terminal is");
        assert_eq!(ended.stderr, "", "{what}: no progress where no terminal is");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let specimen = Specimen::of(Kind::Clean);
    let url = specimen.url();
    for arguments in [
        &["load", &url, "-n", "50"][..],
        &["load", &url, "-n", "50", "--format", "json"],
        &["load", "--help"],
        &["completions", "bash"],
        &["completions", "fish"],
    ] {
        let ended = without_a_reader(arguments);
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn the_histogram_log_holds_what_the_document_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("load.hlog");
    let file = path.to_str().unwrap();
    let specimen = Specimen::of(Kind::Clean);
    for model in [&["-c", "4"][..], &["-c", "4", "-R", "1000"]] {
        let times = ["-d", "1100ms", "--warm-up", "100ms", "--histogram-log", file];
        let document = load(&specimen.url(), &[model, &times].concat()).document();
        let logged = interval_log::counts(&path);
        let tags: Vec<&str> = logged.keys().map(String::as_str).collect();
        let open = model.contains(&"-R");
        let expected =
            if open { &["first-byte", "lateness", "response", "service"][..] } else { &["first-byte", "service"] };
        assert_eq!(tags, expected);
        for (tag, count) in &logged {
            let summary = format!("latency_us/{}", tag.replace('-', "_"));
            let observed = document.count(&format!("{summary}/count")) - document.count(&format!("{summary}/censored"));
            assert_eq!(*count, observed, "{tag}");
            assert!(*count > 0, "{tag}");
        }
    }
}

#[test]
fn help_is_as_it_was_read() {
    insta::assert_snapshot!("help", bourdon(&["--help"]).stdout);
    insta::assert_snapshot!("help_of_load", bourdon(&["load", "--help"]).stdout);
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let commands = bourdon(&["--help"]).stdout;
    let commands = commands.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !["", "help"].contains(name)).collect();
    assert!(names.contains(&"load") && names.contains(&"specimen"), "{names:?}");
    for arguments in
        names.iter().flat_map(|name| [vec![*name, "--help"], vec![*name, "-h"], vec!["--help"], vec!["-h"]])
    {
        let help = bourdon(&arguments).stdout;
        let longest = help.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= 80, "{arguments:?}: {longest}");
    }
}

#[test]
fn a_space_in_a_url_is_named_with_the_url() {
    let ended = bourdon(&["load", "http://h/a b"]);
    assert_refused("space", &ended, 2, "`http://h/a b` is not a URL to load: it has a space", "write %20");
}

#[test]
fn an_example_of_the_help_works_as_it_stands() {
    let help = bourdon(&["load", "--help"]).stdout;
    let example = help.lines().find(|line| line.contains(" -n ") && line.contains("--expect-body")).unwrap();
    let specimen = Specimen::of(Kind::Clean);
    let here = example.replace("http://127.0.0.1:8080/", &specimen.url());
    let words = shlex::split(&here).unwrap();
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(arguments[0], "bourdon");
    let ended = bourdon(&arguments[1..]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(specimen.actions(1000).count(Action::Reply), 1000);
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish"] {
        let ended = bourdon(&["completions", shell]);
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
        // fish writes long options without their dashes.
        let option = if shell == "fish" { "-l connections" } else { "--connections" };
        assert!(ended.stdout.contains(option), "{shell}");
    }
}
