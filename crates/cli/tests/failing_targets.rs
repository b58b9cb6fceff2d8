//! Targets that fail in a run: what is said, what counts, and that the others go on.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

mod disk;
mod run_support;

use disk::Disk;
use run_support::{FILE, Json, Lab, Record, beside_a_specimen, is_here, short};
use rustix::process::Signal;

/// The blocks of which something is recorded.
fn blocks(record: &Record) -> BTreeSet<u64> {
    record.launches().iter().map(|launch| launch["block"].as_u64().unwrap()).collect()
}

/// A specimen all of whose replies have one defect beside a clean one.
fn failing(kind: &str, every: u32, trials: &str) -> String {
    format!(
        "question = \"Does it answer?\"\n\
         load = {{ path = \"/rest/hello\", connections = 4 }}\n\
         trials = {{ warm_up = \"10ms\", window = \"60ms\", blocks = 2, repeats = 0{trials} }}\n\
         [[target]]\nname = \"odd\"\nrun = \"$BOURDON specimen {kind}\"\nready = \"/ping\"\n\
         env = {{ EVERY = \"{every}\" }}\n\
         [vary]\ntarget = [\"odd\", \"specimen:clean\"]\n"
    )
}

#[test]
fn another_status_is_a_failure_that_voids_nothing() {
    let lab = Lab::new().experiment(failing("unavailable", 2, ""));
    let run = lab.run(&[]).exits(1);
    let first: Vec<&str> = run.stdout.lines().take(3).collect();
    assert!(first.iter().any(|line| line.starts_with("More than 1 % of the requests failed: odd ")), "{first:?}");
    run.shows(&["failed", "errors: odd ("]);
    let record = lab.record();
    let analysis = record.analysis();
    assert_eq!(analysis["trials"]["void"], 0, "{analysis:#}");
    let odd = &analysis["cells"][0];
    assert_eq!((&odd["trials"], &odd["failing"]["bad"]), (&2.into(), &true.into()), "{odd:#}");
    // Every second one of those that a tiny window has.
    assert!((0.4..0.6).contains(&odd["errors"].as_f64().unwrap()), "{odd:#}");
    let path = record.path().display().to_string();
    lab.bourdon(&["report", &path]).exits(1).shows(&["More than 1 % of the requests failed"]);
}

#[test]
fn failures_that_are_allowed_are_said_and_no_more() {
    let lab = Lab::new().experiment(failing("unavailable", 2, ", allow_failures = \"60%\""));
    lab.run(&[]).exits(0).shows(&["errors: odd ("]);
    lab.run(&["--allow-failures", "10%"]).exits(1).shows(&["More than 10 % of the requests failed: odd"]);
}

#[test]
fn a_server_that_only_fails_is_bad_and_not_good() {
    for (kind, says) in [
        ("unavailable", "More than 1 % of the requests failed: odd 100 %"),
        ("close-before-reply", "More than 1 % of the requests failed: odd 100 %"),
        ("malformed-head", "Replies with wrong content: odd"),
    ] {
        let lab = Lab::new().experiment(failing(kind, 1, ""));
        lab.run(&[]).exits(1).shows(&[says]);
    }
}

#[test]
fn wrong_content_voids_its_trials_alone() {
    let wrong = |trial: &Json| {
        let (books, connections) = (&trial["measurement"]["accounting"], &trial["measurement"]["connections"]);
        books["bad_body"] != 0 || connections["unasked_replies"] != 0
    };
    for kind in ["wrong-body", "repeated-reply"] {
        let lab = Lab::new().experiment(short(2).replace("specimen:stall", &format!("specimen:{kind}")));
        lab.run(&[]).exits(1).shows(&["of 10 trials are void", "correctness: ", "Replies with wrong content: "]);
        let record = lab.record();
        // A trial too unlucky to see a wrong reply (every tenth is) has nothing to be void for.
        let mut expected: Vec<Json> =
            record.trials().into_iter().filter(wrong).map(|trial| trial["id"].clone()).collect();
        expected.sort_by_key(Json::to_string);
        let analysis = record.analysis();
        let void = analysis["void_trials"].as_array().unwrap();
        assert_eq!(void.iter().map(|trial| trial["id"].clone()).collect::<Vec<_>>(), expected);
        for trial in void {
            let target = format!("specimen:{kind}");
            assert_eq!([&trial["reason"]["code"], &trial["where"]["target"]], ["correctness", target.as_str()]);
        }
    }
}

