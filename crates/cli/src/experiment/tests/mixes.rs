//! A mix of requests, made of a list of routes.

use std::collections::BTreeMap;

use model::{CellPlan, WeightedRequest};

use super::*;

/// A load over the sets `small` and `other`.
fn mixed(mix: &str, rest: &str) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/experiment/tests/routes.txt");
    format!("question = 'Which?'\nload.mix = {{ file = '{file}'{mix} }}\n{rest}")
}

/// A target that can be told its set.
const ROUTER: &str = "[[target]]\nname = 'router'\nrun = './router'\n\
                      settings.routes = { env = 'ROUTES', type = 'text' }\n";

fn small(rest: &str) -> Draft {
    resolved(&mixed(", set = 'small'", &format!("{rest}\n[vary]\ntarget = 'alpha'\n")))
}

/// Its requests by method and path.
fn requests(cell: &CellPlan) -> BTreeMap<String, WeightedRequest> {
    let line = |one: &WeightedRequest| format!("{} {}", one.request.method, one.request.path);
    cell.load.mix.requests().iter().map(|one| (line(one), one.clone())).collect()
}

#[test]
fn each_route_becomes_a_request_with_what_the_contract_answers() {
    let plan = small("");
    let asked = requests(&plan.cells[0]);
    assert_eq!(asked.len(), 6);
    assert_eq!(asked["GET /user/keys"].expect.body.as_deref(), Some(b"GET /user/keys".as_slice()));
    assert_eq!(asked["HEAD /health"].expect.body, None, "its reply has no body");
    let post = asked.keys().find(|line| line.starts_with("POST")).unwrap();
    let ["POST ", "user", id, "keys", key] = post.split('/').collect::<Vec<_>>()[..] else { panic!("{post}") };
    for value in [id, key] {
        assert!(value.len() == 8 && value.chars().all(|c| c.is_ascii_alphanumeric()), "{value}");
    }
    let body = String::from_utf8(asked[post].expect.body.clone().unwrap()).unwrap();
    assert_eq!(body, format!("POST /user/:id/keys/:key id={id} key={key}"));
    assert!(asked.values().all(|one| one.expect.status == Some(200)));
}

#[test]
fn popularity_follows_zipf_in_an_order_of_the_seed() {
    let weights = |plan: &Draft| plan.cells[0].load.mix.requests().iter().map(|one| one.weight).collect::<Vec<_>>();
    let paths =
        |plan: &Draft| plan.cells[0].load.mix.requests().iter().map(|one| one.request.path.clone()).collect::<Vec<_>>();
    let of = |zipf: &str, seed: &str| {
        let file = mixed(&format!(", set = 'small'{zipf}"), "[vary]\ntarget = 'alpha'\n");
        resolved(&format!("{seed}{file}"))
    };
    assert_eq!(weights(&of("", ""))[..3], [1.0, 0.5, 1.0 / 3.0]);
    assert_eq!(weights(&of(", zipf = 2", ""))[..3], [1.0, 0.25, 1.0 / 9.0]);
    assert!(weights(&of(", zipf = 0.0", "")).iter().all(|weight| *weight == 1.0));
    assert_eq!(paths(&of("", "")), paths(&of(", zipf = 2", "")), "the seed alone decides");
    assert_ne!(paths(&of("", "seed = 1\n")), paths(&of("", "seed = 2\n")));
}

#[test]
fn what_is_asked_of_the_mix_is_a_factor() {
    let plan = resolved(&mixed(
        ", set = 'small'",
        "[vary]\ntarget = 'alpha'\nrequests = ['hit', 'static', 'parameter', 'miss']\n",
    ));
    let lines: Vec<Vec<String>> = plan.cells.iter().map(|cell| requests(cell).into_keys().collect()).collect();
    assert_eq!(lines[1], ["GET /", "GET /user/keys", "HEAD /health"]);
    assert_eq!(lines[2].len(), 3);
    // `/user/keys-none` is one of `/user/:id`, and whatever ends in a parameter stays what it is.
    assert_eq!(lines[3], ["GET /-none", "HEAD /health-none"]);
    let missed = requests(&plan.cells[3]);
    assert!(missed.values().all(|one| (one.expect.status, &one.expect.body) == (Some(404), &None)));
    assert_eq!(plan.cells[1].levels.to_string(), "requests = static, target = alpha");
}

