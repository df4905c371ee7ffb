//! Requests and responses.

use std::fmt;
use std::net::SocketAddr;

use crate::body::Body;
use crate::priority::Priority;

/// A client's request.
pub struct Request {
    /// An absolute path with or without a query (RFC 3986 sections 3.3 and 3.4), for example
    /// `/rpc?n=1`, of at most [`MAX_PATH_LEN`] bytes.
    pub path: String,
    /// The urgency of the response, if the client states one. A server receives its client's value.
    pub priority: Option<Priority>,
    /// The body, sent while it is produced.
    pub body: Body,
    /// At a server: the client's address, if the protocol provides it (HTTP/1.1 and HTTP/2 do).
    pub peer: Option<SocketAddr>,
}

impl Request {
    /// A request for `path` with `body` and without a priority.
    pub fn new(path: impl Into<String>, body: Body) -> Request {
        Request { path: path.into(), priority: None, body, peer: None }
    }
}

/// A server's response.
pub struct Response {
    /// An HTTP status code, 200 to 999 (100 to 199 are interim responses).
    pub status: u16,
    /// The body, which arrives while it is read.
    pub body: Body,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("path", &self.path).finish_non_exhaustive()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The longest path of a request in bytes.
pub const MAX_PATH_LEN: usize = 4_096;
