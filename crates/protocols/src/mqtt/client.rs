//! The client: connections, and exchanges on them.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;
use futures_core::future::LocalBoxFuture;
use futures_util::{FutureExt as _, stream};
use trackbed_connection::error::{Result, Step};
use trackbed_connection::{
    Connection, Dialer, Error, Priority, Request, Response, Security, TransportStats,
};
use trackbed_mqtt::client::{Client, Settings};
use trackbed_substrate::{now, spawn};

use super::convention::{self, Part};
use super::driver::{Driver, Shared, User, closed};
use super::parts::Parts;
use super::profile::MQTT;
use crate::config::{MqttAnswer, MqttParameters};
use crate::framing::check_path;
use crate::pieces::Arrivals;
use crate::tcp_transport::{TcpDialer, Watchdog};
use crate::tls::{Randomness, hex};

pub(super) struct MqttDialer {
    pub(super) tcp: TcpDialer,
    pub(super) randomness: Randomness,
    pub(super) settings: MqttParameters,
    pub(super) window: usize,
}

impl Dialer for MqttDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.tcp.connect(remote).await?;
            let failed = |why| Error::lasting(MQTT.protocol, Step::Handshake, why);
            let settings = Settings {
                version: self.settings.version,
                client_id: self.client_id().map_err(failed)?,
                ..Settings::default()
            };
            let mut client = Client::new(settings);
            client.connect(now()).map_err(|fault| failed(fault.to_string()))?;
            let shared = Rc::new(Shared::new(self.settings, stream, client, self.window));
            let (opened, is_open) = oneshot::channel();
            shared.opened.set(Some(opened));
            let (ended, has_ended) = oneshot::channel();
            let idle_timeout = self.tcp.idle_timeout;
            let connection = MqttConnection {
                user: User::of(&shared),
                idle_timeout,
                ended: Cell::new(Some(has_ended)),
            };
            let driver = Driver::new(Rc::clone(&shared));
            let drive = async move {
                driver.run().await;
                let _unless_nobody_waits = ended.send(());
            };
            spawn(drive).detach();
            let mut watchdog = shared.stream.progress().watchdog(idle_timeout);
            match watchdog.guard(is_open).await {
                Some(Ok(opened)) => opened?,
                Some(Err(_)) => return Err(closed()),
                None => return Err(Error::idle(MQTT.protocol, Step::Handshake, idle_timeout)),
            }
            Ok(Rc::new(connection) as Rc<dyn Connection>)
        })
    }
}

impl MqttDialer {
    /// A name that no other client of the broker has; every broker accepts 23 characters (version
    /// 3.1.1, section 3.1.3.1).
    fn client_id(&self) -> Result<String, String> {
        let mut bytes = [0; 8];
        self.randomness.fill(&mut bytes)?;
        Ok(format!("tb-{}", hex(&bytes)))
    }
}

struct MqttConnection {
    user: User,
    idle_timeout: Duration,
    ended: Cell<Option<oneshot::Receiver<()>>>,
}

impl Connection for MqttConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let shared = &self.user.0;
            check_path(MQTT.protocol, &request.path)?;
            check_levels(&request.path)?;
            if let Some(error) = shared.over() {
                return Err(error);
            }
            let (number, answered) = shared.begin();
            let giving_up = GivingUp { shared: Rc::clone(shared), number };
            let outgoing = Outgoing {
                shared: Rc::clone(shared),
                number,
                path: request.path,
                priority: request.priority,
                parts: Parts::new(request.body),
                index: 0,
            };
            let mut sending = Box::pin(outgoing.send());
            if (&mut sending).now_or_never().is_none()
                && let Some(nursery) = &*shared.sending.borrow()
            {
                nursery.spawn(sending);
            }
            let mut watchdog = shared.stream.progress().watchdog(self.idle_timeout);
            let (status, arrivals) = match watchdog.guard(answered).await {
                Some(Ok(head)) => head?,
                Some(Err(_)) => return Err(closed()),
                None => return Err(Error::idle(MQTT.protocol, Step::Receive, self.idle_timeout)),
            };
            let body = Answer {
                arrivals,
                watchdog: None,
                idle_timeout: self.idle_timeout,
                giving_up,
                _user: User::of(shared),
            };
            Ok(Response { status, body: Box::pin(stream::try_unfold(body, Answer::next)) })
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            let shared = &self.user.0;
            if !shared.exchanges.borrow().is_empty() {
                shared.stream.abort();
                return shared.finish(closed());
            }
            shared.is_closing.set(true);
            shared.wake();
            if let Some(ended) = self.ended.take() {
                let _either_way = ended.await;
            }
        })
    }

    fn security(&self) -> Option<Security> {
        self.user.0.stream.security()
    }

    fn transport(&self) -> TransportStats {
        self.user.0.stream.stats()
    }
}

