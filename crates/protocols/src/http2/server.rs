//! The server.

use std::rc::Rc;

use hyper::server::conn::http2::Builder;
use trackbed_connection::Service;
use trackbed_substrate::Standing;

use super::profile::HTTP2;
use crate::config::STREAMS_MAX;
use crate::http_messages::runtime::{Attached, Clock, Io};
use crate::http_messages::{Client, answering, arriving};
use crate::nursery::Nursery;
use crate::tcp_transport::Stream;

/// Answers the requests of a connection until the client closes it.
pub(super) async fn serve(
    (stream, standing): (Stream, Standing),
    window: u32,
    service: Rc<dyn Service>,
) {
    let exchanges = Nursery::default();
    let client = Client { peer: stream.peer(), standing };
    let answering = answering(HTTP2, service, arriving::stream, client);
    let connection = Builder::new(Attached(exchanges))
        .timer(Clock)
        .auto_date_header(false)
        .initial_stream_window_size(window)
        .initial_connection_window_size(window)
        .max_concurrent_streams(STREAMS_MAX)
        .serve_connection(Io(stream), answering);
    // Hyper answers a client that breaks the protocol (RFC 9113 section 5.4) before it ends.
    let _end = connection.await;
}
