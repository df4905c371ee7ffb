//! The server: it responds with pieces from its storage. The transmitter is the protocol below.

use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Request, Response, Service, body};

use super::storage::Storage;

/// Answers `/media/{resolution}/{piece}` with the piece, anything else with 404.
pub(super) struct MediaServer(pub Arc<Storage>);

impl Service for MediaServer {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let response = match self.0.open(&request.path) {
            Some(Ok(piece)) => Response { status: 200, body: piece },
            Some(Err(why)) => refuse(500, format!("{} cannot be read: {why}", request.path)),
            None => refuse(404, format!("there is nothing at {}", request.path)),
        };
        Box::pin(std::future::ready(response))
    }
}

fn refuse(status: u16, reason: String) -> Response {
    let content = serde_json::json!({ "status": "refused", "reason": reason });
    Response { status, body: body::full(content.to_string()) }
}
