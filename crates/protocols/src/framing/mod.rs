//! The messages of `quic`, `sctp`, `sctp+dtls`, `tcp` and `tcp+tls`: the minimum for a request and
//! a response.
//!
//! A message is a head and a body. Numbers are big-endian.
//!
//! ```text
//! request head:   0x01, length of the path (2 bytes), path
//!                 0x03, priority (1 byte), length of the path (2 bytes), path
//! response head:  0x02, status (2 bytes)
//! ```
//!
//! A priority is the urgency of RFC 9218, plus 8 where the response is incremental.
//!
//! *Over QUIC* every exchange has a separate bidirectional stream: the client sends a request, the
//! server a response, and the end of the stream (FIN) is the end of the body. A side that cannot
//! complete its body resets the stream.
//!
//! *Over SCTP*, the same on one stream in each direction; SCTP messages replace the stream's bytes
//! and mark its end, see `sctp::exchange`.
//!
//! *Over TCP* the exchanges of a connection follow one another, so the end of the body must be
//! marked:
//!
//! ```text
//! body:           any number of chunks: length (4 bytes, 1 to 1,048,576), bytes; then length 0
//! ```
//!
//! A side that cannot complete its body resets the connection.

mod input;
mod output;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use trackbed_connection::{Error, MAX_PATH_LEN, Priority, Result};

pub(crate) use input::{Input, Reader, exchange, while_sending};
pub(crate) use output::{Delimiter, Output, send_message};

/// The most bytes that a chunk may hold.
pub(crate) const CHUNK_MAX: usize = 1 << 20;

const REQUEST: u8 = 1;
const RESPONSE: u8 = 2;
const PRIORITISED_REQUEST: u8 = 3;

/// The head of a request for `path`, which [`check_path`] has let pass.
pub(crate) fn request_head(path: &str, priority: Option<Priority>) -> Bytes {
    debug_assert!(path_fault(path).is_none());
    let len = (path.len() as u16).to_be_bytes();
    let kind = match priority {
        None => vec![REQUEST],
        Some(priority) => vec![PRIORITISED_REQUEST, priority.to_byte()],
    };
    [&kind, &len[..], path.as_bytes()].concat().into()
}

pub(crate) fn response_head(status: u16) -> Bytes {
    let [high, low] = final_status(status).to_be_bytes();
    Bytes::copy_from_slice(&[RESPONSE, high, low])
}

/// Checks what every protocol of this crate can carry as a path, see
/// [`Request::path`](trackbed_connection::Request::path).
///
/// # Errors
/// [`Error::Unsupported`] with what is wrong.
pub(crate) fn check_path(protocol: &'static str, path: &str) -> Result<()> {
    path_fault(path).map_or(Ok(()), |fault| Err(Error::unsupported(protocol, fault)))
}

fn path_fault(path: &str) -> Option<&'static str> {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !br##"#"<>\^`{|}"##.contains(&byte);
    match path.as_bytes() {
        bytes if bytes.len() > MAX_PATH_LEN => Some("the path is longer than 4,096 bytes"),
        [b'/', rest @ ..] if rest.iter().copied().all(allowed) => None,
        _ => Some("a path must start with `/` and contain only the characters of RFC 3986"),
    }
}

/// A status that may stand in a response; a service that gives another one has failed (500).
pub(crate) fn final_status(status: u16) -> u16 {
    if is_final_status(status) { status } else { 500 }
}

fn is_final_status(status: u16) -> bool {
    (200..=999).contains(&status)
}
