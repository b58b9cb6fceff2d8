//! How servers that are launched serve TLS, by the arguments.

use model::{TargetTls, Trust};

use crate::args::TlsArgs;
use crate::experiment::authorities_in;

/// None where they do not.
pub(crate) fn served_tls(args: &TlsArgs) -> Result<Option<TargetTls>, String> {
    match &args.ca {
        Some(file) => authorities_in(file).map(|trust| Some(TargetTls::Own(trust))),
        None if args.insecure => Ok(Some(TargetTls::Own(Trust::Anyone))),
        None if args.tls => Ok(Some(TargetTls::Given)),
        None => Ok(None),
    }
}
