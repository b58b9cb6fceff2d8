//! Every threshold of a diagnosis, each with the reason for its value.

/// Probability from which on a suspect is proved instead of being looked for further.
pub(super) const SUSPECTED: f64 = 0.99;

/// Probability from which on a suspect is proved once nothing is left that would tell more.
pub(super) const LIKELY: f64 = 0.5;

/// Expected fall of entropy, in bits, below which an experiment is not worth its time: a suspect of 1 % that a clear sign would settle has
/// 0.08.
pub(super) const LEAST_GAIN_BITS: f64 = 0.01;

/// How often an experiment is made again that was void, in all.
pub(super) const MOST_ATTEMPTS: usize = 3;

/// Seconds that a launch takes beside its load, before any was made.
pub(super) const LAUNCH_S: f64 = 0.5;

/// Connections of the closed loads that look for a limit, one after the other: each sees limits of up to four fifths of it.
pub(super) const CROWDS: [u32; 4] = [1, 8, 64, 512];

/// The most connections that a proof may ask for.
pub(super) const MOST_CONNECTIONS: u32 = 2_000;

/// Share of the connections below which the requests at once (X·S) show a limit: above it the connections may be the limit.
pub(super) const LIMITED: f64 = 0.8;

/// CPUs' worth of time from which on one thread may be full, so that CPU explains what looks like a limit.
pub(super) const CPU_FULL: f64 = 0.7;

/// Share of the time in which a quota kept a server from any CPU, from which on it is told.
pub(super) const THROTTLED: f64 = 0.05;

/// Busy share of the generator from which on it explains that.
pub(super) const GENERATOR_FULL: f64 = 0.8;

/// How many service times a window has at least, so that its edges are a twentieth of it at most; and how long it may become for that.
pub(super) const SERVICE_TIMES: f64 = 20.0;
pub(super) const LONGEST_WINDOW_S: f64 = 10.0;

/// How many it has at least for a limit to be told by it: replies that all come at the same time are a tenth more or fewer by its edges.
pub(super) const FEWEST_SERVICE_TIMES: f64 = 9.0;

/// How far two rates may lie from each other that a proof takes for equal: edges of twenty service times, and the noise of a shared machine.
pub(super) const EQUAL: f64 = 0.10;

/// Service time from which on a burst shows how many requests are worked on at once: connecting and waking take some of it, a hundredth
/// of a second is well above that.
pub(super) const BURST_SERVICE_S: f64 = 0.01;

/// How many times what one request takes a burst takes up to which all of it fits, and from which on it does not: one in between is of a
/// server that works otherwise.
pub(super) const FITS: f64 = 1.3;
pub(super) const EXCEEDS: f64 = 1.7;

/// How far what bursts say may lie from throughput × service time.
pub(super) const BURSTS_AGREE: f64 = 0.15;

/// Bursts at most.
pub(super) const MOST_BURSTS: usize = 8;

/// Share of requests that may fail.
pub(super) const FAILED_SHARE: f64 = 0.001;

/// Light requests a second that show whether they wait for heavy ones.
pub(super) const PROBES_PER_S: f64 = 100.0;

/// How many times as long as another load one with light requests is, or one at a rate, or one that a server is spared by: what they show
/// is rare.
pub(super) const PROBES: f64 = 3.0;
pub(super) const STEADY: f64 = 3.0;
pub(super) const STEADY_PROOF: f64 = 7.5;

/// By how many times as long as another load the proof of stalls becomes longer where these are far apart, and how many times its usual length
/// it is at most.
pub(super) const STEADY_STEP: f64 = 2.5;
pub(super) const MOST_STEADY: f64 = 4.0;
pub(super) const PACED: f64 = 10.0;

/// Connections of a load that a server is spared by: few, so that each is used often.
pub(super) const PACED_CONNECTIONS: u32 = 2;

/// Requests a second on one connection from which on Linux delays acknowledgements there: replies 66 ms apart were acknowledged at once, and
/// those 33 ms apart were not (6.18, 28 November 2026).
pub(super) const ACKNOWLEDGED_LATE_PER_S: f64 = 25.0;

/// How many times as long as another load a server is kept busy before one that shows whether it has grown meanwhile: a pool that starts small
/// adds workers every second.
pub(super) const SETTLED: f64 = 5.0;

