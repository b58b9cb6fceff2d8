use super::*;
use crate::experiment::GeneratorAsked;
use model::{Arrivals, Blocks, LoadModel, NS_PER_S};

const DELAYED: &str = "question = 'Which?'\nload.path = '/rest/hello'\n";

#[test]
fn targets_stand_together_and_the_last_factor_varies_faster() {
    let plan = resolved(&format!(
        "{DELAYED}[vary]\nhandler_delay = ['0ms', '1000ms']\ntarget = ['beta', 'alpha']\nconnections = [10, 100]\n"
    ));
    assert_eq!(
        levels(&plan),
        [
            "connections = 10, handler_delay = 0ms, target = beta",
            "connections = 10, handler_delay = 0ms, target = alpha",
            "connections = 100, handler_delay = 0ms, target = beta",
            "connections = 100, handler_delay = 0ms, target = alpha",
            "connections = 10, handler_delay = 1s, target = beta",
            "connections = 10, handler_delay = 1s, target = alpha",
            "connections = 100, handler_delay = 1s, target = beta",
            "connections = 100, handler_delay = 1s, target = alpha",
        ]
    );
    assert_eq!(plan.factors, ["handler_delay", "target", "connections"]);
    assert_eq!(plan.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["beta", "alpha"]);
    assert_eq!(plan.cells[4].settings["HANDLER_DELAY"], "1s");
    assert_eq!((plan.cells[4].handler_delay_ns, plan.cells[4].load.connections), (NS_PER_S, 10));
    assert_eq!(plan.name, "try");
}

#[test]
fn several_tables_make_a_union_without_duplicates() {
    let plan = resolved(&format!(
        "{DELAYED}[[vary]]\ntarget = ['alpha', 'beta']\nhandler_delay = ['0ms', '10ms']\n\
         [[vary]]\ntarget = 'beta'\nconnections = [100, 1000]\n"
    ));
    assert_eq!(
        levels(&plan),
        [
            "connections = 100, handler_delay = 0ms, target = alpha",
            "connections = 100, handler_delay = 0ms, target = beta",
            "connections = 100, handler_delay = 10ms, target = alpha",
            "connections = 100, handler_delay = 10ms, target = beta",
            "connections = 1000, handler_delay = 0ms, target = beta",
        ],
        "the default levels of the other table's factors are filled in"
    );
}

#[test]
fn a_setting_that_a_target_lacks_is_no_level_of_its_cells() {
    let plan =
        resolved("question = 'x'\n[[vary]]\ntarget = 'alpha'\nmode = ['bare', 'full']\n[[vary]]\ntarget = 'beta'\n");
    assert_eq!(levels(&plan), ["mode = bare, target = alpha", "mode = full, target = alpha", "target = beta"]);
}

#[test]
fn quick_keeps_only_what_claims_are_about_where_it_says_so_and_nobody_names_targets() {
    let file = format!(
        "{DELAYED}[vary]\ntarget = ['alpha', 'beta']\nhandler_delay = ['0ms', '10ms']\n[quick]\nclaimed_only = true\n\
         [[claim]]\nname = 'slower'\nsays = 'x'\nwhere = {{ handler_delay = '10ms' }}\n\
         expect = 'throughput(beta) < 100'\n"
    );
    assert_eq!(levels(&resolved(&file)).len(), 4, "the full form has all");
    assert_eq!(levels(&quick(&file)), ["handler_delay = 10ms, target = beta"]);
    let named = ["alpha".to_owned()];
    let asked = with(|options| plan(&source(&file), &Options { quick: true, targets: Some(&named), ..*options }));
    assert_eq!(levels(&asked.unwrap()).len(), 2);
}

#[test]
fn quick_drops_cells_whose_levels_are_not_named() {
    let file = format!(
        "{DELAYED}[[vary]]\ntarget = ['alpha', 'beta']\nhandler_delay = ['0ms', '10ms']\n\
         [[vary]]\ntarget = 'beta'\nhandler_delay = '10ms'\nconnections = 1000\n\
         [quick]\nconnections = 100\nhandler_delay = ['10ms']\nwindow = '1s'\n"
    );
    assert_eq!(resolved(&file).cells.len(), 5);
    let short = quick(&file);
    assert_eq!(
        levels(&short),
        [
            "connections = 100, handler_delay = 10ms, target = alpha",
            "connections = 100, handler_delay = 10ms, target = beta"
        ]
    );
    assert!(short.quick && short.cells[0].load.window_ns() == NS_PER_S);
    assert_eq!(short.blocks, Blocks { min: 6, max: 6 });
    let none = "question = 'x'\n[[vary]]\ntarget = 'alpha'\nconnections = 10\n[[vary]]\ntarget = 'beta'\n\
                connections = 20\n[quick]\ntarget = 'alpha'\nconnections = 20\n";
    let error = with(|options| plan(&source(none), &Options { quick: true, ..*options })).unwrap_err();
    assert_eq!((error.message(), error.line()), ("the quick form has no cell", 8));
}

