mod cells;
mod claims;

use std::collections::BTreeMap;

use model::{
    ANALYSIS_SCHEMA, AbsentTarget, Analysis, Cell, CellCourse, Certainty, ClaimChance, ClaimNote, ClaimVerdict, Code,
    Comparison, ComparisonVerdict, Environment, Finding, Invariant, Level, MarkCause, MarkNote, Metric, Pathology,
    Plateau, Population, Rank, RankGroup, Reason, Reconstruction, RelativeRate, RepeatedBlock, RuledOut,
    SessionAnalysis, TrialCount, TrialStage, Unit, VoidTrial, Why,
};

use super::local;
use super::marks::{note, taken};
use cells::{bare_cells, cell, levels, profile};
pub(crate) use cells::{delayed_cells, measured};
use claims::{claim, claims};

fn ranks(metric: Metric, conditions: Cell, ranks: &[(Option<u32>, bool, &str)]) -> RankGroup {
    let rank = |(rank, tied, target): &(Option<u32>, bool, &str)| Rank {
        rank: *rank,
        tied: *tied,
        unranked: None,
        target: (*target).to_owned(),
        open: Vec::new(),
    };
    RankGroup { metric, conditions, leads: true, ranks: ranks.iter().map(rank).collect() }
}

fn plateau(connections: u64, handler_delay_s: f64, requests_per_s: f64) -> Plateau {
    Plateau { connections, handler_delay_s, requests_per_s, at_once: requests_per_s * handler_delay_s }
}

fn findings() -> Vec<Finding> {
    let serialised = Finding {
        target: "go-iris-2016".to_owned(),
        pathology: Pathology::SerialisedHandler,
        certainty: Certainty::ConsistentWith,
        value: Some(measured(0.982, 0.003, Unit::RequestsAtOnce)),
        evidence: vec![plateau(100, 0.01, 98.2), plateau(1_000, 0.01, 98.1)],
        conditions: Cell::default(),
        ruled_out: RuledOut { target_cpus: 0.03, generator: 0.02, ceiling: 0.009_82 },
    };
    let pool = Finding {
        target: "php-apache".to_owned(),
        pathology: Pathology::FixedWorkerPool,
        certainty: Certainty::ConsistentWith,
        value: Some(measured(150.0, 0.004, Unit::RequestsAtOnce)),
        evidence: vec![plateau(300, 0.01, 15_000.0), plateau(600, 0.02, 7_500.0)],
        conditions: Cell(BTreeMap::from([("tls".to_owned(), Level::Text("true".to_owned()))])),
        ruled_out: RuledOut { target_cpus: 0.41, generator: 0.3, ceiling: 0.5 },
    };
    vec![serialised, pool]
}

fn void(id: &str, block: u32, levels: Cell, code: impl Into<Code>, text: &str) -> VoidTrial {
    VoidTrial { id: id.to_owned(), arm: None, block, twin: false, levels, reason: Reason::said(code, text.to_owned()) }
}

fn environment() -> Environment {
    Environment {
        schema: "bourdon.environment/1".to_owned(),
        started_at: local("2026-11-20T09:12:33+01:00"),
        bourdon: "0.1.0".to_owned(),
        command_line: vec!["bourdon".to_owned(), "run".to_owned(), "business-latency".to_owned()],
        cpu: "AMD EPYC".to_owned(),
        cpus: 2,
        smt: Some(false),
        memory_bytes: 8 << 30,
        kernel: "6.18.44-generic".to_owned(),
        open_files: 1_048_576,
        sysctls: BTreeMap::from([("net.core.somaxconn".to_owned(), "4096".to_owned())]),
        toolchains: [("go-gin", "go1.26.8"), ("go-net-http", "go1.26.8"), ("go-net-http@1.9", "go1.9.7")]
            .map(|(target, go)| (target.to_owned(), format!("go version {go} linux/amd64")))
            .into(),
        ..Environment::default()
    }
}

fn empty() -> Analysis {
    Analysis {
        schema: ANALYSIS_SCHEMA.to_owned(),
        name: "business-latency".to_owned(),
        question: "Does a router keep its throughput once handlers do real work?".to_owned(),
        source: Some("smallnest, 2016-04".to_owned()),
        quick: true,
        preliminary: false,
        unfinished: None,
        blocks: 6,
        seed: 42,
        margin: 0.05,
        elapsed_s: Some(221.4),
        blocks_before: Vec::new(),
        environment: environment(),
        absent: Vec::new(),
        relative_rates: Vec::new(),
        reconstructions: Vec::new(),
        cells: Vec::new(),
        comparisons: Vec::new(),
        groups: Vec::new(),
        rank_chance: None,
        claims: Vec::new(),
        claims_by_chance: ClaimChance::default(),
        findings: Vec::new(),
        session: SessionAnalysis::default(),
        void_trials: Vec::new(),
        trials: TrialCount { total: 18, void: 0, ..TrialCount::default() },
    }
}

