//! What a diagnosis found: the experiments that show it, beside what it says.

use model::{Diagnosed, Diagnosis, Experiment, LatencySummary, ServerFault, Sureness, Suspect, Tried, Unit};

use super::findings::columns;
use super::mark::Glyph;
use super::percentiles::{self, nines};
use super::plot::{ACROSS, BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::diagnosis_words as say;
use crate::experiment_words::experiment_words;
use crate::format::{counted, duration_us, number, quantity, seconds, thousands, tick};

/// Height of a panel, and of the strip of a load.
const HEIGHT: f64 = 140.0;
const STRIP: f64 = 16.0;
/// Ticks at the side of a panel, at most.
const ROWS: usize = 5;

/// The picture; none of a fault that one figure tells whole.
pub(super) fn draw(diagnosis: &Diagnosis, found: &Diagnosed) -> Option<Drawn> {
    let tried = found.shown_by.iter().filter_map(|at| diagnosis.tried.get(*at));
    let shown: Vec<&Tried> = tried.filter(|tried| tried.valid).collect();
    let unproved = (found.sureness != Sureness::Is).then(|| "Not proved".to_owned());
    let mut sheet = Sheet::new(&say::title(&found.fault), unproved.as_slice());
    let says = match &found.fault {
        ServerFault::Limit { at_once, exactly, service_s, .. } => {
            let limit = exactly.map(f64::from).or(at_once.estimate)?;
            crowds(&mut sheet, &shown, (limit, *service_s))?;
            bursts(&mut sheet, &shown, (limit, *service_s));
            "How many requests the server worked on at once under each load, and the limit that it comes to."
        }
        ServerFault::HeldWorkers { served, .. } => {
            held(&mut sheet, &shown, *served as f64)?;
            "How many connections got replies under each load."
        }
        ServerFault::BlockedLoop { blocked, .. } => {
            let of = |tried: &Tried| match tried.trying.experiment {
                Experiment::Probes => Some(Glyph::Grey),
                Experiment::Decoys { .. } => Some(Glyph::Thin),
                Experiment::Beside { .. } => Some(Glyph::Line),
                _ => None,
            };
            waits(&mut sheet, &shown, of, blocked.estimate)?;
            sheet.key(&[
                (Glyph::Line, "beside heavy requests"),
                (Glyph::Thin, "beside more light ones"),
                (Glyph::Grey, "alone"),
                (Glyph::Dashed, "one heavy request"),
            ]);
            "How long light requests took at each percentile: alone, beside heavy ones, and beside more light ones."
        }
        ServerFault::DelayedAck { .. } => {
            let is_quick = |tried: &Tried| matches!(tried.trying.experiment, Experiment::QuickAck { .. });
            let of = |tried: &Tried| Some(if is_quick(tried) { Glyph::Grey } else { Glyph::Line });
            waits(&mut sheet, &shown, of, None)?;
            sheet.key(&[(Glyph::Line, "as usual"), (Glyph::Grey, "the client acknowledges at once")]);
            "How long replies took at each percentile, as usual and to a client that acknowledges at once."
        }
        ServerFault::Stalls { .. } => {
            stalls(&mut sheet, &shown)?;
            "When the server answered nothing, in each load."
        }
        ServerFault::Growth { suspect, per_request, .. } => {
            growth(&mut sheet, &shown, *suspect, per_request.estimate?)?;
            "How much the server had after each number of requests, each on a fresh server."
        }
        ServerFault::RoundTrips { round_trips, service_s, .. } => {
            farther(&mut sheet, &shown, (round_trips.estimate?, *service_s))?;
            "How long a request took by how much longer each round trip behind the server took, and before it."
        }
        ServerFault::ClosedConnections { .. }
        | ServerFault::Failures { .. }
        | ServerFault::Unanswered { .. }
        | ServerFault::Died { .. } => return None,
    };
    Some(sheet.finish(says, &say::header(diagnosis).join(" · ")))
}

/// An experiment with its places.
struct Mark<'a> {
    tried: &'a Tried,
    along: f64,
    value: f64,
    glyph: Glyph,
}

/// What experiments showed, by how much was asked for.
struct Panel<'a> {
    /// What stands above it.
    title: &'a str,
    note: &'a str,
    /// What was asked for, beneath it.
    along: &'a str,
    steps: Steps,
    unit: Unit,
    marks: Vec<Mark<'a>>,
    lines: Vec<(&'static str, Vec<[f64; 2]>)>,
}

