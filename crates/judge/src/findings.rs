//! Pathologies whose signature the run's own cells show. A signature is never more than "consistent with": the
//! discriminating test is another experiment.

use model::{Cell, Certainty, Factor, Finding, LoadKey, Metric, Observation, Pathology, RuledOut, Unit, alike};

use crate::asked::Asked;
use crate::records::Records;
use crate::statistics::{geometric_mean, mean};
use crate::thresholds::{
    FINDING_CONNECTIONS, FINDING_CPUS_USED, FINDING_DELAY_S, GENERATOR_BUSY, POOL_AT_LEAST, POOL_CHANGE,
    POOL_SHARE_OF_CONNECTIONS, POOL_SPREAD, SERIAL_AT_LEAST, SERIAL_AT_MOST,
};

/// Factors by which N and S vary; cells that differ in anything else are looked at apart.
const LOAD_FACTORS: [Factor; 3] =
    [Factor::Load(LoadKey::Connections), Factor::HandlerDelay, Factor::Load(LoadKey::Pipeline)];

/// What a delayed cell shows: W = X·S, the requests that its server works on at once.
#[derive(Clone, Copy)]
struct Plateau {
    cell: usize,
    slots: f64,
    delay_s: f64,
    at_once: f64,
    target_cpus_used: Option<f64>,
    generator_busy: f64,
}

/// The delayed cells of one target that differ in N and S alone.
struct Group {
    target: String,
    others: Cell,
    plateaus: Vec<Plateau>,
}

/// Looks for serialised handlers and fixed worker pools.
pub(crate) fn find(records: &Records) -> Vec<Finding> {
    let groups = groups(records);
    groups.iter().filter_map(|group| serialised(records, group).or_else(|| pool(records, group))).collect()
}

fn groups(records: &Records) -> Vec<Group> {
    let plateaus: Vec<Plateau> = (0..records.plan.cells.len()).filter_map(|cell| plateau(records, cell)).collect();
    let others: Vec<Cell> =
        plateaus.iter().map(|plateau| but_for_the_load(&records.plan.cells[plateau.cell].levels)).collect();
    let group = |places: Vec<usize>| Group {
        target: others[places[0]].target().to_owned(),
        others: others[places[0]].clone(),
        plateaus: places.into_iter().map(|place| plateaus[place]).collect(),
    };
    alike(&others).into_iter().map(group).collect()
}

fn but_for_the_load(levels: &Cell) -> Cell {
    let others = levels
        .0
        .iter()
        .filter(|(factor, _)| !Factor::from_id(factor).is_some_and(|factor| LOAD_FACTORS.contains(&factor)));
    Cell(others.map(|(factor, level)| (factor.clone(), level.clone())).collect())
}

/// A closed cell whose delay is long enough to tell, with a throughput. A network delay keeps requests away from the
/// server, so that any server works on fewer of them at once, and so does a backend that has a limit of its own.
fn plateau(records: &Records, cell: usize) -> Option<Plateau> {
    if records.plan.cells[cell].backend.is_some_and(|backend| backend.workers.is_some()) {
        return None;
    }
    let asked = Asked::from(&records.plan.cells[cell]);
    if !asked.is_closed() || asked.handler_delay_s < FINDING_DELAY_S || asked.network_delay_s() > 0.0 {
        return None;
    }
    let throughput = geometric_mean(&records.values(cell, Metric::Throughput))?;
    let used = records.valid(cell).filter_map(|l| l.record.observation.as_ref()).map(Observation::all_cpus_used);
    let generator =
        records.valid(cell).filter_map(|l| l.record.measurement.as_ref()).map(|m| m.generator.neediest_thread());
    Some(Plateau {
        cell,
        slots: asked.load.slots(),
        delay_s: asked.handler_delay_s,
        at_once: throughput * asked.handler_delay_s,
        target_cpus_used: used.collect::<Option<Vec<f64>>>().and_then(|used| mean(&used)),
        generator_busy: mean(&generator.collect::<Vec<f64>>())?,
    })
}

impl Plateau {
    /// Whether neither the target's CPUs nor the generator explain the throughput. A target that was not watched
    /// leaves its CPUs as an explanation.
    fn is_idle(&self) -> bool {
        self.target_cpus_used.is_some_and(|used| used < FINDING_CPUS_USED) && self.generator_busy < GENERATOR_BUSY
    }