/// A target that differs from itself, a block that was launched again, and a drift.
fn session() -> SessionAnalysis {
    let itself = |metric, estimate, half, verdict| Comparison {
        metric,
        conditions: levels("", "0ms", 100).conditions(),
        a: "go-net-http".to_owned(),
        b: "go-net-http".to_owned(),
        ratio: measured(estimate, half, Unit::Ratio),
        sign_interval: None,
        p_adjusted: Some(0.02),
        verdict,
        withheld: None,
        seen: None,
    };
    let differs = measured(1.041, 0.029, Unit::Ratio);
    SessionAnalysis {
        itself: vec![
            itself(Metric::Throughput, 1.041, 0.029, ComparisonVerdict::Faster),
            itself(Metric::P99, 0.972, 0.061, ComparisonVerdict::Inconclusive),
        ],
        repeated: vec![RepeatedBlock {
            block: 2,
            arm: None,
            trial: "b02-c03".to_owned(),
            why: Why::Mark(MarkCause::Taken { cpus: 2, steal_share: Some(0.034), others_share: None }),
        }],
        marks: vec![
            MarkNote::new(MarkCause::Itself(vec![("go-net-http".to_owned(), Metric::Throughput, differs)])),
            MarkNote::new(MarkCause::Drift { blocks: 6, p: 0.012 }),
        ],
    }
}

/// Everything at once.
pub(crate) fn full() -> Analysis {
    remarked(full_figures())
}

fn full_figures() -> Analysis {
    let at = |delay: &str| levels("", delay, 100).conditions();
    let delayed = [(Some(1), true, "go-net-http"), (Some(1), true, "go-iris"), (Some(3), false, "go-iris-2016")];
    let bare = [(Some(1), true, "go-net-http"), (Some(1), true, "go-gin"), (None, false, "go-iris-2016")];
    let mut cells = delayed_cells();
    cells.extend(bare_cells());
    let wrong = "wrong content among 9,180 replies: 12 with a wrong body";
    let died = "exited with status 2 after 1.2 s";
    Analysis {
        cells,
        absent: vec![AbsentTarget {
            name: "java-tomcat".to_owned(),
            reason: "no `javac` on PATH; get a JDK 17 or later from https://adoptium.net".to_owned(),
            ..AbsentTarget::default()
        }],
        relative_rates: vec![RelativeRate {
            conditions: Cell(BTreeMap::from([("rate".to_owned(), Level::Text("50% of closed".to_owned()))])),
            rate_per_s: 4400.0,
            closed_per_s: BTreeMap::from([("go-gin".to_owned(), 8_812.4), ("go-net-http".to_owned(), 9_104.0)]),
            without: BTreeMap::new(),
            at_least: BTreeMap::new(),
        }],
        reconstructions: vec![Reconstruction {
            target: "go-iris-2016".to_owned(),
            text: "bourdon's own model of the Iris of April 2016, whose sources no longer exist: one mutex around the \
                   handler"
                .to_owned(),
        }],
        comparisons: vec![Comparison {
            metric: Metric::Throughput,
            conditions: at("10ms"),
            a: "go-net-http".to_owned(),
            b: "go-iris".to_owned(),
            ratio: measured(1.0014, 0.009, Unit::Ratio),
            sign_interval: Some((0.991, 1.011)),
            p_adjusted: Some(0.74),
            verdict: ComparisonVerdict::Same,
            withheld: None,
            seen: None,
        }],
        groups: vec![ranks(Metric::Throughput, at("10ms"), &delayed), ranks(Metric::Throughput, at("0ms"), &bare)],
        claims: claims(),
        claims_by_chance: ClaimChance { tested: 6, supported: 0.15 },
        findings: findings(),
        session: session(),
        void_trials: vec![
            void("b03-c07", 3, levels("go-gin", "0ms", 100), Invariant::Correctness, wrong),
            void("b01-c06", 1, levels("go-iris", "0ms", 100), TrialStage::Died, died),
        ],
        trials: TrialCount { total: 42, void: 2, ..TrialCount::default() },
        ..empty()
    }
}

/// Two blocks: figures without intervals, ranks or verdicts; one trial void.
pub(crate) fn preliminary() -> Analysis {
    remarked(preliminary_figures())
}

