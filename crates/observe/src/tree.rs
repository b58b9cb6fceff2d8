use std::collections::{BTreeSet, HashMap};

use crate::parse::{ProcessStat, numbers, process_stat};
use crate::proc_source::Reader;

/// Whose processes are looked at: the first one of a target, and who adopts and waits for what loses its parent below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// The target's first process.
    pub root_pid: u32,
    /// The process above it, which has nothing else below itself and does not count as the target; none where there is none.
    pub reaper: Option<u32>,
}

impl Family {
    /// A process and what it starts, without a reaper.
    pub fn of(root_pid: u32) -> Self {
        Self { root_pid, reaper: None }
    }
}

/// The processes of a target: the root and everything it started, as long as it lives.
///
/// Once in the tree, a process stays in it even when its parent ends and another one adopts it. Below a reaper are also those that
/// lost their parents before anybody looked.
#[derive(Debug)]
pub(crate) struct Tree {
    members: Vec<Member>,
    reaper: Option<u32>,
    /// Whether one of them was seen that ended without being waited for.
    unwaited: bool,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    pid: u32,
    /// The last look at it. A later process with the same number has another start, and is another one.
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    stat: ProcessStat,
    /// Its parent, as it was read before it.
    of_parent: Option<ProcessStat>,
}

/// What a look at all of them says.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Of each member, parents first.
    pub(crate) members: Vec<ProcessStat>,
    /// Of the reaper, if there is one.
    pub(crate) reaper: Option<ProcessStat>,
    /// Whether one of them has ended since the look before, waited for or not.
    pub(crate) ended: bool,
}

impl Tree {
    pub(crate) fn new(Family { root_pid, reaper }: Family) -> Self {
        Self { members: vec![Member::new(root_pid)], reaper, unwaited: false }
    }

    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().map(|member| member.pid)
    }

    /// Whether one of them was seen that ended without being waited for: nobody is credited with the CPU time that it used.
    pub(crate) fn unwaited(&self) -> bool {
        self.unwaited
    }

    /// Looks for new descendants: by the kernel's lists of children, or by everyone's parent where there are none.
    pub(crate) fn discover(&mut self, reader: &mut Reader) {
        let mut known: BTreeSet<u32> = self.reaper.into_iter().chain(self.pids()).collect();
        let Some(alive) = known.iter().find(|pid| reader.exists(format_args!("{pid}/stat"))) else { return };
        let is_listed = reader.exists(format_args!("{alive}/task/{alive}/children"));
        let by_parents = (!is_listed).then(|| children_by_parents(reader));
        let mut children = |parent: u32| match &by_parents {
            Some(children) => children.get(&parent).cloned().unwrap_or_default(),
            None => listed_children(reader, parent),
        };
        let mut add = |members: &mut Vec<Member>, parent: u32| {
            members.extend(children(parent).into_iter().filter(|pid| known.insert(*pid)).map(Member::new));
        };
        self.reaper.into_iter().for_each(|reaper| add(&mut self.members, reaper));
        let mut next = 0;
        while let Some(&Member { pid, .. }) = self.members.get(next) {
            next += 1;
            add(&mut self.members, pid);
        }
    }

    /// Reads every member, parents first, and forgets those that are gone.
    pub(crate) fn stats(&mut self, reader: &mut Reader) -> Stats {
        let reaper = self.reaper.and_then(|reaper| read_stat(reader, reaper));
        let mut read: HashMap<u32, ProcessStat> = self.reaper.zip(reaper).into_iter().collect();
        let (mut members, mut gone, mut ended) = (Vec::with_capacity(self.members.len()), Vec::new(), false);
        self.members.retain_mut(|member| {
            let is_same = |stat: &ProcessStat| member.seen.is_none_or(|seen| seen.stat.start == stat.start);
            let Some(stat) = read_stat(reader, member.pid).filter(is_same) else {
                ended |= member.seen.is_none_or(|seen| !seen.stat.zombie);
                gone.extend(member.seen);
                return false;
            };
            let was_alive = member.seen.is_none_or(|seen| !seen.stat.zombie);
            // A program that another one took the place of has ended, too.
            let is_another = member.seen.is_some_and(|seen| seen.stat.stack != stat.stack);
            ended |= (stat.zombie && was_alive) || is_another;
            member.seen = Some(Seen { stat, of_parent: read.get(&stat.parent).copied() });
            read.insert(member.pid, stat);
            members.push(stat);
            true
        });
        self.unwaited |= gone.iter().any(|gone| gone.was_not_waited_for(reader));
        Stats { members, reaper, ended }
    }
}

impl Member {
    fn new(pid: u32) -> Self {
        Self { pid, seen: None }
    }
}

impl Seen {
    /// Of one that is gone: its parent was not credited with what it had used, although it could have waited for it. Page faults
    /// tell that exactly; CPU times come in ticks.
    fn was_not_waited_for(&self, reader: &mut Reader) -> bool {
        let Seen { stat, of_parent: Some(before) } = self else { return false };
        let after = read_stat(reader, stat.parent).filter(|after| after.start == before.start && !after.zombie);
        after.is_some_and(|after| after.reaped_faults < before.reaped_faults + stat.faults + stat.reaped_faults)
    }
}

/// Children as the kernel lists them, under the thread that started them.
fn listed_children(reader: &mut Reader, parent: u32) -> Vec<u32> {
    let (mut threads, mut children) = (Vec::new(), Vec::new());
    reader.numbered(format_args!("{parent}/task"), &mut threads);
    for thread in threads {
        children.extend(reader.read(format_args!("{parent}/task/{thread}/children")).into_iter().flat_map(numbers));
    }
    children
}

/// Everyone's children.
fn children_by_parents(reader: &mut Reader) -> HashMap<u32, Vec<u32>> {
    let (mut all, mut children) = (Vec::new(), HashMap::<u32, Vec<u32>>::new());
    reader.numbered(format_args!(""), &mut all);
    for pid in all {
        if let Some(stat) = read_stat(reader, pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

fn read_stat(reader: &mut Reader, pid: u32) -> Option<ProcessStat> {
    process_stat(reader.read(format_args!("{pid}/stat"))?)
}
