use super::*;

/// A file whose lines follow a question.
fn asked(rest: &str) -> String {
    format!("question = 'Which?'\n{rest}")
}

pub(super) fn check(cases: &[(&str, &str, &str)]) {
    for (rest, message, cure) in cases {
        assert_refused(&asked(rest), message, cure, refused);
    }
}

#[test]
fn syntax() {
    check(&[
        ("margin = «5%\n", "string values must be quoted, expected literal string", "in quotes"),
        ("[vary]\ntarget = ['alpha'«\n", "unclosed array, expected `]`", "toml.io"),
        ("seed = 1\n«seed = 2\n", "duplicate key", "toml.io"),
    ]);
}

#[test]
fn keys() {
    assert_refused("«sourc = 'x'\n", "unknown key `sourc` in the file", "did you mean `source`?", refused);
    assert_refused("«source = 'x'\n", "the file has no `question`", "question = ", refused);
    assert_refused("«question = 'x'", "no target is named", "target = ", refused);
    check(&[
        ("[load]\n«conections = 1\n", "unknown key `conections` in [load]", "did you mean `connections`?"),
        ("[load]\n«colour = 1\n", "unknown key `colour` in [load]", "[load] takes `model`, `headers`, `mix`, `path`"),
        ("vary.target = 'alpha'\n[trials]\n«windw = '1s'\n", "unknown key `windw` in [trials]", "`window`?"),
        ("[vary]\ntarget = 'alpha'\n[quick]\n«windw = '1s'\n", "unknown key `windw` in [quick]", "`window`?"),
        ("[vary]\ntarget = 'alpha'\n«[[claim]]\nname = 'x'\n", "[[claim]] has no `says`", "says = "),
        ("«[claim]\nname = 'x'\n[vary]\ntarget = 'alpha'\n", "`claim` must be an array of tables", "[[claim]]"),
    ]);
}

#[test]
fn shares_of_a_profile() {
    let claim = "[[claim]]\nname = 'x'\nsays = 's'\n";
    let none_taken = "vary = { target = 'alpha', profile = [false, true] }\nprofile.functions = 'futex'\n";
    let none_named = "vary = { target = 'alpha', profile = true }\n";
    let share = |profile: bool| format!("expect = «'profile_share(alpha, profile = {profile}) > 0.2'\n");
    check(&[
        (
            &format!("{none_taken}{claim}{}", share(false)),
            "no profile is taken in a cell that the test needs",
            "profile = true",
        ),
        (
            &format!("{none_named}{claim}{}", share(true)),
            "no function is named whose share of the profile this is",
            "functions = [\"futex\"]",
        ),
    ]);
}

#[test]
fn numbers_of_a_claim() {
    let claim = "vary.target = 'alpha'\n[[claim]]\nname = 'x'\nsays = 's'\n";
    check(&[
        (&format!("{claim}expect = 'p99(alpha) < «50'\n"), "this number has no unit", "`50ms`"),
        (&format!("{claim}expect = 'peak_memory(alpha) - «100 < 1MB'\n"), "this number has no unit", "`20MiB`"),
        (
            &format!("{claim}expect = 'throughput(alpha) < «50ms'\n"),
            "this is a time, and what it is compared with is in requests/s",
            "a test is like",
        ),
        (&format!("{claim}expect = 'p99(alpha) < 50«sm'\n"), "unknown unit `sm`", "did you mean"),
    ]);
}

#[test]
fn what_the_sample_size_can_never_show() {
    let file = |rest: &str| format!("load.path = '/rest/hello'\nload.connections = 10\n{rest}");
    let claim = "[[claim]]\nname = 'x'\nsays = 's'\nexpect = '1 * «p99(alpha) < 50ms'\n";
    let claim = claim.replace("1 * «p99(alpha)", "«p99(alpha)");
    let few = "a p99 needs 368 requests per launch, and at most";
    check(&[
        (
            &file(&format!("vary = {{ target = 'alpha', handler_delay = '1s' }}\n{claim}")),
            &format!("{few} 311 are possible"),
            "more `connections`",
        ),
        (
            &format!("load = {{ model = 'open', rate = 20 }}\nvary.target = 'alpha'\n{claim}"),
            &format!("{few} 200 are possible"),
            "a higher `rate`",
        ),
    ]);
    let enough = format!("load = {{ model = 'open', rate = 40 }}\nvary.target = 'alpha'\nquick.window = '1s'\n{claim}");
    let enough = asked(&enough.replace(MARK, ""));
    assert_eq!(resolved(&enough).claims[0].not_testable, None);
    let reason = quick(&enough).claims[0].not_testable.clone();
    assert_eq!(reason, Some(format!("too little in the quick form: {few} 40 are possible")));
}

