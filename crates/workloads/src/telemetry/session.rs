//! The connection of a phone, reopened whenever it is lost.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use futures_util::future::{FutureExt as _, Shared};
use trackbed_connection::{Capabilities, Transport};
use trackbed_core::Time;
use trackbed_core::units::format_duration;
use trackbed_substrate::{Task, before, now, sleep, spawn};

use crate::phone::{Line, Phone};
use crate::tasks;

/// Keeps one connection open.
///
/// One that has ended, or on which a message failed, is replaced immediately. If the next one has not answered a single
/// message either, or cannot be opened, the pauses before further attempts double, from
/// [`PAUSE_MIN`] to [`PAUSE_MAX`]. Messages in flight on a replaced connection finish on it.
pub(super) struct Session {
    phone: Rc<Phone>,
    patience: Duration,
    /// Without packets that open a connection, another one is no better.
    is_connectionless: bool,
    current: RefCell<Option<Current>>,
    /// Attempts and connections since the last answer.
    in_vain: Cell<u32>,
    was_open: Cell<bool>,
    reason: RefCell<String>,
    closing: RefCell<Vec<Task<()>>>,
}

/// The connection for new messages, or the attempts to open it.
struct Current {
    opening: Opening,
    last_answer: Time,
    _driver: Task<()>,
}

/// A connection that can never be opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hopeless;

impl Session {
    /// A session of `phone`, which starts to connect.
    pub(super) fn begin(phone: Rc<Phone>, patience: Duration, of: &Capabilities) -> Rc<Session> {
        let session = Rc::new(Session {
            phone,
            patience,
            is_connectionless: of.transport == Transport::Coap && of.tls.is_empty(),
            current: RefCell::default(),
            in_vain: Cell::default(),
            was_open: Cell::default(),
            reason: RefCell::default(),
            closing: RefCell::default(),
        });
        session.renew(Duration::ZERO);
        session
    }

    /// The open connection; waits until there is one. One that has ended since the last message is
    /// replaced.
    pub(super) async fn line(self: &Rc<Self>) -> Result<Rc<Line>, Hopeless> {
        loop {
            let opening = self.current.borrow().as_ref().map(|current| current.opening.clone());
            let line = opening.ok_or(Hopeless)?.await?;
            if line.is_open() {
                return Ok(line);
            }
            self.has_failed(&line);
            self.give_back(line);
        }
    }

    /// Notes that `line` has received an answer.
    pub(super) fn has_answered(&self, line: &Rc<Line>) {
        self.in_vain.set(0);
        if let Some(current) = self.current.borrow_mut().as_mut().filter(|c| c.is(line)) {
            current.last_answer = now();
        }
    }

    /// Notes that a message failed on `line`, which is replaced.
    pub(super) fn has_failed(self: &Rc<Self>, line: &Rc<Line>) {
        let is_current = self.current.borrow().as_ref().is_some_and(|current| current.is(line));
        if is_current {
            let pause = self.pause();
            self.in_vain.set(self.in_vain.get().saturating_add(1));
            self.renew(pause);
        }
    }

    /// Notes that a message sent on `line` at `sent` has timed out. If nothing else was answered
    /// since then, the connection counts as lost.
    pub(super) fn is_silent(self: &Rc<Self>, line: &Rc<Line>, sent: Time) {
        let answered = self.current.borrow().as_ref().is_some_and(|c| c.last_answer > sent);
        if !answered && !self.is_connectionless {
            self.has_failed(line);
        }
    }

    /// Returns the connection of a message; a replaced one is closed with its last message.
    pub(super) fn give_back(&self, line: Rc<Line>) {
        let is_current = self.current.borrow().as_ref().is_some_and(|current| current.is(&line));
        if !is_current && Rc::strong_count(&line) == 1 {
            let mut closing = self.closing.borrow_mut();
            closing.retain(|task| !task.is_finished());
            closing.push(spawn(async move { line.close().await }));
        }
    }

    /// Why there never was a connection; `None` if there was one.
    pub(super) fn never_opened(&self) -> Option<String> {
        (!self.was_open.get()).then(|| match &*self.reason.borrow() {
            reason if reason.is_empty() => "no connection until the end".to_owned(),
            reason => reason.clone(),
        })
    }

    pub(super) fn is_hopeless(&self) -> bool {
        let current = self.current.borrow();
        current.as_ref().is_some_and(|c| matches!(c.opening.peek(), Some(Err(Hopeless))))
    }

    /// Closes the connection, or stops trying to open one; resolves when everything is closed.
    pub(super) async fn close(&self) {
        let current = self.current.take();
        if let Some(Ok(line)) = current.and_then(|current| current.opening.peek().cloned()) {
            line.close().await;
        }
        tasks::join(self.closing.take()).await;
    }

    /// Starts to open another connection after `pause`.
    fn renew(self: &Rc<Self>, pause: Duration) {
        let opening = Rc::clone(self).open(pause).boxed_local().shared();
        // Also if no message waits for it.
        let driver = spawn(opening.clone().map(drop));
        let current = Current { opening, last_answer: Time::ZERO, _driver: driver };
        self.current.replace(Some(current));
    }

    async fn open(self: Rc<Self>, mut pause: Duration) -> Result<Rc<Line>, Hopeless> {
        loop {
            if !pause.is_zero() {
                sleep(pause).await;
            }
            let reason = match before(now() + self.patience, Rc::clone(&self.phone).open()).await {
                Some(Ok(line)) => {
                    self.was_open.set(true);
                    return Ok(line);
                }
                Some(Err(why)) if !why.is_retryable() && !self.was_open.get() => {
                    self.reason.replace(why.to_string());
                    return Err(Hopeless);
                }
                Some(Err(why)) => why.to_string(),
                None => format!(
                    "no connection within {} (workload.patience)",
                    format_duration(self.patience)
                ),
            };
            self.reason.replace(reason);
            self.in_vain.set(self.in_vain.get().saturating_add(1));
            pause = self.pause();
        }
    }

    /// The pause before the next attempt.
    fn pause(&self) -> Duration {
        match self.in_vain.get() {
            0 => Duration::ZERO,
            count => PAUSE_MIN.saturating_mul(1 << (count - 1).min(16)).min(PAUSE_MAX),
        }
    }
}

impl Current {
    fn is(&self, line: &Rc<Line>) -> bool {
        self.opening.peek().is_some_and(|opened| matches!(opened, Ok(own) if Rc::ptr_eq(own, line)))
    }
}

type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Line>, Hopeless>>>;

const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);
