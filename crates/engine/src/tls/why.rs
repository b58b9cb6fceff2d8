//! Why TLS failed, in words where rustls has only names, and what that shows of the server.

use model::TlsFault;
use rustls::Error;

/// What an error shows of the server.
pub(super) fn fault(error: &Error) -> Option<TlsFault> {
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
pub(super) fn words(error: &Error) -> String {
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
