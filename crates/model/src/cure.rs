use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

kinds! {
    /// What would mend what a reason or a mark says. Whoever shows it knows how that is asked for.
    Cure {
        /// Give the generator CPUs that nothing else uses.
        OwnCpus = "own-cpus",
        /// Give the generator more threads, or other CPUs.
        MoreThreads = "more-threads",
        /// Have more files open, more local ports, or fewer connections made.
        MorePortsOrFiles = "more-ports-or-files",
        /// Start the server, or load it where it listens.
        StartServer = "start-server",
        /// Measure for longer, or at a higher rate.
        LongerWindow = "longer-window",
        /// Ask over TLS.
        TryTls = "try-tls",
        /// Ask for a time-out.
        TimeOut = "time-out",
    }
}
