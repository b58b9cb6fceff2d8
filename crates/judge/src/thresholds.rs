//! Every threshold of the judgement, in one place, each with the reason for its value.

mod rest;

// Pictures draw these, too.
pub use model::{POOL_SHARE_OF_CONNECTIONS, SERIAL_AT_MOST};
pub(crate) use rest::*;

/// Blocks needed for a verdict. At six the sign interval reaches 95 % for the first time (1 − 2·2⁻⁶ = 96.9 %); with
/// fewer a result is preliminary.
pub const BLOCKS_FOR_A_VERDICT: usize = model::BLOCKS_FOR_A_VERDICT as usize;

/// Two-sided confidence of the interval of a run whose number of blocks is fixed, and of the rule that ends another one.
pub const CONFIDENCE: f64 = 0.95;

/// Level of every test: 1 − `CONFIDENCE`.
pub const SIGNIFICANCE: f64 = 0.05;

/// Level of the tests behind a verdict in a run that ends as soon as it is precise. It ends where the scatter looks
/// small, so tests at 5 % would be wrong in up to 6.8 % of runs of 6 to 12 blocks and 7.5 % of 6 to 30; at 3 % they
/// are wrong in at most 4.3 and 4.9 % (normal sessions without a margin; docs/STATISTICS.md).
pub const SIGNIFICANCE_WHEN_STOPPED: f64 = 0.03;

/// Level of all later looks together. Raising the blocks of a run after a look is stopping without a rule, and each raise is
/// one more look: it has half of what those before it left, so that they add no more than this to what the first may be
/// wrong in, however many there are and whatever made somebody look again (Bonferroni).
pub const SIGNIFICANCE_OF_LATER_LOOKS: f64 = 0.01;

/// Relative difference that the two sides of Little's identity may show: clock stamps are shared by all replies of
/// one receive, so the sums differ a little even when the books are right.
pub const IN_FLIGHT_TOLERANCE: f64 = 0.01;

/// Request-seconds by which the two sides may differ whatever their size: below, a run is so short that single clock stamps decide.
pub const IN_FLIGHT_ABSOLUTE_S: f64 = 0.001;

/// How long Linux waits with an acknowledgement for something to send along, in µs: 40 ms at least (`TCP_DELACK_MIN`), and a tick
/// or two of its clock more.
pub const DELAYED_ACK_US: std::ops::RangeInclusive<f64> = 38_000.0..=55_000.0;

/// Bytes of a reply above which its body may as well wait for an acknowledgement because the first ten segments of a connection are on
/// their way (RFC 6928).
pub const SHORT_REPLY_BYTES: f64 = 14_000.0;

/// Time to connect, in µs, above which a round trip of the network may be what is taken for a delayed acknowledgement.
pub const NEAR_US: f64 = 5_000.0;

/// Replies that some connection has had when others had none: so many come to one by chance only where nobody has to wait for a turn.
pub(crate) const HELD_REPLIES: u64 = 5;

/// Bytes of memory by which one server may differ from itself between two sessions: means of six launches of one Go server of 12.7 MiB were 200 and 270 KiB apart in two of
/// eight sessions, where their scatter made 90 KiB likely (28 November 2026).
pub(crate) const LEAST_MEMORY_BYTES: f64 = 512.0 * 1024.0;

/// Share of replies that end their connection from which on it is the rule, and the replies that this takes.
pub(crate) const CLOSED_SHARE: f64 = 0.9;
pub(crate) const CLOSED_REPLIES: u64 = 20;

/// Stalls from which on equal distances are no accident: three distances of random ones would lie within 15 % of their mean in 1.5 %
/// of loads (200,000 simulated).
pub const REGULAR_STALLS: usize = 4;

/// How far the distances of stalls may lie from their mean, as a share of it.
pub const SAME_PERIOD: f64 = 0.15;

/// Share of a figure below which a change of it is not seen: what three significant digits resolve at worst.
pub(crate) const RESOLVED: f64 = 0.001;

/// Slack on the Markov bound: histograms keep three significant digits.
pub const MARKOV_TOLERANCE: f64 = 0.01;

/// The drain after the window lasts at most this long, so a request that was sent inside the window can have spent
/// this much of its service time outside of it. The end of a slice waits for less ([`SLICE_DRAIN_S`]), for the other targets idle
/// meanwhile; what holds with the longer one holds there, too.
pub const DRAIN_S: f64 = 1.0;

