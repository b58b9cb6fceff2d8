//! `rotation` in `[trials]`: whether loads go round among the targets that share their conditions, and how.

use model::{LONGEST_SLICE_NS, NS_PER_S, Rotation, format_duration};

use super::diagnostic::Read;
use super::section::Item;

/// How loads go round unless somebody asks for something else. A slice is long enough for hundreds of replies, and so short that
/// the machine is the same for all of a round.
pub(crate) const ROTATION: Rotation = Rotation { slice_ns: NS_PER_S / 4, lead_in_ns: NS_PER_S / 50, rounds: None };

/// `false`, `true`, or `{ slice, lead_in }`; `has_ladder` is whether no load can go round at all.
pub(super) fn rotation(item: Item, has_ladder: bool) -> Read<Option<Rotation>> {
    if !item.is_table() {
        let help = "write `rotation = false`, or `rotation = { slice = \"250ms\" }`";
        return Ok(item.flag().map_err(|fault| fault.help(help))?.then_some(ROTATION));
    }
    if has_ladder {
        let fault = item.fault("`rotation` has no effect: the loads of a ladder follow each other on one launch");
        return Err(fault.help("leave out `rotation` or `ladder`"));
    }
    let section = item.section("`rotation`")?;
    section.only(&["slice", "lead_in"])?;
    let ns = |key: &str, default_ns: u64| Ok(section.read(key, short)?.unwrap_or(default_ns));
    Ok(Some(Rotation {
        slice_ns: ns("slice", ROTATION.slice_ns)?,
        lead_in_ns: ns("lead_in", ROTATION.lead_in_ns)?,
        ..ROTATION
    }))
}

/// A part of a turn, in nanoseconds.
fn short(item: Item) -> Read<u64> {
    let ns = item.positive_duration()?;
    let longest = format_duration(LONGEST_SLICE_NS);
    let fault = || item.fault(format!("`{}` is {longest} at most", item.name()));
    if ns > LONGEST_SLICE_NS { Err(fault().help("the machine is to be the same in all of a round")) } else { Ok(ns) }
}
