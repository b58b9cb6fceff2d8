//! Targets that do not come up as they should.

use crate::run_support::{FILE, Json, Lab, beside_a_specimen, short};
use crate::{SERVER, fails, lab, serves, tried};

#[test]
fn who_kills_its_parent_or_its_group_kills_itself() {
    fails("(setsid sleep 600 &); kill -9 $PPID; sleep 600", &["it lost its reaper"]);
    let killed =
        "it was ended by signal 9 (SIGKILL) before it was ready; somebody killed it, or the kernel did because memory";
    fails("sleep 600 & kill -9 0", &[killed]);
}

#[test]
fn a_server_that_a_signal_ends_before_it_is_ready_is_not_told_to_mend_its_command() {
    for (signal, said) in [("KILL", "signal 9 (SIGKILL) before it was ready; "), ("SEGV", "signal 11 (SIGSEGV) before")]
    {
        let lab = Lab::beside_others().experiment(beside_a_specimen(&format!("run = \"sh -c 'kill -{signal} $$'\"")));
        let ended = tried(&lab).exits(4).says(&["it was ended by ", said]);
        assert!(!ended.stderr.contains("$PORT"), "{ended:?}");
    }
}

#[test]
fn a_launch_whose_reaper_is_killed_before_it_is_ready_is_made_again() {
    let once = format!("[ -e once ] || {{ : > once; kill -9 $PPID; sleep 600; }}; {SERVER}");
    let lab = lab(&once, "50ms");
    let ended = tried(&lab);
    ended.says(&["its reaper was killed before it was ready, which says nothing about it; it is launched again"]);
    lab.record().all_measured("odd", 1);
}

#[test]
fn who_stops_its_parent_serves_all_the_same() {
    serves(&format!("setsid sleep 600 & kill -STOP $PPID; {SERVER}"));
}

#[test]
fn who_exits_or_never_listens_or_listens_elsewhere_is_told() {
    fails("exit 0", &["it exited with status 0 before it was ready", "stays in the foreground"]);
    fails("sleep 600", &["it was not ready within 2s: /ping: Connection refused"]);
    fails("PORT=0 $BOURDON specimen clean & wait", &["it listens on 127.0.0.1:", ", not on $PORT = "]);
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = 'no-such-server --port $PORT'"));
    tried(&lab).exits(4).says(&["cannot run `no-such-server`: No such file or directory"]);
}

#[test]
fn a_command_that_needs_a_shell_or_its_port_is_told_so_where_it_fails() {
    let port = "its command does not name $PORT, which is the port to listen on";
    for (command, said) in [
        ("A=1 $BOURDON specimen clean", "`A=1` needs one, or env: env A=1 $BOURDON …"),
        ("cd /; $BOURDON specimen clean", "`cd` needs one: sh -c '…'"),
        (
            "$BOURDON specimen clean && true",
            "exited with status 2 before it was ready; it runs without a shell, and `&&`",
        ),
        ("sh -c 'exit 3'", port),
        ("sleep 600", port),
    ] {
        let target = format!("ready_within = '200ms'\nrun = \"{command}\"");
        let failed = tried(&Lab::beside_others().experiment(beside_a_specimen(&target))).exits(4).says(&[said]);
        let shown = failed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(said), "{shown}");
    }
    for command in ["$BOURDON specimen none $PORT", "$BOURDON specimen none", "true", "sh -c 'cd /; exit 1; : $PORT'"] {
        let failed =
            tried(&Lab::beside_others().experiment(beside_a_specimen(&format!("run = \"{command}\"")))).exits(4);
        assert!(!failed.stderr.contains("its command does not") && !failed.stderr.contains("a shell"), "{failed:?}");
    }
}

#[test]
fn a_target_that_cannot_be_launched_ends_the_run_with_its_first_block_unless_the_others_are_to_go_on() {
    // What the file says of the target; the stage of its failure; what is said.
    let cases: [(&str, &str, &[&str]); 3] = [
        ("run = './no-such-server'", "launch", &["cannot run `./no-such-server`", "No such file"]),
        (
            "run = \"sh -c 'echo the database is not there >&2; exit 9'\"",
            "ready",
            &["it exited with status 9 before it was ready", "    the database is not there"],
        ),
        (
            "run = '$BOURDON specimen clean'\nready = '/nope'\nready_within = '200ms'",
            "ready",
            &[
                "it was not ready within 200ms: /nope answers with status 404; --path, or ready = \"/…\" in the file, or --ready, asks",
                "    clean listens on",
            ],
        ),
    ];
    for (target, stage, said) in cases {
        let lab = Lab::beside_others().experiment(beside_a_specimen(target));
        let stopped = lab.run(&[]).exits(4).says(said).says(&["stopped after block 1: odd did not become ready"]);
        lab.nothing_is_left();
        let record = lab.record();
        record.all_measured("specimen:clean", 1);
        let (_, command) = stopped.stderr.trim_end().rsplit_once("without odd: ").unwrap();
        let words = shlex::split(command).unwrap();
        lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).exits(4).says(said);
        lab.nothing_is_left();
        lab.bourdon(&["report", record.name()]).exits(4);
        record.all_measured("specimen:clean", 2);
        let odd = record.launches().into_iter().filter(|trial| trial["where"]["target"] == "odd");
        let failures: Vec<Json> = odd.map(|trial| trial["failure"].clone()).collect();
        let (tried, not): (Vec<&Json>, Vec<&Json>) = failures.iter().partition(|failure| failure["stage"] == stage);
        assert_eq!(tried.len(), 2, "one try each time: {failures:?}");
        let waited =
            |failure: &&Json| failure["waited_ms"].as_u64().unwrap() >= if target.contains("200ms") { 200 } else { 0 };
        assert!(tried.iter().all(waited), "{failures:?}");
        // With the twin of the odd one, which is the first of the plan.
        stopped.says(&["block 1: 1 trial, 2 whose server did not become ready"]).shows(&[
            "1 launch a cell",
            "1 launch did not become ready",
            "1 trial came up; 1 did not become ready; 1 not tried",
        ]);
        assert!(!not.is_empty() && not.iter().all(|failure| failure["not_again"].is_object()), "{failures:?}");
    }
}