#[test]
fn a_claim_whose_cells_are_left_out_stays_and_says_why() {
    let file = "question = 'x'\n[vary]\ntarget = ['alpha', 'beta']\nconnections = [10, 20]\n[quick]\ntarget = 'beta'\n\
                [[claim]]\nname = 'a'\nsays = 's'\nwhere.connections = 10\npublished = { alpha = 1, beta = 4 }\n\
                expect = 'throughput(alpha) / throughput(beta) < 1'\n\
                [[claim]]\nname = 'b'\nsays = 's'\nexpect = 'p99(beta, connections = 20) < 1s'\n\
                [[claim]]\nname = 'c'\nsays = 's'\nneeds.cores = 8\nexpect = 'p99(beta, connections = 20) < 1s'\n";
    let notes = |plan: &Draft| plan.claims.iter().map(|claim| claim.not_testable.clone()).collect::<Vec<_>>();
    let cores = Some("needs 8 cores; this machine has 4".to_owned());
    let full = resolved(file);
    assert_eq!(notes(&full), [None, None, cores.clone()]);
    assert_eq!(full.claims[0].published_value, Some(0.25));
    assert_eq!(notes(&quick(file)), [Some("not part of the quick form".to_owned()), None, cores.clone()]);
    let narrow = only(&["beta"], file).unwrap();
    assert_eq!(notes(&narrow), [Some("target alpha is not part of this run".to_owned()), None, cores]);
    assert_eq!((narrow.cells.len(), narrow.targets.len()), (2, 1));
}

#[test]
fn a_server_of_ones_own_is_ready_when_the_path_that_is_asked_for_answers() {
    let ready = |load: &str, target: &str| {
        let file = format!(
            "question = 'x'\nload = {{ {load} }}\n[[target]]\nname = 'mine'\nrun = './mine'\n{target}\n[vary]\ntarget = 'mine'\n"
        );
        resolved(&file).targets[0].launch.ready.clone()
    };
    assert_eq!(ready("path = '/items?n=3'", ""), "/items?n=3");
    assert_eq!(ready("path = '/items'", "ready = '/ping'"), "/ping");
    assert_eq!(ready("path = '/items', method = 'POST', body = 'x'", ""), "", "asking would change something");
    assert_eq!(ready("path = '/items', headers = { Authorization = 'x' }", ""), "", "without them it may be refused");
    assert_eq!(ready("path = '/items', expect_status = 404", ""), "", "that answer says nothing");
}

#[test]
fn the_command_line_names_targets_before_quick_does() {
    let file = "question = 'x'\n[vary]\ntarget = ['alpha', 'beta']\n[quick]\ntarget = 'beta'\n";
    let names = ["alpha".to_owned()];
    let plan = with(|options| plan(&source(file), &Options { quick: true, targets: Some(&names), ..*options }));
    assert_eq!(levels(&plan.unwrap()), ["target = alpha"]);
}

#[test]
fn one_block_in_six_may_be_repeated_unless_the_file_says_otherwise() {
    let file = |trials: &str| format!("question = 'x'\nvary.target = 'alpha'\n{trials}\n");
    assert_eq!((resolved(&file("")).repeats, quick(&file("")).repeats), (2, 1));
    assert_eq!(resolved(&file("trials.blocks = 3")).repeats, 0);
    let none = file("trials.repeats = 0");
    assert_eq!((resolved(&none).repeats, quick(&none).repeats), (0, 0));
    let none_quick = file("quick.repeats = 0");
    assert_eq!((resolved(&none_quick).repeats, quick(&none_quick).repeats), (2, 0));
}

