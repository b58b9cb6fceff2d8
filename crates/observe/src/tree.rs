use std::collections::{BTreeSet, HashMap};

use crate::parse::{ProcessStat, numbers, process_stat};
use crate::proc_source::Reader;

/// The processes of a target: the root and everything it started, as long as it lives.
///
/// Once in the tree, a process stays in it even when its parent ends and another one adopts it.
#[derive(Debug)]
pub(crate) struct Tree {
    members: Vec<Member>,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    pid: u32,
    /// Start in ticks, once read: a later process with the same number is another one.
    start: Option<u64>,
}

impl Tree {
    pub(crate) fn new(root_pid: u32) -> Self {
        Self { members: vec![Member { pid: root_pid, start: None }] }
    }

    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().map(|member| member.pid)
    }

    /// Looks for new descendants: by the kernel's lists of children, or by everyone's parent where there are none.
    pub(crate) fn discover(&mut self, reader: &mut Reader) {
        let Some(alive) = self.pids().find(|pid| reader.exists(format_args!("{pid}/stat"))) else { return };
        if reader.exists(format_args!("{alive}/task/{alive}/children")) {
            self.discover_by_children(reader);
        } else {
            self.discover_by_parents(reader);
        }
    }

    fn discover_by_children(&mut self, reader: &mut Reader) {
        let mut known: BTreeSet<u32> = self.pids().collect();
        let mut threads = Vec::new();
        let mut next = 0;
        while let Some(&Member { pid, .. }) = self.members.get(next) {
            next += 1;
            threads.clear();
            reader.numbered(format_args!("{pid}/task"), &mut threads);
            for thread in &threads {
                // Children are listed under the thread that started them.
                let Some(children) = reader.read(format_args!("{pid}/task/{thread}/children")) else { continue };
                self.members.extend(numbers(children).filter(|pid| known.insert(*pid)).map(Member::new));
            }
        }
    }

    fn discover_by_parents(&mut self, reader: &mut Reader) {
        let mut all = Vec::new();
        reader.numbered(format_args!(""), &mut all);
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for pid in all {
            if let Some(stat) = read_stat(reader, pid) {
                children.entry(stat.parent).or_default().push(pid);
            }
        }
        let mut known: BTreeSet<u32> = self.pids().collect();
        let mut next = 0;
        while let Some(&Member { pid, .. }) = self.members.get(next) {
            next += 1;
            let found = children.remove(&pid).unwrap_or_default();
            self.members.extend(found.into_iter().filter(|pid| known.insert(*pid)).map(Member::new));
        }
    }

    /// Reads every member, parents first, and forgets those that are gone.
    pub(crate) fn stats(&mut self, reader: &mut Reader) -> Vec<ProcessStat> {
        let mut stats = Vec::with_capacity(self.members.len());
        self.members.retain_mut(|member| {
            let Some(stat) = read_stat(reader, member.pid) else { return false };
            if *member.start.get_or_insert(stat.start) != stat.start {
                return false;
            }
            stats.push(stat);
            true
        });
        stats
    }
}

impl Member {
    fn new(pid: u32) -> Self {
        Self { pid, start: None }
    }
}

fn read_stat(reader: &mut Reader, pid: u32) -> Option<ProcessStat> {
    process_stat(reader.read(format_args!("{pid}/stat"))?)
}