    fn seen(&self) -> model::Plateau {
        model::Plateau {
            connections: self.slots as u64,
            handler_delay_s: self.delay_s,
            requests_per_s: self.at_once / self.delay_s,
            at_once: self.at_once,
        }
    }
}

/// X ≈ 1 ÷ S at every N tried, with the CPU idle.
fn serialised(records: &Records, group: &Group) -> Option<Finding> {
    let serial = |p: &Plateau| p.at_once <= SERIAL_AT_MOST && p.is_idle();
    let telling: Vec<&Plateau> = group.plateaus.iter().filter(|p| p.slots >= FINDING_CONNECTIONS).collect();
    let enough = telling.iter().all(|p| p.at_once >= SERIAL_AT_LEAST);
    if telling.is_empty() || !enough || !group.plateaus.iter().all(serial) {
        return None;
    }
    Some(finding(records, group, &telling, Pathology::SerialisedHandler))
}

/// X = W ÷ S on a plateau that neither N nor S moves, with the CPU idle.
fn pool(records: &Records, group: &Group) -> Option<Finding> {
    let beyond = |p: &&Plateau| p.at_once >= POOL_AT_LEAST && p.at_once < POOL_SHARE_OF_CONNECTIONS * p.slots;
    let telling: Vec<&Plateau> = group.plateaus.iter().filter(beyond).collect();
    let least = telling.iter().map(|p| p.at_once).reduce(f64::min)?;
    let most = group.plateaus.iter().map(|p| p.at_once).reduce(f64::max)?;
    let change = |of: fn(&Plateau) -> f64| {
        let (low, high) = telling.iter().map(|p| of(p)).fold((f64::MAX, 0.0), |(l, h), v| (v.min(l), v.max(h)));
        high / low
    };
    let moved = change(|p| p.slots) >= POOL_CHANGE || change(|p| p.delay_s) >= POOL_CHANGE;
    // A cell with more at once than the pool would hold, telling or not, speaks against a pool.
    let equal = most <= least * (1.0 + POOL_SPREAD);
    if !moved || !equal || !telling.iter().all(|p| p.is_idle()) {
        return None;
    }
    Some(finding(records, group, &telling, Pathology::FixedWorkerPool))
}

fn finding(records: &Records, group: &Group, telling: &[&Plateau], pathology: Pathology) -> Finding {
    Finding {
        target: group.target.clone(),
        pathology,
        certainty: Certainty::ConsistentWith,
        value: Some(records.measured(&requests_at_once(records, telling), Unit::RequestsAtOnce)),
        evidence: telling.iter().map(|plateau| plateau.seen()).collect(),
        conditions: group.others.conditions(),
        ruled_out: ruled_out(telling),
    }
}

/// W of each block: the geometric mean of X·S over the telling cells that are valid in it.
fn requests_at_once(records: &Records, telling: &[&Plateau]) -> Vec<f64> {
    let in_block = |block: u32| {
        let one = |p: &&Plateau| Some(records.value(p.cell, block, Metric::Throughput)? * p.delay_s);
        geometric_mean(&telling.iter().filter_map(one).collect::<Vec<f64>>())
    };
    records.blocks().iter().filter_map(|block| in_block(*block)).collect()
}

fn ruled_out(telling: &[&Plateau]) -> RuledOut {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    RuledOut {
        target_cpus: largest(&mut telling.iter().filter_map(|p| p.target_cpus_used)),
        generator: largest(&mut telling.iter().map(|p| p.generator_busy)),
        ceiling: largest(&mut telling.iter().map(|p| p.at_once / p.slots)),
    }
}

#[cfg(test)]
mod tests {
    use model::{Backend, Draft};

    use super::*;
    use crate::testing::Session;

    fn found(session: &Session) -> Vec<Finding> {
        session.analyse().findings
    }

