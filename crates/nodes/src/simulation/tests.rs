use engine::Brought;
use model::{Extent, Measurement, NS_PER_S};

use super::{Between, DAWN_NS, MS, Seen, World, asked, key, next_name, presence};
use crate::key::{MOST_BYTES, Unheeded};
use crate::member::Member;
use crate::message::{Body, MESSAGE_SCHEMA, Message, Refusal};
use crate::node::NodeNews;
use crate::outcome::{Ended, Lost, Made, News, Unmade, WhyLost};

/// When the window of a load of few nodes has begun, since the world began.
const WINDOW_BEGINS_NS: u64 = NS_PER_S;

fn made(seen: &Seen) -> &Made {
    match &seen.ended {
        Ended::Made(made) => made,
        Ended::Unmade(why) => panic!("{why:?}, {:?}", seen.news),
    }
}

/// All shares put together.
fn whole(shares: impl IntoIterator<Item = Brought>) -> Measurement {
    let whole = shares.into_iter().reduce(|whole, share| whole.beside(share).unwrap()).unwrap();
    let measured = whole.conclude().measurement;
    assert_eq!(measured.accounting.imbalance(), None);
    measured
}

/// The same as if all had been made on one clock: what they brought does not depend on where their clocks stood.
fn on_one_clock(shares: &[Brought]) -> Measurement {
    whole(shares.iter().map(|share| share.clone().moved(1_000_000_000 - share.window_ns().0 as i64)))
}