struct Outgoing {
    shared: Rc<Shared>,
    number: u32,
    path: String,
    priority: Option<Priority>,
    parts: Parts,
    /// How many of them were published.
    index: u32,
}

impl Outgoing {
    async fn send(mut self) {
        loop {
            let (part, bytes) = match self.parts.next().await {
                Ok(Some(part)) => part,
                Ok(None) => return,
                Err(error) => {
                    self.publish(Part::Broken, &[]);
                    return self.shared.fail(self.number, error);
                }
            };
            let room = poll_fn(|cx| self.shared.poll_room(cx)).await;
            // Whatever cancelled the exchange also reports it.
            if !room || !self.publish(part, &bytes) {
                return;
            }
        }
    }

    fn publish(&mut self, part: Part, bytes: &[u8]) -> bool {
        let request = (self.path.as_str(), self.priority);
        let message = message(&self.shared, self.number, (self.index, part), request, bytes);
        self.index += 1;
        match self.shared.publish(message, self.number) {
            Ok(()) => true,
            Err(error) => {
                self.shared.fail(self.number, error);
                false
            }
        }
    }
}

fn message(
    shared: &Shared,
    number: u32,
    (index, part): (u32, Part),
    request: (&str, Option<Priority>),
    bytes: &[u8],
) -> trackbed_mqtt::Message {
    let MqttParameters { version, qos, answer } = shared.settings;
    let client = shared.client.borrow();
    match answer {
        MqttAnswer::Service => {
            let end = (version, client.client_id(), qos);
            convention::request(end, number, part, request, bytes)
        }
        MqttAnswer::Echo => {
            convention::echo((client.client_id(), qos), number, (index, part), bytes)
        }
    }
}

/// Notifies the peer if an exchange is dropped before its end.
struct GivingUp {
    shared: Rc<Shared>,
    number: u32,
}

impl Drop for GivingUp {
    fn drop(&mut self) {
        let exchange = self.shared.exchanges.borrow_mut().remove(&self.number);
        if exchange.is_some() && self.shared.settings.answer == MqttAnswer::Service {
            let message = message(&self.shared, self.number, (0, Part::Broken), ("/", None), &[]);
            // It no longer matters whether that arrives.
            let _told = self.shared.publish(message, self.number);
        }
    }
}

/// The body of an answer, given up if the connection is silent.
struct Answer {
    arrivals: Arrivals,
    /// Runs while the body keeps its reader waiting.
    watchdog: Option<Watchdog>,
    idle_timeout: Duration,
    giving_up: GivingUp,
    _user: User,
}

impl Answer {
    async fn next(mut self) -> Result<Option<(Bytes, Answer)>> {
        let piece = poll_fn(|cx| self.poll_piece(cx)).await?;
        Ok(piece.map(|piece| (piece, self)))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        if let Poll::Ready(piece) = self.arrivals.poll_next(cx) {
            self.watchdog = None;
            return Poll::Ready(piece);
        }
        let progress = self.giving_up.shared.stream.progress();
        let fresh = || progress.watchdog(self.idle_timeout);
        let watchdog = self.watchdog.get_or_insert_with(fresh);
        let idle = || Error::idle(MQTT.protocol, Step::Receive, self.idle_timeout);
        watchdog.poll_bark(cx).map(|()| Err(idle()))
    }
}

/// Brokers take topics of a limited depth.
fn check_levels(path: &str) -> Result<()> {
    match path.matches('/').count() {
        0..=LEVELS_MAX => Ok(()),
        _ => {
            let advice = "the path, used as a topic, has more than 100 levels";
            Err(Error::unsupported(MQTT.protocol, advice))
        }
    }
}

const LEVELS_MAX: usize = 100;
