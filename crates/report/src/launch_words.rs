//! Why targets were not loaded, or not to the end: how launches fail, what keeps them waiting, and how targets end.

use std::net::{Ipv6Addr, SocketAddr};

use model::{
    EndedWhen, Hint, Instead, NeedsShell, NotReady, NotStarted, ProcessEnd, TargetEnd, TlsFault, Waiting, WhyFailed,
    format_duration,
};

/// What there is to do about a path that answers and does not say that the server is ready.
const ANOTHER_PATH: &str = "--path, or ready = \"/…\" in the file, or --ready, asks for another path; if that is the right reply, ask for it: \
                            expect_status, or --expect-status";

/// Why a target was not loaded, or not to the end.
pub fn failed_words(why: &WhyFailed) -> String {
    match why {
        WhyFailed::Text(text) => text.clone(),
        WhyFailed::NotStarted(why) => not_started(why),
        WhyFailed::NotReady(why) => not_ready(why),
        WhyFailed::Ended(end) => ended(end),
        WhyFailed::NotAgain(why) => not_again(why),
    }
}

/// What keeps a launch waiting.
pub fn waiting_words(why: &Waiting) -> String {
    match why {
        Waiting::Again => {
            "its reaper was killed before it was ready, which says nothing about it; it is launched again".to_owned()
        }
        Waiting::For { seen, within_ns } => {
            let cure = of_status(seen).unwrap_or("ready_within");
            format!("{}; it has {} to change that ({cure})", instead(seen), format_duration(*within_ns))
        }
        Waiting::Said(text) => text.clone(),
    }
}

/// What to do about a status that says that it is not ready.
fn of_status(seen: &Instead) -> Option<&'static str> {
    match seen {
        Instead::Status { status: 401 | 403, .. } => Some(
            "give the header that it asks for: -H, or `headers` in an experiment; --ready, or `ready`, asks for another \
             path",
        ),
        Instead::Status { .. } => Some(ANOTHER_PATH),
        _ => None,
    }
}

pub(crate) fn not_started(NotStarted { error, hints }: &NotStarted) -> String {
    format!("{error}{}", behind(hints))
}

pub(crate) fn not_ready(NotReady { seen, within_ns, hints }: &NotReady) -> String {
    let within = within_ns.map_or(String::new(), |ns| format!("it was not ready within {}: ", format_duration(ns)));
    let cure = match seen {
        Instead::Status { .. } => of_status(seen).map_or(String::new(), |cure| format!("; {cure}")),
        Instead::Failed { fault: Some(TlsFault::NotTls), .. } => {
            "; the server does not speak TLS: leave out --tls, --ca or --insecure (`tls` in an experiment), begin its URL \
             with http://, or have it serve TLS"
                .to_owned()
        }
        Instead::Failed { fault: Some(TlsFault::Untrusted), .. } => {
            "; name the file of its authority, or of the certificate itself, with --ca FILE (`tls` in an experiment), or check \
             none with --insecure"
                .to_owned()
        }
        Instead::Failed { fault: Some(TlsFault::OtherName), .. } => {
            "; use a name that is in the certificate, or check none with --insecure".to_owned()
        }
        Instead::Silent | Instead::NoReply { .. } | Instead::Failed { .. } | Instead::Elsewhere { .. } => String::new(),
    };
    format!("{within}{}{cure}{}", instead(seen), behind(hints))
}

pub(crate) fn not_again(why: &WhyFailed) -> String {
    format!("not launched again: {}", failed_words(why))
}

/// How a target ended, with what may have made it, or its command do so.
pub(crate) fn ended(TargetEnd { how, when, hints }: &TargetEnd) -> String {
    let ended = match when {
        EndedWhen::BeforeReady => format!("it {how} before it was ready"),
        EndedWhen::BeforeLoad => format!("it {how} before this load"),
        EndedWhen::BetweenSlices => format!("it {how} between its slices"),
        EndedWhen::UnderLoad => format!("it {how} under load"),
    };
    let meant = match (how, when) {
        (ProcessEnd::Exited(0), EndedWhen::BeforeReady) => {
            ", as a server does that goes into the background; start it so that it stays in the foreground"
        }
        (ProcessEnd::Killed { signal: 9, .. }, _) => {
            "; somebody killed it, or the kernel did because memory ran out (dmesg shows whether it was the kernel)"
        }
        _ => "",
    };
    format!("{ended}{meant}{}", behind(hints))
}

