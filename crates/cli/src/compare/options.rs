//! Which options go with which form of `bourdon compare`. One that would change nothing is refused: whoever gives it
//! expects something of it.

use crate::args::CompareArgs;
use crate::exit::Failure;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Commands that are launched now (`--run`).
    Commands,
    /// An experiment file with two targets, launched now.
    Experiment,
    /// Two recorded runs.
    Runs,
    /// Saved loads.
    Loads,
}

use Form::{Commands, Experiment, Loads, Runs};

impl Form {
    fn named(self) -> &'static str {
        match self {
            Commands => "--run",
            Experiment => "an experiment file",
            Runs => "two recorded runs",
            Loads => "saved loads",
        }
    }

    /// Why an option does not go with it, and what does the same.
    fn cure(self) -> &'static str {
        match self {
            Commands => "leave it out: both servers are launched under one load",
            Experiment => "change it in the experiment file",
            Runs => "what was recorded is compared as it was measured",
            Loads => "what was saved is compared as it was measured; ask for it when they are measured (bourdon load)",
        }
    }
}

/// Refuses the first option that changes nothing about what is compared.
pub(super) fn refuse_strangers(args: &CompareArgs, form: Form) -> Result<(), Failure> {
    let foreign = given(args).into_iter().find(|(_, given, forms)| *given && !forms.contains(&form));
    let Some((option, _, forms)) = foreign else { return Ok(()) };
    let forms = forms.iter().map(|form| form.named()).collect::<Vec<_>>().join(", ");
    let forms = forms.rsplit_once(", ").map_or(forms.clone(), |(first, last)| format!("{first} or {last}"));
    Err(Failure::usage(format!("{option} belongs to {forms}; {}", form.cure())))
}

/// Each option that not every form has: whether it was given, and where it belongs.
fn given(args: &CompareArgs) -> [(&'static str, bool, &'static [Form]); 27] {
    const LAUNCHED: &[Form] = &[Commands, Experiment];
    let generator = args.generator.asked();
    [
        ("-c (--connections)", args.connections.is_some(), &[Commands]),
        ("-R (--rate)", args.rate.is_some(), &[Commands]),
        ("-d (--duration)", args.duration.is_some(), &[Commands]),
        ("--warm-up", args.warm_up.is_some(), &[Commands]),
        ("--path", args.path.is_some(), &[Commands]),
        ("-X (--method)", args.request.method.is_some(), &[Commands]),
        ("-H (--header)", !args.request.headers.is_empty(), &[Commands]),
        ("-b (--body)", args.request.body.is_some(), &[Commands]),
        ("--ready", args.ready.is_some(), &[Commands]),
        ("--tls", args.tls.tls, &[Commands]),
        ("--ca", args.tls.ca.is_some(), &[Commands]),
        ("--insecure", args.tls.insecure, &[Commands]),
        ("--tls-resume", args.tls_resume, &[Commands]),
        ("--expect-status", args.expect_status.is_some(), &[Commands]),
        ("--expect-body", args.expect_body.is_some(), &[Commands]),
        ("--margin", args.margin.is_some(), &[Commands, Runs, Loads]),
        ("--drift", args.drift.is_some(), &[Runs, Loads]),
        ("--allow-failures", args.allow_failures.is_some(), &[Commands, Experiment, Loads]),
        ("--blocks", args.blocks.is_some(), LAUNCHED),
        ("--seed", args.seed.is_some(), LAUNCHED),
        ("--primary", args.primary.is_some(), LAUNCHED),
        ("--no-rotation", args.no_rotation, LAUNCHED),
        ("--rest", args.rest.is_some(), LAUNCHED),
        ("-t (--threads)", generator.threads.is_some(), LAUNCHED),
        ("--spin", generator.spin.is_some(), LAUNCHED),
        ("--runs", args.runs.is_some(), LAUNCHED),
        ("--force", args.force, &[Runs, Loads]),
    ]
}