#[test]
fn ladders() {
    check(&[
        (
            "vary = { target = 'alpha', connections = [1, 2] }\ntrials.ladder = «'rate'\n",
            "this experiment does not vary `rate`",
            "vary",
        ),
        (
            "vary = { target = 'alpha', mode = ['a', 'b'] }\ntrials.ladder = «'mode'\n",
            "`mode` cannot change while a server runs",
            "ladder = \"connections\"",
        ),
        (
            "vary = { target = 'alpha', connections = [20, «10] }\ntrials.ladder = 'connections'\n",
            "the rungs of `connections` must rise",
            "the smallest first",
        ),
    ]);
}

#[test]
fn values() {
    check(&[
        ("seed = «'1'\n", "`seed` must be a whole number, not text", "seed = 42"),
        (
            "margin = «5\n[vary]\ntarget = 'alpha'\n",
            "`margin` must be a percentage, not a whole number",
            "margin = \"5%\"",
        ),
        ("margin = «'0%'\n[vary]\ntarget = 'alpha'\n", "`margin` must be above 0% and below 100%, not `0%`", "\"5%\""),
        ("[load]\nconnections = «0\n", "`connections` must be a whole number from 1 up, not 0", "connections = 100"),
        ("[load]\nconnections = «-3\n", "`connections` must be a whole number from 1 up, not -3", "connections = 100"),
        ("[load]\nconnections = «5000000000\n", "`connections` must be at most 4294967295, not 5000000000", ""),
        ("[load]\npipeline = «2000\n", "`pipeline` must be at most 1024, not 2000", ""),
        ("[load]\nnetwork_delay = «10\n", "`network_delay` has no unit", "\"10ms\""),
        ("[load]\nnetwork_delay = «'1m'\n", "`network_delay` must be at most 10s, not 60s", "round trip"),
        ("[load]\nkeep_alive = «'no'\n", "`keep_alive` must be true or false, not text", "keep_alive = true"),
        ("[load]\nmodel = «'opened'\n", "`opened` is not a `model`", "did you mean `open`?"),
        ("[load]\nhttp = «1.1\n", "`http` must be text, not a number", "http = \"1.1\""),
        ("[load]\nmethod = «'get'\n", "`get` is not a method to measure with", "upper-case words: `GET`"),
        ("[load]\nmethod = «'CONNECT'\n", "`CONNECT` is not a method to measure with", "open a tunnel"),
        ("[load]\npath = «'ping'\n", "`path` must begin with `/`", "write `\"/ping\"`"),
        ("[load]\npath = «'/a b'\n", "`path` has a space or a control character", "%20"),
        ("[load]\nexpect_status = «700\n", "700 is not a status", "100 to 599"),
        ("[load]\ntimeout = «10\n", "`timeout` has no unit", "`\"10ms\"` or `\"10s\"`"),
        ("[load]\ntimeout = «'10'\n", "`10` has no unit", "`10ms` or `10s`"),
        ("[load]\ntimeout = «'soon'\n", "`soon` is not a duration", "500us"),
        ("[load]\ntimeout = «'-5s'\n", "`-5s` is negative", "0ms"),
        ("[load]\ntimeout = «'0s'\n", "`timeout` must be longer than 0ms", "1s"),
        ("[load]\nheaders = { «'a b' = 'x' }\n", "`a b` is not a header's name", "letters"),
        ("[load]\nheaders = «3\n", "`headers` must be a table, not a whole number", "headers = { … }"),
        ("[load]\npath = «true\n", "`path` must be text, not true or false", ""),
        ("[load]\npath = «''\n", "`path` is empty", ""),
    ]);
}

