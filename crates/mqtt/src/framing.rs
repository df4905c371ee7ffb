//! Finding packets in a stream of bytes (section 2.2 of version 3.1.1, 2.1 of version 5).

use bytes::Bytes;

use crate::reason::{Fault, Reason};

/// A raw packet: its first byte, and everything after its length.
#[derive(Debug)]
pub(crate) struct Raw {
    pub first: u8,
    pub body: Bytes,
}

/// Splits a stream into packets. It buffers at most the received part of one packet.
#[derive(Debug)]
pub(crate) struct Splitter {
    /// The beginning of a packet that is not complete yet.
    kept: Vec<u8>,
    /// The maximum packet size in bytes.
    pub packet_len_max: usize,
}

impl Splitter {
    pub fn new(packet_len_max: usize) -> Splitter {
        Splitter { kept: Vec::new(), packet_len_max }
    }

    /// Whether a packet is incomplete.
    pub fn is_inside_a_packet(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The next packet of the buffer and `bytes`, from which it takes what it needs; `None` when
    /// all bytes are taken.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Raw>, Fault> {
        if self.kept.is_empty() {
            let Some((head_len, body_len)) = self.lengths(bytes)? else {
                self.keep(bytes, bytes.len());
                return Ok(None);
            };
            let Some(whole) = bytes.get(..head_len + body_len) else {
                self.keep(bytes, bytes.len());
                return Ok(None);
            };
            let raw = Raw { first: whole[0], body: Bytes::copy_from_slice(&whole[head_len..]) };
            *bytes = &bytes[head_len + body_len..];
            return Ok(Some(raw));
        }
        loop {
            let wanted = match self.lengths(&self.kept)? {
                None => self.kept.len() + 1,
                Some((head_len, body_len)) if self.kept.len() == head_len + body_len => {
                    let first = self.kept[0];
                    let body = Bytes::copy_from_slice(&self.kept[head_len..]);
                    // The memory of a long packet is released.
                    self.kept = Vec::new();
                    return Ok(Some(Raw { first, body }));
                }
                Some((head_len, body_len)) => head_len + body_len,
            };
            if bytes.is_empty() {
                return Ok(None);
            }
            let missing = wanted - self.kept.len();
            self.keep(bytes, missing.min(bytes.len()));
        }
    }

    fn keep(&mut self, bytes: &mut &[u8], len: usize) {
        self.kept.extend_from_slice(&bytes[..len]);
        *bytes = &bytes[len..];
    }

    /// The lengths of a packet's head and body; `None` while unknown.
    fn lengths(&self, bytes: &[u8]) -> Result<Option<(usize, usize)>, Fault> {
        let mut len = 0usize;
        for (index, byte) in bytes.iter().skip(1).take(4).enumerate() {
            len |= usize::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                let head_len = index + 2;
                if head_len + len > self.packet_len_max {
                    let why = "the packet exceeds the maximum packet size";
                    return Err(Fault::new(Reason::PACKET_TOO_LARGE, why));
                }
                return Ok(Some((head_len, len)));
            }
        }
        if bytes.len() > 4 {
            return Err(Fault::malformed("the length of a packet has more than four bytes"));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(splitter: &mut Splitter, mut bytes: &[u8]) -> Vec<(u8, usize)> {
        let mut found = Vec::new();
        while let Some(raw) = splitter.next(&mut bytes).unwrap() {
            found.push((raw.first, raw.body.len()));
        }
        assert!(bytes.is_empty());
        found
    }

    /// A stream yields the same packets however it is split.
    #[test]
    fn packets_are_found_wherever_the_stream_is_cut() {
        let mut stream = vec![0xc0, 0];
        stream.extend([0x30, 0x80, 0x01]);
        stream.extend([7; 128]);
        stream.extend([0x30, 3, 1, 2, 3, 0xe0, 0]);
        let packets = vec![(0xc0, 0), (0x30, 128), (0x30, 3), (0xe0, 0)];
        for piece in 1..=stream.len() {
            let mut splitter = Splitter::new(200);
            let found: Vec<_> =
                stream.chunks(piece).flat_map(|piece| all(&mut splitter, piece)).collect();
            assert_eq!(found, packets, "in pieces of {piece}");
            assert!(!splitter.is_inside_a_packet());
        }
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_has_come() {
        let mut splitter = Splitter::new(100);
        assert!(splitter.next(&mut &[0x30, 98][..]).unwrap().is_none());
        let reason = |bytes: &[u8]| Splitter::new(100).next(&mut &*bytes).unwrap_err().reason;
        assert_eq!(reason(&[0x30, 99]), Reason::PACKET_TOO_LARGE);
        assert_eq!(reason(&[0x30, 0xff, 0xff, 0xff, 0x7f]), Reason::PACKET_TOO_LARGE);
        assert_eq!(reason(&[0x30, 0xff, 0xff, 0xff, 0xff]), Reason::MALFORMED_PACKET);
    }
}