#[test]
fn a_launch_is_warm_before_its_window_unless_the_quick_form_leaves_it_cold() {
    let target = "[[target]]\nname = 'mine'\nrun = './mine'\nwarm_within = '20s'\n";
    let file = |quick: &str| {
        format!("question = 'x'\n[vary]\ntarget = ['mine', 'alpha']\n[quick]\nwarm_up = '300ms'\n{quick}{target}")
    };
    let warm_ups = |plan: Draft| plan.cells.iter().map(|cell| cell.load.warm_up_ns / 1_000_000).collect::<Vec<_>>();
    assert_eq!(warm_ups(resolved(&file(""))), [20_000, 1_000]);
    assert_eq!(warm_ups(quick(&file(""))), [20_000, 300]);
    assert_eq!(warm_ups(resolved(&file("cold = true\n"))), [20_000, 1_000], "the full form is never cold");
    assert_eq!(warm_ups(quick(&file("cold = true\n"))), [300, 300]);
    assert_eq!(quick(&file("cold = true\n")).targets[0].launch.warm_within_ns, 20 * NS_PER_S);
}

#[test]
fn a_window_holds_enough_handler_delays() {
    let file = format!("{DELAYED}[vary]\ntarget = 'alpha'\nhandler_delay = ['10ms', '1s']\n[quick]\nwindow = '1s'\n");
    let windows = |plan: Draft| plan.cells.iter().map(|cell| cell.load.window_ns() / NS_PER_S).collect::<Vec<_>>();
    assert_eq!(windows(resolved(&file)), [10, 30]);
    assert_eq!(windows(quick(&file)), [1, 6]);
}

#[test]
fn the_generator_has_a_quarter_of_the_cpus_or_what_somebody_says() {
    let of = |table: &str, cpus, threads| {
        let file = source(&format!("question = 'x'\n{table}[vary]\ntarget = 'alpha'\n"));
        let generator = GeneratorAsked { threads, ..GeneratorAsked::default() };
        let plan = with(|options| plan(&file, &Options { machine: Machine { cpus }, generator, ..*options })).unwrap();
        (plan.generator.threads, plan.generator.cpus, plan.target_cpus.len(), plan.generator.spin)
    };
    assert_eq!(of("", 8, None), (2, vec![6, 7], 6, false));
    assert_eq!(of("", 64, None).0, 16);
    assert_eq!(of("", 7, None), (1, vec![6], 6, false));
    assert_eq!(of("[generator]\ncpus = 3\n", 8, None), (3, vec![5, 6, 7], 5, false));
    assert_eq!(of("[generator]\nthreads = 2\nspin = true\n", 4, None), (2, vec![2, 3], 2, true));
    assert_eq!(of("[generator]\nthreads = 4\ncpus = 2\n", 8, None), (4, vec![6, 7], 6, false));
    assert_eq!(of("[generator]\ncpus = 1\n", 8, Some(3)), (3, vec![5, 6, 7], 5, false), "the command line comes first");
    assert_eq!(of("", 2, Some(3)), (3, vec![1], 1, false), "the target keeps one");
    assert_eq!(of("", 1, Some(2)), (2, vec![], 0, false));
    let file = source("question = 'x'\n[generator]\ncpus = 4\n[vary]\ntarget = 'alpha'\n");
    let refused = with(|options| plan(&file, options)).unwrap_err().render(false);
    assert!(refused.contains("of 4 CPUs the generator can have 3 to itself, not 4"), "{refused}");
}

#[test]
fn generator_and_target_have_disjoint_cpus_where_there_are_two() {
    let file = source("question = 'x'\n[vary]\ntarget = 'alpha'\ntarget_cpus = [1, 'all']\n");
    for (cpus, generator, target, one, all) in [
        (1, vec![], vec![], vec![0], vec![0]),
        (2, vec![1], vec![0], vec![0], vec![0, 1]),
        (4, vec![3], vec![0, 1, 2], vec![0], vec![0, 1, 2, 3]),
    ] {
        let plan = with(|options| plan(&file, &Options { machine: Machine { cpus }, ..*options })).unwrap();
        assert_eq!((plan.generator.threads, plan.generator.cpus, plan.target_cpus), (1, generator, target));
        assert_eq!((&plan.cells[0].target_cpus, &plan.cells[1].target_cpus), (&one, &all));
    }
}

