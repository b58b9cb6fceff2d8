use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// Connections whose handshake is over, and that nobody has taken yet.
const WAITING: usize = 1024;

/// Gives connections whose handshake has come to its end. Each shakes hands on a task of its own, so that a slow one holds
/// up nobody.
pub struct SecuredListener {
    open: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl SecuredListener {
    /// Shakes hands with the certificate and the key in these PEM files.
    ///
    /// # Errors
    /// When they cannot be used any more.
    pub fn new(listener: TcpListener, files: &(PathBuf, PathBuf)) -> io::Result<Self> {
        let (address, acceptor) = (listener.local_addr()?, acceptor(files).map_err(io::Error::other)?);
        let (done, open) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            while !done.is_closed() {
                // What fails is one connection, or a file too many, which passes.
                let Ok((stream, peer)) = listener.accept().await else { continue };
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    if let Ok(secured) = acceptor.accept(stream).await {
                        let _ = done.send((secured, peer)).await;
                    }
                });
            }
        });
        Ok(Self { open, address })
    }
}

/// What shakes hands with a certificate and its key.
///
/// # Errors
/// One line that names the variables, their values and the cure.
pub(crate) fn acceptor((certificate, key): &(PathBuf, PathBuf)) -> Result<TlsAcceptor, String> {
    configured(certificate, key).map_err(|why| {
        let cure = "set them to a certificate and its key as PEM files, or leave both unset";
        format!("TLS_CERT={certificate:?} with TLS_KEY={key:?} cannot be used ({why}); {cure}")
    })
}

fn configured(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Box<dyn std::error::Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl axum::serve::Listener for SecuredListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.open.recv().await {
            Some(connection) => connection,
            // Whoever accepts lives as long as this.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
