//! Intruders over DTLS, and with SCTP inside it.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{Error, Result, Step};
use trackbed_substrate::{Host, before, now, spawn};

use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::datagrams::{Channel, ClientChannel, Peers, Socket};
use crate::dtls_transport::{DtlsChannel, DtlsEnd, Gate, Greeting};
use crate::nursery::Nursery;
use crate::protocol::{Served, ServerHandle};
use crate::tls::Profile;

pub(super) async fn connect(
    profile: Profile,
    (host, remote): (Arc<dyn Host>, SocketAddr),
    config: &ClientConfig,
    pieces: &[Vec<u8>],
) -> Result<()> {
    let (end, trust) = DtlsEnd::client(profile.protocol, host.entropy(), config, profile.versions)?;
    let below = ClientChannel::open(profile.protocol, &*host, None, remote, &config.transport)?;
    let channel = end.connect(below, &trust).await?;
    let association = association(profile);
    if let Some(association) = &association {
        send(&channel, &association.packet(INIT)).await;
    }
    say(&channel, association, pieces).await;
    Ok(())
}

pub(super) fn serve(
    profile: Profile,
    (host, address): &ListenAt,
    config: &ServerConfig,
    pieces: Rc<[Vec<u8>]>,
) -> Served {
    let (end, trust) = DtlsEnd::server(profile.protocol, host.entropy(), config, profile.versions)?;
    let socket = Socket::bind(&**host, *address, &config.transport)
        .map_err(|error| Error::lasting(profile.protocol, Step::Listen, error))?;
    let (local, peers, running) = (socket.local_addr(), Peers::new(socket), Nursery::default());
    let gate = Rc::new(Gate::new(end, false)?);
    running.spawn(async move {
        while let Ok((peer, datagram)) = peers.unknown().await {
            if let Greeting::Admitted(admission) = gate.greet(&peers, peer, &datagram) {
                let below = peers.admit(peer, Some(datagram));
                let (gate, pieces) = (Rc::clone(&gate), Rc::clone(&pieces));
                let attend = async move {
                    if let Ok(channel) = gate.accept(admission, below).await {
                        say(&channel, association(profile), &pieces).await;
                    }
                };
                spawn(attend).detach();
            }
        }
    });
    Ok(ServerHandle::new(local, Some(trust), running))
}

/// A datagram for each piece, after the other end has asked or the association has begun.
async fn say(channel: &DtlsChannel, mut association: Option<Association>, pieces: &[Vec<u8>]) {
    listen(channel, &mut association, AFTERWARDS).await;
    for piece in pieces {
        match &association {
            Some(association) => send(channel, &association.packet(piece)).await,
            None => send(channel, piece).await,
        }
        listen(channel, &mut association, PAUSE).await;
    }
    listen(channel, &mut association, AFTERWARDS).await;
    channel.close();
}

async fn listen(channel: &DtlsChannel, association: &mut Option<Association>, time: Duration) {
    let end = now() + time;
    while let Some(Ok(packet)) = before(end, poll_fn(|cx| channel.poll_recv(cx))).await {
        if let Some(answer) = association.as_mut().and_then(|known| known.answer(&packet)) {
            send(channel, &answer).await;
        }
    }
}

async fn send(channel: &DtlsChannel, datagram: &[u8]) {
    // The other end may have hung up.
    let _gone = poll_fn(|cx| channel.poll_send(cx, datagram)).await;
}

fn association(profile: Profile) -> Option<Association> {
    profile.protocol.starts_with("sctp").then(Association::default)
}

/// As much of SCTP (RFC 9260) as it takes to have chunks read.
#[derive(Default)]
struct Association {
    /// The other end's verification tag; zero before it is known.
    tag: [u8; 4],
}

impl Association {
    /// A packet of `chunks`, without a checksum (RFC 9653).
    fn packet(&self, chunks: &[u8]) -> Vec<u8> {
        [&PORTS[..], &self.tag, &[0; 4], chunks].concat()
    }

    /// The answer to a packet of the handshake (section 5.1).
    fn answer(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let chunk = packet.get(PORTS.len() + 8..)?;
        let kind = *chunk.first()?;
        if kind == 1 || kind == 2 {
            self.tag = chunk.get(4..8)?.try_into().ok()?;
        }
        match kind {
            1 => Some(self.packet(INIT_ACK)),
            2 => {
                let mut parameters = chunk.get(20..)?;
                while let [type_0, type_1, len_0, len_1, ..] = *parameters {
                    let len = usize::from(u16::from_be_bytes([len_0, len_1]));
                    if [type_0, type_1] == STATE_COOKIE {
                        let cookie = parameters.get(4..len)?;
                        return Some(self.packet(&[&[10, 0, len_0, len_1], cookie].concat()));
                    }
                    parameters = parameters.get(len.max(4).next_multiple_of(4)..)?;
                }
                None
            }
            10 => Some(self.packet(&[11, 0, 0, 4])),
            _ => None,
        }
    }
}

/// WebRTC's, at both ends (RFC 8841 section 5).
const PORTS: [u8; 4] = [0x13, 0x88, 0x13, 0x88];
/// INIT with the tag 1, a window of 1 MiB, 1,024 streams, the TSN 1, and I-DATA, RE-CONFIG and
/// FORWARD TSN as extensions.
const INIT: &[u8] = &[
    1, 0, 0, 28, 0, 0, 0, 1, 0, 16, 0, 0, 4, 0, 4, 0, 0, 0, 0, 1, //
    0x80, 8, 0, 8, 0x40, 0x82, 0xc0, 0xc2,
];
/// The same, with a cookie of four bytes.
const INIT_ACK: &[u8] = &[
    2, 0, 0, 36, 0, 0, 0, 1, 0, 16, 0, 0, 4, 0, 4, 0, 0, 0, 0, 1, //
    0x80, 8, 0, 8, 0x40, 0x82, 0xc0, 0xc2, 0, 7, 0, 8, 1, 2, 3, 4,
];
const STATE_COOKIE: [u8; 2] = [0, 7];

/// Between two pieces, and before and after all of them.
pub(super) const PAUSE: Duration = Duration::from_micros(10);
pub(super) const AFTERWARDS: Duration = Duration::from_millis(50);
