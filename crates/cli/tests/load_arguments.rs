//! What `bourdon load` makes of its arguments, and what it saves.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Signal;
use specimens::{Kind, Settings};
use support::{Closed, Document, Recorder, Specimen, bourdon, load, on_a_shell, spawn};

/// The head of the first request of a load.
fn head(recorder: &Recorder) -> String {
    recorder.requests()[0].split("\r\n\r\n").next().unwrap().to_owned()
}

#[test]
fn a_body_is_posted_unless_another_method_is_named() {
    for (arguments, line) in [
        (&["-b", "x"][..], "POST /rest/hello HTTP/1.1"),
        (&["-b", "x", "-X", "PUT"], "PUT /rest/hello HTTP/1.1"),
        (&["-b", "x", "-X", "GET"], "GET /rest/hello HTTP/1.1"),
        (&[], "GET /rest/hello HTTP/1.1"),
    ] {
        let recorder = Recorder::start();
        load(&recorder.url(), &[&["-n", "1"], arguments].concat()).document_with(0);
        assert_eq!(head(&recorder).lines().next(), Some(line), "{arguments:?}");
    }
}

#[test]
fn a_query_needs_no_path() {
    let recorder = Recorder::start();
    let document = load(&format!("http://{}?x=1", recorder.authority()), &["-n", "1"]).document_with(0);
    assert_eq!(document.get("load/path"), "/?x=1");
    assert!(head(&recorder).starts_with("GET /?x=1 HTTP/1.1\r\n"), "{}", head(&recorder));
}

#[test]
fn a_user_is_sent_and_never_printed() {
    let recorder = Recorder::start();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved.json");
    let url = format!("http://joe:s3cret@{}/a", recorder.authority());
    for format in ["text", "json", "csv"] {
        let ended = bourdon(&["load", &url, "-n", "1", "--format", format, "-o", saved.to_str().unwrap()]);
        assert_eq!(ended.status, Some(0), "{ended:?}");
        for text in [&ended.stdout, &ended.stderr, &std::fs::read_to_string(&saved).unwrap()] {
            assert!(!text.contains("s3cret") && !text.contains("am9lOn"), "{text}");
        }
    }
    // base64 of joe:s3cret
    assert!(head(&recorder).contains("\r\nAuthorization: Basic am9lOnMzY3JldA=="), "{}", head(&recorder));
    assert!(head(&recorder).contains(&format!("\r\nHost: {}\r\n", recorder.authority())));
    let twice = bourdon(&["load", &url, "-n", "1", "-H", "Authorization: Bearer x"]);
    assert_eq!(twice.status, Some(2), "{twice:?}");
    assert!(twice.stderr.contains("`authorization` is given twice"), "{twice:?}");
}

#[test]
fn an_address_of_ipv6_is_loaded_like_any_other() {
    let Ok(listener) = std::net::TcpListener::bind("[::1]:0") else {
        return eprintln!("NOT RUN: this machine has no IPv6");
    };
    let address = listener.local_addr().unwrap();
    let served = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&served);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let count = Arc::clone(&count);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                    count.fetch_add(1, Ordering::SeqCst);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
                }
            });
        }
    });
    let document = load(&format!("http://{address}/"), &["-n", "100", "-c", "5"]).document_with(0);
    assert_eq!(document.count("accounting/ok"), 100);
    assert_eq!(served.load(Ordering::SeqCst), 100);
}

#[test]
fn an_exact_number_at_a_rate_takes_as_long_as_the_rate_says() {
    let specimen = Specimen::of(Kind::Clean);
    for (arguments, rate) in [(&["-n", "5", "-R", "50"][..], 50.0), (&["-n", "100", "-R", "1k", "-t", "2"], 1000.0)] {
        let document = load(&specimen.url(), arguments).document_with(0);
        let measured = document.number("throughput/requests_per_s");
        // More than was asked for it is never; how late the last reply may be is the machine's affair.
        assert!(measured <= rate * 1.001, "{measured} of {rate}");
        assert_eq!(document.number("load/rate_per_s"), rate);
    }
}

#[test]
fn a_bare_number_is_seconds() {
    let specimen = Specimen::of(Kind::Clean);
    let document = load(&specimen.url(), &["-d", "0.2", "--warm-up", "0"]).document_with(0);
    assert_eq!((document.number("load/window_s"), document.number("load/warm_up_s")), (0.2, 0.0));
}

