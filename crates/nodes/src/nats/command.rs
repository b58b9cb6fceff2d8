use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Message};
use engine::MonotonicClock;
use futures_util::StreamExt;
use futures_util::stream::select_all;
use model::Clock;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{AGAIN, Change, Link, NatsError, Place, TICK, Who, runtime};
use crate::coordinator::{Asked, Coordinator, Does};
use crate::key::{Key, MOST_BYTES, fresh_name};
use crate::message::Address;
use crate::outcome::{Ended, News};

/// What nodes brought, as it comes.
type Results = jetstream::consumer::pull::Ordered;

/// For how long the server keeps what was brought, should whoever wants it be gone.
const KEPT: Duration = Duration::from_secs(3600);

/// Most messages that are kept of one node: the pieces of some seconds.
const MOST_KEPT: i64 = 128;

/// Within which time the same result is taken once.
const DUPLICATES: Duration = Duration::from_secs(600);

/// Messages of strangers that are heard, at each of the addresses where they would write.
const STRANGERS_HEARD: u64 = 8;

/// Attempts to read on after the server was away.
const REOPENED: u32 = 20;

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
    let (client, mut changes) = place.connect(Who::Commander).await?;
    let link = Link { place, key: key.clone() };
    let mut said = link.hear(&client, link.subject(&Address::Run(run.clone()))).await?;
    let mut strangers = strangers(&client, &link, &run).await?;
    let context = jetstream::new(client.clone());
    let stream = format!("bourdon-{run}");
    let config = kept(&link, (&stream, &run));
    let refused = |why: String| NatsError::JetStream { url: link.place.shown(), why };
    let mut results = open(&context, config.clone()).await.map_err(refused)?;
    let (reopens, mut reopened) = unbounded_channel();
    let mut coordinator = Coordinator::new(asked, run.clone(), key, MonotonicClock.now_ns());
    let mut ticks = tokio::time::interval(TICK);
    let ended = loop {
        let does = tokio::select! {
            message = said.next() => {
                coordinator.heard(MonotonicClock.now_ns(), &message.ok_or_else(|| link.gone())?.payload)
            }
            message = results.next() => match message {
                Some(Ok(message)) => coordinator.heard(MonotonicClock.now_ns(), &message.payload),
                // It is opened anew by itself.
                Some(Err(_)) => Vec::new(),
                None => return Err(link.gone()),
            },
            Some(message) = strangers.next() => coordinator.overheard(&message.payload),
            Some(anew) = reopened.recv() => {
                results = anew;
                Vec::new()
            }
            Some(change) = changes.recv() => match change {
                // To hear strangers is not worth a load.
                Change::Refused(why) if link.is_of_strangers(&run, &why) => Vec::new(),
                Change::Refused(why) => return Err(NatsError::Refused { commands: true, url: link.place.shown(), why }),
                Change::Up | Change::Down => {
                    let is_up = matches!(change, Change::Up);
                    let was_away = coordinator.connected(MonotonicClock.now_ns(), is_up);
                    if is_up && was_away {
                        tokio::spawn(reopen(context.clone(), config.clone(), reopens.clone()));
                    }
                    Vec::new()
                }
            },
            _ = ticks.tick() => {
                let now_ns = MonotonicClock.now_ns();
                let stopped = if stop.load(Ordering::Relaxed) { coordinator.stop(now_ns) } else { Vec::new() };
                stopped.into_iter().chain(coordinator.tick(now_ns)).collect()
            }
        };
        if let Some(ended) = carry_out(does, (&client, &link), told).await {
            break ended;
        }
    };
    reopened.close();
    let parting = async {
        let _ = client.flush().await;
        let _ = context.delete_stream(&stream).await;
    };
    let _ = tokio::time::timeout(PARTING, parting).await;
    Ok(ended)
}

/// Gives how it ended, where it did.
async fn carry_out(does: Vec<Does>, (client, link): (&Client, &Link), told: &mut dyn FnMut(News)) -> Option<Ended> {
    let mut ended = None;
    for does in does {
        match does {
            // While the server is away it is sent later, or repeated; what has no room until then is lost.
            Does::Send(to, bytes) => {
                _ = tokio::time::timeout(TICK, client.publish(link.subject(&to), bytes.into())).await;
            }
            Does::Tell(news) => told(news),
            Does::End(how) => ended = Some(*how),
        }
    }
    ended
}

/// Reads the results of a run from their beginning once more, where the server has been away: by itself a reader notices that only
/// seconds later. What was read before changes nothing.
async fn reopen(context: Context, config: Config, reopens: UnboundedSender<Results>) {
    for _ in (0..REOPENED).take_while(|_| !reopens.is_closed()) {
        if let Ok(Ok(anew)) = tokio::time::timeout(PARTING, open(&context, config.clone())).await {
            let _ = reopens.send(anew);
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Opens the place where results are kept, which a server that came back without what it stored has not, and reads them as they come.
async fn open(context: &Context, config: Config) -> Result<Results, String> {
    let stream = context.get_or_create_stream(config).await.map_err(|error| error.to_string())?;
    let consumer = stream.create_consumer(OrderedConfig::default()).await.map_err(|error| error.to_string())?;
    consumer.messages().await.map_err(|error| error.to_string())
}

/// Hears a few of those who write to a run without its key: the server stops bringing what they write, however much that is.
async fn strangers(
    client: &Client,
    link: &Link,
    run: &str,
) -> Result<impl futures_util::Stream<Item = Message> + use<>, NatsError> {
    let mut heard = Vec::new();
    for subject in link.subjects_of_strangers(run) {
        let mut strangers = link.hear(client, subject).await?;
        strangers.unsubscribe_after(STRANGERS_HEARD).await.map_err(|_| link.gone())?;
        heard.push(strangers);
    }
    Ok(select_all(heard))
}

/// The place where the results of a run are kept.
fn kept(link: &Link, (stream, run): (&str, &str)) -> Config {
    let all = Address::Results { run: run.to_owned(), session: "*".to_owned(), id: String::new() };
    Config {
        name: stream.to_owned(),
        subjects: vec![link.subject(&all).to_string()],
        // What a node would have brought earlier is of no use once it has told of later seconds.
        max_messages_per_subject: MOST_KEPT,
        max_message_size: MOST_BYTES as i32,
        max_age: KEPT,
        duplicate_window: DUPLICATES,
        ..Config::default()
    }
}
