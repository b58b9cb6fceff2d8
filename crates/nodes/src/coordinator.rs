//! Who commands a load that nodes make: gathers them, gives each its share, learns how their clocks stand, lets all begin at one instant, and
//! takes what they bring. It does no I/O, and is told the time.

mod clocks;
mod results;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use engine::Share;
use model::{LoadSpec, NS_PER_S};

use crate::key::{Key, MOST_BYTES, Unheeded};
use crate::member::Member;
use crate::message::{ALL, ALONE_NS, Address, Body, MESSAGE_SCHEMA, Message, Order, Presence, Refusal};
use crate::offset::Exchange;
use crate::outcome::{Ended, Lost, News, NodeName, Unmade, WhyLost};
use crate::seconds::Seconds;

/// How often nodes are called while they gather.
const CALL_EVERY_NS: u64 = NS_PER_S / 4;

/// After how long a node that answered a call before, and no later one, is not there any more.
const UNANSWERED_NS: u64 = NS_PER_S;

/// For how long any nodes may come where no number is asked for.
const SETTLE_NS: u64 = 2 * NS_PER_S;

/// A node of which nothing was heard for so long is lost: from its order on it says something twice a second.
const SILENT_NS: u64 = 3 * NS_PER_S;

/// How long opening connections may take: the engine gives up after five seconds, and is not begun before.
const READY_NS: u64 = 30 * NS_PER_S;

/// How long after a load was stopped what was measured may take to come, whether messages come and go or not.
const STOPPED_NS: u64 = 6 * NS_PER_S;

/// A longer time between two ticks, which come every 20 ms, is one in which this process was held up.
const HELD_UP_NS: u64 = NS_PER_S;

/// How often nodes are told that their commander is there.
const ALIVE_EVERY_NS: u64 = NS_PER_S;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The load of all nodes together, but with the threads of one.
    pub spec: LoadSpec,
    /// Servers that are loaded in turn instead of the one in it, each by at least one node; none where that is the only one.
    pub servers: Vec<SocketAddr>,
    /// How many nodes make it; where none is said, all that come at once.
    pub nodes: Option<u32>,
    /// How long they are waited for.
    pub gather_ns: u64,
    /// The version of this bourdon.
    pub bourdon: String,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Does {
    /// Send something.
    Send(Address, Vec<u8>),
    /// Say something.
    Tell(News),
    /// End with this.
    End(Box<Ended>),
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Gathering,
    Preparing,
    /// Asks the members what time it is, before the load (0) or after it (1).
    Timing {
        round: usize,
    },
    /// All begin then, or have begun.
    Begun {
        at_ns: u64,
    },
    Over,
}

/// Who commands one load.
pub(crate) struct Coordinator {
    asked: Asked,
    run: String,
    key: Key,
    members: Vec<Member>,
    phase: Phase,
    since_ns: u64,
    spoke_ns: u64,
    number: u64,
    begin_ns: u64,
    /// Since when it is being stopped.
    stopping_ns: Option<u64>,
    /// When time was last let pass.
    ticked_ns: u64,
    is_connected: bool,
    /// Since when messages come and go again.
    connected_ns: u64,
    /// Since when messages do not come and go.
    alone_ns: Option<u64>,
    /// Nodes that make another load.
    busy: BTreeSet<String>,
    seconds: Seconds,
    out: Vec<Does>,
}

impl Coordinator {
    pub(crate) fn new(asked: Asked, run: String, key: Key, now_ns: u64) -> Self {
        Self {
            asked,
            run,
            key,
            members: Vec::new(),
            phase: Phase::Gathering,
            since_ns: now_ns,
            spoke_ns: 0,
            number: 0,
            begin_ns: 0,
            stopping_ns: None,
            ticked_ns: now_ns,
            is_connected: true,
            connected_ns: 0,
            alone_ns: None,
            busy: BTreeSet::new(),
            seconds: Seconds::default(),
            out: Vec::new(),
        }
    }

    /// Takes a message, whichever way it came.
    pub(crate) fn heard(&mut self, now_ns: u64, bytes: &[u8]) -> Vec<Does> {
        let (why, from) = match self.key.open(bytes) {
            Err(unheeded) => unheeded,
            Ok(message) => {
                let from = message.from.clone();
                match self.take(now_ns, message) {
                    Ok(()) => return std::mem::take(&mut self.out),
                    Err(why) => (why, Some(from)),
                }
            }
        };
        self.tell(News::Unheeded(why, from));
        std::mem::take(&mut self.out)
    }

