//! `bourdon targets` over the repository's own servers and over one that honours nothing; and the help texts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Json, Lab, is_here, repository};

/// A server that answers and is not a target: it has two of the contract's paths.
const DISHONEST: &str = r#"
name = "dishonest"
title = "Promises nothing"
launch = { run = "$BOURDON specimen clean", ready = "/ping" }
"#;

const NEEDS_A_COMPILER: &str = r#"
name = "needs-a-compiler"
title = "Cannot be built here"
toolchain = { command = "no-such-compiler", version = "no-such-compiler -v", get = "https://example.org/get" }
build.run = "no-such-compiler -o $TARGET_BIN"
launch = { run = "$TARGET_BIN", ready = "/ping" }
"#;

fn targets(document: &Json) -> &Vec<Json> {
    assert_eq!(document["schema"], "bourdon.targets/1");
    document["targets"].as_array().unwrap()
}

#[test]
fn the_repositorys_targets_are_listed() {
    let lab = Lab::beside_others();
    let list = lab.bourdon_in(&repository(), &["targets", "list"]).exits(0);
    let document = lab.bourdon_in(&repository(), &["targets", "--format", "json"]).exits(0).json();
    let shown: Vec<&str> = list.stdout.lines().collect();
    assert_eq!(shown.len(), targets(&document).len());
    for (line, target) in shown.iter().zip(targets(&document)) {
        let words = |key: &str| target[key].as_str().unwrap().to_owned();
        assert!(line.starts_with(&words("name")) && line.contains(&words("title")), "{line}");
        assert!(line.ends_with(words("state").lines().next().unwrap()), "{line}");
    }
    assert_eq!(lab.bourdon_in(&repository(), &["targets"]).exits(0).stdout, list.stdout, "list is the default");
    let home = lab.env("BOURDON_HOME", repository().display().to_string());
    assert_eq!(home.bourdon(&["targets"]).exits(0).stdout, list.stdout, "and so from elsewhere");
}

