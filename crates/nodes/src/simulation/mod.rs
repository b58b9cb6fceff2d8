//! A coordinator, its nodes and what lies between them in virtual time: messages that take their time, are lost or come twice, clocks that stand
//! elsewhere, nodes that die, a server of messages that is away for a while, and somebody who writes along.

mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::Brought;
use engine::simulation::{SimulatedServer, simulate_share};
use fastrand::Rng;
use model::{Arrivals, Instrument, Interval, Load, LoadModel, LoadSpec, Mix, NS_PER_S, ReplyExpectation, Request};

use crate::allowed::Allowed;
use crate::coordinator::{Asked, Coordinator, Does};
use crate::key::Key;
use crate::message::{Address, Order, Presence};
use crate::node::{Making, Node, NodeDoes, NodeNews};
use crate::outcome::{Ended, News};

pub(super) const MS: u64 = 1_000_000;

/// When the world begins on its own clock, from which the coordinator's is read: there is room for clocks that are behind.
const DAWN_NS: u64 = 100 * NS_PER_S;

/// How often time passes for a state machine.
const TICK_NS: u64 = 20 * MS;

/// What happens between those that speak.
#[derive(Clone)]
pub(super) struct Between {
    /// A message takes so long at least, and so much longer at most.
    pub(super) takes_ns: u64,
    pub(super) jitter_ns: u64,
    /// The share of messages that are lost, but for those that are kept.
    pub(super) lost: f64,
    /// The share of messages that come twice.
    pub(super) twice: f64,
    /// From when and for how long, since all began, no message comes.
    pub(super) away: Option<(u64, u64)>,
}

impl Default for Between {
    fn default() -> Self {
        Self { takes_ns: 50_000, jitter_ns: 400_000, lost: 0.0, twice: 0.0, away: None }
    }
}

enum Event {
    ToCoordinator(Vec<u8>),
    ToNodes(Address, Vec<u8>),
    Made(usize, Making),
    Tick,
}

struct Place {
    node: Node,
    ahead_ns: i64,
    order: Option<Order>,
    /// When it ends without a word, in the world's time.
    dies_ns: Option<u64>,
    /// When it really began.
    began_ns: Option<u64>,
    news: Vec<NodeNews>,
}

/// The world.
pub(super) struct World {
    pub(super) between: Between,
    pub(super) asked: Asked,
    key: Key,
    nodes: Vec<Place>,
    now_ns: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    rng: Rng,
    is_away: bool,
    /// Messages and bytes: to nodes, to the coordinator, and results.
    pub(super) carried: [(u64, u64); 3],
    /// Every message that went to the coordinator or a node, for who writes along.
    pub(super) heard: Vec<Vec<u8>>,
    /// What somebody writes to the coordinator, and when since the world began.
    pub(super) written: Vec<(u64, Vec<u8>)>,
    /// Whether all that nodes have said so far comes again and again.
    pub(super) echoes: bool,
    /// A node that ends as soon as it has said what it brought.
    pub(super) leaves: Option<usize>,
    /// A node of whose results the last is never kept.
    pub(super) keeps_back: Option<usize>,
    /// A node whose machine is paused for so long, two seconds after the world began.
    pub(super) pauses: Option<(usize, i64)>,
    /// When somebody ends the load early, since the world began.
    pub(super) stops_ns: Option<u64>,
    /// What each node's maker is to say of its share: after so many seconds, and in the end.
    shares: BTreeMap<u32, (Vec<(u64, Brought)>, Brought)>,
}

/// What became of it.
pub(super) struct Seen {
    pub(super) ended: Ended,
    pub(super) news: Vec<News>,
    /// When each node really began, in the world's time.
    pub(super) began_ns: Vec<Option<u64>>,
    pub(super) of_nodes: Vec<Vec<NodeNews>>,
    /// What the shares were, as one process has them.
    pub(super) shares: Vec<Brought>,
}

pub(super) fn key(secret: &str) -> Key {
    Key::new(secret.as_bytes()).unwrap()
}

