use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream;
use async_nats::jetstream::message::PublishMessage;
use async_nats::{Client, Subject};
use engine::{MonotonicClock, RunOptions};
use futures_util::StreamExt;
use model::Clock;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::{AGAIN, Change, Link, NatsError, Place, TICK, Who, runtime};
use crate::allowed::Allowed;
use crate::key::{Key, fresh_name, signature};
use crate::message::{Address, Order, Presence};
use crate::node::{Making, Node, NodeDoes, NodeNews};

/// How long a result may take to be acknowledged before it is sent again.
const ACKNOWLEDGED: Duration = Duration::from_secs(3);

/// For how long it is sent again and again while the server is there: whoever wants it is gone by then.
const DELIVERED: Duration = Duration::from_secs(60);

/// How long a result that is refused waits before it is sent again.
const REFUSED: Duration = Duration::from_millis(200);

/// What is said of results that nobody keeps.
const NOT_KEPT: &str = "the server of messages does not keep what was measured (is its disk full, or did it come back without what it had kept?)";

/// How long the last words may take.
const PARTING: Duration = Duration::from_secs(2);

/// A node to be.
pub struct Serve {
    /// Where messages go through.
    pub place: Place,
    /// What all that take part know.
    pub key: Key,
    /// What it is.
    pub own: Presence,
    /// Which servers it may load.
    pub allowed: Vec<Allowed>,
    /// Addresses that its connections come from.
    pub sources: Vec<std::net::IpAddr>,
    /// By how much its clock is ahead of the machine's, in nanoseconds: to see what that does.
    pub ahead_ns: i64,
    /// Whether it ends after its first load.
    pub once: bool,
    /// Where replies are written down one by one ([`RunOptions::raw_log`]).
    pub raw_log: Option<&'static Path>,
}

/// A node's clock, which may stand elsewhere than the machine's.
#[derive(Clone, Copy)]
struct NodeClock {
    ahead_ns: i64,
}

impl Clock for NodeClock {
    fn now_ns(&self) -> u64 {
        MonotonicClock.now_ns().saturating_add_signed(self.ahead_ns)
    }
}

/// Waits for orders and makes shares of loads, until `stop` is set.
///
/// # Errors
/// When messages cannot be exchanged.
pub fn serve(serve: Serve, stop: &AtomicBool, told: &mut dyn FnMut(NodeNews)) -> Result<(), NatsError> {
    let runtime = runtime()?;
    let ended = runtime.block_on(run(serve, stop, told));
    runtime.shutdown_timeout(PARTING);
    ended
}

