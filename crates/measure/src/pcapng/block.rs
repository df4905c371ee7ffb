//! The common structure of pcapng blocks, and their options.

/// Builds one block (draft-ietf-opsawg-pcapng section 3.1): type, total length, body, total length
/// again, all little-endian and in multiples of 4 bytes.
pub(super) struct Block {
    bytes: Vec<u8>,
    has_options: bool,
}

impl Block {
    /// A block of the given type, without a body.
    pub(super) fn new(block_type: u32) -> Block {
        let mut block = Block { bytes: Vec::with_capacity(128), has_options: false };
        block.u32(block_type).u32(0);
        block
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Block {
        self.bytes.extend(value.to_le_bytes());
        self
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Block {
        self.bytes.extend(value.to_le_bytes());
        self
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Block {
        self.bytes.extend(value.to_le_bytes());
        self
    }

    /// A timestamp: the high half comes first in either byte order (sections 4.3 and 4.6).
    pub(super) fn timestamp(&mut self, nanos: u64) -> &mut Block {
        self.u32((nanos >> 32) as u32).u32(nanos as u32)
    }

    /// Bytes of any length, padded with zeros to a multiple of 4.
    pub(super) fn padded(&mut self, data: &[u8]) -> &mut Block {
        self.bytes.extend(data);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// An option (section 3.5). Options come last in a block.
    pub(super) fn option(&mut self, code: u16, value: &[u8]) -> &mut Block {
        debug_assert!(value.len() <= MAX_OPTION_LEN, "the length field has 16 bits");
        self.has_options = true;
        self.u16(code).u16(value.len() as u16).padded(value)
    }

    /// An option that holds text, or none if the text is empty. Text beyond the maximum of an
    /// option (65,535 bytes) is cut off.
    pub(super) fn text_option(&mut self, code: u16, text: &str) -> &mut Block {
        if text.is_empty() {
            return self;
        }
        let mut len = text.len().min(MAX_OPTION_LEN);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        self.option(code, &text.as_bytes()[..len])
    }

    /// An option that holds a 64-bit number.
    pub(super) fn u64_option(&mut self, code: u16, value: u64) -> &mut Block {
        self.option(code, &value.to_le_bytes())
    }

    pub(super) fn timestamp_option(&mut self, code: u16, nanos: u64) -> &mut Block {
        self.has_options = true;
        self.u16(code).u16(8).timestamp(nanos)
    }

    pub(super) fn finish(&mut self) -> &[u8] {
        if self.has_options {
            self.u16(END_OF_OPTIONS).u16(0);
        }
        let total = (self.bytes.len() + 4) as u32;
        self.u32(total);
        self.bytes[4..8].copy_from_slice(&total.to_le_bytes());
        &self.bytes
    }
}

const MAX_OPTION_LEN: usize = u16::MAX as usize;
const END_OF_OPTIONS: u16 = 0;
