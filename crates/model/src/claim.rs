use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Cell, Coldness, Expectation, Measured, Metric, Unit, Withheld, parse_expectation};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The whole interval is on the claim's side.
    Supported,
    /// The whole interval is on the other side.
    Contradicted,
    /// The interval holds the threshold, or there are too few blocks.
    Inconclusive,
    /// A precondition is not met.
    NotTestable,
}

impl ClaimVerdict {
    /// Every verdict, in the order in which they are counted.
    pub const ALL: [ClaimVerdict; 4] =
        [ClaimVerdict::Supported, ClaimVerdict::Contradicted, ClaimVerdict::Inconclusive, ClaimVerdict::NotTestable];

    /// In words, as printed.
    pub fn words(self) -> &'static str {
        match self {
            ClaimVerdict::Supported => "supported",
            ClaimVerdict::Contradicted => "contradicted",
            ClaimVerdict::Inconclusive => "inconclusive",
            ClaimVerdict::NotTestable => "not testable here",
        }
    }
}

/// One claim and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimAnalysis {
    /// Short name.
    pub name: String,
    /// The statement.
    pub says: String,
    /// The levels that hold for every metric of the test that does not fix them itself.
    #[serde(default, rename = "where")]
    pub conditions: Cell,
    /// The test.
    pub expect: ClaimExpectation,
    /// What it says to the question of the experiment, where it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The published value of the tested expression.
    pub published: Option<f64>,
    /// The value measured here.
    pub measured: Measured,
    /// The figures that the test is made of, in its order; none where it is one figure, which is then the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ClaimPart>,
    /// Blocks in which it could be evaluated.
    pub blocks: u32,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Set where the claim is contradicted on fewer cores than it is about: people are then told that it is not refuted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_refuted: Option<FewCores>,
    /// What keeps an inconclusive one from a verdict, where that is not the want of blocks: what is in doubt of its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// Why it is inconclusive or not testable; cautions about a verdict.
    pub notes: Vec<ClaimNote>,
    /// About how many blocks would settle it, where that can be said; [`MOST_NEEDED_BLOCKS`] stands for so many or more.
    pub needs_blocks: Option<u32>,
}

/// A claim's test, which documents have as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ClaimExpectation {
    /// As it was written.
    pub text: String,
    /// As it is understood; none where it does not follow the grammar.
    pub expectation: Option<Expectation>,
}

impl From<String> for ClaimExpectation {
    fn from(text: String) -> Self {
        Self { expectation: parse_expectation(&text).ok(), text }
    }
}

impl From<ClaimExpectation> for String {
    fn from(test: ClaimExpectation) -> Self {
        test.text
    }
}

/// One of several figures that a claim's test is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimPart {
    /// The metric.
    pub metric: Metric,
    /// The levels of its cell.
    #[serde(rename = "where")]
    pub levels: Cell,
    /// What it came to over the launches that count.
    pub measured: Measured,
}

/// A machine with fewer cores than a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FewCores {
    /// Cores of the run's machine.
    pub here: u32,
    /// Cores that the claim is about.
    pub about: u32,
}

/// How many claims a run tested, and how many of them chance would support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimChance {
    /// Claims with blocks enough for a verdict.
    pub tested: u32,
    /// How many of these chance would support at most, were the truth of each right at its threshold.
    pub supported: f64,
}

/// Most blocks that a claim is reported to need; beyond, it cannot reasonably be settled.
pub const MOST_NEEDED_BLOCKS: u32 = 1_000;

