//! The warm-up: earlier sessions for handshakes that resume one.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Error, Request, Response, Service, body};
use trackbed_core::{Event, EventLog, Time};
use trackbed_substrate::{before, now, sleep, sleep_until, spawn_named};

use crate::contract::{Patience, SiteFile, Stage, WARM_UP_PATH};
use crate::phone::Phone;

/// Gives every phone an earlier session, if the handshake needs one, and waits until the network is
/// quiet again and the environment begins to change. False if a phone failed, or it took too long;
/// the failure is recorded.
pub(crate) async fn warm_up(stage: &Stage) -> bool {
    if !stage.handshake.begins_warm() {
        return true;
    }
    let all_warm = warm_up_phones(stage).await;
    let begin = stage.course.begin();
    if now() > begin && !stage.course.timeline().moments().is_empty() {
        let limit = begin.as_secs_f64();
        let reason = format!(
            "the warm-up of resumed sessions took longer than {limit} s, and the environment has \
             begun to change; use handshake = \"new\" on such a bad link"
        );
        stage.log.record(now(), Event::Failed { phone: 0, message: 0, reason });
        return false;
    }
    sleep_until(begin).await;
    all_warm
}

async fn warm_up_phones(stage: &Stage) -> bool {
    // The warm-up is not part of the measured part.
    let silent = EventLog::default();
    let start = now();
    let tasks: Vec<_> = Phone::all(stage, &silent)
        .into_iter()
        .map(|phone| {
            let at = start + SPACING * phone.number;
            let name = format!("phone {} warming up", phone.number);
            spawn_named(name, warm_up_phone(phone, at, stage.patience))
        })
        .collect();
    let mut all_warm = true;
    for (reporter, task) in Phone::all(stage, &stage.log).into_iter().zip(tasks) {
        if let Err(reason) = task.await {
            let reason = format!("the warm-up connection failed {ATTEMPTS_MAX} times: {reason}");
            reporter.give_up(0, reason);
            all_warm = false;
        }
    }
    sleep(stage.patience.quiet).await;
    all_warm
}

async fn warm_up_phone(phone: Rc<Phone>, at: Time, patience: Patience) -> Result<(), String> {
    sleep_until(at).await;
    let mut reason = String::new();
    for _ in 0..ATTEMPTS_MAX {
        match before(now() + ATTEMPT_MAX, session(&phone, patience)).await {
            Some(Ok(())) => return Ok(()),
            Some(Err(why)) => reason = why,
            None => reason = format!("no answer within {} s", ATTEMPT_MAX.as_secs()),
        }
        sleep(PAUSE).await;
    }
    Err(reason)
}

/// One connection with one exchange, closed when the session tickets have had time to arrive.
async fn session(phone: &Rc<Phone>, patience: Patience) -> Result<(), String> {
    let words = |why: Error| why.to_string();
    let line = Rc::clone(phone).open().await.map_err(words)?;
    let response = line.exchange(Request::new(WARM_UP_PATH, body::empty())).await.map_err(words)?;
    if response.status != WARM {
        return Err(format!("the server answered it with status {}", response.status));
    }
    body::drain(response.body).await.map_err(words)?;
    let round_trips = line.smoothed_rtt().unwrap_or_default() * TICKETS_ROUND_TRIPS;
    sleep(round_trips.max(patience.tickets)).await;
    line.close().await;
    Ok(())
}

/// A service that answers warm-up requests and passes the others to another one.
pub(crate) struct WithWarmUp<S>(pub(crate) S);

impl<S: Service> Service for WithWarmUp<S> {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        if request.path != WARM_UP_PATH {
            return self.0.call(request);
        }
        let answer = body::full(Bytes::from_static(ANSWER));
        Box::pin(std::future::ready(Response { status: 200, body: answer }))
    }
}

pub(crate) fn nothing_but_warm_up() -> Rc<dyn Service> {
    let nothing = |_: Request| std::future::ready(Response { status: 404, body: body::empty() });
    Rc::new(WithWarmUp(nothing))
}

pub(crate) fn site_file() -> SiteFile {
    let content = Arc::new(|file: &mut dyn io::Write| file.write_all(ANSWER));
    SiteFile { path: WARM_UP_PATH.to_owned(), bytes: ANSWER.len() as u64, content }
}

const ANSWER: &[u8] = b"{\"status\":\"warm\"}";

/// Between two phones' warm-ups: a handshake of some 6 kB then takes a tenth of 100 Mbit/s.
const SPACING: Duration = Duration::from_millis(5);

const ATTEMPTS_MAX: u32 = 10;
const ATTEMPT_MAX: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_secs(1);

/// Tickets follow the handshake immediately. The rest is for those that are lost and retransmitted.
const TICKETS_ROUND_TRIPS: u32 = 5;

const WARM: u16 = 200;
