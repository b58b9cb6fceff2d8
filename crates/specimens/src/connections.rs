//! The open connections.

use slab::Slab;

use crate::conn::Conn;
use crate::ticket::Ticket;

/// Connections at fixed places.
#[derive(Default)]
pub(crate) struct Connections(Slab<Conn>);

impl Connections {
    /// Puts in the connection made for the place it gets; `serial` is its serial number.
    pub(crate) fn insert(&mut self, serial: u64, make: impl FnOnce(Ticket) -> Conn) -> &mut Conn {
        let place = self.0.vacant_entry();
        // The number of descriptors, and so of places, is far below 2³².
        let index = place.key() as u32;
        place.insert(make(Ticket { index, serial }))
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Conn> {
        self.0.get(ticket.index as usize).filter(|conn| conn.ticket == ticket)
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Conn> {
        self.0.get_mut(ticket.index as usize).filter(|conn| conn.ticket == ticket)
    }

    /// The connection an event is about, unless it has been closed since.
    pub(crate) fn by_token(&mut self, token: u64) -> Option<&mut Conn> {
        let index = (token & u64::from(u32::MAX)) as usize;
        self.0.get_mut(index).filter(|conn| conn.ticket.token() == token)
    }

    /// The connections, in the order of their places.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Conn> {
        self.0.iter().map(|(_, conn)| conn)
    }

    /// Takes the connection out.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Conn> {
        self.get(ticket)?;
        self.0.try_remove(ticket.index as usize)
    }
}