/// What a reader must know of a claim's verdict. Servers are cells, with the conditions that the claim's cells do not share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum ClaimNote {
    /// Fewer blocks are complete than were asked for: there is no verdict yet.
    Unfinished {
        /// Blocks that are complete.
        measured: u32,
        /// Blocks that were asked for.
        asked: u32,
    },
    /// The rate is a share of what a closed load got at least: of what servers can do it may be less.
    LowRate {
        /// The server that it is the rate of.
        server: Cell,
        /// The target that served least in its closed load.
        target: String,
        /// So many requests a second at least.
        per_s: f64,
    },
    /// It could be evaluated in fewer blocks than a verdict needs.
    FewBlocks {
        /// In so many.
        used: u32,
        /// So many are needed.
        needed: u32,
    },
    /// Blocks that are not used: a launch is void or missing, or a figure could not be estimated.
    Unused {
        /// So many.
        blocks: u32,
        /// Of so many.
        of: u32,
    },
    /// A server answered nothing right in launches that count, and leaving those out would favour it.
    Unanswered {
        /// Which.
        server: Cell,
        /// In so many launches.
        launches: u64,
        /// Of so many.
        of: u64,
    },
    /// Servers had less load before the window than they say they need.
    Cold {
        /// Which, and what they had.
        servers: Vec<(Cell, Coldness)>,
        /// Whether this is the quick form, whose warm-up is shorter.
        quick: bool,
    },
    /// What the figures alone say is not evidence.
    TakenBack {
        /// What they say.
        verdict: ClaimVerdict,
        /// Why that is not evidence.
        because: Vec<ClaimDoubt>,
    },
    /// What is in doubt and takes nothing back.
    Doubt(ClaimDoubt),
    /// No request of a server failed.
    NoFailure {
        /// Which.
        server: Cell,
        /// Of so many requests.
        requests: u64,
        /// The share of failures that this leaves possible, 0 to 1.
        most_share: f64,
    },
    /// The claim is about more cores than the machine has.
    FewCores(FewCores),
    /// This target is a reconstruction, not the original code.
    Reconstruction(String),
    /// The value drifts over the session: the interval may be too narrow.
    Drift {
        /// From the first block to the last.
        change: f64,
        /// Its unit; a share where it is relative.
        unit: Unit,
    },
    /// Neighbouring blocks resemble each other: the interval may be too narrow.
    Correlated {
        /// Correlation of neighbours.
        correlation: f64,
    },
    /// In a launch too few garbage collections are known to have come within its slices for a p99 to hold their share.
    FewCollections {
        /// Of which server.
        server: Cell,
        /// As many are needed.
        needed: u64,
        /// The fewest that are known of a launch.
        least: u64,
        /// In so many launches.
        launches: u64,
        /// Of so many.
        of: u64,
    },
    /// Launches have fewer requests than a quantile needs.
    FewRequests {
        /// The quantile.
        metric: Metric,
        /// Of which server.
        server: Cell,
        /// Requests that it needs in each launch.
        needed: u64,
        /// Requests of the launch that has fewest.
        least: u64,
        /// In so many launches there are too few.
        launches: u64,
        /// Of so many.
        of: u64,
    },
    /// A quantile is not known, because more requests failed than lie above it.
    Lost {
        /// The quantile.
        metric: Metric,
        /// Of which server.
        server: Cell,
        /// In so many launches.
        launches: u64,
        /// Of so many.
        of: u64,
    },
    /// A target of the claim cannot take part.
    Absent {
        /// Which.
        target: String,
        /// What is missing and how to get it.
        reason: String,
    },
    /// The claim does not fit the plan: the error's own words.
    Unfit(String),
    /// In words: why the plan says that the claim is not tested.
    Said(String),
}

impl Serialize for ClaimNote {
    /// What is in words is a text.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            ClaimNote::Said(text) => to.serialize_str(text),
            note => ClaimNote::serialize(note, to),
        }
    }
}

impl<'de> Deserialize<'de> for ClaimNote {
    /// Beside a note its `text` may stand.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Said(String),
            Noted {
                #[serde(flatten, with = "ClaimNote")]
                note: ClaimNote,
            },
        }
        Ok(match Written::deserialize(from)? {
            Written::Said(text) => ClaimNote::Said(text),
            Written::Noted { note } => note,
        })
    }
}