/// Timers may fire this much early, so a handler that asks for S may truly wait S − 1 ms.
pub const TIMER_EARLY_S: f64 = 0.001;

/// Difference between two servers' replies in size from which it is asked whether they are the same answer. Dates and ids
/// have a fixed length or nearly so.
pub const REPLY_SIZE: f64 = 0.01;

/// Share of the window for which a generator thread waited for a CPU from which the server may have waited as well, so
/// that what bounded a load may be the machine.
pub(crate) const STARVED: f64 = 0.1;

/// Share of the window for which a generator thread waited for a CPU from which that is told. A choice: less explains nothing.
pub const WAITED: f64 = 0.01;

/// As many times as long as it was, a warm-up that was too short is worth trying next. A choice.
pub const MORE_WARM_UP: f64 = 2.0;

/// The shortest warm-up that is worth trying next, in seconds. A choice: what is shorter was hardly one.
pub const LEAST_WARM_UP_S: f64 = 5.0;

/// Share of the window for which a generator thread was busy, or waited for a CPU, from which the generator may have been
/// the limit. Well below 1, for a thread that is full for 80 % of the window delays what it does in the rest.
pub const GENERATOR_BUSY: f64 = 0.80;

/// Share of the window from which the generator's own standstills void an open load and make a closed one a lower bound:
/// the default margin of a comparison, which they could then cause.
pub const STANDSTILL_SHARE: f64 = 0.05;

/// Shortest standstills that do so, in seconds: windows of an exact number of requests may be shorter than a thread's turn
/// on a CPU.
pub const STANDSTILL_LEAST_S: f64 = 0.1;

/// Openings in place of connections that the server ended, for each reply, from which it is said: opening one costs about
/// as much as a request, so that it is then a tenth of what was measured.
pub const RECONNECTS: f64 = 0.1;

/// Seconds after which Linux has sent the first packet of a connection again that nobody answered: once, twice, three times
/// (RFC 6298: one second, doubled each time).
pub const ASKED_AGAIN_S: [f64; 3] = [1.0, 3.0, 7.0];

/// How much later than that such a connection opens at most, a share: what else it takes is short beside a second.
pub const ASKED_AGAIN_WITHIN: f64 = 0.1;

/// Busy share of the target's CPUs from which the target is the limit.
pub const TARGET_BUSY: f64 = 0.95;

/// Share of N ÷ S from which throughput is what the handler delay allows; servers cannot be ranked there.
pub const AT_CEILING: f64 = 0.98;

/// Share of a closed run's connection time that completed requests must account for.
pub const SERVED_SHARE: f64 = 0.9;

/// Completions per connection slot below which a trial is thin: the edges of the window then weigh over 3 %.
pub const THIN_COMPLETIONS: f64 = 30.0;

/// A latency must be this many times what the generator may have added to it, its lateness or its standstills, to be the
/// server's rather than the generator's.
pub const LATENESS_FACTOR: f64 = 10.0;

/// Part of the requests above a quantile that the generator must have touched, by its lateness or by its standstills, to be
/// able to move the quantile: a tenth of them moves a p50 to the p55, a p99 to the p99.1 at most. So it is with other targets in its
/// slices, by the share of the time in which they used a CPU: who waits behind those that they held up is ten times as many only
/// where a server is busy for nine tenths.
pub const TOUCHED_PART: f64 = 0.1;

/// Share of the CPUs of target or generator, whichever has fewer, from which a trial is noisy when the hypervisor took as much
/// anywhere. A choice: as large as the smallest differences between servers that one wants to see.
pub const NOISY_STEAL: f64 = 0.02;

/// The same share when other processes used as much. A choice: wider than the limit on steal,
/// for the kernel's own threads and interrupts, which the load causes, count as others.
pub const NOISY_OTHERS: f64 = 0.10;

/// How far from what they were alone launches in slices may have been for what others used evenly, as a logarithm and a mean over launches, from
/// which on that may have cost one of two different programs more, where they are called the same or the figure has no bound. On a quiet machine of two CPUs it was 0.8 to 1 % (28 November 2026, with an editor
/// and short scripts); a choice, as that for steal.
pub const UNEVEN: f64 = 0.02;

/// Most of its CPUs that a disturbed target is taken to have lost. A choice: a launch that was left a tenth says nothing.
pub const MOST_LOST: f64 = 0.9;