#[test]
fn a_run_without_one_right_reply_ends_with_its_first_block_and_says_what_was_expected() {
    let wrong = failing("wrong-body", 1, "")
        .replace("path = \"/rest/hello\"", "path = \"/rest/hello\", expect_body = \"Hello world\"");
    let lab = Lab::new().experiment(&wrong);
    let run = lab.run(&["--target", "odd", "--blocks", "6"]).exits(1);
    let said = "done: not one reply of odd was right, and more blocks would show the same; fix the server";
    run.clone().says(&[said]).shows(&["Replies with wrong content: odd", "The first wrong reply of odd: "]);
    assert!(!run.stdout.contains("More blocks") && run.stdout.contains("Hello world"), "{run:?}");
    let record = lab.record();
    assert_eq!(blocks(&record), BTreeSet::from([1]), "{record:?}");
    lab.bourdon(&["run", "--resume", record.name()]).exits(1).says(&[said]);
    drop(lab);

    let lab = Lab::new().experiment(&wrong);
    lab.run(&[]).exits(1);
    lab.record().all_measured("specimen:clean", 2);
}

/// Ends with the first request that is not the question whether it is ready, while that still waits for its reply. Launches that
/// are alive together have a log each.
const DYING: &str = "log=log.$PORT; [ -p $log ] || mkfifo $log; EVERY=1 LOG_FILE=$log $1 specimen never-answers & \
                     read line < $log; echo out of memory >&2; exit 7";

#[test]
fn a_comparison_of_which_one_side_dies_ends_with_the_block_that_shows_it_and_says_it_first() {
    let lab = Lab::beside_others().file("dying.sh", DYING);
    let sides = ["--run", "$BOURDON specimen clean", "--run", "sh dying.sh $BOURDON", "--ready", "/ping"];
    let load = ["--path", "/rest/hello", "-d", "300ms", "--warm-up", "50ms", "-c", "4", "--blocks", "6"];
    let run = lab.bourdon(&[&["compare"], &sides[..], &load].concat()).exits(1);
    run.clone().says(&["done: new died in every launch, and more blocks would show the same; fix the server"]);
    let said = "The server died: new in each of its 2 launches (it exited with status 7 under load). It printed last:";
    let shown = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let (first, rest) = shown.split_once("Nothing could be compared: no launch of ").unwrap();
    assert!(
        first.contains(said) && first.contains("out of memory") && !rest.contains("out of memory"),
        "{}",
        run.stdout
    );
    run.shows(&[
        "block 1, new: died: it exited with status 7 under load",
        "block 1, new, launched again for the noise: died: it exited with status 7 ",
    ]);
    assert_eq!(blocks(&lab.record()), BTreeSet::from([1]));
}

#[test]
fn a_target_that_cannot_be_built_is_said_and_the_others_go_on() {
    let build = "run = '$BOURDON specimen clean'\nbuild = \"sh -c 'echo no such header >&2; exit 3'\"";
    let lab = Lab::beside_others().experiment(beside_a_specimen(build));
    let said = ["building odd failed (exited with status 3)", "no such header"];
    lab.run(&[]).exits(4).says(&said).shows(&["Absent: odd"]);
    lab.record().all_measured("specimen:clean", 2);
    assert!(lab.record().failures_of("odd").is_empty(), "what is not built is not launched");
    lab.bourdon(&["report", lab.record().name()]).exits(4);

    lab.run(&["--target", "odd", "--runs", "alone"]).exits(4).says(&said);
    assert!(lab.records_in("alone").is_empty(), "there is nothing to record");
}

#[test]
fn a_build_that_needs_a_shell_is_told_so() {
    let lab =
        Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'\nbuild = 'false && true'"));
    lab.run(&[]).exits(4).says(&["`&&` needs one: sh -c '…'"]);
}

#[test]
fn a_target_that_changes_the_record_in_place_is_noticed_at_the_end_of_the_run() {
    let lab = Lab::beside_others();
    let script = format!(
        "for record in {}/runs/*/trials.jsonl; do\n  [ -s $record ] && printf 9 | dd of=$record bs=1 seek=25 conv=notrunc \
         2>/dev/null\ndone\nexec \"$1\" specimen clean\n",
        lab.path().display()
    );
    let lab = lab.file("odd.sh", script).experiment(beside_a_specimen("run = 'sh odd.sh $BOURDON'"));
    let said = lab.run(&[]).exits(2).says(&[
        "the record is not what was measured",
        "trials.jsonl: somebody changed what was written to it during the run",
        "the answer here is of what was measured",
    ]);
    assert!(
        said.stdout.contains("Does the one disturb the other?") && said.stdout.contains("specimen:clean"),
        "{said:?}"
    );
}

