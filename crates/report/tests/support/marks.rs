use model::{FailedRequests, Failure, Launches, MarkCause, MarkNote};

/// A mark of so many of a cell's six launches.
pub(crate) fn note(cause: MarkCause, with: u32) -> MarkNote {
    let launches = Some(Launches { with, of: 6, told: "b01-c02".to_owned() });
    MarkNote { launches, ..MarkNote::new(cause) }
}

/// That other processes took this share of two CPUs.
pub(crate) fn taken(others_share: f64) -> MarkCause {
    MarkCause::Taken { cpus: 2, steal_share: None, others_share: Some(others_share) }
}

/// Requests that failed in one way.
pub(crate) fn failures(scheduled: u64, kind: Failure, count: u64) -> MarkCause {
    let failed = [(kind, count)].into();
    MarkCause::Failures(FailedRequests { scheduled, failed, ..FailedRequests::default() })
}
