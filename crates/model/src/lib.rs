//! The words of bourdon: what is asked (plan, load), what was seen (measurement, trial), what it means
//! (analysis), and the two traits through which time and the next trial come in from outside.
//!
//! Nothing here reads a file, a socket, a process or a clock.

mod accounting;
mod addition;
mod analysis;
mod asked_load;
mod audit;
mod audit_check;
mod audit_remark;
mod backend;
mod calibration;
mod cell;
mod cell_counts;
mod cell_launch;
mod claim;
mod clock;
mod compare;
mod compare_plan;
mod counting;
mod cure;
mod diagnosis;
mod difference;
mod ended;
mod environment;
mod event;
mod expression;
mod factor;
mod fault;
mod finding;
mod gate;
mod heap;
mod histogram;
mod judged;
mod latency;
mod limit_cause;
mod load;
mod mark;
mod mark_cause;
mod mark_note;
mod measured;
mod measurement;
mod memory_slope;
mod metric;
mod mix;
mod moment;
mod no_profile;
mod not_found;
mod observation;
mod outcome;
mod plan;
mod planner;
mod plausible;
mod published;
mod rank;
mod reason;
mod remarks;
mod request;
mod rotated;
mod rotation;
mod schema;
mod shift;
mod soak;
mod sound;
mod stacks;
mod stirred;
mod suspect;
mod suspicion;
mod target;
mod timeline;
mod tls;
mod trial;
mod units;
mod unready;
mod upstream;
mod validity;
mod withheld;
mod wrong_reply;

pub use accounting::{Accounting, Imbalance, sum};
pub use addition::{ADDITION_SCHEMA, ADDITION_SCHEMAS, Addition, AdditionLine, Purpose};
pub use analysis::*;
pub use asked_load::{AskedLoad, AskedReply, AskedTls, TrustKind, may_be_a_credential};
pub use audit::*;
pub use audit_check::*;
pub use audit_remark::{AuditRemark, Remark};
pub use backend::{Backend, BackendUse};
pub use calibration::*;
pub use cell::{Cell, Level};
pub use cell_counts::{CellBeside, CellHandshakes};
pub use cell_launch::{CellLaunch, CellQuantile, LaunchCourse, LaunchLatency, LaunchSlice, LaunchUse, Quantile};
pub use claim::*;
pub use clock::Clock;
pub use compare::{
    COMPARE_SCHEMA, CompareAnalysis, CompareAnswer, CompareRest, CompareRow, ComparedCell, CutLoad, GateResult,
    GateVerdict, Quiet, ReplySizes, SameServer,
};
pub use compare_plan::{Arm, CompareForm, ComparePlan, ComparedRevision, RevisionContent};
pub use counting::{counted, thousands, times};
pub use cure::Cure;
pub use diagnosis::{
    DIAGNOSIS_SCHEMA, DiagnosePlan, Diagnosed, Diagnosis, DiagnosisEnd, PATHS_APART, PATHS_SHARE, RunningServer,
    STALLS_OF_REQUESTS, ServerFault, Sureness, Tried, Unexplained, Unproved,
};
pub use difference::{Aspect, AspectValue, Difference};
pub use ended::{EndedWhen, GuardEnd, ProcessEnd, TargetEnd, WhyFailed};
pub use environment::{ENVIRONMENT_SCHEMA, Environment};
pub use event::{EVENT_SCHEMA, EVENT_SCHEMAS, EncodedHistogram, Event, EventLine, HistogramTag, LoadSecond};
pub use expression::{Bare, Bound, Call, Expectation, Expression, Number, ParseError, parse_expectation};
pub use factor::{ALL_CPUS, Factor, LoadKey, MixRequests, RateInWords};
pub use fault::{CellFault, Fault};
pub use finding::{Certainty, Finding, POOL_SHARE_OF_CONNECTIONS, Pathology, Plateau, RuledOut, SERIAL_AT_MOST};
pub use gate::{Gate, GateSide, parse_gates};
pub use heap::*;
pub use histogram::{TICK_NS, bucket_width_us, latency_counts, read_histogram};
pub use judged::Judged;
pub use latency::{Latencies, LatencySummary, Members, REQUIRED_SAMPLES};
pub use limit_cause::*;
pub use load::*;
pub use mark::{Breach, Course, Invariant, InvariantCheck, Mark, SliceFigure};
pub use mark_cause::*;
pub use mark_note::{Launches, MarkNote};
pub use measured::Measured;
pub use measurement::*;
pub use memory_slope::MemorySlope;
pub use metric::{Metric, Scale, Unit};
pub use mix::{Mix, WeightedRequest};
pub use moment::read_moment;
pub use no_profile::{NoPerf, NoPprof, NoProfile};
pub use not_found::{Excluded, Open, WhyOpen};
pub use observation::{
    Census, HostUse, MemoryCount, Observation, ObservedSecond, Profile, ProfiledBy, ProfiledFunction, RuntimeSample,
    RuntimeUse, Sample, SocketCounts, SocketUse, short_name,
};
pub use outcome::{Failure, LateCause, NotSent, Side};
pub use plan::*;
pub use planner::{Done, Known, Next, Planner, Together, Turn};
pub use published::*;
pub use rank::{Choice, CloseBelow, QuantileAbove, Rank, RankGroup, SHARE_OF_THE_QUICK, Standing};
pub use reason::{Code, Distrust, DistrustCause, LimitCode, Reason, Why};
pub use remarks::{Blank, CellRemarks, RankChance, Unclassified, Unranked, Waited};
pub use request::{HttpVersion, ReplyExpectation, Request};
pub use rotated::{Rotated, Whole};
pub use rotation::{Prelude, Rest, RestStep, Rotation, Slice, Unsliced, UnslicedCause};
pub use schema::{UnknownSchema, check_schema};
pub use shift::{QuantileShift, Shift};
pub use soak::*;
pub use sound::{LONGEST_SLICE_NS, RATES_PER_S};
pub use stacks::{NOT_TOLD, StackNode};
pub use stirred::{GOLDEN, seed_of, stirred};
pub use suspect::{Experiment, Suspect, Trying, WhyTried};
pub use suspicion::Suspicion;
pub use target::*;
pub use timeline::{
    BUCKETS_PER_DECADE, LatencyCounts, Timeline, TimelineStep, Trace, TraceLook, bucket_from_us, latency_bucket,
};
pub use tls::{Tls, TlsFault, TlsUse, Trust};
pub use trial::*;
pub use units::{DurationError, format_duration, parse_duration};
pub use unready::{Hint, Instead, NeedsShell, NotReady, NotStarted, Waiting};
pub use upstream::Upstream;
pub use validity::{Failing, Validity, Verdict};
pub use withheld::Withheld;
pub use wrong_reply::{Excerpt, HeadLimit, TlsSign, WrongReply};

/// Nanoseconds in one second.
pub const NS_PER_S: u64 = 1_000_000_000;
