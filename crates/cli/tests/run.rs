//! `bourdon run` and `bourdon report` from the outside: the real binary, real servers, real signals.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{CLEAN_AND_SERIALISED, FILE, Json, Lab, Record, beside_a_specimen, is_here, repository};

/// A specimen beside another: short trials, as many blocks as a test asks for.
const SHORT: &str = r#"
question = "Is the order kept?"
load = { path = "/rest/hello", expect_body = "Hello world" }
trials = { warm_up = "10ms", window = "50ms", blocks = 2, repeats = 0 }

[vary]
target = ["specimen:clean", "specimen:stall"]
connections = [2, 4]
"#;

/// The experiment of two specimens with a claim.
fn claiming(expect: &str) -> String {
    format!(
        "{CLEAN_AND_SERIALISED}\n[[claim]]\nname = \"one-at-a-time\"\nsays = \"It serves one at a time.\"\n\
         expect = \"{expect}\"\n"
    )
}

fn names(list: &Json, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_experiment_ends_in_ranks_a_verdict_a_finding_and_a_record() {
    let lab = Lab::new().experiment(claiming("throughput(specimen:serialised) / throughput(specimen:clean) < 0.2"));
    let run = lab.run(&["--gate"]).exits(0).says(&["recording in runs/", "block 6: 3 trials", "6 blocks, as planned"]);
    lab.nothing_is_left();
    let (record, analysis) = (lab.record(), lab.record().analysis());

    let last = run.stdout.lines().last().unwrap();
    let path = last.strip_prefix("Record: ").unwrap_or_else(|| panic!("{last}"));
    assert_eq!(lab.path().join(path), record.path());
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "no terminal, no colours\n{run:?}");
    let run = run.shows(&["supported", "It serves one at a time.", "Looks serialised: specimen:serialised"]);
    assert!(!run.stdout.contains("preliminary"), "{}", run.stdout);

    assert_eq!(analysis["claims"][0]["verdict"], "supported");
    assert_eq!(names(&analysis["findings"], "pathology"), ["serialised-handler"]);
    assert_eq!(names(&analysis["findings"], "target"), ["specimen:serialised"]);
    let ranks = &analysis["groups"][0]["ranks"];
    assert_eq!(analysis["groups"][0]["metric"], "throughput");
    assert_eq!(names(ranks, "target"), ["specimen:clean", "specimen:serialised"]);
    assert_eq!([&ranks[0]["rank"], &ranks[1]["rank"]], [1, 2]);

    record.is_whole(6, 2);
    for file in ["plan.toml", "environment.json", "analysis.json", "report.md"] {
        assert!(record.has(file), "{file}");
    }
    assert_eq!(
        ["histograms", "samples", "stderr"].map(|folder| record.files_in(folder)),
        [18; 3],
        "two cells and a twin"
    );
    assert_eq!(names(&analysis["session"]["itself"], "metric")[0], "throughput");
    let plan: toml::Table = record.text("plan.toml").parse().unwrap();
    assert_eq!(plan["schema"].as_str(), Some("bourdon.plan/1"));
    let environment: Json = serde_json::from_str(&record.text("environment.json")).unwrap();
    assert_eq!(environment["command_line"][2], FILE);
}

