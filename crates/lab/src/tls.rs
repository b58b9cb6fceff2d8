//! TLS with a target that bourdon launches: the certificate it is given, and how it is spoken to.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::LazyLock;

use engine::{Secure, TlsError, TlsFailure};
use model::{TargetTls, Tls, TlsFault, Trust};
use rcgen::{CertificateParams, DnType, KeyPair};

/// The name that is asked for, as a browser would; the certificate is for the address, too.
const NAME: &str = "localhost";

/// The files of a launch's own folder.
const CERTIFICATE_FILE: &str = "tls-cert.pem";
const KEY_FILE: &str = "tls-key.pem";

/// The variables that carry what is to be in these files to whoever makes the folder.
const CERTIFICATE_TEXT: &str = "BOURDON_TLS_CERT";
const KEY_TEXT: &str = "BOURDON_TLS_KEY";

/// A certificate for this machine's loopback that vouches for itself, and its key, both as PEM.
struct Given {
    certificate: String,
    key: String,
}

/// One for all launches of this process, so that the handshakes of a run all cost the same. Nobody else trusts it.
static GIVEN: LazyLock<Result<Given, rcgen::Error>> = LazyLock::new(|| {
    let mut params = CertificateParams::new([NAME.to_owned(), "127.0.0.1".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "bourdon");
    let key = KeyPair::generate()?;
    Ok(Given { certificate: params.self_signed(&key)?.pem(), key: key.serialize_pem() })
});

fn given() -> Result<&'static Given, String> {
    GIVEN.as_ref().map_err(|error| format!("no certificate can be made: {error}"))
}

/// How a target that serves TLS is spoken to.
pub(crate) fn spoken(serves: &TargetTls) -> Result<Tls, String> {
    let trust = match serves {
        TargetTls::Given => Trust::Authorities(given()?.certificate.clone()),
        TargetTls::Own(trust) => trust.clone(),
    };
    Ok(Tls { server_name: NAME.to_owned(), trust, resumption: false })
}

/// Where the target finds the files.
pub(crate) const GIVEN_FILES: [&str; 2] = ["TLS_CERT", "TLS_KEY"];

/// These, and what is in the files.
pub(crate) const VARIABLES: [&str; 4] = [GIVEN_FILES[0], GIVEN_FILES[1], CERTIFICATE_TEXT, KEY_TEXT];

/// What a launch has in its environment where its target is given a certificate: where the files are, for the target, and
/// what is to be in them, for whoever makes the folder.
pub(crate) fn variables(scratch: &Path) -> Result<[(&'static str, String); 4], String> {
    let given = given()?;
    let path = |file| scratch.join(file).to_string_lossy().into_owned();
    Ok([
        (GIVEN_FILES[0], path(CERTIFICATE_FILE)),
        (GIVEN_FILES[1], path(KEY_FILE)),
        (CERTIFICATE_TEXT, given.certificate.clone()),
        (KEY_TEXT, given.key.clone()),
    ])
}

/// The files that belong into the folder, and what is in them, where this process was told.
pub(crate) fn files() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let files = [(CERTIFICATE_TEXT, CERTIFICATE_FILE), (KEY_TEXT, KEY_FILE)].into_iter();
    files.filter_map(|(variable, file)| Some((file, std::env::var_os(variable)?.into_encoded_bytes())))
}

/// What an error shows of a target's TLS; none where it shows nothing of it.
pub(crate) fn fault(error: &std::io::Error) -> Option<TlsFault> {
    error.get_ref()?.downcast_ref::<TlsFailure>()?.fault
}

/// Where somebody is asked, and what secures that.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    pub(crate) secure: Option<Secure>,
}

impl Place {
    pub(crate) fn plain(address: SocketAddr) -> Self {
        Self { address, secure: None }
    }

    pub(crate) fn new(address: SocketAddr, tls: Option<&Tls>) -> Result<Self, TlsError> {
        Ok(Self { address, secure: tls.map(Secure::new).transpose()? })
    }
}