/// Why a figure may be another one than was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimDoubt {
    /// The generator may have been the limit: a throughput is at least this, anything else at most.
    Generator {
        /// For which server.
        server: Cell,
        /// Of which figure.
        metric: Metric,
    },
    /// A server did all that the handler delay allows.
    Ceiling {
        /// Which.
        server: Cell,
    },
    /// So few requests completed in the window that its edges weigh.
    Edges {
        /// Of which server.
        server: Cell,
        /// So much, as a share.
        share: f64,
    },
    /// Requests were unfinished: a latency is at least this.
    Unfinished {
        /// Of which server.
        server: Cell,
        /// Of which figure.
        metric: Metric,
    },
    /// A server was still getting faster.
    Warming {
        /// Which.
        server: Cell,
        /// By how much.
        gain: Coldness,
    },
    /// A latency is the generator's as much as the server's.
    Lateness {
        /// Of which server.
        server: Cell,
        /// Of which figure.
        metric: Metric,
    },
    /// The machine was busy with something else.
    Noise {
        /// While this server was measured.
        server: Cell,
        /// In so many launches.
        launches: u64,
        /// Of so many.
        of: u64,
        /// The figure to which it may add without a bound; null where what it adds has one, and could have made the verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unbounded: Option<Metric>,
    },
    /// More requests failed than may.
    Failing {
        /// Of which server.
        server: Cell,
    },
    /// Replies had wrong content.
    Wrong {
        /// Of which server.
        server: Cell,
    },
    /// A server served nothing.
    Unserved {
        /// Which.
        server: Cell,
        /// In so many launches.
        launches: u64,
    },
    /// Other servers used a CPU in its slices.
    Spill {
        /// While this server was measured.
        server: Cell,
        /// Of one CPU, the share in use.
        cpus: f64,
    },
    /// It used CPU in slices of others, which its requests may not have caused.
    PutOff {
        /// Which server.
        server: Cell,
        /// For each second of CPU that it used in its own slices, in seconds.
        share: f64,
    },
    /// What its processes share with others that live at the same time counts in part for each: in full its memory may be more.
    SharedMemory {
        /// Which server.
        server: Cell,
        /// Of which figure.
        metric: Metric,
    },
    /// It did much when it was woken before its slices, and whether its requests would cause that alone is not known.
    Waking {
        /// Which server.
        server: Cell,
        /// CPU beyond what those requests cost in its slices, for each second of CPU that it used in these, in seconds.
        share: f64,
        /// What those requests waited beyond what others did, as a share of what all in its slices waited.
        #[serde(default)]
        waited: f64,
    },
    /// Before it was launched alone, it did much when the load paused: what it puts off until then is in no figure.
    Pauses {
        /// Which server.
        server: Cell,
    },
    /// Its processes may have had more memory between two looks.
    BetweenLooks {
        /// Which server.
        server: Cell,
    },
    /// Its runtime was asked before and after each slice, which takes memory in it.
    AskedRuntime {
        /// Which server.
        server: Cell,
    },
    /// Processes of it may have ended without being waited for, and nobody is credited with the CPU that those used.
    Unwaited {
        /// Which server.
        server: Cell,
    },
    /// Rounds during which the machine was busy are left out, and with them the figures say something else.
    Rounds {
        /// Of this server.
        server: Cell,
        /// In so many launches.
        launches: u64,
        /// Of so many.
        of: u64,
    },
    /// A server left requests without a reply, and nothing says how many of those it would have failed.
    Unanswered {
        /// Which.
        server: Cell,
    },
    /// A server stopped answering.
    Stopped {
        /// Which.
        server: Cell,
        /// In so many launches.
        launches: u64,
    },
}

/// A quantile that a launch can never have: it needs more requests than there can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeverEnough {
    /// The quantile.
    pub metric: Metric,
    /// Requests a launch that it needs.
    pub needed: u64,
    /// Requests that there can be at most.
    pub most: u64,
}
