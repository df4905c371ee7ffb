//! A client of the run and its connections, with the events that they cause.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use futures_util::FutureExt as _;
use trackbed_connection::{Connection, Dialer, Error, Request, Response};
use trackbed_core::event::Disturbance;
use trackbed_core::{Event, EventLog, Time};
use trackbed_substrate::{Host, before, now};

use crate::contract::Stage;
use crate::environment::Reconnect;

pub(crate) struct Phone {
    /// Its number, from 0.
    pub(crate) number: u32,
    log: EventLog,
    dialer: Rc<dyn Dialer>,
    host: Option<Arc<dyn Host>>,
    server: SocketAddr,
    reconnect: Reconnect,
    begun: Cell<u32>,
}

impl Phone {
    /// The phones of a run. Their events are recorded in `log`.
    pub(crate) fn all(stage: &Stage, log: &EventLog) -> Vec<Rc<Phone>> {
        let phone = |(place, dialer): (usize, &Rc<dyn Dialer>)| {
            Rc::new(Phone {
                number: stage.first + place as u32,
                log: log.clone(),
                dialer: Rc::clone(dialer),
                host: stage.hosts.get(place).map(Arc::clone),
                server: stage.server,
                reconnect: stage.course.reconnect(),
                begun: Cell::new(0),
            })
        };
        stage.phones.iter().enumerate().map(phone).collect()
    }

    pub(crate) fn record(&self, event: Event) {
        self.log.record(now(), event);
    }

    /// Records that message `message`, or the connection that it needed, is given up.
    pub(crate) fn give_up(&self, message: u32, reason: impl Into<String>) {
        self.record(Event::Failed { phone: self.number, message, reason: reason.into() });
    }

    /// Moves to the next network. With `notice`, [the dialer is told](Dialer::host_has_moved).
    pub(crate) fn move_on(&self, notice: bool) -> Result<(), String> {
        let host = self.host.as_ref().ok_or("the phone has no host that can move")?;
        host.move_on().map_err(|why| format!("the phone cannot move: {why}"))?;
        if notice {
            self.dialer.host_has_moved().map_err(|why| why.to_string())?;
        }
        Ok(())
    }

    /// The effect of a disturbance on this phone: a reconnection is a move if it is a change of
    /// access point that a connection can survive.
    pub(crate) fn disturbance(&self, disturbance: Disturbance) -> Disturbance {
        match self.reconnect {
            Reconnect::Migration => Disturbance::Move,
            Reconnect::SameAddress | Reconnect::NewAddress => disturbance,
        }
    }

    /// Moves before a reconnection, if that is its kind. The old connection does not follow.
    pub(crate) fn change_access_point(&self) -> Result<(), String> {
        match self.reconnect {
            Reconnect::NewAddress => self.move_on(false),
            Reconnect::SameAddress | Reconnect::Migration => Ok(()),
        }
    }

    pub(crate) fn next_connection(&self) -> u32 {
        self.begun.get()
    }

    /// Opens a connection. It has its number at once, and begins with the first poll.
    pub(crate) fn open(self: Rc<Self>) -> LocalBoxFuture<'static, Result<Rc<Line>, Error>> {
        let number = self.begun.replace(self.begun.get() + 1);
        Box::pin(async move {
            self.record(Event::ConnectStarted { phone: self.number, connection: number });
            let connection = self.dialer.connect(self.server).await?;
            self.record(Event::Connected { phone: self.number, connection: number });
            let line = Line { phone: self, number, connection, secured: Cell::new(false) };
            line.note_security();
            Ok(Rc::new(line))
        })
    }

    /// Opens a connection, in several attempts if need be; `None` if there is none by `deadline`.
    pub(crate) async fn open_by(
        self: &Rc<Self>,
        deadline: Time,
    ) -> Option<Result<Rc<Line>, Error>> {
        let mut attempt = 1;
        loop {
            match before(deadline, Rc::clone(self).open()).await {
                Some(Err(why)) if why.is_retryable() && attempt < ATTEMPTS_MAX => attempt += 1,
                opened => return opened,
            }
        }
    }
}

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// As a message.
    pub(crate) reason: String,
    /// Whether a new connection may help.
    pub(crate) is_retryable: bool,
}

impl Failure {
    /// One that another connection would not help against.
    pub(crate) fn lasting(reason: String) -> Failure {
        Failure { reason, is_retryable: false }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { reason: error.to_string(), is_retryable: error.is_retryable() }
    }
}

pub(crate) fn check_status(status: u16) -> Result<(), Failure> {
    match status {
        200 => Ok(()),
        _ => Err(Failure::lasting(format!("the server answered with status {status}"))),
    }
}

pub(crate) struct Line {
    phone: Rc<Phone>,
    /// Its number among the connections of its phone.
    pub(crate) number: u32,
    connection: Rc<dyn Connection>,
    secured: Cell<bool>,
}

impl Line {
    pub(crate) async fn exchange(&self, request: Request) -> Result<Response, Error> {
        let response = self.connection.exchange(request).await?;
        self.note_security();
        Ok(response)
    }

    /// Whether another exchange may begin on it, as far as the phone knows.
    pub(crate) fn is_open(&self) -> bool {
        self.connection.is_open()
    }

    /// The smoothed round-trip time, once the transport has measured one.
    pub(crate) fn smoothed_rtt(&self) -> Option<Duration> {
        self.connection.transport().smoothed_rtt
    }

    /// What changes as the peer acknowledges data, and not when packets are repeated in vain.
    pub(crate) fn progress(&self) -> (u64, Option<Duration>, u64) {
        let stats = self.connection.transport();
        (stats.bytes_received, stats.smoothed_rtt, stats.congestion_window)
    }

    /// Whether the connection survives the move of which the dialer was notified.
    pub(crate) fn follows_its_phone(&self) -> bool {
        self.connection.follows_its_host()
    }

    /// Drops the connection, whatever is in flight. The server gets at most a reset or the like.
    pub(crate) fn abandon(&self) {
        let _told = self.connection.close().now_or_never();
    }

    /// A peer that is not notified in time has its own timeouts.
    pub(crate) async fn close(&self) {
        let _ = before(now() + CLOSING_MAX, self.connection.close()).await;
    }

    /// Records the result of the handshake as soon as it is known.
    fn note_security(&self) {
        if self.secured.get() {
            return;
        }
        if let Some(security) = self.connection.security() {
            self.secured.set(true);
            self.phone.record(Event::Secured {
                phone: self.phone.number,
                connection: self.number,
                suite: format!("TLS {} {}", security.version.name(), security.cipher.name()),
                resumed: security.resumed,
                early: security.early_data,
            });
        }
    }
}

/// Maximum attempts to open a connection.
const ATTEMPTS_MAX: u32 = 3;

/// An orderly close takes one packet, or a few if packets are lost.
const CLOSING_MAX: Duration = Duration::from_secs(10);
