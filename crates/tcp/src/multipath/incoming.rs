//! Incoming data of one path: from its sequence space to the stream (RFC 8684 section 3.3.1).

use std::collections::VecDeque;

use bytes::Bytes;
use trackbed_core::packet::ChecksumOfParts;

#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// In the order of their places, without overlap.
    mappings: VecDeque<Range>,
    /// Bytes that the path delivered in order, ever.
    delivered: u64,
    /// What is there of a mapping whose checksum cannot be checked yet.
    held: Vec<Bytes>,
    held_len: u64,
}

/// A piece of the path that is a piece of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Bytes of the path before it.
    pub place: u64,
    /// Where it stands in the stream.
    pub offset: u64,
    /// Bytes; [`Range::ENDLESS`] if the path is the stream from here on.
    pub len: u64,
    /// What is needed to check it.
    pub check: Option<Check>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub number: u64,
    pub subflow: u32,
    pub len: u16,
    pub checksum: u16,
}

/// The result for data that was delivered in the path's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Data at this offset of the stream.
    Data(u64, Bytes),
    /// Its checksum is wrong; this is the mapping, and this is the data.
    Damaged(Range, Vec<Bytes>),
}

impl Range {
    pub const ENDLESS: u64 = u64::MAX / 2;

    fn end(&self) -> u64 {
        self.place + self.len
    }
}

impl Incoming {
    /// The place of the byte with the relative sequence number `subflow` (1 is the first byte),
    /// which lies near what was delivered last.
    pub fn place(&self, subflow: u32) -> Option<u64> {
        let near = self.delivered as u32;
        let ahead = subflow.wrapping_sub(1).wrapping_sub(near) as i32;
        self.delivered.checked_add_signed(ahead.into())
    }

    /// Takes a mapping. Existing mappings are not changed.
    pub fn map(&mut self, range: Range) {
        if range.len == 0 || range.end() <= self.delivered - self.held_len {
            return;
        }
        let at = self.mappings.partition_point(|known| known.place < range.place);
        let clashes = |known: Option<&Range>| {
            known.is_some_and(|known| known.place < range.end() && range.place < known.end())
        };
        if clashes(self.mappings.get(at))
            || clashes(at.checked_sub(1).and_then(|at| self.mappings.get(at)))
        {
            return self.fill(range);
        }
        if let Some(last) = at.checked_sub(1).and_then(|at| self.mappings.get_mut(at))
            && last.check.is_none()
            && range.check.is_none()
            && last.end() == range.place
            && last.offset + last.len == range.offset
        {
            last.len += range.len;
            return;
        }
        self.mappings.insert(at, range);
    }

    /// What the path delivers from now on is the stream, from `offset` on.
    pub fn map_endlessly(&mut self, offset: u64) {
        let place = self.delivered;
        self.mappings.clear();
        self.mappings.push_back(Range { place, offset, len: Range::ENDLESS, check: None });
    }

    /// What waits for a checksum that will not be checked.
    pub fn release(&mut self) -> Vec<Bytes> {
        self.held_len = 0;
        std::mem::take(&mut self.held)
    }

    /// Takes the next bytes of the path. Bytes without a mapping are left out: their sender has to
    /// send them again, because they are not acknowledged at the data level.
    pub fn deliver(&mut self, mut data: Bytes, mut take: impl FnMut(Delivery)) {
        while !data.is_empty() {
            self.forget();
            let Some(&range) = self.mappings.front() else {
                self.delivered += data.len() as u64;
                return;
            };
            if range.place > self.delivered {
                let gap = (range.place - self.delivered).min(data.len() as u64);
                let _unmapped = data.split_to(gap as usize);
                self.delivered += gap;
                continue;
            }
            let part =
                data.split_to((range.end() - self.delivered).min(data.len() as u64) as usize);
            let within = self.delivered - range.place;
            self.delivered += part.len() as u64;
            match range.check {
                None => take(Delivery::Data(range.offset + within, part)),
                Some(check) => self.hold(range, check, part, &mut take),
            }
        }
        self.forget();
    }

