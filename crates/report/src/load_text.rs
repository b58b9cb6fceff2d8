use model::{
    Arrivals, Code, Extent, Failing, FailureCount, Interval, Latencies, LatencySummary, LimitCode, LoadModel, LoadSpec,
    Mark, Measurement, NS_PER_S, Side, Standstills, TlsUse, Trust, Validity, Verdict,
};

use crate::asker::Asker;
use crate::connections::connections;
use crate::format::{bytes_per_s, counted, duration_us, number, percent, seconds, thousands};
use crate::gap::gap;
use crate::page::{Page, Style, Tint, join, unbroken};
use crate::plain::shortened;
use crate::reason_words::{imbalance_words, reason_words, with_cure};
use crate::suspicion_words::suspicion_words;
use crate::words::{errno, late_words, members_words, words};
use crate::wrong_reply::sentence;
use crate::{spark, table};

const LABELS: usize = 11;

/// Longest URL of the heading.
const LONGEST_URL: usize = 200;

/// Windows up to this one say little: connections are still being opened in much of them.
const SHORT_S: f64 = 0.1;

/// Reasons that tell how long the generator stood still.
const STOOD_STILL: [Code; 2] = [Code::Mark(Mark::Standstill), Code::LimitCode(LimitCode::GeneratorStalled)];

/// The quantiles among them.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

const LATENCY_HEADER: [&str; 7] = ["", "p50", "p90", "p99", "p99.9", "max", "mean"];

/// What a person sees after one load of these seconds.
pub fn load_text(
    spec: &LoadSpec,
    validity: &Validity,
    measured: &Measurement,
    seconds: &[Interval],
    url: &str,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    if spec.tls.as_ref().is_some_and(|tls| tls.trust == Trust::Anyone) {
        page.line(Tint::Bad, "Insecure: the certificate was not checked, so the server was not verified.");
    }
    if let [only] = &validity.reasons[..]
        && only.code() == LimitCode::Interrupted.into()
        && measured.window_s == 0.0
    {
        page.paragraph(0, Tint::Unsure, &sentence_of(&reason_words(only)));
        return page.finish();
    }
    headline(&mut page, validity, measured);
    let (window_s, what, more) = match spec.extent {
        Extent::Requests { .. } => (measured.window_s, "all requests took", "more of them (-n)"),
        Extent::Window(ns) => (ns as f64 / NS_PER_S as f64, "the window was", "a longer one (-d)"),
    };
    if window_s <= SHORT_S {
        let window = duration_us(window_s * 1e6);
        let text = format!("{what} {window}: so short a window says little; ask for {more}");
        page.paragraph(2, Tint::Unsure, &text);
    }
    let mut asked = vec![format!("{} {}", spec.mix.first().request.method, shortened(url, LONGEST_URL))];
    asked.extend(shape(spec));
    for line in join(&asked, " · ", page.width()) {
        page.line(Tint::Dim, &line);
    }
    over_time(&mut page, seconds);
    latencies(&mut page, &measured.latency_us);
    // A standstill too short to have made any figure is not named above, and changes none here.
    let is_told = |codes: &[Code]| validity.reasons.iter().any(|reason| codes.contains(&reason.code()));
    // Without a reply nobody knows when what they held up was worked off: all would be taken off.
    let is_known = measured.accounting.completed > 0 && is_told(&[Mark::Standstill.into()]);
    if let Some(stood) = measured.standstills.as_ref().filter(|_| is_known) {
        undisturbed(&mut page, stood, measured.least_latencies());
    }
    page.gap();
    books(&mut page, measured);
    failures(&mut page, &measured.failures);
    page.gap();
    page.entry(0, (Tint::Plain, "connections"), LABELS, &connections(spec, measured));
    if let Some(tls) = &measured.tls {
        page.entry(0, (Tint::Plain, "TLS"), LABELS, &agreed(tls));
    }
    page.entry(0, (Tint::Plain, "generator"), LABELS, &generator(measured, is_told(&STOOD_STILL)));
    page.finish()
}

/// Rate, p99 and failures over the seconds.
fn over_time(page: &mut Page, seconds: &[Interval]) {
    let rows = spark::sparks(seconds, page.width().saturating_sub(LABELS + 2));
    if !rows.is_empty() {
        page.gap();
    }
    rows.iter().for_each(|(label, text)| page.entry(0, (Tint::Plain, label), LABELS, text));
}

