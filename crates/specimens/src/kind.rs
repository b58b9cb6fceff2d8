//! The closed set of behaviours.

use std::fmt;

use crate::log::Action;

/// What a specimen does: the one defect it has, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No defect.
    Clean,
    /// One request in its delay at a time over the whole server.
    Serialised,
    /// A fixed number of requests in their delay at a time.
    Pool,
    /// The whole server stops once for a while.
    Stall,
    /// A body of the right length with the wrong bytes.
    WrongBody,
    /// RST in place of a reply.
    ResetBeforeReply,
    /// FIN in place of a reply.
    CloseBeforeReply,
    /// RST after the head and half the body.
    ResetInReply,
    /// FIN after half the head.
    CloseInReply,
    /// FIN right after a proper reply that promised to keep the connection.
    IdleClose,
    /// No reply, on a connection that stays open.
    NeverAnswers,
    /// A reply whose head is not HTTP.
    MalformedHead,
    /// FIN after half of the promised body.
    ShortBody,
    /// A 204 without a length, which is whole without one.
    NoContent,
    /// A 204 and then a body that it cannot have.
    BodyAfterNoContent,
    /// A proper 503.
    Unavailable,
    /// A proper reply and the same again, for which nobody asked.
    RepeatedReply,
    /// A proper reply in two writes, with Nagle's algorithm on.
    SplitReply,
    /// Every outcome, drawn at random from a seed.
    Mixed,
    /// The work of all requests, done together once nobody asks any more.
    Deferred,
    /// CPU used while nobody asks for anything.
    Restless,
    /// More work for each request after nobody asked for a while.
    SlowAfterIdle,
    /// FIN on connections that nobody uses.
    IdleTimeout,
    /// The handler delay for some requests, none for the others.
    LateReplies,
    /// Memory that is kept of each request.
    Leaking,
    /// Connections that clients closed and it does not.
    Unclosed,
    /// No defect, and every endpoint of targets/CONTRACT.md.
    Contract,
    /// The contract, but for `/hash`: the digest of the first nonce stands for all.
    CachedReply,
    /// The contract, but for the handler delay: skipped while another request is in flight.
    SkippedDelay,
    /// The contract, but for `/hash`: the file is hashed once, however often was asked.
    SkippedPasses,
    /// The contract, but for the Content-Type: everything is called HTML.
    WrongType,
}

