//! Placeholders for the protocol and the workload where third-party programs run at both endpoints.

use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{
    Capabilities, Dialer, Error, Request, Response, Service, TlsVersion, Transport, body,
};
use trackbed_core::{EventLog, Parameter};
use trackbed_protocols::parameters::{over_tcp, security};
use trackbed_protocols::{ClientConfig, ListenAt, Protocol, Served, ServerConfig};
use trackbed_substrate::Host;
use trackbed_workloads::{Prepared, Site, Stage};

/// The unknown protocol between two third-party programs.
pub(crate) const PROTOCOL: &dyn Protocol = &Foreign;

pub(crate) const WORKLOAD: &str = "command";

struct Foreign;

impl Protocol for Foreign {
    fn name(&self) -> &'static str {
        "other"
    }

    fn summary(&self) -> &'static str {
        "the protocol between two third-party programs"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tls: TlsVersion::ALL, ..Capabilities::plain(Transport::Tcp) }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [security(), over_tcp()].concat()
    }

    fn serve(&self, _: ListenAt, _: &ServerConfig, _: Rc<dyn Service>) -> Served {
        Err(unspoken())
    }

    fn dialer(&self, _: Arc<dyn Host>, _: &ClientConfig) -> Result<Rc<dyn Dialer>, Error> {
        Err(unspoken())
    }
}

fn unspoken() -> Error {
    let advice = "the built-in endpoints do not support it: write protocol = \"http2\"".to_owned();
    Error::Unsupported { protocol: PROTOCOL.name(), advice }
}

/// The workload where neither endpoint is built in.
pub(crate) struct NoWorkload;

impl Prepared for NoWorkload {
    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        let refuse = |_: Request| std::future::ready(Response { status: 404, body: body::empty() });
        Rc::new(refuse)
    }

    fn drive(&self, _: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn site(&self) -> Result<Site, String> {
        Ok(Site::default())
    }
}
