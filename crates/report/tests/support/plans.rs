//! Plans of the sessions that goldens show.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{
    Blocks, Cell, CellPlan, Claim, Draft, Environment, Extent, GeneratorPlan, HttpVersion, LaunchRecipe, Level, Load,
    LoadModel, Metric, Mix, NS_PER_S, PLAN_SCHEMA, ReplyExpectation, Request, Rotation, Target,
};

use super::local;
use super::session::{BODY, DELAY, MS};

/// Levels as they stand in an experiment: numbers and words.
pub(crate) fn levels(of: &[(&str, &str)]) -> Cell {
    let level = |text: &str| text.parse().map_or_else(|_| Level::Text(text.to_owned()), Level::Integer);
    Cell(of.iter().map(|(factor, text)| ((*factor).to_owned(), level(text))).collect())
}

/// A cell with these levels, of which the handler delay and the number of connections say what they do; over 1 s.
pub(crate) fn cell(of: &[(&str, &str)], model: LoadModel) -> CellPlan {
    let level = |factor: &str| of.iter().find(|(name, _)| *name == factor).map(|(_, level)| *level);
    let delay = level("handler_delay").unwrap_or("0ms");
    let request = Request {
        method: "GET".to_owned(),
        path: "/rest/hello".to_owned(),
        host: String::new(),
        headers: Vec::new(),
        body: Vec::new(),
        version: HttpVersion::Http11,
    };
    CellPlan {
        levels: levels(of),
        load: Load {
            mix: Mix::one(request, ReplyExpectation { status: Some(200), body: Some(BODY.into()) }),
            model,
            connections: level("connections").map_or(20, |connections| connections.parse().unwrap()),
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            network_delay_ns: 0,
            warm_up_ns: NS_PER_S / 2,
            extent: Extent::Window(NS_PER_S),
        },
        settings: [(DELAY.to_owned(), delay.to_owned())].into(),
        runtime: "current".to_owned(),
        handler_delay_ns: delay.trim_end_matches("ms").parse::<u64>().unwrap() * MS,
        target_cpus: Vec::new(),
        rate_share: None,
        rate_arrivals: None,
        profile: false,
        without_admin: false,
        beside: None,
        backend: None,
        upstream: None,
        tls: false,
        tls_resume: false,
        census: Some(false),
        quick_ack: false,
        tried: None,
    }
}

pub(crate) fn target(name: &str) -> Target {
    let launch = LaunchRecipe {
        run: vec!["./server".to_owned()],
        cwd: PathBuf::from("/work").join(name),
        env: BTreeMap::new(),
        ready: "/ping".to_owned(),
        metrics: None,
        ready_within_ns: model::READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    Target::of(name, launch)
}

/// Six blocks of these cells, whose load goes round where it can.
pub(crate) fn draft(name: &str, question: &str, factors: &[&str], cells: Vec<CellPlan>) -> Draft {
    let mut targets: Vec<Target> = Vec::new();
    for cell in &cells {
        if !targets.iter().any(|target| target.name == cell.levels.target()) {
            targets.push(target(cell.levels.target()));
        }
    }
    Draft {
        schema: PLAN_SCHEMA.to_owned(),
        name: name.to_owned(),
        question: question.to_owned(),
        source: None,
        quick: false,
        seed: 42,
        margin: 0.05,
        precision: 0.03,
        allow_failures: judge::thresholds::ALLOWED_FAILURES,
        precise: vec![Metric::Throughput],
        blocks: Blocks { min: 6, max: 6 },
        blocks_before: Vec::new(),
        repeats: 0,
        twin: None,
        twin_in_turn: None,
        ladder: None,
        rotation: Some(Rotation { slice_ns: 250 * MS, lead_in_ns: 20 * MS, rounds: None }),
        profile_functions: Vec::new(),
        generator: GeneratorPlan { threads: 1, cpus: vec![1], spin: false, limits: None, nodes: None },
        target_cpus: vec![0],
        factors: factors.iter().map(|factor| (*factor).to_owned()).collect(),
        targets,
        absent: Vec::new(),
        cells,
        added: Vec::new(),
        relative_rates: Vec::new(),
        claims: Vec::new(),
        comparison: None,
        diagnosis: None,
        soak: None,
    }
}

pub(crate) fn claim(name: &str, says: &str, conditions: &[(&str, &str)], expect: &str) -> Claim {
    Claim {
        name: name.to_owned(),
        says: says.to_owned(),
        conditions: levels(conditions),
        published: BTreeMap::new(),
        published_value: None,
        expect: expect.to_owned(),
        answers: None,
        cores: None,
        not_testable: None,
    }
}

pub(crate) fn environment(experiment: &str) -> Environment {
    Environment {
        schema: model::ENVIRONMENT_SCHEMA.to_owned(),
        started_at: local("2026-11-20T09:12:33+01:00"),
        bourdon: "0.1.0".to_owned(),
        command_line: vec!["bourdon".to_owned(), "run".to_owned(), experiment.to_owned()],
        cpu: "AMD EPYC".to_owned(),
        cpus: 2,
        smt: Some(false),
        memory_bytes: 8 << 30,
        kernel: "6.18.44-generic".to_owned(),
        open_files: 1_048_576,
        sysctls: [("net.core.somaxconn".to_owned(), "4096".to_owned())].into(),
        ..Environment::default()
    }
}