#[test]
fn a_run_that_stopped_for_a_target_that_is_mended_is_resumed() {
    let target = "run = \"sh -c 'exec ./server specimen clean'\"";
    let lab = Lab::beside_others().experiment(beside_a_specimen(target));
    let stopped = lab.run(&[]).exits(4);
    stopped.clone().says(&["odd did not become ready: it exited with status 127", "what was measured is kept"]);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bourdon"), lab.path().join("server")).unwrap();
    let (_, after) = stopped.stderr.split_once("and resume: ").unwrap();
    let words = shlex::split(after.lines().next().unwrap()).unwrap();
    lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).answers();
    lab.nothing_is_left();
    let analysis = lab.record().analysis();
    assert_eq!(analysis["trials"]["void"], 0, "{analysis:#}");
    assert!(analysis["cells"].as_array().unwrap().iter().all(|cell| cell["trials"] == 2), "{analysis:#}");
}

#[test]
fn who_listens_elsewhere_is_told_while_it_may_still_open_the_right_port() {
    let elsewhere =
        "PORT=0 $BOURDON specimen clean & until [ -e go ]; do sleep 0.05; done; exec $BOURDON specimen clean";
    let lab = lab(elsewhere, "50ms");
    let lab = lab.replace(FILE, "'2s'", "'600s'");
    let mut running = lab.start(&["run", FILE, "--target", "odd", "--blocks", "1"]);
    let told = running.says("it listens on 127.0.0.1:");
    assert!(told.starts_with("waiting for odd: ") && told.contains(", not on $PORT = "), "{told}");
    let lab = lab.file("go", "");
    running.end().answers();
    lab.nothing_is_left();
    lab.record().all_measured("odd", 1);
}

#[test]
fn a_first_reply_that_takes_seconds_is_waited_for_as_long_as_the_target_is() {
    let slow = "ready = '/rest/hello'\nready_within = '600s'\nenv = { HANDLER_DELAY = '1200ms' }\n\
                run = '$BOURDON specimen clean'";
    let loaded = "path = \"/rest/hello\", expect_body = \"Hello world\"";
    let lab = Lab::beside_others().experiment(beside_a_specimen(slow).replace(loaded, "path = \"/ping\""));
    lab.run(&["--target", "odd", "--blocks", "1"]).answers();
    lab.record().all_measured("odd", 1);
    lab.nothing_is_left();
}

#[test]
fn a_server_that_lacks_its_certificate_is_told_what_gives_it_one() {
    let hint = "$TLS_CERT and $TLS_KEY are set where it is loaded over TLS with a certificate of bourdon's alone: ";
    for run in ["sh -c 'exit 3' sh $TLS_CERT", "sh -c 'echo KeyError: TLS_CERT >&2; exit 3'"] {
        let lab = Lab::beside_others().experiment(beside_a_specimen(&format!("run = \"{run}\"")));
        tried(&lab).exits(4).says(&[hint, "`tls = true` in its [[target]] and in [load]"]);
    }
}

#[test]
fn a_comparison_does_not_wait_in_vain_twice() {
    let side = |name: &str| format!("[[target]]\nname = \"{name}\"\nrun = \"sleep 600\"\nready_within = \"200ms\"\n");
    let sides = format!("{}{}[vary]\ntarget = [\"a\", \"b\"]\n", side("a"), side("b"));
    let load = short(2).replace("world\" }", "world\", connections = 2 }");
    let lab = Lab::beside_others().experiment(load.split_once("[vary]").unwrap().0.to_owned() + &sides);
    lab.bourdon(&["compare", FILE]).exits(4).says(&["did not become ready: it was not ready within 200ms"]);
    let launches = lab.record().launches();
    assert_eq!(launches.len(), 1, "{launches:#?}");
    lab.nothing_is_left();
}

#[test]
fn a_target_whose_folder_is_missing_is_told_so() {
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'\ncwd = 'nosuch'"));
    let said = lab.run(&["--target", "odd", "--blocks", "1"]).exits(4);
    said.says(&["odd did not become ready: it cannot be run in ", "/nosuch (cwd): No such file or directory"]);
}