#[test]
fn a_record_gives_the_same_verdict_again_with_no_server_near() {
    let lab = Lab::new().experiment(claiming("throughput(specimen:clean) / throughput(specimen:serialised) > 5"));
    let run = lab.run(&["--format", "json"]).exits(0);
    lab.nothing_is_left();
    let (record, analysis) = (lab.record(), run.json());
    assert_eq!(analysis["schema"], "bourdon.report/1");
    assert_eq!(record.text("analysis.json"), run.stdout);
    for list in ["cells", "comparisons", "groups", "claims", "findings"] {
        assert!(!analysis[list].as_array().unwrap().is_empty(), "{list}");
    }

    let markdown = record.text("report.md");
    ["analysis.json", "report.md"].iter().for_each(|file| std::fs::remove_file(record.path().join(file)).unwrap());
    let report = |format| lab.bourdon(&["report", record.name(), "--format", format]).exits(0);
    assert_eq!(report("json").stdout, run.stdout, "the same record, the same bytes");
    assert_eq!(report("json").stdout, run.stdout, "and once more");
    assert_eq!(record.text("analysis.json"), run.stdout);
    assert_eq!(record.text("report.md"), markdown);
    assert_eq!(report("markdown").stdout, markdown);
    for part in ["| rank | target |", "| 1 | `specimen:clean` |", "| **supported** | `one-at-a-time` |"] {
        assert!(markdown.contains(part), "no `{part}` in\n{markdown}");
    }
    report("text").shows(&["Which one serves requests side by side?", "Looks serialised: specimen:serialised"]);
}

#[test]
fn the_seed_decides_the_order_of_trials() {
    let lab = Lab::new().experiment(SHORT);
    // In windows of 50 ms a busy machine may serve nothing, which is a bad answer and has an order all the same.
    for seed in ["7", "7", "8"] {
        lab.run(&["--seed", seed]).answers();
    }
    let [first, again, other] = &lab.records()[..] else { panic!("three runs on one day: {:?}", lab.records()) };
    assert_eq!(first.order(), again.order());
    assert_ne!(first.order(), other.order());
    [first, other].iter().for_each(|record| record.is_whole(2, 4));
}

#[test]
fn fewer_than_six_blocks_give_figures_and_no_verdict() {
    let lab = Lab::new().experiment(claiming("throughput(specimen:serialised) / throughput(specimen:clean) < 0.2"));
    let ended = lab.run(&["--blocks", "2"]).exits(0).shows(&["reliminary", "inconclusive"]);
    let (before, _) = ended.stderr.split_once("block 1: ").unwrap();
    assert!(before.contains("note: 2 blocks give figures and no verdict, which needs 6: --blocks 6"), "{before}");
    let more = format!("More blocks: {} run --resume ", env!("CARGO_BIN_EXE_bourdon"));
    let next = ended.stdout.lines().last().unwrap();
    assert!(next.starts_with(&more) && next.ends_with(" --blocks 6"), "{next}");
    let shown = lab.bourdon(&["report", lab.record().name()]).exits(0);
    assert!(shown.stdout.lines().last().unwrap().starts_with(&more), "{shown:?}");
    let analysis = lab.record().analysis();
    assert_eq!(analysis["preliminary"], true);
    assert_eq!(analysis["claims"][0]["verdict"], "inconclusive");
    assert!(analysis["cells"][0]["throughput"]["estimate"].as_f64().unwrap() > 0.0);
    let verdicts = names(&analysis["comparisons"], "verdict");
    assert!(verdicts.iter().all(|verdict| verdict == "inconclusive"), "{verdicts:?}");
}

#[test]
fn a_contradicted_claim_fails_only_the_gate() {
    let lab = Lab::new().experiment(claiming("throughput(specimen:serialised) / throughput(specimen:clean) > 0.9"));
    lab.run(&["--gate"]).exits(1).shows(&["contradicted"]);
    let record = lab.record();
    let trials = record.text("trials.jsonl");
    lab.bourdon(&["run", "--resume", record.name()]).exits(0).shows(&["contradicted"]);
    assert_eq!(record.text("trials.jsonl"), trials, "nothing was left to launch");
}

