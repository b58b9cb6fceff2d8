//! What a target does while nobody asks it anything.

/// Share of a CPU used then from which a target may have had more to do. A choice: beside one that fills it, it gets half.
pub(crate) const NEVER_DONE: f64 = 0.25;

/// Share of a step at rest in which a target is at work. A choice: tickers, and threads that only look, take hundredths.
pub(crate) const AT_WORK: f64 = 0.1;

/// The last part of a rest, in which who still works is not done. A choice.
pub(crate) const LAST_PART: f64 = 0.1;

/// How long a step is at most of which a target must be at work for that share, in seconds: looks come every 50 ms unless they are held up.
pub(crate) const LATE_LOOK_S: f64 = 0.1;

/// CPU seconds up to which a target only tidies up at rest, where the other one is at work then, too. A choice: runtimes take 9 to 28 ms.
pub(crate) const TIDYING_S: f64 = 0.03;

/// For how long connections are closed after a load that a target had to itself, in seconds. A choice: 50 processes of Apache take 60 ms.
pub(crate) const CLOSING_S: f64 = 0.1;
