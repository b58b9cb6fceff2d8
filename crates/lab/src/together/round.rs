//! The turns, and what is done at the edges between them, when nothing is in flight.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{Passed, Sliced};
use model::{ConnectionCounts, LoadSecond, Prelude, RuntimeSample, Sample, Turn};
use observe::SeenSlice;

use super::member::{Look, Member, cpu_s};
use crate::rest;
use crate::trial::LaunchEvent;

type Tell<'t> = &'t mut dyn FnMut(LaunchEvent<'_>);

/// Members that take turns.
pub(super) struct Round<'a, 't> {
    members: Vec<Member<'a>>,
    /// Those to come, the next one last, each with its place in its round.
    turns: Vec<(Turn, u32)>,
    /// The one that is being taken.
    taken: Option<Taken>,
    /// When the first one began, on the engine's clock.
    begin_ns: Option<u64>,
    /// Looks from before that is known.
    untold: Vec<(usize, Sample)>,
    /// How long all are left alone after the last turn, and what cuts that short.
    rest: (Duration, &'t AtomicBool),
    /// Whether it was.
    is_cut: bool,
    tell: Tell<'t>,
}

/// A turn that is being taken.
struct Taken {
    member: usize,
    turn: Turn,
    position: u32,
    /// The look at each member before the load under way.
    before: Vec<Option<Sample>>,
    told: Option<RuntimeSample>,
    /// What was measured of its member before it, in seconds.
    measured_s: f64,
    /// How far it has come.
    stage: Stage,
}

/// A turn of a round has two loads. While it idled a server has cooled down, lost what it keeps for a time, and found something to do
/// when it is next asked; alone it would not idle. So the first load wakes it and counts nowhere; its slice follows at once.
enum Stage {
    /// It is being woken.
    Waking,
    /// Its slice is under way, after its prelude, in which so many requests were left; none of a warm-up.
    Measured(Option<(Prelude, u64)>),
}

impl<'a, 't> Round<'a, 't> {
    pub(super) fn new(
        members: Vec<Member<'a>>,
        turns: &[Turn],
        rest: (Duration, &'t AtomicBool),
        tell: Tell<'t>,
    ) -> Self {
        let mut position = 0;
        let mut placed: Vec<(Turn, u32)> = Vec::new();
        for turn in turns {
            let is_same = placed.last().is_some_and(|(last, _)| last.round == turn.round);
            position = if is_same { position + 1 } else { 1 };
            placed.push((*turn, position));
        }
        placed.reverse();
        Self { members, turns: placed, taken: None, begin_ns: None, untold: Vec::new(), rest, is_cut: false, tell }
    }

    /// At an edge: what the slice before it brought is kept, and the next turn is begun; none when there is no more, or nobody
    /// who could take it.
    ///
    /// Its runtime is asked before and after a target's slice. What it did in the slice and since then is what its clock says before it is
    /// asked, and it idles, or its slice begins, behind the answer: that is nobody's work.
    pub(super) fn edge(&mut self, sliced: Option<&Sliced>) -> Option<engine::SliceSpec> {
        let own = self.taken.as_ref().map(|taken| taken.member);
        let how = |at| match own {
            None => Look::Full,
            Some(member) if member == at => Look::Edge,
            Some(_) => Look::Light,
        };
        let mut looks: Vec<Option<Sample>> =
            self.members.iter_mut().enumerate().map(|(at, member)| member.look(how(at))).collect();
        let mut woken = None;
        if let (Some(sliced), Some(taken)) = (sliced, self.taken.take()) {
            self.begin_ns.get_or_insert(sliced.begin_ns);
            match &taken.stage {
                Stage::Waking => woken = Some(taken.woken(sliced, &looks)),
                Stage::Measured(woke) => self.keep(sliced, &taken, woke.as_ref(), &looks),
            }
        }
        self.tell_looks(&looks);
        let up: Vec<bool> =
            self.members.iter_mut().enumerate().map(|(at, member)| member.is_up(own == Some(at))).collect();
        if let Some(taken) = woken.filter(|taken| up[taken.member]) {
            return Some(self.measure(taken, looks));
        }
        if let Some(own) = own.filter(|own| up[*own]) {
            looks[own] = self.members[own].ask_at_end().or(looks[own]);
        }
        let Some((member, (turn, position))) = self.next_turn(&up) else {
            self.end_looks(&looks);
            return None;
        };
        let next = &mut self.members[member];
        let (told, measured_s) = (next.ask(), next.measured_s());
        next.idled(looks[member].as_ref(), told);
        looks[member] = next.look(Look::Edge);
        let stage = if turn.round > 0 { Stage::Waking } else { Stage::Measured(None) };
        let taken = self.taken.insert(Taken { member, turn, position, before: looks, told, measured_s, stage });
        Some(taken.load())
    }

    /// The slice of a target that was woken.
    fn measure(&mut self, mut taken: Taken, mut looks: Vec<Option<Sample>>) -> engine::SliceSpec {
        let member = &mut self.members[taken.member];
        taken.told = member.ask();
        if taken.told.is_some() {
            looks[taken.member] = member.look(Look::Edge);
        }
        taken.before = looks;
        self.taken.insert(taken).load()
    }

    /// The next turn of one that is up.
    fn next_turn(&mut self, up: &[bool]) -> Option<(usize, (Turn, u32))> {
        while let Some((turn, position)) = self.turns.pop() {
            let member = self.members.iter().position(|member| member.place == turn.launch);
            if let Some(member) = member.filter(|member| up[*member]) {
                return Some((member, (turn, position)));
            }
        }
        None
    }

    fn keep(&mut self, sliced: &Sliced, taken: &Taken, woke: Option<&(Prelude, u64)>, looks: &[Option<Sample>]) {
        let seen = taken.before[taken.member].zip(looks[taken.member]).map(|(begin, end)| SeenSlice {
            begin,
            end,
            targets_cpu_s: (0..looks.len()).filter_map(|at| taken.used_s(at, looks)).sum(),
            window_s: sliced.figures.window_s,
            told_before: taken.told,
            told_at_end: None,
            told_after: None,
        });
        let since_ns = sliced.begin_ns - self.begin_ns.unwrap_or(sliced.begin_ns);
        let (round, position, at_s) = (taken.turn.round, taken.position, since_ns as f64 / 1e9);
        let figures = sliced.figures.clone();
        let not_drained = figures.not_drained + woke.map_or(0, |(_, left)| *left);
        let prelude = woke.map(|(prelude, _)| prelude.clone());
        let slice = model::Slice { round, position, at_s, prelude, not_drained, ..figures };
        self.members[taken.member].keep(slice, seen);
    }

    fn tell_looks(&mut self, looks: &[Option<Sample>]) {
        self.untold.extend(looks.iter().enumerate().filter_map(|(at, look)| Some((at, (*look)?))));
        let Some(begin_ns) = self.begin_ns else { return };
        for (at, look) in self.untold.drain(..) {
            (self.tell)(LaunchEvent::Samples(self.members[at].spec, &[look], begin_ns));
        }
    }

    /// After the last turn.
    fn end_looks(&mut self, looks: &[Option<Sample>]) {
        for (member, look) in self.members.iter_mut().zip(looks) {
            let told = member.ask();
            member.idled(look.as_ref(), told);
        }
        let last: Vec<Option<Sample>> = self.members.iter_mut().map(|member| member.look(Look::Full)).collect();
        self.tell_looks(&last);
        let (length, stop) = self.rest;
        if !length.is_zero() {
            let look = || self.members.iter_mut().for_each(Member::look_at_rest);
            self.is_cut = !rest::leave_alone(length, stop, look);
            self.members.iter_mut().for_each(Member::end_rest);
        }
    }

    /// A second of the load under way has passed. It is told in its trial's own time, in which the measured parts of its slices
    /// follow each other at once, and all of the first turn is warm-up, as is what wakes it.
    pub(super) fn passed(&mut self, passed: &Passed) {
        let Some(taken) = &self.taken else { return };
        let mut second: LoadSecond = passed.second.clone();
        let at_s = second.interval.at_s;
        if taken.turn.round == 0 {
            // Where nothing is measured yet, its processes are looked at while they work: who starts one for each request has none
            // at an edge, and what nobody waits for could not be told.
            self.members[taken.member].look(Look::Light);
        }
        if !taken.counts() {
            let length_s = (taken.load().window_ns as f64 / 1e9).ceil();
            (second.interval.at_s, second.drain) = ((at_s - length_s).min(-1.0), false);
        } else if second.is_measured() {
            second.interval.at_s = taken.measured_s + at_s;
        }
        (self.tell)(LaunchEvent::Second(self.members[taken.member].spec, &second));
    }

    /// The members, whether all turns were taken that somebody could take, with the rest after them, and who is told.
    pub(super) fn end(self) -> (Vec<Member<'a>>, bool, Tell<'t>) {
        let is_over = self.turns.is_empty() && self.taken.is_none() && !self.is_cut;
        (self.members, is_over, self.tell)
    }
}

impl Taken {
    /// Whether its load under way is part of what is measured.
    fn counts(&self) -> bool {
        self.turn.round > 0 && matches!(self.stage, Stage::Measured(_))
    }

    /// The load that is to be made. What wakes a target lasts twice as long as a slice is under load before it is measured: caches that others had
    /// meanwhile take a Go server some 10 ms of CPU, which must not be half of what it then uses.
    fn load(&self) -> engine::SliceSpec {
        let Turn { lead_in_ns, window_ns, seed, .. } = self.turn;
        let (lead_in_ns, window_ns) = if self.counts() || self.turn.round == 0 {
            (lead_in_ns, window_ns)
        } else {
            (0, lead_in_ns.saturating_mul(2))
        };
        engine::SliceSpec { server: self.member, counts: self.counts(), lead_in_ns, window_ns, seed }
    }

    /// The same once its target has been woken.
    fn woken(self, sliced: &Sliced, looks: &[Option<Sample>]) -> Self {
        let model::Slice { length_s, replies, failed, ref felt, not_drained, .. } = sliced.figures;
        let ConnectionCounts { closed_idle, closed_by_reply, .. } = sliced.connections;
        let prelude = Prelude {
            closed_idle,
            closed_by_reply,
            length_s,
            replies,
            failed,
            felt: felt.clone(),
            cpu_s: self.used_s(self.member, looks).unwrap_or(0.0),
        };
        Self { stage: Stage::Measured(Some((prelude, not_drained))), ..self }
    }

    /// CPU seconds that a member used since the load under way began.
    fn used_s(&self, member: usize, looks: &[Option<Sample>]) -> Option<f64> {
        Some(cpu_s(looks[member].as_ref()?) - cpu_s(self.before[member].as_ref()?))
    }
}
