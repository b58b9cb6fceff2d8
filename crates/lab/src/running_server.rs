use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::{Instead, NotReady, ProcessEnd, TrialFailure, TrialStage, Waiting};
use observe::Family;

use crate::launch::{LaunchSpec, Launcher, Running, Unlaunched};

/// How long a server that should be there may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A server that runs already, in the place of one that is launched: nothing is started or ended, and its processes are not seen.
#[derive(Debug, Clone)]
pub struct RunningElsewhere {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name under which it is asked.
    pub host: String,
}

impl Launcher for RunningElsewhere {
    fn launch(
        &self,
        _spec: &LaunchSpec<'_>,
        _stop: &AtomicBool,
        _tell: &mut dyn FnMut(Waiting),
    ) -> Result<Box<dyn Running>, Unlaunched> {
        match TcpStream::connect_timeout(&self.address, CONNECT_WITHIN) {
            Ok(_) => Ok(Box::new(self.clone())),
            Err(_) => {
                let why = NotReady { seen: Instead::Silent, within_ns: None, hints: Vec::new() };
                Err(Unlaunched::Failed(TrialFailure::new(TrialStage::Ready, why)))
            }
        }
    }
}

impl Running for RunningElsewhere {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn host(&self) -> String {
        self.host.clone()
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
