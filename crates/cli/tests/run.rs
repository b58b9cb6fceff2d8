//! `bourdon run` and `bourdon report` from the outside: the real binary, real servers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{CLEAN_AND_SERIALISED, FILE, Json, Lab, Record, beside_a_specimen, names, short};

/// The experiment of two specimens with a claim.
fn claiming(expect: &str) -> String {
    format!(
        "{CLEAN_AND_SERIALISED}\n[[claim]]\nname = \"one-at-a-time\"\nsays = \"It serves one at a time.\"\n\
         expect = \"{expect}\"\n"
    )
}

#[test]
fn an_experiment_ends_in_ranks_a_verdict_a_finding_and_a_record() {
    let lab = Lab::new().experiment(claiming("throughput(specimen:serialised) / throughput(specimen:clean) < 0.2"));
    let run = lab.run(&["--gate"]).exits(0).says(&[
        "recording in runs/",
        "block 6: 3 trials, `specimen:clean` twice for the noise",
        "6 blocks, as planned",
    ]);
    lab.nothing_is_left();
    let (record, analysis) = (lab.record(), lab.record().analysis());

    let last = run.stdout.lines().last().unwrap();
    let path = last.strip_prefix("Record: ").unwrap_or_else(|| panic!("{last}"));
    assert_eq!(lab.path().join(path), record.path());
    assert!(
        run.stdout.contains(&format!("\nPage: {path}/report.html\n")) && record.path().join("report.html").is_file()
    );
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "no terminal, no colours\n{run:?}");
    let run = run.shows(&["supported", "It serves one at a time.", "Looks serialised: specimen:serialised"]);
    assert!(!run.stdout.contains("preliminary"), "{}", run.stdout);

    let is_noisy = analysis["cells"].to_string().contains("\"mark\":\"noisy\"");
    // What others used of the machine may have made a difference, and then there is no verdict and no order.
    let verdict = analysis["claims"][0]["verdict"].as_str();
    assert!(verdict == Some("supported") || is_noisy && verdict == Some("inconclusive"), "{}", analysis["claims"]);
    assert_eq!(names(&analysis["findings"], "pathology"), ["serialised-handler"]);
    assert_eq!(names(&analysis["findings"], "target"), ["specimen:serialised"]);
    let ranks = &analysis["groups"][0]["ranks"];
    assert_eq!(analysis["groups"][0]["metric"], "throughput");
    if !is_noisy {
        assert_eq!(names(ranks, "target"), ["specimen:clean", "specimen:serialised"]);
        assert_eq!([&ranks[0]["rank"], &ranks[1]["rank"]], [1, 2]);
    }

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
    assert_eq!(plan["schema"].as_str(), Some("bourdon.plan/3"));
    let environment: Json = serde_json::from_str(&record.text("environment.json")).unwrap();
    assert_eq!(environment["command_line"][2], FILE);
}

#[test]
fn a_record_gives_the_same_verdict_again_with_no_server_near() {
    let lab = Lab::new().experiment(claiming("peak_memory(specimen:clean) / peak_memory(specimen:serialised) < 100"));
    let run = lab.run(&["--format", "json"]).exits(0);
    lab.nothing_is_left();
    let (record, analysis) = (lab.record(), run.json());
    assert_eq!(analysis["schema"], "bourdon.report/2");
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
    // A claim about memory withstands a busy machine.
    for part in ["| rank | target |", "`specimen:clean` |", "| **supported** | `one-at-a-time` |"] {
        assert!(markdown.contains(part), "no `{part}` in\n{markdown}");
    }
    report("text").shows(&["Which one serves requests side by side?", "Looks serialised: specimen:serialised"]);
}

#[test]
fn the_seed_decides_the_order_of_trials() {
    let lab = Lab::new().experiment(short(2));
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
    assert!(
        before.contains("note: 2 blocks give figures and no verdict, which needs 6 that count: --blocks 8"),
        "{before}"
    );
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
    assert!(!verdicts.is_empty() && verdicts.iter().all(|verdict| verdict == "inconclusive"), "{verdicts:?}");
}

#[test]
fn a_contradicted_claim_fails_only_the_gate() {
    let lab = Lab::new().experiment(claiming("peak_memory(specimen:serialised) / peak_memory(specimen:clean) > 100"));
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
    assert!(run.stdout.contains("(odd: 10 ms of load before the"), "{}", run.stdout);
    let quick = lab.record().analysis();
    let verdicts = names(&quick["claims"], "verdict");
    assert_eq!(verdicts, ["inconclusive", "supported", "supported", "supported"], "{quick}");
    let cold = serde_json::json!({ "warm-up": { "given_s": 0.01, "needed_s": 0.2 } });
    let marks = quick["cells"][0]["marks"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["mark"] == "cold" && mark["cold"] == cold), "{marks:?}");
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
    let claim = claiming("peak_memory(specimen:serialised) / peak_memory(specimen:clean) > 100");
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
    let lab = Lab::new().experiment(format!("{}\n[generator]\nthreads = 2\n", short(2)));
    let threads = |trial: &Json| trial["measurement"]["generator"]["threads"].as_array().unwrap().len();
    lab.run(&["--blocks", "1", "--target", "specimen:clean"]).exits(0);
    lab.record().all_measured("specimen:clean", 1);
    assert!(lab.record().trials().iter().all(|trial| threads(trial) == 2));
    lab.run(&["--blocks", "1", "--target", "specimen:clean", "-t", "3", "--spin"]).exits(0);
    let record = lab.records().pop().unwrap();
    // Of four connections three threads have one at least, of two only two.
    let seen: Vec<usize> = record.trials().iter().map(threads).collect();
    assert!(seen.contains(&3) && seen.contains(&2), "{seen:?}");
    assert!(record.text("plan.toml").contains("spin = true"));
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
    let run = lab.run(&[]).exits(0);
    // Lines are wrapped.
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("no network delay") && said.contains("20 ms of network"), "{said}");
    lab.nothing_is_left();
    lab.record().all_measured("specimen:clean", 2);
    for trial in lab.record().trials() {
        let (measured, far) = (&trial["measurement"], trial["where"]["network_delay"] == "20ms");
        let least_us = measured["latency_us"]["service"]["min"].as_f64().unwrap();
        assert!(!far || least_us > 19_900.0, "histograms have three digits: {least_us}");
        assert_eq!(measured["generator"]["network_delay"].is_object(), far);
        assert_eq!(measured["accounting"]["sent"], measured["accounting"]["ok"]);
    }
}

#[test]
fn replies_that_wait_for_an_acknowledgement_are_suspected() {
    let lab = Lab::new().experiment(
        "question = 'What do replies in two pieces wait for?'\n\
         load = { path = '/rest/hello', expect_body = 'Hello world', connections = 2 }\n\
         trials = { warm_up = '100ms', window = '900ms', blocks = 1, rotation = false }\n\
         [vary]\ntarget = ['specimen:clean', 'specimen:split-reply']\n",
    );
    lab.run(&[]).answers().shows(&["specimen:split-reply: At least a t", "of the replies began after", "--quick-ack"]);
    lab.nothing_is_left();
    let cells = lab.record().analysis()["cells"].clone();
    assert!(cells[0]["suspicions"].is_null(), "{cells}");
    assert!(cells[1]["suspicions"][0]["delayed-ack"].is_object(), "{cells}");
    assert!(cells[1]["suspicions"][0]["text"].as_str().unwrap().contains("Nagle"), "{cells}");
}