impl Panel<'_> {
    /// How much of the unit a tick counts, and what that is called: memory in MiB, for its ticks would not be round in bytes.
    fn shown_in(&self) -> (f64, &'static str) {
        if self.unit == Unit::Bytes { (f64::from(1 << 20), " MiB") } else { (1.0, "") }
    }

    fn scales(&self, top: f64) -> Option<(Scale, Scale)> {
        let ends = self.lines.iter().flat_map(|(_, line)| line);
        let (mut along, mut values): (Vec<f64>, Vec<f64>) = ends.map(|[x, y]| (*x, *y)).unzip();
        along.extend(self.marks.iter().map(|mark| mark.along));
        values.extend(self.marks.iter().map(|mark| mark.value));
        let (size, _) = self.shown_in();
        let values: Vec<f64> = values.into_iter().map(|value| value / size).collect();
        let (x, y) = match self.steps {
            Steps::Log => {
                let around = |values: &[f64], ends| Scale::around(Steps::Log, values, 1.3, ends);
                (around(&along, ACROSS)?, around(&values, [top + HEIGHT, top])?)
            }
            Steps::Even => {
                let from_zero = |values: &[f64], ends| {
                    Some(Scale { low: 0.0, ..Scale::around(Steps::Even, &[values, &[0.0]].concat(), 0.1, ends)? })
                };
                (from_zero(&along, ACROSS)?, from_zero(&values, [top + HEIGHT, top])?)
            }
        };
        Some((x, y))
    }

    fn draw(&self, sheet: &mut Sheet) -> Option<()> {
        self.marks.first()?;
        sheet.line(("", self.title), ("small", self.note), 0.0);
        sheet.gap(2.0);
        let (x, y) = self.scales(sheet.y())?;
        let (size, name) = self.shown_in();
        let rows = y.ticks(ROWS).into_iter().map(|value| (value, format!("{}{name}", tick(value, Unit::None))));
        let asked: Vec<f64> = self.marks.iter().map(|mark| mark.along).collect();
        let columns: Ticks = columns(&asked, &x).into_iter().map(|at| (at, thousands(at as u64))).collect();
        let mut nodes = ground((&x, &columns), (&y, &rows.collect()));
        let place = |along: f64, value: f64| [x.place(along), y.place(value / size)];
        nodes.extend(self.lines.iter().map(|(class, line)| {
            Node::path(class, &line.iter().map(|[along, value]| place(*along, *value)).collect::<Vec<_>>())
        }));
        nodes.extend(self.marks.iter().map(|mark| {
            let of = named(mark.tried);
            let said = format!("{of}: {}", quantity(mark.value, self.unit));
            let group = Node::group("value", &said).with("data-of", of).with("data-unit", self.unit.id());
            group.figure("data-estimate", Some(mark.value)).hold([mark.glyph.draw(place(mark.along, mark.value))])
        }));
        sheet.draw(HEIGHT + 4.0, nodes);
        let numbers = beneath((&x, &columns), sheet.y() - 4.0);
        sheet.draw(BENEATH, numbers);
        sheet.small(self.along, 1);
        Some(())
    }
}

/// `64 connections (b01-c02)`: the same experiment may have been made more than once.
fn named(tried: &Tried) -> String {
    format!("{} ({})", experiment_words(&tried.trying.experiment), tried.trial)
}

/// A limit that may be known exactly.
fn count(limit: f64) -> String {
    if limit.fract() == 0.0 { thousands(limit as u64) } else { number(limit) }
}

/// Experiments with their places, as far as they have any: how much was asked for, what came of it, and how that is drawn.
fn marks<'a>(shown: &[&'a Tried], place: impl Fn(&Tried) -> Option<(f64, f64, Glyph)>) -> Vec<Mark<'a>> {
    let mark = |tried: &&'a Tried| {
        let (along, value, glyph) = place(tried)?;
        Some(Mark { tried, along, value, glyph })
    };
    shown.iter().filter_map(mark).collect()
}

