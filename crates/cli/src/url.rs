use std::net::{SocketAddr, ToSocketAddrs};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use percent_encoding::percent_decode_str;

use crate::exit::Failure;

/// Most characters of a URL that an error shows.
const LONGEST_SHOWN: usize = 200;

/// A URL taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url {
    /// Whether it begins with `https`.
    pub(crate) secure: bool,
    /// Host name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and, where given, port, as the Host header wants them.
    pub(crate) authority: String,
    /// Path and query.
    pub(crate) path: String,
    /// The value of the Authorization header, where the URL names a user. It must never be shown.
    pub(crate) authorization: Option<String>,
    /// As it was typed, without user and password.
    pub(crate) shown: String,
}

impl Url {
    /// Reads `http[s]://[user:password@]host[:port][/path][?query]`; the scheme may be left out.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let malformed = |why: &str| {
            let shown = without_user(text);
            Failure::usage(format!(
                "`{}` is not a URL to load: {}",
                report::shortened(&shown, LONGEST_SHOWN),
                report::shortened(why, LONGEST_SHOWN)
            ))
        };
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        check_scheme(text).map_err(|why| malformed(&why))?;
        check_characters(text).map_err(|why| malformed(&why))?;
        check_port(&with_scheme).map_err(|why| malformed(&why))?;
        let uri: Uri =
            with_scheme.parse().map_err(|error| malformed(&format!("{error}; write http://host[:port][/path]")))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(malformed("it must begin with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| malformed("it names no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(malformed("it names no host"));
        }
        let (user, host_and_port) = match authority.as_str().rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, authority.as_str()),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let shown = user.map_or(text.to_owned(), |user| text.replacen(&format!("{user}@"), "", 1));
        Ok(Self {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            secure,
            authority: host_and_port.to_owned(),
            path: if path.starts_with('/') { path.to_owned() } else { format!("/{path}") },
            authorization: user.map(|user| basic(user).map_err(malformed)).transpose()?,
            shown,
        })
    }

    /// The first address of the host, IPv4 before IPv6.
    pub(crate) fn resolve(&self) -> Result<SocketAddr, Failure> {
        let found = (self.host.as_str(), self.port).to_socket_addrs().map_err(|error| {
            Failure::unreachable(format!(
                "host `{}` is unknown: {error}; check its spelling, or give an address",
                report::shortened(&self.host, LONGEST_SHOWN)
            ))
        })?;
        let mut addresses: Vec<SocketAddr> = found.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.first().copied().ok_or_else(|| {
            Failure::unreachable(format!("host `{}` has no address", report::shortened(&self.host, LONGEST_SHOWN)))
        })
    }
}

/// RFC 7617, from `user:password` with its percent signs.
fn basic(user: &str) -> Result<String, &'static str> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let [name, password] = [name, password].map(|text| percent_decode_str(text).collect::<Vec<u8>>());
    if name.contains(&b':') {
        return Err("a user's name cannot have a colon");
    }
    if name.iter().chain(&password).any(u8::is_ascii_control) {
        return Err("user and password cannot have control characters");
    }
    Ok(format!("Basic {}", STANDARD.encode([&name[..], b":", &password].concat())))
}

/// A URL that could not be read, as it may be shown: whatever stands before its last `@` may be a password.
fn without_user(text: &str) -> String {
    let Some((before, rest)) = text.rsplit_once('@') else { return text.to_owned() };
    let scheme = before.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
    format!("{scheme}…@{rest}")
}

/// Without its two slashes a scheme would pass for the name of a host.
fn check_scheme(text: &str) -> Result<(), String> {
    let (Some((scheme @ ("http" | "https"), rest)), false) = (text.split_once(':'), text.contains("://")) else {
        return Ok(());
    };
    // A host of that name with a port, or a user of that name with a password.
    if rest.starts_with(|c: char| c.is_ascii_digit()) || (rest.contains('@') && !rest.starts_with('/')) {
        return Ok(());
    }
    Err(format!("two slashes follow `{scheme}:`; write {scheme}://host[:port][/path]"))
}

/// The URI parser only says that something is wrong; what a shell's quotes let through is named.
fn check_characters(text: &str) -> Result<(), String> {
    match text.chars().find(|c| c.is_whitespace() || c.is_control()) {
        Some(' ') => Err("it has a space; write %20 for it".to_owned()),
        Some(c) => Err(format!("it has the character {}; write it with a percent sign", c.escape_unicode())),
        None => Ok(()),
    }
}