    /// Collects the data of a mapping with a checksum, and checks it when it is complete.
    fn hold(&mut self, range: Range, check: Check, part: Bytes, take: &mut impl FnMut(Delivery)) {
        self.held_len += part.len() as u64;
        self.held.push(part);
        if self.held_len < range.len {
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.held_len = 0;
        if checksum(check.number, check.subflow, check.len, &held) != check.checksum {
            return take(Delivery::Damaged(range, held));
        }
        let mut offset = range.offset;
        for part in held {
            let len = part.len() as u64;
            take(Delivery::Data(offset, part));
            offset += len;
        }
    }

    /// Maps those parts of `range` that are not mapped yet, if it needs no checksum.
    fn fill(&mut self, range: Range) {
        if range.check.is_some() {
            return;
        }
        let mut place = range.place;
        while place < range.end() {
            let next = self.mappings.iter().find(|known| known.end() > place).copied();
            let end = match next {
                Some(known) if known.place <= place => {
                    place = known.end();
                    continue;
                }
                Some(known) => known.place.min(range.end()),
                None => range.end(),
            };
            let offset = range.offset + (place - range.place);
            let at = self.mappings.partition_point(|known| known.place < place);
            self.mappings.insert(at, Range { place, offset, len: end - place, check: None });
            place = end;
        }
    }

    fn forget(&mut self) {
        while self.mappings.front().is_some_and(|known| known.end() <= self.delivered) {
            self.mappings.pop_front();
        }
    }
}

/// The checksum of `data` (RFC 8684 section 3.3.1) at the data sequence number `number`, with the
/// rest of its mapping as it stands in the option: `subflow` and `len`.
pub(super) fn checksum<'a>(
    number: u64,
    subflow: u32,
    len: u16,
    data: impl IntoIterator<Item = &'a Bytes>,
) -> u16 {
    let mut sum = ChecksumOfParts::default();
    sum.add(&number.to_be_bytes());
    sum.add(&subflow.to_be_bytes());
    sum.add(&len.to_be_bytes());
    data.into_iter().for_each(|part| sum.add(part));
    sum.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(place: u64, offset: u64, len: u64) -> Range {
        Range { place, offset, len, check: None }
    }

    fn deliver(incoming: &mut Incoming, data: &'static [u8]) -> Vec<Delivery> {
        let mut all = Vec::new();
        incoming.deliver(Bytes::from_static(data), |delivery| all.push(delivery));
        all
    }

    #[test]
    fn bytes_go_where_their_mapping_says_and_unmapped_ones_nowhere() {
        let mut incoming = Incoming::default();
        incoming.map(range(2, 100, 2));
        incoming.map(range(6, 50, 4));
        incoming.map(range(6, 50, 4));
        incoming.map(range(0, 10, 3));
        let data = |offset, bytes| Delivery::Data(offset, Bytes::from_static(bytes));
        // The mapping from 0 on covers what the older one does not.
        let all = deliver(&mut incoming, b"abcdefgh");
        assert_eq!(all, [data(10, b"ab"), data(100, b"cd"), data(50, b"gh")]);
        assert_eq!(deliver(&mut incoming, b"ijk"), [data(52, b"ij")]);
        assert_eq!(incoming.place(13), Some(12));
        assert_eq!(incoming.place(11), Some(10));
        incoming.map_endlessly(7);
        assert_eq!(deliver(&mut incoming, b"lm"), [data(7, b"lm")]);
        assert_eq!(incoming.delivered, 13);
    }

    #[test]
    fn data_waits_for_its_checksum() {
        let sum = checksum(77, 1, 5, [&Bytes::from_static(b"abcde")]);
        let check = Check { number: 77, subflow: 1, len: 5, checksum: sum };
        let range = Range { check: Some(check), ..range(0, 9, 5) };
        let mut incoming = Incoming::default();
        incoming.map(range);
        assert_eq!(deliver(&mut incoming, b"abc"), []);
        let all = deliver(&mut incoming, b"de");
        assert_eq!(all[1], Delivery::Data(12, Bytes::from_static(b"de")));
        let mut incoming = Incoming::default();
        incoming.map(range);
        assert!(matches!(deliver(&mut incoming, b"abcdx")[..], [Delivery::Damaged(..)]));
    }
}
