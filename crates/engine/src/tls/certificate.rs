//! What a certificate is good for, as far as whoever names one to be trusted must know it. Its signature and its dates are
//! webpki's to look at.

/// What may be trusted about a certificate that somebody names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It may sign others (RFC 5280 §4.2.1.9), or is of a time when certificates did not say that of themselves.
    Authority,
    /// A server's that nobody else has signed.
    SelfSigned,
    /// A server's that an authority has signed.
    Issued,
}

const SEQUENCE: u8 = 0x30;
const BOOLEAN: u8 = 0x01;
const OCTETS: u8 = 0x04;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

/// The id of the extension that says whether it is an authority's, as it is encoded.
const BASIC_CONSTRAINTS: &[u8] = &[0x06, 0x03, 0x55, 0x1d, 0x13];

/// What kind of certificate these bytes are; none where they are no certificate.
pub(super) fn kind(der: &[u8]) -> Option<Kind> {
    let mut certificate = Reader(inside(SEQUENCE, der)?);
    let mut fields = Reader(certificate.tagged(SEQUENCE)?);
    let has_version = fields.tagged(VERSION).is_some();
    let (_serial, _algorithm) = (fields.next()?, fields.next()?);
    let (issuer, _dates, subject, _key) = (fields.next()?.1, fields.next()?, fields.next()?.1, fields.next()?);
    let is_self_signed = issuer == subject;
    let mut extensions = None;
    for (tag, content) in fields {
        extensions = extensions.or((tag == EXTENSIONS).then_some(content));
    }
    let is_authority = extensions.is_some_and(is_authority) || (!has_version && is_self_signed);
    Some(match (is_authority, is_self_signed) {
        (true, _) => Kind::Authority,
        (false, true) => Kind::SelfSigned,
        (false, false) => Kind::Issued,
    })
}

fn is_authority(extensions: &[u8]) -> bool {
    let mut extensions = Reader(inside(SEQUENCE, extensions).unwrap_or_default());
    while let Some(extension) = extensions.tagged(SEQUENCE) {
        let Some(value) = extension.strip_prefix(BASIC_CONSTRAINTS) else { continue };
        let mut value = Reader(value);
        let _critical = value.tagged(BOOLEAN);
        let constraints = value.tagged(OCTETS).and_then(|octets| inside(SEQUENCE, octets)).unwrap_or_default();
        return Reader(constraints).tagged(BOOLEAN).is_some_and(|says| says != [0]);
    }
    false
}

/// The content of the one value that these bytes are.
fn inside(tag: u8, der: &[u8]) -> Option<&[u8]> {
    Reader(der).tagged(tag)
}

/// Values of DER (X.690), one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The next value's content, if it has this tag; otherwise it stays the next.
    fn tagged(&mut self, tag: u8) -> Option<&'a [u8]> {
        (self.0.first() == Some(&tag)).then(|| self.next())?.map(|(_, content)| content)
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        // From 128 on the length stands in as many bytes as the lower bits say.
        let bytes = if first < 0x80 { 0 } else { usize::from(first & 0x7f) };
        let (length, rest) = rest.split_at_checked(bytes).filter(|_| bytes <= size_of::<u32>())?;
        let length = length
            .iter()
            .fold(usize::from(if bytes == 0 { first } else { 0 }), |sum, byte| sum << 8 | usize::from(*byte));
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

    use super::*;

    fn params(name: &str, is_ca: IsCa) -> CertificateParams {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = is_ca;
        params
    }

    #[test]
    fn authorities_and_servers_are_told_apart() {
        let (authority, key) = (params("authority", IsCa::Ca(BasicConstraints::Unconstrained)), KeyPair::generate());
        let key = key.expect("a key");
        let of = |params: CertificateParams| kind(params.self_signed(&key).expect("a certificate").der());
        assert_eq!(of(authority.clone()), Some(Kind::Authority));
        assert_eq!(of(params("authority", IsCa::Ca(BasicConstraints::Constrained(0)))), Some(Kind::Authority));
        assert_eq!(of(params("server", IsCa::ExplicitNoCa)), Some(Kind::SelfSigned));
        assert_eq!(of(params("server", IsCa::NoCa)), Some(Kind::SelfSigned));
        let issuer = Issuer::new(authority, key);
        for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa] {
            let issued = params("server", is_ca).signed_by(&KeyPair::generate().expect("a key"), &issuer);
            assert_eq!(kind(issued.expect("a certificate").der()), Some(Kind::Issued));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200), at: prop::sample::Index) {
            kind(&bytes);
            let mut torn = params("server", IsCa::ExplicitNoCa)
                .self_signed(&KeyPair::generate().expect("a key"))
                .expect("a certificate")
                .der()
                .to_vec();
            let at = at.index(torn.len());
            torn[at] ^= bytes.first().copied().unwrap_or(1);
            kind(&torn);
            prop_assert_eq!(kind(&torn[..at]), None);
        }
    }
}
