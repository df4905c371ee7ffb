//! Fragments of IP packets (RFC 791 section 3.2, RFC 8200 section 4.5), and their reassembly.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::{Offload, Packet, checksum, ip_header_len_of};
use crate::Time;

impl Packet {
    /// The packet in pieces of at most `mtu` bytes, which is at least 68; itself if it fits.
    /// Packets between the same two addresses that are in flight at the same time need different
    /// `identification`s, of which IPv4 takes the low 16 bits.
    pub fn fragments(&self, mtu: usize, identification: u32) -> Vec<Packet> {
        if self.len() <= mtu {
            return vec![self.clone()];
        }
        let header = ip_header_len_of(&self.data);
        let extension = if self.is_ipv4() { 0 } else { EXTENSION_LEN };
        // All but the last are multiples of eight bytes long.
        let step = (mtu - header - extension) / 8 * 8;
        let payload = self.data.slice(header..);
        let piece = |at: usize| {
            let end = payload.len().min(at + step);
            let place = Place { offset: at, more: end < payload.len(), identification };
            self.fragment(place, &payload[at..end])
        };
        (0..payload.len()).step_by(step).map(piece).collect()
    }

    fn fragment(&self, place: Place, piece: &[u8]) -> Packet {
        let header = ip_header_len_of(&self.data);
        let mut data = BytesMut::from(&self.data[..header]);
        let (offset, id) = (place.offset as u16, place.identification);
        if self.is_ipv4() {
            let total = (header + piece.len()) as u16;
            data[2..4].copy_from_slice(&total.to_be_bytes());
            data[4..6].copy_from_slice(&(id as u16).to_be_bytes());
            let bits = (u16::from(place.more) << 13) | (offset / 8);
            data[6..8].copy_from_slice(&bits.to_be_bytes());
            checksum::write_ipv4_checksum(&mut data);
        } else {
            let length = (EXTENSION_LEN + piece.len()) as u16;
            data[4..6].copy_from_slice(&length.to_be_bytes());
            let next = std::mem::replace(&mut data[6], FRAGMENT_HEADER);
            data.extend_from_slice(&[next, 0]);
            // The offset is a multiple of eight: its low bits are free.
            data.extend_from_slice(&(offset | u16::from(place.more)).to_be_bytes());
            data.extend_from_slice(&id.to_be_bytes());
        }
        data.extend_from_slice(piece);
        Packet { data: data.freeze(), offload: Offload::default() }
    }

    /// Whether it is a part of a packet only.
    pub fn is_fragment(&self) -> bool {
        self.place().is_some()
    }

    /// The place of a fragment; `None` for a complete packet.
    fn place(&self) -> Option<Place> {
        let at = |at: usize| u16::from_be_bytes([self.data[at], self.data[at + 1]]);
        if self.is_ipv4() {
            let (bits, identification) = (at(6), u32::from(at(4)));
            let (offset, more) = (usize::from(bits & 0x1fff) * 8, bits & 0x2000 != 0);
            return (offset > 0 || more).then_some(Place { offset, more, identification });
        }
        if self.data[6] != FRAGMENT_HEADER || self.len() < 40 + EXTENSION_LEN {
            return None;
        }
        let identification = u32::from(at(44)) << 16 | u32::from(at(46));
        let (offset, more) = (usize::from(at(42) & !7), at(42) & 1 != 0);
        Some(Place { offset, more, identification })
    }
}

/// The place of a fragment in its packet.
#[derive(Clone, Copy)]
struct Place {
    /// In bytes from the first after the IP header.
    offset: usize,
    /// Whether more fragments follow.
    more: bool,
    identification: u32,
}

/// Packets of which some fragments have arrived at one endpoint.
///
/// At most 64 packets are kept, for at most 30 seconds each (`net.ipv4.ipfrag_time` of Linux): one
/// that misses a fragment is lost, as RFC 791 requires.
#[derive(Debug, Default)]
pub struct Reassembly {
    partial: VecDeque<Partial>,
}

#[derive(Debug)]
struct Partial {
    key: (IpAddr, IpAddr, u32),
    begun: Time,
    /// By their offset.
    pieces: BTreeMap<usize, Bytes>,
    /// The number of bytes after the IP header, once the last fragment has arrived.
    total: Option<usize>,
}

impl Reassembly {
    /// Takes a packet that has arrived at `now`: returns it if it is complete, otherwise the packet
    /// that it completes, if any.
    pub fn take(&mut self, packet: Packet, now: Time) -> Option<Packet> {
        let Some(place) = packet.place() else { return Some(packet) };
        self.partial.retain(|partial| now < partial.begun + PATIENCE);
        let key = (packet.source(), packet.destination(), place.identification);
        let found = self.partial.iter().position(|partial| partial.key == key);
        let mut partial = found.and_then(|at| self.partial.remove(at)).unwrap_or_else(|| Partial {
            key,
            begun: now,
            pieces: BTreeMap::new(),
            total: None,
        });
        let extension = if packet.is_ipv4() { 0 } else { EXTENSION_LEN };
        let piece = packet.data.slice(ip_header_len_of(&packet.data) + extension..);
        if !place.more {
            partial.total = Some(place.offset + piece.len());
        }
        partial.pieces.insert(place.offset, piece);
        if let Some(payload) = partial.payload() {
            return whole(&packet, &payload);
        }
        self.partial.push_back(partial);
        if self.partial.len() > PARTIAL_MAX {
            self.partial.pop_front();
        }
        None
    }
}

