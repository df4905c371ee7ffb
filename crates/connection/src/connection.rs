//! The client's dialers and connections, and the server's services.

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
    /// Connects to a server; resolves as soon as a request may be sent: after the handshake, or
    /// before it if early data is possible.
    ///
    /// # Errors
    /// If the server cannot be reached or trusted, or does not speak the protocol.
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>>;

    /// Must be called immediately when the host has [moved on](Host::move_on), like a phone's
    /// system notifies its programs. Connections that can, continue from the new address
    /// ([`Connection::follows_its_host`]); the others are dead. Later ones are opened from the new
    /// address in any case.
    ///
    /// # Errors
    /// If no socket can be opened at the new address; then no connection continues.
    fn host_has_moved(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A connection to a server. Dropping the last handle closes it.
pub trait Connection {
    /// Sends a request and resolves with the head of the response; its body may still be in flight,
    /// and so may the body of the request. Several exchanges may run at once: they share the
    /// connection if the protocol multiplexes, otherwise they wait for each other.
    ///
    /// Without multiplexing, a response occupies the connection until its body is read to the end.
    ///
    /// # Errors
    /// If the connection fails or the peer violates the protocol. [`Error::is_retryable`] says
    /// whether a new connection may help.
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>>;

    /// Closes the connection in an orderly way; resolves when the peer has been notified. Exchanges
    /// still in progress may fail.
    fn close(&self) -> LocalBoxFuture<'_, ()>;

    /// Whether another exchange may begin: false once either end has closed the connection, as far as
    /// this end has noticed. A client whose connection has ended opens a new one.
    fn is_open(&self) -> bool;

    /// Whether the connection survives a change of its host's address reported to the dialer
    /// ([`Dialer::host_has_moved`]); see [`Capabilities::migrates`].
    fn follows_its_host(&self) -> bool {
        false
    }

    /// What the handshake negotiated; `None` without encryption or, with early data, until the
    /// server has responded.
    fn security(&self) -> Option<Security>;

    /// Statistics of the transport so far.
    fn transport(&self) -> TransportStats;
}

/// The application behind a server.
pub trait Service {
    /// Handles one request. The request's body arrives while it is read, the response's is sent
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
