use std::net::{IpAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use engine::{IntervalLog, LoadError, RunOptions};
use model::{
    Arrivals, Extent, Interval, Load, LoadModel, LoadSpec, Measurement, Mix, NS_PER_S, ReplyExpectation, Request, Tls,
    TlsFault, TlsUse, Trust, Validity, Verdict,
};
use reaper::MORE_PROCESSES;
use report::format::counted;
use report::{Origin, Style, asked_load};

use crate::args::{ArrivalsArg, LoadArgs, LoadFormat};
use crate::bounded;
use crate::calibrate;
use crate::exit::{Exit, Failure};
use crate::framing;
use crate::interrupt::flag_on_interrupt;
use crate::load_files;
use crate::load_nodes;
use crate::load_seconds::{Progress, Seconds};
use crate::open_files::reserve_files;
use crate::output::{say, style, write_out};
use crate::request::{request, text_or_file};
use crate::saved_load;
use crate::sources;
use crate::url::Url;

/// Length of the window when none is asked for.
const DEFAULT_WINDOW_NS: u64 = 10 * NS_PER_S;

/// Warm-up when none is asked for. An exact number of requests has none: it means exactly those.
const DEFAULT_WARM_UP_NS: u64 = NS_PER_S;

/// How long one more attempt to connect may take that is made to name its error.
const ANOTHER_ATTEMPT: Duration = Duration::from_secs(1);

/// `bourdon load URL`.
pub(crate) fn run(args: &LoadArgs) -> Result<Exit, Failure> {
    let url = Url::parse(&args.url)?;
    let spec = spec(args, &url)?;
    if let Some(nodes) = &args.nodes.nodes {
        return load_nodes::run(args, nodes, &spec, &url.shown);
    }
    if args.nodes.link.key.is_some() {
        return Err(Failure::usage("--key is of nodes; add --nodes URL, the server of messages where they wait"));
    }
    reserve_files(spec.connections, 1, "-c ")?;
    foresee_ports(&spec)?;
    let log = load_files::prepare(args.output.as_deref(), args.histogram_log.as_deref())?;
    let stop = flag_on_interrupt()?;
    let mut log = log.map(IntervalLog::begin);
    let instrument = calibrate::instrument();
    let (started_at, started_ns) = saved_load::now();
    let shown =
        Origin { url: &url.shown, started_at, instrument, merged: &[], partial: None, not_one_load: None, part: None };
    let (progress, mut seconds) = (Progress::new(&spec), Seconds::of(&spec));
    let options = RunOptions { histograms: log.is_some(), ..RunOptions::default() };
    let brought = engine::bring(&spec, options, &stop, &mut |passed| {
        log.iter_mut().for_each(|log| log.add(&passed.second));
        if seconds.add(&passed.second) {
            progress.show(&passed.second.interval);
        }
    });
    let brought = brought.map_err(|error| match error {
        // What was asked for cannot be spoken: no server was asked.
        LoadError::Tls(error) => Failure::usage(format!("{error} (--ca FILE, or --insecure)")),
        // Nor where this machine does not give what the generator needs.
        LoadError::Thread(_) => Failure::usage(format!("{error}; use fewer threads (-t), or {MORE_PROCESSES}")),
        error => Failure::usage(error),
    })?;
    progress.finish();
    // For whoever puts it together with others that were made at the same time.
    let part = args.output.is_some().then(|| saved_load::encoded(brought.clone(), (started_at, started_ns)));
    let (measured, seconds) = (brought.conclude().measurement, seconds.end());
    let validity = judge::judge_load(&spec, calibrate::stored_limits(), args.allow_failures, &measured);
    let has_nothing = reached_nobody(&measured) || measured.window_s == 0.0;
    let saved = Origin { part: part.as_deref(), ..shown.clone() };
    let document = || report::load_json(asked_load(&spec), &validity, &measured, &seconds, &saved);
    let output = args.output.as_deref();
    let is_saved = output.filter(|_| !has_nothing).map_or(Ok(()), |file| load_files::save(file, &document()));
    let loaded = Loaded { spec: &spec, validity: &validity, measured: &measured, seconds: &seconds };
    let printed = print(args, &loaded, &shown);
    is_saved?;
    printed.map_err(|failure| failure.of_interrupted(measured.interrupted && output.is_some() && !has_nothing))?;
    if let Some(file) = output.filter(|_| !has_nothing) {
        say(format!("saved in {}", file.display()));
    }
    let errno = reached_nobody(&measured).then(|| connect_errno(&spec, &measured)).flatten();
    if reached_nobody(&measured) {
        say(unreached(&spec, &measured, errno, args.ca.as_deref()));
    }
    if let Some(file) = output.filter(|_| has_nothing) {
        say(format!("nothing was saved to {}: there is nothing to save", file.display()));
    }
    if let (Some(error), Some(file)) = (log.and_then(|log| log.end().err()), &args.histogram_log) {
        let (file, why, cure) = (file.display(), lab::why(&error), lab::cure(&error));
        return Err(Failure::usage(format!(
            "the histogram log {file} is not whole: {why}{cure}; nothing else is affected"
        )));
    }
    Ok(exit(&validity, &measured, errno, spec.address.ip()))
}

/// Whether all attempts to connect failed.
fn reached_nobody(measured: &Measurement) -> bool {
    let connections = &measured.connections;
    !connections.any() && connections.connect_failed > 0 && !measured.interrupted
}

/// Cause and cure where nobody was reached: more there is not to say of such a load.
fn unreached(spec: &LoadSpec, measured: &Measurement, errno: Option<i32>, ca: Option<&Path>) -> String {
    let (address, attempts) = (spec.address, counted(measured.connections.connect_failed, "attempt", "attempts"));
    let error = errno.map_or(String::new(), |errno| format!(": {}", report::errno(errno)));
    let why = errno
        .and_then(|errno| lab::lacking_here(errno, address.ip()))
        .map_or_else(|| no_connection(measured, ca), str::to_owned);
    format!("no connection to {address} in {attempts}{error}; {why}")
}

/// Why no connection was made, as the kernel says it: of the books, and where these have no request (the load ended with
/// its warm-up) of one more attempt.
fn connect_errno(spec: &LoadSpec, measured: &Measurement) -> Option<i32> {
    let booked = measured.failures.iter().map(|failure| failure.errno).find(|errno| *errno != 0);
    let again = || TcpStream::connect_timeout(&spec.address, ANOTHER_ATTEMPT).err()?.raw_os_error();
    booked.filter(|_| measured.tls.is_none()).or_else(again)
}

/// What may be wrong where no connection was made; `ca` is the file of authorities that was named.
fn no_connection(measured: &Measurement, ca: Option<&Path>) -> String {
    let failed = |tls: &TlsUse| tls.first_failure.as_ref().map(|why| (format!("TLS failed: {why}"), tls.first_fault));
    match measured.tls.as_ref().and_then(failed) {
        Some((why, Some(TlsFault::NotTls))) => {
            format!("{why}; does the port speak plain http? Then begin the URL with http://")
        }
        Some((why, Some(TlsFault::Untrusted))) => {
            let vouches = ca.map_or(String::new(), |file| format!(", nor does {} vouch for it", file.display()));
            format!(
                "{why}{vouches}; name the file of its authority, or of the certificate itself, with --ca, or check none with \
                 --insecure"
            )
        }
        Some((why, Some(TlsFault::OtherName))) => {
            format!("{why}; use a name that is in the certificate, or check none with --insecure")
        }
        Some((why, Some(TlsFault::Unanswered))) => {
            format!("{why}; does the port speak plain http? Then begin the URL with http://")
        }
        // It has its cure.
        Some((why, Some(TlsFault::OldCertificate))) => why,
        Some((why, None)) => format!("{why}; is it the right port, and does the certificate fit (--ca, --insecure)?"),
        None => "is the server running, and does it listen there?".to_owned(),
    }
}

/// Puts the arguments together into what the engine is asked for.
fn spec(args: &LoadArgs, url: &Url) -> Result<LoadSpec, Failure> {
    if args.threads > args.connections {
        let (threads, most) = (args.threads, args.connections);
        let connections = counted(most.into(), "connection", "connections");
        return Err(Failure::usage(format!("{threads} threads cannot share {connections}; use at most -t {most}")));
    }
    if args.no_keepalive && args.pipeline > 1 {
        return Err(Failure::usage("--pipeline needs connections that are kept; leave out --no-keepalive"));
    }
    let user = url.authorization.iter().map(|value| ("Authorization".to_owned(), value.clone()));
    let request = request(&args.request, &url.path, user)?;
    let expect_body = args.expect_body.as_deref().map(text_or_file).transpose()?;
    let extent = match args.requests {
        Some(count) => Extent::Requests { count, within_ns: args.duration },
        None => Extent::Window(args.duration.unwrap_or(DEFAULT_WINDOW_NS)),
    };
    let arrivals = match args.arrivals {
        ArrivalsArg::Constant => Arrivals::Constant,
        ArrivalsArg::Poisson => Arrivals::Poisson,
    };
    let default_warm_up_ns = if args.requests.is_some() { 0 } else { DEFAULT_WARM_UP_NS };
    let request = Request { host: url.authority.clone(), version: args.http, ..request };
    let mix = Mix::one(request, ReplyExpectation { status: args.expect_status, body: expect_body });
    if let Some((message, cure)) = framing::too_much_at_once(&mix, args.pipeline, "--pipeline ") {
        return Err(Failure::usage(format!("{message}; {cure}")));
    }
    Ok(LoadSpec {
        load: Load {
            mix,
            model: args.rate.map_or(LoadModel::Closed, |rate_per_s| LoadModel::Open { rate_per_s, arrivals }),
            connections: args.connections,
            pipeline: args.pipeline,
            keep_alive: !args.no_keepalive,
            timeout_ns: args.timeout,
            warm_up_ns: args.warm_up.unwrap_or(default_warm_up_ns),
            extent,
            network_delay_ns: 0,
        },
        start_spread_ns: 0,
        threads: args.threads,
        cpus: Vec::new(),
        seed: args.seed,
        sources: args.source.clone(),
        tls: tls(args, url)?,
        spin: args.spin,
        quick_ack: args.quick_ack,
        address: url.resolve()?,
    })
}

/// How the connections are secured; none for http.
fn tls(args: &LoadArgs, url: &Url) -> Result<Option<Tls>, Failure> {
    if !url.secure {
        let asked = [("--ca", args.ca.is_some()), ("--insecure", args.insecure), ("--tls-resume", args.tls_resume)];
        return match asked.into_iter().find(|(_, asked)| *asked) {
            Some((flag, _)) => Err(Failure::usage(format!("{flag} is about TLS; begin the URL with https://"))),
            None => Ok(None),
        };
    }
    let trust = match &args.ca {
        Some(file) => Trust::Authorities(bounded::read_text(file).map_err(|error| {
            Failure::usage(format!("cannot read {}: {error}; name a PEM file of certificates", file.display()))
        })?),
        None if args.insecure => Trust::Anyone,
        None => Trust::System,
    };
    Ok(Some(Tls { server_name: url.host.clone(), trust, resumption: args.tls_resume }))
}

/// Each source address has one port range towards one server; says beforehand when the connections need more.
fn foresee_ports(spec: &LoadSpec) -> Result<(), Failure> {
    if let Some(source) = spec.sources.iter().find(|source| source.is_ipv4() != spec.address.is_ipv4()) {
        return Err(Failure::usage(format!(
            "--source {source} cannot reach {}: not the same kind of address",
            spec.address
        )));
    }
    sources::refuse_strange(&spec.sources)?;
    let Some(range) = engine::local_port_range() else { return Ok(()) };
    too_few_ports(spec.connections, spec.sources.len(), *range.start(), *range.end()).map_or(Ok(()), Err)
}

fn too_few_ports(connections: u32, sources: usize, first: u16, last: u16) -> Option<Failure> {
    let each = u64::from(last.saturating_sub(first)) + 1;
    let (needed, available) = (u64::from(connections), each * sources.max(1) as u64);
    let enough = needed.div_ceil(each);
    (needed > available).then(|| {
        Failure::usage(format!(
            "{needed} connections need as many local ports, and there are {available} \
             (net.ipv4.ip_local_port_range is {first} to {last}); use at most -c {available}, name {enough} addresses \
             with --source (127.0.0.1,127.0.0.2,…), or widen the range"
        ))
    })
}

/// A load that was made, for the documents about it.
struct Loaded<'a> {
    spec: &'a LoadSpec,
    validity: &'a Validity,
    measured: &'a Measurement,
    seconds: &'a [Interval],
}

