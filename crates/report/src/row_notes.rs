//! What stands below the rows of a group, a sentence for each row that has something to say.

use model::Factor;

use crate::cell_words::estimate;
use crate::conditions::{conditions, without};
use crate::format::{counted, duration_us, thousands};
use crate::profile_words::profile;
use crate::rows::{Group, Row};
use crate::suspicion_words::suspicion_words;

impl Row<'_> {
    /// Which row it is: its target, or else its conditions.
    fn known_as(&self) -> String {
        if self.conditions.0.is_empty() { self.name.join(", ") } else { conditions(&self.conditions) }
    }
}

impl Group<'_> {
    /// All of it.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let of_figures = self.suspicions().chain(self.handshakes()).chain(self.beside());
        of_figures.chain(self.backends()).chain(self.profiles())
    }

    /// What each row is consistent with.
    fn suspicions(&self) -> impl Iterator<Item = String> {
        let of = |row: &'_ Row<'_>| -> Vec<String> {
            let words = |suspicion| format!("{}: {}", row.known_as(), suspicion_words(suspicion));
            row.cell.suspicions.iter().map(words).collect()
        };
        self.rows.iter().flat_map(of)
    }

    fn profiles(&self) -> impl Iterator<Item = String> {
        // That it is a profile goes without saying.
        self.rows
            .iter()
            .filter_map(|row| profile(row.cell, &conditions(&without(&row.conditions, &[Factor::Profile.id()]))))
    }

    /// The handshakes of each row whose connections are made under load over TLS.
    fn handshakes(&self) -> impl Iterator<Item = String> {
        self.rows.iter().filter_map(|row| {
            let seen = row.cell.handshakes.as_ref()?;
            let name = row.known_as();
            let p50 = estimate(&seen.p50_us, duration_us);
            let failed = if seen.failed > 0 { format!(", {} failed", thousands(seen.failed)) } else { String::new() };
            let (count, resumed) = (counted(seen.count, "TLS handshake", "TLS handshakes"), thousands(seen.resumed));
            Some(format!("{name}: {count}, {resumed} of them resumed{failed}; half took {p50} at most"))
        })
    }

    /// What the load beside each row got, where there was one.
    fn beside(&self) -> impl Iterator<Item = String> {
        self.rows.iter().filter_map(|row| {
            let seen = row.cell.beside.as_ref()?;
            let name = row.known_as();
            let (ok, scheduled) = (thousands(seen.ok), counted(seen.scheduled, "request", "requests"));
            let p50 = match seen.p50_us.estimate {
                Some(_) => format!("; half took {} at most", estimate(&seen.p50_us, duration_us)),
                None => String::new(),
            };
            Some(format!("{name}: beside it {}: {ok} of {scheduled} were answered right{p50}", seen.asked))
        })
    }

    /// What the server did that the handlers of each row ask, where there was one.
    fn backends(&self) -> impl Iterator<Item = String> {
        self.rows.iter().filter_map(|row| {
            let seen = row.cell.backend.as_ref()?;
            let name = row.name.join(" · ");
            let at_once = counted(seen.at_once_max.into(), "request", "requests");
            let open = counted(seen.connections_max.into(), "connection", "connections");
            let refused = match seen.refused {
                0 => String::new(),
                refused => format!(", and refused {}", thousands(refused)),
            };
            let (replies, opened) = (thousands(seen.replies), thousands(seen.opened));
            Some(format!(
                "{name}: its backend had {open} at most, served {at_once} at once, {replies} in all over {opened} connections{refused}"
            ))
        })
    }
}
