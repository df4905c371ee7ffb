//! What a server sends to an unknown client, without keeping state for it.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use bytes::Bytes;
use dimpl::Output;
use ring::hmac;
use trackbed_connection::{Error, Result, Step};
use trackbed_substrate::{now, to_std_instant};

use super::channel::{BUFFER_LEN, DtlsChannel, HANDSHAKE_FAILURE};
use super::hello::Hello;
use super::{DtlsEnd, TlsVersion};
use crate::datagrams::{Channel, Peers, Route};
use crate::ledger::Tally;

/// The admission of clients to a server.
///
/// Over DTLS 1.2 every client must first return a cookie (HelloVerifyRequest, RFC 6347 section
/// 4.2.1). Over 1.3 (HelloRetryRequest, RFC 9147 section 5.1) this happens if it is configured, or
/// while many handshakes are unfinished. The cookie is a MAC of the client's address and random
/// number. A temporary engine makes the reply and is discarded. When the cookie comes back, a new
/// engine gets the first hello, which is reconstructed from the second.
pub(crate) struct Gate {
    end: DtlsEnd,
    key: hmac::Key,
    always_asks: bool,
    handshakes: Tally,
}

/// What became of a datagram of an unknown sender.
pub(crate) enum Greeting {
    /// Nothing: it is not a ClientHello, its cookie is wrong, or there are too many handshakes.
    Ignored,
    /// It got a reply, and no state is kept.
    Answered,
    /// A handshake begins, with this datagram the first of its channel.
    Admitted(Admission),
}

/// How a handshake begins.
pub(crate) struct Admission(Option<([u8; 32], Bytes)>);

impl Gate {
    pub(crate) fn new(end: DtlsEnd, always_asks: bool) -> Result<Gate> {
        let mut secret = [0; 32];
        let drawn = end.randomness.fill(&mut secret);
        drawn.map_err(|reason| Error::lasting(end.protocol, Step::Listen, reason))?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        Ok(Gate { end, key, always_asks, handshakes: Tally::default() })
    }

    /// Reads a datagram of an unknown sender at `peer`, and replies if it must bring a cookie.
    pub(crate) fn greet(&self, peers: &Peers, peer: Route, datagram: &[u8]) -> Greeting {
        let Some(hello) = Hello::parse(datagram) else { return Greeting::Ignored };
        let is_13 = hello.offers_13 && self.end.versions.contains(&TlsVersion::Tls13);
        let shaking = self.handshakes.count();
        let secret = self.secret(peer.peer);
        let admission = match hello.cookie {
            None if is_13 && !self.always_asks && shaking < BUSY => Admission(None),
            None => {
                let answer = self.answer(secret, datagram, peers.room());
                answer.iter().for_each(|datagram| peers.answer(peer, datagram));
                return Greeting::Answered;
            }
            Some(cookie) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
                let is_ours = hmac::verify(&key, hello.random, cookie).is_ok();
                match hello.before().filter(|_| is_ours) {
                    Some(before) => Admission(Some((secret, before.into()))),
                    None => return Greeting::Ignored,
                }
            }
        };
        match shaking {
            0..SHAKING_HANDS_MAX => Greeting::Admitted(admission),
            _ => Greeting::Ignored,
        }
    }

    /// Does the handshake with an admitted client.
    ///
    /// # Errors
    /// If it fails; the client has been told.
    pub(crate) async fn accept(
        &self,
        admission: Admission,
        below: Rc<dyn Channel>,
    ) -> Result<Rc<DtlsChannel>> {
        let _shaking = self.handshakes.begin();
        self.end.accept(below, admission.0).await
    }

    /// The secret for the cookies of one client, by its address and port.
    fn secret(&self, peer: SocketAddr) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.key);
        match peer.ip() {
            IpAddr::V4(address) => context.update(&address.octets()),
            IpAddr::V6(address) => context.update(&address.octets()),
        }
        context.update(&peer.port().to_be_bytes());
        let mut secret = [0; 32];
        secret.copy_from_slice(context.sign().as_ref());
        secret
    }

    /// An engine's reply to its first datagram, if it must request a cookie.
    fn answer(&self, secret: [u8; 32], datagram: &[u8], room: usize) -> Vec<Vec<u8>> {
        let Ok(mut dtls) = self.end.engine(room, true) else { return Vec::new() };
        dtls.set_cookie_secret(secret);
        self.end.randomness.scope(|| {
            let heard = dtls
                .handle_timeout(to_std_instant(now()))
                .and_then(|()| dtls.handle_packet(datagram));
            if heard.is_err() {
                return vec![HANDSHAKE_FAILURE.to_vec()];
            }
            let mut answer = Vec::new();
            let mut buffer = vec![0; room.max(BUFFER_LEN)];
            loop {
                match dtls.poll_output(&mut buffer) {
                    Output::Packet(record) => answer.push(record.to_vec()),
                    Output::BufferTooSmall { needed } => buffer.resize(needed, 0),
                    Output::Timeout(_) => return answer,
                    _ => {}
                }
            }
        })
    }
}

/// The maximum number of unfinished handshakes of a server, and the number at which every client
/// must show a cookie (RFC 9147 section 5.1).
const SHAKING_HANDS_MAX: usize = 1_024;
const BUSY: usize = 64;
