//! Packet hooks: the test sees, drops or changes single packets.

use std::fmt;
use std::time::Duration;

use trackbed_core::packet::{IpHeader, protocol, transport_checksum};
use trackbed_core::{Packet as IpPacket, Time};
use trackbed_net::models::{Gate, Gated};
use trackbed_net::{Alteration, DropReason, Link, Outlet};

/// A packet that an end sends, for the hook of [`Track::on_send`](crate::Track::on_send).
///
/// ```
/// use trackbed_test::{Link, Packet, Track, UdpSocket};
///
/// let mut track = Track::new(1);
/// let (a, b) = track.link(Link::new());
/// track.on_send(&a, |packet: &mut Packet| {
///     if packet.number() == 1 {
///         packet.discard();
///     }
/// });
/// track.run(async {
///     let receiver = UdpSocket::bind(&b, b.address(9)).unwrap();
///     let sender = UdpSocket::bind(&a, a.address(0)).unwrap();
///     sender.send_to(b"lost", b.address(9)).await.unwrap();
///     sender.send_to(b"not", b.address(9)).await.unwrap();
///     assert_eq!(receiver.recv_from(&mut [0; 9]).await.unwrap().0, 3);
/// });
/// ```
#[derive(Debug)]
pub struct Packet {
    number: u64,
    at: Time,
    packet: IpPacket,
    changed: bool,
    discarded: bool,
}

impl Packet {
    /// Its number among all packets that the end has sent, from 1. TCP's own packets count.
    ///
    /// ```
    /// # let mut track = trackbed_test::Track::new(1);
    /// # let (a, b) = track.link(trackbed_test::Link::new());
    /// track.on_send(&a, |packet| assert!(packet.number() < 1000, "the protocol does not stop"));
    /// ```
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When it was sent, from the start of the run.
    ///
    /// ```
    /// # let mut track = trackbed_test::Track::new(1);
    /// # let (a, b) = track.link(trackbed_test::Link::new());
    /// track.on_send(&a, |packet| assert!(packet.time().as_secs() < 10, "it is silent by then"));
    /// ```
    pub fn time(&self) -> Duration {
        self.at.since(Time::ZERO)
    }

    /// All its bytes, from the IP header on.
    ///
    /// ```
    /// # let mut track = trackbed_test::Track::new(1);
    /// # let (a, b) = track.link(trackbed_test::Link::new());
    /// track.on_send(&a, |packet| assert!(packet.bytes().len() <= 1280, "it is too large"));
    /// ```
    pub fn bytes(&self) -> &[u8] {
        self.packet.bytes()
    }

    /// The bytes after the UDP or TCP header.
    ///
    /// ```
    /// # let mut track = trackbed_test::Track::new(1);
    /// # let (a, b) = track.link(trackbed_test::Link::new());
    /// track.on_send(&a, |packet| assert!(!packet.payload().windows(6).any(|w| w == b"secret")));
    /// ```
    pub fn payload(&self) -> &[u8] {
        &self.bytes()[self.payload_start()..]
    }

    /// Replaces the bytes after the UDP or TCP header, and corrects lengths and checksums.
    ///
    /// # Panics
    /// If the packet is TCP and `payload` has another length, since that would shift its stream.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.on_send(&a, |packet| packet.set_payload(b"forged"));
    /// track.run(async {
    ///     let receiver = UdpSocket::bind(&b, b.address(9)).unwrap();
    ///     let sender = UdpSocket::bind(&a, a.address(0)).unwrap();
    ///     sender.send_to(b"true", b.address(9)).await.unwrap();
    ///     let mut buffer = [0; 6];
    ///     receiver.recv_from(&mut buffer).await.unwrap();
    ///     assert_eq!(&buffer, b"forged");
    /// });
    /// ```
    #[track_caller]
    pub fn set_payload(&mut self, payload: &[u8]) {
        let (old, is_udp) = (&self.packet, self.packet.protocol() == protocol::UDP);
        assert!(
            is_udp || payload.len() == self.payload().len(),
            "packet {}: only a UDP payload can change its length; give {} bytes",
            self.number,
            self.payload().len()
        );
        let header = IpHeader {
            source: old.source(),
            destination: old.destination(),
            protocol: old.protocol(),
            ecn: old.ecn(),
        };
        let transport = old.transport();
        let own = transport.len() - self.payload().len();
        self.packet = IpPacket::build(&header, own + payload.len(), |out| {
            let (start, rest) = out.split_at_mut(own);
            start.copy_from_slice(&transport[..own]);
            rest.copy_from_slice(payload);
            let checksum_at = if is_udp { 6 } else { 16 };
            if is_udp {
                let length = out.len() as u16;
                out[4..6].copy_from_slice(&length.to_be_bytes());
            }
            out[checksum_at..checksum_at + 2].fill(0);
            let sum = transport_checksum(&header, out);
            // RFC 768: a checksum of zero means that there is none.
            let sum = if is_udp && sum == 0 { u16::MAX } else { sum };
            out[checksum_at..checksum_at + 2].copy_from_slice(&sum.to_be_bytes());
        });
        self.changed = true;
    }

    /// Loses the packet.
    ///
    /// ```
    /// # let mut track = trackbed_test::Track::new(1);
    /// # let (a, b) = track.link(trackbed_test::Link::new());
    /// track.on_send(&a, |packet| {
    ///     if (3..=5).contains(&packet.number()) {
    ///         packet.discard();
    ///     }
    /// });
    /// ```
    pub fn discard(&mut self) {
        self.discarded = true;
    }

    fn payload_start(&self) -> usize {
        let ip = self.packet.len() - self.packet.transport().len();
        let transport = match self.packet.protocol() {
            protocol::TCP => usize::from(self.bytes()[ip + 12] >> 4) * 4,
            _ => 8,
        };
        (ip + transport).min(self.packet.len())
    }
}

pub(crate) type Hook = Box<dyn FnMut(&mut Packet) + Send>;

/// The link `inner` behind hooks, which see a packet one after the other.
pub(crate) fn hooked(hooks: Vec<Hook>, inner: Box<dyn Link>) -> Box<dyn Link> {
    if hooks.is_empty() { inner } else { Box::new(Gated { gate: Hooks { hooks, sent: 0 }, inner }) }
}

struct Hooks {
    hooks: Vec<Hook>,
    sent: u64,
}

impl Gate for Hooks {
    fn pass(&mut self, now: Time, packet: IpPacket, inner: &mut dyn Link, out: &mut dyn Outlet) {
        // Sockets that are dropped after a panic still send; a second panic would end the process.
        if std::thread::panicking() {
            return inner.push(now, packet, out);
        }
        self.sent += 1;
        let (number, changed, discarded) = (self.sent, false, false);
        let mut seen = Packet { number, at: now, packet, changed, discarded };
        for hook in &mut self.hooks {
            hook(&mut seen);
            if seen.discarded {
                return out.drop(now, seen.packet, DropReason::Loss);
            }
        }
        if seen.changed {
            out.altered(now, &seen.packet, Alteration::Corrupted);
        }
        inner.push(now, seen.packet, out);
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("sent", &self.sent).finish_non_exhaustive()
    }
}
