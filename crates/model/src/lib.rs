//! The words of bourdon: what is asked (plan, load), what was seen (measurement, trial), what it means
//! (analysis), and the two traits through which time and the next trial come in from outside.
//!
//! Nothing here reads a file, a socket, a process or a clock.

mod accounting;
mod addition;
mod analysis;
mod audit;
mod audit_check;
mod audit_remark;
mod calibration;
mod cell;
mod claim;
mod clock;
mod compare;
mod compare_plan;
mod counting;
mod cure;
mod environment;
mod event;
mod expression;
mod factor;
mod finding;
mod gate;
mod judged;
mod latency;
mod limit_cause;
mod load;
mod mark;
mod mark_cause;
mod measured;
mod measurement;
mod metric;
mod mix;
mod moment;
mod observation;
mod outcome;
mod plan;
mod planner;
mod plausible;
mod published;
mod reason;
mod request;
mod schema;
mod sound;
mod stirred;
mod target;
mod tls;
mod trial;
mod units;
mod validity;
mod withheld;
mod wrong_reply;

pub use accounting::{Accounting, sum};
pub use addition::{ADDITION_SCHEMA, ADDITION_SCHEMAS, Addition, AdditionLine, Purpose};
pub use analysis::*;
pub use audit::*;
pub use audit_check::*;
pub use audit_remark::{AuditRemark, Remark};
pub use calibration::*;
pub use cell::{Cell, Level};
pub use claim::*;
pub use clock::Clock;
pub use compare::{
    COMPARE_SCHEMA, CompareAnalysis, CompareRow, ComparedCell, CutLoad, GateResult, GateVerdict, Quiet, ReplySizes,
    SameServer,
};
pub use compare_plan::{Arm, ComparePlan, ComparedRevision, RevisionContent};
pub use counting::{counted, thousands, times};
pub use cure::Cure;
pub use environment::{ENVIRONMENT_SCHEMA, Environment};
pub use event::{EVENT_SCHEMA, EVENT_SCHEMAS, EncodedHistogram, Event, EventLine, LoadSecond};
pub use expression::{Bare, Bound, Call, Expectation, Expression, Number, ParseError, parse_expectation};
pub use factor::{ALL_CPUS, Factor, LoadKey, MixRequests, RateInWords};
pub use finding::{Certainty, Finding, Pathology, Plateau, RuledOut};
pub use gate::{Gate, GateSide, parse_gates};
pub use judged::Judged;
pub use latency::{Latencies, LatencySummary, Members, REQUIRED_SAMPLES};
pub use limit_cause::*;
pub use load::*;
pub use mark::{Breach, Course, Invariant, InvariantCheck, Launches, Mark, MarkNote};
pub use mark_cause::*;
pub use measured::Measured;
pub use measurement::*;
pub use metric::{Metric, Scale, Unit};
pub use mix::{Mix, WeightedRequest};
pub use moment::read_moment;
pub use observation::{
    Census, HostUse, MemoryCount, Observation, ObservedSecond, Profile, ProfiledBy, ProfiledFunction, RuntimeSample,
    RuntimeUse, Sample, SocketCounts, SocketUse, short_name,
};
pub use outcome::{Failure, LateCause, NotSent, Side};
pub use plan::*;
pub use planner::{Done, Known, Next, Planner};
pub use published::*;
pub use reason::{Code, Distrust, DistrustCause, LimitCode, Reason, Why};
pub use request::{HttpVersion, ReplyExpectation, Request};
pub use schema::{UnknownSchema, check_schema};
pub use sound::RATES_PER_S;
pub use stirred::{GOLDEN, stirred};
pub use target::*;
pub use tls::{Tls, TlsFault, TlsUse, Trust};
pub use trial::*;
pub use units::{DurationError, format_duration, parse_duration};
pub use validity::{Failing, Validity, Verdict};
pub use withheld::Withheld;
pub use wrong_reply::{Excerpt, HeadLimit, WrongReply};

/// Nanoseconds in one second.
pub const NS_PER_S: u64 = 1_000_000_000;
