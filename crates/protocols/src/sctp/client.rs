//! The client's side: dialer, connection, exchanges.

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{
    Connection, Dialer, Request, Response, Result, Security, TransportStats,
};
use trackbed_substrate::{Host, spawn, yield_now};

use super::association::{Association, Shared};
use super::driver::drive;
use super::settings::{Ports, message_len, options, options_inside_dtls, seed_generator};
use super::stream::halves;
use crate::config::{ClientConfig, TransportParameters, Trust};
use crate::datagrams::{Channel, ClientChannel};
use crate::dtls_transport::DtlsEnd;
use crate::framing::{Reader, check_path, exchange, request_head};
use crate::observer::Side;

/// Opens associations, each from a separate port.
pub(super) struct SctpDialer {
    protocol: &'static str,
    host: Arc<dyn Host>,
    local: Option<IpAddr>,
    transport: TransportParameters,
    /// For DTLS: this end's settings, and the server to trust.
    dtls: Option<(DtlsEnd, Trust)>,
}

impl SctpDialer {
    pub(super) fn new(
        protocol: &'static str,
        host: Arc<dyn Host>,
        config: &ClientConfig,
        dtls: Option<(DtlsEnd, Trust)>,
    ) -> SctpDialer {
        seed_generator(&host.entropy());
        let (local, transport) = (config.local, config.transport.clone());
        SctpDialer { protocol, host, local, transport, dtls }
    }
}

impl Dialer for SctpDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let SctpDialer { protocol, host, local, transport, dtls } = self;
            let below = ClientChannel::open(protocol, &**host, *local, remote, transport)?;
            let ports = Ports { local: below.local_addr().port(), remote: remote.port() };
            let (channel, options, security): (Rc<dyn Channel>, _, _) = match dtls {
                None => {
                    let options = options(transport, ports, below.room());
                    (below, options, None)
                }
                Some((end, trust)) => {
                    let channel = end.connect(below, trust).await?;
                    let security = channel.security();
                    let options = options_inside_dtls(transport, channel.room());
                    (channel, options, security)
                }
            };
            let message_len = message_len(channel.room());
            let engine = dcsctp::new_socket("client", &options);
            let idle_timeout = transport.idle_timeout;
            let shared = Shared::new(protocol, Side::Client, idle_timeout, engine);
            let association = Rc::new(Association(Rc::clone(&shared)));
            spawn(drive(shared, channel, transport.ledger.clone())).detach();
            poll_fn(|cx| association.poll_answered(cx)).await?;
            Ok(Rc::new(SctpConnection { association, message_len, security }) as Rc<dyn Connection>)
        })
    }
}

struct SctpConnection {
    association: Rc<Association>,
    message_len: usize,
    security: Option<Security>,
}

impl Connection for SctpConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let protocol = self.association.0.protocol;
            check_path(protocol, &request.path)?;
            let stream = poll_fn(|cx| self.association.poll_open(cx)).await?;
            let (sending, receiving) = halves(&self.association, stream, self.message_len);
            let send = sending.message(request_head(&request.path, request.priority), request.body);
            exchange(Reader::new(protocol, receiving), send).await
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            self.association.end();
            // The driver takes its turn.
            yield_now().await;
            poll_fn(|cx| self.association.poll_flushed(cx)).await;
        })
    }

    fn is_open(&self) -> bool {
        self.association.is_open()
    }

    fn security(&self) -> Option<Security> {
        self.security
    }

    fn transport(&self) -> TransportStats {
        self.association.stats()
    }
}
