//! What all connections of a load agree on: whose word is taken, and how sessions are kept.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Tls, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ResolvesClientCert, Resumption, UnbufferedClientConnection, WebPkiServerVerifier, verify_server_name,
};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    StreamOwned,
};

use super::certificate::{self, Kind};
use super::sessions::Sessions;
use crate::http1::Http1;
use crate::protocol::Protocol;

/// Why TLS cannot be spoken as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The name is neither a host name nor an address.
    #[error("a certificate cannot be for `{0}`, which is neither a host name nor an address")]
    Name(String),
    /// The certificates of authorities cannot be used.
    #[error(
        "the authorities' certificates cannot be used: {0}; name a PEM file with the certificate of the authority \
             that signed the server's"
    )]
    Authorities(String),
    /// The certificate at this place is neither an authority's nor its own.
    #[error(
        "certificate {0} of those that are to be trusted is a server's that somebody else has signed; name the \
             certificate of that authority instead"
    )]
    NoAuthority(usize),
    /// This machine trusts nobody.
    #[error("this machine has no certificates of authorities; install ca-certificates, or name the server's authority")]
    NoAuthorities,
    /// rustls refuses.
    #[error("TLS: {0}")]
    Rustls(#[from] Error),
}

/// What each connection is secured by; a clone shares it.
#[derive(Debug, Clone)]
pub struct Secure {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    own: Arc<NoCertificate>,
}

impl Secure {
    /// What HTTP/1 is secured by.
    ///
    /// # Errors
    /// When what is to be trusted is not a certificate, or the name not one.
    pub fn new(tls: &Tls) -> Result<Self, TlsError> {
        Self::speaking::<Http1<'_>>(tls)
    }

    /// What a protocol is secured by.
    ///
    /// # Errors
    /// When what is to be trusted is not a certificate, or the name not one.
    pub(crate) fn speaking<P: Protocol>(tls: &Tls) -> Result<Self, TlsError> {
        let name =
            ServerName::try_from(tls.server_name.clone()).map_err(|_| TlsError::Name(tls.server_name.clone()))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let whose = match &tls.trust {
            Trust::System => None,
            Trust::Authorities(pem) => Some(Whose::named(pem, provider.clone())?),
            Trust::Anyone => Some(Whose::Anyones),
        };
        let trusted = match whose {
            None => builder.with_root_certificates(of_this_machine()?),
            Some(whose) => builder.dangerous().with_custom_certificate_verifier(Arc::new(Verifier { whose, provider })),
        };
        let own = Arc::new(NoCertificate::default());
        let mut config = trusted.with_client_cert_resolver(own.clone());
        config.alpn_protocols = vec![P::ALPN.to_vec()];
        let kept = || Resumption::store(Arc::new(Sessions::default()));
        config.resumption = if tls.resumption { kept() } else { Resumption::disabled() };
        Ok(Self { config: Arc::new(config), name, own })
    }

    /// Whether a server has asked for a client's certificate.
    pub(super) fn was_asked(&self) -> bool {
        self.own.asked.load(Ordering::Relaxed)
    }

    /// A connection beside a load: one that may block.
    ///
    /// # Errors
    /// When rustls refuses.
    pub fn over<S: Read + Write>(&self, stream: S) -> Result<StreamOwned<ClientConnection, S>, TlsError> {
        Ok(StreamOwned::new(ClientConnection::new(self.config.clone(), self.name.clone())?, stream))
    }

    /// The beginning of one connection.
    pub(super) fn begin(&self) -> Result<UnbufferedClientConnection, Error> {
        UnbufferedClientConnection::new(self.config.clone(), self.name.clone())
    }
}

fn of_this_machine() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { Err(TlsError::NoAuthorities) } else { Ok(roots) }
}

/// Looks at the server's certificate as the load was told to. The handshake's own signature is always checked: it costs
/// what it costs a browser.
#[derive(Debug)]
struct Verifier {
    whose: Whose,
    provider: Arc<CryptoProvider>,
}

/// Whose certificate is taken.
#[derive(Debug)]
enum Whose {
    Anyones,
    /// Those that were named themselves, and what the authorities among them have signed. The usual `openssl req -x509`
    /// makes a certificate that is its own authority, and by the letter an authority's is not a server's.
    Named {
        certificates: Vec<CertificateDer<'static>>,
        by_authority: Option<Arc<WebPkiServerVerifier>>,
    },
}

impl Whose {
    fn named(pem: &str, provider: Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let unusable = |error: &dyn std::fmt::Display| TlsError::Authorities(error.to_string());
        let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| unusable(&format!("they are not PEM: {error}")))?;
        if certificates.is_empty() {
            return Err(unusable(&without_certificate(pem)));
        }
        let mut roots = RootCertStore::empty();
        for (at, certificate) in certificates.iter().enumerate() {
            match certificate::kind(certificate) {
                Some(Kind::Authority) => roots.add(certificate.clone()).map_err(|error| unusable(&error))?,
                Some(Kind::SelfSigned) => {}
                Some(Kind::Issued) => return Err(TlsError::NoAuthority(at + 1)),
                None => return Err(unusable(&format!("certificate {} there cannot be parsed", at + 1))),
            }
        }
        let by_authority = (!roots.is_empty())
            .then(|| WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build())
            .transpose()
            .map_err(|error| unusable(&error))?;
        Ok(Whose::Named { certificates, by_authority })
    }
}

/// What is there instead of a certificate.
fn without_certificate(pem: &str) -> &'static str {
    match pem {
        pem if pem.contains("PRIVATE KEY-----") => "the file holds a private key and no certificate",
        pem if pem.trim().is_empty() => "the file is empty",
        _ => "the file holds no certificate",
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Whose::Named { certificates, by_authority } = &self.whose else {
            return Ok(ServerCertVerified::assertion());
        };
        if certificates.iter().any(|named| named == end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        match by_authority {
            Some(them) => them.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// No certificate of our own, and whether a server has asked for one.
#[derive(Debug, Default)]
struct NoCertificate {
    asked: AtomicBool,
}

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}