fn unheeded(news: &[News]) -> Vec<Unheeded> {
    let mut all: Vec<Unheeded> =
        news.iter().filter_map(|news| if let News::Unheeded(why, _) = news { Some(*why) } else { None }).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn shares_begin_at_one_instant_and_add_up_to_what_one_process_has() {
    for (nodes, seed) in [(1, 1), (2, 2), (16, 3)] {
        let (seen, _) = World::new(nodes, asked(nodes as u32, 4, 50.0), seed).run();
        let made = made(&seen);
        assert_eq!((made.shares.len(), &made.lost[..], made.whole_seconds), (nodes, &[][..], None));
        // A clock is known to half of a way there and back, of which the shortest of 32 takes some 0.1 ms.
        let began: Vec<u64> = seen.began_ns.iter().map(|at_ns| at_ns.unwrap()).collect();
        let spread_ns = began.iter().max().unwrap() - began.iter().min().unwrap();
        assert!(spread_ns < MS / 2, "{spread_ns} ns of {nodes}");
        let within_ns = made.shares.iter().map(|share| share.offset.within_ns).max().unwrap();
        assert!(spread_ns <= 2 * within_ns && within_ns < MS / 2, "{within_ns} ns");
        assert!(made.shares.iter().all(|share| share.offset_at_end.is_some()));
        let merged = whole(made.shares.iter().map(|share| share.brought.clone()));
        assert_eq!(merged, on_one_clock(&seen.shares), "of {nodes}");
        assert!(merged.accounting.scheduled > 150 * nodes as u64 && !merged.interrupted);
        let free = |news: &Vec<NodeNews>| news.last() == Some(&NodeNews::Free);
        assert!(seen.of_nodes.iter().all(free), "{:?}", seen.of_nodes);
    }
}

#[test]
fn what_comes_twice_or_is_lost_on_its_way_is_neither_counted_twice_nor_missing() {
    let between = Between { lost: 0.05, twice: 0.3, jitter_ns: 20 * MS, ..Between::default() };
    let mut made_of = 0;
    for seed in 0..20 {
        let mut world = World::new(4, asked(4, 4, 50.0), seed);
        world.between = between.clone();
        let (seen, _) = world.run();
        // Orders are not repeated: without an answer to one nothing begins, which is said.
        match &seen.ended {
            Ended::Made(made) if made.lost.is_empty() => {
                made_of += 1;
                let merged = whole(made.shares.iter().map(|share| share.brought.clone()));
                assert_eq!(merged, on_one_clock(&seen.shares));
            }
            Ended::Made(made) => assert!(made.whole_seconds.is_some()),
            Ended::Unmade(Unmade::NotReady(_) | Unmade::NotBegun(_) | Unmade::Lost(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(made_of >= 5, "{made_of}");
}

#[test]
fn a_hundred_deaths_are_declared_and_cost_no_more_than_the_second_they_came_in() {
    for seed in 0..100 {
        let mut world = World::new(4, asked(4, 5, 30.0), seed);
        let after_ns = WINDOW_BEGINS_NS + 40 * MS * seed;
        world.kill(seed as usize % 4, after_ns);
        let (seen, _) = world.run();
        let host = format!("host-{:04}", seed % 4);
        let dead_for = |began_ns: u64| (super::DAWN_NS + after_ns).saturating_sub(began_ns + NS_PER_S / 2);
        let lived_ns = seen.began_ns.iter().flatten().max().map_or(0, |began_ns| dead_for(*began_ns));
        let told: Vec<&Lost> =
            seen.news.iter().filter_map(|news| if let News::Lost(lost) = news { Some(lost) } else { None }).collect();
        assert_eq!(told.iter().map(|lost| &*lost.node.host).collect::<Vec<_>>(), [&*host], "{seed}: {:?}", seen.news);
        assert!(matches!(told[0].why, WhyLost::Silent(for_s) if for_s > 3.0 && for_s < 4.0), "{told:?}");
        match &seen.ended {
            Ended::Made(made) => {
                let seconds = made.whole_seconds.unwrap();
                let brought: Vec<Brought> = made.shares.iter().map(|share| share.brought.clone()).collect();
                let merged = whole(brought);
                assert!(merged.interrupted && (merged.window_s - seconds as f64).abs() < 0.1, "{merged:?}");
                // Its last checkpoint may have been on its way.
                let kept_ns = seconds * NS_PER_S;
                assert!(kept_ns + NS_PER_S + 10 * MS >= lived_ns.min(5 * NS_PER_S), "{seed}: {kept_ns} of {lived_ns}");
                assert!(kept_ns <= lived_ns, "{seed}: {kept_ns} of {lived_ns}");
            }
            Ended::Unmade(Unmade::Lost(lost)) => assert!(lost.len() == 1 && lived_ns < NS_PER_S + 10 * MS, "{seed}"),
            other => panic!("{seed}: {other:?}"),
        }
    }
}

#[test]
fn a_server_of_messages_that_is_away_for_a_while_loses_nothing() {
    for away_ns in [NS_PER_S, 8 * NS_PER_S, 20 * NS_PER_S] {
        let mut world = World::new(3, asked(3, 5, 50.0), 9);
        world.between.away = Some((WINDOW_BEGINS_NS + NS_PER_S, away_ns));
        let (seen, _) = world.run();
        let made = made(&seen);
        assert!(made.lost.is_empty(), "{:?}", made.lost);
        assert_eq!(whole(made.shares.iter().map(|share| share.brought.clone())), on_one_clock(&seen.shares));
    }
}

#[test]
fn who_comes_too_late_or_not_at_all_is_told() {
    let (seen, _) = World::new(2, asked(3, 4, 50.0), 1).run();
    let Ended::Unmade(Unmade::TooFew { came, wanted: Some(3), waited_s, .. }) = &seen.ended else {
        panic!("{:?}", seen.ended)
    };
    assert!(came.len() == 2 && (5.0..5.1).contains(waited_s), "{came:?}, {waited_s}");
    // More than are wanted: the others stay free.
    let (seen, _) = World::new(5, asked(3, 4, 50.0), 1).run();
    assert_eq!(made(&seen).shares.len(), 3);
    assert_eq!(seen.of_nodes.iter().filter(|news| news.is_empty()).count(), 2, "{:?}", seen.of_nodes);
    // As many as there are.
    let (seen, _) = World::new(5, crate::coordinator::Asked { nodes: None, ..asked(5, 4, 50.0) }, 1).run();
    assert_eq!(made(&seen).shares.len(), 5);
}

#[test]
fn nodes_refuse_what_they_may_not_or_cannot_make() {
    let refused = |change: &dyn Fn(&mut crate::coordinator::Asked)| {
        let mut asked = asked(2, 4, 50.0);
        change(&mut asked);
        let (seen, _) = World::new(2, asked, 1).run();
        match seen.ended {
            Ended::Unmade(Unmade::Refused { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    };
    let elsewhere = refused(&|asked| asked.spec.address = ([192, 0, 2, 1], 80).into());
    assert_eq!(elsewhere, Refusal::Address { allowed: "127.0.0.0/8, ::1".to_owned() });
    assert_eq!(refused(&|asked| asked.bourdon = "2".to_owned()), Refusal::Version { bourdon: "1".to_owned() });
    let many = refused(&|asked| asked.spec.load.connections = 2_000);
    assert_eq!(many, Refusal::OpenFiles { needed: 1_064, most: 1_000 });
    assert_eq!(refused(&|asked| asked.spec.load.warm_up_ns = u64::MAX / 4), Refusal::Absurd);
    assert_eq!(refused(&|asked| asked.spec.load.pipeline = 0), Refusal::Absurd);
}

#[test]
fn what_is_forged_repeated_or_of_another_run_changes_nothing_and_is_named() {
    // Somebody has heard a run, and knows what is said in one.
    let (_, before) = World::new(2, asked(2, 4, 50.0), 5).run();
    let mut world = World::new(2, asked(2, 4, 50.0), 6);
    let at = |at: usize| WINDOW_BEGINS_NS / 2 + at as u64 * 3 * MS;
    let mut write = |bytes: Vec<u8>| {
        let after_ns = at(world.written.len());
        world.written.push((after_ns, bytes));
    };
    before.heard.iter().take(300).for_each(|bytes| write(bytes.clone()));
    let (name, run) = (next_name(), next_name());
    let message = |body: Body| Message {
        schema: MESSAGE_SCHEMA.to_owned(),
        run: run.clone(),
        from: name.clone(),
        to: run.clone(),
        number: 1 << 40,
        body,
    };
    let presence = presence("evil", 9_999);
    for body in [Body::Here(presence), Body::Failed("me".into()), Body::Over, Body::Begins] {
        write(key("another secret, no less").seal(&message(body.clone())));
        write(key("a secret of all of them").seal(&message(body)));
    }
    write(vec![b'{'; MOST_BYTES + 1]);
    write(b"short".to_vec());
    write([&[0; 32][..], b"{\"from\":7}"].concat());
    let (seen, world) = world.run();
    let merged = whole(made(&seen).shares.iter().map(|share| share.brought.clone()));
    assert_eq!(merged, on_one_clock(&seen.shares));
    let all = unheeded(&seen.news);
    assert_eq!(all, [Unheeded::TooLarge, Unheeded::Unsigned, Unheeded::Unknown, Unheeded::OtherRun]);
    let forged = News::Unheeded(Unheeded::Unsigned, Some(name));
    assert!(seen.news.contains(&forged), "who it claims to be is named");
    assert!(!seen.news.iter().any(|news| matches!(news, News::Came { node, .. } if node.host == "evil")));
    drop(world);
}

#[test]
fn a_node_that_another_has_ordered_since_it_came_is_not_waited_for() {
    use crate::coordinator::{Coordinator, Does};
    use crate::message::Address;
    let (secret, run) = (key("a secret of all of them"), next_name());
    let said = |from: &str, number, body| {
        let (schema, to, run) = (MESSAGE_SCHEMA.to_owned(), run.clone(), run.clone());
        secret.seal(&Message { schema, run, from: from.to_owned(), to, number, body })
    };
    let ordered = |does: &[Does]| does.iter().filter(|does| matches!(does, Does::Send(Address::Node(_), _))).count();
    let mut coordinator = Coordinator::new(asked(2, 4, 50.0), run.clone(), secret.clone(), 0);
    let here = || Body::Here(presence("here", 1_000));
    assert_eq!(ordered(&coordinator.heard(1, &said("a", 1, here()))), 0);
    let busy = Body::Refused(Refusal::Busy { run: next_name() });
    assert_eq!(ordered(&coordinator.heard(2, &said("a", 2, busy))), 0);
    assert_eq!(ordered(&coordinator.heard(3, &said("b", 1, here()))), 0, "the first is not there any more");
    assert_eq!(ordered(&coordinator.heard(4, &said("c", 1, here()))), 2);
    // One that is gone without a word says nothing of its order.
    let alive =
        |coordinator: &mut Coordinator, at_ns, number| coordinator.heard(at_ns, &said("b", number, Body::Alive));
    let mut ended = None;
    for half_s in 1..=8 {
        let now_ns = half_s * NS_PER_S / 2;
        alive(&mut coordinator, now_ns, 1 + half_s);
        ended = ended.or(coordinator.tick(now_ns).into_iter().find_map(|does| match does {
            Does::End(how) => Some((now_ns, *how)),
            _ => None,
        }));
    }
    let (at_ns, Ended::Unmade(Unmade::Lost(lost))) = ended.unwrap() else { panic!() };
    assert!(at_ns == 7 * NS_PER_S / 2 && lost.len() == 1 && lost[0].node.session == "c", "{at_ns}: {lost:?}");
}

#[test]
fn a_load_that_is_stopped_is_whole_up_to_then_also_where_messages_take_long() {
    let mut world = World::new(40, asked(40, 8, 10.0), 5);
    world.between = Between { takes_ns: 30 * MS, ..Between::default() };
    // Shortly before its end: nodes of this world do not hear that they are to stop.
    world.stops_ns = Some(12 * NS_PER_S);
    let (seen, _) = world.run();
    let made = made(&seen);
    assert!(made.lost.is_empty() && made.whole_seconds.is_none(), "{:?}", made.lost);
    assert!(made.shares.iter().all(|share| share.offset_at_end.is_some()), "each was asked what time it is");
}

#[test]
fn what_was_heard_in_this_run_and_is_said_again_is_not_heeded() {
    // All that is said in a run comes twice, and much later.
    let mut world = World::new(3, asked(3, 4, 50.0), 11);
    world.between = Between { twice: 1.0, jitter_ns: 200 * MS, ..Between::default() };
    let (seen, _) = world.run();
    assert!(
        matches!(&seen.ended, Ended::Made(_) | Ended::Unmade(Unmade::NotBegun(_) | Unmade::Lost(_))),
        "{:?}",
        seen.ended
    );
    assert!(unheeded(&seen.news).contains(&Unheeded::Repeated), "{:?}", seen.news);
}

#[test]
fn a_node_whose_commander_is_gone_ends_its_share_and_is_free_again() {
    use crate::message::{Address, Order};
    use crate::node::{Node, NodeDoes};
    let secret = key("a secret of all of them");
    let own = presence("here", 99);
    let mut node = Node::new(secret.clone(), own, crate::Allowed::own().to_vec(), next_name);
    let (session, run) = (node.session().to_owned(), next_name());
    let spec = asked(1, 60, 50.0).spec;
    let order = Order { bourdon: "1".into(), spec, share: engine::Share { first_thread: 0, threads: 1 } };
    let message = |number, to: &str, body| {
        let (schema, run) = (MESSAGE_SCHEMA.to_owned(), run.clone());
        secret.seal(&Message { schema, run: run.clone(), from: run, to: to.to_owned(), number, body })
    };
    let call = message(1, crate::message::ALL, Body::Call);
    assert!(matches!(&node.heard(0, &call)[..], [NodeDoes::Send(Address::Run(_), _)]));
    let repeated = node.heard(0, &call);
    assert!(matches!(&repeated[..], [NodeDoes::Tell(NodeNews::Unheeded(Unheeded::Repeated, _))]), "{repeated:?}");
    let order = message(1, &session, Body::Order(Box::new(order)));
    let does = node.heard(0, &order);
    assert!(does.iter().any(|does| matches!(does, NodeDoes::Make(_))), "{does:?}");
    // Who calls for another load is told why it does not come.
    let other = next_name();
    let (schema, to) = (MESSAGE_SCHEMA.to_owned(), crate::message::ALL.to_owned());
    let call =
        secret.seal(&Message { schema, run: other.clone(), from: other.clone(), to, number: 1, body: Body::Call });
    let [NodeDoes::Send(Address::Run(to), answer)] = &node.heard(0, &call)[..] else { panic!() };
    let busy = Body::Refused(Refusal::Busy { run: run.clone() });
    assert!(*to == other && secret.open(answer).unwrap().body == busy);
    // The same order once more, and another commander's, while it is held.
    for bytes in [order.clone(), message(1, &session, Body::Stop)] {
        let does = node.heard(1, &bytes);
        assert!(matches!(&does[..], [NodeDoes::Tell(NodeNews::Unheeded(Unheeded::Repeated, _))]), "{does:?}");
    }
    assert!(node.tick(9 * NS_PER_S).iter().all(|does| matches!(does, NodeDoes::Send(Address::Run(_), _))));
    let does = node.tick(11 * NS_PER_S);
    assert!(matches!(&does[..], [NodeDoes::Tell(NodeNews::Deserted), NodeDoes::Stop, NodeDoes::Renew(_)]), "{does:?}");
    assert_ne!(node.session(), session);
    // What was said to it by its old name is not for it any more.
    let does = node.heard(12 * NS_PER_S, &order);
    assert!(matches!(&does[..], [NodeDoes::Tell(NodeNews::Unheeded(Unheeded::OtherRun, _))]), "{does:?}");
}

#[test]
fn a_server_of_messages_that_never_comes_back_ends_the_load_however_long_it_was_to_be() {
    let mut world = World::new(2, asked(2, 4, 50.0), 5);
    // Some hundred seconds, and nobody says so.
    world.asked.spec.load.extent = Extent::Requests { count: 10_000, within_ns: None };
    world.between.away = Some((WINDOW_BEGINS_NS + 3 * NS_PER_S, 10_000 * NS_PER_S));
    let (seen, _) = world.run();
    let made = made(&seen);
    assert!(made.whole_seconds.is_some_and(|seconds| seconds >= 2), "{:?}", made.whole_seconds);
    assert!(made.lost.iter().all(|lost| matches!(lost.why, WhyLost::Apart(for_s) if for_s > 119.0)), "{:?}", made.lost);
    // Before it begins there is nothing that could count: while connections are opened, for 30 ms, and while it is asked what time it is.
    for after_ns in [10 * MS, 35 * MS] {
        let mut early = World::new(2, asked(2, 4, 50.0), 5);
        early.between.away = Some((after_ns, 10_000 * NS_PER_S));
        let (seen, _) = early.run();
        assert!(seen.news.contains(&News::Ordered), "{after_ns}: {:?}", seen.news);
        assert!(
            matches!(seen.ended, Ended::Unmade(Unmade::Apart(for_s)) if for_s > 119.0),
            "{after_ns}: {:?}",
            seen.ended
        );
    }
}

#[test]
fn who_ends_a_load_does_not_wait_for_a_server_of_messages_that_is_away() {
    let mut world = World::new(2, asked(2, 30, 50.0), 5);
    world.between.away = Some((WINDOW_BEGINS_NS + 3 * NS_PER_S, 10_000 * NS_PER_S));
    world.stops_ns = Some(WINDOW_BEGINS_NS + 5 * NS_PER_S);
    let (seen, world) = world.run();
    assert!(made(&seen).whole_seconds.is_some_and(|seconds| seconds >= 2), "{:?}", seen.ended);
    // It lives on for 12 s after the end.
    let lasted_ns = world.now_ns - DAWN_NS - 12 * NS_PER_S;
    assert!(lasted_ns < WINDOW_BEGINS_NS + 12 * NS_PER_S, "{lasted_ns}");
}

#[test]
fn who_went_on_after_a_second_of_which_it_told_nothing_has_not_that_second() {
    let (_, home) = super::share(&asked(1, 4, 50.0).spec, 0);
    let mut member = Member::new("a".to_owned(), presence("host", 1_000), 0, 0);
    member.home = Some(home);
    assert_eq!([3, 4, 5].map(|seconds| member.has(seconds)), [false, true, true]);
}

#[test]
fn a_node_that_ends_when_all_that_it_brought_is_here_takes_nothing_away() {
    let mut world = World::new(3, asked(3, 4, 50.0), 1);
    world.leaves = Some(1);
    let (seen, _) = world.run();
    let made = made(&seen);
    assert!(made.lost.is_empty() && made.whole_seconds.is_none(), "{:?}", seen.news);
    assert_eq!(whole(made.shares.iter().map(|share| share.brought.clone())), on_one_clock(&seen.shares));
}

#[test]
fn what_is_never_delivered_is_not_waited_for_for_ever() {
    let mut world = World::new(3, asked(3, 4, 50.0), 1);
    world.keeps_back = Some(1);
    let (seen, _) = world.run();
    let made = made(&seen);
    assert_eq!(made.lost.iter().map(|lost| &lost.why).collect::<Vec<_>>(), [&WhyLost::Late], "{:?}", seen.news);
    assert_eq!(made.whole_seconds, Some(3), "the others were done, and it had told of three seconds");
}

#[test]
fn a_machine_that_was_paused_did_not_keep_time() {
    for (pause_ns, kept) in [(0, true), (1_000_000_000, false), (-3_000_000, false)] {
        let mut world = World::new(3, asked(3, 4, 50.0), 1);
        world.pauses = Some((1, pause_ns));
        let (seen, _) = world.run();
        let kept_time: Vec<bool> = made(&seen).shares.iter().map(|share| share.kept_time()).collect();
        assert_eq!(kept_time.iter().filter(|kept| !**kept).count(), usize::from(!kept), "{pause_ns}: {kept_time:?}");
    }
}

#[test]
fn what_a_dead_node_said_before_does_not_keep_it_alive() {
    let mut world = World::new(2, asked(2, 5, 30.0), 3);
    world.kill(1, WINDOW_BEGINS_NS + 1_500 * MS);
    // Whatever it said, of which nobody else has the key, comes again and again.
    world.echoes = true;
    let (seen, _) = world.run();
    let lost = &made(&seen).lost;
    assert!(matches!(lost[..], [Lost { why: WhyLost::Silent(for_s), .. }] if for_s < 4.0), "{lost:?}: {:?}", seen.news);
    assert!(unheeded(&seen.news).contains(&Unheeded::Repeated), "{:?}", seen.news);
}

/// What is said with 1 to 1,000 nodes, of a load of four seconds: what docs/SCALE.md says of it.
#[test]
fn simulation_of_what_a_thousand_nodes_have_to_say() {
    for nodes in [1, 10, 100, 1_000] {
        let (seen, world) = World::new(nodes, asked(nodes as u32, 4, 2.0), 4).run();
        assert_eq!(made(&seen).shares.len(), nodes);
        let [to_nodes, from_nodes, results] = world.carried;
        // Each node hears its order, 40 questions, and a word a second; and says as much.
        let each = |(messages, _): (u64, u64)| messages as f64 / nodes as f64;
        println!("{nodes}: {to_nodes:?} {from_nodes:?} {results:?}");
        // Many are asked what time it is at a time.
        let began_ns = seen.began_ns.iter().flatten().max().unwrap() - super::DAWN_NS;
        assert!(began_ns < 8 * NS_PER_S, "{began_ns} ns with {nodes}");
        assert!(each(to_nodes) < 40.0 + 5.0 + 60.0 && each(from_nodes) < 40.0 + 60.0 && each(results) <= 5.0);
    }
}