/// The URI parser takes any digits for a port; out of range must be said plainly.
fn check_port(text: &str) -> Result<(), String> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let Some((_, port)) = host.rsplit_once(':').filter(|(_, port)| !port.contains(']')) else { return Ok(()) };
    match port.parse::<u32>() {
        Ok(1..=65_535) => Ok(()),
        // What looks like a port may be a password with one of these in it.
        _ if user.is_none() && rest.contains('@') => {
            Err("in a user's password `/`, `?` and `#` are written %2F, %3F and %23".to_owned())
        }
        _ => Err(format!("`{port}` is not a port; a port is 1 to 65535")),
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
            ("https://localhost", "localhost", 443, "localhost", "/"),
            ("https://localhost:8443/x", "localhost", 8443, "localhost:8443", "/x"),
            ("localhost:90", "localhost", 90, "localhost:90", "/"),
            ("http:90/x", "http", 90, "http:90", "/x"),
            ("http://[::1]:81/x", "::1", 81, "[::1]:81", "/x"),
            ("http://host?x=1", "host", 80, "host", "/?x=1"),
            ("host:90?x", "host", 90, "host:90", "/?x"),
            ("http://host/a#b", "host", 80, "host", "/a"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.host.as_str(), url.port), (host, port));
            assert_eq!((url.authority.as_str(), url.path.as_str()), (authority, path));
            assert_eq!((url.shown.as_str(), url.authorization), (text, None));
            assert_eq!(url.secure, text.starts_with("https"));
        }
    }

    #[test]
    fn a_user_becomes_a_header_and_is_not_shown() {
        for (text, header, shown) in [
            // RFC 7617, section 2.
            ("http://Aladdin:open%20sesame@h/", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "http://h/"),
            ("u:p@h:81?x", "Basic dTpw", "h:81?x"),
            ("http://u@h", "Basic dTo=", "http://h"),
            ("http://u:p%3Aq@h", "Basic dTpwOnE=", "http://h"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.authorization.as_deref(), url.shown.as_str()), (Some(header), shown));
            assert!(!url.authority.contains('@'));
        }
    }

    #[test]
    fn errors_do_not_show_a_password() {
        for text in [
            "http://u:s3cret@h:99999/",
            "http://u:s3/cret@h/",
            "http://u:s3cret@h/ x",
            "https://u:s3cret@h/",
            "http://u:s3cret@/",
            "u:s3?cret@h",
            "http://u:s3 cret@h/",
            "http://u%3a:s3cret@h/",
            "http://u:s3cret@a@h/%%",
            "http://u:s3#cret@h",
        ] {
            let Err(failure) = Url::parse(text) else { continue };
            let failure = failure.to_string();
            assert!(!failure.contains("s3") && !failure.contains("cret"), "{text}: {failure}");
        }
    }

    #[test]
    fn a_long_url_is_not_shown_whole() {
        let long = "x".repeat(100_000);
        for text in [format!("http://h/{long} y"), format!("http://h:{long}/"), format!("http://h/{long}")] {
            let failure = Url::parse(&text).err().unwrap().to_string();
            assert!(failure.len() < 1_000, "{}", failure.len());
        }
        let unknown = Url::parse(&format!("http://{}.invalid/", "x".repeat(10_000))).unwrap().resolve();
        assert!(unknown.unwrap_err().to_string().len() < 1_000);
    }

    #[test]
    fn what_is_not_a_url_is_refused_with_its_reason() {
        for (text, why) in [
            ("http://127.0.0.1:99999/", "`99999` is not a port"),
            ("http://127.0.0.1:0/", "`0` is not a port"),
            ("http:/127.0.0.1/", "two slashes follow `http:`; write http://host[:port][/path]"),
            ("http:localhost:8080", "two slashes follow `http:`"),
            ("https:/host", "two slashes follow `https:`"),
            ("http://127.0.0.1:http/", "`http` is not a port"),
            ("ftp://localhost/", "must begin with http:// or https://"),
            ("http://", "is not a URL"),
            ("http://h/a b", "`http://h/a b` is not a URL to load: it has a space; write %20"),
            ("http://h/a\tb", "it has the character \\u{9}"),
            ("http://u:a/b@h/", "are written %2F"),
        ] {
            let failure = Url::parse(text).err().unwrap().to_string();
            assert!(failure.contains(why), "{text}: {failure}");
        }
    }
}
