//! `bourdon run --nodes`: the loads of a run that nodes make, while the laboratory and its targets stay on this machine.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{LoadError, LoadOutput, MonotonicClock, Passed};
use model::{Clock, Draft, LoadSecond, LoadSpec, Plan};
use nodes::{Asked, Command, Contribution, Ended, Key, Made, News, Place, command};

use crate::args::RunArgs;
use crate::calibrate;
use crate::exit::Failure;
use crate::link::{UnheededTally, key, place, unlinked};
use crate::load_nodes::{out_of_time, partial_words, together, unasked, unmade, unserved};
use crate::node::boot;
use crate::output::say;

/// How long a target may take to accept a connection from outside, before the nodes are sent for.
const REACHABLE_WITHIN: Duration = Duration::from_secs(1);

/// Nodes that make the loads of a run.
pub(crate) struct Nodes {
    place: Place,
    key: Key,
    workers: u32,
    gather_ns: u64,
    /// Where they reach this machine; none where they are on it.
    at: Option<IpAddr>,
    /// Messages that were not heeded.
    tally: RefCell<UnheededTally>,
}

impl Nodes {
    /// Those that a run asks for; none where its loads are made here.
    pub(crate) fn of(args: &RunArgs) -> Result<Option<Self>, Failure> {
        let asked = &args.nodes;
        let Some(url) = &asked.nodes else { return Ok(None) };
        let Some(workers) = asked.workers else {
            return Err(Failure::usage("--workers is missing: each load of a run is made by the same number of nodes"));
        };
        let (place, key) = (place(url, &asked.link)?, key(&asked.link)?);
        Ok(Some(Nodes { place, key, workers, gather_ns: asked.gather, at: args.at, tally: RefCell::default() }))
    }

    /// Makes a plan one of loads that nodes make: what rotates is one session of connections, which no node has; and who heeds it is told
    /// to listen where nodes elsewhere can reach it.
    ///
    /// # Errors
    /// When a load is to be beside another one, which would begin long before nodes have come together.
    pub(crate) fn make(&self, draft: &mut Draft) -> Result<(), Failure> {
        if draft.cells.iter().any(|cell| cell.beside.is_some()) {
            return Err(Failure::usage(
                "a load beside another one (`beside`) would begin before the nodes have come together; run this experiment without --nodes",
            ));
        }
        if draft.cells.iter().any(|cell| cell.profile) {
            return Err(Failure::usage(
                "a CPU profile (`profile`) would be taken before the nodes have begun; run this experiment without --nodes",
            ));
        }
        if self.at.is_some() && draft.cells.iter().any(|cell| cell.load.network_delay_ns > 0) {
            return Err(Failure::usage(
                "a network delay is made on this machine alone, where nodes elsewhere do not reach it; leave out --at, or delay their network itself",
            ));
        }
        draft.generator.nodes = Some(self.workers);
        draft.rotation = None;
        if self.at.is_some() {
            for target in &mut draft.targets {
                target.launch.env.insert("ADDRESS".to_owned(), "0.0.0.0".to_owned());
            }
        }
        Ok(())
    }

    /// Makes a load, as [`engine::run`] does. The seconds of its warm-up are not told.
    ///
    /// # Errors
    /// When it is not the one load that was asked for: nodes are missing, were lost, or kept no time.
    pub(crate) fn load(
        &self,
        spec: &LoadSpec,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(&Passed),
    ) -> Result<LoadOutput, LoadError> {
        let elsewhere =
            |failure: Failure| LoadError::Elsewhere(failure.to_string().trim_start_matches("error: ").to_owned());
        let spec = self.outside(spec);
        if self.at.is_some() && TcpStream::connect_timeout(&spec.address, REACHABLE_WITHIN).is_err() {
            return Err(LoadError::Elsewhere(format!(
                "nothing answers on {}, where nodes are to load it; have the server listen on all addresses (0.0.0.0), not on 127.0.0.1 alone",
                spec.address
            )));
        }
        let asked = Asked {
            spec: spec.clone(),
            servers: Vec::new(),
            nodes: Some(self.workers),
            gather_ns: self.gather_ns,
            bourdon: calibrate::instrument().bourdon,
        };
        let mut window_start_ns = 0;
        let command =
            command(
                Command { place: self.place.clone(), key: self.key.clone(), asked },
                stop,
                &mut |news| match news {
                    News::Begins { in_ns, .. } => window_start_ns = MonotonicClock.now_ns() + in_ns + spec.warm_up_ns,
                    News::Second(interval) => {
                        let second = LoadSecond { interval, drain: false, histograms: Vec::new() };
                        progress(&Passed { window_start_ns, second });
                    }
                    News::Unheeded(why, from) => {
                        self.tally.borrow_mut().take(why, from.as_deref()).into_iter().for_each(say);
                    }
                    News::Came { .. } | News::Ordered | News::Ready | News::Lost(_) => {}
                },
            );
        self.tally.borrow_mut().sum().into_iter().for_each(say);
        match command.map_err(|error| elsewhere(unlinked(&error)))? {
            Ended::Made(made) => brought(&made),
            Ended::Unmade(why) => Err(elsewhere(unmade(&why))),
        }
    }

    /// The same load as nodes see it.
    fn outside(&self, spec: &LoadSpec) -> LoadSpec {
        spec.clone().with(|spec| {
            // Which CPUs there are is each node's own.
            spec.cpus = Vec::new();
            if let Some(at) = self.at {
                spec.address = SocketAddr::new(at, spec.address.port());
            }
        })
    }
}

/// What they made, if it is one whole load.
fn brought(made: &Made) -> Result<LoadOutput, LoadError> {
    let failed = partial_words(made).or_else(|| out_of_time(made)).or_else(|| unasked(made)).or_else(|| unserved(made));
    match failed {
        Some(why) => Err(LoadError::Elsewhere(why)),
        None => {
            let whole = together(made).map_err(|error| LoadError::Elsewhere(error.to_string()))?;
            Ok(LoadOutput { made_beside_s: used_here_s(made), ..whole.conclude() })
        }
    }
}

/// CPU seconds of the threads of those nodes that are on this machine: nobody else used them.
fn used_here_s(made: &Made) -> f64 {
    let own = boot();
    let is_here = |share: &&Contribution| !own.is_empty() && share.presence.boot == own;
    let used_s = |share: &Contribution| -> f64 {
        let measured = share.brought.clone().conclude().measurement;
        measured.generator.threads.iter().map(|thread| thread.cpu_s).sum()
    };
    made.shares.iter().filter(is_here).map(used_s).sum()
}

/// Refuses to resume a run with loads that are made elsewhere than its others.
pub(crate) fn refuse_others(plan: &Plan, args: &RunArgs) -> Result<(), Failure> {
    let now = args.nodes.nodes.as_ref().and(args.nodes.workers);
    match (plan.generator.nodes, now) {
        (then, now) if then == now => Ok(()),
        (Some(then), _) => Err(Failure::usage(format!(
            "the loads of this run were made by {then} nodes; resume it with --nodes, --key and --workers {then}"
        ))),
        (None, _) => Err(Failure::usage("the loads of this run were made by this machine; resume it without --nodes")),
    }
}

/// All experiments are not one run.
pub(crate) fn of_all() -> Failure {
    Failure::usage("--nodes belongs to a run of one experiment; name one")
}
