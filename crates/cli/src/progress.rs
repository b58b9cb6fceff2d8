use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Addition, Event, TrialRecord};

use ::report::format::counted;

use crate::output::{say, stderr_text};

/// Shows on stderr which step of a work of unknown length is under way: in one line on a terminal, else a line each.
pub(crate) struct StepLine(ProgressBar);

impl StepLine {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Says what is done next. The line stands still while it is measured: drawing takes CPU.
    pub(crate) fn show(&self, step: &str) {
        if self.0.is_hidden() {
            say(step);
        } else {
            self.0.set_message(stderr_text(step));
            self.0.tick();
        }
    }
}

impl Drop for StepLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How often a line on the terminal is drawn again, so that its clock goes on.
const DRAW_EVERY: Duration = Duration::from_millis(200);

/// Draws a line again and again until what this gives is dropped. Without a thread to do it the line moves only when
/// there is something to show.
pub(crate) fn keep_drawing(bar: &ProgressBar) -> Option<Sender<()>> {
    let (drawing, stopped) = mpsc::channel();
    let line = bar.clone();
    let draw = move || {
        while stopped.recv_timeout(DRAW_EVERY) == Err(RecvTimeoutError::Timeout) {
            line.tick();
        }
    };
    let thread = || std::thread::Builder::new().name("progress".to_owned()).spawn(draw).ok();
    (!bar.is_hidden()).then(thread).flatten().map(|_| drawing)
}

/// Shows a run's events on stderr: a line that follows the run on a terminal, a line per block elsewhere.
pub(crate) struct RunProgress {
    bar: ProgressBar,
    drawing: Option<Sender<()>>,
    label: String,
    block: u32,
    block_trials: u64,
    /// Trials of the block whose target did not become ready.
    block_not_up: u64,
    /// The target that the block launched again, for the noise.
    block_again: Option<String>,
    /// Trials of the block that take the place of one that was made in vain.
    block_anew: u64,
    /// The names of all trials that ended, of the second launch of a block without its cell, and whether the last one went round.
    ended: BTreeMap<String, bool>,
    /// Whether it is told already that trials are made again, alone.
    tells_anew: bool,
    /// Whether blocks mean something to whoever looks on.
    tells_blocks: bool,
    /// How many cycles there will be, where each block is one.
    cycles: u32,
    /// What others used of all CPUs in each launch of the first blocks, as a share; none once it was looked at.
    others: Option<Vec<f64>>,
}

/// Blocks after which it is told that others keep the machine busy.
const LOOKED_AT: u32 = 2;

/// From which share of all CPUs on in each launch. A choice: next to a program that used 14 % of them nothing was called the same, and most
/// else was open (docs/PROOF.md).
const MUCH_BY_OTHERS: f64 = 0.1;