impl Partial {
    /// Everything after the IP header, if nothing is missing.
    fn payload(&self) -> Option<Bytes> {
        let total = self.total?;
        let mut payload = BytesMut::with_capacity(total);
        for (offset, piece) in &self.pieces {
            if *offset != payload.len() {
                return None;
            }
            payload.extend_from_slice(piece);
        }
        (payload.len() == total).then(|| payload.freeze())
    }
}

/// The packet of which `fragment` is one; `None` if it would be too long.
fn whole(fragment: &Packet, payload: &[u8]) -> Option<Packet> {
    let header = ip_header_len_of(&fragment.data);
    let mut data = BytesMut::from(&fragment.data[..header]);
    if fragment.is_ipv4() {
        let total = u16::try_from(header + payload.len()).ok()?;
        data[2..4].copy_from_slice(&total.to_be_bytes());
        data[4..8].fill(0);
        checksum::write_ipv4_checksum(&mut data);
    } else {
        let length = u16::try_from(payload.len()).ok()?;
        data[4..6].copy_from_slice(&length.to_be_bytes());
        data[6] = fragment.data[40];
    }
    data.extend_from_slice(payload);
    Packet::parse(data.freeze()).ok()
}

/// The number of IPv6's Fragment header (RFC 8200 section 4.5), and its length in bytes.
const FRAGMENT_HEADER: u8 = 44;
const EXTENSION_LEN: usize = 8;

const PATIENCE: Duration = Duration::from_secs(30);
const PARTIAL_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::{Ecn, UdpDatagram};
    use super::*;

    fn packet(host: [&str; 2], payload: usize) -> Packet {
        let [source, destination] =
            host.map(|host| std::net::SocketAddr::new(host.parse().unwrap(), 5_684));
        let bytes: Vec<u8> = (0..payload).map(|k| (k % 251) as u8).collect();
        UdpDatagram::emit(source, destination, Ecn::NotCapable, &bytes)
    }

    const V4: [&str; 2] = ["192.0.2.1", "192.0.2.2"];
    const V6: [&str; 2] = ["2001:db8::1", "2001:db8::2"];

    /// 2,100 bytes with UDP's header: 1,480 after the first header of IPv4, and 1,448 of IPv6, the
    /// most in 1,500 that are a multiple of eight.
    #[test]
    fn headers_are_those_of_the_rfcs() {
        let fragments = packet(V4, 2_092).fragments(1_500, 0x0001_abcd);
        let heads: Vec<&[u8]> = fragments.iter().map(|fragment| &fragment.bytes()[2..8]).collect();
        assert_eq!(heads[0], [0x05, 0xdc, 0xab, 0xcd, 0x20, 0x00]);
        assert_eq!(heads[1], [0x02, 0x80, 0xab, 0xcd, 0x00, 185]);
        for fragment in &fragments {
            assert_eq!(checksum::header_checksum(&fragment.bytes()[..20]), 0);
            assert!(Packet::parse(fragment.bytes().clone()).is_err());
        }
        let fragments = packet(V6, 2_092).fragments(1_500, 0x0001_abcd);
        let heads: Vec<&[u8]> = fragments.iter().map(|it| &it.bytes()[40..48]).collect();
        assert_eq!(heads[0], [17, 0, 0x00, 0x01, 0x00, 0x01, 0xab, 0xcd]);
        assert_eq!(heads[1], [17, 0, 0x05, 0xa8, 0x00, 0x01, 0xab, 0xcd]);
        assert_eq!(fragments[1].len(), 40 + 8 + 2_100 - 1_448);
    }

    #[test]
    fn fragments_in_any_order_become_the_packet_again() {
        for host in [V4, V6] {
            let sent = packet(host, 4_000);
            let fragments = sent.fragments(1_500, 7);
            assert_eq!(fragments.len(), 3);
            for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
                let mut reassembly = Reassembly::default();
                let mut take = |k: usize| reassembly.take(fragments[k].clone(), Time::ZERO);
                assert_eq!((take(order[0]), take(order[0]), take(order[1])), (None, None, None));
                let got = take(order[2]).unwrap();
                assert_eq!(UdpDatagram::parse(&got).unwrap(), UdpDatagram::parse(&sent).unwrap());
            }
            assert_eq!(sent.fragments(9_000, 7), std::slice::from_ref(&sent));
            assert_eq!(Reassembly::default().take(sent.clone(), Time::ZERO), Some(sent));
        }
    }

    #[test]
    fn a_packet_that_misses_a_fragment_is_forgotten() {
        let [first, second] = [1, 2].map(|id| packet(V4, 2_000).fragments(1_500, id));
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.take(first[0].clone(), Time::ZERO), None);
        // Another packet's fragment does not fill the gap; after 30 s the missing fragment does not
        // either.
        assert_eq!(reassembly.take(second[1].clone(), Time::ZERO), None);
        let late = Time::ZERO + PATIENCE;
        assert_eq!(reassembly.take(first[1].clone(), late), None);
        for id in 10..10 + PARTIAL_MAX as u32 {
            reassembly.take(packet(V4, 2_000).fragments(1_500, id)[0].clone(), late);
        }
        assert_eq!(reassembly.partial.len(), PARTIAL_MAX);
        assert_eq!(reassembly.take(first[0].clone(), late), None);
    }
}
