use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use crate::Settings;

/// Content type of text.
pub const TEXT: &str = "text/plain; charset=utf-8";
/// Content type of JSON.
pub const JSON: &str = "application/json";

/// The largest body `/submit` takes, in bytes.
pub const SUBMIT_LIMIT: usize = 1 << 20;

/// The largest number of passes `/hash` makes.
const HASH_LIMIT: u32 = 100_000;

/// What a handler answers; the target sends it with what its framework offers for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
}

impl Reply {
    fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, content_type: TEXT, body: body.into() }
    }

    fn json(body: impl Into<Bytes>) -> Self {
        Self { status: 200, content_type: JSON, body: body.into() }
    }
}

/// What `GET /user/:id` tells, for frameworks that render it themselves.
#[derive(Debug, Serialize)]
pub struct User<'a> {
    id: &'a str,
    name: &'static str,
}

impl<'a> User<'a> {
    /// The one with that id.
    pub fn of(id: &'a str) -> Self {
        Self { id, name: "User" }
    }
}

/// What `GET /ping` tells, likewise.
#[derive(Debug, Serialize)]
pub struct Pong {
    message: &'static str,
}

impl Pong {
    /// The only one.
    pub const PONG: Self = Self { message: "pong" };
}

/// Makes the replies.
#[derive(Debug)]
pub struct Work {
    delay: Duration,
    framework_renders: bool,
    data_file: Option<PathBuf>,
    tls: Option<(PathBuf, PathBuf)>,
}

impl Work {
    /// The work that a target with these settings does.
    pub fn new(settings: &Settings) -> Self {
        Self {
            delay: settings.handler_delay,
            framework_renders: settings.framework_renders,
            data_file: settings.data_file.clone(),
            tls: settings.tls.clone(),
        }
    }

    /// Whether the framework makes the JSON of `/ping` and `/user/:id` from a value.
    pub fn framework_renders(&self) -> bool {
        self.framework_renders
    }

    /// The files of the certificate and of its key, where TLS is asked for.
    pub fn tls(&self) -> Option<&(PathBuf, PathBuf)> {
        self.tls.as_ref()
    }

    async fn wait(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }

    /// Answers `GET /`.
    pub fn welcome(&self) -> Reply {
        Reply::text(200, "Welcome!\n")
    }

    /// Answers `GET /rest/hello`, after the handler delay.
    pub async fn hello(&self) -> Reply {
        self.wait().await;
        Reply::text(200, "Hello world")
    }

    /// Answers `GET /index`, after the handler delay.
    pub async fn index(&self) -> Reply {
        self.wait().await;
        Reply::text(200, "index\n")
    }

    /// Answers `GET /hello/:name`.
    pub fn greet(&self, name: &str) -> Reply {
        Reply::text(200, format!("hello, {name}!\n"))
    }

    /// Answers `GET /user/:id`.
    pub fn user(&self, id: &str) -> Reply {
        // Two strings always become JSON.
        Reply::json(serde_json::to_vec(&User::of(id)).unwrap_or_default())
    }

