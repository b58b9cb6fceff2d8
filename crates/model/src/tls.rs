use serde::{Deserialize, Serialize};

use crate::accounting::add;
use crate::outcome::kinds;

/// How connections are secured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// The name that is asked for and that the certificate must be for: a host name or an address.
    pub server_name: String,
    /// Whose word on the server's certificate is taken.
    pub trust: Trust,
    /// Whether a new connection may resume the session of an earlier one. A resumed handshake costs the server a
    /// fraction of a full one.
    #[serde(default)]
    pub resumption: bool,
}

/// Whose word on a certificate is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// That of the authorities which this machine trusts.
    System,
    /// That of these authorities alone: their certificates as PEM.
    Authorities(String),
    /// Any certificate will do: whoever answers is not known.
    Anyone,
}

/// What came of TLS on the connections of a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsUse {
    /// Version that was agreed on, for instance `TLS 1.3`; of the first handshake, as the next three.
    pub version: Option<String>,
    /// Cipher suite.
    pub cipher: Option<String>,
    /// Group of the key exchange.
    pub group: Option<String>,
    /// Protocol that the server chose by ALPN, if it chose one.
    pub alpn: Option<String>,
    /// Handshakes that came to their end.
    pub handshakes: u64,
    /// Those of them that resumed an earlier session.
    pub resumed: u64,
    /// Handshakes that failed, and connections on which something other than TLS came.
    pub failed: u64,
    /// Why the first of them failed.
    pub first_failure: Option<String>,
    /// What that shows, where it shows more than that it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_fault: Option<TlsFault>,
}

kinds! {
    /// What a failure of TLS shows of the server.
    TlsFault {
        /// What came back is not TLS.
        NotTls = "not-tls",
        /// Its certificate is of a version that is no longer accepted.
        OldCertificate = "old-certificate",
        /// Nobody who is trusted has signed its certificate.
        Untrusted = "untrusted",
        /// Its certificate is for another name.
        OtherName = "other-name",
        /// It left a handshake without an answer until the request would have timed out.
        Unanswered = "unanswered",
    }
}

impl TlsUse {
    /// Adds what came of TLS on other connections of the same load.
    pub fn merge(&mut self, other: &TlsUse) {
        let fill = |mine: &mut Option<String>, theirs: &Option<String>| {
            if mine.is_none() {
                mine.clone_from(theirs);
            }
        };
        fill(&mut self.version, &other.version);
        fill(&mut self.cipher, &other.cipher);
        fill(&mut self.group, &other.group);
        fill(&mut self.alpn, &other.alpn);
        if self.first_failure.is_none() {
            self.first_failure.clone_from(&other.first_failure);
            self.first_fault = other.first_fault;
        }
        add(&mut self.handshakes, other.handshakes);
        add(&mut self.resumed, other.resumed);
        add(&mut self.failed, other.failed);
    }
}