/// What the peers agreed on, and how often.
fn agreed(tls: &TlsUse) -> String {
    let names = [&tls.version, &tls.cipher, &tls.group, &tls.alpn].into_iter().flatten();
    let mut parts: Vec<String> = names.map(|name| unbroken(name)).collect();
    parts.push(format!(
        "{}, {} of them resumed",
        counted(tls.handshakes, "handshake", "handshakes"),
        thousands(tls.resumed)
    ));
    if let Some(why) = &tls.first_failure {
        parts.push(format!("{} failed, the first: {why}", thousands(tls.failed)));
    }
    parts.join(", ")
}

/// What went wrong, where the reader cannot miss it. Where nothing came back, to no request of the warm-up either, the reasons
/// say so.
fn errors(page: &mut Page, validity: &Validity, measured: &Measurement) {
    let books = &measured.accounting;
    if books.completed == 0 && measured.in_window.completed == 0 {
        return first_wrong(page, measured);
    }
    let turned_away = model::sum(books.turned_away().map(|(_, count)| count));
    let failures = [
        ("with a wrong status", books.bad_status),
        ("with a wrong body", books.bad_body),
        ("without a whole reply", books.failed_total()),
        ("never sent", turned_away),
    ];
    let parts: Vec<String> = failures
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{} {name}", thousands(count)))
        .collect();
    if !parts.is_empty() {
        let Failing { failed_share, allowed_share, .. } = validity.failing;
        let more = if failed_share > allowed_share {
            format!(", over the {} allowed", percent(allowed_share))
        } else {
            String::new()
        };
        let share = percent(books.error_share());
        page.paragraph(2, Tint::Bad, &format!("errors: {share} of the requests failed{more}: {}", parts.join(", ")));
    }
    hung(page, validity);
    first_wrong(page, measured);
    let unasked = measured.connections.unasked_replies;
    if unasked > 0 {
        let times = counted(unasked, "connection", "connections");
        page.paragraph(2, Tint::Bad, &format!("wrong content: unrequested bytes on {times}"));
    }
}

/// Requests that fail in no way and are never answered, which no figure of the replies shows.
fn hung(page: &mut Page, validity: &Validity) {
    let Some(reason) = validity.reasons.iter().find(|reason| reason.code() == Mark::Hung.into()) else { return };
    let Failing { hung_share, allowed_share, .. } = validity.failing;
    let share = match hung_share > allowed_share {
        true => {
            format!(" ({} of the requests, over the {} allowed)", percent(hung_share), percent(allowed_share))
        }
        false => String::new(),
    };
    page.paragraph(2, Tint::Bad, &format!("hung: {}{share}", with_cure(reason, Asker::Load)));
}

fn first_wrong(page: &mut Page, measured: &Measurement) {
    if let Some(wrong) = &measured.first_wrong {
        page.paragraph(2, Tint::Bad, &format!("the first wrong reply: {}", sentence(wrong)));
    }
}

fn headline(page: &mut Page, validity: &Validity, measured: &Measurement) {
    let rate = format!("{} requests/s", number(measured.requests_per_s()));
    // Before the word on the generator, which must not hide what the server did.
    if let Some(silent) = validity.reasons.iter().find(|reason| reason.code() == LimitCode::ServerSilent.into()) {
        page.paragraph(0, Tint::Bad, &sentence_of(&reason_words(silent)));
    }
    let flow = format!("{} of ok replies over {}", bytes_per_s(measured.bytes_per_s()), seconds(measured.window_s));
    if let Some(stopped_s) = validity.failing.stopped_at_s {
        let [after, of] = [stopped_s, measured.window_s].map(seconds);
        let text = format!(
            "The server stopped answering after {after} of the window of {of}: {} then had no whole reply.",
            counted(validity.failing.unanswered, "request", "requests")
        );
        page.paragraph(0, Tint::Bad, &text);
    }
    match validity.verdict {
        // Nothing is no lower bound worth the name.
        Verdict::AtLeast if measured.in_window.ok == 0 => page.line(Tint::Bold, &format!("{rate}, {flow}")),
        Verdict::Valid => page.line(Tint::Bold, &format!("{rate}, {flow}")),
        Verdict::AtLeast => {
            page.line(
                Tint::Unsure,
                "At least: the generator may have been the limit. The server is this fast or faster.",
            );
            page.line(Tint::Bold, &format!("≥ {rate}, {flow}"));
        }
        Verdict::Void => {
            page.line(Tint::Bad, "Void: bourdon does not vouch for these figures. Do not use them.");
            reasons(page, validity);
            page.line(Tint::Plain, &format!("{rate}, {flow}"));
            return errors(page, validity, measured);
        }
    }
    if let Some(text) = gap(validity, measured) {
        page.paragraph(0, Tint::Unsure, &text);
    }
    validity.suspicions.iter().for_each(|it| page.paragraph(0, Tint::Unsure, &format!("{}.", suspicion_words(it))));
    errors(page, validity, measured);
    reasons(page, validity);
}