#[test]
fn an_open_load_with_everything() {
    let plan = resolved(
        "question = 'x'\nseed = 7\nmargin = '2.5%'\n[load]\nmodel = 'open'\narrivals = 'poisson'\nmethod = 'POST'\n\
         path = '/submit?a=1'\nheaders = { X-B = '2', X-A = '1' }\nbody = '{}'\nhttp = '1.0'\ntimeout = '2s'\n\
         expect_status = 201\n[vary]\ntarget = 'alpha'\nrate = [1000, 0.5]\nkeep_alive = [true, false]\n",
    );
    let load = &plan.cells[2].load;
    assert_eq!(load.model, LoadModel::Open { rate_per_s: 0.5, arrivals: Arrivals::Poisson });
    let asked = load.mix.first();
    assert_eq!(asked.request.headers, [("X-B".to_owned(), "2".to_owned()), ("X-A".to_owned(), "1".to_owned())]);
    assert_eq!((asked.request.body.as_slice(), load.timeout_ns), (b"{}".as_slice(), Some(2 * NS_PER_S)));
    assert_eq!((asked.expect.status, load.keep_alive, plan.seed, plan.margin), (Some(201), true, 7, 0.025));
    assert_eq!(levels(&plan)[0], "keep_alive = true, rate = 1000, target = alpha");
    assert_eq!(levels(&plan)[3], "keep_alive = false, rate = 0.5, target = alpha");
}

#[test]
fn the_command_line_sets_seed_and_blocks() {
    let file = source("question = 'x'\nseed = 7\nvary.target = 'alpha'\ntrials.blocks = 3\n");
    let plan = with(|options| plan(&file, &Options { seed: Some(9), blocks: Some(2), ..*options })).unwrap();
    assert_eq!((plan.seed, plan.blocks), (9, Blocks { min: 2, max: 2 }));
}

#[test]
fn the_only_own_target_needs_no_name() {
    let plan = resolved(
        "question = 'x'\n[[target]]\nname = 'mine'\nrun = './server --port $PORT'\nbuild = 'make all'\ncwd = 'srv'\n\
         env = { MODE = 'fast' }\nready = '/healthz'\nready_within = '5s'\n\
         settings.handler_delay = { env = 'D', type = 'duration', default = '5ms' }\n",
    );
    assert_eq!((levels(&plan), plan.factors), (vec!["target = mine".to_owned()], vec!["target".to_owned()]));
    let mine = &plan.targets[0];
    assert_eq!(mine.launch.run, ["./server", "--port", "$PORT"]);
    assert_eq!((mine.launch.cwd.as_path(), mine.launch.ready.as_str()), (Path::new("/home/me/srv"), "/healthz"));
    assert_eq!(mine.launch.ready_within_ns, 5_000_000_000);
    assert_eq!((mine.title.as_str(), &mine.launch.env["MODE"]), ("mine", &"fast".to_owned()));
    assert_eq!(mine.build.as_ref().unwrap().run, ["make", "all"]);
    assert_eq!(plan.cells[0].handler_delay_ns, 5_000_000, "its default counts");
}

#[test]
fn specimens_are_targets_too() {
    let plan = resolved(
        "question = 'x'\n[vary]\ntarget = ['specimen:clean', 'specimen:pool']\n\
         handler_delay = ['0ms', '10ms']\nworkers = 3\n",
    );
    assert_eq!(plan.targets[1].launch.run, ["$BOURDON", "specimen", "pool"]);
    assert_eq!(plan.targets[1].launch.ready_within_ns, model::READY_WITHIN_NS);
    assert_eq!(plan.cells[3].settings["WORKERS"], "3");
    assert_eq!(plan.cells[3].handler_delay_ns, 10_000_000);
    let default = resolved("question = 'x'\nvary.target = 'specimen:serialised'\n");
    assert_eq!(default.cells[0].handler_delay_ns, 10_000_000);
    let undelayed = resolved("question = 'x'\nload.path = '/ping'\nvary.target = 'specimen:serialised'\n");
    assert_eq!(undelayed.cells[0].handler_delay_ns, 0, "nothing waits on /ping");
}

#[test]
fn runtimes_and_text_settings_reach_the_cell() {
    let plan = resolved(
        "question = 'x'\n[[vary]]\ntarget = 'beta'\nruntime = ['current', 'old']\n\
         [[vary]]\ntarget = 'alpha'\nmode = 'full'\n",
    );
    assert_eq!(plan.cells.iter().map(|cell| cell.runtime.as_str()).collect::<Vec<_>>(), ["current", "old", "current"]);
    assert_eq!(plan.cells[2].settings["MODE"], "full");
}

#[test]
fn a_ladder_names_a_load_that_rises() {
    let file = |ladder: &str| {
        format!("question = 'x'\n[vary]\ntarget = ['alpha', 'beta']\nconnections = [10, 20]\n[trials]\n{ladder}\n")
    };
    let plan = resolved(&file("ladder = 'connections'"));
    assert_eq!(plan.ladder.as_deref(), Some("connections"));
    assert!(plan.launches().iter().all(|launch| launch.len() == 2), "{:?}", plan.launches());
    assert_eq!(resolved(&file("")).launches().len(), 4);
}

