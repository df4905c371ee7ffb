//! The phones: each sends its messages, in a closed or an open loop.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Error, Request, body};
use trackbed_core::{Event, Seed, Time};
use trackbed_substrate::{Task, before, is_simulating, now, sleep, sleep_until, spawn};

use super::listener::Audience;
use super::plan::Plan;
use super::service::path;
use crate::contract::Stage;
use crate::lines::Lines;
use crate::phone::{Line, Phone};
use crate::tasks;
use crate::warm_up::warm_up;

pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    if !warm_up(&stage).await {
        return;
    }
    if let Err(reason) = plan.payload.prepare(plan.phones) {
        return stage.log.record(now(), Event::Failed { phone: 0, message: 0, reason });
    }
    let audience = match Audience::gather(&plan, &stage).await {
        Ok(audience) => audience,
        Err(event) => return stage.log.record(now(), event),
    };
    let started = now();
    stage.log.record(started, Event::Started);
    stage.log.record(started, Event::DeadlineSet { after: plan.deadline });
    let accepted = Rc::new(Cell::new(0));
    let mut stagger = stage.seed.stream("workload/messages/stagger");
    let draw = |_| started + stagger.span(Duration::ZERO, plan.stagger);
    let starts: Vec<Time> = (0..plan.phones).map(draw).collect();
    let is_sender = |phone: &Rc<Phone>| phone.number < plan.phones;
    let senders = Phone::all(&stage, &stage.log).into_iter().filter(is_sender);
    let closing = tasks::for_each(senders, |phone| {
        let start = starts[phone.number as usize];
        let lines = Lines::new(Rc::clone(&phone), plan.policy, stage.handshake);
        let (plan, accepted) = (Arc::clone(&plan), Rc::clone(&accepted));
        Rc::new(Sender { plan, phone, lines, seed: stage.seed, accepted }).run(start)
    })
    .await;
    let listeners_close = audience.hear_the_rest(accepted.get(), &plan, &stage).await;
    stage.log.record(now(), Event::Finished);
    listeners_close.await;
    tasks::join(closing).await;
}

struct Sender {
    plan: Arc<Plan>,
    phone: Rc<Phone>,
    lines: Lines,
    seed: Seed,
    /// Messages of all phones that the service has accepted.
    accepted: Rc<Cell<u64>>,
}

impl Sender {
    /// Sends all messages from `start` on. Once all have ended, returns the task that closes.
    async fn run(self: Rc<Self>, start: Time) -> Task<()> {
        sleep_until(start).await;
        match self.plan.period {
            None => self.closed_loop().await,
            Some(period) => Rc::clone(&self).open_loop(start, period).await,
        }
        spawn(async move { self.lines.close().await })
    }

    /// Each message is sent when the one before has ended; none without a connection.
    async fn closed_loop(&self) {
        for message in 0..self.plan.count {
            if !self.deliver(message, None).await {
                return;
            }
        }
    }

    /// Each message is sent at its scheduled time, whatever happened to the earlier ones.
    async fn open_loop(self: Rc<Self>, start: Time, period: Duration) {
        let mut deliveries = Vec::new();
        for message in 0..self.plan.count {
            let intended = start + period.saturating_mul(message);
            sleep_until(intended).await;
            let sender = Rc::clone(&self);
            deliveries.push(spawn(async move { sender.deliver(message, Some(intended)).await }));
        }
        tasks::join(deliveries).await;
    }

    /// Sends a message until it is answered or given up. Returns whether it had a connection.
    async fn deliver(&self, message: u32, intended: Option<Time>) -> bool {
        let deadline = intended.unwrap_or_else(now) + self.plan.timeout;
        let mut delivery = Delivery { sender: self, message, intended };
        let Err(failure) = delivery.run(deadline).await else { return true };
        self.phone.give_up(message, failure.reason);
        !failure.unreachable
    }
}

struct Delivery<'a> {
    sender: &'a Sender,
    message: u32,
    /// Its scheduled time. In a closed loop that is the first possible time.
    intended: Option<Time>,
}

struct Failure {
    reason: String,
    unreachable: bool,
}

impl Delivery<'_> {
    /// Sends the message and waits for the answer. If a connection fails, possibly not because of
    /// the message, it is sent again on a new one.
    async fn run(&mut self, deadline: Time) -> Result<(), Failure> {
        let lines = &self.sender.lines;
        let mut attempt = 1;
        loop {
            let line = match before(deadline, lines.take()).await {
                Some(Ok(line)) => line,
                Some(Err(why)) if why.is_retryable() && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                    continue;
                }
                Some(Err(why)) => {
                    return Err(Failure { reason: why.to_string(), unreachable: true });
                }
                None => return Err(self.too_late("no connection", true)),
            };
            match before(deadline, self.exchange(&line)).await {
                Some(Ok(status)) => {
                    let (phone, message) = (self.sender.phone.number, self.message);
                    self.sender.phone.record(Event::Answered { phone, message, status });
                    let accepted = &self.sender.accepted;
                    accepted.set(accepted.get() + u64::from((200..300).contains(&status)));
                    lines.give_back(line);
                    return Ok(());
                }
                Some(Err(why)) => {
                    lines.put_away(line);
                    if !why.is_retryable() || attempt == ATTEMPTS_MAX {
                        return Err(Failure { reason: why.to_string(), unreachable: false });
                    }
                    attempt += 1;
                }
                None => {
                    lines.put_away(line);
                    return Err(self.too_late("no answer", false));
                }
            }
        }
    }

    async fn exchange(&mut self, line: &Line) -> Result<u16, Error> {
        let Sender { plan, phone, seed, .. } = self.sender;
        let intended = *self.intended.get_or_insert_with(now);
        let content = plan.payload.message(seed, phone.number, self.message, intended)?;
        // In real time the signing itself has just taken its time.
        if is_simulating() && !plan.signing.is_zero() {
            sleep(plan.signing).await;
        }
        phone.record(Event::Sent {
            phone: phone.number,
            message: self.message,
            intended,
            bytes: content.len() as u64,
        });
        let path = path(phone.number, self.message);
        let response = line.exchange(Request::new(path, body::full(content))).await?;
        body::collect(response.body, answer_bytes_max(plan)).await?;
        Ok(response.status)
    }

    fn too_late(&self, what: &str, unreachable: bool) -> Failure {
        let timeout = trackbed_core::units::format_duration(self.sender.plan.timeout);
        Failure { reason: format!("{what} within {timeout} (workload.timeout)"), unreachable }
    }
}

/// How often a message is sent, on different connections, before it is given up.
const ATTEMPTS_MAX: u32 = 3;

/// The built-in server's answers are far shorter; third-party servers echo the message.
fn answer_bytes_max(plan: &Plan) -> usize {
    usize::try_from(plan.payload.longest()).unwrap_or(usize::MAX).max(ANSWER_BYTES)
}

const ANSWER_BYTES: usize = 1 << 16;
