use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, Context};
use engine::MonotonicClock;
use futures_util::StreamExt;
use model::Clock;

use super::{Change, NatsError, Place, TICK, runtime};
use crate::coordinator::{Asked, Coordinator, Does};
use crate::key::{Key, MOST_BYTES, fresh_name};
use crate::message::Address;
use crate::outcome::{Ended, News};

/// For how long the server keeps what was brought, should whoever wants it be gone.
const KEPT: Duration = Duration::from_secs(3600);

/// Most messages that are kept of one node: the pieces of some seconds.
const MOST_KEPT: i64 = 128;

/// Within which time the same result is taken once.
const DUPLICATES: Duration = Duration::from_secs(600);

/// How long the last words may take.
const PARTING: Duration = Duration::from_secs(2);

/// A load to be commanded.
pub struct Command {
    /// Where messages go through.
    pub place: Place,
    /// What all that take part know.
    pub key: Key,
    /// What is asked for.
    pub asked: Asked,
}

/// Lets nodes make a load. Setting `stop` ends it early; what was measured is kept.
///
/// # Errors
/// When messages cannot be exchanged; whatever nodes do is a result.
pub fn command(command: Command, stop: &AtomicBool, told: &mut dyn FnMut(News)) -> Result<Ended, NatsError> {
    let runtime = runtime()?;
    let ended = runtime.block_on(run(command, stop, told));
    // The server may be gone, and what waits for it.
    runtime.shutdown_timeout(PARTING);
    ended
}

async fn run(command: Command, stop: &AtomicBool, told: &mut dyn FnMut(News)) -> Result<Ended, NatsError> {
    let Command { place, key, asked } = command;
    let run = fresh_name();
    let (client, mut changes) = place.connect().await?;
    let gone = |_: &dyn std::fmt::Display| NatsError::Gone(place.shown());
    let mut said = client.subscribe(place.subject(&Address::Run(run.clone()))).await.map_err(|error| gone(&error))?;
    let context = jetstream::new(client.clone());
    let stream = format!("bourdon-{run}");
    let mut results = results(&context, &place, (&stream, &run)).await?;
    let mut coordinator = Coordinator::new(asked, run, key, MonotonicClock.now_ns());
    let mut ticks = tokio::time::interval(TICK);
    let ended = loop {
        let does = tokio::select! {
            message = said.next() => match message {
                Some(message) => coordinator.heard(MonotonicClock.now_ns(), &message.payload),
                None => return Err(NatsError::Gone(place.shown())),
            },
            message = results.next() => match message {
                Some(Ok(message)) => coordinator.heard(MonotonicClock.now_ns(), &message.payload),
                // It is opened anew by itself.
                Some(Err(_)) => Vec::new(),
                None => return Err(NatsError::Gone(place.shown())),
            },
            Some(change) = changes.recv() => match change {
                Change::Refused(why) => return Err(NatsError::Refused { url: place.shown(), why }),
                Change::Up | Change::Down => {
                    coordinator.connected(MonotonicClock.now_ns(), matches!(change, Change::Up));
                    Vec::new()
                }
            },
            _ = ticks.tick() => {
                let now_ns = MonotonicClock.now_ns();
                let stopped = if stop.load(Ordering::Relaxed) { coordinator.stop(now_ns) } else { Vec::new() };
                stopped.into_iter().chain(coordinator.tick(now_ns)).collect()
            }
        };
        if let Some(ended) = carry_out(does, (&client, &place), told).await {
            break ended;
        }
    };
    let parting = async {
        let _ = client.flush().await;
        let _ = context.delete_stream(&stream).await;
    };
    let _ = tokio::time::timeout(PARTING, parting).await;
    Ok(ended)
}

/// Gives how it ended, where it did.
async fn carry_out(does: Vec<Does>, (client, place): (&Client, &Place), told: &mut dyn FnMut(News)) -> Option<Ended> {
    let mut ended = None;
    for does in does {
        match does {
            // While the server is away it is sent later, or repeated; what has no room until then is lost.
            Does::Send(to, bytes) => {
                _ = tokio::time::timeout(TICK, client.publish(place.subject(&to), bytes.into())).await;
            }
            Does::Tell(news) => told(news),
            Does::End(how) => ended = Some(*how),
        }
    }
    ended
}

/// Opens the place where the results of a run are kept, and reads them as they come.
async fn results(
    context: &Context,
    place: &Place,
    (stream, run): (&str, &str),
) -> Result<jetstream::consumer::pull::Ordered, NatsError> {
    let refused = |why: String| NatsError::JetStream { url: place.shown(), why };
    let all = Address::Results { run: run.to_owned(), session: "*".to_owned(), id: String::new() };
    let config = Config {
        name: stream.to_owned(),
        subjects: vec![place.subject(&all).to_string()],
        // What a node would have brought earlier is of no use once it has told of later seconds.
        max_messages_per_subject: MOST_KEPT,
        max_message_size: MOST_BYTES as i32,
        max_age: KEPT,
        duplicate_window: DUPLICATES,
        ..Config::default()
    };
    let stream = context.create_stream(config).await.map_err(|error| refused(error.to_string()))?;
    let consumer =
        stream.create_consumer(OrderedConfig::default()).await.map_err(|error| refused(error.to_string()))?;
    consumer.messages().await.map_err(|error| refused(error.to_string()))
}