#[test]
fn impossible_mixes() {
    let closed = "a closed load has no `rate`: each connection sends when its last reply came";
    check(&[
        ("[load]\n«rate = 10\n", closed, "model = \"open\""),
        ("[vary]\ntarget = 'alpha'\n«rate = [10, 20]\n", closed, "leave `rate` out"),
        ("[load]\nmodel = «'open'\n[vary]\ntarget = 'alpha'\n", "an open load needs a `rate`", "rate = 1000"),
        (
            "[load]\nmodel = 'open'\nrate = «-1\n",
            "`rate` must be from 0.001 to 10 million, not -1.0",
            "requests a second",
        ),
        (
            "[load]\nmodel = 'open'\nrate = «1e12\n",
            "`rate` must be from 0.001 to 10 million, not 1000000000000.0",
            "requests a second",
        ),
        (
            "[load]\nmodel = 'open'\nrate = «1e-12\n",
            "`rate` must be from 0.001 to 10 million, not 1e-12",
            "requests a second",
        ),
        ("[load]\nmodel = 'open'\nrate = «'half'\n", "`half` is not a rate", "50% of closed"),
        ("[load]\nmodel = 'open'\nrate = «'0% of closed'\n", "`0% of closed` is not a rate", "50% of closed"),
        ("[load]\nmodel = 'open'\nrate = «'nan% of closed'\n", "`nan% of closed` is not a rate", "50% of closed"),
        (
            "[load]\nmodel = 'open'\nrate = «0.0\n",
            "`rate` must be from 0.001 to 10 million, not 0.0",
            "requests a second",
        ),
        ("[load]\nmodel = 'open'\nrate = «inf\n", "`rate` must be a finite number, not a number", "rate = 1000"),
        (
            "[load]\nkeep_alive = false\n[vary]\ntarget = 'alpha'\npipeline = [1, «4]\n",
            "nothing can be pipelined without keep-alive",
            "pipeline = 1",
        ),
        (
            "[vary]\ntarget = 'alpha'\nhandler_delay = ['0ms', «'10ms']\n",
            "`handler_delay` has no effect on the path `/`",
            "path = \"/rest/hello\"",
        ),
        (
            "[vary]\ntarget = 'alpha'\ntarget_cpus = «4\n",
            "of this machine's 4 CPUs a target can have 3 to itself, not 4",
            "\"all\"",
        ),
        ("[vary]\ntarget = 'alpha'\nprofile = «'yes'\n", "`profile` must be true or false, not text", "profile = true"),
        (
            "vary.target = 'alpha'\n[profile]\n«function = 'futex'\n",
            "unknown key `function` in [profile]",
            "did you mean `functions`?",
        ),
        ("vary.target = 'alpha'\n[profile]\nfunctions = ['futex', «'']\n", "`functions` is empty", "write something"),
    ]);
}

