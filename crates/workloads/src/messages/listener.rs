//! The listeners: vehicles to which the service forwards every message that it has accepted.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;
use futures_util::future::{Either, join_all, select};
use trackbed_connection::{Error, Request, body};
use trackbed_core::{Event, EventLog, Time};
use trackbed_substrate::{Task, before, now, sleep, spawn_named};

use super::forwarding::Warning;
use super::payload::MESSAGE_BYTES_MAX;
use super::plan::Plan;
use super::service::warning_path;
use crate::contract::Stage;
use crate::phone::{Line, Phone};

pub(super) struct Audience(Vec<Listening>);

struct Listening {
    listener: Rc<Listener>,
    task: Task<Result<(), String>>,
    /// Receives the final number of messages, once it is known.
    end: oneshot::Sender<u64>,
}

impl Audience {
    /// Connects and starts the listeners of `plan`, the clients after those that send. Their
    /// connections are not measured.
    pub(super) async fn gather(plan: &Plan, stage: &Stage) -> Result<Audience, Event> {
        let (silent, deadline) = (EventLog::default(), now() + plan.timeout);
        let phones = Phone::all(stage, &silent).into_iter().skip(plan.phones as usize);
        let connected = join_all((0..).zip(phones).map(async |(place, phone)| {
            sleep(SPACING * place).await;
            let line = connect(&phone, deadline).await;
            (phone, line)
        }));
        let mut audience = Vec::with_capacity(plan.listeners as usize);
        for (phone, line) in connected.await {
            let line = line.map_err(|why| {
                let reason = format!("a listener has no connection: {why}");
                Event::Failed { phone: phone.number, message: 0, reason }
            })?;
            let name = format!("listener {}", phone.number);
            let (heard, log) = (Cell::default(), stage.log.clone());
            let (line, timeout) = (RefCell::new(line), plan.timeout);
            let listener = Rc::new(Listener { phone, line, heard, timeout, log });
            let (end, told) = oneshot::channel();
            let task = spawn_named(name, Rc::clone(&listener).listen(told));
            audience.push(Listening { listener, task, end });
        }
        Ok(Audience(audience))
    }

    /// Waits until each has received the `accepted` messages, and returns the tasks that close
    /// their connections. A listener that misses some in time is recorded.
    pub(super) async fn hear_the_rest(
        self,
        accepted: u64,
        plan: &Plan,
        stage: &Stage,
    ) -> impl Future<Output = ()> + use<> {
        let deadline = now() + plan.timeout;
        let tell = |Listening { listener, task, end }| {
            // A failed listener does not listen; its task returns the reason.
            let _ = end.send(accepted);
            (listener, task)
        };
        let told: Vec<_> = self.0.into_iter().map(tell).collect();
        let mut lines = Vec::with_capacity(told.len());
        for (listener, task) in told {
            let failure = match before(deadline, task).await {
                Some(Ok(())) => None,
                Some(Err(why)) => Some(format!("a listener failed: {why}")),
                None => Some("a listener did not receive all messages in time".to_owned()),
            };
            if let Some(why) = failure {
                let heard = listener.heard.get();
                let reason =
                    format!("{why}; it has received {heard} of {accepted} accepted messages");
                let phone = listener.phone.number;
                stage.log.record(now(), Event::Failed { phone, message: heard as u32, reason });
            }
            lines.push(Rc::clone(&listener.line.borrow()));
        }
        async move {
            join_all(lines.iter().map(|line| line.close())).await;
        }
    }
}

/// The time between the first connections of two listeners, as in a warm-up.
const SPACING: Duration = Duration::from_millis(5);
/// Maximum attempts on different connections, as for phones that send.
const ATTEMPTS_MAX: u32 = 3;

async fn connect(phone: &Rc<Phone>, deadline: Time) -> Result<Rc<Line>, String> {
    phone.open_by(deadline).await.ok_or("it took too long")?.map_err(|why| why.to_string())
}

struct Listener {
    phone: Rc<Phone>,
    /// Replaced after each loss.
    line: RefCell<Rc<Line>>,
    heard: Cell<u64>,
    timeout: Duration,
    log: EventLog,
}

impl Listener {
    async fn listen(self: Rc<Self>, mut told: oneshot::Receiver<u64>) -> Result<(), String> {
        loop {
            let next = pin!(self.hear());
            match select(next, &mut told).await {
                Either::Left((heard, _)) => heard?,
                Either::Right((total, next)) => {
                    // The sender is dropped if the run is given up.
                    let total = total.unwrap_or(0);
                    if self.heard.get() < total {
                        next.await?;
                    }
                    while self.heard.get() < total {
                        self.hear().await?;
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Asks for the next message, on another connection if one is lost, and counts it if it exists.
    async fn hear(&self) -> Result<(), String> {
        let expected = self.heard.get();
        let mut attempt = 1;
        let content = loop {
            match self.ask(expected).await {
                Ok((200, content)) => break content,
                Ok((status, content)) => {
                    let reason = String::from_utf8_lossy(&content).into_owned();
                    return Err(format!("the server answered with status {status}: {reason}"));
                }
                Err(why) if why.is_retryable() && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                    let line = connect(&self.phone, now() + self.timeout).await?;
                    self.line.replace(line).abandon();
                }
                Err(why) => return Err(why.to_string()),
            }
        };
        if content.is_empty() {
            return Ok(());
        }
        let Some(warning) = Warning::decode(&content) else {
            return Err(format!(
                "the server answered with {} B that are not a message",
                content.len()
            ));
        };
        if warning.number != expected {
            let lost = warning.number.saturating_sub(expected);
            return Err(format!("it lagged so far behind that it missed {lost} messages"));
        }
        self.heard.set(expected + 1);
        let Warning { phone, message, .. } = warning;
        let listener = self.phone.number;
        self.log.record(now(), Event::Warned { listener, phone, message });
        Ok(())
    }

    /// The complete response to the request for message number `number`.
    async fn ask(&self, number: u64) -> Result<(u16, Bytes), Error> {
        let line = Rc::clone(&self.line.borrow());
        let response = line.exchange(Request::new(warning_path(number), body::empty())).await?;
        let bytes_max = MESSAGE_BYTES_MAX + Warning::HEADER_LEN;
        Ok((response.status, body::collect(response.body, bytes_max).await?))
    }
}
