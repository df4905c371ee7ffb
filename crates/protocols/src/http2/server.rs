//! The server.

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;

use futures_util::stream;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;

use super::runtime::{Attached, Clock, Io};
use super::{Outgoing, failed};
use crate::STREAMS_MAX;
use crate::body::Body;
use crate::error::Step;
use crate::framing::final_status;
use crate::nursery::Nursery;
use crate::protocol::{Request, Service};
use crate::tcp_transport::Stream;

/// Answers the requests of a connection until the client closes it.
pub(super) async fn serve(stream: Stream, window: u32, service: Rc<dyn Service>) {
    let exchanges = Nursery::default();
    let service = service_fn(move |request: http::Request<Incoming>| {
        let service = Rc::clone(&service);
        async move {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
            let body = arriving(request.into_body());
            let response = service.call(Request { path, body }).await;
            let mut answer = http::Response::new(Outgoing(response.body));
            *answer.status_mut() = http::StatusCode::from_u16(final_status(response.status))
                .expect("a final status is between 200 and 999");
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = Builder::new(Attached(exchanges))
        .timer(Clock)
        .auto_date_header(false)
        .initial_stream_window_size(window)
        .initial_connection_window_size(window)
        .max_concurrent_streams(STREAMS_MAX)
        .serve_connection(Io(stream), service);
    // Hyper answers a client that breaks the protocol (RFC 9113 section 5.4) before it ends.
    let _end = connection.await;
}

fn arriving(body: Incoming) -> Body {
    Box::pin(stream::try_unfold(body, async |mut body| {
        loop {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| failed(Step::Receive, &error))?;
            // Trailers say nothing to anyone here.
            if let Ok(piece) = frame.into_data() {
                return Ok(Some((piece, body)));
            }
        }
    }))
}