/// A saved result, read as any other program would.
fn saved(path: &std::path::Path) -> Document {
    Document::of_balanced(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_result_is_saved_as_it_is_printed() {
    let specimen = Specimen::of(Kind::Clean);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.json");
    std::fs::write(&file, "an older one").unwrap();
    let output = ["-n", "20", "-o", file.to_str().unwrap()];
    let json = load(&specimen.url(), &output);
    let kept = std::fs::read_to_string(&file).unwrap();
    // With what it takes to be merged, behind all else.
    let (printed, part) = kept.split_once(",\n  \"part\": \"").unwrap();
    assert_eq!(json.stdout, format!("{printed}\n}}\n"));
    assert!(part.ends_with("\"\n}\n") && part.lines().count() == 2, "{part}");
    assert_eq!(json.document_with(0).get("schema"), "bourdon.load/2");
    let silent = bourdon(&[&["load", &specimen.url(), "--format", "none"][..], &output].concat());
    let said = format!("saved in {}\n", file.display());
    assert_eq!((silent.status, silent.stdout, silent.stderr), (Some(0), String::new(), said));
    assert_eq!(saved(&file).count("accounting/ok"), 20);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn what_was_measured_is_saved_on_an_interrupt() {
    let specimen = Specimen::of(Kind::Clean);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.json");
    let run = spawn(&["load", &specimen.url(), "-d", "60s", "--warm-up", "0", "-o", file.to_str().unwrap()]);
    specimen.log_of(100);
    run.signal(Signal::INT);
    assert_eq!(run.end().status, Some(130));
    assert_eq!(saved(&file).get("interrupted"), true);
    assert!(saved(&file).count("accounting/ok") > 0);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_load() {
    let specimen = Specimen::start(Settings::new(Kind::Clean));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let to_stdout = folder.path().join("stdout");
    std::os::unix::fs::symlink("/proc/self/fd/1", &to_stdout).unwrap();
    for (file, cause) in [
        ("/no/such/folder/x", "No such file"),
        (path, "it is a folder, and a file is expected; name a file in a folder that can be written"),
        ("/dev/null", "it is a device or a pipe, and a file is expected"),
        (to_stdout.to_str().unwrap(), "(--format json prints to stdout)"),
    ] {
        let ended = bourdon(&["load", &specimen.url(), "-n", "1", "-o", file]);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(cause) && ended.stderr.contains("that can be written"), "{ended:?}");
    }
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ended = bourdon(&["load", &specimen.url(), "-n", "1", "--histogram-log", pipe.to_str().unwrap()]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("it is a pipe that nobody reads; name a file"), "{ended:?}");
    load(&specimen.url(), &["-n", "1"]).document_with(0);
    assert_eq!(specimen.actions(1).requests(), 1, "nothing was sent before");
}

#[test]
fn two_results_have_two_files() {
    let recorder = Recorder::start();
    let folder = tempfile::tempdir().unwrap();
    let before = format!("cd {}", folder.path().display());
    let ended = on_a_shell(&before, &["load", &recorder.url(), "-n", "1", "-o", "x", "--histogram-log", "./x"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("--output and --histogram-log both name x; name two files"), "{ended:?}");
}

#[test]
fn what_an_earlier_load_saved_stays_where_there_is_nothing_to_save() {
    let closed = Closed::port();
    let silent = Specimen::always(Kind::NeverAnswers);
    let folder = tempfile::tempdir().unwrap();
    let [saved, log] = ["saved", "log"].map(|name| folder.path().join(name));
    for url in [closed.url(), closed.url().replace("http:", "https:"), silent.url()] {
        std::fs::write(&saved, "an older one").unwrap();
        std::fs::write(&log, "an older one").unwrap();
        let files = ["-o", saved.to_str().unwrap(), "--histogram-log", log.to_str().unwrap()];
        // Without the authorities that are named there is no TLS, and no load.
        let secure = ["--ca", saved.to_str().unwrap()];
        let more = if url.starts_with("https") { &secure[..] } else { &[] };
        let arguments = [&["load", &url, "-d", "1h", "--warm-up", "100ms"], &files[..], more].concat();
        let ended = if url == silent.url() {
            let run = spawn(&[&["load", &url, "-d", "1h", "--warm-up", "1h"], &files[..]].concat());
            silent.log_of(1);
            run.signal(Signal::INT);
            run.end()
        } else {
            bourdon(&arguments)
        };
        assert!([Some(2), Some(4), Some(130)].contains(&ended.status), "{ended:?}");
        for file in [&saved, &log] {
            assert_eq!(std::fs::read_to_string(file).unwrap(), "an older one", "{url}: {ended:?}");
        }
        if ended.status != Some(2) {
            assert!(ended.stderr.contains("saved: there is nothing to save"), "{ended:?}");
        }
        let said = ended.stdout.contains("stopped in its warm-up: nothing was measured");
        assert_eq!(said, ended.status == Some(130), "{ended:?}");
    }
}

#[test]
fn a_file_to_write_is_never_called_minus() {
    let recorder = Recorder::start();
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--output", "--histogram-log"] {
        let ended =
            on_a_shell(&format!("cd {}", folder.path().display()), &["load", &recorder.url(), "-n", "1", flag, "-"]);
        assert_eq!(ended.status, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("`-` is not stdout here") && ended.stderr.contains("name a file"), "{ended:?}");
        let ended = bourdon(&["load", &recorder.url(), "-n", "1", flag, ""]);
        assert!(ended.status == Some(2) && ended.stderr.contains("the name of the file is empty"), "{ended:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