/// What a target does instead of answering as it should.
fn instead(seen: &Instead) -> String {
    match seen {
        Instead::Silent => "it does not listen".to_owned(),
        Instead::Status { path, status } => format!("{path} answers with status {status}"),
        Instead::NoReply { path, within_ns } => {
            format!("{path}: no whole reply within {}", format_duration(*within_ns))
        }
        Instead::Failed { path, error, fault: _ } => format!("{path}: {error}"),
        Instead::Elsewhere { at, port, stranger } => {
            let another = if *stranger { "another program answers there; " } else { "" };
            format!("{another}{}", elsewhere(at, *port))
        }
    }
}

/// Of a target that listens on these addresses, and not on 127.0.0.1 with its port.
fn elsewhere(at: &[SocketAddr], port: u16) -> String {
    let addresses = at.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(" and ");
    if at.contains(&SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
        return format!(
            "it listens on {addresses} only, which is IPv6, and bourdon asks at 127.0.0.1:{port}; have it listen on \
             127.0.0.1, or on all addresses (`localhost` may mean [::1] alone)"
        );
    }
    let wanted = if at.iter().any(|at| at.port() == port) { "127.0.0.1:" } else { "$PORT = " };
    format!("it listens on {addresses}, not on {wanted}{port}")
}

/// Hints, behind what they are about.
fn behind(hints: &[Hint]) -> String {
    hints.iter().map(|hint| format!("; {}", hint_words(hint))).collect()
}

fn hint_words(hint: &Hint) -> String {
    match hint {
        Hint::Shell(needs @ NeedsShell::Word(_)) => format!("{needs}: sh -c '…'"),
        Hint::Shell(needs @ NeedsShell::Variables { .. }) => needs.to_string(),
        Hint::NoPort => "its command does not name $PORT, which is the port to listen on: name it, unless the server \
                         reads PORT from its environment"
            .to_owned(),
        Hint::NoCertificate => "$TLS_CERT and $TLS_KEY are set where it is loaded over TLS with a certificate of \
                                bourdon's alone: compare --tls, or `tls = true` in its [[target]] and in [load]"
            .to_owned(),
        Hint::Beside(others) => {
            let ran = if *others == 1 { "another server ran" } else { "other servers ran" };
            format!(
                "{ran} at the same time: if they share a port, a lock or a pid file, launch each alone with --no-rotation"
            )
        }
        Hint::Said(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_target_listens_instead_is_said_with_what_to_do() {
        let said = |at: &[&str]| elsewhere(&at.iter().map(|at| at.parse().unwrap()).collect::<Vec<_>>(), 80);
        assert_eq!(
            said(&["127.0.0.1:81", "0.0.0.0:82"]),
            "it listens on 127.0.0.1:81 and 0.0.0.0:82, not on $PORT = 80"
        );
        assert_eq!(said(&["10.0.0.1:80"]), "it listens on 10.0.0.1:80, not on 127.0.0.1:80");
        let six = said(&["[::1]:80"]);
        assert!(
            six.starts_with("it listens on [::1]:80 only, which is IPv6, and bourdon asks at 127.0.0.1:80; "),
            "{six}"
        );
        assert!(six.contains("have it listen on 127.0.0.1"), "{six}");
    }

    #[test]
    fn who_is_not_ready_is_said_with_what_waiting_and_its_command_have_to_do_with_it() {
        let path = || "/ping".to_owned();
        let not_tls = Instead::Failed { path: path(), error: "not TLS".to_owned(), fault: Some(TlsFault::NotTls) };
        let refused = Instead::Failed { path: path(), error: "refused".to_owned(), fault: None };
        let said = |seen, within_ns, hints| failed_words(&NotReady { seen, within_ns, hints }.into());
        let shell = Hint::Shell(NeedsShell::Word("&&".to_owned()));
        assert_eq!(
            said(refused, Some(2_000_000_000), vec![shell, Hint::Said("so".to_owned())]),
            "it was not ready within 2s: /ping: refused; it runs without a shell, and `&&` needs one: sh -c '…'; so"
        );
        let plain = said(not_tls, None, vec![]);
        assert!(plain.starts_with("/ping: not TLS; the server does not speak TLS: leave out --tls"), "{plain}");
        let late = said(Instead::NoReply { path: path(), within_ns: 1_500_000_000 }, Some(3_000_000_000), vec![]);
        assert_eq!(late, "it was not ready within 3s: /ping: no whole reply within 1500ms");
        let busy = Instead::Status { path: path(), status: 503 };
        assert_eq!(
            waiting_words(&Waiting::For { seen: busy, within_ns: 60_000_000_000 }),
            format!("/ping answers with status 503; it has 60s to change that ({ANOTHER_PATH})")
        );
        let refused = |status| said(Instead::Status { path: path(), status }, None, vec![]);
        assert!(refused(401).contains("; give the header that it asks for: -H"), "{}", refused(401));
        assert_eq!(refused(404), format!("/ping answers with status 404; {ANOTHER_PATH}"));
    }
}