#[test]
fn a_server_that_needs_longer_to_be_warm_gets_figures_and_no_verdict_in_a_cold_quick_form() {
    let claim = |name: &str, expect: &str| format!("[[claim]]\nname = '{name}'\nsays = 's'\nexpect = '{expect}'\n");
    let claims = [
        claim("speed", "throughput(odd) > 1"),
        claim("start", "time_to_ready(odd) < 60s"),
        claim("other", "throughput(specimen:clean) > 1"),
        claim("failures", "errors(specimen:clean) < 50%"),
    ];
    let file = format!(
        "question = 'Is it warm?'\nload = {{ path = '/rest/hello', connections = 4 }}\n\
         trials = {{ warm_up = '10ms', window = '50ms', blocks = 6, repeats = 0 }}\n\
         quick = {{ cold = true, blocks = 6 }}\n{}[vary]\ntarget = ['odd', 'specimen:clean']\n\
         [[target]]\nname = 'odd'\nrun = '$BOURDON specimen clean'\nready = '/ping'\nwarm_within = '200ms'\n",
        claims.concat()
    );
    let lab = Lab::new().experiment(file);
    let run = lab.run(&["--quick"]).exits(0).shows(&["cold here: the full form decides", "4 claims at 95 %"]);
    assert!(run.stdout.contains("(odd: 10ms of load before the"), "{}", run.stdout);
    let quick = lab.record().analysis();
    let verdicts = names(&quick["claims"], "verdict");
    assert_eq!(verdicts, ["inconclusive", "supported", "supported", "supported"], "{quick}");
    let note = "10ms of load before the window, of the 200ms that it needs";
    let marks = quick["cells"][0]["marks"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["mark"] == "cold" && mark["text"] == note), "{marks:?}");
    assert!(quick["claims"][3]["measured"]["high"].as_f64().unwrap() > 0.0, "no failure is not exactly none");

    let full = lab.run(&["--format", "json"]).exits(0).json();
    assert_eq!(full["cells"][0]["warm_up_s"], 0.2, "the full form is warm");
    assert_eq!(names(&full["claims"], "verdict"), ["supported"; 4], "{}", full["claims"]);
}

/// Says how many cores the machine of a recorded run had.
fn recorded_cores(record: &Record, cores: u32) {
    let mut environment: Json = serde_json::from_str(&record.text("environment.json")).unwrap();
    environment["cpus"] = cores.into();
    std::fs::write(record.path().join("environment.json"), environment.to_string()).unwrap();
}

#[test]
fn a_claim_about_many_cores_is_not_refuted_on_few_and_contradicted_on_enough() {
    let claim = claiming("throughput(specimen:serialised) / throughput(specimen:clean) > 0.9");
    let lab = Lab::new().experiment(format!("{claim}cores = 8\n"));
    // The verdict for machines does not depend on the cores here.
    lab.run(&["--gate"]).exits(1);
    let record = lab.record();
    let report = |format| lab.bourdon(&["report", record.name(), "--format", format]).exits(0);
    let shown = |cores: u32| {
        recorded_cores(&record, cores);
        let claim = report("json").json()["claims"][0].clone();
        assert_eq!(claim["verdict"], "contradicted", "on {cores} cores");
        (report("text").stdout, report("markdown").stdout, claim["not_refuted"].clone())
    };
    for cores in [2, 7] {
        let (text, markdown, few) = shown(cores);
        let words = format!("not refuted: {cores} of 8 cores");
        assert!(text.contains(&format!("\n {words}  It serves one at a time.\n")), "{text}");
        assert!(markdown.contains(&format!("| **{words}** | `one-at-a-time` |")), "{markdown}");
        assert!(!text.contains("contradicted") && !markdown.contains("contradicted"), "{text}\n{markdown}");
        assert_eq!(few, serde_json::json!({ "here": cores, "about": 8 }));
    }
    for cores in [8, 16] {
        let (text, markdown, few) = shown(cores);
        assert!(text.contains("\n contradicted  It serves one at a time.\n"), "{text}");
        assert!(markdown.contains("| **contradicted** | `one-at-a-time` |"), "{markdown}");
        assert!(
            !text.contains("not refuted") && !markdown.contains("not refuted") && few.is_null(),
            "{text}\n{markdown}"
        );
    }

    // A plan of before the key was known.
    let plan = record.text("plan.toml");
    let older = plan.replace("cores = 8\n", "");
    assert_ne!(older, plan);
    std::fs::write(record.path().join("plan.toml"), older).unwrap();
    assert!(shown(2).0.contains("\n contradicted  It serves one at a time.\n"));
}

