//! The server.

use std::rc::Rc;

use hyper::server::conn::http1::Builder;
use trackbed_connection::Service;
use trackbed_substrate::Standing;

use super::profile::HTTP1;
use crate::http_messages::runtime::{Clock, Io};
use crate::http_messages::{Client, answering, arriving};
use crate::tcp_transport::Stream;

/// Answers the requests of a connection, one after the other, until the client closes it.
pub(super) async fn serve(stream: Stream, standing: Standing, service: Rc<dyn Service>) {
    let client = Client { peer: stream.peer(), standing };
    let answering = answering(HTTP1, service, arriving::drained_stream, client);
    let connection = Builder::new()
        .timer(Clock)
        .auto_date_header(false)
        // The client closes idle connections, as with the other protocols; the transport limits the
        // time of the first request.
        .header_read_timeout(None)
        .serve_connection(Io(stream), answering);
    // Hyper answers a client that breaks the protocol with a status of 400 before it ends.
    let _end = connection.await;
}
