use serde::{Deserialize, Serialize};

/// Declares a closed enum whose variants have kebab-case ids, used as keys in every output.
macro_rules! kinds {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $id:literal $(| $old:literal)*,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $id $(, alias = $old)*)] $variant,)* }

        impl $name {
            /// Every variant, in the order in which they are printed.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The id used in JSON and in the documentation.
            pub const fn id(self) -> &'static str {
                match self { $($name::$variant => $id,)* }
            }

            /// The variant of that id.
            pub fn from_id(id: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.id() == id)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }
    };
}
pub(crate) use kinds;

kinds! {
    /// Why a scheduled request was never sent: the kernel took not even its first byte.
    NotSent {
        /// The peer refused the connection.
        Refused = "refused",
        /// The kernel gave up connecting.
        ConnectTimedOut = "connect-timed-out",
        /// The connection failed in another way (unreachable, reset while connecting).
        ConnectFailed = "connect-failed",
        /// The peers could not agree on TLS, or the certificate was refused.
        HandshakeFailed = "handshake-failed",
        /// No local port was free.
        OutOfPorts = "out-of-ports",
        /// No file descriptor was free.
        OutOfFiles = "out-of-files",
        /// The kernel had no memory for the connection.
        OutOfMemory = "out-of-memory",
        /// This machine forbids the connection: a firewall, or a sandbox.
        Forbidden = "forbidden",
        /// It was due, and no connection was free before the end.
        WaitingAtEnd = "waiting-at-end",
        /// It was due, a connection was free, and bourdon itself did not send it before the end.
        LateAtEnd = "late-at-end",
        /// It was due, and most connections paused before another attempt, after those before had been turned away.
        TurnedAwayAtEnd = "turned-away-at-end",
        /// It was due, and most connections paused before another attempt, after those before had been lost, or could
        /// not be opened for want of something on bourdon's own machine.
        PausedAtEnd = "paused-at-end",
    }
}

kinds! {
    /// How a request that was sent failed, by phase.
    Failure {
        /// Reset before the first byte of the reply.
        ResetBeforeReply = "reset-before-reply",
        /// Closed before the first byte of the reply.
        ClosedBeforeReply = "closed-before-reply",
        /// Reset after the reply had begun.
        ResetInReply = "reset-in-reply",
        /// Closed after the reply had begun.
        ClosedInReply = "closed-in-reply",
        /// No complete reply within the time-out that was asked for.
        TimedOut = "timed-out",
        /// The server refused a handshake which the client had done with: under TLS 1.3 it looks at the client's part
        /// when the first request may already be there.
        HandshakeFailed = "handshake-failed",
        /// The reply is not HTTP, not TLS where that was spoken, or larger in its head than 64 KiB.
        Malformed = "malformed",
        /// An error of the local kernel or network that is none of the above.
        Network = "network",
    }
}

kinds! {
    /// Why a request of the open model was sent after its time.
    LateCause {
        /// Every connection was busy or not yet open when it was due.
        NoConnection = "no-connection",
        /// The generator was busy.
        Generator = "generator",
    }
}

kinds! {
    /// Who answers for a failure.
    Side {
        /// The server under test.
        Server = "server",
        /// The path between, or the kernel.
        Network = "network",
        /// The load that was asked for: more than its connections allow.
        Load = "load",
        /// bourdon or the machine it runs on.
        Us = "us",
    }
}

impl NotSent {
    /// Who answers for it.
    pub fn side(self) -> Side {
        match self {
            NotSent::Refused | NotSent::HandshakeFailed | NotSent::TurnedAwayAtEnd => Side::Server,
            NotSent::WaitingAtEnd => Side::Load,
            NotSent::ConnectTimedOut | NotSent::ConnectFailed => Side::Network,
            NotSent::OutOfPorts
            | NotSent::OutOfFiles
            | NotSent::OutOfMemory
            | NotSent::Forbidden
            | NotSent::LateAtEnd
            | NotSent::PausedAtEnd => Side::Us,
        }
    }

    /// Whether it was merely still to be sent when the load ended: no attempt at it failed.
    pub fn is_at_end(self) -> bool {
        use NotSent::{LateAtEnd, PausedAtEnd, TurnedAwayAtEnd, WaitingAtEnd};
        matches!(self, WaitingAtEnd | LateAtEnd | TurnedAwayAtEnd | PausedAtEnd)
    }

    /// Whether its age is a lower bound of its time: it merely waited. What failed, or would have, says nothing of a reply's.
    pub fn has_age(self) -> bool {
        use NotSent::{ConnectTimedOut, LateAtEnd, PausedAtEnd, WaitingAtEnd};
        matches!(self, WaitingAtEnd | LateAtEnd | PausedAtEnd | ConnectTimedOut)
    }

    /// Whether the server or the network would not have it. What was still waiting for a connection at the end is the
    /// rate's doing, and what this machine could not send (no port, no file) is its own.
    pub fn is_turned_away(self) -> bool {
        use NotSent::{ConnectFailed, ConnectTimedOut, HandshakeFailed, Refused, TurnedAwayAtEnd};
        matches!(self, Refused | ConnectTimedOut | ConnectFailed | HandshakeFailed | TurnedAwayAtEnd)
    }
}

impl Failure {
    /// Whether its age is a lower bound of its time: nothing but bourdon's own patience ended it.
    pub fn has_age(self) -> bool {
        self == Failure::TimedOut
    }

    /// Who answers for it.
    pub fn side(self) -> Side {
        match self {
            Failure::Network => Side::Network,
            _ => Side::Server,
        }
    }
}
