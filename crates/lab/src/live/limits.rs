//! Limits on what a server does for the clients of a run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use futures_util::StreamExt as _;
use trackbed_connection::{Body, Error, Request, Response, Service, body};
use trackbed_core::{ByteSize, Time};
use trackbed_substrate::now;

/// A server's limits for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum duration of a run.
    pub duration: Duration,
    /// Bytes of all requests and responses of a run.
    pub bytes: ByteSize,
    /// Requests in any second.
    pub requests: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            duration: Duration::from_secs(15 * 60),
            bytes: ByteSize::from_bytes(20_000_000_000),
            requests: 50_000,
        }
    }
}

/// A service with limits: beyond them, requests get an error status, or the body ends early.
pub(super) struct Limited {
    service: Rc<dyn Service>,
    requests: u32,
    left: Rc<Cell<u64>>,
    counted: RefCell<(Time, u32)>,
}

impl Limited {
    pub fn new(service: Rc<dyn Service>, limits: Limits) -> Limited {
        let left = Rc::new(Cell::new(limits.bytes.as_bytes()));
        Limited { service, requests: limits.requests, left, counted: RefCell::default() }
    }

    fn is_too_fast(&self) -> bool {
        let mut counted = self.counted.borrow_mut();
        let (begun, count) = &mut *counted;
        if now() >= *begun + Duration::from_secs(1) {
            (*begun, *count) = (now(), 0);
        }
        *count += 1;
        *count > self.requests
    }
}

impl Service for Limited {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let refusal = match () {
            () if self.is_too_fast() => Some(TOO_MANY_REQUESTS),
            () if self.left.get() == 0 => Some(INSUFFICIENT_STORAGE),
            () => None,
        };
        if let Some(status) = refusal {
            return Box::pin(async move { Response { status, body: body::empty() } });
        }
        let left = Rc::clone(&self.left);
        let body = metered(request.body, Rc::clone(&left));
        let answer = self.service.call(Request { body, ..request });
        Box::pin(async move {
            let Response { status, body } = answer.await;
            Response { status, body: metered(body, left) }
        })
    }
}

/// The body, until the limit is reached.
fn metered(body: Body, left: Rc<Cell<u64>>) -> Body {
    Box::pin(body.map(move |piece: Result<Bytes, Error>| {
        let piece = piece?;
        let rest = left.get().checked_sub(piece.len() as u64);
        left.set(rest.unwrap_or(0));
        let reason = "the run has reached the server's byte limit (trackbed serve --bytes)";
        rest.map(|_| piece).ok_or_else(|| Error::Body { reason: reason.to_owned() })
    }))
}

/// RFC 6585 section 4.
const TOO_MANY_REQUESTS: u16 = 429;
/// RFC 4918 section 11.5.
const INSUFFICIENT_STORAGE: u16 = 507;