    /// Answers `GET /ping`.
    pub fn ping(&self) -> Reply {
        Reply::json(r#"{"message":"pong"}"#)
    }

    /// Answers `POST /submit`: the body itself if it is JSON. The framework has looked after the limit.
    pub fn submit(&self, body: Bytes) -> Reply {
        match serde_json::from_slice::<IgnoredAny>(&body) {
            Ok(_) => Reply::json(body),
            Err(_) => Reply::text(400, "the body is not valid JSON\n"),
        }
    }

    /// Answers `GET /hash?n=N&nonce=X`: the SHA-256 of N copies of the data file followed by the nonce. The file is
    /// read once; every copy is really hashed. Both are done on tokio's blocking threads, as tokio asks of what
    /// takes long.
    pub async fn hash(&self, passes: &str, nonce: String) -> Reply {
        let Some(file) = self.data_file.clone() else {
            return Reply::text(503, "DATA_FILE is not set; start the target with DATA_FILE naming a file to hash\n");
        };
        let unsigned = !passes.starts_with('+');
        let Some(passes) = passes.parse().ok().filter(|passes| unsigned && (1..=HASH_LIMIT).contains(passes)) else {
            return Reply::text(400, format!("n must be a whole number from 1 to {HASH_LIMIT}\n"));
        };
        let hashed = tokio::task::spawn_blocking(move || {
            let data = std::fs::read(file)?;
            std::io::Result::Ok(digest(&data, passes, &nonce))
        });
        match hashed.await {
            Ok(Ok(digest)) => Reply::text(200, digest),
            // A task ends without a result only when the target stops, and then nobody sees this.
            Ok(Err(_)) | Err(_) => Reply::text(500, "DATA_FILE can no longer be read\n"),
        }
    }

    /// Answers `GET /whoami` with the thread that runs the request's task at this moment.
    pub fn whoami(&self) -> Reply {
        Reply::text(200, format!("thread {}", rustix::thread::gettid().as_raw_nonzero()))
    }
}

fn digest(data: &[u8], passes: u32, nonce: &str) -> String {
    let mut hash = Sha256::new();
    for _ in 0..passes {
        hash.update(data);
    }
    hash.update(nonce);
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // a String never fails
        hex
    })
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    fn work(delay: Duration, data_file: Option<PathBuf>) -> Work {
        Work { delay, framework_renders: false, data_file, tls: None }
    }

    #[track_caller]
    fn same(reply: Reply, status: u16, content_type: &'static str, body: &str) {
        assert_eq!(reply, Reply { status, content_type, body: Bytes::copy_from_slice(body.as_bytes()) });
    }

    #[tokio::test]
    async fn replies_are_exact() {
        let work = work(Duration::ZERO, None);
        same(work.welcome(), 200, "text/plain; charset=utf-8", "Welcome!\n");
        same(work.hello().await, 200, "text/plain; charset=utf-8", "Hello world");
        same(work.index().await, 200, "text/plain; charset=utf-8", "index\n");
        same(work.greet("ann"), 200, "text/plain; charset=utf-8", "hello, ann!\n");
        same(work.ping(), 200, "application/json", r#"{"message":"pong"}"#);
    }

    #[test]
    fn an_id_is_escaped_as_json_requires_and_no_more() {
        let work = work(Duration::ZERO, None);
        same(work.user("42"), 200, JSON, r#"{"id":"42","name":"User"}"#);
        same(work.user("<&>é"), 200, JSON, r#"{"id":"<&>é","name":"User"}"#);
        for id in ["a\"b\\c", "tab\tline\n", "\0"] {
            let read: serde_json::Value = serde_json::from_slice(&work.user(id).body).unwrap();
            assert_eq!(read["id"], id);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_delay_holds_up_its_own_endpoints() {
        let delay = Duration::from_millis(10);
        let work = work(delay, None);
        let start = Instant::now();
        work.hello().await;
        assert_eq!(start.elapsed(), delay);
        work.index().await;
        assert_eq!(start.elapsed(), delay * 2);
    }

    #[test]
    fn submit_echoes_json_and_nothing_else() {
        let work = work(Duration::ZERO, None);
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        for body in ["{\"a\": [1, 2.50,null]}", " \n[ ]\n", "\"x\"", "0", &deep] {
            same(work.submit(Bytes::copy_from_slice(body.as_bytes())), 200, JSON, body);
        }
        for body in ["", "{", "{}{}", "nope"] {
            assert_eq!(work.submit(Bytes::from_static(body.as_bytes())).status, 400, "{body:?}");
        }
    }

    #[tokio::test]
    async fn hash_hashes_the_file_n_times_and_the_nonce() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "some data\n").unwrap();
        let work = work(Duration::ZERO, Some(file.path().to_owned()));
        for (passes, nonce) in [(1, ""), (3, "é&1"), (100_000, "x")] {
            let all = "some data\n".repeat(passes) + nonce;
            same(work.hash(&passes.to_string(), nonce.to_owned()).await, 200, TEXT, &digest(all.as_bytes(), 1, ""));
        }
        for passes in ["", "0", "-1", "+1", "1.5", "100001", "99999999999999999999", "x"] {
            assert_eq!(work.hash(passes, String::new()).await.status, 400, "{passes:?}");
        }
        file.close().unwrap();
        assert_eq!(work.hash("1", String::new()).await.status, 500);
    }

    #[tokio::test]
    async fn hash_without_a_file_says_so() {
        assert_eq!(work(Duration::ZERO, None).hash("1", String::new()).await.status, 503);
    }

    #[test]
    fn a_digest_is_known() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"a", 1, "bc"), known);
    }

    #[test]
    fn whoami_names_the_thread() {
        let who = || work(Duration::ZERO, None).whoami();
        assert_eq!(who(), who());
        assert_ne!(who(), std::thread::spawn(move || work(Duration::ZERO, None).whoami()).join().unwrap());
    }
}
