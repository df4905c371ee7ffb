//! What a client opens and uses, and what answers at the server.

use std::net::SocketAddr;
use std::rc::Rc;

use futures_core::future::LocalBoxFuture;
#[cfg(doc)]
use trackbed_substrate::Host;

#[cfg(doc)]
use crate::capabilities::Capabilities;
use crate::error::Error;
use crate::exchange::{Request, Response};
use crate::security::Security;
use crate::stats::TransportStats;

/// Opens connections of one protocol with one configuration.
pub trait Dialer {
    /// Connects to a server and resolves as soon as a request may be sent: after the handshake,
    /// or before it where early data is possible.
    ///
    /// # Errors
    /// If the server cannot be reached or trusted, or does not speak the protocol.
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>>;

    /// To be told at once when the host has [moved on](Host::move_on), as a phone's system tells
    /// its programs. Connections that can, go on from the new address
    /// ([`Connection::follows_its_host`]); the others are dead. Later ones are opened from there
    /// anyway.
    ///
    /// # Errors
    /// If there is no socket to be had at the new address; then no connection goes on.
    fn host_has_moved(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A connection to a server. Dropping the last handle closes it.
pub trait Connection {
    /// Sends a request and resolves with the head of the response; its body may still be on the
    /// way, and so may the body of the request. Several exchanges may run at once: they share the
    /// connection where the protocol multiplexes, and wait for each other where it does not.
    ///
    /// Where it does not, a response holds the connection until its body is read to the end.
    ///
    /// # Errors
    /// If the connection fails or the peer breaks the protocol. [`Error::is_retryable`] says
    /// whether a new connection may help.
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>>;

    /// Closes the connection in an orderly way; resolves when the peer has been told. Exchanges
    /// that still run may fail.
    fn close(&self) -> LocalBoxFuture<'_, ()>;

    /// Whether the connection outlives a change of its host's address that the dialer is
    /// [told](Dialer::host_has_moved) of; see [`Capabilities::migrates`].
    fn follows_its_host(&self) -> bool {
        false
    }

    /// What the handshake negotiated; `None` where nothing is encrypted or, with early data, as
    /// long as the server has not answered.
    fn security(&self) -> Option<Security>;

    /// What the transport below has done so far.
    fn transport(&self) -> TransportStats;
}

/// The application behind a server.
pub trait Service {
    /// Answers one request. The request's body arrives while it is read, the response's is sent
    /// while it is produced.
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response>;
}

/// Any function from a request to a future of a response is a service.
impl<F, T> Service for F
where
    F: Fn(Request) -> T,
    T: Future<Output = Response> + 'static,
{
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        Box::pin(self(request))
    }
}