fn print(args: &LoadArgs, loaded: &Loaded<'_>, origin: &Origin<'_>) -> Result<(), Failure> {
    let Loaded { spec, validity, measured, seconds } = *loaded;
    let style = Style { verbose: args.verbose, ..style() };
    let text = match args.format {
        LoadFormat::Json => report::load_json(asked_load(spec), validity, measured, seconds, origin),
        LoadFormat::Csv => report::load_csv(seconds),
        LoadFormat::Text if reached_nobody(measured) => return Ok(()),
        LoadFormat::Text => report::load_text(spec, validity, measured, seconds, origin.url, style),
        LoadFormat::None => return Ok(()),
    };
    write_out(&text)
}

/// `errno` is why nobody was reached, where that is so.
fn exit(validity: &Validity, measured: &Measurement, errno: Option<i32>, peer: IpAddr) -> Exit {
    if measured.interrupted {
        Exit::Interrupted
    } else if errno.and_then(|errno| lab::lacking_here(errno, peer)).is_some() {
        Exit::Usage
    } else if !measured.connections.any() {
        Exit::Unreachable
    } else {
        Exit::of_answer(validity.failing.bad, validity.verdict == Verdict::Void)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_counted_by_source_address() {
        let said = |connections, sources| {
            too_few_ports(connections, sources, 32_768, 60_999).map(|failure| format!("{failure:?}"))
        };
        assert_eq!(said(28_232, 0), None);
        assert_eq!(said(56_464, 2), None);
        let refused = said(56_465, 1).unwrap();
        assert!(refused.contains("there are 28232") && refused.contains("name 3 addresses"), "{refused}");
    }
}