/// Most by which a disturbance multiplies the CPU time of a request. What others take of a CPU is not charged to the
/// target; they can only make its own time worth less, by what they push out of its caches and by the half of a core that
/// a sibling thread uses, and two threads of a core never do less together than one alone by much. It divides it by no more: what
/// they spare a target are wake-ups, and of `specimen clean`, which does little else, those are a third of its CPU time.
pub const SHARED_CORE_COST: f64 = 2.0;

/// Blocks that must all show a change for noise not to have made it, where it hits both servers alike. Whatever the noise is
/// like, equals launched in random order change places in each block by the toss of a coin: all of ten fall on one side in
/// 2 of 1,024 runs (the sign test; Fisher's randomisation), so that 25 figures at once stay within 5 %.
pub const CONSISTENT_BLOCKS: usize = 10;

/// Share of its mean length by which a slice is longer or shorter. A choice: enough that what recurs (a quota of CPU time each
/// 100 ms, a collector of garbage) falls elsewhere in the next slice of the same launch.
pub const SLICE_SPREAD: f64 = 0.2;

/// How long the end of a slice waits for replies that are still on their way, in seconds. The engine's own figure: whose replies
/// outlast it has requests in flight where there are to be none.
pub const SLICE_DRAIN_S: f64 = 0.1;

/// Replies that each slice needs. A choice: with fewer its edges, at which a reply more or less is counted, weigh over 5 %.
pub const SLICE_REPLIES: u64 = 20;

/// Requests that are to come due in a slice as a mean, where the plan says how many do: of a plan with fewer the slices are longer.
/// A choice: twice what a slice needs, for slices differ in length and arrivals in number.
pub const SLICE_REQUESTS: f64 = 40.0;

/// Rounds of a launch at least: with two, each of two servers is first once.
pub const LEAST_ROUNDS: u32 = 2;

/// Garbage collections within a launch's slices from which its p99 holds their share. A choice: of fewer, one more or less
/// changes by over a tenth how many replies wait for one, and slices have them by chance.
pub const SLICE_COLLECTIONS: f64 = 10.0;

/// CPUs that a target uses in slices of others from which it is said. A choice: as much as a comparison in slices resolves.
pub const SPILL: f64 = 0.01;

/// Share by which replies take longer in the first halves of a launch's slices than in the second from which the server is slow after it idled, under a closed load: about half
/// of it is missing in the rate. Of 108 to 348 slices each, Go, Node and the clean specimen had 1 to 5 % less, and Netty 6 % more (± 7 %), on a busy machine.
pub const SLOW_AFTER_IDLING: f64 = 0.1;

/// The same under an open load, of which few requests wait long for the machine and weigh most: where others used 80 % of the CPUs,
/// the same Node server had 19 to 96 % more in the launches of one session, and 7 to 24 % in those of another.
pub const SLOW_AFTER_IDLING_OPEN: f64 = 1.0;

/// By what share two latencies differ at least that a histogram of three digits tells apart.
pub const TOLD_APART: f64 = 0.002;

/// Share by which a request costs more CPU while a server is woken than in its slice from which it has more to do once it is asked
/// again, under a closed load. While others used all CPUs, 12 slices each: nginx had 3 % more, Go 5 to 10 %, Tomcat 10 %, Node 12 to
/// 34 %, Netty 34 %; a Go server that renewed something of 60 ms had 139 to 183 %.
pub const DEAR_AFTER_IDLING: f64 = 1.0;

/// The same under an open load, of whose few requests the first ones wake threads: 20 of them had 9 % less (fasthttp) to 21 % more (axum, Tomcat), and Netty 99 to 110 % more.
pub const DEAR_AFTER_IDLING_OPEN: f64 = 2.0;

/// Share of the CPU of a launch's slices that waking its target took beyond what those requests cost in slices, above which its figures in slices are in doubt. A choice, made
/// when preludes were of 20 ms: one had about 7 % of a slice's requests, which cost a third more where servers were dearest that renew nothing (Node and Netty, while others used all CPUs).
pub const WAKING: f64 = 0.03;

/// Share of its CPU up to which waking is taken to be of the same kind for two that are compared, so that what it takes both makes no difference between them. A choice: on a machine
/// whose memory others used, waking a Go server that only answers took 6 to 10 ms of CPU before each slice of 280 ms, 2 to 3.6 %, and another up to 6 %; on quieter days 1 to 3 ms.
pub const WAKING_ALIKE: f64 = 0.1;

