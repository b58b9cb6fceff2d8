//! Another load on a target at the same time: the real binary, and a server that serves one request at a time.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Json, Lab};

/// One connection for the load and one for the one beside it, on a server that takes 20 ms for each request.
fn experiment(beside: &str) -> String {
    format!(
        "question = 'What does the other load cost?'\n\
         load = {{ path = '/rest/hello', expect_body = 'Hello world', connections = 1 }}\n\
         beside = {{ path = '/rest/hello', {beside} }}\n\
         trials = {{ warm_up = '40ms', window = '600ms', blocks = 2, rotation = false }}\n\
         [vary]\ntarget = 'specimen:serialised'\nhandler_delay = '20ms'\nbeside = [false, true]\n"
    )
}

#[test]
fn a_load_beside_takes_its_share_of_a_server_that_serves_one_at_a_time() {
    let lab = Lab::new().experiment(experiment("connections = 1"));
    let run = lab.run(&[]).answers().shows(&["beside it GET /rest/hello: "]);
    lab.nothing_is_left();
    let cells = lab.record().analysis()["cells"].clone();
    let of = |on: &str| cells.as_array().unwrap().iter().find(|cell| cell["where"]["beside"] == on).unwrap().clone();
    let (alone, shared) = (of("false"), of("true"));
    assert!(alone["beside"].is_null(), "{alone}");
    let served = |cell: &Json| cell["throughput"]["estimate"].as_f64().unwrap();
    // They take turns, so each gets half; what else the machine does, both feel.
    assert!(served(&shared) < 0.75 * served(&alone), "{} of {}\n{}", served(&shared), served(&alone), run.stdout);
    assert!(shared["beside"]["ok"].as_u64().unwrap() > 0, "{shared}");
    for trial in lab.record().trials() {
        let books = &trial["beside"]["accounting"];
        if trial["where"]["beside"] == "false" {
            assert!(trial["beside"].is_null());
            continue;
        }
        let count = |name: &str| books[name].as_u64().unwrap_or(0);
        let failed: u64 = books["failed"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(count("sent"), count("completed") + failed + count("in_flight_at_end"), "{books}");
    }
}

#[test]
fn a_load_beside_that_gets_nothing_leaves_no_figures_of_what_it_was_to_be_beside() {
    let lab = Lab::new().experiment(experiment("connections = 1, expect_body = 'something else'"));
    lab.run(&[]).shows(&["wrong replies"]);
    lab.nothing_is_left();
    let cells = lab.record().analysis()["cells"].clone();
    let void: Vec<_> = cells.as_array().unwrap().iter().map(|cell| cell["void"].as_u64().unwrap()).collect();
    assert!(void[0] == 0 && void[1] > 0, "{cells}");
}

#[test]
fn a_load_beside_that_is_asked_more_than_is_answered_voids_its_launches() {
    // Fifty requests a second are all that the server can do.
    let lab = Lab::new().experiment(experiment("model = 'open', rate = 200, connections = 4"));
    lab.run(&[]).shows(&["hung or was"]);
    lab.nothing_is_left();
}

#[test]
fn what_a_load_beside_cannot_be_is_refused() {
    for (beside, why) in
        [("connections = 4000000", "open files"), ("connections = 1, rate = 1", "a closed load has no `rate`")]
    {
        Lab::new().experiment(experiment(beside)).run(&[]).exits(2).says(&[why]);
    }
    for (beside, why) in [
        ("rate = 5", "`connections`"),
        ("connections = 1, rate = '50% of closed', model = 'open'", "the load beside has a rate of its own"),
        ("connections = 1, tls = true", "`tls`"),
    ] {
        Lab::new().experiment(experiment(beside)).run(&[]).exits(2).says(&[why]);
    }
    let unused = experiment("connections = 1").replace("beside = [false, true]", "");
    Lab::new().experiment(unused).run(&[]).exits(2).says(&["`[beside]` is on no target"]);
    let without = experiment("connections = 1").replace("beside = {", "#");
    Lab::new().experiment(without).run(&[]).exits(2).says(&["that no `[beside]` describes"]);
}
