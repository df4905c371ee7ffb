//! The phones: each downloads until its time is over. The server has endless data.

use std::future::ready;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use trackbed_connection::{Body, Error, Request, Response, Service, body};
use trackbed_core::units::format_duration;
use trackbed_core::{Event, Time};
use trackbed_substrate::{now, sleep_until};

use super::Plan;
use crate::contract::Stage;
use crate::data::{Arrived, pieces};
use crate::phone::{Phone, check_status};
use crate::tasks;

pub(super) async fn drive(plan: Plan, stage: Stage) {
    tasks::measured(&stage, |phone| flow(plan, phone, now() + plan.duration)).await;
}

async fn flow(plan: Plan, phone: Rc<Phone>, end: Time) {
    if let Err(reason) = download(plan, &phone, end).await {
        phone.give_up(0, reason);
    }
}

async fn download(plan: Plan, phone: &Rc<Phone>, end: Time) -> Result<(), String> {
    let mut arrivals = Arrivals::new(plan.interval);
    let begun = within(plan, end, async {
        let line = Rc::clone(phone).open().await?;
        let response = line.exchange(Request::new(PATH, body::empty())).await?;
        Ok((line, response))
    });
    let begun = begun.await?.ok_or("the time was over before anything arrived")?;
    let (line, mut response) = begun;
    check_status(response.status).map_err(|failure| failure.reason)?;
    let mut arrived = Arrived::default();
    while let Some(piece) = within(plan, end, next_piece(&mut response.body)).await? {
        arrivals.count(phone, piece.len() as u64);
        arrived.take(&piece);
        if !arrived.is_intact() {
            return Err("the received data differs from the data sent".to_owned());
        }
    }
    arrivals.end(phone, end);
    drop(response);
    line.abandon();
    Ok(())
}

async fn next_piece(body: &mut Body) -> Result<Bytes, Error> {
    match body.next().await {
        Some(piece) => piece,
        None => Err(Error::Body { reason: "the data ended".to_owned() }),
    }
}

/// The result of `step`; `None` if the time is over first.
async fn within<T>(
    plan: Plan,
    end: Time,
    step: impl Future<Output = Result<T, Error>>,
) -> Result<Option<T>, String> {
    let mut step = pin!(step);
    // Available data needs no timer.
    if let Some(outcome) = step.as_mut().now_or_never() {
        return outcome.map(|value| Some(value).filter(|_| now() < end)).map_err(|e| e.to_string());
    }
    let patience = now() + plan.timeout;
    match select(step, pin!(sleep_until(end.min(patience)))).await {
        Either::Left((outcome, _)) => outcome.map(Some).map_err(|error| error.to_string()),
        Either::Right(_) if now() >= end => Ok(None),
        Either::Right(_) => {
            Err(format!("no byte arrived for {} (workload.timeout)", format_duration(plan.timeout)))
        }
    }
}

struct Arrivals {
    interval: Duration,
    next: Time,
    bytes: u64,
    last: Time,
    silence: Duration,
    total: u64,
}

impl Arrivals {
    fn new(interval: Duration) -> Arrivals {
        let (next, last) = (now() + interval, now());
        Arrivals { interval, next, bytes: 0, last, silence: Duration::ZERO, total: 0 }
    }

    fn count(&mut self, phone: &Phone, bytes: u64) {
        if now() >= self.next {
            self.tell(phone);
            let over = (now() - self.next).as_nanos() / self.interval.as_nanos();
            let over = u32::try_from(over).unwrap_or(u32::MAX).saturating_add(1);
            self.next += self.interval.saturating_mul(over);
        }
        if self.total > 0 {
            self.silence = self.silence.max(now() - self.last);
        }
        self.last = now();
        self.bytes += bytes;
        self.total += bytes;
    }

    fn tell(&mut self, phone: &Phone) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            phone.record(Event::Flowing { phone: phone.number, last: self.last, bytes });
        }
    }

    fn end(mut self, phone: &Phone, end: Time) {
        self.tell(phone);
        let silence = self.silence.max(end.max(self.last) - self.last);
        phone.record(Event::Flowed { phone: phone.number, bytes: self.total, silence });
    }
}

/// Answers [`PATH`] with data until the client stops, and any other path with 404.
pub(super) fn service() -> impl Service {
    |request: Request| {
        let (status, body) = match request.path.as_str() {
            PATH => (200, Box::pin(stream::iter(pieces(0, u64::MAX).map(Ok))) as Body),
            other => (404, body::full(format!("there is nothing at {other}"))),
        };
        ready(Response { status, body })
    }
}

pub(super) const PATH: &str = "/flow";
