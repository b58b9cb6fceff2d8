//! Addresses of this machine that connections are to come from.

use std::io::ErrorKind;
use std::net::{IpAddr, UdpSocket};

use crate::exit::Failure;

/// Refuses addresses from which no connection can come.
pub(crate) fn refuse_strange(sources: &[IpAddr]) -> Result<(), Failure> {
    match sources.iter().find(|source| !is_own(**source)) {
        None => Ok(()),
        Some(source) => Err(Failure::usage(format!(
            "--source: {source} is not an address of this machine; `ip address` lists those that are"
        ))),
    }
}

/// Whether connections can come from an address: it is this machine's, or the kernel lets any be used.
fn is_own(source: IpAddr) -> bool {
    !matches!(UdpSocket::bind((source, 0)), Err(error) if error.kind() == ErrorKind::AddrNotAvailable)
}
