//! The server: it receives each message completely and acknowledges it.

use trackbed_connection::{Request, Response, Service, body};

/// Answers a message of the right length with 200 and a body of the configured length, any other
/// with 400, and requests for other paths with 404. No message is kept.
pub(super) fn service(size: u64, answer: u64) -> impl Service {
    move |request: Request| async move {
        if !request.path.starts_with(PREFIX) {
            return plain(404, format!("there is nothing at {}", request.path));
        }
        match body::drain(request.body).await {
            Ok(len) if len == size => Response { status: 200, body: body::zeros(answer) },
            Ok(len) => plain(400, format!("a message has {size} bytes, not {len}")),
            Err(why) => plain(400, why.to_string()),
        }
    }
}

/// The path of a phone's messages: always the same, as a sensor has one topic or one URL.
pub(super) fn path(phone: u32) -> String {
    format!("{PREFIX}{phone}")
}

fn plain(status: u16, reason: String) -> Response {
    Response { status, body: body::full(reason) }
}

const PREFIX: &str = "/telemetry/";