    /// Notes a message that was not said where those say it who have the key.
    pub(crate) fn overheard(&mut self, bytes: &[u8]) -> Vec<Does> {
        let (why, from) = match self.key.open(bytes) {
            Err(unheeded) => unheeded,
            Ok(message) => (Unheeded::Unexpected, Some(message.from)),
        };
        self.tell(News::Unheeded(why, from));
        std::mem::take(&mut self.out)
    }

    /// Lets time pass.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Vec<Does> {
        let gap_ns = now_ns.saturating_sub(std::mem::replace(&mut self.ticked_ns, now_ns));
        if gap_ns > HELD_UP_NS {
            // Who was held up oneself has yet to hear what was said meanwhile.
            self.members.iter_mut().for_each(|member| member.heard_ns = member.heard_ns.saturating_add(gap_ns));
        }
        if let Some(alone_ns) = self.alone_for_ns(now_ns).filter(|alone_ns| *alone_ns > ALONE_NS) {
            self.give_up(alone_ns);
        }
        match self.phase {
            Phase::Gathering => self.gather(now_ns),
            Phase::Preparing => self.await_ready(now_ns),
            Phase::Timing { .. } => self.ask_again(now_ns),
            Phase::Begun { at_ns } => self.watch(now_ns, at_ns),
            Phase::Over => {}
        }
        if !matches!(self.phase, Phase::Gathering | Phase::Over)
            && self.is_connected
            && now_ns.saturating_sub(self.spoke_ns) >= ALIVE_EVERY_NS
        {
            self.spoke_ns = now_ns;
            self.say_to_all(&Body::Alive);
        }
        std::mem::take(&mut self.out)
    }

    /// Messages come and go again, or do not: nobody is silent meanwhile. Gives whether they did not before.
    pub(crate) fn connected(&mut self, now_ns: u64, is_connected: bool) -> bool {
        let was_away = !self.is_connected;
        self.is_connected = is_connected;
        self.alone_ns = if is_connected { None } else { self.alone_ns.or(Some(now_ns)) };
        self.connected_ns = if is_connected { now_ns } else { self.connected_ns };
        self.members.iter_mut().for_each(|member| member.heard_ns = now_ns);
        was_away
    }

    /// Ends the load early: what was measured until then is brought.
    pub(crate) fn stop(&mut self, now_ns: u64) -> Vec<Does> {
        match self.phase {
            Phase::Begun { .. } if self.stopping_ns.is_none() => {
                self.stopping_ns = Some(now_ns);
                self.say_to_all(&Body::Stop);
            }
            Phase::Begun { .. } | Phase::Over => {}
            // All is there but how the clocks stand by now, which without answers takes no longer than `STOPPED_NS`.
            Phase::Timing { round: 1 } => {
                let since_ns = *self.stopping_ns.get_or_insert(now_ns);
                if now_ns.saturating_sub(since_ns) > STOPPED_NS {
                    self.made(None, Vec::new());
                }
            }
            _ => self.end(Ended::Unmade(Unmade::Stopped)),
        }
        std::mem::take(&mut self.out)
    }

    fn take(&mut self, now_ns: u64, message: Message) -> Result<(), Unheeded> {
        let Message { run, from, to, number, body, .. } = message;
        if run != self.run || to != self.run {
            return Err(Unheeded::OtherRun);
        }
        let member = self.members.iter().position(|member| member.name == from);
        let member = match (member, body) {
            (None, Body::Here(presence)) if self.phase == Phase::Gathering => {
                self.came(now_ns, (from, number), presence);
                return Ok(());
            }
            // It was called again before its answer was here.
            (Some(member), body @ Body::Here(_)) => return self.members[member].spoke(now_ns, number, &body),
            // It may have come before, and been ordered by another since.
            (_, Body::Refused(Refusal::Busy { .. })) if self.phase == Phase::Gathering => {
                self.members.retain(|member| member.name != from);
                self.busy.insert(from);
                return Ok(());
            }
            (None, Body::Refused(Refusal::Busy { .. })) => return Ok(()),
            // It came too late.
            (None, Body::Here(_)) => return Ok(()),
            (None, _) => return Err(Unheeded::Unexpected),
            (Some(member), body) => {
                self.members[member].spoke(now_ns, number, &body)?;
                (member, body)
            }
        };
        self.hear_member(now_ns, member)
    }

    fn came(&mut self, now_ns: u64, (name, number): (String, u64), presence: Presence) {
        self.forget_gone(now_ns);
        if self.asked.nodes.is_some_and(|wanted| self.members.len() >= wanted as usize) {
            return;
        }
        let member = Member::new(name, presence, now_ns, number);
        let node = member.named();
        self.members.push(member);
        self.tell(News::Came { node, of: self.members.len() });
        if self.asked.nodes.is_some_and(|wanted| self.members.len() == wanted as usize) {
            self.order(now_ns);
        }
    }

    /// Who answers no call any more is gone: it may be the same node, which has another name now.
    fn forget_gone(&mut self, now_ns: u64) {
        self.members.retain(|member| now_ns.saturating_sub(member.heard_ns) <= UNANSWERED_NS);
    }

    fn hear_member(&mut self, now_ns: u64, (at, body): (usize, Body)) -> Result<(), Unheeded> {
        match (body, self.phase) {
            (Body::Alive, _) => {}
            (Body::Refused(why), Phase::Preparing) => {
                let unmade = Unmade::Refused { node: self.members[at].named(), why };
                self.end(Ended::Unmade(unmade));
            }
            (Body::Ready, Phase::Preparing) => {
                self.members[at].is_ready = true;
                if self.members.iter().all(|member| member.is_ready) {
                    self.tell(News::Ready);
                    self.ask_time(now_ns, 0);
                }
            }
            (Body::Time(exchange), Phase::Timing { round })
                if self.members[at].question.is_some_and(|question| question.sent_ns == exchange.sent_ns) =>
            {
                self.members[at].exchanges[round].push(Exchange { returned_ns: now_ns, ..exchange });
                self.ask_next(now_ns, round, at);
            }
            // The answer to a question that was asked again.
            (Body::Time(_), _) => {}
            (Body::Begins, Phase::Begun { .. }) => self.members[at].begins = true,
            (Body::Second(second), Phase::Begun { .. } | Phase::Timing { round: 1 }) => {
                let told = self.seconds.take(second, (at, self.members.len()));
                told.into_iter().for_each(|second| self.tell(News::Second(second)));
            }
            // What was asked of it is here.
            (Body::Failed(_), _) if self.members[at].home.is_some() => {}
            (Body::Failed(why), _) if self.phase != Phase::Over => {
                let lost = Lost { node: self.members[at].named(), why: WhyLost::Said(why) };
                self.lose(vec![lost]);
            }
            (Body::Result(piece), Phase::Begun { .. }) => {
                let unheeded = self.members[at].take(&piece);
                self.took_result(now_ns, at);
                return unheeded.map_or(Ok(()), Err);
            }
            // What came again, when all was there.
            (Body::Result(_), Phase::Timing { round: 1 }) | (_, Phase::Over) => {}
            _ => return Err(Unheeded::Unexpected),
        }
        Ok(())
    }

    fn gather(&mut self, now_ns: u64) {
        let waited_ns = now_ns.saturating_sub(self.since_ns);
        if self.asked.nodes.is_none() && waited_ns >= SETTLE_NS {
            self.forget_gone(now_ns);
            if !self.members.is_empty() {
                return self.order(now_ns);
            }
        }
        if waited_ns >= self.asked.gather_ns {
            let came = self.named(|_| true);
            let waited_s = waited_ns as f64 / NS_PER_S as f64;
            return self.end(Ended::Unmade(Unmade::TooFew {
                came,
                wanted: self.asked.nodes,
                busy: self.busy.len(),
                waited_s,
            }));
        }
        if self.is_connected && (self.number == 0 || now_ns.saturating_sub(self.spoke_ns) >= CALL_EVERY_NS) {
            self.spoke_ns = now_ns;
            let call = self.sealed(ALL, Body::Call);
            self.out.push(Does::Send(Address::Nodes, call));
        }
    }

    /// Gives each its share.
    fn order(&mut self, now_ns: u64) {
        self.members.sort_by(|a, b| (&a.presence.host, &a.name).cmp(&(&b.presence.host, &b.name)));
        let each = self.asked.spec.threads;
        let threads = u64::from(each) * self.members.len() as u64;
        if threads > u64::from(self.asked.spec.connections) {
            return self.end(Ended::Unmade(Unmade::TooManyThreads { threads }));
        }
        let (servers, nodes) = (self.asked.servers.clone(), self.members.len());
        if servers.len() > nodes {
            return self.end(Ended::Unmade(Unmade::MoreServers { servers: servers.len(), nodes }));
        }
        (self.phase, self.since_ns) = (Phase::Preparing, now_ns);
        let spec = self.asked.spec.clone().with(|spec| spec.threads = threads as u32);
        for at in 0..self.members.len() {
            let share = Share { first_thread: at as u32 * each, threads: each };
            self.members[at].share = share;
            let address = servers.get(at % servers.len().max(1)).copied().unwrap_or(spec.address);
            let spec = spec.clone().with(|spec| spec.address = address);
            let order = Order { bourdon: self.asked.bourdon.clone(), spec, share };
            self.say(at, Body::Order(Box::new(order)));
        }
        let is_too_large = |does: &Does| matches!(does, Does::Send(_, bytes) if bytes.len() > MOST_BYTES);
        if self.out.iter().any(is_too_large) {
            return self.end(Ended::Unmade(Unmade::TooLarge));
        }
        self.tell(News::Ordered);
    }

    fn await_ready(&mut self, now_ns: u64) {
        let since_ns = self.since_ns.max(self.connected_ns);
        let is_gone = |member: &&Member| now_ns.saturating_sub(member.heard_ns.max(since_ns)) > SILENT_NS;
        let silent = |member: &Member| {
            let for_ns = now_ns.saturating_sub(member.heard_ns);
            Lost { node: member.named(), why: WhyLost::silent(for_ns) }
        };
        let gone: Vec<Lost> = self.members.iter().filter(is_gone).map(silent).collect();
        if self.is_connected && !gone.is_empty() {
            return self.lose(gone);
        }
        if self.is_connected && now_ns.saturating_sub(since_ns) > READY_NS {
            let late = self.named(|member| !member.is_ready);
            self.end(Ended::Unmade(Unmade::NotReady(late)));
        }
    }

    /// For how long messages have not come and gone by now.
    fn alone_for_ns(&self, now_ns: u64) -> Option<u64> {
        self.alone_ns.map(|since_ns| now_ns.saturating_sub(since_ns))
    }

    fn end(&mut self, ended: Ended) {
        if self.phase != Phase::Over {
            let rest = self.seconds.rest();
            rest.into_iter().for_each(|second| self.tell(News::Second(second)));
            self.say_to_all(&Body::Over);
            self.phase = Phase::Over;
            self.out.push(Does::End(Box::new(ended)));
        }
    }

    fn say_to_all(&mut self, body: &Body) {
        // Until it has its order nobody holds a node.
        let is_ordered = self.phase != Phase::Gathering;
        (0..self.members.len())
            .filter(|_| is_ordered)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|at| self.say(at, body.clone()));
    }

    fn say(&mut self, at: usize, body: Body) {
        let to = self.members[at].name.clone();
        let sealed = self.sealed(&to, body);
        self.out.push(Does::Send(Address::Node(to), sealed));
    }

    fn sealed(&mut self, to: &str, body: Body) -> Vec<u8> {
        self.number += 1;
        let (run, to) = (self.run.clone(), to.to_owned());
        let (schema, number) = (MESSAGE_SCHEMA.to_owned(), self.number);
        self.key.seal(&Message { schema, run: run.clone(), from: run, to, number, body })
    }

    fn named(&self, which: impl Fn(&Member) -> bool) -> Vec<NodeName> {
        self.members.iter().filter(|member| which(member)).map(Member::named).collect()
    }

    fn tell_of(&mut self, lost: &Lost) {
        self.tell(News::Lost(lost.clone()));
    }

    fn tell(&mut self, news: News) {
        self.out.push(Does::Tell(news));
    }
}
