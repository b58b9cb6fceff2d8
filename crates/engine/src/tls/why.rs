//! Why TLS failed, in words where rustls has only names, and what that shows of the server.

use model::TlsFault;
use rustls::{CertificateError, Error, OtherError};

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
        let (text, fault) = match error {
            Error::General(text) => (text.clone(), None),
            Error::InvalidMessage(_) => (format!("what came back is not TLS ({error})"), Some(TlsFault::NotTls)),
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => (error.to_string(), Some(TlsFault::OtherName)),
            Error::InvalidCertificate(of) => of_certificate(of).unwrap_or_else(|| (error.to_string(), None)),
            error => (error.to_string(), None),
        };
        TlsFailure { text, fault }
    }
}

/// What is wrong with a certificate, in words, and what that shows; none where rustls' own words do.
fn of_certificate(error: &CertificateError) -> Option<(String, Option<TlsFault>)> {
    let (text, fault) = match error {
        CertificateError::UnknownIssuer => {
            ("no authority that is trusted has signed the certificate", TlsFault::Untrusted)
        }
        // What rustls has no name for it hands on as it got it.
        CertificateError::Other(OtherError(source)) => match source.downcast_ref()? {
            // By the letter it is an authority's, not a server's; one that is trusted itself would have been taken.
            webpki::Error::CaUsedAsEndEntity => {
                ("the certificate is self-signed, and is not one that is trusted", TlsFault::Untrusted)
            }
            webpki::Error::UnsupportedCertVersion => (
                "the server's certificate is of X.509 version 1, which is no longer accepted; make one of version 3",
                TlsFault::OldCertificate,
            ),
            _ => return None,
        },
        _ => return None,
    };
    Some((text.to_owned(), Some(fault)))
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::server::ParsedCertificate;

    use super::*;

    #[test]
    fn a_certificate_of_an_old_version_is_known_by_what_webpki_calls_it() {
        let made = rcgen::generate_simple_self_signed(["server".to_owned()]).unwrap();
        let mut der = made.cert.der().to_vec();
        let version = der.windows(5).position(|bytes| bytes == [0xa0, 3, 2, 1, 2]).unwrap();
        der[version + 4] = 0;
        let error = ParsedCertificate::try_from(&CertificateDer::from(der)).err().unwrap();
        let failure = TlsFailure::from(&error);
        assert_eq!(failure.fault, Some(TlsFault::OldCertificate), "{error:?}");
        assert!(failure.text.contains("X.509 version 1"), "{failure}");
    }

    #[test]
    fn what_rustls_has_words_for_is_said_in_them() {
        let error = Error::InvalidCertificate(CertificateError::Revoked);
        assert_eq!(TlsFailure::from(&error), TlsFailure::from(error.to_string()));
    }
}