/// The same beyond what waking took the one of the same turns that took least, of CPU per request: what all take does not tell two apart. A choice: a fifth of the margin.
/// Of the clean specimen in 12 launches of 120 slices it was 0.006 to 0.03 %.
pub const WAKING_APART: f64 = 0.002;

/// The same of what its requests waited, under an open load, of which few at a time are under way. A choice: with nothing to renew it was from 6 % less to 5 % more (Go,
/// fasthttp, Node, Netty and axum at 1,000/s, 16 slices each; closed, where [`WAKING`] is the limit, 0.3 % to 1.7 % more). A stall of 6 ms of all in each prelude is as much.
pub const WAITING_OPEN: f64 = 0.5;

/// Factor by which a quantile of the latency is longer with the requests that woke a target from which it is in doubt, under a closed
/// load: of the same servers p50 and p90 were up to 3 % longer with them and p99 up to 9 %.
pub const WAITING_RATIO: f64 = 1.25;

/// The same under an open load, where p90 was up to 3 % longer and p99 up to 27 %.
pub const WAITING_RATIO_OPEN: f64 = 2.0;

/// Half width of the band of what is the same, as a share, where launches are alone, or were recorded, unless somebody asks for another.
pub const MARGIN: f64 = 0.05;

/// By how much, as a share, a machine may have been slower at one of two times at which nobody held the servers against each other, unless somebody
/// knows better. The shared machines on which this was built were a third slower in one hour than in another; within one half hour of
/// theirs, equals measured for 90 s at two random times differ by up to 11 % in CPU time (`simulation/trace`), and where others used the
/// machine, by more in what a clock on the wall shows.
pub const DRIFT: f64 = 0.35;

/// Two-sided confidence of the interval of that share, which must not hold none. Higher than elsewhere, for every launch is asked,
/// and one false alarm sends its conditions to launches alone for the rest of the session.
pub const HALVES_CONFIDENCE: f64 = 0.999;

/// Factor by which two halves of a slice differ at most in that interval: a stall of one slice must not hide in its own scatter what
/// all show.
pub const HALVES_MOST: f64 = 4.0;

/// Slices from which it is asked: of equal halves that scatter as widely as that, the first is the slower in all of ten by chance
/// in 1 of 1,024 launches.
pub const HALVES_SLICES: usize = 10;

/// Share by which requests of an open load take longer in the second halves of a launch's slices than in the first from which a slice
/// is too short for its queue to settle. A choice: a queue that grows throughout a slice makes the second halves 80 % slower (by
/// chance alone, at capacity: as the root of the time) to three times as slow (steadily, beyond it), and less as far as requests take
/// what they take without a queue.
pub const UNSETTLED: f64 = 0.25;

/// Share of the requests of an open load that have no reply by the end of their slice from which the server falls behind. A choice: what
/// is less is seen by how the times grow, and launches whose rates differ by so little are compared by their times.
pub const FALLS_BEHIND: f64 = 0.02;

/// Standard deviations by which they are more than chance. What is in flight at one of a slice's two edges varies at least as a
/// Poisson variable of that mean.
pub const EDGES_BY_CHANCE: f64 = 3.0;

/// Share of the CPUs of target or generator, whichever has fewer, that the hypervisor or other processes took over a round of
/// slices from which the round is left out, and share of the round for which a generator thread waited for its CPU. A choice:
/// what is taken evenly falls on all targets of a round alike, and what a shared machine loses without cease is a few per cent.
pub const ROUND_TAKEN: f64 = 0.1;

/// Share of the rounds up to which those that others disturbed are left out: of more, none is, and the block is disturbed.
pub const ROUNDS_LEFT_OUT: f64 = 0.25;

/// Share of the scheduled requests that must have been sent for an open rate to count as reached.
pub const RATE_SENT: f64 = 0.999;

/// Share of requests sent late from which the report says so; from which the generator, where requests were also never sent,
/// is to blame for them.
pub const RATE_LATE: f64 = 0.01;

/// Share of requests that the generator's own machine kept from being sent (out of ports, out of files) from which
/// the generator is the limit.
pub const OWN_SHORTAGE: f64 = 0.01;

