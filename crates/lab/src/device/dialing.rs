//! Exchanges that take the time of a device.

use std::net::SocketAddr;
use std::rc::Rc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Connection, Dialer, Error, Request, Response, Security, TransportStats};

use super::Device;

/// Wraps a dialer and its connections: the device's time for an exchange is spent before the
/// request is passed to the protocol.
pub(super) struct Charged<T: ?Sized> {
    inner: Rc<T>,
    device: Device,
}

impl<T: ?Sized> Charged<T> {
    pub fn new(inner: Rc<T>, device: Device) -> Rc<Charged<T>> {
        Rc::new(Charged { inner, device })
    }
}

impl Dialer for Charged<dyn Dialer> {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>> {
        Box::pin(async move {
            let inner = self.inner.connect(remote).await?;
            Ok(Charged::new(inner, self.device.clone()) as Rc<dyn Connection>)
        })
    }

    fn host_has_moved(&self) -> Result<(), Error> {
        self.inner.host_has_moved()
    }
}

impl Connection for Charged<dyn Connection> {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>> {
        Box::pin(async move {
            self.device.handle_message().await;
            self.inner.exchange(request).await
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        self.inner.close()
    }

    fn is_open(&self) -> bool {
        self.inner.is_open()
    }

    fn follows_its_host(&self) -> bool {
        self.inner.follows_its_host()
    }

    fn security(&self) -> Option<Security> {
        self.inner.security()
    }

    fn transport(&self) -> TransportStats {
        self.inner.transport()
    }
}
