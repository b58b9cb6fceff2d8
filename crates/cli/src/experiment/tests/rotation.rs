//! Which loads go round.

use std::collections::BTreeSet;

use super::errors::check;
use super::shipped::shipped;
use super::*;
use model::{Arrivals, Environment, LoadModel, NS_PER_S, Rotated};

#[test]
fn loads_go_round_unless_the_file_or_the_command_line_says_otherwise() {
    let file = |rotation: &str| format!("question = 'x'\nvary.target = ['alpha', 'beta']\n{rotation}\n");
    let of = |rotation: &str| resolved(&file(rotation)).rotation.map(|it| (it.slice_ns, it.lead_in_ns, it.rounds));
    let default = Some((NS_PER_S / 4, NS_PER_S / 50, None));
    assert_eq!((of(""), of("trials.window = '1s'"), of("trials.rotation = true")), (default, default, default));
    assert_eq!(of("trials.rotation = { slice = '1s' }"), Some((NS_PER_S, NS_PER_S / 50, None)));
    assert_eq!(of("trials.rotation = { lead_in = '1s' }"), Some((NS_PER_S / 4, NS_PER_S, None)));
    assert_eq!(of("trials.rotation = false"), None);
    for rotation in ["", "trials.rotation = { slice = '1s' }"] {
        let alone = with(|options| plan(&source(&file(rotation)), &Options { rotates: false, ..*options }));
        assert_eq!(alone.unwrap_or_else(|error| panic!("{error}")).rotation, None);
    }
}

#[test]
fn what_is_wrong_with_a_rotation_is_told_with_its_place() {
    check(&[
        (
            "vary.target = 'alpha'\ntrials.rotation = «'no'\n",
            "`rotation` must be true or false, not text",
            "{ slice = \"250ms\" }",
        ),
        (
            "vary.target = 'alpha'\ntrials.rotation = { «slices = '1s' }\n",
            "unknown key `slices` in `rotation`",
            "did you mean `slice`",
        ),
        ("vary.target = 'alpha'\ntrials.rotation = { slice = «250 }\n", "`slice` has no unit", "\"250ms\""),
        ("vary.target = 'alpha'\ntrials.rotation = { slice = «'0s' }\n", "`slice` must be longer than 0ms", ""),
        ("vary.target = 'alpha'\ntrials.rotation = { slice = «'61s' }\n", "`slice` is 60s at most", "a round"),
        (
            "vary = { target = 'alpha', connections = [1, 2] }\ntrials = { rotation = «{ slice = '1s' }, ladder = 'connections' }\n",
            "`rotation` has no effect: the loads of a ladder follow each other on one launch",
            "leave out `rotation` or `ladder`",
        ),
    ]);
}

/// Why launches are alone or not, of each set of conditions that a form of an experiment has.
fn rotated(name: &str, quick: bool) -> BTreeSet<String> {
    let mut plan = shipped(name, quick);
    for cell in plan.cells.iter_mut().filter(|cell| cell.awaits_rate()) {
        cell.load.model = LoadModel::Open { rate_per_s: 10_000.0, arrivals: Arrivals::Constant };
    }
    plan.twin = judge::cell_for_twin(&plan);
    let plan = plan.resolve().unwrap();
    let of = |rotated: Option<Rotated>| match rotated {
        None => "not asked for".to_owned(),
        Some(Rotated::Together { rounds, slice_s }) => format!("{rounds} of {slice_s} s"),
        Some(Rotated::Planned(why)) => why.id().to_owned(),
        Some(Rotated::Seen { .. }) => panic!("nothing was launched"),
    };
    judge::analyse(&plan, &Environment::default(), &[]).cells.into_iter().map(|cell| of(cell.rotation)).collect()
}

#[test]
fn which_shipped_experiments_rotate() {
    let of = |name: &str| [false, true].map(|quick| rotated(name, quick).into_iter().collect::<Vec<_>>().join(", "));
    let quick_too = |words: &str| [words.to_owned(), words.to_owned()];
    let business = ["40 of 0.25 s, handler-delay, one-target", "4 of 0.25 s, handler-delay, one-target"];
    assert_eq!(of("business-latency"), business);
    assert_eq!(of("routing"), ["24 of 0.25 s", "4 of 0.25 s"]);
    assert_eq!(of("execution-units"), quick_too("census, new-connections"));
    assert_eq!(of("memory-under-concurrency"), quick_too("ladder"));
    for name in [
        "io-models",
        "sustained-rate",
        "timeouts",
        "worker-pools",
        "memory-in-flight",
        "digest-code",
        "kinds-of-work",
        "one-heavy-request",
        "many-clients",
        "slow-dependency",
    ] {
        assert_eq!(of(name), quick_too("not asked for"), "{name}");
    }
}