/// The same of one that waits for a reply where another load had none.
pub(super) const PATIENT: f64 = 5.0;

/// The same at most, where heavy requests are rare.
pub(super) const LONGEST_PROBES: f64 = 7.5;

/// Heavy requests of a load at least.
pub(super) const FEWEST_HEAVY: f64 = 12.0;

/// Heavy requests a second at most, and the share of the time that they may compute.
pub(super) const HEAVY_PER_S: f64 = 2.0;
pub(super) const HEAVY_SHARE: f64 = 0.2;

/// Seconds from which on a request counts as heavy: below, what light ones wait is within the noise of a machine.
pub(super) const HEAVY_S: f64 = 0.005;

/// Share of a heavy request's time that the slowest light one waits, from which on it waits for all of it; and how much it may be slow without.
pub(super) const WAITS_FOR_ALL: f64 = 0.7;
pub(super) const SLOW_ALONE: f64 = 0.35;

/// How many times the median the 99th percentile is, and by how many µs longer, from which on a tail is told that nothing explains.
pub(super) const LONG_TAIL: f64 = 4.0;
pub(super) const LONG_TAIL_US: f64 = 10_000.0;

/// How many times as long replies take in the second half of a steady load, from which on it is told.
pub(super) const SLOWING: f64 = 1.3;

/// Share of a heavy request's time that is CPU, from which on it computes.
pub(super) const COMPUTES: f64 = 0.5;

/// Share of what a closed load showed at which a steady load goes, and the most requests a second.
pub(super) const STEADY_SHARE: f64 = 0.4;
pub(super) const STEADY_PER_S: f64 = 1_000.0;

/// Connections of doses, of which the first takes about as long as another load, and its requests at most and at least.
pub(super) const DOSE_CONNECTIONS: u32 = 16;
pub(super) const MOST_DOSE: f64 = 50_000.0;
pub(super) const LEAST_DOSE: f64 = 50.0;

/// How many times as long as expected a dose may take: a server that was just launched is slower, and one that answers no more is not waited for.
pub(super) const LATE_DOSE: f64 = 4.0;

/// How many deaths of a server end its diagnosis, and how many times as large a dose is after each, and after a dose that it did not answer to its
/// end: what a server keeps may have ended it, or left no room for more.
pub(super) const MOST_DEATHS: usize = 3;
pub(super) const FEWER_AFTER_A_DEATH: f64 = 0.125;

/// How many times what a reply takes a load lasts in which none came, before it is told.
pub(super) const LONG_FOR_A_REPLY: f64 = 5.0;

/// Requests of the largest dose from which on threads or files that grow with each are no pool that fills: larger than any pool.
pub(super) const FEWEST_FOR_PIECES: u64 = 2_000;

/// Round trips to what is behind a server, one after another, from which on a request waits for many: a look-up and what it leads to are two.
pub(super) const MANY_ROUND_TRIPS: f64 = 2.5;

/// By how much each takes longer for them to be counted: a share of what a request takes, far above what a relay costs, and short enough for a
/// hundred of them to end within a load.
pub(super) const FARTHER_SHARE: f64 = 0.2;
pub(super) const FARTHER_S: f64 = 0.002;
pub(super) const FARTHER_MOST_S: f64 = 0.02;

/// How far the number that two delays show may lie from each other, and the fewest requests that tell it.
pub(super) const TRIPS_AGREE: f64 = 0.25;
pub(super) const FEWEST_ASKED: u64 = 5;

/// Growth from the first dose to four times as much from which on it is looked at: twice what the resident memory of a quiet server
/// moves by, and more threads or files than a pool or the connections of a load make.
pub(super) const GROWN_BYTES: f64 = 2.0 * 1024.0 * 1024.0;
pub(super) const GROWN_PIECES: f64 = 20.0;

/// The same as bytes of each request: a heap that is collected grows by some bytes a request for long (V8 by 25, over 200,000 requests,
/// 28 November 2026) and keeps nothing.
pub(super) const BYTES_A_REQUEST: f64 = 64.0;

/// How far the growth a request of two doses may lie from that over all of them: growth that saturates falls to nothing.
pub(super) const LINEAR: f64 = 0.4;

/// How much of the growth a second under doses a server may show that is hardly asked.
pub(super) const GROWS_IDLE: f64 = 0.25;
