//! How the clocks of nodes stand, and when all begin.

use model::NS_PER_S;

use super::{Coordinator, Phase};
use crate::member::{Member, Question};
use crate::message::Body;
use crate::outcome::{Ended, News, Unmade};

/// Exchanges of the time with each node, before the load and after it.
const EXCHANGES: [usize; 2] = [32, 8];

/// How long an answer to what time it is may take before it is asked again, and how often it is asked.
const TIME_NS: u64 = NS_PER_S / 2;
const TIMES_ASKED: u32 = 6;

/// How many are asked at a time: a thousand one after the other would take twenty seconds, and a thousand at once would wait for each other.
const ASKED_AT_ONCE: usize = 16;

/// How far ahead the begin is, beside four ways to the farthest node, and how much further for each node.
const LEAD_NS: u64 = 300_000_000;
const LEAD_OF_NODE_NS: u64 = 1_000_000;

impl Coordinator {
    /// Begins to ask all what time it is, some at a time.
    pub(super) fn ask_time(&mut self, now_ns: u64, round: usize) {
        self.phase = Phase::Timing { round };
        (0..self.members.len().min(ASKED_AT_ONCE)).for_each(|member| self.ask(member, now_ns, 1));
    }

    fn ask(&mut self, member: usize, now_ns: u64, times: u32) {
        self.members[member].question = Some(Question { sent_ns: now_ns, times });
        self.say(member, Body::TimeAsked { sent_ns: now_ns });
    }

    /// Asks the next question after an answer, or another member, or does what comes after all of them.
    pub(super) fn ask_next(&mut self, now_ns: u64, round: usize, member: usize) {
        if self.members[member].exchanges[round].len() < EXCHANGES[round] {
            return self.ask(member, now_ns, 1);
        }
        self.members[member].question = None;
        let is_unasked = |member: &Member| member.question.is_none() && member.exchanges[round].is_empty();
        if let Some(next) = self.members.iter().position(is_unasked) {
            self.ask(next, now_ns, 1);
        } else if self.members.iter().all(|member| member.question.is_none()) {
            match round {
                0 => self.begin(now_ns),
                _ => self.made(None, Vec::new()),
            }
        }
    }

    pub(super) fn ask_again(&mut self, now_ns: u64) {
        let Phase::Timing { round } = self.phase else { return };
        if !self.is_connected {
            return;
        }
        for member in 0..self.members.len() {
            let late = self.members[member].question.filter(|asked| now_ns.saturating_sub(asked.sent_ns) >= TIME_NS);
            match late {
                None => {}
                Some(asked) if asked.times < TIMES_ASKED => self.ask(member, now_ns, asked.times + 1),
                Some(_) if round == 0 => {
                    let node = self.members[member].named();
                    return self.end(Ended::Unmade(Unmade::NoTime(node)));
                }
                // All is there that it brought; how its clock stands by now is not known.
                Some(_) => return self.made(None, Vec::new()),
            }
        }
    }

    fn begin(&mut self, now_ns: u64) {
        let offsets: Vec<_> = self.members.iter().map(|member| member.offsets()[0]).collect();
        let farthest_ns = offsets.iter().flatten().map(|offset| offset.within_ns).max().unwrap_or(0);
        let at_ns = now_ns + LEAD_NS + 4 * farthest_ns + LEAD_OF_NODE_NS * self.members.len() as u64;
        for (at, offset) in offsets.iter().enumerate() {
            let Some(offset) = offset else {
                let node = self.members[at].named();
                return self.end(Ended::Unmade(Unmade::NoTime(node)));
            };
            self.members[at].heard_ns = now_ns;
            self.say(at, Body::Begin { at_ns: at_ns.saturating_add_signed(offset.ahead_ns) });
        }
        let within_ns = offsets.iter().flatten().map(|offset| offset.by(at_ns).within_ns).max().unwrap_or(0);
        (self.phase, self.begin_ns) = (Phase::Begun { at_ns }, at_ns);
        self.tell(News::Begins { within_ns, in_ns: at_ns - now_ns });
    }
}