#[test]
fn the_memory_of_several_processes_counts_what_they_share_once() {
    let several = "run = \"sh -c '$BOURDON specimen clean; :'\"";
    let lab = Lab::new().experiment(beside_a_specimen(several));
    lab.run(&["--target", "odd"]).exits(0).shows(&["memory of odd: several processes; what they share counts once"]);
    let record = lab.record();
    for trial in record.trials() {
        let seen = &trial["observation"];
        let [shared, all] = ["peak_pss_bytes", "peak_memory_bytes"].map(|key| seen[key].as_u64().unwrap());
        assert!(seen["processes_max"].as_u64().unwrap() > 1 && 0 < shared && shared < all, "{seen:#}");
    }
    let cell = &record.analysis()["cells"][0];
    assert_eq!(cell["memory_count"], "proportional");
    let peaks: Vec<f64> =
        record.trials().iter().map(|t| t["observation"]["peak_pss_bytes"].as_f64().unwrap()).collect();
    let estimate = cell["peak_memory_bytes"]["estimate"].as_f64().unwrap();
    let within =
        peaks.iter().any(|peak| *peak <= estimate * 1.001) && peaks.iter().any(|peak| *peak >= estimate * 0.999);
    assert!(within, "{estimate} of {peaks:?}");
}

#[test]
fn the_generator_has_the_threads_that_are_asked_for() {
    let lab = Lab::new().experiment(format!("{SHORT}\n[generator]\nthreads = 2\n"));
    let threads = |trial: &Json| trial["measurement"]["generator"]["threads"].as_array().unwrap().len();
    lab.run(&["--blocks", "1", "--target", "specimen:clean"]).exits(0);
    assert!(lab.record().trials().iter().all(|trial| threads(trial) == 2));
    lab.run(&["--blocks", "1", "--target", "specimen:clean", "-t", "3", "--spin"]).exits(0);
    let record = lab.records().pop().unwrap();
    // Of four connections three threads have one at least, of two only two.
    let seen: Vec<usize> = record.trials().iter().map(threads).collect();
    assert!(seen.contains(&3) && seen.contains(&2), "{seen:?}");
    assert!(record.text("plan.toml").contains("spin = true"));
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
    assert!(first.iter().any(|line| line.starts_with("More than 1 % of the requests failed: odd 50 %")), "{first:?}");
    run.shows(&["failed", "errors (requests that failed): odd (50 %"]);
    let record = lab.record();
    let analysis = record.analysis();
    assert_eq!(analysis["trials"]["void"], 0, "{analysis:#}");
    let odd = &analysis["cells"][0];
    assert_eq!((&odd["trials"], &odd["failing"]["bad"]), (&2.into(), &true.into()), "{odd:#}");
    let path = record.path().display().to_string();
    lab.bourdon(&["report", &path]).exits(1).shows(&["More than 1 % of the requests failed"]);
}

