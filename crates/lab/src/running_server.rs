use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Instead, NotReady, ProcessEnd, Tls, TrialFailure, TrialStage, Waiting};
use observe::Family;

use crate::client::{Client, Probe};
use crate::launch::{LaunchSpec, Launcher, Running, Unlaunched};
use crate::tls::{self, Place};

/// How long a server that should be there may take to accept a connection, and to answer over TLS.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Largest answer that is taken before the load.
const ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// A server that runs already, in the place of one that is launched: nothing is started or ended, and its processes are not seen.
#[derive(Debug, Clone)]
pub struct RunningElsewhere {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name under which it is asked.
    pub host: String,
    /// How it is spoken to, where that is TLS.
    pub tls: Option<Tls>,
}

impl Launcher for RunningElsewhere {
    fn launch(
        &self,
        spec: &LaunchSpec<'_>,
        stop: &AtomicBool,
        _tell: &mut dyn FnMut(Waiting),
    ) -> Result<Box<dyn Running>, Unlaunched> {
        match self.instead(&spec.target.launch.ready, stop) {
            None => Ok(Box::new(self.clone())),
            Some(seen) => {
                let why = NotReady { seen, within_ns: None, hints: Vec::new() };
                Err(Unlaunched::Failed(TrialFailure::new(TrialStage::Ready, why)))
            }
        }
    }
}

impl RunningElsewhere {
    /// What it does instead of accepting a connection, and where that is over TLS of answering for this path.
    fn instead(&self, path: &str, stop: &AtomicBool) -> Option<Instead> {
        let Some(tls) = &self.tls else {
            return TcpStream::connect_timeout(&self.address, ANSWER_WITHIN).is_err().then_some(Instead::Silent);
        };
        let failed = |error: String, fault| Instead::Failed { path: path.to_owned(), error, fault };
        let place = match Place::new(self.address, Some(tls)) {
            Ok(place) => place,
            Err(error) => return Some(failed(error.to_string(), None)),
        };
        let goes_on = || !stop.load(Ordering::Relaxed);
        let mut client = Client::new(&place, ANSWER_WITHIN, ANSWER_BYTES).while_it(&goes_on);
        let error = client.ask(&Probe { path, ..Probe::default() }).err()?;
        Some(match error.kind() {
            ErrorKind::ConnectionRefused => Instead::Silent,
            _ => failed(error.to_string(), tls::fault(&error)),
        })
    }
}

impl Running for RunningElsewhere {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn host(&self) -> String {
        self.host.clone()
    }

    fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    fn admin_address(&self) -> Option<SocketAddr> {
        None
    }

    fn family(&self) -> Option<Family> {
        None
    }

    fn time_to_ready_ms(&self) -> Option<f64> {
        None
    }

    fn ended(&mut self) -> Option<ProcessEnd> {
        None
    }

    fn stop(self: Box<Self>) -> Option<PathBuf> {
        None
    }
}
