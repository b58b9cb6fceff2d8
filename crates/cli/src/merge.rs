//! `bourdon merge FILE...`: one result of loads that several generators made of one server at the same time.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ::report::{MergedPart, Origin, PartOf};
use engine::Brought;
use model::{
    Arrivals, AskedLoad, GeneratorLimits, Load, LoadModel, LoadSpec, Measurement, NS_PER_S, Tls, Trust, TrustKind,
    Validity, Verdict,
};

use crate::args::{MergeArgs, MergeFormat};
use crate::calibrate;
use crate::exit::{Exit, Failure};
use crate::load_files;
use crate::output::{say, style, write_out};
use crate::saved_load::{Saved, encoded_as_it_is, foreign, load_of, saved};

/// Share of the windows for which all loads must have been made at once, for nothing to be said.
const AT_ONCE: f64 = 0.95;

/// Below this share they are loads one after the other: their rates, added up, were on the server for the lesser part of the time.
const MOSTLY_APART: f64 = 0.5;

/// One of the loads.
struct Part {
    file: PathBuf,
    saved: Saved,
    brought: Brought,
}

/// `bourdon merge FILE...`.
pub(crate) fn run(args: &MergeArgs) -> Result<Exit, Failure> {
    refuse_to_replace(args)?;
    load_files::prepare(args.output.as_deref(), None)?;
    let mut parts = args.files.iter().map(|file| Part::read(file)).collect::<Result<Vec<Part>, Failure>>()?;
    parts.sort_by_key(|part| part.brought.window_ns());
    refuse_what_is_apart(&parts)?;
    let whole = together(&parts)?;
    let asked = asked_of_all(&parts);
    let load = load_of(&asked).map_err(|why| foreign(&parts[0].file, &why))?;
    let limits = limits(&parts);
    let merged =
        parts.iter().map(|part| part.merged(parts[0].brought.window_ns().0, limits)).collect::<Result<Vec<_>, _>>()?;
    let first = &parts[0].saved;
    let shown = Origin {
        url: &first.url,
        started_at: first.started_at,
        instrument: first.instrument.clone(),
        merged: &merged,
        partial: None,
        not_one_load: None,
        part: None,
    };
    let part = encoded_as_it_is(&whole);
    let measured = whole.conclude().measurement;
    let spec = spec(&asked, load);
    let validity = judge::judge_load(&spec, limits, args.allow_failures, &measured);
    if let Some(file) = &args.output {
        let origin = Origin { part: Some(&part), ..shown.clone() };
        load_files::save(file, &::report::load_json(asked.clone(), &validity, &measured, &measured.steps, &origin))?;
        say(format!("saved in {}", file.display()));
    }
    let text = match args.format {
        MergeFormat::Json => ::report::load_json(asked, &validity, &measured, &measured.steps, &shown),
        MergeFormat::Text => {
            let load = ::report::load_text(&spec, &validity, &measured, &measured.steps, &first.url, style());
            load + "\n" + &::report::merge_text(&merged, style())
        }
        MergeFormat::None => String::new(),
    };
    write_out(&text)?;
    Ok(exit(&validity, &measured))
}

fn exit(validity: &Validity, measured: &Measurement) -> Exit {
    if measured.interrupted {
        Exit::Interrupted
    } else {
        Exit::of_answer(validity.failing.bad, validity.verdict == Verdict::Void)
    }
}

impl Part {
    fn read(file: &Path) -> Result<Self, Failure> {
        let saved = saved(file)?;
        if let Some(lost) = saved.flaw(file) {
            return Err(Failure::usage(format!("{lost}; make it again")));
        }
        let brought = saved.brought(file)?;
        Ok(Self { file: file.to_owned(), saved, brought })
    }

