//! Whether the two servers give the same answer, as far as its size says.

use model::ReplySizes;

use crate::pair::Pair;
use crate::records::Records;
use crate::statistics::mean;
use crate::thresholds::REPLY_SIZE;

impl Pair<'_> {
    /// Bytes of an ok reply of either, where they differ by more than a date or an id makes of them and by more than either
    /// server's launches among themselves; none where every body is compared.
    pub(super) fn reply_sizes(&self) -> Option<ReplySizes> {
        let [old, new] = [self.old, self.new].map(|(records, cell)| sizes(records, cell));
        let (old_bytes, new_bytes) = (mean(&old)?, mean(&new)?);
        let apart = (new_bytes / old_bytes).ln().abs();
        let is_steady = |sizes: &[f64]| spread(sizes) < apart;
        let differ = apart > REPLY_SIZE.ln_1p() && is_steady(&old) && is_steady(&new);
        differ.then(|| ReplySizes { conditions: self.place(), old_bytes, new_bytes })
    }
}

/// Bytes of an ok reply in each valid launch, heads included.
fn sizes(records: &Records, cell: usize) -> Vec<f64> {
    let load = &records.plan.cells[cell].load;
    if load.mix.requests().iter().all(|of| of.expect.body.is_some()) {
        return Vec::new();
    }
    let in_window = records.valid(cell).filter_map(|launch| Some(launch.measured()?.in_window));
    in_window
        .filter(|seen| seen.ok > 0 && seen.ok_bytes > 0)
        .map(|seen| seen.ok_bytes as f64 / seen.ok as f64)
        .collect()
}

/// From the smallest to the largest, as a logarithm.
fn spread(sizes: &[f64]) -> f64 {
    let (least, most) =
        sizes.iter().fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), size| (least.min(*size), most.max(*size)));
    (most / least).ln()
}
