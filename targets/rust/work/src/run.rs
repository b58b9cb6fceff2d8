use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::{Settings, Work, admin};

/// How long requests in flight may take to end once the target has been told to stop. What has not ended by then is
/// cut off.
const GRACE: Duration = Duration::from_secs(1);

const EXIT_OK: i32 = 0;
const EXIT_SERVE: i32 = 1; // could not listen, or the server failed
const EXIT_USAGE: i32 = 2; // a bad or missing setting

/// Ends when the target is told to stop.
pub type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The whole life of a target: read the settings, listen, serve until SIGTERM or an interrupt. `serve` answers
/// connections until it is told to stop, and returns when the requests in flight have ended. Gives the exit status; the
/// caller exits with it at once, which cuts off what is still in flight.
pub async fn run<F, S>(name: &str, serve: F) -> i32
where
    F: FnOnce(TcpListener, Arc<Work>, Stop) -> S,
    S: Future<Output = io::Result<()>>,
{
    let fail = |status: i32, text: String| {
        eprintln!("{name}: {text}");
        status
    };
    match Settings::read(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())) {
        Err(text) => fail(EXIT_USAGE, text),
        Ok(settings) => match live(&settings, serve).await {
            Err(text) => fail(EXIT_SERVE, text),
            Ok(()) => EXIT_OK,
        },
    }
}

async fn live<F, S>(settings: &Settings, serve: F) -> Result<(), String>
where
    F: FnOnce(TcpListener, Arc<Work>, Stop) -> S,
    S: Future<Output = io::Result<()>>,
{
    let mut told = stop_signal().map_err(|error| format!("cannot watch for signals: {error}"))?;
    if let Some(port) = settings.admin_port {
        let listener = listen("ADMIN_PORT", Ipv4Addr::LOCALHOST, port).await?;
        admin::start(listener).map_err(|error| format!("the admin server cannot start: {error}"))?;
    }
    let listener = listen("PORT", settings.address, settings.port).await?;
    let mut stop = told.clone();
    let stop: Stop = Box::pin(async move {
        let _ = stop.wait_for(|told| *told).await;
    });
    let over = async {
        let _ = told.wait_for(|told| *told).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = serve(listener, Arc::new(Work::new(settings)), stop) => {
            ended.map_err(|error| format!("the server stopped by itself: {error}"))
        }
        () = over => Ok(()),
    }
}

/// Turns true on SIGTERM or an interrupt.
fn stop_signal() -> io::Result<watch::Receiver<bool>> {
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (tell, told) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        tell.send_replace(true);
        tell.closed().await; // whoever asks late is told too
    });
    Ok(told)
}

async fn listen(variable: &str, address: Ipv4Addr, port: u16) -> Result<TcpListener, String> {
    let address = SocketAddrV4::new(address, port);
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => format!(
            "{variable}={port}: {address} is already in use; stop what listens there or set {variable} to a free port"
        ),
        _ => format!(
            "{variable}={port}: cannot listen on {address} ({error}); set {variable} to a port this process may use"
        ),
    })
}
