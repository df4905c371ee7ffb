//! The server's side: unknown senders become peers, whose requests are answered.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use trackbed_connection::{Error, Service, Step, TransportStats};
use trackbed_substrate::{Guests, Host, Standing, yield_now};

use super::codes::{Class, class};
use super::driver::{Driver, Party as _};
use super::messages::Messages;
use super::peer::{Common, Peer};
use super::recent::EXCHANGE_LIFETIME;
use super::uploads::ALL_BODIES_MAX;
use crate::config::{ListenAt, ServerConfig, Trust};
use crate::datagrams::{Channel, PeerChannel, Peers, Route, Socket};
use crate::dtls_transport::{Admission, DtlsEnd, Gate, Greeting};
use crate::ledger::{Account, Accounted, Ledger};
use crate::nursery::Nursery;
use crate::pieces::Budget;
use crate::protocol::{Served, ServerHandle};

/// Starts a server; see [`Protocol::serve`](crate::Protocol::serve). `dtls` is this end of DTLS and
/// the certificate that clients must trust, if encrypted.
pub(super) fn serve(
    protocol: &'static str,
    (host, address): &ListenAt,
    config: &ServerConfig,
    dtls: Option<(DtlsEnd, Trust)>,
    service: Rc<dyn Service>,
) -> Served {
    let transport = &config.transport;
    let block_size = super::block::block_size(protocol, transport)?;
    let socket = Socket::bind(&**host, *address, transport)
        .map_err(|error| Error::lasting(protocol, Step::Listen, format!("{address}: {error}")))?;
    let local = socket.local_addr();
    let (end, trust) = dtls.unzip();
    let gate = end.map(|end| Gate::new(end, transport.coap.cookie)).transpose()?;
    let idle_max = if gate.is_some() { SESSION_IDLE_MAX } else { EXCHANGE_LIFETIME };
    let budget = Budget::new(ALL_BODIES_MAX);
    let common = Rc::new(Common { service, block_size, budget, idle_max });
    let server = Rc::new(Server {
        peers: Peers::new(socket),
        host: Arc::clone(host),
        gate,
        common,
        ledger: transport.ledger.clone(),
    });
    let running = Nursery::default();
    let guests = Guests::new(config.limits.connections);
    let count = guests.count();
    running.spawn(async move { server.run(guests).await });
    Ok(ServerHandle::new(local, trust, running).counting(count))
}

struct Server {
    peers: Peers,
    host: Arc<dyn Host>,
    gate: Option<Gate>,
    common: Rc<Common>,
    ledger: Option<Ledger>,
}

impl Server {
    async fn run(self: Rc<Self>, guests: Guests) {
        let mut turn = 0;
        while let Ok((peer, datagram)) = self.peers.unknown().await {
            if let Some(admission) = self.greet(peer, &datagram) {
                let below = self.peers.admit(peer, Some(datagram));
                let standing = Standing::new(peer.peer.ip());
                let server = Rc::clone(&self);
                guests.admit(standing.clone(), server.attend(below, admission, standing));
            }
            turn += 1;
            if turn % TURN == 0 {
                yield_now().await;
            }
        }
    }

    /// Replies to an unknown sender, or returns how to admit it.
    fn greet(&self, peer: Route, datagram: &Bytes) -> Option<Option<Admission>> {
        let Some(gate) = &self.gate else {
            let is_request = matches!(datagram[..], [first, code, _, _, ..]
                if first >> 6 == 1 && class(code) == Class::Request);
            if !is_request {
                self.refuse(1);
            }
            return is_request.then_some(None);
        };
        match gate.greet(&self.peers, peer, datagram) {
            Greeting::Admitted(admission) => return Some(Some(admission)),
            Greeting::Ignored => self.refuse(1),
            Greeting::Answered => {}
        }
        None
    }

    fn refuse(&self, datagrams: u64) {
        if let Some(ledger) = &self.ledger {
            ledger.refuse(datagrams);
        }
    }

    /// Answers a peer's requests until it is gone.
    async fn attend(
        self: Rc<Self>,
        below: Rc<PeerChannel>,
        admission: Option<Admission>,
        standing: Standing,
    ) {
        let channel: Rc<dyn Channel> = match (&self.gate, admission) {
            (Some(gate), Some(admission)) => {
                // On failure the client has been notified. Other peers need no room for this.
                let accepted = Box::pin(gate.accept(admission, below)).await;
                let Ok(channel) = accepted else { return };
                channel
            }
            _ => below,
        };
        let Ok(messages) = Messages::new(&*self.host) else { return };
        let peer = Peer::new(Rc::clone(&self.common), messages, channel.room(), standing);
        let _account = Accounted::new(Rc::clone(&peer), self.ledger.as_ref());
        let mut driver = Driver::new(channel);
        poll_fn(|cx| {
            let mut peer = peer.borrow_mut();
            peer.driver = Some(cx.waker().clone());
            driver.poll(&mut *peer, cx)
        })
        .await;
    }
}

impl Account for Rc<RefCell<Peer>> {
    fn account(&self) -> TransportStats {
        self.borrow_mut().messages().stats()
    }

    fn refused(&self) -> u64 {
        self.borrow_mut().messages().refused
    }
}

/// How long a session is kept for a silent client.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(3_600);

/// How many unknown senders are handled before other tasks get a turn.
const TURN: u64 = 64;
