//! The server that a target's handlers ask, from the factors that say what it is like.

use model::{Backend, WorkKind};

use super::diagnostic::{Fault, Read, Span};
use super::factor::FactorKind;
use super::roster::{Entrant, Origin};
use super::value::{Placed, Value};

/// What the factors of a cell say of it.
#[derive(Debug, Default)]
pub(super) struct Asked {
    delay: Option<(u64, Span)>,
    workers: Option<(u32, Span)>,
    refuses: Option<(bool, Span)>,
}

impl Asked {
    /// Takes a level of one of its factors.
    pub(super) fn take(&mut self, kind: FactorKind, placed: &Placed) {
        let span = || placed.span.clone();
        match (kind, &placed.value) {
            (FactorKind::BackendDelay, Value::DurationNs(ns)) => self.delay = Some((*ns, span())),
            (FactorKind::BackendWorkers, Value::Whole(count)) => {
                self.workers = Some((u32::try_from(*count).unwrap_or(u32::MAX), span()));
            }
            (FactorKind::BackendRefuses, Value::Flag(refuses)) => self.refuses = Some((*refuses, span())),
            _ => {}
        }
    }

    /// The backend of a cell whose target does this work; none where it has none.
    pub(super) fn backend(self, entrant: &Entrant, work: Option<&Placed>) -> Read<Option<Backend>> {
        let http =
            |value: &Value| matches!(value, Value::Text(work) if WorkKind::from_id(work) == Some(WorkKind::Http));
        let asks = work.filter(|work| http(&work.value) && entrant.origin == Origin::Zoo);
        let Some((delay_ns, span)) = self.delay else {
            let alone = self.workers.map(|(_, span)| ("backend_workers", span));
            let alone = alone.or(self.refuses.map(|(_, span)| ("backend_refuses", span)));
            return match (alone, asks) {
                (Some((name, span)), _) => Err(Fault::new(span, format!("`{name}` is of no backend"))
                    .help("add how long it takes for each reply: `backend_delay = \"50ms\"`")),
                (None, Some(work)) => Err(Fault::new(work.span.clone(), "this work asks a server, and there is none")
                    .help("add how long that takes for each reply: `backend_delay = \"50ms\"`")),
                (None, None) => Ok(None),
            };
        };
        if asks.is_none() && entrant.origin == Origin::Zoo {
            let message = format!("`{}` asks no backend", entrant.target.name);
            let cure = "write `work = \"http\"` beside it, with targets whose names end in -work";
            return Err(Fault::new(span, message).help(cure));
        }
        let (workers, refuses) =
            (self.workers.map(|(count, _)| count), self.refuses.as_ref().is_some_and(|(refuses, _)| *refuses));
        match self.refuses {
            Some((true, span)) if workers.is_none() => Err(Fault::new(span, "a backend without limit refuses nobody")
                .help("add how many requests it serves at once: `backend_workers = 10`")),
            _ => Ok(Some(Backend { delay_ns, workers, refuses })),
        }
    }
}