/// Requests a second that no single generator thread can send: a request costs a generator at least 1 µs of CPU in
/// the kernel even with 16 pipelined; the measured raw floor without pipelining is about 4.8 µs.
pub const UNATTAINABLE_RATE_PER_THREAD: f64 = 1_000_000.0;

/// Lowest open rate that a calibration tries. A machine that cannot keep to it is unfit to measure on.
pub const LOWEST_RATE_PER_S: f64 = 1_000.0;

/// Highest open rate that a calibration tries: more than the loopback of any machine carries for one thread.
pub const MOST_RATE_PER_S: f64 = 1_024_000.0;

/// Ratio of two rates that a calibration does not tell apart. A choice: a shared machine's speed drifts by as much.
pub const RATE_RESOLUTION: f64 = 1.1;

/// A mark is a cell's, and its throughput only a lower bound, when at least this share of its launches says so.
pub const SHARE_OF_LAUNCHES: f64 = 0.5;

/// Lag-1 correlation of block values above which a session is marked correlated. For independent normal blocks
/// it is exceeded in 4 to 5 % of sessions of 6 to 12 blocks (simulated); larger sessions use Anderson's limit.
pub const BLOCK_CORRELATION: f64 = 0.35;

/// Random orders of the blocks by which a session is tried for trend and correlation. A p value of 5 % is then known
/// to ± 0.7 points, and the test costs less than a millisecond.
pub const BLOCK_PERMUTATIONS: u32 = 999;

/// Whole seconds that a window needs for its course to be classified: in fewer no test can tell a change of two
/// seconds from chance (with 10 its p value is at best 2 ÷ 45 = 4.4 %).
pub const COURSE_SECONDS: usize = 10;

/// Seconds that a level lasts at least: a single odd second is an outlier and no level.
pub const SEGMENT_SECONDS: usize = 2;

/// Random orders of the seconds by which a change point is tried.
pub const CHANGE_PERMUTATIONS: u32 = 999;

/// Relative change of throughput from which two levels of a launch differ: the default margin of a comparison.
pub const THROUGHPUT_CHANGE: f64 = 0.05;

/// Relative change of a second's p99 from which two levels differ. A choice: a tail of one second rests on a hundredth
/// of its requests and scatters far more than their number. No number of them is asked for: seconds are compared with each
/// other by permuting them, which holds for the largest of a few, too, and in the open model nothing else shows a slow-down.
pub const P99_CHANGE: f64 = 0.25;

/// Relative change of a second's CPU per request from which two levels differ: twice that of throughput, for the
/// kernel counts in ticks of 10 ms.
pub const CPU_CHANGE: f64 = 0.1;

/// CPU seconds in each second below which the ticks of 10 ms are too coarse for a course.
pub const CPU_TO_CLASSIFY_S: f64 = 0.2;

/// Relative change of memory from which it grew. A choice: a heap breathes with its collector.
pub const MEMORY_CHANGE: f64 = 0.25;

/// Share of its mean pace over the window at which memory still grows in the last quarter of it where it has not levelled off.
/// A choice: what nears a limit with a time constant of a quarter of the window is at an eighth of it by then, a leak at the
/// whole.
pub const GROWING_PACE: f64 = 0.25;

/// Fewest seconds from which a pace is told.
pub const SECONDS_FOR_A_PACE: usize = 4;

/// Lows of memory from which they show a leak: two whole teeth of a sawtooth, or one and a part. One looks like a leak while it
/// rises.
pub const LOWS_FOR_A_LEAK: usize = 3;

/// Share of the window that the last level must fill for a launch to have settled: Barrett et al. (2017) ask for the
/// last quarter of the iterations to be without a change.
pub const SETTLED_SHARE: f64 = 0.25;

/// Seconds from the end of a window to the launch after it, beyond which a run was interrupted in between, in records that do not
/// tell when a trial ended: the replies that are still to come, the census, a profile, and the end of the target. Up to 9 s
/// were seen (PHP in Apache, io-models, 2026-11-21, 2 cores).
pub const AFTER_A_LOAD_S: f64 = 30.0;

/// Seconds from the end of a trial to the begin of the next, beyond which a run was interrupted in between: bourdon only keeps
/// the record there. A choice.
pub const BETWEEN_TRIALS_S: f64 = 5.0;

