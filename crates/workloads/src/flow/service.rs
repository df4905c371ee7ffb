//! The server: endless data.

use futures_core::future::LocalBoxFuture;
use futures_util::stream;
use trackbed_connection::{Request, Response, Service, body};

use crate::data::pieces;

/// Answers [`PATH`] with data until the client stops, and any other path with 404.
pub(super) struct FlowService;

impl Service for FlowService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let response = match request.path.as_str() {
            PATH => {
                Response { status: 200, body: Box::pin(stream::iter(pieces(0, u64::MAX).map(Ok))) }
            }
            other => {
                Response { status: 404, body: body::full(format!("there is nothing at {other}")) }
            }
        };
        Box::pin(std::future::ready(response))
    }
}

/// The path of the data.
pub(super) const PATH: &str = "/flow";
