//! Answers of services that refuse a request, as JSON.

use std::fmt::Display;

use trackbed_connection::{Response, body};

pub(crate) fn refuse(status: u16, reason: impl Display) -> Response {
    let content = serde_json::json!({ "status": "refused", "reason": reason.to_string() });
    Response { status, body: body::full(content.to_string()) }
}

pub(crate) fn nothing_at(path: &str) -> Response {
    refuse(404, format!("there is nothing at {path}"))
}