#[test]
fn vary_tables() {
    check(&[
        ("[vary]\ntarget = ['alpha', «'betta']\n", "unknown target `betta`", "did you mean `beta`?"),
        ("[vary]\ntarget = «'specimen:serialized'\n", "unknown target `specimen:serialized`", "`specimen:serialised`?"),
        ("[vary]\ntarget = «'zig'\n", "unknown target `zig`", "the targets are alpha, beta"),
        ("[vary]\ntarget = ['alpha', «'alpha']\n", "`alpha` stands twice in `target`", "leave one out"),
        ("[vary]\ntarget = «[]\n", "`target` has no value", "at least one"),
        ("«[vary]\nconnections = 1\n", "no target is named", "target = "),
        ("[vary]\ntarget = 'alpha'\nconnections = «[]\n", "`connections` has no value", "at least one"),
        ("[vary]\ntarget = 'alpha'\nconnections = [10, «10]\n", "`10` stands twice in `connections`", "leave one out"),
        ("[vary]\ntarget = 'alpha'\nhandler_delay = ['1s', «'1000ms']\n", "`1s` stands twice in `handler_delay`", ""),
        (
            "[vary]\ntarget = 'alpha'\n«handler_dely = '1s'\n",
            "unknown key `handler_dely` in [vary]",
            "`handler_delay`?",
        ),
        ("[vary]\ntarget = 'alpha'\n«threads = 3\n", "unknown key `threads` in [vary]", "settings.threads = { env"),
        ("[vary]\ntarget = 'alpha'\n«model = ['open']\n", "`model` cannot be varied", "[load]"),
        ("[vary]\ntarget = 'alpha'\nhandler_delay = ['0ms', «10]\n", "`handler_delay` has no unit", "`\"10ms\"`"),
        (
            "[vary]\ntarget = ['alpha', 'beta']\n«mode = 'bare'\n",
            "`beta` has no setting `mode`",
            "it has handler_delay; leave the target out",
        ),
        (
            "[vary]\ntarget = 'beta'\nruntime = ['current', «'odl']\n",
            "`beta` has no runtime `odl`",
            "did you mean `old`?",
        ),
        ("[vary]\ntarget = 'alpha'\nruntime = «'old'\n", "`alpha` has no runtime `old`", "it declares none"),
        ("[vary]\ntarget = 'alpha'\ntarget_cpus = «'al'\n", "`al` is not a `target_cpus`", "did you mean `all`?"),
    ]);
}

#[test]
fn trials_and_quick() {
    let alpha = |rest: &str| format!("[vary]\ntarget = 'alpha'\nconnections = [10, 100]\n{rest}");
    for (rest, message, cure) in [
        ("[trials]\nblocks = «0\n", "`blocks` must be a whole number from 1 up, not 0", "blocks = 6"),
        ("[trials]\nblocks = { min = 6, max = «3 }\n", "`max` is below `min`, which is 6", "max = 12"),
        ("[trials]\nblocks = «{ min = 6 }\n", "`blocks` has no `max`", "max = 12"),
        ("[trials]\nwindow = «'0s'\n", "`window` must be longer than 0ms", ""),
        ("[trials]\nprecision = «'3'\n", "`precision` must be above 0% and below 100%, not `3`", "\"5%\""),
        ("[quick]\nconnections = «101\n", "`101` is not a level of `connections` in [vary]", "its levels are 10, 100"),
        ("[quick]\ntarget = «'beta'\n", "`beta` is not among the targets of [vary]", "they are alpha"),
        ("[quick]\n«pipeline = 1\n", "unknown key `pipeline` in [quick]", "`connections`"),
    ] {
        assert_refused(&asked(&alpha(rest)), message, cure, refused);
    }
}

#[test]
fn own_targets() {
    let mine = "run = './s --port $PORT'\n";
    check(&[
        ("«[[target]]\nname = 'mine'\n", "[[target]] has no `run`", "$PORT"),
        ("[[target]]\nname = «'my server'\n", "`my server` cannot be the name of a target", "letters"),
        ("[[target]]\nname = 'mine'\nrun = «'./s \"'\n", "`run` cannot be split into words", "without a shell"),
        (
            "[[target]]\nname = 'mine'\nrun = «'$TARGET_BIN'\n",
            "`$TARGET_BIN` is what the build makes, and nothing is built",
            "",
        ),
        ("[[target]]\n«nmae = 'mine'\n", "unknown key `nmae` in [[target]]", "did you mean `name`?"),
        (
            &format!("[[target]]\nname = 'mine'\n{mine}ready_within = «30\n"),
            "`ready_within` has no unit",
            "`\"30ms\"` or `\"30s\"`",
        ),
        (
            &format!("[[target]]\nname = 'mine'\n{mine}ready_within = «'0s'\n"),
            "`ready_within` must be longer than 0ms",
            "1s",
        ),
        (
            &format!("[[target]]\nname = «'alpha'\n{mine}"),
            "the name `alpha` is taken by a target of the zoo",
            "another",
        ),
        (
            &format!("[[target]]\nname = 'a'\n{mine}[[target]]\nname = «'a'\n{mine}"),
            "two targets are named `a`",
            "another",
        ),
        (
            &format!("[[target]]\nname = 'a'\n{mine}env = {{ «'A B' = '' }}\n"),
            "`A B` cannot be an environment variable",
            "",
        ),
        (
            &format!("[[target]]\nname = 'a'\n{mine}«settings.rate = {{ env = 'R', type = 'integer' }}\n")
                .replace("«settings.", "settings.«"),
            "`rate` cannot be a setting: experiments use the word already",
            "another",
        ),
    ]);
}

