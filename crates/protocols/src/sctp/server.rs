//! The server's side: strangers become peers, and their requests are answered.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use dcsctp::api::{DcSctpSocket, SocketEvent, SocketState};
use futures_util::stream;
use trackbed_substrate::{Host, Task, now, spawn};

use super::association::{Association, Shared};
use super::driver::drive;
use super::exchange::SharedExchange;
use super::settings::{Ports, message_len, options, seed_generator};
use super::stream::{Receiving, halves};
use crate::body::Body;
use crate::config::{ServerConfig, TransportParameters};
use crate::datagrams::{Peers, Socket};
use crate::error::{Error, Result, Step};
use crate::framing::{Reader, response_head};
use crate::nursery::Nursery;
use crate::observer::Side;
use crate::protocol::{Request, ServerHandle, Service};

/// Starts a server; see [`Protocol::serve`](crate::Protocol::serve).
pub(super) fn serve(
    protocol: &'static str,
    host: &Arc<dyn Host>,
    listen: SocketAddr,
    config: &ServerConfig,
    service: Rc<dyn Service>,
) -> Result<ServerHandle> {
    seed_generator(&host.entropy());
    let transport = config.transport.clone();
    let socket = Socket::bind(&**host, listen, transport.encapsulation)
        .map_err(|error| Error::lasting(protocol, Step::Listen, format!("{listen}: {error}")))?;
    let local = socket.local_addr();
    let peers = Peers::new(socket);
    let running = Nursery::default();
    let associations = Nursery::default();
    running.spawn(async move {
        while let Ok((peer, packet)) = peers.stranger().await {
            let Some(engine) = greet(&peers, &transport, peer, &packet) else { continue };
            let shared = Shared::new(protocol, Side::Server, transport.idle_timeout, engine, now());
            let association = Rc::new(Association(Rc::clone(&shared)));
            let message_len = message_len(peers.room());
            spawn(drive(shared, peers.admit(peer), transport.ledger.clone())).detach();
            associations.spawn(answer_all(association, message_len, Rc::clone(&service)));
        }
    });
    Ok(ServerHandle::new(local, None, running))
}

/// Answers somebody who is not known. Nothing is remembered of an INIT; a COOKIE ECHO makes an
/// association (RFC 9260 section 5.1.3), whose engine is returned.
fn greet(
    peers: &Peers,
    transport: &TransportParameters,
    peer: SocketAddr,
    packet: &[u8],
) -> Option<Box<dyn DcSctpSocket>> {
    let &[high, low, _, _, _, _, _, _, _, _, _, _, chunk, ..] = packet else { return None };
    if ![INIT, SHUTDOWN_ACK, COOKIE_ECHO].contains(&chunk) || peers.count() >= PEERS_MAX {
        return None;
    }
    let remote = u16::from_be_bytes([high, low]);
    let ports = Ports { local: peers.local_addr().port(), remote };
    let mut engine = dcsctp::new_socket("server", &options(transport, ports, peers.room()));
    engine.handle_input(packet);
    if engine.state() != SocketState::Closed {
        return Some(engine);
    }
    while let Some(event) = engine.poll_event() {
        if let SocketEvent::SendPacket(packet) = event {
            peers.answer(peer, &packet);
        }
    }
    None
}

/// Answers the requests of an association until it ends.
async fn answer_all(association: Rc<Association>, message_len: usize, service: Rc<dyn Service>) {
    let exchanges = Nursery::default();
    while let Some(stream) = poll_fn(|cx| association.poll_request(cx)).await {
        let (association, service) = (Rc::clone(&association), Rc::clone(&service));
        exchanges.spawn(async move {
            // A client that breaks the protocol is told that nothing comes; see `Sending`.
            let _outcome = answer(&association, stream, message_len, &*service).await;
        });
    }
}

async fn answer(
    association: &Rc<Association>,
    stream: (u16, SharedExchange),
    message_len: usize,
    service: &dyn Service,
) -> Result<()> {
    let (sending, receiving) = halves(association, stream, message_len);
    let mut reader = Reader::new(association.0.protocol, receiving);
    let Some(path) = reader.request().await? else { return Ok(()) };
    let response = service.call(Request { path, body: body(reader, None) }).await;
    sending.message(response_head(response.status), response.body).await
}

/// The body that follows a head, up to the end of the message. `beside` is what has to go on as
/// long as the body is wanted.
pub(super) fn body(reader: Reader<Receiving>, beside: Option<Task<Result<()>>>) -> Body {
    Box::pin(stream::try_unfold((reader, beside), async |(mut reader, beside)| {
        let piece = poll_fn(|cx| reader.poll_piece(cx)).await?;
        Ok(piece.map(|piece| (piece, (reader, beside))))
    }))
}

/// How many associations a server has at once; who comes then is not answered.
const PEERS_MAX: usize = 65_536;

/// Types of chunks (RFC 9260 section 3.2) that somebody who is not known may say.
const INIT: u8 = 1;
const SHUTDOWN_ACK: u8 = 8;
const COOKIE_ECHO: u8 = 10;
