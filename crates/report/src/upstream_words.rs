//! Round trips to what is behind a server, in sentences.

use model::{ServerFault, Tried};

use crate::format::{decimals, duration_us};

/// Connections a request from which on they are told: below, they were opened once.
const OPENED: f64 = 0.5;

/// What a client feels of them.
pub(crate) fn felt(service_s: f64, slowed_s: f64, delay_s: f64) -> String {
    let [service, slowed, delay] = [service_s, slowed_s, delay_s].map(|s| duration_us(s * 1e6));
    format!(
        "a request takes {service}, and {slowed} where each round trip takes {delay} longer, as to another data centre"
    )
}

/// What an experiment showed of them.
pub(crate) fn figure(row: &Tried) -> String {
    row.service_us.map_or("nothing".to_owned(), |us| format!("{} a reply", duration_us(us)))
}

/// How often the server asks in all.
pub(crate) fn asked(fault: &ServerFault) -> Option<String> {
    let ServerFault::RoundTrips { asked: Some(asked), opened, .. } = fault else { return None };
    let opened = opened.filter(|opened| *opened >= OPENED);
    let opened = opened.map_or(String::new(), |opened| format!(", on {} new connections", decimals(opened, 1)));
    Some(format!("it asked {} times a request in all{opened}", decimals(*asked, 1)))
}
