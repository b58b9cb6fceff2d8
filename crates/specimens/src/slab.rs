//! The open connections.

use crate::conn::Conn;

/// Names a connection; never names another one that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) index: u32,
    pub(crate) serial: u64,
}

impl Ticket {
    /// As event data. The low half of the serial number is enough to tell events of the past from
    /// those of the present, which are never 2³² connections apart.
    pub(crate) fn token(self) -> u64 {
        self.serial << 32 | u64::from(self.index)
    }
}

/// Connections at fixed places.
#[derive(Default)]
pub(crate) struct Slab {
    places: Vec<Option<Conn>>,
    free: Vec<u32>,
}

impl Slab {
    /// Puts in the connection made for the place it gets; `serial` is its serial number.
    pub(crate) fn insert(&mut self, serial: u64, make: impl FnOnce(Ticket) -> Conn) -> &mut Conn {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            // The number of descriptors, and so of places, is far below 2³².
            (self.places.len() - 1) as u32
        });
        self.places[index as usize].insert(make(Ticket { index, serial }))
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Conn> {
        self.places.get(ticket.index as usize)?.as_ref().filter(|conn| conn.ticket == ticket)
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Conn> {
        self.places.get_mut(ticket.index as usize)?.as_mut().filter(|conn| conn.ticket == ticket)
    }

    /// The connection an event is about, unless it has been closed since.
    pub(crate) fn by_token(&mut self, token: u64) -> Option<&mut Conn> {
        let index = (token & u64::from(u32::MAX)) as usize;
        self.places.get_mut(index)?.as_mut().filter(|conn| conn.ticket.token() == token)
    }

    /// Takes the connection out.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Conn> {
        self.get(ticket)?;
        self.free.push(ticket.index);
        self.places[ticket.index as usize].take()
    }
}