/// A reason's text as a sentence of its own.
fn sentence_of(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}.", first.to_uppercase())
}

fn reasons(page: &mut Page, validity: &Validity) {
    // That of the server's silence stands at the top; what was wrong, and what hung, is said with the errors.
    let said: [Code; 3] = [LimitCode::ServerSilent.into(), LimitCode::NothingRight.into(), Mark::Hung.into()];
    for reason in validity.reasons.iter().filter(|reason| !said.contains(&reason.code())) {
        let tint = if reason.code() == LimitCode::NoReply.into() { Tint::Bad } else { Tint::Plain };
        let name = match reason.code() {
            // A limit's sentence says all; that of a mark or a broken invariant needs its name before it.
            Code::Mark(Mark::Generator | Mark::AtCeiling) => String::new(),
            Code::Mark(_) | Code::Invariant(_) => format!("{}: ", words(reason.code().id())),
            _ => String::new(),
        };
        let ran = if reason.code() == LimitCode::Interrupted.into() { "; the figures are of what ran" } else { "" };
        page.paragraph(2, tint, &format!("{name}{}{ran}", with_cure(reason, Asker::Load)));
    }
}

/// What was asked for, in words.
fn shape(spec: &LoadSpec) -> Vec<String> {
    let connections = counted(spec.connections.into(), "connection", "connections");
    let mut parts = match spec.model {
        LoadModel::Closed => vec![format!("closed, {connections}")],
        LoadModel::Open { rate_per_s, arrivals } => {
            let spacing = match arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "Poisson",
            };
            vec![format!("open, {} requests/s asked, {spacing} arrivals", number(rate_per_s)), connections]
        }
    };
    if spec.pipeline > 1 {
        parts.push(format!("{} pipelined", spec.pipeline));
    }
    if !spec.keep_alive {
        parts.push("a connection per request".to_owned());
    }
    if let Extent::Requests { count, .. } = spec.extent {
        parts.push(counted(count, "request", "requests"));
    }
    let of_ns = |ns: u64| seconds(ns as f64 / NS_PER_S as f64);
    parts.extend(spec.timeout_ns.map(|ns| format!("time-out {}", of_ns(ns))));
    if spec.warm_up_ns > 0 {
        parts.push(format!("after {} of warm-up", of_ns(spec.warm_up_ns)));
    }
    parts
}

fn latencies(page: &mut Page, latencies: &Latencies) {
    let rows = [
        ("response time", &latencies.response),
        ("total time", &latencies.total),
        ("service time", &latencies.service),
        ("lateness", &latencies.lateness),
        ("first byte", &latencies.first_byte),
        ("connect", &latencies.connect),
        ("handshake", &latencies.handshake),
    ];
    let rows: Vec<(&str, &LatencySummary)> =
        rows.into_iter().filter_map(|(name, summary)| Some((name, summary.as_ref()?))).collect();
    if rows.is_empty() {
        return;
    }
    page.gap();
    let header = LATENCY_HEADER.map(str::to_owned);
    let cells: Vec<Vec<String>> = rows.iter().map(|(name, summary)| latency_row(name, summary)).collect();
    page.table(&table::lines(Some(&header), &cells, 1));
    if page.is_verbose() {
        populations(&rows).iter().for_each(|line| page.paragraph(2, Tint::Dim, line));
    }
    footnotes(page, &rows, &cells);
}

