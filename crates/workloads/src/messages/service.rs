//! The server: it parses every message and accepts or refuses it.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Request, Response, Service, body};
use trackbed_core::{Event, EventLog};
use trackbed_substrate::{before, now};

use super::forwarding::Forwarding;
use super::payload::{MESSAGE_BYTES_MAX, Payload};
use super::plan::Plan;
use super::roadside::Roadside;
use crate::data::{nothing_at, refuse};

/// Answers messages: 200 if well-formed and, if signed, valid; 400 with the reason otherwise; 404
/// to any other request.
pub(super) struct MessageService {
    payload: Arc<Payload>,
    roadside: Option<Rc<Roadside>>,
    forwarding: Option<Rc<Forwarding>>,
    log: EventLog,
}

impl MessageService {
    pub(super) fn new(plan: &Plan, log: EventLog) -> MessageService {
        let payload = Arc::clone(&plan.payload);
        let roadside = match &*payload {
            Payload::Signed(signed) => {
                Some(Rc::new(Roadside::new(signed, &plan.equipment, log.clone())))
            }
            _ => None,
        };
        let forwarding = (plan.listeners > 0).then(Rc::default);
        MessageService { payload, roadside, forwarding, log }
    }
}

impl Service for MessageService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let (payload, log) = (Arc::clone(&self.payload), self.log.clone());
        let (roadside, forwarding) = (self.roadside.clone(), self.forwarding.clone());
        Box::pin(async move {
            let number = request.path.strip_prefix("/warnings/").and_then(|it| it.parse().ok());
            if let (Some(number), Some(forwarding)) = (number, &forwarding) {
                let warning = before(now() + SILENCE_MAX, forwarding.wait_for(number)).await;
                return Response { status: 200, body: body::full(warning.unwrap_or_default()) };
            }
            let Some((phone, message)) = parse_path(&request.path) else {
                return nothing_at(&request.path);
            };
            let content = match body::collect(request.body, MESSAGE_BYTES_MAX).await {
                Ok(content) => content,
                Err(why) => return refuse(400, why),
            };
            let checked = match roadside {
                Some(roadside) => roadside.examine(&content).await,
                None => payload.check(&content),
            };
            match checked {
                Ok(()) => {
                    log.record(now(), Event::Received { phone, message });
                    if let Some(forwarding) = forwarding {
                        forwarding.accept(phone, message, content);
                    }
                    Response { status: 200, body: body::full(Bytes::from_static(ACCEPTED)) }
                }
                Err(reason) => refuse(400, reason),
            }
        })
    }
}

/// The path of a message, from which the server knows its phone and number.
pub(super) fn path(phone: u32, message: u32) -> String {
    format!("/messages/{phone}/{message}")
}

fn parse_path(path: &str) -> Option<(u32, u32)> {
    let (phone, message) = path.strip_prefix("/messages/")?.split_once('/')?;
    Some((phone.parse().ok()?, message.parse().ok()?))
}

/// The path of a listener's request for accepted message number `number`.
pub(super) fn warning_path(number: u64) -> String {
    format!("/warnings/{number}")
}

/// A listener is answered after this time at the latest: idle connections end, by default after 30 s.
const SILENCE_MAX: Duration = Duration::from_secs(5);

const ACCEPTED: &[u8] = b"{\"status\":\"accepted\"}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_back_to_phone_and_message() {
        assert_eq!(parse_path(&path(9_999, 0)), Some((9_999, 0)));
        assert_eq!(parse_path(&path(0, u32::MAX)), Some((0, u32::MAX)));
        for other in
            ["/", "/messages", "/messages/1", "/messages/1/2/3", "/messages/-1/2", "/x/1/2"]
        {
            assert_eq!(parse_path(other), None, "{other}");
        }
    }
}