#[test]
fn one_file_may_have_closed_and_open_cells() {
    let plan = resolved(
        "question = 'x'\nload.model = 'both'\n[[vary]]\ntarget = 'alpha'\n[[vary]]\ntarget = 'alpha'\nrate = 1000\n",
    );
    let models: Vec<bool> = plan.cells.iter().map(|cell| matches!(cell.load.model, model::LoadModel::Closed)).collect();
    assert_eq!(models, [true, false]);
    let rates: Vec<String> = plan.cells.iter().map(|cell| cell.levels.get("rate").unwrap().to_string()).collect();
    assert_eq!(rates, ["closed", "1000"]);
}

#[test]
fn a_rate_may_be_a_share_of_what_a_closed_load_gets() {
    let plan = resolved(
        "question = 'x'\n[load]\nmodel = 'both'\narrivals = 'poisson'\n[vary]\ntarget = 'alpha'\n\
         rate = ['closed', '50 % of closed', '12.5% of closed', 800]\n",
    );
    let rates: Vec<String> = plan.cells.iter().map(|cell| cell.levels.get("rate").unwrap().to_string()).collect();
    assert_eq!(rates, ["closed", "50% of closed", "12.5% of closed", "800"]);
    let shares: Vec<Option<f64>> = plan.cells.iter().map(|cell| cell.rate_share).collect();
    assert_eq!(shares, [None, Some(0.5), Some(0.125), None]);
    assert!(plan.cells[1].awaits_rate(), "closed until it is measured");
    assert_eq!(plan.cells[1].rate_arrivals, Some(Arrivals::Poisson));
}

#[test]
fn cells_for_which_the_machine_is_too_small_are_left_out_unless_others_ask_for_them() {
    let file = |other: &str| {
        format!(
            "question = 'x'\nload.model = 'open'\n[vary]\ntarget = ['alpha', 'beta']\nrate = [10, 1000, 5000]\n\
             [[claim]]\nname = 'a'\nsays = 's'\nneeds.cores = 8\nwhere.rate = 5000\n\
             expect = 'p99(alpha) / p99(beta) < 1'\n\
             [[claim]]\nname = 'b'\nsays = 's'\nexpect = 'p90(alpha, rate = {other}) < 1s'\n"
        )
    };
    let cells = |other: &str| levels(&resolved(&file(other))).len();
    assert_eq!((cells("10"), cells("5000")), (4, 5));
    let large = with(|options| plan(&source(&file("10")), &Options { machine: Machine { cpus: 8 }, ..*options }));
    assert_eq!(large.unwrap().cells.len(), 6);
}

#[test]
fn a_profile_is_a_factor_and_its_functions_are_the_plans() {
    let plan = resolved(
        "question = 'x'\n[profile]\nfunctions = ['futex', 'addtimer']\n\
         [[vary]]\ntarget = 'alpha'\nprofile = [false, true]\n[[vary]]\ntarget = 'beta'\n\
         [[claim]]\nname = 'timers'\nsays = 's'\nexpect = 'profile_share(alpha, profile = true) > 0.2'\n",
    );
    assert_eq!(plan.profile_functions, ["futex", "addtimer"]);
    assert_eq!(plan.cells.iter().map(|cell| cell.profile).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(levels(&plan)[2], "profile = false, target = beta");
    assert_eq!(resolved("question = 'x'\n[vary]\ntarget = 'alpha'\n").profile_functions, [""; 0]);
}

#[test]
fn a_network_delay_belongs_to_the_load_and_lengthens_the_window() {
    let plan = resolved(
        "question = 'x'\n[load]\npath = '/rest/hello'\n[vary]\ntarget = 'alpha'\nhandler_delay = ['0ms', '300ms']\n\
         network_delay = ['0ms', '100ms']\n",
    );
    assert_eq!(levels(&plan)[3], "handler_delay = 300ms, network_delay = 100ms, target = alpha");
    let seen: Vec<(u64, u64)> = plan
        .cells
        .iter()
        .map(|cell| (cell.load.network_delay_ns / 1_000_000, cell.load.window_ns() / NS_PER_S))
        .collect();
    assert_eq!(seen, [(0, 10), (100, 10), (0, 10), (100, 12)]);
    let fixed = resolved("question = 'x'\n[load]\nnetwork_delay = '10ms'\n[vary]\ntarget = 'alpha'\n");
    assert_eq!(fixed.cells[0].load.network_delay_ns, 10_000_000);
}
