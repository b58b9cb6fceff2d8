use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use crate::tls::acceptor;

/// What a target is told through its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the server listens with its port.
    pub address: Ipv4Addr,
    /// Port of the server.
    pub port: u16,
    /// Port of the admin server, on 127.0.0.1; none when there is none.
    pub admin_port: Option<u16>,
    /// How long `/rest/hello` and `/index` sleep.
    pub handler_delay: Duration,
    /// Whether the framework makes the JSON of `/ping` and `/user/:id` from a value.
    pub framework_renders: bool,
    /// The file that `/hash` hashes.
    pub data_file: Option<PathBuf>,
    /// The files of the certificate and of its key, both PEM; none for no TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl Settings {
    /// Reads the settings; `variable` gives a variable's value.
    ///
    /// # Errors
    /// One line that names the variable, its value and the cure.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let variable = |name: &str| variable(name).filter(|text| !text.is_empty());
        let port = |name: &str| variable(name).map(|text| port(name, &text)).transpose();
        let missing = "PORT is not set; set it to the TCP port to listen on, such as PORT=8080";
        let settings = Self {
            address: variable("ADDRESS").map_or(Ok(Ipv4Addr::LOCALHOST), |text| address(&text))?,
            port: port("PORT")?.ok_or(missing)?,
            admin_port: port("ADMIN_PORT")?,
            handler_delay: variable("HANDLER_DELAY")
                .map_or(Ok(Duration::ZERO), |text| duration("HANDLER_DELAY", &text))?,
            framework_renders: variable("RENDERING").map_or(Ok(false), |text| renders(&text))?,
            data_file: variable("DATA_FILE").map(data_file).transpose()?,
            tls: tls(variable("TLS_CERT"), variable("TLS_KEY"))?,
        };
        if settings.admin_port == Some(settings.port) {
            let cure = "give it a port of its own or leave it unset";
            return Err(format!("ADMIN_PORT={} is the same as PORT; {cure}", settings.port));
        }
        Ok(settings)
    }
}

fn address(text: &str) -> Result<Ipv4Addr, String> {
    let cure = "set it to such as 0.0.0.0, or leave it unset for 127.0.0.1";
    text.parse().map_err(|_| format!("ADDRESS={text:?} is not an IPv4 address; {cure}"))
}

fn port(name: &str, text: &str) -> Result<u16, String> {
    let refusal = || format!("{name}={text:?} is not a TCP port; set it to a whole number from 1 to 65535");
    digits(text).and_then(|number| u16::try_from(number).ok()).filter(|port| *port > 0).ok_or_else(refusal)
}

fn duration(name: &str, text: &str) -> Result<Duration, String> {
    let milliseconds = || text.strip_suffix("ms").and_then(digits).map(Duration::from_millis);
    let seconds = || text.strip_suffix('s').and_then(digits).map(Duration::from_secs);
    let cure = "set it to a number with a unit, such as 10ms or 1s, or leave it unset";
    milliseconds().or_else(seconds).ok_or_else(|| format!("{name}={text:?} is not a duration; {cure}"))
}

/// A whole number without a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn renders(text: &str) -> Result<bool, String> {
    match text {
        "bytes" => Ok(false),
        "framework" => Ok(true),
        _ => Err(format!("RENDERING={text:?} is not known; set it to bytes or framework, or leave it unset")),
    }
}

fn tls(certificate: Option<String>, key: Option<String>) -> Result<Option<(PathBuf, PathBuf)>, String> {
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => {
            let files = (PathBuf::from(certificate), PathBuf::from(key));
            acceptor(&files).map(|_| Some(files))
        }
        (certificate, key) => Err(format!(
            "TLS_CERT={:?} with TLS_KEY={:?} cannot be used; set both to PEM files, or leave both unset",
            certificate.unwrap_or_default(),
            key.unwrap_or_default()
        )),
    }
}

