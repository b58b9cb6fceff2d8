//! A node, as far as it hears and speaks: free, or held by one run at a time, of which it makes a share of the load.

use std::collections::VecDeque;

use model::{Extent, Interval, LoadModel, LoadSpec, NS_PER_S};

use crate::allowed::Allowed;
use crate::key::{Key, Unheeded};
use crate::message::{ALONE_NS, Address, Body, MESSAGE_SCHEMA, Message, Order, Presence, Refusal};
use crate::offset::Exchange;
use crate::pieces::{When, pieces};

/// How often a node that is held says that it is there.
pub(crate) const ALIVE_EVERY_NS: u64 = NS_PER_S / 2;

/// For how long whoever holds a node may say nothing before it ends what it does.
const DESERTED_NS: u64 = 10 * NS_PER_S;

/// How far ahead a begin may be.
const LONGEST_LEAD_NS: u64 = 120 * NS_PER_S;

/// Files that a process has open beside its connections.
const OTHER_FILES: u64 = 64;

/// Runs whose last call is remembered.
const CALLERS_REMEMBERED: usize = 64;

/// What no load is more than: it may only be ordered by mistake.
const MOST_THREADS: u32 = 1 << 16;
const MOST_CONNECTIONS: u32 = 1 << 26;
const LONGEST_NS: u64 = 30 * 24 * 3600 * NS_PER_S;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum NodeDoes {
    /// Send something.
    Send(Address, Vec<u8>),
    /// Open the connections of a share, and wait.
    Make(Box<Order>),
    /// Begin at this time of its clock.
    Begin(u64),
    /// End what is being made.
    Stop,
    /// Be called otherwise from now on.
    Renew(String),
    /// Say something.
    Tell(NodeNews),
}

/// What a node tells of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeNews {
    /// The server of messages is not reached yet.
    Waits {
        /// Where.
        url: String,
        /// Why.
        why: String,
    },
    /// It makes a share of a run's load: these threads and connections, to this address.
    Ordered {
        /// The run.
        run: String,
        /// What it is called in it.
        session: String,
        /// Where the load goes.
        address: String,
        /// Its threads, and the connections of all of them.
        threads: u32,
        /// Connections.
        connections: u64,
    },
    /// It refused one.
    Refused(Refusal),
    /// It has begun.
    Began,
    /// All that it brought is with whoever wanted it.
    Delivered,
    /// It was let go.
    Free,
    /// Whoever commands its run was not heard of for too long.
    Deserted,
    /// What it was to make came to nothing.
    Failed(String),
    /// A message was not heeded, of whoever claims to have sent it.
    Unheeded(Unheeded, Option<String>),
}

/// What the engine tells of a share.
#[derive(Debug)]
pub(crate) enum Making {
    /// Its connections are open.
    Ready,
    /// A second has passed.
    Second(Interval),
    /// What it would have brought after so many seconds, as it is written.
    Checkpoint(u64, Vec<u8>),
    /// What it brought.
    Home(Vec<u8>),
    /// It made nothing, and why.
    Failed(String),
}

/// A node.
pub(crate) struct Node {
    key: Key,
    own: Presence,
    allowed: Vec<Allowed>,
    session: String,
    fresh_name: fn() -> String,
    number: u64,
    held: Option<Held>,
    /// The last call of each run that called, the oldest first.
    calls: VecDeque<(String, u64)>,
    /// Since when messages do not come and go.
    alone_ns: Option<u64>,
    out: Vec<NodeDoes>,
}

/// By which run it is held.
struct Held {
    run: String,
    heard_ns: u64,
    spoke_ns: u64,
    /// The last message of whoever commands it.
    number: u64,
    /// Whether nothing is being made any more.
    is_done: bool,
}

impl Node {
    pub(crate) fn new(key: Key, own: Presence, allowed: Vec<Allowed>, fresh_name: fn() -> String) -> Self {
        let session = fresh_name();
        Self {
            key,
            own,
            allowed,
            session,
            fresh_name,
            number: 0,
            held: None,
            calls: VecDeque::new(),
            alone_ns: None,
            out: Vec::new(),
        }
    }

    /// What it is called now.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Takes a message.
    pub(crate) fn heard(&mut self, now_ns: u64, bytes: &[u8]) -> Vec<NodeDoes> {
        match self.key.open(bytes) {
            Ok(message) => self.take(now_ns, message),
            Err((why, claimed)) => self.tell(NodeNews::Unheeded(why, claimed)),
        }
        std::mem::take(&mut self.out)
    }