fn preliminary_figures() -> Analysis {
    let mut cells = delayed_cells();
    for cell in &mut cells {
        cell.trials = 2;
        cell.course = CellCourse::default();
        (cell.throughput.low, cell.throughput.high) = (None, None);
    }
    let mut claim = claims().remove(0);
    claim.verdict = ClaimVerdict::Inconclusive;
    claim.notes = vec![ClaimNote::FewBlocks { used: 2, needed: 6 }];
    let void = void("b01-c02", 1, levels("go-iris-2016", "10ms", 100), TrialStage::Ready, "did not answer within 30 s");
    Analysis {
        preliminary: true,
        blocks: 2,
        cells,
        claims: vec![claim],
        void_trials: vec![void],
        trials: TrialCount { total: 7, void: 1, not_up: 1, not_tried: 0 },
        ..empty()
    }
}

/// An open rate, only the target varied, no claim, nothing wrong.
pub(crate) fn open_rate() -> Analysis {
    remarked(open_rate_figures())
}

fn open_rate_figures() -> Analysis {
    let only_target = |name: &str| Cell(BTreeMap::from([("target".to_owned(), Level::Text(name.to_owned()))]));
    let mut cells = vec![
        cell(only_target("mine"), 4_999.0, 0.0004, 2_310.0, 61.0),
        cell(only_target("the-other-one-with-a-long-name"), 4_998.0, 0.0004, 8_120.0, 88.0),
    ];
    for cell in &mut cells {
        cell.latency_us.population = Population::Response;
    }
    let both = |metric, second, tied| {
        let entries = [(Some(1), tied, "mine"), (second, tied, "the-other-one-with-a-long-name")];
        ranks(metric, Cell::default(), &entries)
    };
    Analysis {
        name: "mine-or-theirs".to_owned(),
        question: "Is mine faster?".to_owned(),
        source: None,
        quick: false,
        cells,
        groups: vec![
            RankGroup { leads: false, ..both(Metric::Throughput, Some(1), true) },
            both(Metric::P99, Some(2), false),
        ],
        trials: TrialCount { total: 12, void: 0, ..TrialCount::default() },
        ..empty()
    }
}

/// One target under conditions of which no two cells share any: settings that change together, one that never does.
pub(crate) fn one_target() -> Analysis {
    remarked(one_target_figures())
}

fn one_target_figures() -> Analysis {
    let text = |text: &str| Level::Text(text.to_owned());
    let levels = |runtime: &str, [read, write]: [&str; 2], profile: bool| {
        let settings = [("target", "go-httprouter"), ("runtime", runtime), ("read_timeout", read)];
        let others =
            [("write_timeout", write), ("target_cpus", "all"), ("profile", if profile { "true" } else { "false" })];
        let levels = settings.into_iter().chain(others);
        Cell(levels.map(|(factor, level)| (factor.to_owned(), text(level))).collect())
    };
    let (with, without) = (["5s", "10s"], ["0ms", "0ms"]);
    let mut cells = vec![
        cell(levels("1.9", with, false), 91_439.0, 0.019, 3_250.0, 13.1),
        cell(levels("current", with, false), 92_705.0, 0.077, 5_250.0, 12.5),
        cell(levels("1.9", without, false), 96_115.0, 0.048, 3_680.0, 12.2),
        cell(levels("current", without, false), 104_200.0, 0.021, 3_550.0, 11.2),
        cell(levels("1.9", with, true), 89_100.0, 0.022, 3_400.0, 13.4),
    ];
    cells[4].profile = Some(profile());
    for (cell, with) in [(0, 1), (2, 2)] {
        cells[cell].marks.push(note(taken(0.031), with));
    }
    let claim = claim(
        "timeouts-cost-throughput-on-1.9",
        "With all timeouts, a server built with Go 1.9 loses much of its throughput.",
        "throughput(go-httprouter, read_timeout = 5s) / throughput(go-httprouter, read_timeout = 0ms) < 0.9",
        ClaimVerdict::Contradicted,
        measured(0.951, 0.03, Unit::Ratio),
    );
    let died = "exited with status 2 after 1.2 s";
    Analysis {
        name: "timeouts".to_owned(),
        question: "What do timeouts cost?".to_owned(),
        source: None,
        quick: false,
        void_trials: vec![void("b01-c02", 1, levels("current", with, false), TrialStage::Died, died)],
        cells,
        claims: vec![claim],
        trials: TrialCount { total: 31, void: 1, ..TrialCount::default() },
        ..empty()
    }
}

/// The same with what the judgement says beside its figures.
pub(crate) fn remarked(mut analysis: Analysis) -> Analysis {
    judge::remark(&mut analysis);
    analysis
}
