//! The phones: each transfers its data over one connection, all of them at once.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream;
use trackbed_core::{Event, Time};
use trackbed_protocols::{Error, Request, body};
use trackbed_substrate::{now, sleep_until, spawn_named};

use super::data::pieces;
use super::service::{Target, take_in};
use super::{Direction, Plan};
use crate::contract::Stage;
use crate::limit::before;
use crate::phone::{Line, Phone};
use crate::warm_up::warm_up;

/// The clients' side of a run.
pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    if !warm_up(&stage).await {
        return;
    }
    stage.log.record(now(), Event::Started);
    let transfers: Vec<_> = Phone::all(&stage, &stage.log)
        .into_iter()
        .map(|phone| {
            let name = format!("phone {}", phone.number);
            spawn_named(name, transfer(Arc::clone(&plan), phone))
        })
        .collect();
    let mut lines = Vec::with_capacity(transfers.len());
    for transfer in transfers {
        lines.extend(transfer.await);
    }
    stage.log.record(now(), Event::Finished);
    let closing: Vec<_> = lines
        .into_iter()
        .map(|line| spawn_named("closing", async move { line.close().await }))
        .collect();
    for task in closing {
        task.await;
    }
}

/// One phone's transfer. Returns its connection, if it got one.
async fn transfer(plan: Arc<Plan>, phone: Rc<Phone>) -> Option<Rc<Line>> {
    let line = match open(&phone, plan.timeout).await {
        Ok(line) => line,
        Err(reason) => {
            phone.give_up(0, reason);
            return None;
        }
    };
    let progress = Rc::new(Progress(Cell::new(now())));
    let moving = async {
        match plan.direction {
            Direction::Download => download(&plan, &phone, &line, &progress).await,
            Direction::Upload => upload(&plan, &phone, &line, &progress).await,
        }
    };
    match select(pin!(moving), pin!(progress.stalled(plan.timeout))).await {
        Either::Left((Ok(()), _)) => {}
        Either::Left((Err(reason), _)) => phone.give_up(0, reason),
        Either::Right(_) => {
            let timeout = trackbed_core::units::format_duration(plan.timeout);
            phone.give_up(0, format!("not a byte has moved for {timeout}"));
        }
    }
    Some(line)
}

async fn open(phone: &Rc<Phone>, timeout: Duration) -> Result<Rc<Line>, String> {
    let deadline = now() + timeout;
    let mut attempt = 1;
    loop {
        match before(deadline, Rc::clone(phone).open()).await {
            Some(Ok(line)) => return Ok(line),
            Some(Err(why)) if why.is_retryable() && attempt < ATTEMPTS_MAX => attempt += 1,
            Some(Err(why)) => return Err(why.to_string()),
            None => {
                let timeout = trackbed_core::units::format_duration(timeout);
                return Err(format!("no connection within {timeout}"));
            }
        }
    }
}

async fn download(
    plan: &Plan,
    phone: &Phone,
    line: &Line,
    progress: &Progress,
) -> Result<(), String> {
    let path = Target::Download(plan.expected.bytes()).path();
    let words = |why: Error| why.to_string();
    let response = line.exchange(Request::new(path, body::empty())).await.map_err(words)?;
    check_status(response.status)?;
    let arrived = take_in(response.body, |_| progress.note()).await.map_err(words)?;
    let bytes = arrived.bytes;
    let intact = plan.expected.matches(arrived);
    phone.record(Event::Transferred { phone: phone.number, bytes, intact });
    Ok(())
}

/// The server records the event when the last byte has arrived there.
async fn upload(
    plan: &Plan,
    phone: &Phone,
    line: &Line,
    progress: &Rc<Progress>,
) -> Result<(), String> {
    let noting = Rc::clone(progress);
    let content = stream::iter(pieces(plan.expected.bytes()).map(move |piece| {
        noting.note();
        Ok(piece)
    }));
    let request = Request::new(Target::Upload(phone.number).path(), Box::pin(content));
    let words = |why: Error| why.to_string();
    let response = line.exchange(request).await.map_err(words)?;
    check_status(response.status)?;
    body::drain(response.body).await.map_err(words)?;
    Ok(())
}

fn check_status(status: u16) -> Result<(), String> {
    if status == 200 { Ok(()) } else { Err(format!("the server answered with status {status}")) }
}

/// When a byte last moved, as far as this end can see.
struct Progress(Cell<Time>);

impl Progress {
    fn note(&self) {
        self.0.set(now());
    }

    /// Resolves when nothing has moved for `timeout`.
    async fn stalled(&self, timeout: Duration) {
        loop {
            let limit = self.0.get() + timeout;
            sleep_until(limit).await;
            if self.0.get() + timeout <= limit {
                return;
            }
        }
    }
}

/// How often opening a connection is tried.
const ATTEMPTS_MAX: u32 = 3;
