use std::net::{IpAddr, SocketAddr};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Mix, NS_PER_S, Tls};

/// Steps of a window in its record at most: of up to two minutes the seconds themselves, of any longer one no more than a
/// reader can see and no more than a test for a change of level needs.
pub const MOST_STEPS: usize = 120;

/// Who decides when the next request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum LoadModel {
    /// Each connection sends when its last reply came.
    Closed,
    /// Requests arrive at a rate, whatever the server does.
    Open {
        /// Arrivals a second over all connections, among [`crate::RATES_PER_S`].
        rate_per_s: f64,
        /// How arrivals are spaced.
        arrivals: Arrivals,
    },
}

/// What others ask of a shape of load: whoever adds one answers here, and the compiler asks for it.
impl LoadModel {
    /// Whether requests come due by a schedule, whatever the server does: latency is then measured from when they were due, and
    /// a server that cannot keep up has a backlog. Without one, connections wait for their replies.
    pub fn has_schedule(&self) -> bool {
        match self {
            LoadModel::Closed => false,
            LoadModel::Open { .. } => true,
        }
    }

    /// How many requests come due in a second as a mean; none without a schedule.
    pub fn mean_rate_per_s(&self) -> Option<f64> {
        match self {
            LoadModel::Closed => None,
            LoadModel::Open { rate_per_s, .. } => Some(*rate_per_s),
        }
    }

    /// Whether it is left to chance how many requests come due in a given time.
    pub fn is_random(&self) -> bool {
        match self {
            LoadModel::Closed | LoadModel::Open { arrivals: Arrivals::Constant, .. } => false,
            LoadModel::Open { arrivals: Arrivals::Poisson, .. } => true,
        }
    }
}

kinds! {
    /// Spacing of arrivals in the open model.
    Arrivals {
        /// Equal distances.
        Constant = "constant",
        /// Independent exponential distances, from a seed.
        Poisson = "poisson",
    }
}

kinds! {
    /// From when to when the latency of a cell is timed.
    Population {
        /// From the intended send to the reply: open loads.
        Response = "response",
        /// From the actual send to the reply: closed loads whose connections are kept.
        Service = "service",
        /// From the beginning of connecting to the reply: closed loads with a connection for each request.
        Total = "total",
    }
}

/// When a load ends. On disk a window is `window_ns`, a number of requests `request_count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Extent {
    /// After a window of so many nanoseconds.
    Window(u64),
    /// After exactly so many requests.
    Requests {
        /// How many.
        count: u64,
        /// Give up after so many nanoseconds; none waits for the last reply.
        within_ns: Option<u64>,
    },
}

#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within_ns: Option<u64>,
}

impl TryFrom<Written> for Extent {
    type Error = &'static str;

    fn try_from(Written { window_ns, request_count, within_ns }: Written) -> Result<Extent, Self::Error> {
        let counted = request_count.map(|count| Extent::Requests { count, within_ns });
        counted.or(window_ns.map(Extent::Window)).ok_or("missing field `window_ns`")
    }
}

impl From<Extent> for Written {
    fn from(extent: Extent) -> Written {
        match extent {
            Extent::Window(ns) => Written { window_ns: Some(ns), request_count: None, within_ns: None },
            Extent::Requests { count, within_ns } => Written { window_ns: None, request_count: Some(count), within_ns },
        }
    }
}

/// A load: what is asked of a server, wherever that is and whatever asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// What is sent and what must come back; in a plan without a host, which is filled in at launch.
    #[serde(flatten)]
    pub mix: Mix,
    /// Closed or open.
    #[serde(rename = "load_model")]
    pub model: LoadModel,
    /// Connections, at least 1.
    pub connections: u32,
    /// Requests in flight on one connection at most; 1 means no pipelining.
    pub pipeline: u16,
    /// Whether a connection serves more than one request.
    pub keep_alive: bool,
    /// Time without a complete reply after which a request is given up; none unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<u64>,
    /// What the network adds to a round trip between generator and target; connecting is not delayed. The engine adds
    /// none itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub network_delay_ns: u64,
    /// Load before the window, not measured.
    pub warm_up_ns: u64,
    /// What is measured.
    #[serde(flatten)]
    pub extent: Extent,
}