    /// It, for whoever reads the whole.
    fn merged(&self, first_ns: u64, limits: Option<GeneratorLimits>) -> Result<MergedPart, Failure> {
        let Saved { url, started_at, instrument, load: asked, .. } = &self.saved;
        let measured = self.brought.clone().conclude().measurement;
        let load = load_of(asked).map_err(|why| foreign(&self.file, &why))?;
        let validity = judge::judge_load(&spec(asked, load), limits, 1.0, &measured);
        Ok(MergedPart {
            of: PartOf::File { file: self.file.display().to_string() },
            url: url.clone(),
            started_at: *started_at,
            instrument: instrument.clone(),
            begun_after_s: (self.brought.window_ns().0 - first_ns) as f64 / NS_PER_S as f64,
            connections: asked.connections,
            requests_per_s: measured.requests_per_s(),
            busiest_thread: measured.generator.busiest_thread(),
            neediest_thread: measured.generator.neediest_thread(),
            verdict: validity.verdict,
        })
    }
}

/// Refuses to write the result over one of the loads.
fn refuse_to_replace(args: &MergeArgs) -> Result<(), Failure> {
    let Some(output) = args.output.as_deref().and_then(|file| file.canonicalize().ok()) else { return Ok(()) };
    let is_it = |file: &&PathBuf| file.canonicalize().is_ok_and(|file| file == output);
    match args.files.iter().find(is_it) {
        Some(file) => Err(Failure::usage(format!("{} is one of the loads; save the result elsewhere", file.display()))),
        None => Ok(()),
    }
}

/// Refuses loads that are not parts of one: of other versions, asked for something else, one of them twice, or made one after the other.
fn refuse_what_is_apart(parts: &[Part]) -> Result<(), Failure> {
    let first = &parts[0];
    for part in &parts[1..] {
        let (a, b) = (first.file.display(), part.file.display());
        let (mine, theirs) = (&first.saved, &part.saved);
        if mine.instrument.bourdon != theirs.instrument.bourdon {
            return Err(Failure::usage(format!(
                "{a} was measured by bourdon {} and {b} by {}; measure both with one version",
                mine.instrument.bourdon, theirs.instrument.bourdon
            )));
        }
        if mine.url != theirs.url {
            return Err(Failure::usage(format!(
                "{a} asked {} and {b} asked {}; put loads of one URL together, by a name that each machine resolves in its own way if it must",
                mine.url, theirs.url
            )));
        }
        let theirs_alike = but_for_shares(&theirs.load, &mine.load);
        if let Some(difference) = judge::asked_differently(&mine.load, &theirs_alike).first() {
            let difference = ::report::difference_between(difference, ["the first", "the second"]);
            return Err(Failure::usage(format!(
                "{a} and {b} asked for different loads ({difference}); ask for one load with both"
            )));
        }
    }
    for (at, part) in parts.iter().enumerate() {
        for other in &parts[..at] {
            let (a, b) = (other.file.display(), part.file.display());
            if other.brought == part.brought {
                return Err(Failure::usage(format!("{a} and {b} hold one and the same load; leave one of them out")));
            }
            if other.brought.shares_a_thread_with(&part.brought) {
                return Err(Failure::usage(format!(
                    "{a} and {b} share a load, for at least one of them was merged of several; its requests would count twice: merge each load once"
                )));
            }
            let (mine, theirs) = (&other.saved.load, &part.saved.load);
            let is_random = matches!(mine.model, LoadModel::Open { arrivals: Arrivals::Poisson, .. });
            if is_random && mine.seed == theirs.seed {
                return Err(Failure::usage(format!(
                    "{a} and {b} drew the same arrivals (--seed {}), so that requests came in pairs; give each generator a seed of its own",
                    mine.seed
                )));
            }
        }
    }
    refuse_what_does_not_overlap(parts)
}

