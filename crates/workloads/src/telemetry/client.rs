//! The phones: each sends by its schedule and records the outcome of every message.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Request, body};
use trackbed_core::event::Loss;
use trackbed_core::{Event, Seed, Time};
use trackbed_substrate::{Task, before, now, sleep_until, spawn};

use super::plan::Plan;
use super::service::path;
use super::session::Session;
use crate::contract::Stage;
use crate::phone::{Line, Phone};
use crate::tasks;
use crate::warm_up::warm_up;

pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    if !warm_up(&stage).await {
        return;
    }
    let started = now();
    stage.log.record(started, Event::Started);
    stage.log.record(started, Event::DeadlineSet { after: plan.deadline });
    let (from, until) = (started + plan.warm_up, started + plan.duration);
    stage.log.record(started, Event::WindowSet { from, until });
    let closing = tasks::for_each(Phone::all(&stage, &stage.log), |phone| {
        let client = Client {
            plan: Arc::clone(&plan),
            session: Session::begin(Rc::clone(&phone), plan.patience, &stage.capabilities),
            phone,
            seed: stage.seed,
            measured_from: from,
            in_flight: Cell::default(),
        };
        Rc::new(client).run(started)
    })
    .await;
    stage.log.record(now(), Event::Finished);
    tasks::join(closing).await;
}

struct Client {
    plan: Arc<Plan>,
    phone: Rc<Phone>,
    session: Rc<Session>,
    seed: Seed,
    /// Messages scheduled earlier are sent but not recorded.
    measured_from: Time,
    in_flight: Cell<usize>,
}

impl Client {
    /// Sends all messages from `start` on. Once each has its outcome, returns the task that closes.
    async fn run(self: Rc<Self>, start: Time) -> Task<()> {
        let (mut sent, mut deliveries) = (0, Vec::new());
        let mut had_a_turn = false;
        // How far a closed loop is behind the schedule because it waits for answers.
        let mut behind = Duration::ZERO;
        for (number, offset) in (0..).zip(self.plan.schedule(&self.seed, self.phone.number)) {
            if self.plan.is_closed {
                behind += now().since(start + offset + behind);
            }
            let intended = start + offset + behind;
            if intended >= start + self.plan.duration {
                break;
            }
            had_a_turn = true;
            sleep_until(intended).await;
            if self.session.is_hopeless() {
                break;
            }
            let message = Message { number, intended, measured: intended >= self.measured_from };
            sent += u64::from(message.measured);
            if self.in_flight.get() >= self.plan.in_flight {
                self.lose(&message, Loss::Overflow);
                continue;
            }
            // Finished ones need not be remembered.
            if deliveries.len() >= DELIVERIES_MIN.max(2 * self.in_flight.get()) {
                deliveries.retain(|delivery: &Task<()>| !delivery.is_finished());
            }
            self.in_flight.set(self.in_flight.get() + 1);
            let delivery = Rc::clone(&self).deliver(message);
            if self.plan.is_closed { delivery.await } else { deliveries.push(spawn(delivery)) }
        }
        tasks::join(deliveries).await;
        let phone = self.phone.number;
        self.phone.record(Event::Scheduled { phone, messages: sent });
        // A phone without a message in its time may end while it still connects.
        if let Some(reason) = self.session.never_opened().filter(|_| had_a_turn) {
            self.phone.give_up(0, reason);
        }
        spawn(async move { self.session.close().await })
    }

    /// Sends a message and waits for its answer, up to the patience.
    async fn deliver(self: Rc<Self>, message: Message) {
        let used = Cell::new(None);
        let limit = message.intended + self.plan.patience;
        let outcome = before(limit, self.exchange(&message, &used)).await;
        let used = used.take();
        match (outcome, &used) {
            (Some(Ok(status)), _) => {
                let (phone, number) = (self.phone.number, message.number);
                self.record(&message, Event::Answered { phone, message: number, status });
            }
            (Some(Err(loss)), _) => self.lose(&message, loss),
            (None, None) => self.lose(&message, Loss::Unconnected),
            (None, Some((line, sent))) => {
                self.session.is_silent(line, *sent);
                self.lose(&message, Loss::Unanswered);
            }
        }
        if let Some((line, _)) = used {
            self.session.give_back(line);
        }
        self.in_flight.set(self.in_flight.get() - 1);
    }

    /// The status of the complete answer. `used` gets the connection, and when the message was sent.
    async fn exchange(
        &self,
        message: &Message,
        used: &Cell<Option<(Rc<Line>, Time)>>,
    ) -> Result<u16, Loss> {
        let line = self.session.line().await.map_err(|_hopeless| Loss::Unconnected)?;
        used.set(Some((Rc::clone(&line), now())));
        let content = self.plan.content.clone();
        let (phone, number, intended) = (self.phone.number, message.number, message.intended);
        let bytes = content.len() as u64;
        self.record(message, Event::Sent { phone, message: number, intended, bytes });
        let answer = async {
            let response = line.exchange(Request::new(path(phone), body::full(content))).await?;
            body::drain(response.body).await?;
            Ok::<u16, trackbed_connection::Error>(response.status)
        };
        match answer.await {
            Ok(status) => {
                self.session.has_answered(&line);
                Ok(status)
            }
            Err(_broken) => {
                self.session.has_failed(&line);
                Err(Loss::Broken)
            }
        }
    }

    fn lose(&self, message: &Message, loss: Loss) {
        let (phone, number, intended) = (self.phone.number, message.number, message.intended);
        self.record(message, Event::Lost { phone, message: number, intended, loss });
    }

    fn record(&self, message: &Message, event: Event) {
        if message.measured {
            self.phone.record(event);
        }
    }
}

#[derive(Clone, Copy)]
struct Message {
    number: u32,
    intended: Time,
    measured: bool,
}

/// Up to this number, finished deliveries are not cleaned up.
const DELIVERIES_MIN: usize = 64;
