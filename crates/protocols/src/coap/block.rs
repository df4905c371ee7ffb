//! Block-wise transfer (RFC 7959): block options, and bodies in blocks.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use trackbed_connection::{Body, Error, Result};

use crate::config::TransportParameters;

/// The value of a Block1 or Block2 option (RFC 7959 section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Which block it is, from 0 on; below 2^20.
    pub(super) number: u32,
    pub(super) more: bool,
    pub(super) size: BlockSize,
}

/// The size of a block: a power of two from 16 to 1,024 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockSize {
    exponent: u8,
}

impl BlockSize {
    pub(super) const MAX: BlockSize = BlockSize { exponent: 6 };

    pub(super) fn of(bytes: u16) -> Option<BlockSize> {
        let exponent = bytes.checked_ilog2()?.checked_sub(4)? as u8;
        let size = BlockSize { exponent };
        (bytes.is_power_of_two() && size <= BlockSize::MAX).then_some(size)
    }

    /// The largest size of at most this many bytes, if any.
    pub(super) fn within(bytes: usize) -> Option<BlockSize> {
        (0..=BlockSize::MAX.exponent)
            .rev()
            .map(|exponent| BlockSize { exponent })
            .find(|size| size.bytes() <= bytes)
    }

    pub(super) fn bytes(self) -> usize {
        16 << self.exponent
    }
}

impl Block {
    /// The block of `size` that begins at `offset`, which is a multiple of it; `None` if that is
    /// beyond what numbers reach.
    pub(super) fn at(offset: u64, more: bool, size: BlockSize) -> Option<Block> {
        let number = u32::try_from(offset / size.bytes() as u64).ok()?;
        (number <= NUMBER_MAX).then_some(Block { number, more, size })
    }

    pub(super) fn offset(self) -> u64 {
        u64::from(self.number) * self.size.bytes() as u64
    }

    /// Reads the value of an option; `None` if it is malformed.
    pub(super) fn decode(value: &[u8]) -> Option<Block> {
        if value.len() > 3 {
            return None;
        }
        let bits = value.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        let size = BlockSize { exponent: (bits & 7) as u8 };
        // 7 is reserved.
        let block = Block { number: bits >> 4, more: bits & 8 != 0, size };
        (size <= BlockSize::MAX).then_some(block)
    }

    pub(super) fn encode(self) -> Vec<u8> {
        let bits = self.number << 4 | u32::from(self.more) << 3 | u32::from(self.size.exponent);
        super::options::uint(bits)
    }
}

/// A body that is read in blocks of a given size.
pub(super) struct Pieces {
    body: Option<Body>,
    held: VecDeque<Bytes>,
    len: usize,
}

impl Pieces {
    pub(super) fn of(body: Body) -> Pieces {
        Pieces { body: Some(body), held: VecDeque::new(), len: 0 }
    }

    /// The next `size` bytes, or what is left of them, and whether there are more.
    pub(super) async fn next(&mut self, size: usize) -> Result<(Bytes, bool)> {
        while self.len <= size
            && let Some(body) = &mut self.body
        {
            match body.next().await.transpose()? {
                Some(piece) => self.put_back(piece, false),
                None => self.body = None,
            }
        }
        let piece = self.take(size);
        Ok((piece, self.len > 0))
    }

    /// Puts a piece back in front.
    pub(super) fn return_piece(&mut self, piece: Bytes) {
        self.put_back(piece, true);
    }

    fn put_back(&mut self, piece: Bytes, in_front: bool) {
        if piece.is_empty() {
            return;
        }
        self.len += piece.len();
        if in_front { self.held.push_front(piece) } else { self.held.push_back(piece) }
    }

    fn take(&mut self, size: usize) -> Bytes {
        let wanted = size.min(self.len);
        self.len -= wanted;
        // The usual piece lies within one of the body's.
        if let Some(first) = self.held.front_mut()
            && first.len() > wanted
        {
            return first.split_to(wanted);
        }
        let mut piece = BytesMut::with_capacity(wanted);
        while piece.len() < wanted
            && let Some(mut first) = self.held.pop_front()
        {
            let part = first.split_to(first.len().min(wanted - piece.len()));
            if piece.is_empty() && part.len() == wanted {
                if !first.is_empty() {
                    self.held.push_front(first);
                }
                return part;
            }
            piece.extend_from_slice(&part);
            if !first.is_empty() {
                self.held.push_front(first);
            }
        }
        piece.freeze()
    }
}

/// The highest number of a block: it has 20 bits.
const NUMBER_MAX: u32 = (1 << 20) - 1;

pub(super) fn block_size(
    protocol: &'static str,
    transport: &TransportParameters,
) -> Result<BlockSize> {
    let bytes = transport.coap.block_size;
    BlockSize::of(bytes).ok_or_else(|| {
        let advice = format!(
            "a block size must be 16, 32, 64, 128, 256, 512 or 1,024 bytes (RFC 7959 section 2.2), \
             not {bytes}"
        );
        Error::unsupported(protocol, advice)
    })
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, stream};

    use super::*;

    /// RFC 7959 section 3.1 writes NUM/M/size: 0/1/128 and its option's value.
    #[test]
    fn options_are_those_of_rfc_7959() {
        let size = BlockSize::of(128).unwrap();
        let cases: [(u32, bool, &[u8]); 4] = [
            (0, true, &[0x0b]),
            (1, false, &[0x13]),
            (16, true, &[0x01, 0x0b]),
            (0xf_ffff, false, &[0xff, 0xff, 0xf3]),
        ];
        for (number, more, value) in cases {
            let block = Block { number, more, size };
            assert_eq!(block.encode(), value);
            assert_eq!(Block::decode(value), Some(block));
        }
        let first = Block { number: 0, more: false, size: BlockSize::of(16).unwrap() };
        assert_eq!((first.encode(), Block::decode(&[])), (vec![], Some(first)));
        assert_eq!((Block::decode(&[7]), Block::decode(&[0; 4])), (None, None));
    }

    #[test]
    fn sizes_are_powers_of_two_from_16_to_1024() {
        let known: Vec<u16> = (0..=u16::MAX).filter(|&it| BlockSize::of(it).is_some()).collect();
        assert_eq!(known, [16, 32, 64, 128, 256, 512, 1_024]);
        assert_eq!(BlockSize::within(15), None);
        assert_eq!(BlockSize::within(1_023), BlockSize::of(512));
        assert_eq!(BlockSize::within(9_000), Some(BlockSize::MAX));
        let far = (1 << 20) * 16;
        assert_eq!(Block::at(far, false, BlockSize::of(16).unwrap()), None);
        assert_eq!(Block::at(far, false, BlockSize::MAX).unwrap().offset(), far);
    }

    #[test]
    fn a_body_is_cut_as_wanted_and_says_when_it_ends() {
        let pieces = ["ab", "", "c", "defgh"].map(|text| Ok(Bytes::from_static(text.as_bytes())));
        let mut pieces = Pieces::of(Box::pin(stream::iter(pieces)));
        let mut next = |size| pieces.next(size).now_or_never().unwrap().unwrap();
        assert_eq!(next(1), ("a".into(), true));
        assert_eq!(next(3), ("bcd".into(), true));
        assert_eq!(next(4), ("efgh".into(), false));
        assert_eq!(next(4), (Bytes::new(), false));
        pieces.return_piece("xyz".into());
        assert_eq!(pieces.next(2).now_or_never().unwrap().unwrap(), ("xy".into(), true));
    }
}
