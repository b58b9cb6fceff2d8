//! What a target does when it is launched in other ways than the usual one.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::{Backend, DIGEST, RENDERING, Target, WORK, WorkKind};
use observe::ProcSource;

use super::{Check, DELAY, Launch, RENDERED, digests, kinds, rendered};
use crate::backend::{BACKEND, RunningBackend};
use crate::furnish::data;
use crate::launch::Unlaunched;
use crate::tls::Place;

/// That nothing of an admin server runs where none is asked for: the target listens on its port and nowhere else, for this machine
/// alone; and that with an address it listens there.
pub(super) fn where_it_listens(launch: Launch<'_>) -> Result<[Check; 2], Unlaunched> {
    let mut check = |address: Option<&str>, name: &str, is_right: fn(IpAddr) -> bool| {
        let settings = address.map(|address| ("ADDRESS".to_owned(), address.to_owned()));
        let running = launch(&settings.into_iter().collect(), false)?;
        let of_load = running.address().port();
        let root_pid = running.family().map_or(0, |family| family.root_pid);
        let all = observe::listening(root_pid, &ProcSource::default());
        running.stop();
        let wrong = all.iter().find(|at| at.port() != of_load || !is_right(at.ip().to_canonical()));
        let breach = match wrong {
            Some(at) => Some(format!("it listens on {at}").into()),
            None => all.is_empty().then(|| "nobody sees where it listens".to_owned().into()),
        };
        Ok(Check { endpoint: "/", name: name.to_owned(), breach })
    };
    let usual =
        check(None, "without ADDRESS and ADMIN_PORT it listens on its port of 127.0.0.1 and nowhere else", |ip| {
            ip.is_loopback()
        })?;
    let any =
        check(Some("0.0.0.0"), "with ADDRESS=0.0.0.0 it listens for other machines, too", |ip| ip.is_unspecified())?;
    Ok([usual, any])
}

/// What a target can be asked for in several ways, with each value of the setting that says which: JSON by its framework, digests by
/// another code, one kind of work or another.
pub(super) fn other_ways(target: &Target, launch: Launch<'_>, seed: u64) -> Result<Vec<Check>, Unlaunched> {
    let mut checks = Vec::new();
    for name in [RENDERING, DIGEST, WORK] {
        let Some(setting) = target.settings.get(name) else { continue };
        // What is there by default was asked for before, but for the work.
        for value in setting.values.iter().filter(|value| name == WORK || **value != setting.default) {
            let mut settings = BTreeMap::from([(setting.env.clone(), value.clone())]);
            let kind = WorkKind::from_id(value).filter(|_| name == WORK);
            let backend = (kind == Some(WorkKind::Http)).then(|| RunningBackend::start(Backend::default(), 1, &[]));
            let backend = backend.transpose().map_err(|error| Unlaunched::Prevented(error.to_string()))?;
            settings.extend(backend.as_ref().map(|backend| (BACKEND.to_owned(), backend.url())));
            if kind.is_some() {
                settings.insert("HANDLER_DELAY".to_owned(), format!("{}ms", DELAY.as_millis()));
            }
            let running = launch(&settings, true)?;
            let place = &Place::new(running.address(), running.tls())
                .map_err(|error| Unlaunched::Prevented(error.to_string()))?;
            let tried = match name {
                RENDERING => RENDERED.map(|rendered| by_the_framework(place, rendered)).into(),
                DIGEST => digests::digests(place, &data(), seed),
                _ => kind.map_or(Vec::new(), |kind| kinds::kind(place, kind)),
            };
            let with = |check: Check| Check { name: format!("{} ({}={value})", check.name, setting.env), ..check };
            checks.extend(tried.into_iter().map(with));
            running.stop();
        }
    }
    Ok(checks)
}

fn by_the_framework(place: &Place, (endpoint, path, body): (&'static str, &str, &str)) -> Check {
    let name = format!("GET {path} gives {body:?} as the framework makes it");
    Check { endpoint, name, breach: rendered(place, path, body) }
}
