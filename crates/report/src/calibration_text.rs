use model::{Calibration, RateStep};

use crate::format::{counted, duration_us, number, percent, thousands, times};
use crate::page::{Page, Style, Tint, join};
use crate::reason_words::reason_words;
use crate::table;

const LABELS: usize = 8;

/// What a person sees of a calibration. `distrusted` says of each of its rates whether it cannot be trusted.
pub fn calibration_text(calibration: &Calibration, distrusted: &[bool], style: Style) -> String {
    let mut page = Page::new(style);
    headline(&mut page, calibration);
    let instrument = &calibration.instrument;
    let machine = [
        instrument.cpu.clone(),
        counted(instrument.cpus.into(), "CPU", "CPUs"),
        format!("Linux {}", instrument.kernel),
        format!("bourdon {}", instrument.bourdon),
        calibration.measured_at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    ];
    join(&machine, " · ", page.width()).iter().for_each(|line| page.line(Tint::Dim, line));
    page.paragraph(0, Tint::Dim, &placement(calibration));
    page.gap();
    page.entry(0, (Tint::Plain, "clock"), LABELS, &clock(calibration));
    for sleep in &calibration.sleep {
        let [asked, p50, p99, max] = [sleep.asked_us, sleep.p50_us, sleep.p99_us, sleep.max_us].map(duration_us);
        let text = format!("of {asked} ends late by {p50} (p50), {p99} (p99), {max} at most");
        page.entry(0, (Tint::Plain, "a sleep"), LABELS, &text);
    }
    page.gap();
    page.table(&ceilings(calibration));
    if calibration.ceilings.iter().any(|ceiling| ceiling.requests_per_s == 0.0) {
        let text = "0 requests/s: the null responder gave no reply in that window, for another program had its CPU or stopped \
                    it; calibrate again without that program";
        page.paragraph(0, Tint::Unsure, text);
    }
    page.gap();
    page.table(&rates(&calibration.rates, distrusted));
    page.finish()
}

/// A calibration as one JSON document (`bourdon.calibration/1`), pretty printed.
pub fn calibration_json(calibration: &Calibration) -> String {
    crate::said::to_json_in_words(calibration)
}

fn headline(page: &mut Page, calibration: &Calibration) {
    match &calibration.limits {
        Some(limits) => {
            let rate = number(limits.open_rate_per_s);
            page.paragraph(
                0,
                Tint::Bold,
                &format!("On this machine trust open rates up to {rate} a second for each generator thread (-t)."),
            );
            let beyond = calibration.beyond.as_ref();
            let text = beyond
                .map_or("No higher rate was tried.".to_owned(), |reason| format!("Above it {}.", reason_words(reason)));
            page.paragraph(0, Tint::Plain, &text);
        }
        None => {
            page.paragraph(0, Tint::Bad, "No open rate can be trusted on this machine as it is now.");
            let reason = calibration.beyond.as_ref().map_or(String::new(), reason_words);
            let cure = "look for what else runs here, and calibrate again";
            page.paragraph(0, Tint::Plain, &format!("At the lowest rate that was tried {reason}; {cure}."));
        }
    }
}

fn placement(calibration: &Calibration) -> String {
    let generator = calibration.generator_cpu;
    match calibration.responder_cpu {
        Some(responder) => format!("one generator thread on CPU {generator}, the null responder on CPU {responder}"),
        None => format!(
            "one generator thread and the null responder together on CPU {generator}: with a CPU each both do more"
        ),
    }
}

fn clock(calibration: &Calibration) -> String {
    let clock = &calibration.clock;
    let backward = match clock.backward {
        0 => "never went back".to_owned(),
        number => format!("WENT BACK {}", times(number)),
    };
    let (cost, readings) = (number(clock.reading_ns), thousands(clock.readings));
    format!("a reading costs {cost} ns, the smallest step is {} ns; {backward} in {readings} readings", clock.step_ns)
}

fn ceilings(calibration: &Calibration) -> Vec<String> {
    let header = ["closed, one thread", "requests/s", "CPU/request", "generator busy"].map(str::to_owned);
    let rows = calibration.ceilings.iter().map(|ceiling| {
        let mut shape = counted(ceiling.connections.into(), "connection", "connections");
        if ceiling.pipeline > 1 {
            shape.push_str(&format!(", {} in flight on each", ceiling.pipeline));
        }
        vec![shape, number(ceiling.requests_per_s), cost(ceiling.cpu_us_per_request), percent(ceiling.busy)]
    });
    table::lines(Some(&header), &rows.collect::<Vec<_>>(), 1)
}

/// All attempts, by rate.
fn rates(steps: &[RateStep], distrusted: &[bool]) -> Vec<String> {
    let header =
        ["open, a second", "sent", "lateness p50", "p99", "CPU/request", "generator busy", ""].map(str::to_owned);
    let mut attempts: Vec<(&RateStep, bool)> = steps.iter().zip(distrusted.iter().copied()).collect();
    attempts.sort_by(|a, b| a.0.rate_per_s.total_cmp(&b.0.rate_per_s));
    let rows = attempts.into_iter().map(|(step, distrusted)| {
        let late = |us: Option<f64>| us.map_or("–".to_owned(), duration_us);
        vec![
            number(step.rate_per_s),
            percent(step.sent as f64 / step.scheduled.max(1) as f64),
            late(step.lateness_p50_us),
            late(step.lateness_p99_us),
            cost(step.cpu_us_per_request),
            percent(step.busy),
            if distrusted { "not to be trusted" } else { "" }.to_owned(),
        ]
    });
    table::lines(Some(&header), &rows.collect::<Vec<_>>(), 0)
}

fn cost(cpu_us_per_request: Option<f64>) -> String {
    cpu_us_per_request.map_or("–".to_owned(), duration_us)
}