#[test]
fn the_list_as_json() {
    let document = Lab::beside_others().bourdon_in(&repository(), &["targets", "--format", "json"]).exits(0).json();
    let names: Vec<&str> = targets(&document).iter().map(|target| target["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.contains(&"go-net-http"), "{names:?}");
    let reconstructed = targets(&document).iter().filter(|target| target["reconstruction"].is_string());
    assert_eq!(reconstructed.map(|target| &target["name"]).collect::<Vec<_>>(), ["go-iris-2016"]);
}

#[test]
fn a_server_that_breaks_the_contract_is_told_what_it_breaks() {
    let lab = Lab::beside_others().file("targets/dishonest/target.toml", DISHONEST);
    let check = lab.bourdon(&["targets", "check", "dishonest"]).exits(1).says(&["checking dishonest"]);
    lab.nothing_is_left();
    check.shows(&[
        "dishonest  Promises nothing  breaks ",
        "GET /index gives \"index\\n\": wrong status: expected 200, got 404 with ",
        "POST /submit echoes its JSON: wrong status: expected 200, got ",
    ]);
    let document = lab.bourdon(&["targets", "check", "--format", "json"]).exits(1).json();
    let [dishonest] = &targets(&document)[..] else { panic!("{document}") };
    assert_eq!(dishonest["ok"], false);
    let breaches: Vec<&str> = dishonest["breaches"].as_array().unwrap().iter().map(|b| b.as_str().unwrap()).collect();
    assert!(
        breaches.iter().any(|b| b.starts_with("GET /index gives \"index\\n\": wrong status: expected")),
        "{breaches:#?}"
    );
    assert!(breaches.iter().any(|breach| breach.starts_with("POST /submit echoes its JSON")), "{breaches:#?}");
    assert!(!breaches.iter().any(|breach| breach.starts_with("GET /ping gives")), "that one it honours");
    assert!(breaches.len() < dishonest["checks"].as_u64().unwrap() as usize);
}

/// What `targets check` says of a specimen that has the contract's endpoints: the lines of stdout.
fn checked(kind: &str, exit: i32) -> Vec<String> {
    checked_as("$BOURDON", kind, exit)
}

/// The same of one that is launched by another command before its kind.
fn checked_as(bourdon: &str, kind: &str, exit: i32) -> Vec<String> {
    let target = format!(
        "name = \"{kind}\"\ntitle = \"A specimen\"\n\
         launch = {{ run = \"{bourdon} specimen {kind}\", ready = \"/ping\" }}\n\
         [settings.handler_delay]\nenv = \"HANDLER_DELAY\"\ntype = \"duration\"\ndefault = \"0ms\"\n"
    );
    let lab = Lab::beside_others().file("targets/it/target.toml", target);
    let check = lab.bourdon(&["targets", "check", "--seed", "7"]).exits(exit);
    lab.nothing_is_left();
    check.stdout.lines().map(str::to_owned).collect()
}

/// The points that a specimen breaks, of which there are so many.
fn breaches<const N: usize>(kind: &str) -> [String; N] {
    let lines = checked(kind, 1);
    lines[1..].to_vec().try_into().unwrap_or_else(|_| panic!("{lines:#?}"))
}

#[test]
fn a_specimen_that_keeps_the_contract_passes_every_point() {
    let lines = checked("contract", 0);
    assert!(lines.len() == 1 && lines[0].contains("A specimen  passes, 34 points"), "{lines:#?}");
}

#[test]
fn who_listens_elsewhere_than_it_is_told_is_found() {
    let deaf = checked_as("env ADDRESS=127.0.0.1 $BOURDON", "contract", 1);
    assert!(deaf.len() == 2 && deaf[1].contains("with ADDRESS=0.0.0.0 it listens for other machines"), "{deaf:#?}");
    assert!(deaf[1].contains("it listens on 127.0.0.1:"), "{deaf:#?}");
    let open = checked_as("env ADDRESS=0.0.0.0 $BOURDON", "contract", 1);
    assert!(open.len() == 2 && open[1].contains("without ADDRESS and ADMIN_PORT it listens on its port"), "{open:#?}");
}

#[test]
fn a_cached_reply_is_called_so() {
    let [again, other, loaded] = breaches("cached-reply");
    assert!(again.contains("GET /hash?n=1&nonce="), "{again}");
    assert!(
        again.contains("looks cached: it is the digest of an earlier request, /hash?n=1&nonce= (seed 7)"),
        "{again}"
    );
    assert!(other.contains("GET /hash?n=") && other.contains(": looks cached: "), "{other}");
    assert!(loaded.contains("GET /hash gives the digests of 64 nonces under load: "), "{loaded}");
    assert!(loaded.contains(" replies were wrong with 8 requests in flight, one to GET /hash?n=2&nonce="), "{loaded}");
}

#[test]
fn a_delay_that_is_skipped_under_load_alone_is_found_there() {
    let [breach] = breaches("skipped-delay");
    assert!(breach.contains("/rest/hello and /index wait 100ms under load: the delay was skipped: "), "{breach}");
    assert!(breach.contains("where 8 connections allow 89"), "{breach}");
}

#[test]
fn passes_that_are_skipped_are_counted() {
    let [few, many, again, loaded] = breaches("skipped-passes");
    for breach in [few, many, again] {
        assert!(breach.contains(": passes were skipped: it is the digest of 1 pass (seed 7)"), "{breach}");
    }
    assert!(loaded.contains("GET /hash gives the digests of 64 nonces under load: "), "{loaded}");
    assert!(loaded.contains("(seed 7): expected \"") && loaded.contains(" (64 bytes), got \""), "{loaded}");
}

#[test]
fn a_reply_of_another_type_is_told_wherever_the_contract_names_one() {
    let breaches = breaches::<16>("wrong-type");
    let ending = |end: &str| breaches.iter().filter(|breach| breach.contains(end)).count();
    assert_eq!(ending(": Content-Type is \"text/html\", not text/plain; charset=utf-8"), 13, "{breaches:#?}");
    assert_eq!(ending(": Content-Type is \"text/html\", not application/json"), 3, "{breaches:#?}");
    for (point, times) in [
        ("GET / gives ", 1),
        ("GET /rest/hello gives ", 1),
        ("GET /index gives ", 1),
        ("GET /hello/bourdon gives ", 1),
        ("GET /user/42 gives ", 1),
        ("GET /ping gives ", 1),
        ("GET /whoami gives ", 1),
        ("POST /submit echoes its JSON", 1),
        ("POST /submit gives status 400", 1),
        ("GET /hash?n=", 7),
    ] {
        assert_eq!(ending(point), times, "{point}: {breaches:#?}");
    }
}

#[test]
fn the_seed_of_a_check_is_another_each_time_and_can_be_given() {
    let lab = Lab::beside_others().file("targets/dishonest/target.toml", DISHONEST);
    let hash = |args: &[&str]| {
        let check = lab.bourdon(&[&["targets", "check"], args].concat()).exits(1);
        let breach = check
            .stdout
            .lines()
            .find(|line| line.contains("GET /hash?n=1&nonce=") && !line.contains("nonce= "))
            .unwrap();
        breach.trim().to_owned()
    };
    let first = hash(&[]);
    let (seed, _) = first.split_once("(seed ").unwrap().1.split_once(')').unwrap();
    assert_ne!(hash(&[]), first);
    assert_eq!(hash(&["--seed", seed]), first, "so that a breach can be repeated");
}

#[test]
fn a_target_that_cannot_be_had_is_said() {
    let dead = DISHONEST.replace("$BOURDON specimen clean", "sh -c 'echo no licence >&2; exit 9'");
    let lab =
        Lab::beside_others().file("targets/dead/target.toml", dead).file("targets/x/y/target.toml", NEEDS_A_COMPILER);
    lab.bourdon(&["targets"]).exits(0).shows(&[
        "dishonest         Promises nothing      present",
        "needs-a-compiler  Cannot be built here  absent: `no-such-compiler` is not on PATH; get it from https://example.org/get",
    ]);
    lab.bourdon(&["targets", "build", "needs-a-compiler"]).exits(4).shows(&["https://example.org/get"]);
    lab.bourdon(&["targets", "check", "dishonest"]).exits(4).shows(&["exited with status 9", "no licence"]);
    lab.bourdon(&["targets", "check", "dishonst"]).exits(2).says(&["no target is called `dishonst`", "dishonest"]);
}

#[test]
fn without_a_folder_of_targets_the_cure_is_said() {
    Lab::beside_others().bourdon(&["targets"]).exits(2).says(&["targets/ does not exist here", "set BOURDON_HOME"]);
}

#[test]
fn a_go_target_is_built_once_and_honours_the_contract() {
    if !is_here("go") {
        return;
    }
    // Go's own cache is what makes the build short; bourdon's is this lab's.
    let found = std::process::Command::new("go").args(["env", "GOCACHE"]).output().unwrap();
    let lab = Lab::beside_others().env("GOCACHE", String::from_utf8(found.stdout).unwrap().trim());
    let targets = |action| lab.bourdon_in(&repository(), &["targets", action, "go-gin"]).exits(0);
    targets("build").shows(&["go-gin", "  built\n"]);
    targets("build").shows(&["  built before\n"]);
    targets("check").shows(&["go-gin", "  passes, "]);
    lab.nothing_is_left();
}

#[test]
fn the_help_of_each_command() {
    let lab = Lab::beside_others();
    for command in ["run", "report", "targets", "diagnose"] {
        let help = lab.bourdon(&[command, "--help"]).exits(0);
        assert_eq!(help.stderr, "");
        insta::assert_snapshot!(format!("help_{command}"), help.stdout);
    }
}