#[test]
fn the_set_is_that_of_the_targets_setting_unless_the_mix_names_one() {
    let vary = "[vary]\nroutes = ['small', 'other']\n";
    let plan = resolved(&mixed("", &format!("{ROUTER}{vary}")));
    let seen: Vec<(&str, usize)> =
        plan.cells.iter().map(|cell| (cell.settings["ROUTES"].as_str(), requests(cell).len())).collect();
    assert_eq!(seen, [("small", 6), ("other", 1)]);
    let fixed = resolved(&mixed(", set = 'other'", &format!("{ROUTER}{vary}")));
    assert!(fixed.cells.iter().all(|cell| requests(cell).len() == 1));
    let default = ROUTER.replace("'text' }", "'text', default = 'small' }");
    assert_eq!(requests(&resolved(&mixed("", &default)).cells[0]).len(), 6);
}

#[test]
fn a_mix_that_cannot_be() {
    let alpha = "[vary]\ntarget = 'alpha'\n";
    for (mix, rest, message, cure) in [
        ("", alpha.to_owned(), "the mix has no `set`", "setting `routes`"),
        (", set = 'small', «size = 3", alpha.to_owned(), "unknown key `size` in `mix`", "`file`, `set`, `zipf`"),
        (", zipf = «-1", alpha.to_owned(), "`zipf` must be from 0 to 10, not -1", "equally often"),
        (", zipf = «'much'", alpha.to_owned(), "`zipf` must be a number, not text", ""),
        (
            ", set = 'small'",
            format!("load.«path = '/'\n{alpha}"),
            "a mix has no `path`: its file says what is asked and what must come back",
            "leave `path` out",
        ),
        (
            ", set = 'small'",
            format!("{alpha}«expect_body = ['a', 'b']\n"),
            "a mix has no `expect_body`: its file says what is asked and what must come back",
            "or `mix`",
        ),
        (
            ", set = 'small'",
            format!("load.requests = «'hits'\n{alpha}"),
            "`hits` is not a `requests`",
            "did you mean `hit`?",
        ),
        (", set = 'small'", format!("{alpha}«mix = []\n"), "`mix` cannot be varied", "[load]"),
        (
            ", set = 'small'",
            format!("{alpha}handler_delay = «'1s'\n"),
            "`handler_delay` has no effect on routes of a mix",
            "/rest/hello",
        ),
    ] {
        let text = mixed(mix, &rest);
        let text = if text.contains(MARK) { text } else { text.replace("mix = {", "mix = «{") };
        assert_refused(&text, message, cure, refused);
    }
}

#[test]
fn a_set_or_file_that_is_not_there() {
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/src/experiment/tests/routes.txt");
    let no_set = format!("{name} has no set `smal`");
    let alpha = "[vary]\ntarget = 'alpha'\n";
    assert_refused(&mixed(", set = «'smal'", alpha), &no_set, "did you mean `small`?", refused);
    let level = format!("{ROUTER}[vary]\nroutes = ['small', «'smal']\n");
    assert_refused(&mixed("", &level), &no_set, "its sets are `other`, `small`", refused);
    let none = format!("the set `other` of {name} has no route for `requests = \"parameter\"`");
    let text = mixed(", set = 'other'", &format!("load.requests = 'parameter'\n{alpha}"));
    assert_refused(&text.replace("mix = {", "mix = «{"), &none, "another set", refused);
    let check = |rest: &str, message: &str, cure: &str| {
        assert_refused(&format!("question = 'x'\n{rest}{alpha}"), message, cure, refused);
    };
    check("load.mix = { file = «'nowhere.txt' }\n", "`nowhere.txt` does not exist", "beside the experiment");
    check("load.mix = «{ set = 'small' }\n", "`mix` has no `file`", "routes.txt");
    check("load.«requests = 'miss'\n", "`requests` chooses from a mix, and this load has none", "mix = { file");
    let broken = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let message = format!("{broken}:1: `[package]` is not a route");
    check(&format!("load.mix = {{ file = «'{broken}' }}\n"), &message, "SET METHOD");
}
