use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n";
const BODY: &str = "Hello world";

/// A server that keeps every request as it came, and answers `Hello world`; to HEAD only the head of that.
pub(crate) struct Recorder {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Recorder {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (to, end) = (Arc::clone(&requests), Arc::clone(&over));
        let acceptor = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let (connection, to) = (connection.unwrap(), Arc::clone(&to));
                // A client that goes in the middle of a reply ends its thread.
                std::thread::spawn(move || serve(connection, &to));
            }
        });
        Self { address, requests, over, acceptor: Some(acceptor) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/rest/hello", self.address)
    }

    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// The requests so far; each was noted before its reply left.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(connection: TcpStream, to: &Mutex<Vec<String>>) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut input = BufReader::new(&connection);
    loop {
        let (mut request, mut length) = (String::new(), 0);
        while !request.ends_with("\r\n\r\n") {
            let from = request.len();
            if input.read_line(&mut request)? == 0 {
                return Ok(());
            }
            if let Some(value) = request[from..].strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        input.by_ref().take(length).read_to_string(&mut request)?;
        let body = if request.starts_with("HEAD ") { "" } else { BODY };
        to.lock().unwrap().push(request);
        (&connection).write_all(format!("{HEAD}{body}").as_bytes())?;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The acceptor sees the end with its next connection.
        let _ = TcpStream::connect(self.address);
        let _ = self.acceptor.take().map(JoinHandle::join);
    }
}