/// What there was by connections: the limit, and as many as there are connections.
fn by_connections<'a>((title, unit): (&'a str, Unit), marks: Vec<Mark<'a>>, limit: f64) -> Option<Panel<'a>> {
    let [least, most] = ends(&marks)?;
    let bend = limit.clamp(least, most);
    let lines = vec![
        ("other", vec![[least, least], [most, most]]),
        ("line", vec![[least, least.min(limit)], [bend, bend.min(limit)], [most, most.min(limit)]]),
    ];
    Some(Panel { title, note: "log scales", along: "connections", steps: Steps::Log, unit, marks, lines })
}

/// The least and the most of these.
fn ends(marks: &[Mark<'_>]) -> Option<[f64; 2]> {
    let along = || marks.iter().map(|mark| mark.along);
    Some([along().reduce(f64::min)?, along().reduce(f64::max)?])
}

/// What a request takes by how much further away what is behind the server is; so many round trips, and one.
fn farther(sheet: &mut Sheet, shown: &[&Tried], (round_trips, service_s): (f64, f64)) -> Option<()> {
    let mark = |tried: &Tried| {
        let (delay_ns, glyph) = match tried.trying.experiment {
            Experiment::Upstream { delay_ns, .. } => (delay_ns, Glyph::Dot),
            Experiment::Delayed { network_delay_ns, .. } => (network_delay_ns, Glyph::Open),
            _ => return None,
        };
        Some((delay_ns as f64 / 1e3, tried.service_us?, glyph))
    };
    let marks = marks(shown, mark);
    let [_, most] = ends(&marks)?;
    let line = |times: f64| vec![[0.0, service_s * 1e6], [most, service_s * 1e6 + times * most]];
    let lines = vec![("other", line(1.0)), ("line", line(round_trips))];
    let (title, unit) = ("Time of a request, µs", Unit::Us);
    let along = "µs that each round trip takes longer";
    Panel { title, note: "", along, steps: Steps::Even, unit, marks, lines }.draw(sheet)?;
    sheet.key(&[
        (Glyph::Dot, "behind the server"),
        (Glyph::Open, "between client and server"),
        (Glyph::Line, &format!("{} round trips", number(round_trips))),
        (Glyph::Grey, "one"),
    ]);
    Some(())
}

/// Requests at once by connections; the limit, and what there would be without one.
fn crowds(sheet: &mut Sheet, shown: &[&Tried], (limit, service_s): (f64, f64)) -> Option<()> {
    let mark = |tried: &Tried| {
        let (connections, glyph) = match tried.trying.experiment {
            Experiment::Crowd { connections } | Experiment::QuickAck { connections } => (connections, Glyph::Dot),
            Experiment::Settled { connections } | Experiment::Delayed { connections, .. } => (connections, Glyph::Open),
            _ => return None,
        };
        let value = tried.requests_per_s? * service_s;
        Some((f64::from(connections), value, glyph)).filter(|_| value > 0.0 && connections > 0)
    };
    by_connections(("Requests at once", Unit::RequestsAtOnce), marks(shown, mark), limit)?.draw(sheet)?;
    sheet.key(&[
        (Glyph::Dot, "a load"),
        (Glyph::Open, "from further away, or after a long load"),
        (Glyph::Line, &format!("a limit of {}", count(limit))),
        (Glyph::Grey, "no limit"),
    ]);
    Some(())
}

/// How long bursts took, in times of one request: one step more for each so many as the limit is; nothing where none were made.
fn bursts(sheet: &mut Sheet, shown: &[&Tried], (limit, service_s): (f64, f64)) -> Option<()> {
    let mark = |tried: &Tried| match tried.trying.experiment {
        Experiment::Burst { requests } => {
            Some((f64::from(requests), tried.slowest_us? / (service_s * 1e6), Glyph::Dot))
        }
        _ => None,
    };
    let marks = marks(shown, mark);
    let [_, most] = ends(&marks)?;
    let rounds = (most / limit).ceil();
    let step = |round: f64| [[(round - 1.0) * limit, round], [(round * limit).min(most), round]];
    let steps: Vec<[f64; 2]> = (1..=rounds.min(100.0) as u32).flat_map(|round| step(f64::from(round))).collect();
    sheet.gap(8.0);
    let panel = Panel {
        title: "Time until all were answered ÷ that of one request",
        note: "",
        along: "requests at the same moment",
        steps: Steps::Even,
        unit: Unit::Ratio,
        lines: vec![("line", steps)],
        marks,
    };
    panel.draw(sheet)?;
    sheet.key(&[(Glyph::Dot, "a burst"), (Glyph::Line, &format!("{} at once", count(limit)))]);
    Some(())
}

/// Connections that got replies, by connections.
fn held(sheet: &mut Sheet, shown: &[&Tried], limit: f64) -> Option<()> {
    let mark = |tried: &Tried| {
        let (connections, glyph) = match tried.trying.experiment {
            Experiment::Crowd { connections } | Experiment::Settled { connections } => (connections, Glyph::Dot),
            Experiment::Closing { connections } => (connections, Glyph::Open),
            _ => return None,
        };
        let served = u64::from(connections).checked_sub(tried.unserved?).filter(|served| *served > 0)?;
        Some((f64::from(connections), served as f64, glyph))
    };
    by_connections(("Connections that got replies", Unit::None), marks(shown, mark), limit)?.draw(sheet)?;
    sheet.key(&[
        (Glyph::Dot, "connections that are kept"),
        (Glyph::Open, "clients that close"),
        (Glyph::Line, &format!("{} workers", count(limit))),
        (Glyph::Grey, "all of them"),
    ]);
    Some(())
}

/// The quantiles with the attributes that have them.
fn quantiles(of: &LatencySummary) -> Vec<(f64, &'static str, f64)> {
    let known = [
        (0.5, "data-p50", of.p50),
        (0.75, "data-p75", of.p75),
        (0.9, "data-p90", of.p90),
        (0.95, "data-p95", of.p95),
        (0.99, "data-p99", of.p99),
        (0.999, "data-p99.9", of.p999),
    ];
    // The slowest of n is beyond all but one of n + 1.
    let slowest = (1.0 - 1.0 / (of.count as f64 + 1.0), "data-max", of.max);
    let all = known.into_iter().filter(|(q, ..)| *q < slowest.0).chain([slowest]);
    all.filter_map(|(q, attribute, us)| Some((q, attribute, us?))).filter(|(.., us)| *us > 0.0).collect()
}

/// How long replies took at each percentile, a line for each experiment; `at_us` is a line across.
fn waits(
    sheet: &mut Sheet,
    shown: &[&Tried],
    line_of: impl Fn(&Tried) -> Option<Glyph>,
    at_us: Option<f64>,
) -> Option<()> {
    let of = |tried: &&'_ Tried| Some((line_of(tried)?, quantiles(tried.latency_us.as_ref()?)));
    let all: Vec<_> = shown.iter().filter_map(|tried| of(tried).map(|(line, known)| (tried, line, known))).collect();
    let known = || all.iter().flat_map(|(.., known)| known);
    let (x, columns) = percentiles::axis(known().map(|(q, ..)| *q).reduce(f64::max)?)?;
    sheet.line(("", "Time until the reply"), ("small", "log scales"), 0.0);
    sheet.gap(2.0);
    let times: Vec<f64> = known().map(|(.., us)| *us).chain(at_us).collect();
    let y = Scale::around(Steps::Log, &times, 1.1, [sheet.y() + HEIGHT, sheet.y()])?;
    let rows = y.ticks(ROWS).into_iter().map(|us| (us, tick(us, Unit::Us))).collect();
    let mut nodes = ground((&x, &columns), (&y, &rows));
    nodes.extend(at_us.map(|us| Node::line("line few", [x.from, y.place(us)], [x.to, y.place(us)])));
    nodes.extend(all.iter().map(|(tried, line, known)| {
        let class = match line {
            Glyph::Grey => "other",
            Glyph::Thin => "thin",
            _ => "line",
        };
        let of = named(tried);
        let slowest = known.last().map_or(String::new(), |(.., us)| duration_us(*us));
        let group = Node::group("value", &format!("{of}: up to {slowest}")).with("data-of", of);
        let group = known
            .iter()
            .fold(group.with("data-unit", Unit::Us.id()), |group, (_, name, us)| group.figure(name, Some(*us)));
        let places: Vec<[f64; 2]> = known.iter().map(|(q, _, us)| [x.place(nines(*q)), y.place(*us)]).collect();
        group.hold([Node::path(class, &places)])
    }));
    sheet.draw(HEIGHT + 4.0, nodes);
    let numbers = beneath((&x, &columns), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    sheet.small(percentiles::MEANING, 1);
    Some(())
}

/// When nothing was answered, a strip for each load.
fn stalls(sheet: &mut Sheet, shown: &[&Tried]) -> Option<()> {
    let ended = |tried: &Tried| {
        let asked = match tried.trying.experiment {
            Experiment::Steady { window_s, .. } => window_s,
            _ => 0.0,
        };
        tried.stalls.iter().map(|it| it.at_s + it.length_s).fold(asked, f64::max)
    };
    let longest_s = shown.iter().map(|tried| ended(tried)).reduce(f64::max).filter(|length_s| *length_s > 0.0)?;
    let x = Scale { steps: Steps::Even, low: 0.0, high: longest_s, from: ACROSS[0], to: ACROSS[1] };
    for tried in shown {
        let count = counted(tried.stalls.len() as u64, "stall", "stalls");
        sheet.line(("", &experiment_words(&tried.trying.experiment)), ("small", &count), 0.0);
        let (top, bottom) = (sheet.y() + 2.0, sheet.y() + STRIP);
        let mut nodes = vec![Node::area("strip", [x.from, top], [x.place(ended(tried)), bottom])];
        nodes.extend(tried.stalls.iter().map(|it| {
            let (at, to) = (x.place(it.at_s), x.place(it.at_s + it.length_s));
            let said = format!("at {} for {}", seconds(it.at_s), seconds(it.length_s));
            let group = Node::group("value", &said).with("data-of", named(tried)).with("data-unit", Unit::Us.id());
            let group = group.figure("data-from", Some(it.at_s * 1e6)).figure("data-for", Some(it.length_s * 1e6));
            // What is short is seen all the same.
            group.hold([Node::area("dot", [at, top], [to.max(at + 1.0), bottom])])
        }));
        sheet.draw(STRIP + 4.0, nodes);
    }
    let ticks: Ticks = x.ticks(ROWS).into_iter().map(|at_s| (at_s, tick(at_s, Unit::None))).collect();
    let numbers = beneath((&x, &ticks), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    sheet.small("seconds of the load; nothing was answered where it is dark", 1);
    Some(())
}

/// What there was after each number of requests, and the growth that it comes to.
fn growth(sheet: &mut Sheet, shown: &[&Tried], suspect: Suspect, each: f64) -> Option<()> {
    let has = |tried: &Tried| match suspect {
        Suspect::MemoryGrowth => tried.grown_bytes,
        Suspect::ThreadGrowth => tried.threads.map(|threads| threads as f64),
        _ => tried.open_files.map(|files| files as f64),
    };
    let asked = |tried: &Tried| match tried.trying.experiment {
        Experiment::Dose { requests } => Some((requests as f64, Glyph::Dot)),
        Experiment::Steady { rate_per_s, window_s } => Some((rate_per_s * window_s, Glyph::Open)),
        _ => None,
    };
    let mark = |tried: &Tried| {
        let (along, glyph) = asked(tried)?;
        Some((along, has(tried)?.max(0.0), glyph))
    };
    let marks = marks(shown, mark);
    let doses = || marks.iter().filter(|mark| mark.glyph == Glyph::Dot);
    let first = doses().map(|mark| mark.along).reduce(f64::min)?;
    let last = doses().map(|mark| mark.along).reduce(f64::max)?;
    let of_first: Vec<f64> = doses().filter(|mark| mark.along <= first).map(|mark| mark.value).collect();
    let begun = of_first.iter().sum::<f64>() / of_first.len() as f64;
    let (title, unit) = match suspect {
        Suspect::MemoryGrowth => ("Memory, more than at rest", Unit::Bytes),
        Suspect::ThreadGrowth => ("Threads and processes", Unit::Threads),
        _ => ("Open files and sockets", Unit::None),
    };
    let line = vec![[first, begun], [last, begun + each * (last - first)]];
    let panel =
        Panel { title, note: "", along: "requests", steps: Steps::Even, unit, lines: vec![("line", line)], marks };
    panel.draw(sheet)?;
    sheet.key(&[
        (Glyph::Dot, "a fresh server each"),
        (Glyph::Open, "hardly asked, for as long"),
        (Glyph::Line, "in proportion"),
    ]);
    Some(())
}
