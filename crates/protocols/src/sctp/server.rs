//! The server's side: unknown senders become peers, and their requests are answered.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use dcsctp::api::{DcSctpSocket, SocketEvent, SocketState};
use ring::hmac;
use trackbed_connection::{Error, Request, Result, Service, Step};
use trackbed_core::Time;
use trackbed_substrate::{Guests, Standing, now, spawn};

use super::association::{Association, Shared};
use super::driver::drive;
use super::exchange::SharedExchange;
use super::settings::{Ports, Room, message_len, options, options_inside_dtls, seed_generator};
use super::stream::halves;
use crate::config::{ListenAt, ServerConfig, TransportParameters, Trust};
use crate::datagrams::{Channel, PeerChannel, Peers, Route, Socket};
use crate::dtls_transport::{Admission, DtlsEnd, Gate, Greeting};
use crate::framing::{Reader, response_head};
use crate::nursery::Nursery;
use crate::observer::Side;
use crate::protocol::{Served, ServerHandle};
use crate::tls::Randomness;

/// Starts a server; see [`Protocol::serve`](crate::Protocol::serve). `dtls` is this end of DTLS and
/// the certificate that clients must trust, if encrypted.
pub(super) fn serve(
    protocol: &'static str,
    (host, address): &ListenAt,
    config: &ServerConfig,
    dtls: Option<(DtlsEnd, Trust)>,
    service: Rc<dyn Service>,
) -> Served {
    seed_generator(&host.entropy());
    let transport = config.transport.clone();
    let socket = Socket::bind(&**host, *address, &transport)
        .map_err(|error| Error::lasting(protocol, Step::Listen, format!("{address}: {error}")))?;
    let local = socket.local_addr();
    let (end, trust) = dtls.unzip();
    let gate = end.map(|end| Gate::new(end, false)).transpose()?;
    let peers = Peers::new(socket);
    let mut secret = [0; 32];
    let drawn = Randomness::new(host.entropy()).fill(&mut secret);
    drawn.map_err(|reason| Error::lasting(protocol, Step::Listen, reason))?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let room = config.limits.buffered.map(|max| Room { held: Rc::default(), max });
    let server = Rc::new(Server { protocol, peers, transport, gate, key, service, room });
    let running = Nursery::default();
    let guests = Guests::new(config.limits.connections);
    let count = guests.count();
    running.spawn(async move {
        while let Ok((peer, packet)) = server.peers.unknown().await {
            let (standing, peers) = (Standing::new(peer.peer.ip()), &server.peers);
            if let Some(gate) = &server.gate {
                if let Greeting::Admitted(admission) = gate.greet(peers, peer, &packet) {
                    let below = peers.admit(peer, Some(packet));
                    let server = Rc::clone(&server);
                    guests.admit(standing.clone(), server.shake_hands(admission, below, standing));
                }
            } else if let Some(engine) = server.greet(peer, &packet) {
                let channel = peers.admit(peer, None);
                let server = Rc::clone(&server);
                guests.admit(standing.clone(), server.attend(engine, channel, standing));
            }
        }
    });
    Ok(ServerHandle::new(local, trust, running).counting(count))
}

struct Server {
    protocol: &'static str,
    peers: Peers,
    transport: TransportParameters,
    gate: Option<Gate>,
    /// Authenticates state cookies.
    key: hmac::Key,
    service: Rc<dyn Service>,
    room: Option<Room>,
}

impl Server {
    /// Does the handshake of DTLS with a client, and then waits for its INIT.
    async fn shake_hands(
        self: Rc<Self>,
        admission: Admission,
        below: Rc<PeerChannel>,
        standing: Standing,
    ) {
        let Some(gate) = &self.gate else { return };
        // On failure the client has been notified.
        let Ok(channel) = gate.accept(admission, below).await else { return };
        let options = options_inside_dtls(&self.transport, channel.room());
        self.attend(dcsctp::new_socket("server", &options), channel, standing).await;
    }

    /// Answers the requests of an association until it ends.
    async fn attend(
        self: Rc<Self>,
        engine: Box<dyn DcSctpSocket>,
        channel: Rc<dyn Channel>,
        standing: Standing,
    ) {
        let Server { protocol, transport, service, .. } = &*self;
        let message_len = message_len(channel.room());
        let shared = Shared::new(protocol, Side::Server, transport.idle_timeout, engine);
        shared.state.borrow_mut().room = self.room.clone();
        let association = Rc::new(Association(Rc::clone(&shared)));
        spawn(drive(shared, channel, transport.ledger.clone())).detach();
        let exchanges = Nursery::default();
        while let Some(stream) = poll_fn(|cx| association.poll_request(cx)).await {
            let (association, service) = (Rc::clone(&association), Rc::clone(service));
            let standing = standing.clone();
            exchanges.spawn(async move {
                // A client that breaks the protocol gets a notice that no response follows; see
                // `Sending`.
                let _outcome =
                    answer(&association, stream, message_len, (&standing, &*service)).await;
            });
        }
    }

    /// Replies to an unknown sender. An INIT leaves no state; a COOKIE ECHO with a cookie that this
    /// server gave to this sender creates an association (RFC 9260 section 5.1.3), whose engine is
    /// returned.
    fn greet(&self, peer: Route, packet: &[u8]) -> Option<Box<dyn DcSctpSocket>> {
        let &[high, low, _, _, _, _, _, _, _, _, _, _, chunk, ..] = packet else { return None };
        if ![INIT, SHUTDOWN_ACK, COOKIE_ECHO].contains(&chunk) {
            return None;
        }
        let remote = u16::from_be_bytes([high, low]);
        let ports = Ports { local: self.peers.local_addr().port(), remote };
        let mut options = options(&self.transport, ports, self.peers.room());
        let key = self.key.clone();
        options.cookie_mac = Some(Arc::new(move |cookie: &[u8], ago: u64| {
            let period = (now() - Time::ZERO).as_secs() / COOKIE_SECS;
            let told = format!("{peer:?} {remote} {} {cookie:?}", period.wrapping_sub(ago));
            let tag = hmac::sign(&key, told.as_bytes());
            std::array::from_fn(|at| tag.as_ref()[at])
        }));
        let mut engine = dcsctp::new_socket("server", &options);
        engine.handle_input(packet);
        if engine.state() != SocketState::Closed {
            return Some(engine);
        }
        while let Some(event) = engine.poll_event() {
            if let SocketEvent::SendPacket(packet) = event {
                self.peers.answer(peer, &packet);
            }
        }
        None
    }
}

async fn answer(
    association: &Rc<Association>,
    stream: (u16, SharedExchange),
    message_len: usize,
    (standing, service): (&Standing, &dyn Service),
) -> Result<()> {
    let (sending, receiving) = halves(association, stream, message_len);
    let mut reader = Reader::new(association.0.protocol, receiving);
    let Some((path, priority)) = reader.request().await? else { return Ok(()) };
    standing.asked();
    sending.weigh(priority);
    let request = Request { priority, ..Request::new(path, reader.into_body(None)) };
    let response = service.call(request).await;
    sending.message(response_head(response.status), response.body).await
}

/// Chunk types (RFC 9260 section 3.2) that an unknown sender may send.
const INIT: u8 = 1;
const SHUTDOWN_ACK: u8 = 8;
const COOKIE_ECHO: u8 = 10;

/// A cookie is good for one to two of these periods (Valid.Cookie.Life, RFC 9260 section 16).
const COOKIE_SECS: u64 = 60;
