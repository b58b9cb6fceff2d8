//! Random sequences of requests, against what the seed says will happen.

use proptest::prelude::*;

use super::*;
use crate::outcome::Outcomes;

/// Whether the connection can be used again, by the letter of HTTP: not with another reply waiting on it.
fn stays_open(action: Action, seen: &Seen) -> bool {
    !matches!(action, Action::RepeatedReply | Action::BodyAfterNoContent) && matches!(seen, Seen::Reply { .. })
}

/// What the client sees of an action.
fn visible(action: Action) -> Seen {
    let half_body = format!("{HEAD}Hello");
    match action {
        Action::Reply | Action::IdleClose | Action::RepeatedReply | Action::SplitReply => hello(),
        Action::WrongBody => reply(200, "xxxxxxxxxxx"),
        Action::ResetBeforeReply => Seen::Reset(String::new()),
        Action::CloseBeforeReply | Action::NoAnswer => Seen::Eof(String::new()),
        Action::ResetInReply => Seen::Reset(half_body),
        Action::CloseInReply => Seen::Eof(HEAD[..HEAD.len() / 2].to_owned()),
        Action::MalformedHead => Seen::Eof("HTTP/9.9 banana\r\n\r\n".to_owned()),
        Action::ShortBody => Seen::Eof(half_body),
        Action::NoContent | Action::BodyAfterNoContent => reply(204, ""),
        Action::Unavailable => reply(503, "Service Unavailable\n"),
    }
}

/// Sends `reuse.len()` requests one after the other, each on the connection of the one before if it
/// is open and `reuse` says so. Returns the expected log.
fn drive(server: &Server, settings: &Settings, reuse: &[bool]) -> Vec<(u64, Action)> {
    let mut outcomes = Outcomes::new(settings);
    let mut expected = Vec::new();
    let mut open: Option<Client> = None;
    let (mut serial, mut half_closed) = (0, false);
    for &reuse in reuse {
        let mut client = open.take().filter(|_| reuse).unwrap_or_else(|| {
            (serial, half_closed) = (serial + 1, false);
            Client::new(server)
        });
        let action = if half_closed { Action::CloseBeforeReply } else { outcomes.next() };
        client.send(&request("/rest/hello"));
        if action == Action::NoAnswer {
            client.finish();
        }
        let seen = client.seen();
        assert_eq!(seen, visible(action));
        if action == Action::IdleClose {
            expected.push((serial, Action::Reply));
            half_closed = true;
        }
        expected.push((serial, action));
        await_entries(server, expected.len());
        open = Some(client).filter(|_| stays_open(action, &seen));
    }
    expected
}

/// Kinds that log what they do.
fn logged() -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| !kind.has_contract()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_log_is_what_was_done(
        seed: u64, kind in proptest::sample::select(logged()), every in 1u64..4,
        reuse in proptest::collection::vec(proptest::bool::weighted(0.8), 1..60),
    ) {
        let settings = Settings { seed, every, handler_delay: Duration::ZERO, ..Settings::new(kind) };
        let server = run(settings.clone());
        let expected = drive(&server, &settings, &reuse);
        let log = server.stop();
        prop_assert_eq!(log.iter().filter(|entry| entry.action != Action::IdleClose).count(), reuse.len());
        prop_assert_eq!(plain(&log), expected);
    }
}

#[test]
fn the_same_seed_gives_the_same_sequence() {
    let settings = Settings { seed: 7, ..Settings::new(Kind::Mixed) };
    let logs = [(); 2].map(|()| {
        let server = run(settings.clone());
        drive(&server, &settings, &[true; 200]);
        plain(&server.stop())
    });
    assert_eq!(logs[0], logs[1]);
}
