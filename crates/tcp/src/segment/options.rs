//! TCP options on the wire (RFC 9293 section 3.1; RFC 7323; RFC 2018; RFC 8684).

use bytes::Buf;

use super::multipath::MultipathOptions;
use crate::sequence::Seq;

/// The options of one segment that this engine understands; every other kind is skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, on a SYN only (RFC 9293 section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift, on a SYN only (RFC 7323 section 2).
    pub window_scale: Option<u8>,
    /// "SACK permitted", on a SYN only (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgments (RFC 2018 section 3, RFC 2883).
    pub sack: SackBlocks,
    /// Multipath TCP (RFC 8684).
    pub multipath: Option<Box<MultipathOptions>>,
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the latest TSval of the other side, echoed.
    pub echo: u32,
}

/// A range of received bytes, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first byte.
    pub start: Seq,
    /// One past the last byte.
    pub end: Seq,
}

/// Up to four SACK blocks, in the order in which they stand in the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// What fits into 40 bytes of options; three beside timestamps.
    pub const MAX: usize = 4;

    /// Appends a block; one that has no room is left out.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [SackBlock] {
        &mut self.blocks[..usize::from(self.len)]
    }

    /// True if there is no block.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Options {
    /// Reads the option bytes of a header. A malformed option ends the reading, and what came
    /// before it counts: RFC 9293 section 3.1 asks (MUST-7) that any option be survived.
    pub(super) fn parse(mut bytes: &[u8]) -> Options {
        let mut options = Options::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            match kind {
                kind::END => break,
                kind::NO_OPERATION => {
                    bytes = rest;
                    continue;
                }
                _ => {}
            }
            let Some(&length) = rest.first() else { break };
            let length = usize::from(length);
            if length < 2 || length > bytes.len() {
                break;
            }
            options.take(kind, &bytes[2..length]);
            bytes = &bytes[length..];
        }
        options
    }

    fn take(&mut self, kind: u8, mut body: &[u8]) {
        match (kind, body.len()) {
            (kind::MSS, 2) => self.mss = Some(body.get_u16()),
            // RFC 7323 section 2.3: a larger shift is used as 14.
            (kind::WINDOW_SCALE, 1) => self.window_scale = Some(body[0].min(14)),
            (kind::SACK_PERMITTED, 0) => self.sack_permitted = true,
            (kind::TIMESTAMPS, 8) => {
                self.timestamps = Some(Timestamps { value: body.get_u32(), echo: body.get_u32() });
            }
            (kind::SACK, length) if length % 8 == 0 => {
                for mut block in body.chunks_exact(8) {
                    let (start, end) = (Seq(block.get_u32()), Seq(block.get_u32()));
                    self.sack.push(SackBlock { start, end });
                }
            }
            (kind::MULTIPATH, 1..) => self.multipath.get_or_insert_default().take(body),
            _ => {}
        }
    }

    /// The number of bytes that [`Options::write`] needs, a multiple of four.
    pub(crate) fn wire_len(&self) -> usize {
        let length = self.aligned_len();
        if self.multipath.is_none() || length <= MAX_OPTIONS_LEN {
            return length;
        }
        let mut compact_len = 0;
        self.pass(&mut |bytes| compact_len += bytes.len(), false);
        compact_len.next_multiple_of(4)
    }

    fn aligned_len(&self) -> usize {
        let mut length = 0;
        length += if self.mss.is_some() { 4 } else { 0 };
        length += if self.window_scale.is_some() { 4 } else { 0 };
        length += match (self.timestamps.is_some(), self.sack_permitted) {
            (true, _) => 12,
            (false, true) => 4,
            (false, false) => 0,
        };
        length += if self.sack.is_empty() { 0 } else { 4 + 8 * usize::from(self.sack.len) };
        length + self.multipath.as_ref().map_or(0, |options| options.wire_len())
    }

    /// Writes the options into `out`, which has exactly [`Options::wire_len`] bytes, aligned as
    /// RFC 7323 appendix A recommends if there is room for it.
    pub(super) fn write(&self, out: &mut [u8]) {
        let aligned = self.multipath.is_none() || self.aligned_len() <= out.len();
        let mut rest = out;
        let mut put = |bytes: &[u8]| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            head.copy_from_slice(bytes);
            rest = tail;
        };
        self.pass(&mut put, aligned);
        if !aligned {
            rest.fill(kind::END);
        }
    }

    /// Passes the options to `put`, one after the other. Without padding, what came in 40 bytes fits
    /// into them again.
    fn pass(&self, put: &mut impl FnMut(&[u8]), aligned: bool) {
        if let Some(mss) = self.mss {
            put(&[kind::MSS, 4]);
            put(&mss.to_be_bytes());
        }
        if aligned && self.timestamps.is_some() != self.sack_permitted {
            put(&[kind::NO_OPERATION; 2]);
        }
        if self.sack_permitted {
            put(&[kind::SACK_PERMITTED, 2]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            put(&[kind::TIMESTAMPS, 10]);
            put(&value.to_be_bytes());
            put(&echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            if aligned {
                put(&[kind::NO_OPERATION]);
            }
            put(&[kind::WINDOW_SCALE, 3, shift]);
        }
        if let Some(options) = &self.multipath {
            options.pass(put, aligned);
        }
        if !self.sack.is_empty() {
            if aligned {
                put(&[kind::NO_OPERATION; 2]);
            }
            put(&[kind::SACK, 2 + 8 * self.sack.len]);
            for block in self.sack.as_slice() {
                put(&block.start.0.to_be_bytes());
                put(&block.end.0.to_be_bytes());
            }
        }
    }
}

/// The maximum size of a segment's options (RFC 9293 section 3.1).
pub(crate) const MAX_OPTIONS_LEN: usize = 40;

/// Option kinds (IANA "TCP Option Kind Numbers").
pub(super) mod kind {
    pub const END: u8 = 0;
    pub const NO_OPERATION: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    pub const MULTIPATH: u8 = 30;
}