/// A node of version 1.
pub(super) fn presence(host: &str, open_files: u64) -> Presence {
    let instrument = Instrument { bourdon: "1".to_owned(), ..Instrument::default() };
    Presence { host: host.to_owned(), instrument, open_files, boot: String::new() }
}

/// A name that nobody else has in this process.
pub(super) fn next_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{:016x}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A load of so many nodes for so long, at so many requests a second of each.
pub(super) fn asked(nodes: u32, window_s: u64, rate_per_s: f64) -> Asked {
    let spec = LoadSpec {
        load: Load {
            model: LoadModel::Open { rate_per_s: rate_per_s * f64::from(nodes), arrivals: Arrivals::Poisson },
            ..Load::closed(
                Mix::one(Request::get("/"), ReplyExpectation::default()),
                2 * nodes,
                NS_PER_S / 2,
                window_s * NS_PER_S,
            )
        },
        address: ([127, 0, 0, 1], 80).into(),
        tls: None,
        sources: Vec::new(),
        start_spread_ns: 0,
        threads: 1,
        cpus: Vec::new(),
        spin: false,
        quick_ack: false,
        seed: 7,
    };
    Asked { spec, servers: Vec::new(), nodes: Some(nodes), gather_ns: 5 * NS_PER_S, bourdon: "1".to_owned() }
}

impl World {
    pub(super) fn new(nodes: usize, asked: Asked, seed: u64) -> Self {
        let (key, mut rng) = (key("a secret of all of them"), Rng::with_seed(seed));
        let place = |at: usize| {
            let own = presence(&format!("host-{at:04}"), 1_000);
            Place {
                node: Node::new(key.clone(), own, Allowed::own().to_vec(), next_name),
                ahead_ns: rng.i64(-5_000_000_000..=5_000_000_000),
                order: None,
                dies_ns: None,
                began_ns: None,
                news: Vec::new(),
            }
        };
        let nodes = (0..nodes).map(place).collect();
        let (queue, events) = (BinaryHeap::new(), BTreeMap::new());
        Self {
            between: Between::default(),
            asked,
            key,
            nodes,
            now_ns: DAWN_NS,
            queue,
            events,
            rng: Rng::with_seed(seed ^ 1),
            is_away: false,
            carried: [(0, 0); 3],
            heard: Vec::new(),
            written: Vec::new(),
            echoes: false,
            leaves: None,
            keeps_back: None,
            pauses: None,
            stops_ns: None,
            shares: BTreeMap::new(),
        }
    }

    /// A node ends without a word, so long after the world began.
    pub(super) fn kill(&mut self, node: usize, after_ns: u64) {
        self.nodes[node].dies_ns = Some(DAWN_NS + after_ns);
    }