/// Seconds under load by which a server is taken to be warm, where nothing else is known of it. A choice: virtual machines
/// take 20 s and more (Barrett et al., OOPSLA'17), and what compiles or fills after a minute is a matter of its own.
pub const WARM_BY_S: f64 = 60.0;

/// Share of the half width below which the distance to a threshold is taken to be none.
pub const NO_DISTANCE: f64 = 1e-3;

/// Share of requests that may fail before the answer is bad, unless somebody allows another. A choice: more than the
/// requests that a server's restart or its idle time-out takes with it, fewer than its users would put up with.
pub const ALLOWED_FAILURES: f64 = 0.01;

/// Seconds without a reply at the window's end from which a server that ends requests has stopped answering; in windows
/// below ten of them this share of the window. A choice: a whole second is what the course of a load keeps.
pub const SILENCE_S: f64 = 1.0;

/// Seconds without a reply from which a load tells of them. A choice: what the measurement keeps, and longer than a
/// collector of garbage should take.
pub const SILENCE_TOLD_S: f64 = 0.5;

/// See `SILENCE_S`.
pub const SILENCE_SHARE: f64 = 0.1;

/// As many times the time of its slowest reply a server must be silent to the end, and leave requests in flight unanswered
/// after the window, too, to be called hung, and as many times its mean one to be called stopped where it ended some: replies
/// may come in bursts, and the next one is then due within about one service time.
pub const HUNG: f64 = 3.0;

/// Replies that would have come in that time at the pace before. Of fewer, a server that fails now and then may lack all
/// by chance; one that serves so seldom and stops shows in the share of failures.
pub const SILENCE_REPLIES: f64 = 10.0;

/// Slices from which on it is told that most of a target's had requests that waited too long. A choice: two blocks have as many at
/// least, and of four that are slow by chance one time in ten, three are so one time in 270 (of five, one time in 117).
pub const SLICES_TOLD: u32 = 4;

/// Launches, all of whose servers ended under load or served nothing, after which no other is made. A choice: one may be an
/// accident.
pub const IN_VAIN: usize = 2;

/// Launches in one place that lost their guard under load, after which no other is made there. A choice: a target may be what
/// kills its guard, each time.
pub const UNGUARDED: usize = 2;

/// Handler delay from which findings are looked for: below, the server's own time hides the waiting.
pub const FINDING_DELAY_S: f64 = 0.005;

/// Connections from which a flat throughput says something about serialisation.
pub const FINDING_CONNECTIONS: f64 = 10.0;

/// CPUs' worth of time below which CPU is not the limit, not even that of a server with a single thread.
pub const FINDING_CPUS_USED: f64 = 0.5;

/// Requests at once below which a server does not even work one after the other, so another cause is at work.
pub const SERIAL_AT_LEAST: f64 = 0.5;

/// Requests at once from which a plateau may be a pool of workers.
pub const POOL_AT_LEAST: f64 = 1.5;

/// Least factor between the connections, or the delays, of plateaus that a pool shows in: with a smaller one, what grows
/// with them would seem to stay the same.
pub const POOL_CHANGE: f64 = 2.0;

/// Spread (largest ÷ smallest − 1) of X·S within which plateaus are equal.
pub const POOL_SPREAD: f64 = 0.15;

/// Slack on every bound of an audit, beyond the rounding of the printed figures: the histograms of some tools keep two
/// or three significant digits, and published durations are often the one asked for, not the one measured.
pub const AUDIT_SLACK: f64 = 0.01;

/// Shortest HTTP/1 reply in bytes: `HTTP/1.1 200 ` and two line ends (RFC 9112, section 4).
pub const SHORTEST_REPLY_BYTES: f64 = 17.0;

/// Width over which two quantiles count as equal, and below which a printed figure has digits enough for this to be
/// remarkable: equal p95 and p99 in whole milliseconds say nothing.
pub const EQUAL_QUANTILES: f64 = 0.005;

/// Spread (largest ÷ smallest − 1) of rates that are tied. Independent servers seldom come so close.
pub const TIES_SPREAD: f64 = 0.02;

/// Rows that must be tied for it to be said: four of few may be tied by chance or by being the same server.
pub const TIES_AT_LEAST: usize = 5;

/// Share of all rows that must be tied for it to be said. Of hundreds of rates over two decades, some 2 % fall within
/// any 2 % by chance.
pub const TIES_SHARE: f64 = 0.1;
