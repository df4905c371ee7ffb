//! The listeners: vehicles that the service tells of every message that it has accepted.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::future::{Either, join_all, select};
use trackbed_core::{Event, EventLog, Time};
use trackbed_protocols::{Request, body};
use trackbed_substrate::{Task, now, spawn_named};

use super::forwarding::Warning;
use super::payload::MESSAGE_BYTES_MAX;
use super::plan::Plan;
use super::service::warning_path;
use crate::contract::Stage;
use crate::limit::before;
use crate::phone::{Line, Phone};

/// All listeners of a run.
pub(super) struct Audience(Vec<Listening>);

/// A listener at work.
struct Listening {
    listener: Rc<Listener>,
    task: Task<Result<(), String>>,
    /// Is told how many messages there are, once that is known.
    end: oneshot::Sender<u64>,
}

impl Audience {
    /// Lets those connect and listen that `plan` wants, the clients after those that send. Their
    /// connections are not part of what is measured.
    ///
    /// # Errors
    /// What is to be recorded if one of them cannot.
    pub(super) async fn gather(plan: &Plan, stage: &Stage) -> Result<Audience, Event> {
        let (silent, deadline) = (EventLog::default(), now() + plan.timeout);
        let phones = Phone::all(stage, &silent).into_iter().skip(plan.phones as usize);
        let connected = join_all(phones.map(async |phone| {
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
            let heard = Cell::default();
            let listener = Rc::new(Listener { phone, line, heard, log: stage.log.clone() });
            let (end, told) = oneshot::channel();
            let task = spawn_named(name, Rc::clone(&listener).listen(told));
            audience.push(Listening { listener, task, end });
        }
        Ok(Audience(audience))
    }

    /// Waits until each has been told of the `accepted` messages, and sends them home. Who has not been
    /// told in time is recorded.
    pub(super) async fn hear_the_rest(self, accepted: u64, plan: &Plan, stage: &Stage) {
        let deadline = now() + plan.timeout;
        let tell = |Listening { listener, task, end }| {
            // Who has failed does not listen; the task says why.
            let _ = end.send(accepted);
            (listener, task)
        };
        let told: Vec<_> = self.0.into_iter().map(tell).collect();
        for (listener, task) in told {
            let failure = match before(deadline, task).await {
                Some(Ok(())) => None,
                Some(Err(why)) => Some(format!("a listener could not go on: {why}")),
                None => Some("it was not told in time".to_owned()),
            };
            if let Some(why) = failure {
                let heard = listener.heard.get();
                let reason = format!("{why}; of {accepted} accepted messages it has {heard}");
                let phone = listener.phone.number;
                stage.log.record(now(), Event::Failed { phone, message: heard as u32, reason });
            }
            listener.line.close().await;
        }
    }
}

async fn connect(phone: &Rc<Phone>, deadline: Time) -> Result<Rc<Line>, String> {
    match before(deadline, Rc::clone(phone).open()).await {
        Some(opened) => opened.map_err(|why| why.to_string()),
        None => Err("it took too long".to_owned()),
    }
}

/// A vehicle with a connection to the service.
struct Listener {
    phone: Rc<Phone>,
    line: Rc<Line>,
    /// Messages that it has been told of.
    heard: Cell<u64>,
    log: EventLog,
}

impl Listener {
    /// Listens until it has heard as many as it is told that there are.
    async fn listen(self: Rc<Self>, mut told: oneshot::Receiver<u64>) -> Result<(), String> {
        loop {
            let next = pin!(self.hear());
            let total = match select(next, &mut told).await {
                Either::Left((heard, _)) => {
                    heard?;
                    continue;
                }
                Either::Right((total, next)) => {
                    // Nobody says so if the run is given up.
                    let total = total.unwrap_or(0);
                    if self.heard.get() < total {
                        next.await?;
                    }
                    total
                }
            };
            while self.heard.get() < total {
                self.hear().await?;
            }
            return Ok(());
        }
    }

    /// Asks for the next message and takes it.
    async fn hear(&self) -> Result<(), String> {
        let expected = self.heard.get();
        let request = Request::new(warning_path(expected), body::empty());
        let response = self.line.exchange(request).await.map_err(|why| why.to_string())?;
        let bytes_max = MESSAGE_BYTES_MAX + Warning::HEADER_LEN;
        let content = body::collect(response.body, bytes_max).await;
        let content = content.map_err(|why| why.to_string())?;
        let warning = Warning::decode(&content)
            .filter(|_| response.status == 200)
            .ok_or_else(|| format!("it was answered with status {}", response.status))?;
        if warning.number != expected {
            let lost = warning.number.saturating_sub(expected);
            return Err(format!("it was so far behind that it missed {lost} messages"));
        }
        self.heard.set(expected + 1);
        let Warning { phone, message, .. } = warning;
        let listener = self.phone.number;
        self.log.record(now(), Event::Warned { listener, phone, message });
        Ok(())
    }
}
