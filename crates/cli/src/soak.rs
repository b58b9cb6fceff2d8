//! `bourdon soak`: does this server stay as it is for hours?

use model::{Load, NS_PER_S, Rule, Ruled, SoakPlan, soak_cycles};

use crate::args::SoakArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt::flag_on_interrupt;
use crate::output::say;
use crate::progress::RunProgress;
use crate::{answer, conduct, one_server, ready};

/// Name of the runs that are made of it.
const NAME: &str = "soak";

/// How long the server is kept busy to find out what it serves at most, and how long it is warmed up before.
const WINDOW_NS: u64 = 5 * NS_PER_S;
const WARM_UP_NS: u64 = 5 * NS_PER_S;

/// The rules that hold unless others are given.
const RULES: [Rule; 7] = [
    Rule { of: Ruled::Failed, most: 0.05 },
    Rule { of: Ruled::Established, most: 1_000.0 },
    Rule { of: Ruled::AcceptQueue, most: 50.0 },
    Rule { of: Ruled::Cpu, most: 0.9 },
    Rule { of: Ruled::YoungCollections, most: 30.0 },
    Rule { of: Ruled::FullCollections, most: 5.0 },
    Rule { of: Ruled::FullCollectionTime, most: 1.0 },
];

/// Where a Node is told, also one that npm starts, to open its inspector, on a port that nobody has.
const NODE_OPTIONS: &str = "NODE_OPTIONS";
const NODE_INSPECTOR: &str = "--inspect=127.0.0.1:0";

/// `bourdon soak`.
pub(crate) fn run(args: &SoakArgs) -> Result<Exit, Failure> {
    let stop = flag_on_interrupt()?;
    let for_s = args.lasts as f64 / NS_PER_S as f64;
    let mut progress = RunProgress::of_cycles(soak_cycles(for_s));
    let mix = one_server::mix(&args.server, None)?;
    let mut target = one_server::target(&args.server, args.target.as_deref(), &mix)?;
    if args.inspect {
        let told = target.launch.env.remove(NODE_OPTIONS).unwrap_or_default();
        target.launch.env.insert(NODE_OPTIONS.to_owned(), format!("{told} {NODE_INSPECTOR}").trim_start().to_owned());
    }
    let question = format!("Does {} stay as it is under load?", target.title);
    let load = Load::closed(mix, args.connections, WARM_UP_NS, WINDOW_NS);
    let mut draft = one_server::draft(&args.server, NAME, question, target, load)?;
    draft.soak = Some(SoakPlan {
        for_s,
        rate_per_s: args.rate,
        share: args.share,
        rules: rules(&args.rules),
        inspect: args.inspect,
    });
    let begun = ready::begin_whole(draft, &args.server.runs, &stop, &mut progress, &|_| Ok(()))?;
    let ended = conduct::conduct(begun, false, &stop, progress)?;
    let printed = answer::print(&ended.judged, &ended.timelines, args.server.shown);
    say(format!("\n{}", answer::whereabouts(&ended.path)));
    if ended.unstarted.is_some() {
        ended.say_how_to_go_on();
    }
    printed.map_err(|failure| failure.of_interrupted(ended.interrupted))?;
    Ok(if ended.interrupted { Exit::Interrupted } else { ended.exit(args.gate) })
}

/// Those that hold, with what was given in their place.
fn rules(given: &[Rule]) -> Vec<Rule> {
    let holds = |rule: Rule| given.iter().rfind(|given| given.of == rule.of).copied().unwrap_or(rule);
    RULES.into_iter().map(holds).collect()
}
