//! What nodes bring, and who is lost before.

use engine::Brought;
use model::{Extent, NS_PER_S};

use super::{Coordinator, Phase, SILENT_NS, STOPPED_NS};
use crate::member::Member;
use crate::outcome::{Contribution, Ended, Lost, Made, Unmade, WhyLost};

/// How long after the begin a node may still say that it begins.
const BEGINS_NS: u64 = NS_PER_S;

/// How long after its end, or after messages come and go again, what was measured may take to come: a drain, and what is sent again.
const BROUGHT_NS: u64 = 60 * NS_PER_S;

/// How far off the begin of a window may be from where it was ordered: not at all but for rounding.
const BEGIN_OFF_NS: u64 = 10_000;

impl Coordinator {
    pub(super) fn watch(&mut self, now_ns: u64, at_ns: u64) {
        let has_begun = |member: &Member| member.begins || member.home.is_some();
        if self.is_connected && now_ns > at_ns.max(self.connected_ns) + BEGINS_NS && !self.members.iter().all(has_begun)
        {
            let late = self.named(|member| !has_begun(member));
            return self.end(Ended::Unmade(Unmade::NotBegun(late)));
        }
        let is_late = self.ends_ns().is_some_and(|ends_ns| now_ns > ends_ns);
        let is_lost = |member: &&Member| {
            let is_silent = self.is_connected && now_ns.saturating_sub(member.heard_ns) > SILENT_NS;
            member.home.is_none() && (is_late || is_silent)
        };
        let why_lost = |member: &Member| {
            let for_ns = now_ns.saturating_sub(member.heard_ns);
            match self.alone_for_ns(now_ns) {
                Some(alone_ns) => loss(member, WhyLost::apart(alone_ns)),
                None if for_ns > SILENT_NS => loss(member, WhyLost::silent(for_ns)),
                None => loss(member, WhyLost::Late),
            }
        };
        let lost: Vec<Lost> = self.members.iter().filter(is_lost).map(why_lost).collect();
        if !lost.is_empty() {
            self.lose(lost);
        }
    }

    /// Messages have not come and gone for so long that nobody waits for them any more: what is here counts.
    pub(super) fn give_up(&mut self, alone_ns: u64) {
        let why = WhyLost::apart(alone_ns);
        let missing = self.members.iter().filter(|member| member.home.is_none());
        let lost: Vec<Lost> = missing.map(|member| loss(member, why.clone())).collect();
        match self.phase {
            Phase::Over => {}
            Phase::Begun { .. } => self.lose(lost),
            Phase::Timing { round: 1 } => self.made(None, Vec::new()),
            _ => self.end(Ended::Unmade(Unmade::Apart(alone_ns as f64 / NS_PER_S as f64))),
        }
    }

    /// When everything should have been brought; none where nobody knows how long it takes.
    fn ends_ns(&self) -> Option<u64> {
        let load = &self.asked.spec.load;
        let window_ns = match load.extent {
            Extent::Window(ns) => Some(ns),
            Extent::Requests { within_ns, .. } => within_ns,
        };
        let stopped = self.stopping_ns.map(|since_ns| since_ns + STOPPED_NS);
        let whole = |window_ns: u64| {
            self.begin_ns.saturating_add(load.warm_up_ns).saturating_add(window_ns).max(self.connected_ns) + BROUGHT_NS
        };
        // While messages do not come and go nobody is late, but where somebody waits for the end.
        stopped.into_iter().chain(window_ns.filter(|_| self.is_connected).map(whole)).min()
    }

    /// Something that a node brought is there.
    pub(super) fn took_result(&mut self, now_ns: u64, at: usize) {
        let member = &self.members[at];
        let is_elsewhere = member.home.as_ref().is_some_and(|home| !self.is_in_place(member, home));
        if member.is_unsound || is_elsewhere {
            let lost = loss(member, WhyLost::Unsound);
            return self.lose(vec![lost]);
        }
        if self.members.iter().all(|member| member.home.is_some()) {
            return self.ask_time(now_ns, 1);
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

    /// The last second after which it is known what each would have brought.
    fn common_second(&self) -> Option<u64> {
        // Who is done has told of none of the later ones.
        let teller = self.members.iter().find(|member| member.home.is_none()).or(self.members.first())?;
        teller.seconds().rev().find(|second| self.members.iter().all(|member| member.has(*second)))
    }

    /// Nodes are lost: what is left of the load would be another one, so that it ends. What counts is what all brought together.
    pub(super) fn lose(&mut self, lost: Vec<Lost>) {
        lost.iter().for_each(|lost| self.tell_of(lost));
        match self.common_second().filter(|_| matches!(self.phase, Phase::Begun { .. })) {
            Some(seconds) => self.made(Some(seconds), lost),
            None => self.end(Ended::Unmade(Unmade::Lost(lost))),
        }
    }

    /// Puts together what all brought, by the end or in so many whole seconds.
    pub(super) fn made(&mut self, whole_seconds: Option<u64>, mut lost: Vec<Lost>) {
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
                    let (brought, offset) = (brought.moved(-offset.ahead_ns), offset.by(self.begin_ns));
                    let share = member.share;
                    shares.push(Contribution { name, presence, share, offset, offset_at_end, brought });
                }
                None => lost.push(loss(member, WhyLost::Unsound)),
            }
        }
        self.end(if shares.len() < self.members.len() {
            Ended::Unmade(Unmade::Lost(lost))
        } else {
            Ended::Made(Made { shares, lost, whole_seconds, begin_ns: self.begin_ns })
        });
    }
}

fn loss(member: &Member, why: WhyLost) -> Lost {
    Lost { node: member.named(), why }
}
