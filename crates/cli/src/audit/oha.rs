use model::{AuditModel, AuditSource, Published};
use serde_json::Value;

use super::add_sorted_quantiles;
use super::hey::Tally;
use super::number::{exact, quantile};

/// The JSON of oha, times in seconds.
pub(super) fn read(document: &Value) -> Published {
    let mut row = Published::new(AuditSource::Oha, AuditModel::Closed);
    let summary = &document["summary"];
    let time_us = |value: &Value| exact(value).map(|s| s.scaled(1e6));
    row.duration_s = exact(&summary["total"]);
    row.rate_per_s = exact(&summary["requestsPerSec"]);
    row.bytes = exact(&summary["totalData"]);
    row.bytes_per_s = exact(&summary["sizePerSec"]);
    row.latency_us.mean = time_us(&summary["average"]);
    row.latency_us.min = time_us(&summary["fastest"]);
    row.latency_us.max = time_us(&summary["slowest"]);
    let quantiles = document["latencyPercentiles"].as_object().into_iter().flatten();
    add_sorted_quantiles(&mut row, quantiles.map(|(name, value)| (quantile(name), time_us(value))));
    let mut tally = Tally::default();
    let counts = |name: &str| document[name].as_object().into_iter().flatten();
    counts("statusCodeDistribution").for_each(|(status, n)| tally.add_status(status, n.as_u64().unwrap_or(0)));
    counts("errorDistribution").for_each(|(_, n)| tally.add_errors(n.as_u64().unwrap_or(0)));
    tally.enter(&mut row);
    row
}
