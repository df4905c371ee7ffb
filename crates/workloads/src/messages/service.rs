//! The server: it parses every message and says whether it takes it.

use std::sync::Arc;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use trackbed_core::{Event, EventLog};
use trackbed_protocols::{Request, Response, Service, body};
use trackbed_substrate::now;

use super::payload::{MESSAGE_BYTES_MAX, Payload};

/// Answers messages: 200 to one that is well-formed, 400 with the reason to one that is not, and
/// 404 to a request for anything else.
pub(super) struct MessageService {
    payload: Arc<Payload>,
    log: EventLog,
}

impl MessageService {
    pub(super) fn new(payload: Arc<Payload>, log: EventLog) -> MessageService {
        MessageService { payload, log }
    }
}

impl Service for MessageService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let (payload, log) = (Arc::clone(&self.payload), self.log.clone());
        Box::pin(async move {
            let Some((phone, message)) = parse_path(&request.path) else {
                return refuse(404, &format!("there is nothing at {}", request.path));
            };
            let checked = match body::collect(request.body, MESSAGE_BYTES_MAX).await {
                Ok(content) => payload.check(&content),
                Err(why) => Err(why.to_string()),
            };
            match checked {
                Ok(()) => {
                    log.record(now(), Event::Received { phone, message });
                    Response { status: 200, body: body::full(Bytes::from_static(ACCEPTED)) }
                }
                Err(reason) => refuse(400, &reason),
            }
        })
    }
}

/// Where a message goes: the server learns from it whose and which message it is.
pub(super) fn path(phone: u32, message: u32) -> String {
    format!("/messages/{phone}/{message}")
}

fn parse_path(path: &str) -> Option<(u32, u32)> {
    let (phone, message) = path.strip_prefix("/messages/")?.split_once('/')?;
    Some((phone.parse().ok()?, message.parse().ok()?))
}

fn refuse(status: u16, reason: &str) -> Response {
    let answer = serde_json::json!({ "status": "refused", "reason": reason });
    Response { status, body: body::full(answer.to_string()) }
}

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
