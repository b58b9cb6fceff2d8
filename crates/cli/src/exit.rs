use std::fmt::Display;

/// How a command ended, as its exit status says it. The first that applies is the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Interrupted; what was measured is saved.
    Interrupted,
    /// The arguments or a file are wrong.
    Usage,
    /// A target could not be built, launched or reached.
    Unreachable,
    /// Too many requests failed, content was wrong, or a gate or a claim does not hold.
    Bad,
    /// The instrument cannot vouch for the answer.
    Void,
    /// All is well.
    Good,
}

impl Exit {
    /// Of an answer that was had: whether it is bad (by the one rule of `judge`, a gate or a claim), and whether the
    /// instrument cannot vouch for it.
    pub(crate) fn of_answer(bad: bool, void: bool) -> Self {
        match (bad, void) {
            (true, _) => Exit::Bad,
            (false, true) => Exit::Void,
            (false, false) => Exit::Good,
        }
    }

    /// The status itself.
    pub(crate) fn status(self) -> u8 {
        match self {
            Exit::Interrupted => 130,
            Exit::Usage => 2,
            Exit::Unreachable => 4,
            Exit::Bad => 1,
            Exit::Void => 3,
            Exit::Good => 0,
        }
    }
}

/// Why a command could not do its job.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// Cause and cure; several lines where it points into a file.
    text: String,
    /// Whether the text has colours of our own.
    coloured: bool,
}

impl Failure {
    /// The arguments or a file are wrong.
    pub(crate) fn usage(text: impl Display) -> Self {
        Self::of(Exit::Usage, format!("error: {text}"))
    }

    /// Somebody stopped it before there was anything to keep.
    pub(crate) fn interrupted(text: impl Display) -> Self {
        Self::of(Exit::Interrupted, text.to_string())
    }

    /// A file is wrong at one place, which is shown, maybe with colours.
    pub(crate) fn shown(text: String) -> Self {
        Self { exit: Exit::Usage, text, coloured: true }
    }

    /// Whether its text has colours of our own.
    pub(crate) fn is_coloured(&self) -> bool {
        self.coloured
    }

    /// The status that follows from it.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// The same of a command of which what was measured is saved: that it was interrupted comes first.
    pub(crate) fn of_interrupted(self, interrupted: bool) -> Self {
        if interrupted { Self { exit: Exit::Interrupted, ..self } } else { self }
    }

    /// A target could not be built, launched or reached.
    pub(crate) fn unreachable(text: impl Display) -> Self {
        Self::of(Exit::Unreachable, format!("error: {text}"))
    }

    fn of(exit: Exit, text: String) -> Self {
        Self { exit, text, coloured: false }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text.trim_end())
    }
}