/// The same with the generator's standstills taken off.
fn undisturbed(page: &mut Page, stood: &Standstills, least: Option<&Latencies>) {
    let Some(without) = least else { return };
    let rows =
        [("response time", &without.response), ("total time", &without.total), ("service time", &without.service)];
    let rows: Vec<Vec<String>> =
        rows.into_iter().filter_map(|(name, summary)| Some(latency_row(name, summary.as_ref()?))).collect();
    if stood.requests == 0 || rows.is_empty() {
        return;
    }
    page.gap();
    let held = counted(stood.requests, "request", "requests");
    let never_sent = match stood.never_sent {
        0 => String::new(),
        many => format!(" ({} never sent: left out)", thousands(many)),
    };
    let text = format!("At least, not counting the generator's pauses, which held up {held}{never_sent}:");
    page.paragraph(0, Tint::Plain, &text);
    page.table(&table::lines(Some(&LATENCY_HEADER.map(str::to_owned)), &rows, 1));
}

fn latency_row(name: &str, summary: &LatencySummary) -> Vec<String> {
    let bounded = |value: Option<f64>, bound: bool| match value {
        None => "–".to_owned(),
        Some(us) if bound => format!("≥ {}", duration_us(us)),
        Some(us) => duration_us(us),
    };
    let cell = |value: Option<f64>| bounded(value, value.is_some_and(|us| summary.is_lower_bound(us)));
    let mut row = vec![name.to_owned()];
    row.extend([summary.p50, summary.p90, summary.p99, summary.p999].map(cell));
    // What failed without a time ranks above all that have one.
    let max_is_bound = summary.failed > 0 || summary.max.is_some_and(|us| summary.is_lower_bound(us));
    row.push(bounded(summary.max, max_is_bound));
    // A single unfinished request makes the mean a lower bound, wherever it lies.
    row.push(bounded(summary.mean, summary.censored + summary.failed > 0));
    row
}

/// Which requests the rows are about; rows about the same ones share a line.
fn populations(rows: &[(&str, &LatencySummary)]) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (name, summary) in rows {
        let mut text = format!("{}: {}", counted(summary.count, "value", "values"), members_words(summary.population));
        if summary.censored > 0 {
            let censored = thousands(summary.censored);
            text.push_str(&format!("; {censored} without a whole reply, counted at the age reached"));
        }
        if summary.saturated > 0 {
            text.push_str(&format!("; {} above one hour, counted as one hour", thousands(summary.saturated)));
        }
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], text)),
        }
    }
    groups.into_iter().map(|(names, text)| format!("{}, {text}", names.join(" and "))).collect()
}

fn footnotes(page: &mut Page, rows: &[(&str, &LatencySummary)], cells: &[Vec<String>]) {
    let shown = |mark: &str| cells.iter().flatten().any(|cell| cell.starts_with(mark));
    let most = |of: fn(&LatencySummary) -> u64| rows.iter().map(|(_, summary)| of(summary)).max().unwrap_or(0);
    let (unfinished, saturated) = (most(|it| it.censored), most(|it| it.saturated));
    let (unfinished, failed) = ((unfinished, "had no whole reply, counted at the age reached"), most(|it| it.failed));
    let why = [unfinished, (failed, "failed without a time")].into_iter().filter(|(many, _)| *many > 0);
    let why: Vec<String> = why.map(|(many, text)| format!("{} {text}", counted(many, "request", "requests"))).collect();
    if shown("≥") {
        page.paragraph(2, Tint::Dim, &format!("≥ at least: {}", why.join(", ")));
    }
    let lost = |row: &(&str, &LatencySummary)| QUANTILES.into_iter().any(|q| row.1.is_lost(q));
    if let Some((name, most)) = rows.iter().copied().find(lost) {
        let failed = percent(most.failed_share());
        page.paragraph(
            2,
            Tint::Dim,
            &format!("– not known: {failed} of the requests failed, and those have no {name}"),
        );
    }
    if saturated > 0 {
        let values = counted(saturated, "value", "values");
        page.paragraph(2, Tint::Dim, &format!("{values} above one hour, counted as one hour"));
    }
    if page.is_verbose() && shown("–") && rows.iter().any(|(_, summary)| summary.count > 0) {
        page.line(Tint::Dim, "  – not estimable: too few samples");
    }
}