    /// Runs until the load has ended, and the nodes are free again.
    pub(super) fn run(mut self) -> (Seen, Self) {
        let run = next_name();
        let mut coordinator = Coordinator::new(self.asked.clone(), run, self.key.clone(), self.now_ns);
        let (mut news, mut ended) = (Vec::new(), None);
        self.plan(self.now_ns, Event::Tick);
        for (after_ns, bytes) in std::mem::take(&mut self.written) {
            self.plan(DAWN_NS + after_ns, Event::ToCoordinator(bytes));
        }
        while let Some(Reverse((at_ns, id))) = self.queue.pop() {
            self.now_ns = at_ns;
            assert!(at_ns < DAWN_NS + 600 * NS_PER_S, "it does not end");
            let does = match self.events.remove(&id).unwrap() {
                Event::ToCoordinator(bytes) => coordinator.heard(at_ns, &bytes),
                Event::ToNodes(to, bytes) => {
                    self.hear(&to, &bytes);
                    Vec::new()
                }
                Event::Made(node, making) => {
                    self.made(node, making);
                    Vec::new()
                }
                Event::Tick if ended.as_ref().is_some_and(|(_, since_ns)| at_ns > since_ns + 12 * NS_PER_S) => break,
                Event::Tick => {
                    if let Some((node, for_ns)) = self.pauses.take_if(|_| at_ns > DAWN_NS + 2 * NS_PER_S) {
                        self.nodes[node].ahead_ns -= for_ns;
                    }
                    if self.echoes && at_ns % NS_PER_S < TICK_NS {
                        let said = self.heard.clone();
                        said.into_iter().for_each(|bytes| self.plan(at_ns, Event::ToCoordinator(bytes)));
                    }
                    self.look_whether_away(&mut coordinator);
                    self.plan(at_ns + TICK_NS, Event::Tick);
                    self.tick_nodes();
                    let is_stopped = self.stops_ns.is_some_and(|since_ns| at_ns > DAWN_NS + since_ns);
                    let stopped = if is_stopped { coordinator.stop(at_ns) } else { Vec::new() };
                    stopped.into_iter().chain(coordinator.tick(at_ns)).collect()
                }
            };
            for does in does {
                match does {
                    Does::Send(to, bytes) => self.carry(0, to, bytes),
                    Does::Tell(told) => news.push(told),
                    Does::End(how) => ended = Some((*how, at_ns)),
                }
            }
        }
        let (began_ns, of_nodes) = self.nodes.iter().map(|it| (it.began_ns, it.news.clone())).unzip();
        let shares = self.shares.values().map(|(_, home)| home.clone()).collect();
        let (ended, _) = ended.unwrap();
        (Seen { ended, news, began_ns, of_nodes, shares }, self)
    }

