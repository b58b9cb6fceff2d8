//! What servers are asked, in words.

use model::{CellAnalysis, CellLoad, RequestLine};

use crate::format::{counted, number};
use crate::plain;

/// What all of these are asked and how much, as far as that is the same: `GET /rest/hello, 6,000 requests/s over 100 connections`.
pub(crate) fn load<'a>(cells: impl Iterator<Item = &'a CellAnalysis>) -> Option<String> {
    let loads: Vec<&CellLoad> = cells.map(|cell| cell.load.as_ref()).collect::<Option<_>>()?;
    let first = *loads.first()?;
    let what = match &first.requests[..] {
        _ if loads.iter().any(|load| load.requests != first.requests) => None,
        [] => None,
        [one] => Some(line(one)),
        [one, others @ ..] => {
            Some(format!("{} and {}", line(one), counted(others.len() as u64, "other request", "other requests")))
        }
    };
    let is_as_first = |load: &&CellLoad| load.connections == first.connections && load.rate_per_s == first.rate_per_s;
    let connections = counted(first.connections.into(), "connection", "connections");
    let how = loads.iter().all(is_as_first).then(|| match first.rate_per_s {
        Some(rate) => format!("{} requests/s over {connections}", number(rate)),
        None => format!("{connections}, as fast as they are answered"),
    });
    let parts: Vec<String> = what.into_iter().chain(how).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn line(RequestLine { method, path }: &RequestLine) -> String {
    plain::cell(&format!("{method} {path}"))
}