/// So many levels of a factor.
fn levels(factor: &str, number: usize, unit: &str) -> String {
    let levels: Vec<String> = (1..=number).map(|level| format!("{unit}{level}{}", unit.replace('\'', "ms'"))).collect();
    format!("{factor} = [{}]\n", levels.join(", "))
}

#[test]
fn what_is_too_large_is_refused_before_it_is_expanded() {
    let [connections, delays] = [levels("connections", 2_500, ""), levels("handler_delay", 2_500, "'")];
    let message = "this makes 6,250,000 cells; an experiment has 5,000 at most";
    let cure = "vary fewer levels, or write several experiments";
    let table = format!("[vary]\ntarget = 'alpha'\n{connections}");
    assert_eq!(resolved(&asked(&table.replace("'alpha'", "['alpha', 'beta']"))).cells.len(), 5_000);
    check(&[(&format!("«{table}{delays}"), message, cure)]);
    // Together they are too many.
    let [first, second] = ["[[vary]]", "«[[vary]]"].map(|name| table.replace("[vary]", name).replace("1, 2,", "2, 1,"));
    let both = format!("{first}{}{second}{}", levels("pipeline", 2, ""), levels("pipeline", 1, ""));
    check(&[(&both, "this makes 7,500 cells; an experiment has 5,000 at most", cure)]);

    let target = |number: usize| format!("[[target]]\nname = 't{number}'\nrun = './server $PORT'\n");
    let targets: String = (1..=101).map(target).collect();
    let names: Vec<String> = (1..=100).map(|number| format!("'t{number}'")).collect();
    let vary = |more: &str| format!("{targets}[vary]\ntarget = [{}{more}]\n", names.join(", "));
    assert_eq!(resolved(&asked(&vary(""))).cells.len(), 100);
    check(&[(&vary(", «'t101'"), "more than 100 targets", "each is compared with all others: write several")]);
}

/// What a claim of two targets at 10 and 100 connections is refused for.
fn check_claims(cases: &[(&str, &str, &str)]) {
    let base = "[vary]\ntarget = ['alpha', 'beta']\nconnections = [10, 100]\n[[claim]]\nname = 'x'\nsays = 'y'\n";
    for (rest, message, cure) in cases {
        assert_refused(&asked(&format!("{base}{rest}")), message, cure, refused);
    }
}

#[test]
fn the_test_of_a_claim() {
    check_claims(&[
        (
            "expect = 'throughput(alpha, connections = 10) / throughput(«betta, connections = 10) < 1'\n",
            "unknown target `betta`",
            "did you mean `beta`?",
        ),
        (
            "expect = \"throughput(«specimen:clean) < 1\"\n",
            "unknown target `specimen:clean`",
            "add `specimen:clean` to `target` in [vary]",
        ),
        (
            "expect = '1 < «throughput(alpha)'\n",
            "expected a number here: figures stand before the sign, two of them as a quotient, as in `p99(a) / p99(b) < 1`",
            "",
        ),
        ("expect = '«troughput(alpha) < 1'\n", "unknown metric `troughput`", "did you mean `throughput`?"),
        ("expect = 'throughput(alpha) «= 1'\n", "expected `< number`, `> number` or `within 5% of 1` here", ""),
        ("expect = '2 * «throughput(alpha) < 1'\n", "`throughput(alpha)` leaves `connections` open", "one of 10, 100"),
        (
            "expect = 'throughput(alpha, «conections = 10) < 1'\n",
            "this experiment does not vary `conections`",
            "did you mean `connections`?",
        ),
        (
            "expect = 'throughput(alpha, «connections = 1000) < 1'\n",
            "unknown level `1000` of `connections`",
            "did you mean `100`?",
        ),
        ("expect = «'1 + 1 < 3'\n", "the test names no metric", "throughput(target)"),
        (
            "expect = \"\"\"\np99(alpha,\n  «conections = 10) < 1s\"\"\"\n",
            "this experiment does not vary `conections`",
            "",
        ),
        ("expect = «\"p99(\\u0061lfa) < 1\"\n", "unknown target `alfa`", ""),
    ]);
}