#[test]
fn a_program_that_a_command_names_is_not_launched_again_once_it_is_another() {
    let program = "[ -e changes ] && echo >> odd.sh\nexec \"$1\" specimen clean\n";
    let lab = Lab::beside_others().file("odd.sh", program).experiment(beside_a_specimen("run = 'sh odd.sh $BOURDON'"));
    lab.run(&["--target", "odd", "--blocks", "1", "--runs", "whole"]).answers();
    let lab = lab.file("changes", "");
    let ended = lab.run(&["--target", "odd", "--blocks", "2", "--runs", "changed"]);
    ended.exits(2).says(&["odd.sh is another program than the run began with"]);
    let whole = lab.records_in("whole")[0].path().to_string_lossy().into_owned();
    let resumed = lab.bourdon(&["run", "--resume", &whole, "--blocks", "2"]).exits(2);
    resumed.says(&["odd.sh is another program than the run began with"]);
    lab.nothing_is_left();
}

#[test]
fn a_setting_is_not_taken_from_the_environment_and_what_runtimes_obey_is_told() {
    let odd = "run = \"sh -c 'test -z $LEVEL && exec $BOURDON specimen clean'\"\n\
               settings.level = { env = 'LEVEL', type = 'text', default = 'low' }";
    let lab = Lab::beside_others().experiment(beside_a_specimen(odd)).env("LEVEL", "high").env("GOGC", "50");
    let said = lab.run(&["--target", "odd", "--blocks", "1"]).answers();
    said.says(&["note: GOGC is set here and reaches every server"]);
    lab.records()[0].all_measured("odd", 1);
    lab.nothing_is_left();
}

#[test]
fn a_program_that_changes_in_the_run_is_not_launched_again() {
    let program = "#!/bin/sh\nif [ -e changes ]; then echo >> $0; fi\nexec $1 specimen clean\n";
    let built = "build = \"sh -c 'cp program $TARGET_BIN && chmod +x $TARGET_BIN'\"\nrun = '$TARGET_BIN $BOURDON'";
    let lab = Lab::beside_others().file("program", program).experiment(beside_a_specimen(built));
    lab.run(&["--target", "odd", "--blocks", "2"]).answers();
    let lab = lab.file("changes", "");
    let ended = lab.run(&["--target", "odd", "--blocks", "2", "--runs", "changed"]);
    ended.exits(2).says(&["odd", "is another program than the run began with"]);
    lab.records_in("changed")[0].all_measured("odd", 1);
    lab.nothing_is_left();
}

#[test]
fn a_build_that_bourdon_itself_has_no_room_for_ends_the_run_and_blames_no_target() {
    let fills = "run = '$BOURDON specimen clean'\nbuild = 'cp /dev/zero $TARGET_BIN'";
    let Some(disk) = Disk::new() else { return };
    let lab =
        Lab::beside_others().experiment(beside_a_specimen(fills)).env("XDG_CACHE_HOME", disk.path().to_string_lossy());
    let said = lab
        .run(&[])
        .exits(2)
        .says(&["odd cannot be built: ", " is full; make room there, or set XDG_CACHE_HOME and TMPDIR"]);
    assert!(!said.stderr.contains("absent: ") && lab.records().is_empty(), "{said:?}");
    drop(lab);
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'\nbuild = 'true'"));
    let lab = lab.file("taken", "");
    let taken = lab.path().join("taken").display().to_string();
    let lab = lab.env("XDG_CACHE_HOME", taken);
    lab.run(&[]).exits(2).says(&["odd cannot be built: cannot write in ", "or set XDG_CACHE_HOME to a folder"]);
}

/// A lab with a server at an address of IPv6; none where there is no IPv6 or no python3.
fn with_a_server_at(address: &str, ready: &str) -> Option<Lab> {
    let has_six = std::fs::read_to_string("/proc/net/if_inet6").is_ok_and(|lines| lines.contains(" lo\n"));
    if !has_six || !is_here("python3") {
        eprintln!("NOT RUN: it takes IPv6 and python3");
        return None;
    }
    let script = format!(
        "import os, socket\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\n\
         HTTPServer.address_family = socket.AF_INET6\n\
         HTTPServer(('{address}', int(os.environ['PORT'])), SimpleHTTPRequestHandler).serve_forever()\n"
    );
    let target = format!("run = 'python3 six.py'\n{ready}");
    Some(Lab::beside_others().file("six.py", script).experiment(beside_a_specimen(&target)))
}

#[test]
fn a_server_on_ipv6_alone_is_asked_in_vain_and_told_so() {
    let Some(lab) = with_a_server_at("::1", "ready_within = '3s'") else { return };
    let said =
        ["it listens on [::1]:", " only, which is IPv6, and bourdon asks at 127.0.0.1:", "have it listen on 127.0.0.1"];
    lab.run(&["--blocks", "1", "--keep-going"]).exits(4).says(&said);
    let record = lab.record();
    record.all_measured("specimen:clean", 1);
    let failures = record.failures_of("odd");
    assert!(!failures.is_empty() && failures.iter().all(|failure| failure["stage"] == "ready"), "{failures:?}");
    lab.bourdon(&["compare", FILE, "--blocks", "1"]).exits(4).says(&said);
    lab.nothing_is_left();
}