/// The share that is being made.
struct Under {
    begin: Option<Sender<u64>>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Under {
    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Who waits for its begin waits no longer.
        self.begin = None;
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        self.end();
        self.thread.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

/// Tells should the thread of a share end by a panic, or not begin.
struct Falls {
    makings: UnboundedSender<(String, Making)>,
    session: String,
    has_ended: bool,
}

impl Drop for Falls {
    fn drop(&mut self) {
        if !self.has_ended {
            let why =
                "its thread could not be started, or fell; that is a bug in bourdon unless threads are limited here";
            _ = self.makings.send((std::mem::take(&mut self.session), Making::Failed(why.to_owned())));
        }
    }
}

/// What a node works with.
struct Runner<'t> {
    client: Client,
    link: Link,
    clock: NodeClock,
    sources: Vec<std::net::IpAddr>,
    raw_log: Option<&'static Path>,
    under: Option<Under>,
    /// What is being made, and under which name of the node.
    makings: UnboundedSender<(String, Making)>,
    kept: UnboundedSender<(Subject, String, Vec<u8>)>,
    /// What the node is called: what was brought under another name nobody waits for.
    session: watch::Sender<String>,
    told: &'t mut dyn FnMut(NodeNews),
    is_freed: bool,
}

async fn run(serve: Serve, stop: &AtomicBool, told: &mut dyn FnMut(NodeNews)) -> Result<(), NatsError> {
    let Serve { place, key, own, allowed, sources, ahead_ns, once, raw_log } = serve;
    let clock = NodeClock { ahead_ns };
    let Some((client, mut changes)) = connected(&place, stop, told).await? else { return Ok(()) };
    let mut node = Node::new(key.clone(), own, allowed, fresh_name);
    let link = Link { place, key };
    let mut calls = link.hear(&client, link.subject(&Address::Nodes)).await?;
    let mut said = link.hear(&client, link.subject(&Address::Node(node.session().to_owned()))).await?;
    let ((makings, mut made), (kept, to_keep), (delivered, mut deliveries)) =
        (unbounded_channel(), unbounded_channel(), unbounded_channel());
    let (session, sessions) = watch::channel(node.session().to_owned());
    tokio::spawn(deliver(client.clone(), to_keep, sessions, delivered));
    let mut runner = Runner {
        client: client.clone(),
        link,
        clock,
        sources,
        raw_log,
        under: None,
        makings,
        kept,
        session,
        told,
        is_freed: false,
    };
    let mut ticks = tokio::time::interval(TICK);
    while !(stop.load(Ordering::Relaxed) || once && runner.is_freed) {
        let does = tokio::select! {
            message = said.next() => node.heard(clock.now_ns(), &message.ok_or_else(|| runner.link.gone())?.payload),
            message = calls.next() => node.heard(clock.now_ns(), &message.ok_or_else(|| runner.link.gone())?.payload),
            Some((session, making)) = made.recv() => {
                if session == node.session() { node.made(clock.now_ns(), making) } else { Vec::new() }
            }
            Some((id, is_kept)) = deliveries.recv() => match is_kept {
                _ if !id.contains(node.session()) => Vec::new(),
                true => vec![NodeDoes::Tell(NodeNews::Delivered)],
                false => node.made(clock.now_ns(), Making::Failed(NOT_KEPT.to_owned())),
            },
            Some(change) = changes.recv() => match change {
                Change::Refused(why) => return Err(NatsError::Refused { commands: false, url: runner.link.place.shown(), why }),
                Change::Up | Change::Down => {
                    node.connected(clock.now_ns(), matches!(change, Change::Up));
                    Vec::new()
                }
            },
            _ = ticks.tick() => node.tick(clock.now_ns()),
        };
        if let Some(session) = runner.carry_out(does).await {
            said = runner.link.hear(&client, runner.link.subject(&Address::Node(session))).await?;
        }
    }
    // Whoever commands it need not wait to notice that it is gone.
    let does = node.made(clock.now_ns(), Making::Failed("the node was ended".to_owned()));
    runner.carry_out(does).await;
    let _ = tokio::time::timeout(PARTING, client.flush()).await;
    Ok(())
}

/// Connects to a server that may only come after the node; nothing where it was stopped before.
async fn connected(
    place: &Place,
    stop: &AtomicBool,
    told: &mut dyn FnMut(NodeNews),
) -> Result<Option<(Client, UnboundedReceiver<Change>)>, NatsError> {
    let mut is_told = false;
    while !stop.load(Ordering::Relaxed) {
        match place.connect(Who::Node).await {
            Err(NatsError::Connect { url, why, may_come: true }) => {
                if !std::mem::replace(&mut is_told, true) {
                    told(NodeNews::Waits { url, why });
                }
                tokio::time::sleep(AGAIN).await;
            }
            other => return other.map(Some),
        }
    }
    Ok(None)
}

impl Runner<'_> {
    /// Gives what the node is called from now on, where that changes.
    async fn carry_out(&mut self, does: Vec<NodeDoes>) -> Option<String> {
        let mut renewed = None;
        for does in does {
            match does {
                NodeDoes::Send(to, bytes) => {
                    let subject = self.link.subject(&to);
                    match to {
                        Address::Results { id, .. } => _ = self.kept.send((subject, id, bytes)),
                        _ => _ = tokio::time::timeout(TICK, self.client.publish(subject, bytes.into())).await,
                    }
                }
                NodeDoes::Make(order) => self.under = Some(self.make(*order)),
                NodeDoes::Begin(at_ns) => {
                    let begin = self.under.as_mut().and_then(|under| under.begin.take());
                    let at_ns = at_ns.saturating_add_signed(-self.clock.ahead_ns);
                    begin.into_iter().for_each(|begin| _ = begin.send(at_ns));
                }
                NodeDoes::Stop => self.under.iter_mut().for_each(Under::end),
                NodeDoes::Renew(session) => {
                    self.under = None;
                    self.is_freed = true;
                    self.session.send_replace(session.clone());
                    renewed = Some(session);
                }
                NodeDoes::Tell(news) => (self.told)(news),
            }
        }
        renewed
    }

