//! The books of a cell, over its valid launches.

use model::Accounting;

use super::Records;
use crate::asked::Asked;
use crate::failing::share_unanswered;
use crate::launch::Launch;
use crate::slices;
use crate::statistics::{Interval, share_interval};

/// Slices without a reply that launches of one server may have by chance: a machine that stood still when one began, in a launch or two.
const A_PAUSE_OR_TWO: usize = 2;

impl Records<'_> {
    /// The books of a cell's valid launches, all together.
    pub(crate) fn books(&self, cell: usize) -> Accounting {
        let mut books = Accounting::default();
        let measured = self.valid(cell).filter_map(|launch| launch.record.measurement.as_ref());
        measured.for_each(|measured| books.merge(&measured.accounting));
        books
    }

    /// Whether launches of a cell in slices gave no reply in several of these, stopped answering or served nothing, which others took the place
    /// of, alone: these may have ended before it came to that, or be loaded as it never comes to that.
    pub(crate) fn was_silent_before(&self, cell: usize) -> bool {
        let asked = Asked::from(&self.plan.cells[cell]);
        let is_silent = |launch: &Launch| {
            launch.measured().is_some_and(|load| share_unanswered(&asked, load, &launch.record.slices) >= 1.0)
        };
        let replaced = || self.replaced.iter().filter(|(of, _)| *of == cell).map(|(_, launch)| launch);
        let slices = replaced().map(|launch| slices::silent(&launch.record.slices)).sum::<usize>();
        slices > A_PAUSE_OR_TWO || replaced().any(is_silent)
    }

    /// The interval of the share of requests that failed, over a cell's valid launches.
    pub(crate) fn share(&self, cell: usize, confidence: f64) -> Option<Interval> {
        let found = || {
            let books = self.books(cell);
            share_interval(books.failures(), books.scheduled, confidence)
        };
        *self.together(cell).shares.borrow_mut().entry(confidence.to_bits()).or_insert_with(found)
    }
}