    fn plan(&mut self, at_ns: u64, event: Event) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        self.queue.push(Reverse((at_ns, id)));
        self.events.insert(id, event);
    }

    fn look_whether_away(&mut self, coordinator: &mut Coordinator) {
        let since_ns = self.now_ns - DAWN_NS;
        let is_away = self.between.away.is_some_and(|(from, length)| (from..from + length).contains(&since_ns));
        if is_away == self.is_away {
            return;
        }
        self.is_away = is_away;
        coordinator.connected(self.now_ns, !is_away);
        for place in &mut self.nodes {
            place.node.connected(self.now_ns.saturating_add_signed(place.ahead_ns), !is_away);
        }
    }

    /// Carries a message to where it goes; `way` says which of those that are counted.
    fn carry(&mut self, way: usize, to: Address, bytes: Vec<u8>) {
        let is_kept = matches!(to, Address::Results { .. });
        let way = if is_kept { 2 } else { way };
        self.carried[way].0 += 1;
        self.carried[way].1 += bytes.len() as u64;
        if self.heard.len() < 10_000 {
            self.heard.push(bytes.clone());
        }
        let mut at_ns = self.now_ns;
        if self.is_away {
            if !is_kept {
                return;
            }
            let (from, length) = self.between.away.unwrap_or_default();
            at_ns = DAWN_NS + from + length;
        }
        if !is_kept && self.rng.f64() < self.between.lost {
            return;
        }
        let times = 1 + usize::from(self.rng.f64() < self.between.twice);
        for _ in 0..times {
            let takes_ns = self.between.takes_ns + self.rng.u64(0..=self.between.jitter_ns);
            let event = match &to {
                Address::Run(_) | Address::Results { .. } => Event::ToCoordinator(bytes.clone()),
                Address::Nodes | Address::Node(_) => Event::ToNodes(to.clone(), bytes.clone()),
            };
            self.plan(at_ns + takes_ns, event);
        }
    }

    fn is_dead(&self, node: usize) -> bool {
        self.nodes[node].dies_ns.is_some_and(|at_ns| at_ns <= self.now_ns)
    }

    fn clock(&self, node: usize) -> u64 {
        self.now_ns.saturating_add_signed(self.nodes[node].ahead_ns)
    }

    fn hear(&mut self, to: &Address, bytes: &[u8]) {
        for node in 0..self.nodes.len() {
            let is_for_it = match to {
                Address::Node(session) => session == self.nodes[node].node.session(),
                _ => true,
            };
            if is_for_it && !self.is_dead(node) {
                let now_ns = self.clock(node);
                let does = self.nodes[node].node.heard(now_ns, bytes);
                self.carry_out(node, does);
            }
        }
    }

    fn made(&mut self, node: usize, making: Making) {
        if !self.is_dead(node) {
            let now_ns = self.clock(node);
            let does = self.nodes[node].node.made(now_ns, making);
            self.carry_out(node, does);
        }
    }

    fn tick_nodes(&mut self) {
        for node in (0..self.nodes.len()).filter(|node| !self.is_dead(*node)).collect::<Vec<_>>() {
            let now_ns = self.clock(node);
            let does = self.nodes[node].node.tick(now_ns);
            self.carry_out(node, does);
        }
    }

    fn carry_out(&mut self, node: usize, does: Vec<NodeDoes>) {
        for does in does {
            match does {
                NodeDoes::Send(Address::Results { id, .. }, _)
                    if self.keeps_back == Some(node) && id.contains("/end/") => {}
                NodeDoes::Send(to, bytes) => self.carry(1, to, bytes),
                NodeDoes::Make(order) => {
                    self.nodes[node].order = Some(*order);
                    self.plan(self.now_ns + 30 * MS, Event::Made(node, Making::Ready));
                }
                NodeDoes::Begin(at_ns) => self.begin(node, at_ns),
                NodeDoes::Stop | NodeDoes::Renew(_) => {}
                NodeDoes::Tell(news) => self.nodes[node].news.push(news),
            }
        }
    }

    /// Plans what a node's engine will say of its share, which begins at this time of the node's clock.
    fn begin(&mut self, node: usize, at_ns: u64) {
        let Some(order) = self.nodes[node].order.clone() else { return };
        let began_ns = at_ns.saturating_add_signed(-self.nodes[node].ahead_ns);
        if began_ns < self.now_ns {
            return self.plan(self.now_ns, Event::Made(node, Making::Failed("too late".to_owned())));
        }
        self.nodes[node].began_ns = Some(began_ns);
        let (spec, thread) = (&order.spec, order.share.first_thread);
        let (checkpoints, home) = self.shares.entry(thread).or_insert_with(|| share(spec, thread)).clone();
        let warm_up_ns = spec.warm_up_ns;
        let placed = |brought: &Brought| {
            let by_ns = (at_ns + warm_up_ns) as i64 - brought.window_ns().0 as i64;
            brought.clone().moved(by_ns).to_bytes()
        };
        let mut all: Vec<(u64, Making)> = vec![];
        for (seconds, brought) in &checkpoints {
            let at_ns = began_ns + warm_up_ns + seconds * NS_PER_S + 5 * MS;
            all.push((at_ns, Making::Checkpoint(*seconds, placed(brought))));
            let second = Interval { at_s: *seconds as f64 - 1.0, length_s: 1.0, completed: 1, ..Interval::default() };
            all.push((at_ns, Making::Second(second)));
        }
        let (from_ns, until_ns) = home.window_ns();
        all.push((began_ns + warm_up_ns + (until_ns - from_ns) + 10 * MS, Making::Home(placed(&home))));
        if self.leaves == Some(node) {
            let (at_ns, _) = all[all.len() - 1];
            all.push((at_ns + MS, Making::Failed("the node was ended".to_owned())));
        }
        all.into_iter().for_each(|(at_ns, making)| self.plan(at_ns, Event::Made(node, making)));
    }
}

/// A share as it is made on a server that stops for a second.
fn share(spec: &LoadSpec, thread: u32) -> (Vec<(u64, Brought)>, Brought) {
    let server = SimulatedServer { stall: Some((2 * NS_PER_S, NS_PER_S)), ..SimulatedServer::new(MS, "well") };
    let mut checkpoints = Vec::new();
    let home = simulate_share(spec, thread, server, &mut |seconds, brought| checkpoints.push((seconds, brought)));
    (checkpoints, home.unwrap())
}
