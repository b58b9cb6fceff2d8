//! Why TLS failed, in words where rustls has only names, and what that shows of the server.

use model::TlsFault;
use rustls::Error;

/// Why TLS has failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct TlsFailure {
    /// In words where rustls has only names.
    pub text: String,
    /// What that shows of the server; none where it shows no more than that it failed.
    pub fault: Option<TlsFault>,
}

impl TlsFailure {
    /// What is behind an error of the stream that [`crate::Secure::over`] gives; none where TLS is not.
    pub fn behind(error: &std::io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Error>().map(Self::from)
    }
}

impl From<String> for TlsFailure {
    fn from(text: String) -> Self {
        TlsFailure { text, fault: None }
    }
}

impl From<&Error> for TlsFailure {
    fn from(error: &Error) -> Self {
        TlsFailure { text: words(error), fault: fault(error) }
    }
}

/// What an error shows of the server.
fn fault(error: &Error) -> Option<TlsFault> {
    match error {
        Error::InvalidMessage(_) => Some(TlsFault::NotTls),
        error if error.to_string().contains(OLD_CERTIFICATE) => Some(TlsFault::OldCertificate),
        error if UNTRUSTED.iter().any(|name| error.to_string().contains(name)) => Some(TlsFault::Untrusted),
        _ => None,
    }
}

/// What rustls calls a certificate of X.509 version 1, in an error that it wraps.
const OLD_CERTIFICATE: &str = "UnsupportedCertVersion";

/// What rustls calls a certificate that nobody who is trusted has signed: another authority, or the certificate's own.
const UNTRUSTED: [&str; 2] = ["UnknownIssuer", "CaUsedAsEndEntity"];

/// What failed, where rustls only names it.
fn words(error: &Error) -> String {
    let text = match error {
        Error::General(text) => return text.clone(),
        error => error.to_string(),
    };
    if text.contains("CaUsedAsEndEntity") {
        // By the letter it is an authority's, not a server's; one that is trusted itself would have been taken.
        "the certificate is self-signed, and is not one that is trusted (CaUsedAsEndEntity)".to_owned()
    } else if text.contains("UnknownIssuer") {
        "no authority that is trusted has signed the certificate (UnknownIssuer)".to_owned()
    } else if text.contains(OLD_CERTIFICATE) {
        "the server's certificate is of X.509 version 1, which is no longer accepted; make one of version 3 \
         (UnsupportedCertVersion)"
            .to_owned()
    } else if matches!(error, Error::InvalidMessage(_)) {
        format!("what came back is not TLS ({text})")
    } else {
        text
    }
}
