//! nginx with a certificate, as the server of the loads over TLS.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use rcgen::generate_simple_self_signed;
use tempfile::TempDir;

/// One worker, TLS 1.3 with AES-128-GCM and X25519, no tickets.
const CONFIGURATION: &str = "
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 16384; }
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    keepalive_requests 1000000000;
    ssl_certificate cert.pem; ssl_certificate_key key.pem;
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
    ssl_ecdh_curve X25519;
    ssl_session_tickets off;
    server {
        listen 127.0.0.1:@PORT@ ssl backlog=8192;
        location / { default_type text/plain; return 200 \"Hello world\"; }
    }
}
";

pub(crate) struct Nginx {
    child: Child,
    folder: TempDir,
    pub(crate) port: u16,
}

impl Nginx {
    /// nginx on the first CPU; none where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let version = Command::new("nginx").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.ok().filter(|status| status.success())?;
        let folder = TempDir::new().unwrap();
        let certified = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("cert.pem", &certified.cert.pem());
        write("key.pem", &certified.signing_key.serialize_pem());
        write("nginx.conf", &CONFIGURATION.replace("@PORT@", &port.to_string()));
        let child = Command::new("taskset")
            .args(["-c", "0", "nginx", "-e", "stderr", "-c", "nginx.conf", "-p"])
            .arg(folder.path())
            .spawn()
            .unwrap();
        let mut nginx = Nginx { child, folder, port };
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(nginx.child.try_wait().unwrap().is_none(), "nginx does not start");
            std::thread::yield_now();
        }
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let stop = ["-e", "stderr", "-s", "stop", "-c", "nginx.conf", "-p"];
        let _ = Command::new("nginx").args(stop).arg(self.folder.path()).status();
        let _ = self.child.wait();
    }
}
