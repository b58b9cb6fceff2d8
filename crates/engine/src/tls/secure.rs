//! What all connections of a load agree on: whose word is taken, and how sessions are kept.

use std::sync::Arc;

use model::{Tls, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::sessions::Sessions;

/// Why TLS cannot be spoken as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The name is neither a host name nor an address.
    #[error("a certificate cannot be for `{0}`, which is neither a host name nor an address")]
    Name(String),
    /// The certificates of authorities cannot be read.
    #[error("the authorities' certificates cannot be read: {0}; they are expected as PEM")]
    Authorities(String),
    /// This machine trusts nobody.
    #[error("this machine has no certificates of authorities; install ca-certificates, or name the server's authority")]
    NoAuthorities,
    /// rustls refuses.
    #[error("TLS: {0}")]
    Rustls(#[from] Error),
}

/// What each connection is secured by; a clone shares it.
#[derive(Clone)]
pub(crate) struct Secure {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Secure {
    pub(crate) fn new(tls: &Tls) -> Result<Self, TlsError> {
        let name =
            ServerName::try_from(tls.server_name.clone()).map_err(|_| TlsError::Name(tls.server_name.clone()))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let trusted = match &tls.trust {
            Trust::System => builder.with_root_certificates(of_this_machine()?),
            Trust::Authorities(pem) => {
                let named = Named::new(pem, provider)?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(named))
            }
            Trust::Anyone => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider))),
        };
        let mut config = trusted.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let kept = || Resumption::store(Arc::new(Sessions::default()));
        config.resumption = if tls.resumption { kept() } else { Resumption::disabled() };
        Ok(Self { config: Arc::new(config), name })
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

/// Takes the word of certificates that were named, and those themselves: the usual `openssl req -x509` makes a
/// certificate that is its own authority, and by the letter an authority's is no server's.
#[derive(Debug)]
struct Named {
    certificates: Vec<CertificateDer<'static>>,
    by_authority: Arc<WebPkiServerVerifier>,
}

impl Named {
    fn new(pem: &str, provider: Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let unreadable = |why: String| TlsError::Authorities(why);
        let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| unreadable(error.to_string()))?;
        if certificates.is_empty() {
            return Err(unreadable("there is no certificate".to_owned()));
        }
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|error| unreadable(error.to_string()))?;
        }
        let by_authority = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { certificates, by_authority })
    }
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.certificates.iter().any(|named| named == end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.by_authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authority.supported_verify_schemes()
    }
}

/// Takes anybody's word. The handshake's own signature is still checked: it costs what it costs everybody.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
