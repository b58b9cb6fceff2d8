//! `[generator]` and the machine: how generator and target share the CPUs.

use model::{ALL_CPUS, GeneratorPlan, Level};
use report::format::counted;

use super::Machine;
use super::diagnostic::{Fault, Read};
use super::section::Section;
use super::value::{Placed, Value};

/// One CPU in so many is the generator's unless somebody says otherwise: enough for a request that costs a server three
/// times what it costs the generator, as most do.
const CPUS_TO_ONE_OF_THE_GENERATOR: u32 = 4;

/// Most generator threads: more than any machine has use for.
pub(crate) const MOST_THREADS: u32 = 256;

/// What `[generator]` or the command line says; what nobody says follows from the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GeneratorAsked {
    /// Threads.
    pub(crate) threads: Option<u32>,
    /// How many CPUs it has to itself.
    pub(crate) cpus: Option<u32>,
    /// Whether it watches the clock instead of sleeping.
    pub(crate) spin: Option<bool>,
}

impl GeneratorAsked {
    /// Reads `[generator]`.
    pub(super) fn read(section: Option<&Section>, machine: Machine) -> Read<GeneratorAsked> {
        let Some(section) = section else { return Ok(GeneratorAsked::default()) };
        section.only(&["threads", "cpus", "spin"])?;
        let cpus = section.read("cpus", |item| {
            let cpus = item.small(1, "2")?;
            let most = machine.cpus.saturating_sub(1);
            if cpus > most {
                let all = counted(machine.cpus.into(), "CPU", "CPUs");
                let message = format!("of {all} the generator can have {most} to itself, not {cpus}");
                return Err(item.fault(message).help("leave the key out, or leave the target one at least"));
            }
            Ok(cpus)
        })?;
        let threads = section.read("threads", |item| match item.small(1, "2")? {
            threads @ ..=MOST_THREADS => Ok(threads),
            threads => {
                let fault = item.fault(format!("{threads} threads are more than {MOST_THREADS}"));
                Err(fault.help("a thread for each CPU of the generator's is enough"))
            }
        })?;
        Ok(GeneratorAsked { threads, cpus, spin: section.read("spin", |item| item.flag())? })
    }

    /// What the command line says before what the file says.
    pub(super) fn or(self, file: GeneratorAsked) -> GeneratorAsked {
        let cpus = self.cpus.or(if self.threads.is_some() { None } else { file.cpus });
        GeneratorAsked { threads: self.threads.or(file.threads), cpus, spin: self.spin.or(file.spin) }
    }
}

/// How generator and target share the machine: disjoint where there are two CPUs, else left to the kernel.
#[derive(Debug, Clone)]
pub(super) struct Share {
    pub(super) generator: GeneratorPlan,
    pub(super) target: Vec<u32>,
    all: Vec<u32>,
}

impl Share {
    /// The generator on the last CPUs, the target on the others. Threads that were asked for have a CPU each as far as
    /// there are; else the generator has one CPU in four, at least one, and a thread for each.
    pub(super) fn of(machine: Machine, asked: GeneratorAsked) -> Share {
        let all: Vec<u32> = (0..machine.cpus.max(1)).collect();
        let most = machine.cpus.saturating_sub(1);
        let wanted = asked.cpus.or(asked.threads).unwrap_or(machine.cpus / CPUS_TO_ONE_OF_THE_GENERATOR);
        let own = wanted.max(1).min(most) as usize;
        let (target, cpus) = all.split_at(all.len() - own);
        let threads = asked.threads.unwrap_or(own.max(1) as u32);
        let generator = GeneratorPlan {
            threads,
            cpus: cpus.to_vec(),
            spin: asked.spin.unwrap_or(false),
            limits: None,
            nodes: None,
        };
        let target = if own == 0 { Vec::new() } else { target.to_vec() };
        Share { generator, target, all }
    }

    /// The CPUs for a value of `target_cpus`.
    pub(super) fn cpus(&self, placed: &Placed) -> Read<Vec<u32>> {
        let Value::Whole(count) = placed.value else { return Ok(self.all.clone()) };
        let own = if self.target.is_empty() { &self.all } else { &self.target };
        let most = own.len();
        let too_many = || {
            let all = counted(self.all.len() as u64, "CPU", "CPUs");
            let message = format!("of this machine's {all} a target can have {most} to itself, not {count}");
            Fault::new(placed.span.clone(), message)
                .help(format!("write `\"{ALL_CPUS}\"` to let it share the generator's CPU, or at most {most}"))
        };
        usize::try_from(count).ok().and_then(|count| own.get(..count)).map(<[u32]>::to_vec).ok_or_else(too_many)
    }

    /// The level of `target_cpus` in a cell that does not say.
    pub(super) fn default_level(&self) -> Level {
        match self.target.len() {
            0 => Level::Text(ALL_CPUS.to_owned()),
            count => Level::Integer(count as u64),
        }
    }
}
