//! The server: endless data.

use std::future::ready;

use futures_util::stream;
use trackbed_connection::{Body, Request, Response, Service, body};

use crate::data::pieces;

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