#[test]
fn failures_that_are_allowed_are_said_and_no_more() {
    let lab = Lab::new().experiment(failing("unavailable", 2, ", allow_failures = \"60%\""));
    lab.run(&[]).exits(0).shows(&["errors (requests that failed): odd (50 %"]);
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
        let lab = Lab::new().experiment(SHORT.replace("specimen:stall", &format!("specimen:{kind}")));
        lab.run(&[]).exits(1).shows(&["trials void of 10", "correctness: ", "Replies with wrong content: "]);
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
fn ctrl_c_keeps_what_was_measured_and_says_how_to_go_on() {
    let lab = Lab::new().experiment(SHORT);
    let mut running = lab.start(&["run", FILE, "--blocks", "10", "--runs", "my runs"]);
    let record = running.until("the run's folder", || lab.records_in("my runs").pop());
    running.until("three trials", || (record.lines() >= 3).then_some(()));
    let busy = lab.bourdon(&["run", "--resume", record.name()]).exits(2);
    busy.says(&[record.name(), "is being written by another bourdon", "wait for its end"]);
    running.interrupt();
    let stopped = running.end().exits(130).says(&["interrupted; what was measured is kept"]);
    lab.nothing_is_left();
    let kept = record.text("trials.jsonl");
    assert!((3..50).contains(&kept.lines().count()), "{kept}");
    assert!(record.has("analysis.json"), "what there is has been judged");
    stopped.clone().shows(&["Record: "]);

    let (_, command) = stopped.stderr.trim_end().rsplit_once("To resume: ").unwrap();
    let words = shlex::split(command).unwrap();
    assert_eq!(words[0], env!("CARGO_BIN_EXE_bourdon"), "as it was called");
    lab.bourdon(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).exits(0).says(&["resuming "]);
    assert!(record.text("trials.jsonl").starts_with(&kept));
    record.is_whole(10, 4);
}

#[test]
fn ctrl_c_does_not_wait_for_a_target_that_is_not_ready() {
    let lab = Lab::new().experiment(beside_a_specimen("run = \"sh -c 'echo begun > begun; exec sleep 600'\""));
    let mut running = lab.start(&["run", FILE, "--target", "odd"]);
    running.until("the target", || lab.path().join("begun").exists().then_some(()));
    running.interrupt();
    running.end().exits(130);
    lab.nothing_is_left();
    assert_eq!(lab.record().lines(), 0, "an interrupted trial is not recorded");
}

#[test]
fn a_target_that_cannot_be_built_is_said_and_the_others_go_on() {
    let build = "run = '$BOURDON specimen clean'\nbuild = \"sh -c 'echo no such header >&2; exit 3'\"";
    let lab = Lab::new().experiment(beside_a_specimen(build));
    let said = ["building odd failed (exited with status 3)", "no such header"];
    lab.run(&[]).exits(4).says(&said).shows(&["Absent: odd"]);
    lab.record().all_measured("specimen:clean", 2);
    assert!(lab.record().failures_of("odd").is_empty(), "what is not built is not launched");

    lab.run(&["--target", "odd", "--runs", "alone"]).exits(4).says(&said);
    assert!(lab.records_in("alone").is_empty(), "there is nothing to record");
}

/// The same server near and far.
const FAR: &str = r#"
question = "What does a round trip cost?"
load = { path = "/rest/hello", expect_body = "Hello world" }
trials = { warm_up = "10ms", window = "50ms", blocks = 1 }

[vary]
target = "specimen:clean"
network_delay = ["0ms", "20ms"]
connections = 4
"#;

#[test]
fn a_network_delay_is_the_least_that_a_reply_takes() {
    let lab = Lab::new().experiment(FAR);
    lab.run(&[]).exits(0).shows(&["no network delay", "20 ms of network"]);
    lab.nothing_is_left();
    for trial in lab.record().trials() {
        let (measured, far) = (&trial["measurement"], trial["where"]["network_delay"] == "20ms");
        let least_us = measured["latency_us"]["service"]["min"].as_f64().unwrap();
        assert!(!far || least_us > 19_900.0, "histograms have three digits: {least_us}");
        assert_eq!(measured["generator"]["network_delay"].is_object(), far);
        assert_eq!(measured["accounting"]["sent"], measured["accounting"]["ok"]);
    }
}

/// An experiment on a target for which the compiler is missing.
const MISSING: &str = r#"
question = "What remains without a compiler?"
load = { path = "/rest/hello", expect_body = "Hello world" }
trials = { warm_up = "10ms", window = "50ms", blocks = 6 }

[vary]
target = ["go-net-http"]
handler_delay = ["0ms", "5ms"]
connections = 10

[[claim]]
name = "is-quick"
says = "It is quick."
expect = "throughput(go-net-http, handler_delay = 5ms) > 10"
"#;

const MISSING_TARGET: &str = r#"
name = "go-net-http"
title = "net/http"
toolchain = { command = "no-such-compiler", version = "no-such-compiler --version", get = "https://example.org/get" }
build.run = "no-such-compiler -o $TARGET_BIN"
launch = { run = "$TARGET_BIN", ready = "/ping" }
settings.handler_delay = { env = "HANDLER_DELAY", type = "duration", default = "0ms" }
"#;

#[test]
fn without_any_toolchain_specimens_stand_in() {
    let lab = Lab::new().experiment(MISSING).file("targets/go/net-http/target.toml", MISSING_TARGET);
    let nowhere = lab.path().join("nothing-here").display().to_string();
    let lab = lab.env("PATH", nowhere);
    let cure = "go-net-http: `no-such-compiler` is not on PATH; get it from https://example.org/get";
    let run = lab.run(&["--blocks", "1"]).exits(0);
    let run = run.says(&[cure, "running on bourdon's own specimens instead"]);
    run.shows(&["Absent: go-net-http", "https://example.org/get", "not testable here", "specimen:clean"]);
    let (record, analysis) = (lab.record(), lab.record().analysis());
    record.is_whole(1, 4);
    assert_eq!(names(&analysis["absent"], "name"), ["go-net-http"]);
    assert_eq!(analysis["claims"][0]["verdict"], "not-testable");
    ["specimen:clean", "specimen:serialised"].iter().for_each(|target| record.all_measured(target, 2));
}

#[test]
fn no_specimen_stands_in_for_a_router() {
    let mixed =
        "question = \"Which?\"\nload.mix = { file = \"routes.txt\", set = \"s\" }\nvary.target = \"go-net-http\"\n";
    let lab = Lab::new().experiment(mixed).file("routes.txt", "s GET /a\ns GET /b\n");
    let lab = lab.file("targets/go/net-http/target.toml", MISSING_TARGET);
    lab.run(&[]).exits(4).says(&["no-such-compiler", "no specimen has routes to stand in for it"]);
    assert!(lab.records().is_empty(), "nothing was launched");
}

#[test]
fn a_shipped_experiment_is_known_by_its_name_wherever_one_is() {
    let lab = Lab::new().env("PATH", "").env("BOURDON_HOME", repository().display().to_string());
    let mut running = lab.start(&["run", "business-latency", "--quick", "--blocks", "1"]);
    let record = running.until("the run's folder", || lab.records().pop());
    running.interrupt();
    running.end().exits(130).says(&["`go` is not on PATH; get it from", "specimens instead"]);
    assert!(record.name().ends_with("business-latency"), "{record:?}");
    lab.nothing_is_left();
}

#[test]
fn the_example_of_a_server_of_ones_own_works() {
    if !is_here("python3") {
        return;
    }
    let lab = Lab::new();
    let example = repository().join("examples/own-server/own-server.toml");
    lab.bourdon(&["run", example.to_str().unwrap(), "--quick", "--blocks", "1"]).exits(0);
    lab.nothing_is_left();
    let record = lab.record();
    let trials = record.trials().len() / 2;
    ["mine", "mine-tuned"].iter().for_each(|target| record.all_measured(target, trials));
    assert_eq!(record.analysis()["trials"]["void"], 0);
}

#[test]
fn the_experiment_in_the_readme_works_as_it_stands_there() {
    if !is_here("python3") {
        return;
    }
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, after) = readme.split_once("```toml\n").unwrap();
    let (experiment, _) = after.split_once("```").unwrap();
    let server = std::fs::read_to_string(repository().join("examples/own-server/server.py")).unwrap();
    let lab = Lab::new().experiment(experiment).file("server.py", server);
    let shown = lab.run(&["--blocks", "1"]).exits(0);
    shown.shows(&[
        "Does keeping connections open make my server faster?",
        "mine-tuned",
        "tuned server is at least a fifth",
    ]);
    lab.nothing_is_left();
}