fn books(page: &mut Page, measured: &Measurement) {
    let books = &measured.accounting;
    let kinds = |total: u64, none: &str, kinds: Vec<(&str, u64)>| match total {
        0 => vec![(none.to_owned(), 0)],
        _ => kinds.into_iter().map(|(id, count)| (words(id), count)).collect(),
    };
    let not_sent = books.not_sent.iter().map(|(kind, count)| (kind.id(), *count)).collect();
    let failed = books.failed.iter().map(|(kind, count)| (kind.id(), *count)).collect();
    let mut scheduled = vec![("sent".to_owned(), books.sent)];
    scheduled.extend(kinds(books.not_sent_total(), "not sent", not_sent));
    let mut sent = [("ok", books.ok), ("bad status", books.bad_status), ("bad body", books.bad_body)]
        .map(|(name, count)| (name.to_owned(), count))
        .to_vec();
    sent.extend(kinds(books.failed_total(), "failed", failed));
    sent.push(("in flight".to_owned(), books.in_flight_at_end));
    let late = model::sum(books.sent_late.values().copied());
    // All lines in one column of totals, so that they are seen to add up.
    let totals = table::right_aligned(&[books.scheduled, books.sent, late].map(thousands));
    page.entry(0, (Tint::Plain, "scheduled"), LABELS, &format!("{} = {}", unbroken(&totals[0]), sum(&scheduled)));
    page.entry(0, (Tint::Plain, "sent"), LABELS, &format!("{} = {}", unbroken(&totals[1]), sum(&sent)));
    if !measured.bad_statuses.is_empty() {
        let told = |(status, count): (&u16, &u64)| unbroken(&format!("{status:03}: {}", thousands(*count)));
        let statuses: Vec<String> = measured.bad_statuses.iter().map(told).collect();
        page.entry(0, (Tint::Plain, "bad status"), LABELS, &statuses.join(", "));
    }
    if let Some(imbalance) = books.imbalance() {
        page.entry(0, (Tint::Bad, "unbalanced"), LABELS, &imbalance_words(&imbalance));
    }
    if late > 0 {
        let causes: Vec<(String, u64)> =
            books.sent_late.iter().map(|(cause, n)| (late_words(*cause).to_owned(), *n)).collect();
        page.entry(0, (Tint::Plain, "sent late"), LABELS, &format!("{} = {}", unbroken(&totals[2]), sum(&causes)));
    }
}

fn sum(terms: &[(String, u64)]) -> String {
    let terms: Vec<String> =
        terms.iter().map(|(name, count)| unbroken(&format!("{name} {}", thousands(*count)))).collect();
    terms.join(" + ")
}

fn failures(page: &mut Page, failures: &[FailureCount]) {
    if failures.is_empty() {
        return;
    }
    page.gap();
    let header = ["failures", "side", "error", "count"].map(str::to_owned);
    let row = |failure: &FailureCount| {
        let side = if failure.side == Side::Us { "bourdon" } else { failure.side.id() };
        vec![words(failure.kind.id()), side.to_owned(), errno(failure.errno), thousands(failure.count)]
    };
    page.table(&table::lines(Some(&header), &failures.iter().map(row).collect::<Vec<_>>(), 3));
}

/// `told` says that its standstills are told already.
fn generator(measured: &Measurement, told: bool) -> String {
    let generator = &measured.generator;
    let threads = counted(generator.threads.len() as u64, "thread", "threads");
    let busiest = percent(generator.busiest_thread());
    let cost = measured.generator_cpu_us_per_request();
    let cost = cost.map_or(String::new(), |us| format!(", {} of CPU a request", duration_us(us)));
    let stall_us = generator.threads.iter().map(|thread| thread.longest_stall_us).fold(0.0, f64::max);
    let stood = match measured.standstills.as_ref().filter(|stood| stood.count > 0) {
        _ if told => String::new(),
        None => format!(", longest stall {}", duration_us(stall_us)),
        Some(stood) if stood.count == 1 => format!(", stood still once, for {}", duration_us(stood.sum_s * 1e6)),
        Some(stood) => {
            let [longest, sum] = [stood.longest_s, stood.sum_s].map(|it| duration_us(it * 1e6));
            format!(", stood still {} times, for {sum} in all, {longest} at most", thousands(stood.count))
        }
    };
    let starved = generator.threads.iter().map(|thread| thread.starved()).fold(0.0, f64::max);
    let starved = if starved < 0.01 { String::new() } else { format!(", {} waiting for a CPU", percent(starved)) };
    format!("{threads}, the busiest {busiest} busy{starved}{cost}{stood}")
}