fn refuse_what_does_not_overlap(parts: &[Part]) -> Result<(), Failure> {
    let (mut last, mut first_done) = (&parts[0], &parts[0]);
    for part in parts {
        if part.brought.window_ns().0 > last.brought.window_ns().0 {
            last = part;
        }
        if part.brought.window_ns().1 < first_done.brought.window_ns().1 {
            first_done = part;
        }
    }
    let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
    let (begun_ns, done_ns) = (last.brought.window_ns().0, first_done.brought.window_ns().1);
    if begun_ns >= done_ns {
        let (a, b, apart_s) = (first_done.file.display(), last.file.display(), seconds(begun_ns - done_ns));
        return Err(Failure::usage(format!(
            "{b} began {apart_s:.1} s after {a} had ended: no load was on the server together with the other; start the generators at \
             the same time, and see that the machines' clocks agree"
        )));
    }
    let longest_ns = parts.iter().map(|part| part.brought.window_ns()).map(|(from, to)| to - from).max().unwrap_or(0);
    let (at_once_s, longest_s) = (seconds(done_ns - begun_ns), seconds(longest_ns));
    if at_once_s < MOSTLY_APART * longest_s {
        return Err(Failure::usage(format!(
            "all of them together were on the server for {at_once_s:.1} of {longest_s:.1} s alone, by the clocks of the machines; start the \
             generators at the same time, for equally long"
        )));
    }
    if at_once_s < AT_ONCE * longest_s {
        say(format!(
            "note: all of them together were on the server for {at_once_s:.1} of {longest_s:.1} s, by the clocks of the machines; before and \
             after it had less, and what is printed is of both"
        ));
    }
    Ok(())
}

/// All parts put together.
fn together(parts: &[Part]) -> Result<Brought, Failure> {
    let mut whole = parts[0].brought.clone();
    for part in &parts[1..] {
        whole = whole.beside(part.brought.clone()).ok_or_else(|| {
            foreign(&part.file, "`part`: it is of another kind of load than it says, and than the others")
        })?;
    }
    Ok(whole)
}

/// What was asked of all generators together.
fn asked_of_all(parts: &[Part]) -> AskedLoad {
    let mut all = parts[0].saved.load.clone();
    for AskedLoad { model, connections, threads, requests, .. } in parts[1..].iter().map(|part| &part.saved.load) {
        all.connections = all.connections.saturating_add(*connections);
        all.threads = all.threads.saturating_add(*threads);
        all.requests = all.requests.zip(*requests).map(|(mine, theirs)| mine.saturating_add(theirs));
        if let (LoadModel::Open { rate_per_s, .. }, LoadModel::Open { rate_per_s: theirs, .. }) =
            (&mut all.model, model)
        {
            *rate_per_s += theirs;
        }
        all.cpus.clear();
    }
    all
}

/// A load with what each generator has for itself taken from another.
fn but_for_shares(asked: &AskedLoad, of: &AskedLoad) -> AskedLoad {
    let model = match (asked.model, of.model) {
        (LoadModel::Open { arrivals, .. }, LoadModel::Open { rate_per_s, .. }) => {
            LoadModel::Open { rate_per_s, arrivals }
        }
        (model, _) => model,
    };
    // Where only one has a number, they are different.
    let requests = asked.requests.and(of.requests).or(asked.requests);
    AskedLoad {
        model,
        requests,
        connections: of.connections,
        threads: of.threads,
        cpus: of.cpus.clone(),
        ..asked.clone()
    }
}

/// What was found of the generator, where all were this one.
fn limits(parts: &[Part]) -> Option<GeneratorLimits> {
    let here = calibrate::instrument();
    parts.iter().all(|part| part.saved.instrument == here).then(calibrate::stored_limits).flatten()
}

/// A load as the engine would have been asked for it, as far as its judgement asks for it.
fn spec(asked: &AskedLoad, load: Load) -> LoadSpec {
    let tls = asked.tls.as_ref().map(|tls| Tls {
        server_name: tls.server_name.clone(),
        trust: match tls.trust {
            TrustKind::System => Trust::System,
            TrustKind::Authorities => Trust::Authorities(String::new()),
            TrustKind::Anyone => Trust::Anyone,
        },
        resumption: tls.resumption,
    });
    LoadSpec {
        load,
        address: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        tls,
        sources: Vec::new(),
        start_spread_ns: 0,
        threads: asked.threads,
        cpus: asked.cpus.clone(),
        spin: asked.spin.unwrap_or(false),
        quick_ack: asked.quick_ack,
        seed: asked.seed,
    }
}
