use std::net::{SocketAddr, ToSocketAddrs};

use http::Uri;

use crate::exit::Failure;

/// A URL taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    /// Host name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and, where given, port, as the Host header wants them.
    pub(crate) authority: String,
    /// Path and query.
    pub(crate) path: String,
}

impl Url {
    /// Reads `http://host[:port][/path][?query]`; the scheme may be left out.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let malformed = |why: &str| Failure::usage(format!("`{text}` is no URL to load: {why}"));
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        check_port(&with_scheme).map_err(|why| malformed(&why))?;
        let uri: Uri =
            with_scheme.parse().map_err(|error| malformed(&format!("{error}; write http://host[:port][/path]")))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(malformed("https is not supported yet; use http://")),
            _ => return Err(malformed("it must begin with http://")),
        }
        let authority = uri.authority().ok_or_else(|| malformed("it names no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(malformed("it names no host"));
        }
        let host_and_port = authority.as_str().rsplit('@').next().unwrap_or_default();
        Ok(Self {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: host_and_port.to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }

    /// The first address of the host, IPv4 before IPv6.
    pub(crate) fn resolve(&self) -> Result<SocketAddr, Failure> {
        let found = (self.host.as_str(), self.port).to_socket_addrs().map_err(|error| {
            Failure::unreachable(format!(
                "host `{}` is unknown: {error}; check its spelling, or give an address",
                self.host
            ))
        })?;
        let mut addresses: Vec<SocketAddr> = found.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.first().copied().ok_or_else(|| Failure::unreachable(format!("host `{}` has no address", self.host)))
    }
}

/// The URI parser takes any digits for a port; out of range must be said plainly.
fn check_port(text: &str) -> Result<(), String> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((_, port)) = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) else { return Ok(()) };
    match port.parse::<u32>() {
        Ok(1..=65_535) => Ok(()),
        _ => Err(format!("`{port}` is no port; a port is 1 to 65535")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (text, host, port, authority, path) in [
            ("http://127.0.0.1:8080/a?b=c", "127.0.0.1", 8080, "127.0.0.1:8080", "/a?b=c"),
            ("http://localhost", "localhost", 80, "localhost", "/"),
            ("localhost:90", "localhost", 90, "localhost:90", "/"),
            ("http://[::1]:81/x", "::1", 81, "[::1]:81", "/x"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.host.as_str(), url.port), (host, port));
            assert_eq!((url.authority.as_str(), url.path.as_str()), (authority, path));
        }
    }

    #[test]
    fn what_is_no_url_is_refused_with_its_reason() {
        for (text, why) in [
            ("http://127.0.0.1:99999/", "`99999` is no port"),
            ("http://127.0.0.1:0/", "`0` is no port"),
            ("http://127.0.0.1:http/", "`http` is no port"),
            ("https://localhost/", "https is not supported yet"),
            ("ftp://localhost/", "must begin with http://"),
            ("http://", "is no URL"),
            ("http://a b/", "is no URL"),
        ] {
            let failure = format!("{:?}", Url::parse(text).unwrap_err());
            assert!(failure.contains(why), "{text}: {failure}");
        }
    }
}