impl Load {
    /// So many connections that are kept, each of which asks again when its reply has come.
    pub fn closed(mix: Mix, connections: u32, warm_up_ns: u64, window_ns: u64) -> Load {
        Load {
            mix,
            model: LoadModel::Closed,
            connections,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            network_delay_ns: 0,
            warm_up_ns,
            extent: Extent::Window(window_ns),
        }
    }

    /// How many requests come due in a second as a mean; none without a schedule.
    pub fn rate_per_s(&self) -> Option<f64> {
        self.model.mean_rate_per_s()
    }

    /// From when to when the latency is timed that a client of it waits for.
    pub fn felt(&self) -> Population {
        match (self.model.has_schedule(), self.keep_alive) {
            (true, _) => Population::Response,
            (false, true) => Population::Service,
            (false, false) => Population::Total,
        }
    }

    /// N: requests that can be in flight at once, connections × pipeline.
    pub fn slots(&self) -> f64 {
        f64::from(self.connections) * f64::from(self.pipeline.max(1))
    }

    /// Length of the window in nanoseconds; 0 where a number of requests ends the load.
    pub fn window_ns(&self) -> u64 {
        match self.extent {
            Extent::Window(window_ns) => window_ns,
            Extent::Requests { .. } => 0,
        }
    }

    /// How many whole seconds a step of the window has in its record, so that there are [`MOST_STEPS`] at most; one where
    /// the end is not known beforehand.
    pub fn step_s(&self) -> u64 {
        let window_ns = match self.extent {
            Extent::Window(window_ns) => window_ns,
            Extent::Requests { within_ns, .. } => within_ns.unwrap_or(0),
        };
        window_ns.div_ceil(NS_PER_S).div_ceil(MOST_STEPS as u64).max(1)
    }
}

fn is_zero(delay_ns: &u64) -> bool {
    *delay_ns == 0
}

/// A load with where it goes and where it runs: all that the engine needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// What is asked, on at least as many connections as there are threads.
    pub load: Load,
    /// Where the connections go.
    pub address: SocketAddr,
    /// How the connections are secured; plain when absent.
    pub tls: Option<Tls>,
    /// Addresses that connections come from, in turn; empty leaves it to the kernel. Each brings its own ports.
    pub sources: Vec<IpAddr>,
    /// Closed model: the connections begin evenly over so many nanoseconds, not all at once. At most the warm-up.
    pub start_spread_ns: u64,
    /// Generator threads, at least 1.
    pub threads: u32,
    /// CPUs for the generator's threads, in turn; empty leaves them to the kernel.
    pub cpus: Vec<u32>,
    /// Whether a thread watches the clock instead of sleeping until the next request is due: it burns its CPU.
    pub spin: bool,
    /// Whether what the server sends is acknowledged at once, for as long as the kernel lets that be asked: by itself it waits up to 40 ms
    /// for something to send along.
    pub quick_ack: bool,
    /// Seed of Poisson arrivals, and of which request of a mix comes when.
    pub seed: u64,
}

impl LoadSpec {
    /// The same but for what `change` does to it.
    pub fn with(mut self, change: impl FnOnce(&mut LoadSpec)) -> LoadSpec {
        change(&mut self);
        self
    }
}

/// What is said of a load holds of it wherever it runs.
impl Deref for LoadSpec {
    type Target = Load;

    fn deref(&self) -> &Load {
        &self.load
    }
}

impl DerefMut for LoadSpec {
    fn deref_mut(&mut self) -> &mut Load {
        &mut self.load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_of_load_says_what_is_asked_of_it() {
        let open = |arrivals| LoadModel::Open { rate_per_s: 20.0, arrivals };
        let says = |model: LoadModel| (model.has_schedule(), model.mean_rate_per_s(), model.is_random());
        assert_eq!(says(LoadModel::Closed), (false, None, false));
        assert_eq!(says(open(Arrivals::Constant)), (true, Some(20.0), false));
        assert_eq!(says(open(Arrivals::Poisson)), (true, Some(20.0), true));
    }
}
