//! The books of a cell, over its valid launches.

use model::Accounting;

use super::Records;
use crate::asked::Asked;
use crate::failing::share_unanswered;
use crate::launch::Launch;
use crate::statistics::{Interval, share_interval};

impl Records<'_> {
    /// The books of a cell's valid launches, all together.
    pub(crate) fn books(&self, cell: usize) -> Accounting {
        let mut books = Accounting::default();
        let measured = self.valid(cell).filter_map(|launch| launch.record.measurement.as_ref());
        measured.for_each(|measured| books.merge(&measured.accounting));
        books
    }

    /// Whether a launch of a cell in slices stopped answering, or served nothing, that others took the place of, alone: these may have ended
    /// before it came to that.
    pub(crate) fn was_silent_before(&self, cell: usize) -> bool {
        let asked = Asked::from(&self.plan.cells[cell]);
        let is_silent = |launch: &Launch| {
            launch.measured().is_some_and(|load| share_unanswered(&asked, load, &launch.record.slices) >= 1.0)
        };
        self.replaced.iter().any(|(of, launch)| *of == cell && is_silent(launch))
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
