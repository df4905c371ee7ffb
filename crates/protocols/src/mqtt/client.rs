//! The client: connections, and exchanges on them.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;

use futures_channel::oneshot;
use futures_core::future::LocalBoxFuture;
use futures_util::FutureExt as _;
use trackbed_connection::{
    Connection, Dialer, Error, Priority, Request, Response, Result, Security, Step, TransportStats,
};
use trackbed_core::text::hex;
use trackbed_mqtt::client::{Client, Settings};
use trackbed_substrate::now;

use super::convention::{self, MQTT, Part};
use super::driver::{Driver, Shared, User, closed};
use super::parts::Parts;
use crate::config::{MqttAnswer, MqttParameters};
use crate::framing::check_path;
use crate::ledger::Tally;
use crate::tcp_transport::{Open, TcpDialer};
use crate::tls::Randomness;

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
            let shared = Shared::new(self.settings, stream.clone(), client, self.window);
            let shared = Rc::new(shared);
            let (opened, is_open) = oneshot::channel();
            shared.opened.set(Some(opened));
            let user = User::of(&shared);
            let drive = Driver::new(shared).run();
            let open = Open::new(&self.tcp, stream, Tally::default(), drive);
            let connection = MqttConnection { user, open };
            let opened = connection.open.patience.wait(Step::Handshake, is_open).await?;
            opened.map_err(|_| closed())??;
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
    open: Open,
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
            let head = self.open.patience.wait(Step::Receive, answered).await?;
            let (status, mut arrivals) = head.map_err(|_| closed())??;
            let needed = (giving_up, User::of(shared));
            let body = self.open.patience.body(move |cx| {
                let _held = &needed;
                arrivals.poll_next(cx)
            });
            Ok(Response { status, body })
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
            self.open.close().await;
        })
    }

    fn is_open(&self) -> bool {
        self.user.0.over().is_none() && self.open.is_open()
    }

    answers! {
        security -> Option<Security>: open.stream.security;
        transport -> TransportStats: open.stream.stats;
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
