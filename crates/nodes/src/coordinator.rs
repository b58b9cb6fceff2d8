//! Who commands a load that nodes make: gathers them, gives each its share, learns how their clocks stand, lets all begin at one instant, and
//! takes what they bring. It does no I/O, and is told the time.

mod clocks;

use engine::{Brought, Share};
use model::{LoadSpec, NS_PER_S};

use crate::key::{Key, MOST_BYTES, Unheeded};
use crate::member::Member;
use crate::message::{ALL, Address, Body, MESSAGE_SCHEMA, Message, Order, Presence};
use crate::offset::Exchange;
use crate::outcome::{Contribution, Ended, Lost, Made, News, Unmade, WhyLost};
use crate::seconds::Seconds;

/// How often nodes are called while they gather.
const CALL_EVERY_NS: u64 = NS_PER_S / 4;

/// For how long any nodes may come where no number is asked for.
const SETTLE_NS: u64 = 2 * NS_PER_S;

/// How long opening connections may take: the engine gives up after five seconds, and is not begun before.
const READY_NS: u64 = 30 * NS_PER_S;

/// How often nodes are told that their commander is there.
const ALIVE_EVERY_NS: u64 = NS_PER_S;

/// A node of which nothing was heard for so long is lost: it says something twice a second.
const SILENT_NS: u64 = 3 * NS_PER_S;

