//! What HTTP/1.1 and HTTP/2 have in common, by hyper: messages and their bodies.

pub(crate) mod arriving;
pub(crate) mod runtime;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::{Service as HyperService, service_fn};
use trackbed_connection::{Body, Error, Priority, Request, Result, Service, Step, body};
use trackbed_substrate::Standing;

use crate::framing::{check_path, final_status};
use crate::tls::SERVER_NAME;

pub(crate) struct Outgoing(pub(crate) Body);

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        self.0.as_mut().poll_next(cx).map(|piece| Some(piece?.map(Frame::data)))
    }

    /// Known for bodies made in one piece, so that their last frame ends the stream too.
    fn is_end_stream(&self) -> bool {
        is_empty(&self.0)
    }

    fn size_hint(&self) -> SizeHint {
        if is_empty(&self.0) { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}

/// Whether it is known that nothing more comes.
fn is_empty(body: &Body) -> bool {
    body.size_hint().1 == Some(0)
}

/// How a version of HTTP names the target of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The path, and the authority in a header field (RFC 9112 section 3.2.1).
    Path,
    /// The whole of it, which becomes pseudo-header fields (RFC 9113 section 8.3.1).
    Uri,
}

pub(crate) fn http_request(
    protocol: &'static str,
    target: Target,
    request: Request,
) -> Result<http::Request<Outgoing>> {
    let (head, body) = request_head(protocol, target, request)?;
    Ok(head.map(|()| Outgoing(body)))
}

/// The head and the body of a request: a GET without a body, a POST with one.
pub(crate) fn request_head(
    protocol: &'static str,
    target: Target,
    request: Request,
) -> Result<(http::Request<()>, Body)> {
    check_path(protocol, &request.path)?;
    let method = if is_empty(&request.body) { http::Method::GET } else { http::Method::POST };
    let mut head = http::Request::builder().method(method);
    if let Some(priority) = request.priority {
        head = head.header(Priority::FIELD, priority.to_string());
    }
    let head = match target {
        Target::Path => head.uri(request.path).header(http::header::HOST, SERVER_NAME),
        Target::Uri => head.uri(format!("https://{SERVER_NAME}{}", request.path)),
    };
    let head = head.body(()).map_err(|error| {
        Error::unsupported(protocol, format!("the path cannot be sent: {error}"))
    })?;
    Ok((head, request.body))
}

/// The head of a request that the service needs: its path, its method and its priority, if any.
pub(crate) fn read_head<T>(request: &http::Request<T>) -> (String, http::Method, Option<Priority>) {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    (path, request.method().clone(), field_priority(request.headers()))
}

pub(crate) fn answer_head(status: u16) -> http::Response<()> {
    let mut head = http::Response::new(());
    *head.status_mut() = http::StatusCode::from_u16(final_status(status))
        .expect("a final status must be between 200 and 999");
    head
}

pub(crate) struct Client {
    pub(crate) peer: SocketAddr,
    /// Notified of each request.
    pub(crate) standing: Standing,
}

/// `service` as hyper calls it for `client`; `arriving` converts incoming bodies.
pub(crate) fn answering(
    protocol: &'static str,
    service: Rc<dyn Service>,
    arriving: fn(&'static str, Incoming) -> Body,
    client: Client,
) -> impl HyperService<
    http::Request<Incoming>,
    Response = http::Response<Outgoing>,
    Error = Infallible,
    Future: 'static,
> {
    service_fn(move |request: http::Request<Incoming>| {
        let (service, peer) = (Rc::clone(&service), client.peer);
        client.standing.asked();
        async move {
            let (path, method, priority) = read_head(&request);
            let body = arriving(protocol, request.into_body());
            let response = service.call(Request { path, priority, body, peer: Some(peer) }).await;
            let body = Outgoing(content(&method, response.body));
            Ok::<_, Infallible>(answer_head(response.status).map(|()| body))
        }
    })
}

fn field_priority(headers: &http::HeaderMap) -> Option<Priority> {
    let fields: Vec<&str> =
        headers.get_all(Priority::FIELD).iter().filter_map(|value| value.to_str().ok()).collect();
    // RFC 9110 section 5.3: several lines of a field are one list.
    (!fields.is_empty()).then(|| Priority::from_field(&fields.join(",")))
}

/// What of `body` answers a request of this method: nothing if that is HEAD (RFC 9110 section
/// 9.3.2).
pub(crate) fn content(method: &http::Method, body: Body) -> Body {
    if method == http::Method::HEAD { body::empty() } else { body }
}

pub(crate) fn failed(protocol: &'static str, step: Step, error: &hyper::Error) -> Error {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<Error>() {
            // The error of a body, in its producer's words.
            return error.clone();
        }
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    match error.is_parse() {
        true => Error::malformed(protocol, step, reason),
        false => Error::transient(protocol, step, reason),
    }
}
