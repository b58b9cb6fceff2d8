//! The admin server: figures of the process and of the tokio runtime, in the Prometheus text format.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, extract::State};
use prometheus::process_collector::ProcessCollector;
use prometheus::{Counter, IntGauge, Registry, TEXT_FORMAT, TextEncoder};
use tokio::net::TcpListener;
use tokio::runtime::Handle;

/// Serves the figures until the process ends.
///
/// # Errors
/// When a figure cannot be had here.
pub(crate) fn start(listener: TcpListener) -> prometheus::Result<()> {
    // One question at a time: a counter is brought up to date in two steps.
    let figures = Arc::new(Mutex::new(Figures::new()?));
    let router = Router::new().route("/metrics", get(metrics)).with_state(figures);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(())
}

async fn metrics(State(figures): State<Arc<Mutex<Figures>>>) -> Response {
    match figures.lock().unwrap_or_else(PoisonError::into_inner).text() {
        Ok(text) => ([(CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

struct Figures {
    registry: Registry,
    workers: IntGauge,
    tasks: IntGauge,
    queued: IntGauge,
    busy_seconds: Counter,
    parks: Counter,
}

impl Figures {
    fn new() -> prometheus::Result<Self> {
        let figures = Self {
            registry: Registry::new(),
            workers: IntGauge::new("tokio_workers", "Worker threads of the runtime.")?,
            tasks: IntGauge::new("tokio_alive_tasks", "Tasks that have not ended.")?,
            queued: IntGauge::new("tokio_global_queue_depth", "Tasks waiting in the runtime's global queue.")?,
            busy_seconds: Counter::new("tokio_busy_seconds_total", "Time that workers were busy, over all workers.")?,
            parks: Counter::new("tokio_parks_total", "How often workers went to sleep, over all workers.")?,
        };
        figures.registry.register(Box::new(ProcessCollector::for_self()))?;
        for gauge in [&figures.workers, &figures.tasks, &figures.queued] {
            figures.registry.register(Box::new(gauge.clone()))?;
        }
        for counter in [&figures.busy_seconds, &figures.parks] {
            figures.registry.register(Box::new(counter.clone()))?;
        }
        Ok(figures)
    }

    fn text(&self) -> prometheus::Result<String> {
        let runtime = Handle::current().metrics();
        let workers = runtime.num_workers();
        self.workers.set(workers as i64);
        self.tasks.set(runtime.num_alive_tasks() as i64);
        self.queued.set(runtime.global_queue_depth() as i64);
        let busy: f64 = (0..workers).map(|worker| runtime.worker_total_busy_duration(worker).as_secs_f64()).sum();
        let parks: u64 = (0..workers).map(|worker| runtime.worker_park_count(worker)).sum();
        for (counter, now) in [(&self.busy_seconds, busy), (&self.parks, parks as f64)] {
            counter.inc_by((now - counter.get()).max(0.0));
        }
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn figures_of_process_and_runtime_are_given() {
        let text = Figures::new().unwrap().text().unwrap();
        for name in ["process_cpu_seconds_total ", "tokio_workers 1\n", "tokio_busy_seconds_total "] {
            assert!(text.contains(name), "without {name:?}:\n{text}");
        }
    }
}