impl Kind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Kind; 31] = [
        Kind::Clean,
        Kind::Serialised,
        Kind::Pool,
        Kind::Stall,
        Kind::WrongBody,
        Kind::ResetBeforeReply,
        Kind::CloseBeforeReply,
        Kind::ResetInReply,
        Kind::CloseInReply,
        Kind::IdleClose,
        Kind::NeverAnswers,
        Kind::MalformedHead,
        Kind::ShortBody,
        Kind::NoContent,
        Kind::BodyAfterNoContent,
        Kind::Unavailable,
        Kind::RepeatedReply,
        Kind::SplitReply,
        Kind::Mixed,
        Kind::Deferred,
        Kind::Restless,
        Kind::SlowAfterIdle,
        Kind::IdleTimeout,
        Kind::LateReplies,
        Kind::Leaking,
        Kind::Unclosed,
        Kind::Contract,
        Kind::CachedReply,
        Kind::SkippedDelay,
        Kind::SkippedPasses,
        Kind::WrongType,
    ];

    /// The kebab-case name, as a user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Clean => "clean",
            Kind::Serialised => "serialised",
            Kind::Pool => "pool",
            Kind::Stall => "stall",
            Kind::WrongBody => "wrong-body",
            Kind::ResetBeforeReply => "reset-before-reply",
            Kind::CloseBeforeReply => "close-before-reply",
            Kind::ResetInReply => "reset-in-reply",
            Kind::CloseInReply => "close-in-reply",
            Kind::IdleClose => "idle-close",
            Kind::NeverAnswers => "never-answers",
            Kind::MalformedHead => "malformed-head",
            Kind::ShortBody => "short-body",
            Kind::NoContent => "no-content",
            Kind::BodyAfterNoContent => "body-after-no-content",
            Kind::Unavailable => "unavailable",
            Kind::RepeatedReply => "repeated-reply",
            Kind::SplitReply => "split-reply",
            Kind::Mixed => "mixed",
            Kind::Deferred => "deferred",
            Kind::Restless => "restless",
            Kind::SlowAfterIdle => "slow-after-idle",
            Kind::IdleTimeout => "idle-timeout",
            Kind::LateReplies => "late-replies",
            Kind::Leaking => "leaking",
            Kind::Unclosed => "unclosed",
            Kind::Contract => "contract",
            Kind::CachedReply => "cached-reply",
            Kind::SkippedDelay => "skipped-delay",
            Kind::SkippedPasses => "skipped-passes",
            Kind::WrongType => "wrong-type",
        }
    }

    /// The kind with exactly this [`name`](Kind::name).
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it does, in one line for a listing.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Clean => "answers every request; unlimited concurrency",
            Kind::Serialised => "one request in its HANDLER_DELAY at a time, the others queue",
            Kind::Pool => "WORKERS requests in their HANDLER_DELAY at a time, the others queue",
            Kind::Stall => "stops altogether for STALL_FOR, once, STALL_AT after the first request",
            Kind::WrongBody => "every EVERY-th reply has the right length and the wrong bytes",
            Kind::ResetBeforeReply => "every EVERY-th request is answered with a TCP reset",
            Kind::CloseBeforeReply => "every EVERY-th request is answered with an orderly close",
            Kind::ResetInReply => "every EVERY-th reply is reset after half its body",
            Kind::CloseInReply => "every EVERY-th reply is closed after half its head",
            Kind::IdleClose => "closes the connection right after every EVERY-th reply, unannounced",
            Kind::NeverAnswers => "every EVERY-th request gets no reply on a connection that stays open",
            Kind::MalformedHead => "every EVERY-th reply has a head that is not HTTP",
            Kind::ShortBody => "every EVERY-th reply closes after half of the promised body",
            Kind::NoContent => "every EVERY-th reply is a 204 without Content-Length, as it may be",
            Kind::BodyAfterNoContent => "every EVERY-th reply is a 204 with a body behind it",
            Kind::Unavailable => "every EVERY-th reply is a 503",
            Kind::RepeatedReply => "every EVERY-th reply is sent twice",
            Kind::SplitReply => "every EVERY-th reply is sent in two writes, with Nagle's algorithm on",
            Kind::Mixed => "draws each request's outcome from SEED: 60 % replies, 4 % of each defect",
            Kind::Deferred => "answers at once and does the WORK of all requests IDLE_FOR after the last",
            Kind::Restless => "computes for a fifth of the time while nobody asks for anything",
            Kind::SlowAfterIdle => "does three times the WORK for IDLE_FOR after nobody asked for that long",
            Kind::IdleTimeout => "closes connections that nobody used for IDLE_FOR",
            Kind::LateReplies => "every EVERY-th request has the HANDLER_DELAY, the others have none",
            Kind::Leaking => "keeps KEEP bytes of each request, of the first KEEP_OF ones (0: of all)",
            Kind::Unclosed => "never closes every EVERY-th connection that its client has closed",
            Kind::Contract => "keeps the contract of the targets",
            Kind::CachedReply => "keeps the contract but for /hash: the first digest for each n serves all nonces",
            Kind::SkippedDelay => "keeps the contract, but waits only for a request that is alone",
            Kind::SkippedPasses => "keeps the contract but for /hash: one pass over the file, whatever n says",
            Kind::WrongType => "keeps the contract, but calls every reply text/html",
        }
    }

    /// Whether it has the endpoints of targets/CONTRACT.md, with their own delays.
    pub fn has_contract(self) -> bool {
        matches!(self, Kind::Contract | Kind::CachedReply | Kind::SkippedDelay | Kind::SkippedPasses | Kind::WrongType)
    }

    /// What every n-th request meets; `None` where the defect is not one of single requests.
    pub(crate) fn defect(self) -> Option<Action> {
        Some(match self {
            Kind::Clean | Kind::Serialised | Kind::Pool | Kind::Stall | Kind::Mixed => return None,
            Kind::Deferred | Kind::Restless | Kind::SlowAfterIdle => return None,
            Kind::IdleTimeout | Kind::LateReplies | Kind::Leaking | Kind::Unclosed => return None,
            Kind::Contract | Kind::CachedReply | Kind::SkippedDelay | Kind::SkippedPasses | Kind::WrongType => {
                return None;
            }
            Kind::WrongBody => Action::WrongBody,
            Kind::ResetBeforeReply => Action::ResetBeforeReply,
            Kind::CloseBeforeReply => Action::CloseBeforeReply,
            Kind::ResetInReply => Action::ResetInReply,
            Kind::CloseInReply => Action::CloseInReply,
            Kind::IdleClose => Action::IdleClose,
            Kind::NeverAnswers => Action::NoAnswer,
            Kind::MalformedHead => Action::MalformedHead,
            Kind::ShortBody => Action::ShortBody,
            Kind::NoContent => Action::NoContent,
            Kind::BodyAfterNoContent => Action::BodyAfterNoContent,
            Kind::Unavailable => Action::Unavailable,
            Kind::RepeatedReply => Action::RepeatedReply,
            Kind::SplitReply => Action::SplitReply,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
            assert!(!kind.about().is_empty());
        }
        assert_eq!(Kind::from_name("Clean"), None);
    }

    #[test]
    fn defects_carry_the_name_of_their_kind() {
        for kind in Kind::ALL {
            if let Some(action) = kind.defect()
                && kind != Kind::NeverAnswers
            {
                assert_eq!(action.name(), kind.name());
            }
        }
    }
}
