//! The server: it responds with pieces from its storage. The transmitter is the protocol below.

use std::future::ready;
use std::sync::Arc;

use trackbed_connection::{Request, Response, Service};

use super::storage::Storage;
use crate::answers::{nothing_at, refuse};

/// Answers `/media/{resolution}/{piece}` with the piece, anything else with 404.
pub(super) fn service(storage: Arc<Storage>) -> impl Service {
    move |request: Request| {
        ready(match storage.open(&request.path) {
            Some(Ok(piece)) => Response { status: 200, body: piece },
            Some(Err(why)) => refuse(500, format!("{} cannot be read: {why}", request.path)),
            None => nothing_at(&request.path),
        })
    }
}