impl RunProgress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{elapsed} [{pos}/{len}] {bar:20} {wide_msg} eta {eta}") {
            bar.set_style(style);
        }
        Self {
            bar,
            drawing: None,
            label: String::new(),
            block: 0,
            block_trials: 0,
            block_not_up: 0,
            block_again: None,
            block_anew: 0,
            ended: BTreeMap::new(),
            tells_anew: false,
            tells_blocks: true,
            cycles: 0,
            others: Some(Vec::new()),
        }
    }

    /// The same of a work that has no blocks.
    pub(crate) fn without_blocks() -> Self {
        Self { tells_blocks: false, ..Self::new() }
    }

    /// The same of a work of so many cycles.
    pub(crate) fn of_cycles(cycles: u32) -> Self {
        Self { cycles, ..Self::without_blocks() }
    }

    /// Takes one event.
    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::Begun { untold, recorded } if !untold.is_empty() => self.say(&lagging(untold, *recorded)),
            Event::Begun { .. } | Event::Look { .. } => {}
            Event::Building { target } => self.say(&format!("building {target}")),
            Event::Absent { target, reason } => self.say(&format!("absent: {target}: {reason}")),
            Event::Added { addition } => self.say(&added(addition)),
            Event::Waiting { target, seen } => {
                self.say(&format!("waiting for {target}: {}", ::report::waiting_words(seen)));
            }
            Event::Left { target, folder } => {
                self.say(&format!("{target} left {folder}, {}", lab::why_left(Path::new(folder))));
            }
            Event::TrialStarted { spec, label, done, expected, .. } => {
                self.begin_block(spec.block);
                self.label = stderr_text(label).replace('\n', " ");
                self.drawing = self.drawing.take().or_else(|| keep_drawing(&self.bar));
                self.bar.set_length(*expected as u64);
                self.bar.set_position(*done as u64);
                self.bar.set_message(self.begun());
            }
            Event::Second { second, .. } if second.drain => {}
            Event::Second { second, .. } => {
                let interval = &second.interval;
                let rate = interval.completed as f64 / interval.length_s.max(0.001);
                let rate = ::report::format::number(rate);
                self.bar.set_message(format!("{} · {rate} requests/s", self.begun()));
            }
            Event::TrialEnded { record } => self.end_trial(record),
            Event::GivenUp { block: 0, target } => {
                self.end(&format!("stopped before the first block: no rate is settled without {target}"));
            }
            Event::GivenUp { block, target } => {
                self.end(&format!("stopped after block {block}: {target} did not become ready"));
            }
            Event::Finished { reason } => self.end(&format!("done: {}", ::report::done_words(reason))),
        }
    }

    /// Ends the display before its time.
    pub(crate) fn stop(&self) {
        self.bar.finish_and_clear();
    }

    /// What is under way.
    fn begun(&self) -> String {
        if self.tells_blocks { format!("block {}: {}", self.block, self.label) } else { self.label.clone() }
    }

    fn end_trial(&mut self, record: &TrialRecord) {
        // Made again alone, a block may launch another once more than it did in slices.
        let name = if record.twin { format!("{}-twin", record.block) } else { record.id.clone() };
        let went_round = !record.slices.is_empty();
        if self.ended.insert(name, went_round) == Some(true) && !went_round {
            self.block_anew += 1;
            if !std::mem::replace(&mut self.tells_anew, true) {
                self.say("these servers cannot rotate: blocks are made again, each launch alone (the report says why)");
            }
        }
        let number = if record.is_up() { &mut self.block_trials } else { &mut self.block_not_up };
        *number += 1;
        if let Some(seen) = record.observation.as_ref().filter(|_| (1..=LOOKED_AT).contains(&record.block)) {
            self.others.iter_mut().for_each(|others| others.push(seen.host.others_share));
        }
        if record.twin && record.is_up() {
            self.block_again = Some(record.levels.target().to_owned());
        }
        self.bar.inc(1);
        if self.cycles > 0 && record.block > 0 {
            self.say(&format!("cycle {} of {}: {}", record.block, self.cycles, ::report::cycle_words(record)));
        }
        if let Some(failure) = &record.failure {
            self.say(&format!("{} ({}): {}", record.id, record.levels, report::failed_words(&failure.why)));
            if !failure.output.is_empty() {
                self.say(&indent(&failure.output));
            }
        }
    }

    fn begin_block(&mut self, block: u32) {
        if block != self.block {
            self.end_block();
            if let Some(others) = self.others.take_if(|_| self.tells_blocks && block > LOOKED_AT) {
                busy(&others).into_iter().for_each(|line| self.say(&line));
            }
            self.block = block;
        }
    }

    fn end(&mut self, why: &str) {
        self.end_block();
        self.bar.finish_and_clear();
        say(why);
    }

    fn end_block(&mut self) {
        let (trials, not_up) = (std::mem::take(&mut self.block_trials), std::mem::take(&mut self.block_not_up));
        if trials + not_up > 0 && self.block > 0 && self.bar.is_hidden() && self.tells_blocks {
            let not_up =
                if not_up == 0 { String::new() } else { format!(", {not_up} whose server did not become ready") };
            let again = self.block_again.take();
            let again = again.map_or(String::new(), |target| format!(", `{target}` twice for the noise"));
            let anew = match std::mem::take(&mut self.block_anew) {
                0 => String::new(),
                anew => format!(", {anew} of them launched again, alone"),
            };
            say(format!("block {}: {}{again}{anew}{not_up}", self.block, counted(trials, "trial", "trials")));
        }
    }

    fn say(&self, line: &str) {
        if self.bar.is_hidden() { say(line) } else { self.bar.println(stderr_text(line)) }
    }
}

/// That more blocks will show little, told while there is time to end what keeps the machine busy.
fn busy(others: &[f64]) -> Option<String> {
    let least = others.iter().copied().reduce(f64::min)?;
    let mean = others.iter().sum::<f64>() / others.len() as f64;
    (least > MUCH_BY_OTHERS).then(|| {
        format!(
            "other programs used {} of this machine's CPU time so far: small differences will stay open, however many blocks \
             there are; end those, or stop this one (what was measured is kept)",
            ::report::format::percent(mean)
        )
    })
}

/// What was added to the plan, in words.
fn added(addition: &Addition) -> String {
    match addition {
        Addition::Cell { cell, why } => ::report::purpose_words(why, cell),
        Addition::Rate(rate) => {
            let conditions =
                if rate.conditions.0.is_empty() { String::new() } else { format!("{}: ", rate.conditions) };
            let lacking: Vec<&str> = rate.without.keys().map(String::as_str).collect();
            let lacking =
                if lacking.is_empty() { String::new() } else { format!(", settled without {}", lacking.join(", ")) };
            format!("{conditions}the rate is {} requests/s{lacking}", ::report::format::number(rate.rate_per_s))
        }
    }
}

/// Names of trials that are said before the rest is a number.
const NAMED: usize = 5;

/// What the events lack.
fn lagging(untold: &[String], recorded: usize) -> String {
    let named = untold[..untold.len().min(NAMED)].join(", ");
    let more = if untold.len() > NAMED { ", …" } else { "" };
    let trials = counted(recorded as u64, "recorded trial", "recorded trials");
    format!(
        "note: events.jsonl does not say how {} of {trials} ended ({named}{more}): it was truncated or removed. New events \
         are appended; the record and the answer lack nothing of it",
        untold.len()
    )
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_others_use_in_every_launch_is_told() {
        assert_eq!(busy(&[]), None);
        assert_eq!(busy(&[0.7, 0.7, 0.02]), None, "one launch had it to itself");
        let told = busy(&[0.6, 0.8]).unwrap();
        assert!(told.starts_with("other programs used 70 % of this machine's CPU time"), "{told}");
    }
}