    #[test]
    fn one_request_at_a_time_looks_serialised() {
        let session = Session::new()
            .delayed("slow", 10, 10, 97.0)
            .delayed("slow", 100, 10, 98.0)
            .delayed("fine", 10, 10, 950.0)
            .delayed("fine", 100, 10, 9_200.0)
            .noise(0.005)
            .blocks(6);
        let findings = found(&session);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let finding = &findings[0];
        assert_eq!((finding.target.as_str(), finding.pathology), ("slow", Pathology::SerialisedHandler));
        assert_eq!(finding.certainty, Certainty::ConsistentWith);
        let value = finding.value.as_ref().unwrap();
        assert!((value.estimate.unwrap() - 0.975).abs() < 0.02, "{value:?}");
        assert!(value.low.unwrap() < value.high.unwrap());
        assert_eq!(finding.evidence.len(), 2);
        assert_eq!((finding.evidence[1].connections, finding.evidence[1].handler_delay_s), (100, 0.01), "{finding:?}");
        assert!((finding.ruled_out.target_cpus - 0.03).abs() < 5e-4, "{finding:?}");
    }

    #[test]
    fn a_network_delay_is_no_sign_of_a_serialised_handler() {
        let session = Session::new().delayed("a", 10, 10, 97.0).delayed("a", 12, 10, 98.0).noise(0.005).blocks(6);
        assert_eq!(found(&session).len(), 1);
        let delayed =
            |draft: &mut Draft| draft.cells.iter_mut().for_each(|cell| cell.load.network_delay_ns = 90_000_000);
        let plan = session.plan().with(delayed).unwrap();
        let records = session.records();
        assert_eq!(crate::analyse(&plan, &model::Environment::default(), &records).findings, []);
    }

    #[test]
    fn a_plateau_that_neither_n_nor_s_moves_looks_like_a_pool() {
        let pool = Session::new()
            .delayed("pool", 100, 10, 1_600.0)
            .delayed("pool", 400, 10, 1_610.0)
            .delayed("pool", 100, 20, 800.0)
            .blocks(6);
        let findings = found(&pool);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].pathology, Pathology::FixedWorkerPool);
        assert!((findings[0].value.as_ref().unwrap().estimate.unwrap() - 16.0).abs() < 0.1);
    }

    #[test]
    fn the_workers_of_a_backend_are_not_the_servers() {
        let pool = Session::new().delayed("a", 100, 10, 1_600.0).delayed("a", 400, 10, 1_610.0).blocks(6);
        assert_eq!(found(&pool).len(), 1);
        let found_with = |workers| {
            let backend = Backend { delay_ns: 10_000_000, workers, refuses: false };
            let behind = |draft: &mut Draft| draft.cells.iter_mut().for_each(|cell| cell.backend = Some(backend));
            let plan = pool.plan().with(behind).unwrap();
            crate::analyse(&plan, &model::Environment::default(), &pool.records()).findings.len()
        };
        assert_eq!((found_with(Some(16)), found_with(None)), (0, 1));
    }

    #[test]
    fn what_is_only_n_or_moves_with_it_is_no_pool() {
        let one_cell = Session::new().delayed("a", 100, 10, 1_600.0).blocks(6);
        assert_eq!(found(&one_cell), [], "a single plateau says nothing");
        let grows = Session::new().delayed("a", 100, 10, 1_600.0).delayed("a", 400, 10, 6_400.0).blocks(6);
        assert_eq!(found(&grows), []);
        let flat = Session::new().delayed("a", 100, 10, 1_600.0).delayed("a", 400, 10, 1_600.0).blocks(6);
        assert_eq!(found(&flat).len(), 1);
        let exceeded = flat.delayed("a", 1_000, 10, 60_000.0);
        assert_eq!(found(&exceeded), [], "600 at once are more than a pool of 16 holds");
        let slowly = Session::new().delayed("a", 100, 10, 7_000.0).delayed("a", 110, 10, 7_700.0).blocks(6);
        assert_eq!(found(&slowly), [], "a tenth more connections would move it less than the spread");
    }

    #[test]
    fn a_pool_of_two_thirds_of_the_connections_shows_when_they_are_doubled() {
        let tomcat = Session::new().delayed("a", 300, 200, 1_000.0).delayed("a", 600, 200, 1_000.0).blocks(6);
        assert_eq!(found(&tomcat)[0].pathology, Pathology::FixedWorkerPool);
    }

    #[test]
    fn a_busy_target_or_generator_is_an_explanation() {
        let session = Session::new().delayed("a", 10, 10, 97.0).delayed("a", 100, 10, 97.0).blocks(6);
        assert_eq!(found(&session.clone().target_busy(0.6)), [], "it may have a single thread");
        assert_eq!(found(&session.clone().generator_busy(0.9)), []);
        assert_eq!(found(&session).len(), 1);
    }
}