fn data_file(path: String) -> Result<PathBuf, String> {
    let cure = "set it to a file this process can read, or leave it unset to do without /hash";
    let refusal = |why: String| format!("DATA_FILE={path:?} cannot be used ({why}); {cure}");
    let file = File::open(&path).and_then(|file| file.metadata()).map_err(|error| refusal(error.to_string()))?;
    if !file.is_file() {
        return Err(refusal("not a regular file".to_owned()));
    }
    Ok(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    fn alone() -> Settings {
        Settings {
            address: Ipv4Addr::LOCALHOST,
            port: 8080,
            admin_port: None,
            handler_delay: Duration::ZERO,
            framework_renders: false,
            data_file: None,
            tls: None,
        }
    }

    #[test]
    fn settings_come_from_the_environment() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let pairs = [
            ("ADDRESS", "0.0.0.0"),
            ("PORT", "8080"),
            ("ADMIN_PORT", "8081"),
            ("HANDLER_DELAY", "1500ms"),
            ("RENDERING", "framework"),
            ("DATA_FILE", path),
        ];
        let expected = Settings {
            address: Ipv4Addr::UNSPECIFIED,
            port: 8080,
            admin_port: Some(8081),
            handler_delay: Duration::from_millis(1500),
            framework_renders: true,
            data_file: Some(path.into()),
            tls: None,
        };
        assert_eq!(read(&pairs), Ok(expected));
        let seconds = read(&[("PORT", "8080"), ("HANDLER_DELAY", "2s")]).unwrap();
        assert_eq!(seconds.handler_delay, Duration::from_secs(2));
    }

    #[test]
    fn unset_and_empty_are_the_default() {
        assert_eq!(read(&[("PORT", "8080")]), Ok(alone()));
        assert_eq!(
            read(&[("PORT", "8080"), ("ADDRESS", ""), ("ADMIN_PORT", ""), ("HANDLER_DELAY", ""), ("DATA_FILE", "")]),
            Ok(alone())
        );
    }

    #[test]
    fn bad_settings_are_named() {
        type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);
        let cases: [Case; 16] = [
            (&[], &["PORT is not set"]),
            (&[("PORT", "http")], &["PORT", "\"http\"", "65535"]),
            (&[("PORT", "0")], &["PORT", "\"0\""]),
            (&[("PORT", "65536")], &["PORT", "\"65536\""]),
            (&[("PORT", "+1")], &["PORT", "\"+1\""]),
            (&[("PORT", "8080"), ("ADDRESS", "localhost")], &["ADDRESS", "\"localhost\"", "0.0.0.0", "127.0.0.1"]),
            (&[("PORT", "8080"), ("ADDRESS", "::")], &["ADDRESS", "\"::\""]),
            (&[("PORT", "8080"), ("ADMIN_PORT", "x")], &["ADMIN_PORT", "\"x\""]),
            (&[("PORT", "8080"), ("ADMIN_PORT", "8080")], &["ADMIN_PORT", "8080", "same"]),
            (&[("PORT", "8080"), ("RENDERING", "json")], &["RENDERING", "\"json\"", "framework"]),
            (&[("PORT", "8080"), ("HANDLER_DELAY", "10")], &["HANDLER_DELAY", "\"10\"", "10ms"]),
            (&[("PORT", "8080"), ("HANDLER_DELAY", "-1s")], &["HANDLER_DELAY", "\"-1s\""]),
            (&[("PORT", "8080"), ("HANDLER_DELAY", "s")], &["HANDLER_DELAY", "\"s\""]),
            (&[("PORT", "8080"), ("DATA_FILE", "/nowhere/at/all")], &["DATA_FILE", "/nowhere", "No such file"]),
            (&[("PORT", "8080"), ("TLS_CERT", "/c.pem")], &["TLS_CERT", "/c.pem", "TLS_KEY", "both"]),
            (&[("PORT", "8080"), ("DATA_FILE", "/")], &["DATA_FILE", "\"/\"", "not a regular file"]),
        ];
        for (pairs, says) in cases {
            let error = read(pairs).unwrap_err();
            assert!(says.iter().all(|part| error.contains(part)), "{pairs:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