    /// Opens the connections of a share on threads of their own.
    fn make(&self, order: Order) -> Under {
        let (begin, begins) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (makings, stopped, ahead_ns) = (self.makings.clone(), Arc::clone(&stop), self.clock.ahead_ns);
        let (session, raw_log) = (self.session.borrow().clone(), self.raw_log);
        let falls = Falls { makings: makings.clone(), session: session.clone(), has_ended: false };
        let Order { spec, share, .. } = order;
        let spec = spec.with(|spec| {
            spec.sources.clone_from(&self.sources);
            spec.cpus.clear();
        });
        let body = move || {
            let mut falls = falls;
            let tell = |making| _ = makings.send((session.clone(), making));
            let made = engine::bring_share(
                &spec,
                RunOptions { share: Some(share), raw_log, ..RunOptions::default() },
                &stopped,
                &mut || {
                    tell(Making::Ready);
                    begins.recv().ok()
                },
                (
                    &mut |passed| {
                        if !passed.second.drain {
                            tell(Making::Second(passed.second.interval));
                        }
                    },
                    &mut |seconds, brought| tell(Making::Checkpoint(seconds, brought.moved(ahead_ns).to_bytes())),
                ),
            );
            match made {
                Ok(Some(brought)) => tell(Making::Home(brought.moved(ahead_ns).to_bytes())),
                // It was ended before it began, by whoever commands it.
                Ok(None) => {}
                Err(error) => tell(Making::Failed(error.to_string())),
            }
            falls.has_ended = true;
        };
        let thread = std::thread::Builder::new().name("share".to_owned()).spawn(body);
        // Of one that is not started `falls` tells.
        Under { begin: Some(begin), stop, thread: thread.ok() }
    }
}

/// Sends what was brought until the server has said that it keeps it, one after the other.
async fn deliver(
    client: Client,
    mut to_keep: UnboundedReceiver<(Subject, String, Vec<u8>)>,
    sessions: watch::Receiver<String>,
    delivered: UnboundedSender<(String, bool)>,
) {
    let context = jetstream::new(client.clone());
    while let Some((subject, id, bytes)) = to_keep.recv().await {
        // A name that nobody knows beforehand: the server keeps one message of each, whoever sends it first.
        let name = signature(&bytes);
        let message = PublishMessage::build().payload(bytes.into()).message_id(&name);
        let is_wanted = || id.contains(&*sessions.borrow());
        let (mut is_kept, mut tried) = (false, Duration::ZERO);
        while is_wanted() && !is_kept && tried < DELIVERED {
            let (since_ns, is_there) = (MonotonicClock.now_ns(), client.connection_state() == State::Connected);
            let sent = async {
                let acknowledged = context.send_publish(subject.clone(), message.clone()).await.ok()?;
                acknowledged.await.ok()
            };
            match tokio::time::timeout(ACKNOWLEDGED, sent).await {
                Ok(Some(_)) => is_kept = true,
                // At once where it is refused, which it is until the server is back.
                Ok(None) => tokio::time::sleep(REFUSED).await,
                Err(_) => {}
            }
            if is_there {
                tried += Duration::from_nanos(MonotonicClock.now_ns().saturating_sub(since_ns));
            }
        }
        if is_wanted() && (!is_kept || id.contains("/end/")) {
            _ = delivered.send((id, is_kept));
        }
    }
}
