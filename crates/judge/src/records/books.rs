//! The books of a cell, over its valid launches.

use model::Accounting;

use super::Records;
use crate::statistics::{Interval, share_interval};

impl Records<'_> {
    /// The books of a cell's valid launches, all together.
    pub(crate) fn books(&self, cell: usize) -> Accounting {
        let mut books = Accounting::default();
        let measured = self.valid(cell).filter_map(|launch| launch.record.measurement.as_ref());
        measured.for_each(|measured| books.merge(&measured.accounting));
        books
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