#[test]
fn a_path_that_answers_with_another_status_is_told_while_it_may_still_change() {
    let starting = "EVERY=1 $BOURDON specimen unavailable & until [ -e go ]; do sleep 0.05; done; kill $!; wait $!; \
                    exec $BOURDON specimen clean";
    let lab = Lab::beside_others().file("odd.sh", starting);
    let lab =
        lab.experiment(beside_a_specimen("run = 'sh odd.sh'\nready_within = '600s'\nenv = { BOURDON = '$BOURDON' }"));
    let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "1"]);
    let told = running.says("answers with status 503");
    let cure = " in the file, or --ready, asks for another path; if that is the right reply, ask for it: expect_status, or --expect-status)";
    assert!(told.starts_with("waiting for odd: /rest/hello answers") && told.contains(cure), "{told}");
    let lab = lab.file("go", "");
    running.end().answers();
    lab.nothing_is_left();
    lab.record().all_measured("odd", 1);
}

/// As a JVM listens on 127.0.0.1.
#[test]
fn a_socket_of_ipv6_that_takes_ipv4_is_the_targets_own() {
    let Some(lab) = with_a_server_at("::ffff:127.0.0.1", "ready = '/six.py'") else { return };
    lab.run(&["--target", "odd", "--blocks", "1"]);
    lab.record().all_measured("odd", 1);
    lab.nothing_is_left();
}

#[test]
fn time_in_which_bourdon_itself_stood_still_is_not_the_targets() {
    let serve = "touch begun; while ! test -e go; do sleep 0.02; done; exec $1 specimen clean\n";
    let lab = Lab::beside_others().file("serve.sh", serve);
    let lab = lab.experiment(beside_a_specimen("run = 'sh serve.sh $BOURDON'\nready_within = '2s'"));
    let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "1"]);
    running.until("the target begins", || lab.path().join("begun").exists().then_some(()));
    running.signal(Signal::STOP);
    std::fs::write(lab.path().join("go"), "").unwrap();
    // The standstill itself: longer than a target is waited for.
    std::thread::sleep(Duration::from_millis(2_500));
    running.signal(Signal::CONT);
    running.end().answers();
    let record = lab.record();
    record.all_measured("odd", 1);
    let unknown = record.trials().iter().filter(|trial| trial["time_to_ready_ms"].is_null()).count();
    assert_eq!(unknown, 1, "nobody knows when the first was ready: {:?}", record.trials());
    lab.nothing_is_left();
}

#[test]
fn who_answers_on_a_targets_port_in_its_stead_is_not_measured() {
    if !is_here("python3") {
        return eprintln!("NOT RUN: it takes python3");
    }
    let script = "import os, socketserver\n\
                  server = socketserver.TCPServer(('127.0.0.1', 0), socketserver.BaseRequestHandler)\n\
                  open('unfinished', 'w').write(os.environ['PORT'])\n\
                  os.replace('unfinished', 'port')\n\
                  server.serve_forever()\n";
    let lab = Lab::beside_others().file("astray.py", script);
    let lab = lab.experiment(beside_a_specimen("run = 'python3 astray.py'\nready_within = '5s'"));
    let told = lab.path().join("port");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let port = || std::fs::read_to_string(&told).ok()?.parse::<u16>().ok();
            let stands_in = |port| {
                std::fs::remove_file(&told).unwrap();
                let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
                listener.set_nonblocking(true).unwrap();
                listener
            };
            let mut listeners: Vec<std::net::TcpListener> = Vec::new();
            while !over.load(Ordering::Relaxed) {
                listeners.extend(port().map(stands_in));
                for (mut stream, _) in listeners.iter().filter_map(|listener| listener.accept().ok()) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let ended = lab.run(&["--blocks", "1", "--keep-going"]);
        over.store(true, Ordering::Relaxed);
        ended.exits(4).says(&["another program answers there; it listens on 127.0.0.1:"]);
    });
    assert!(lab.record().failures_of("odd").iter().all(|failure| failure["stage"] == "ready"));
    lab.nothing_is_left();
}

#[test]
fn calls_of_the_system_that_always_fail_keep_no_run_from_its_end() {
    if !is_here("strace") {
        return;
    }
    for calls in ["shutdown", "ppoll"] {
        let lab = Lab::new().experiment(short(1));
        let (traced, fault) = (format!("trace={calls}"), format!("inject={calls}:error=EINVAL"));
        let strace = ["timeout", "-k", "1", "60", "strace", "-f", "-o", "/dev/null", "-e", &traced, "-e", &fault];
        lab.bourdon_under(&strace, &["run", FILE]).answers();
        lab.nothing_is_left();
        lab.record().is_whole(1, 4);
    }
}