/// How far off the begin of a window may be from where it was ordered: not at all but for rounding.
const BEGIN_OFF_NS: u64 = 10_000;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The load of all nodes together, but with the threads of one.
    pub spec: LoadSpec,
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
    /// Asks the members in turn what time it is, before the load (0) or after it (1).
    Timing {
        round: usize,
        member: usize,
        asked_ns: u64,
        times: u32,
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
    is_connected: bool,
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
            is_connected: true,
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

    /// Lets time pass.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Vec<Does> {
        match self.phase {
            Phase::Gathering => self.gather(now_ns),
            Phase::Preparing => self.await_ready(now_ns),
            Phase::Timing { .. } => self.ask_again(now_ns),
            Phase::Begun { at_ns } => self.watch(now_ns, at_ns),
            Phase::Over => {}
        }
        if !matches!(self.phase, Phase::Gathering | Phase::Over)
            && now_ns.saturating_sub(self.spoke_ns) >= ALIVE_EVERY_NS
        {
            self.spoke_ns = now_ns;
            self.say_to_all(&Body::Alive);
        }
        std::mem::take(&mut self.out)
    }

    /// Messages come and go again, or do not: nobody is silent meanwhile.
    pub(crate) fn connected(&mut self, now_ns: u64, is_connected: bool) {
        self.is_connected = is_connected;
        self.members.iter_mut().for_each(|member| member.heard_ns = now_ns);
    }

    /// Ends the load early: what was measured until then is brought.
    pub(crate) fn stop(&mut self, now_ns: u64) -> Vec<Does> {
        match self.phase {
            Phase::Begun { .. } if self.stopping_ns.is_none() => {
                self.stopping_ns = Some(now_ns);
                self.say_to_all(&Body::Stop);
            }
            Phase::Begun { .. } | Phase::Over | Phase::Timing { round: 1, .. } => {}
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
            // It was called again before its answer was here, or came too late.
            (_, Body::Here(_)) => return Ok(()),
            (None, _) => return Err(Unheeded::Unexpected),
            (Some(member), body) => {
                self.members[member].spoke(now_ns, number, &body)?;
                (member, body)
            }
        };
        self.hear_member(now_ns, member)
    }

    fn came(&mut self, now_ns: u64, (name, number): (String, u64), presence: Presence) {
        if self.asked.nodes.is_some_and(|wanted| self.members.len() >= wanted as usize) {
            return;
        }
        let host = presence.host.clone();
        self.members.push(Member::new(name, presence, now_ns, number));
        self.tell(News::Came { host, of: self.members.len() });
        if self.asked.nodes.is_some_and(|wanted| self.members.len() == wanted as usize) {
            self.order(now_ns);
        }
    }

    fn hear_member(&mut self, now_ns: u64, (at, body): (usize, Body)) -> Result<(), Unheeded> {
        let host = || self.members[at].presence.host.clone();
        match (body, self.phase) {
            (Body::Alive, _) => {}
            (Body::Refused(why), Phase::Preparing) => {
                let unmade = Unmade::Refused { host: host(), why };
                self.end(Ended::Unmade(unmade));
            }
            (Body::Ready, Phase::Preparing) => {
                self.members[at].is_ready = true;
                if self.members.iter().all(|member| member.is_ready) {
                    self.tell(News::Ready);
                    self.ask_time(now_ns, 0, 0);
                }
            }
            (Body::Time(exchange), Phase::Timing { round, member, asked_ns, .. })
                if member == at && exchange.sent_ns == asked_ns =>
            {
                self.members[at].exchanges[round].push(Exchange { returned_ns: now_ns, ..exchange });
                self.ask_next(now_ns, round, at);
            }
            // The answer to a question that was asked again.
            (Body::Time(_), _) => {}
            (Body::Begins, Phase::Begun { .. }) => self.members[at].begins = true,
            (Body::Second(second), Phase::Begun { .. }) => {
                let members = self.members.len();
                let told = self.seconds.take(second, members);
                told.into_iter().for_each(|second| self.tell(News::Second(second)));
            }
            (Body::Failed(why), _) if self.phase != Phase::Over => {
                let name = self.members[at].name.clone();
                let lost = Lost { name, host: host(), why: WhyLost::Said(why) };
                self.lose(vec![lost]);
            }
            (Body::Result(piece), Phase::Begun { .. }) => {
                self.members[at].take(&piece).map_or(Ok(()), Err)?;
                self.took_result(now_ns, at);
            }
            // What came again, when all was there.
            (Body::Result(_) | Body::Second(_), Phase::Timing { round: 1, .. } | Phase::Over) => {}
            _ => return Err(Unheeded::Unexpected),
        }
        Ok(())
    }

    fn gather(&mut self, now_ns: u64) {
        let waited_ns = now_ns.saturating_sub(self.since_ns);
        if self.asked.nodes.is_none() && waited_ns >= SETTLE_NS && !self.members.is_empty() {
            return self.order(now_ns);
        }
        if waited_ns >= self.asked.gather_ns {
            let came = self.hosts(|_| true);
            let waited_s = waited_ns as f64 / NS_PER_S as f64;
            return self.end(Ended::Unmade(Unmade::TooFew { came, wanted: self.asked.nodes, waited_s }));
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
        (self.phase, self.since_ns) = (Phase::Preparing, now_ns);
        let spec = self.asked.spec.clone().with(|spec| spec.threads = threads as u32);
        for at in 0..self.members.len() {
            let share = Share { first_thread: at as u32 * each, threads: each };
            self.members[at].share = share;
            let order = Order { bourdon: self.asked.bourdon.clone(), spec: spec.clone(), share };
            self.say(at, Body::Order(Box::new(order)));
        }
        let is_too_large = |does: &Does| matches!(does, Does::Send(_, bytes) if bytes.len() > MOST_BYTES);
        if self.out.iter().any(is_too_large) {
            return self.end(Ended::Unmade(Unmade::TooLarge));
        }
        self.tell(News::Ordered);
    }

    fn await_ready(&mut self, now_ns: u64) {
        if self.is_connected && now_ns.saturating_sub(self.since_ns) > READY_NS {
            let late = self.hosts(|member| !member.is_ready);
            self.end(Ended::Unmade(Unmade::NotReady(late)));
        }
    }

    fn watch(&mut self, now_ns: u64, at_ns: u64) {
        if !self.is_connected {
            return;
        }
        if now_ns > at_ns && self.members.iter().any(|member| !member.begins && member.home.is_none()) {
            let late = self.hosts(|member| !member.begins);
            return self.end(Ended::Unmade(Unmade::NotBegun(late)));
        }
        let silent = |member: &&Member| {
            let is_late = self.stopping_ns.is_some_and(|since_ns| now_ns.saturating_sub(since_ns) > 2 * SILENT_NS);
            member.home.is_none() && (is_late || now_ns.saturating_sub(member.heard_ns) > SILENT_NS)
        };
        let lost = |member: &Member| Lost::silent(&member.name, &member.presence.host, now_ns - member.heard_ns);
        let lost: Vec<Lost> = self.members.iter().filter(silent).map(lost).collect();
        if !lost.is_empty() {
            self.lose(lost);
        }
    }

    /// Something that a node brought is there.
    fn took_result(&mut self, now_ns: u64, at: usize) {
        let member = &self.members[at];
        if member.home.as_ref().is_some_and(|home| !self.is_in_place(member, home)) {
            let (name, host) = (member.name.clone(), member.presence.host.clone());
            return self.lose(vec![Lost { name, host, why: WhyLost::Unsound }]);
        }
        if self.members.iter().all(|member| member.home.is_some()) {
            return self.ask_time(now_ns, 1, 0);
        }
        if let Some(seconds) = self.common_second() {
            self.members.iter_mut().for_each(|member| member.forget_before(seconds));
        }
    }

    /// Whether a share began when all did. One that was stopped in its warm-up has a window that begins with its end.
    fn is_in_place(&self, member: &Member, brought: &Brought) -> bool {
        let Some(offset) = member.offsets()[0] else { return false };
        let begun_ns = i128::from(brought.window_ns().0) - i128::from(offset.ahead_ns);
        let ordered_ns = i128::from(self.begin_ns) + i128::from(self.asked.spec.warm_up_ns);
        let was_stopped = self.stopping_ns.is_some() && begun_ns < ordered_ns;
        was_stopped || (begun_ns - ordered_ns).unsigned_abs() <= u128::from(BEGIN_OFF_NS)
    }

    /// The last second after which all have told what they would have brought.
    fn common_second(&self) -> Option<u64> {
        let (first, others) = self.members.split_first()?;
        first.seconds().rev().find(|second| others.iter().all(|other| other.seconds().any(|told| told == *second)))
    }

    /// Nodes are lost: what is left of the load would be another one, so that it ends. What counts is what all brought together.
    fn lose(&mut self, lost: Vec<Lost>) {
        lost.iter().for_each(|lost| self.tell(News::Lost(lost.clone())));
        match self.common_second().filter(|_| matches!(self.phase, Phase::Begun { .. })) {
            Some(seconds) => self.made(Some(seconds), lost),
            None => self.end(Ended::Unmade(Unmade::Lost(lost))),
        }
    }

    /// Puts together what all brought, by the end or in so many whole seconds.
    fn made(&mut self, whole_seconds: Option<u64>, mut lost: Vec<Lost>) {
        let mut shares = Vec::new();
        for member in &self.members {
            let brought = match whole_seconds {
                Some(seconds) => member.after(seconds).filter(|brought| self.is_in_place(member, brought)),
                None => member.home.clone(),
            };
            let [offset, offset_at_end] = member.offsets();
            let (name, presence) = (member.name.clone(), member.presence.clone());
            match brought.zip(offset) {
                Some((brought, offset)) => {
                    let brought = brought.moved(-offset.ahead_ns);
                    shares.push(Contribution { name, presence, offset, offset_at_end, brought });
                }
                None => lost.push(Lost { name, host: presence.host, why: WhyLost::Unsound }),
            }
        }
        self.end(if shares.len() < self.members.len() {
            Ended::Unmade(Unmade::Lost(lost))
        } else {
            Ended::Made(Made { shares, lost, whole_seconds, begin_ns: self.begin_ns })
        });
    }

    fn end(&mut self, ended: Ended) {
        if self.phase != Phase::Over {
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

    fn hosts(&self, which: impl Fn(&Member) -> bool) -> Vec<String> {
        self.members.iter().filter(|member| which(member)).map(|member| member.presence.host.clone()).collect()
    }

    fn tell(&mut self, news: News) {
        self.out.push(Does::Tell(news));
    }
}