    /// Takes what the engine tells.
    pub(crate) fn made(&mut self, now_ns: u64, making: Making) -> Vec<NodeDoes> {
        match making {
            Making::Ready => self.say(now_ns, Body::Ready),
            Making::Second(second) => self.say(now_ns, Body::Second(second)),
            Making::Checkpoint(seconds, bytes) => self.bring(When::After(seconds), &bytes),
            Making::Home(bytes) => {
                self.bring(When::AtEnd, &bytes);
                self.held.iter_mut().for_each(|held| held.is_done = true);
            }
            Making::Failed(_) if self.held.is_none() => {}
            Making::Failed(why) => {
                self.say(now_ns, Body::Failed(why.chars().take(300).collect()));
                self.tell(NodeNews::Failed(why));
                self.held.iter_mut().for_each(|held| held.is_done = true);
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Lets time pass.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Vec<NodeDoes> {
        if let Some(held) = &self.held {
            let is_alone = self.alone_ns.is_some_and(|since_ns| now_ns.saturating_sub(since_ns) > ALONE_NS);
            let is_heard = self.alone_ns.is_some() || now_ns.saturating_sub(held.heard_ns) <= DESERTED_NS;
            if is_alone || !is_heard {
                self.tell(NodeNews::Deserted);
                self.let_go();
            } else if self.alone_ns.is_none() && now_ns.saturating_sub(held.spoke_ns) >= ALIVE_EVERY_NS {
                self.say(now_ns, Body::Alive);
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Messages come and go again, or do not: nobody is heard meanwhile.
    pub(crate) fn connected(&mut self, now_ns: u64, is_connected: bool) {
        self.alone_ns = if is_connected { None } else { self.alone_ns.or(Some(now_ns)) };
        self.held.iter_mut().for_each(|held| held.heard_ns = now_ns);
    }

    fn take(&mut self, now_ns: u64, message: Message) {
        let Message { run, from, to, number, body, .. } = message;
        let unheeded = match &self.held {
            _ if from != run => Some(Unheeded::Unexpected),
            _ if body == Body::Call => (!self.is_new_call(&run, number)).then_some(Unheeded::Repeated),
            _ if to != self.session => Some(Unheeded::OtherRun),
            Some(held) if held.run != run && matches!(body, Body::Order(_)) => {
                let busy = Refusal::Busy { run: held.run.clone() };
                return self.send_to(&run, Body::Refused(busy));
            }
            Some(held) if held.run != run => Some(Unheeded::OtherRun),
            Some(held) if number <= held.number => Some(Unheeded::Repeated),
            _ => None,
        };
        if let Some(why) = unheeded {
            return self.tell(NodeNews::Unheeded(why, Some(from)));
        }
        if let Some(held) = self.held.as_mut().filter(|held| held.run == run && body != Body::Call) {
            (held.heard_ns, held.number) = (now_ns, number);
        }
        match (body, self.held.is_some()) {
            (Body::Call, false) => self.send_to(&run, Body::Here(self.own.clone())),
            // Whoever holds it knows that it is here, and whoever does not may call again.
            (Body::Call, true) => {
                let busy = self.held.as_ref().filter(|held| held.run != run).map(|held| held.run.clone());
                busy.into_iter().for_each(|of| self.send_to(&run, Body::Refused(Refusal::Busy { run: of })));
            }
            (Body::Alive, _) => {}
            (Body::Order(order), false) => self.ordered(now_ns, (run, number), order),
            (Body::TimeAsked { sent_ns }, true) => {
                self.say(
                    now_ns,
                    Body::Time(Exchange { sent_ns, received_ns: now_ns, replied_ns: now_ns, returned_ns: 0 }),
                );
            }
            (Body::Begin { at_ns }, true) if at_ns > now_ns.saturating_add(LONGEST_LEAD_NS) => {
                let why = "it was to begin minutes from then";
                self.say(now_ns, Body::Failed(why.to_owned()));
                self.tell(NodeNews::Failed(why.to_owned()));
                self.let_go();
            }
            (Body::Begin { at_ns }, true) => {
                self.out.push(NodeDoes::Begin(at_ns));
                self.say(now_ns, Body::Begins);
                self.tell(NodeNews::Began);
            }
            (Body::Stop, true) => self.out.push(NodeDoes::Stop),
            (Body::Over, true) => {
                self.tell(NodeNews::Free);
                self.let_go();
            }
            _ => self.tell(NodeNews::Unheeded(Unheeded::Unexpected, Some(from))),
        }
    }

    /// Whether a call was not heard before: of so many runs as are remembered.
    fn is_new_call(&mut self, run: &str, number: u64) -> bool {
        match self.calls.iter_mut().find(|(caller, _)| caller == run) {
            Some((_, last)) => number > std::mem::replace(last, number.max(*last)),
            None => {
                self.calls.push_back((run.to_owned(), number));
                if self.calls.len() > CALLERS_REMEMBERED {
                    self.calls.pop_front();
                }
                true
            }
        }
    }

    fn ordered(&mut self, now_ns: u64, (run, number): (String, u64), order: Box<Order>) {
        if let Some(why) = self.refusal(&order) {
            self.send_to(&run, Body::Refused(why.clone()));
            self.tell(NodeNews::Refused(why));
            return self.let_go();
        }
        self.tell(NodeNews::Ordered {
            run: run.clone(),
            session: self.session.clone(),
            address: order.spec.address.to_string(),
            threads: order.share.threads,
            connections: order.connections(),
        });
        self.held = Some(Held { run, heard_ns: now_ns, spoke_ns: now_ns, number, is_done: false });
        self.out.push(NodeDoes::Make(order));
    }

    fn refusal(&self, order: &Order) -> Option<Refusal> {
        let needed = || order.connections() + OTHER_FILES;
        match () {
            () if order.bourdon != self.own.instrument.bourdon => {
                Some(Refusal::Version { bourdon: self.own.instrument.bourdon.clone() })
            }
            () if !order.is_sound() => Some(Refusal::Absurd),
            () if !self.allowed.iter().any(|allowed| allowed.has(order.spec.address)) => {
                let allowed: Vec<String> = self.allowed.iter().map(ToString::to_string).collect();
                Some(Refusal::Address { allowed: allowed.join(", ") })
            }
            () if needed() > self.own.open_files => {
                Some(Refusal::OpenFiles { needed: needed(), most: self.own.open_files })
            }
            () => None,
        }
    }

    /// Ends what it makes, and takes another name: what is said to the one it had is not for it any more.
    fn let_go(&mut self) {
        if self.held.take().is_some_and(|held| !held.is_done) {
            self.out.push(NodeDoes::Stop);
        }
        self.session = (self.fresh_name)();
        self.out.push(NodeDoes::Renew(self.session.clone()));
    }

    /// Says something to whoever commands it.
    fn say(&mut self, now_ns: u64, body: Body) {
        let Some(held) = &mut self.held else { return };
        held.spoke_ns = now_ns;
        let run = held.run.clone();
        self.send_to(&run, body);
    }

    fn send_to(&mut self, run: &str, body: Body) {
        let sealed = self.sealed(run, body);
        self.out.push(NodeDoes::Send(Address::Run(run.to_owned()), sealed));
    }

    /// Sends what was brought to where it is kept until it was seen.
    fn bring(&mut self, when: When, bytes: &[u8]) {
        let Some(run) = self.held.as_ref().map(|held| held.run.clone()) else { return };
        for piece in pieces(when, bytes) {
            let seconds = match when {
                When::After(seconds) => seconds.to_string(),
                When::AtEnd => "end".to_owned(),
            };
            let id = format!("{run}/{}/{seconds}/{}", self.session, piece.place);
            let sealed = self.sealed(&run, Body::Result(piece));
            let session = self.session.clone();
            self.out.push(NodeDoes::Send(Address::Results { run: run.clone(), session, id }, sealed));
        }
    }

    fn sealed(&mut self, run: &str, body: Body) -> Vec<u8> {
        self.number += 1;
        let (from, to) = (self.session.clone(), run.to_owned());
        let schema = MESSAGE_SCHEMA.to_owned();
        self.key.seal(&Message { schema, run: to.clone(), from, to, number: self.number, body })
    }

    fn tell(&mut self, news: NodeNews) {
        self.out.push(NodeDoes::Tell(news));
    }
}

impl Order {
    /// Connections of the share.
    fn connections(&self) -> u64 {
        self.share.of(self.spec.connections.into(), self.spec.threads)
    }

    /// Whether there is such a load: the engine makes what it is asked for.
    fn is_sound(&self) -> bool {
        let LoadSpec { load, threads, start_spread_ns, .. } = &self.spec;
        let (first, own) = (self.share.first_thread, self.share.threads);
        let length_ns = match load.extent {
            Extent::Window(ns) => Some(ns),
            Extent::Requests { within_ns, .. } => within_ns,
        };
        let is_rate = |rate_per_s: f64| (1e-6..=1e9).contains(&rate_per_s);
        *threads <= MOST_THREADS
            && own > 0
            && first.checked_add(own).is_some_and(|end| end <= *threads)
            && (*threads..=MOST_CONNECTIONS).contains(&load.connections)
            && load.pipeline > 0
            && [Some(load.warm_up_ns), length_ns, load.timeout_ns, Some(*start_spread_ns)]
                .into_iter()
                .flatten()
                .all(|ns| ns <= LONGEST_NS)
            && match load.model {
                LoadModel::Closed => true,
                LoadModel::Open { rate_per_s, .. } => is_rate(rate_per_s),
            }
    }
}
