//! `none`: the placeholder for a protocol in cells without communication.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Capabilities, Connection, Dialer, Error, Result, Service, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::protocol::{Protocol, Served, ServerHandle};

/// A protocol that carries nothing. It is not in the [registry](crate::registry), because the rules
/// for protocols do not apply to it.
pub const NONE: &dyn Protocol = &Nothing;

struct Nothing;

impl Protocol for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn summary(&self) -> &'static str {
        "no traffic: the baseline for cells with communication"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::plain(Transport::Tcp)
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// A server that listens nowhere.
    fn serve(&self, at: ListenAt, _: &ServerConfig, _: Rc<dyn Service>) -> Served {
        Ok(ServerHandle::new(at.1, None, ()))
    }

    fn dialer(&self, _: Arc<dyn Host>, _: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        Ok(Rc::new(Nothing))
    }
}

impl Dialer for Nothing {
    fn connect(&self, _: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        let advice = "this protocol carries no data: use the workload `idle`";
        Box::pin(std::future::ready(Err(Error::unsupported(self.name(), advice))))
    }
}
