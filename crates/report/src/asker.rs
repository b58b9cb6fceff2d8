//! How whoever reads a result asks for another load: each form of a command takes other options, and an experiment file has keys.

use model::{CompareForm, Cure};

/// Who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// `bourdon load`.
    Load,
    /// `bourdon run`, or `bourdon compare` of an experiment file.
    Experiment,
    /// `bourdon compare --run`.
    Commands,
    /// `bourdon compare` of two recorded runs: whatever is asked for is asked of new ones.
    Runs,
    /// `bourdon compare` of saved loads, which are asked for anew with `bourdon load`.
    SavedLoads,
}

impl From<CompareForm> for Asker {
    fn from(form: CompareForm) -> Self {
        match form {
            CompareForm::Commands => Asker::Commands,
            CompareForm::Experiment => Asker::Experiment,
            CompareForm::Runs => Asker::Runs,
            CompareForm::Loads => Asker::SavedLoads,
        }
    }
}

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knob {
    Threads,
    Spin,
    Connections,
    Window,
    Rate,
    WarmUp,
    Alone,
    Body,
}

impl Knob {
    fn option(self) -> &'static str {
        match self {
            Knob::Threads => "-t",
            Knob::Spin => "--spin",
            Knob::Connections => "-c",
            Knob::Window => "-d",
            Knob::Rate => "-R",
            Knob::WarmUp => "--warm-up",
            Knob::Alone => "--no-rotation",
            Knob::Body => "--expect-body",
        }
    }

    /// What an experiment file calls it; none of what is an option there, too.
    fn key(self) -> Option<&'static str> {
        match self {
            Knob::Threads | Knob::Spin | Knob::Alone => None,
            Knob::Connections => Some("`connections`"),
            Knob::Window => Some("`window`"),
            Knob::Rate => Some("`rate`"),
            Knob::WarmUp => Some("`warm_up`"),
            Knob::Body => Some("`expect_body`"),
        }
    }
}

impl Asker {
    /// `-d`, or `window` of an experiment file; none where nothing is asked for any more.
    pub(crate) fn name(self, knob: Knob) -> Option<&'static str> {
        match self {
            Asker::Load | Asker::Commands | Asker::SavedLoads => Some(knob.option()),
            Asker::Experiment => Some(knob.key().unwrap_or(knob.option())),
            Asker::Runs => None,
        }
    }

    /// ` (-d)`, for behind what is asked for.
    pub(crate) fn by(self, knob: Knob) -> String {
        self.name(knob).map_or(String::new(), |name| format!(" ({name})"))
    }

    /// What is measured would have to be measured anew, of what was recorded.
    pub(crate) fn anew(self, cure: String) -> String {
        match self {
            Asker::Load | Asker::Experiment | Asker::Commands => cure,
            Asker::Runs => format!("repeat both runs with {cure}"),
            Asker::SavedLoads => format!("repeat both loads (bourdon load) with {cure}"),
        }
    }

    /// How a cure of what a load shows is asked for. What it is to be given to is the generator.
    pub(crate) fn cure(self, of: Cure) -> Option<String> {
        let by = |knob| self.by(knob);
        Some(match of {
            Cure::OwnCpus => "give it CPUs of its own".to_owned(),
            Cure::MoreThreads => format!("give it more threads{} or other CPUs", by(Knob::Threads)),
            Cure::MorePortsOrFiles => {
                "raise the limit of open files, widen the port range, or keep connections alive".to_owned()
            }
            Cure::StartServer => "is the server running, and does it listen there?".to_owned(),
            Cure::LongerWindow => {
                format!("measure for longer{}, or at a higher rate{}", by(Knob::Window), by(Knob::Rate))
            }
            Cure::TryTls => match self {
                Asker::Load => "if the port speaks TLS, try https://".to_owned(),
                _ => "if the port speaks TLS, load it over TLS".to_owned(),
            },
            Cure::TimeOut => match self {
                Asker::Load => "--timeout would count it as failed".to_owned(),
                Asker::Experiment => "`timeout` would count it as failed".to_owned(),
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_is_told_an_option_that_it_refuses() {
        let longer = |asker: Asker| asker.cure(Cure::LongerWindow).unwrap();
        assert_eq!(longer(Asker::Load), "measure for longer (-d), or at a higher rate (-R)");
        assert_eq!(longer(Asker::Experiment), "measure for longer (`window`), or at a higher rate (`rate`)");
        assert_eq!(longer(Asker::Runs), "measure for longer, or at a higher rate");
        assert_eq!(Asker::Commands.cure(Cure::TimeOut), None, "compare has no --timeout");
        assert_eq!(Asker::Experiment.cure(Cure::TimeOut).as_deref(), Some("`timeout` would count it as failed"));
        assert!(!Asker::Commands.cure(Cure::TryTls).unwrap().contains("https://"), "it is given no URL");
    }
}