#[test]
fn the_other_keys_of_a_claim() {
    check_claims(&[
        (
            "where = { «handler_delay = '1s' }\nexpect = 'p99(alpha) < 1s'\n",
            "this experiment does not vary `handler_delay`",
            "it varies connections",
        ),
        (
            "where = { connections = «11 }\nexpect = 'p99(alpha) < 1s'\n",
            "unknown level `11` of `connections`",
            "its levels are 10, 100",
        ),
        (
            "where = { connections = «'10' }\nexpect = 'p99(alpha) < 1s'\n",
            "`connections` must be a whole number, not text",
            "",
        ),
        (
            "where = { «target = 'alpha' }\nexpect = 'p99(alpha) < 1s'\n",
            "`where` fixes no target",
            "throughput(target)",
        ),
        ("published = { alpha = «'9' }\nexpect = 'p99(alpha) < 1s'\n", "`alpha` must be a number, not text", ""),
        ("needs = { «core = 8 }\nexpect = 'p99(alpha) < 1s'\n", "unknown key `core` in `needs`", "`cores`?"),
        ("cores = «0\nexpect = 'p99(alpha) < 1s'\n", "`cores` must be a whole number from 1 up, not 0", "`cores = 8`"),
        (
            "cores = «-8\nexpect = 'p99(alpha) < 1s'\n",
            "`cores` must be a whole number from 1 up, not -8",
            "`cores = 8`",
        ),
        ("cores = «'8'\nexpect = 'p99(alpha) < 1s'\n", "`cores` must be a whole number, not text", "`cores = 8`"),
        ("cores = «2.5\nexpect = 'p99(alpha) < 1s'\n", "`cores` must be a whole number, not a number", "`cores = 8`"),
        (
            "needs.cores = 8\ncores = «8\nexpect = 'p99(alpha) < 1s'\n",
            "`cores` has no effect: with fewer than 8 the claim is not tested",
            "leave out `cores`",
        ),
    ]);
}

#[test]
fn claims_together_and_cells_apart() {
    let base = "[vary]\ntarget = 'alpha'\nconnections = 10\n[[claim]]\nname = 'x'\nsays = 'y'\n";
    let good = "expect = 'p99(alpha, connections = 10) < 1s'\n";
    let twice = format!("{base}{good}[[claim]]\nname = «'x'\nsays = 'z'\n{good}");
    assert_refused(&asked(&twice), "two claims are named `x`", "another", refused);
    let nowhere = "[[vary]]\ntarget = 'alpha'\nconnections = 10\n[[vary]]\ntarget = 'beta'\nconnections = 100\n\
                   [[claim]]\nname = 'x'\nsays = 'y'\n\
                   expect = 'p99(alpha) + «p99(beta, connections = 10) < 1s'\n";
    let message = "no cell fits `p99(beta, connections = 10)` and the claim's `where`";
    assert_refused(&asked(nowhere), message, "add the combination", refused);
}

#[test]
fn arguments() {
    let file = asked("[vary]\ntarget = ['alpha', 'beta']\n");
    let error = only(&["alpha", "betta"], &file).unwrap_err();
    assert_eq!((error.message(), error.column()), ("unknown target `betta`", 16));
    assert_eq!(error.helps()[0], "did you mean `beta`?");
    let error = with(|options| plan(&source(&file), &Options { blocks: Some(0), ..*options })).unwrap_err();
    assert_eq!((error.message(), error.line(), error.column()), ("there must be at least one block", 1, 10));
}
