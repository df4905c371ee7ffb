//! Where the frames of a stream begin and end (RFC 9114 section 7.1).
//!
//! h3 keeps a frame other than DATA until it is complete, whatever its length, so long ones are refused. It
//! reads a piece before each head and each payload, so every piece ends with one, or they would pile up.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use h3::error::Code;

/// The maximum length of a frame that is kept until it is complete, and of a field section.
pub(super) const FIELDS_MAX: u64 = 16 << 10;

/// The incomplete frames that one connection may have on all streams.
const INCOMPLETE_MAX: u64 = 4 * FIELDS_MAX;

/// The bytes of a connection's incomplete frames.
pub(super) type Incomplete = Rc<Cell<u64>>;

/// The error of a connection whose peer breaks a rule, and the rule.
pub(super) type Broken = (Code, String);

/// The place in a stream.
pub(super) struct Frames {
    /// Whether the type of a unidirectional stream comes first (section 6.2).
    has_type: bool,
    /// Whether it is the stream of a request.
    is_message: bool,
    /// What has arrived of that, or of a frame's head.
    head: Vec<u8>,
    left: u64,
    incomplete: Incomplete,
    /// This stream's part of it.
    counted: u64,
}

impl Frames {
    pub(super) fn new(has_type: bool, incomplete: Incomplete) -> Frames {
        Frames {
            has_type,
            is_message: !has_type,
            head: Vec::new(),
            left: 0,
            incomplete,
            counted: 0,
        }
    }

    /// The error of a stream that ends here, if it ends within a frame.
    pub(super) fn end(&self) -> Result<(), Broken> {
        match self.is_message && (self.left > 0 || !self.head.is_empty()) {
            true => Err((Code::H3_FRAME_ERROR, "the stream ended within a frame".to_owned())),
            false => Ok(()),
        }
    }

    /// Takes the next piece from `bytes`, which are not empty; fails if a frame is too long.
    pub(super) fn cut(&mut self, bytes: &mut Bytes) -> Result<Bytes, Broken> {
        let mut len = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= len as u64;
        if len == 0 {
            while let Some(byte) = bytes.get(len) {
                self.head.push(*byte);
                len += 1;
                if let Some(left) = self.end_of_head()? {
                    self.left = left;
                    self.head.clear();
                    break;
                }
            }
        }
        if self.left == 0 {
            self.settle(0);
        }
        Ok(bytes.split_to(len))
    }

    /// The length of what follows the head, if that is complete. Streams other than the control stream
    /// have no frames.
    fn end_of_head(&mut self) -> Result<Option<u64>, Broken> {
        let Some((kind, rest)) = variable(&self.head) else { return Ok(None) };
        if std::mem::take(&mut self.has_type) {
            return Ok(Some(if kind == CONTROL { 0 } else { u64::MAX }));
        }
        let Some((len, _)) = variable(rest) else { return Ok(None) };
        if kind != DATA {
            if len > FIELDS_MAX || self.incomplete.get() + len > INCOMPLETE_MAX {
                let why = format!("a frame of {len} bytes is too long: at most {FIELDS_MAX}");
                return Err((Code::H3_EXCESSIVE_LOAD, why));
            }
            self.settle(len);
        }
        Ok(Some(len))
    }

    fn settle(&mut self, counted: u64) {
        let before = std::mem::replace(&mut self.counted, counted);
        self.incomplete.set(self.incomplete.get() - before + counted);
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.settle(0);
    }
}

/// A variable-length integer (RFC 9000 section 16), and what follows it.
fn variable(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, _) = bytes.split_first()?;
    let (number, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let number = number.iter().fold(0, |all, byte| (all << 8) | u64::from(*byte));
    Some((number & (u64::MAX >> (66 - 8 * (1 << (first >> 6)))), rest))
}

const CONTROL: u64 = 0x00;
const DATA: u64 = 0x00;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_with_heads_and_payloads_and_frames_that_are_kept_are_short() {
        let cut = |has_type, bytes: &'static [u8], all: &Incomplete| {
            let (mut frames, mut bytes) = (Frames::new(has_type, Rc::clone(all)), bytes.into());
            let mut pieces = Vec::new();
            while !Bytes::is_empty(&bytes) {
                pieces.push(frames.cut(&mut bytes)?.len());
            }
            Ok::<_, Broken>((pieces, frames))
        };
        let longest = b"\x01\x80\x00\x40\x00";
        let expected: [(bool, &'static [u8], &[usize]); 6] = [
            // DATA of 1 and of 0 bytes, HEADERS of 2.
            (false, b"\x00\x01a\x00\x00\x01\x02bc", &[2, 1, 2, 2, 2]),
            // A control stream with SETTINGS, and a stream of QPACK.
            (true, b"\x00\x04\x02\x06\x01\x0d", &[1, 2, 2, 1]),
            (true, b"\x02\x01\xbf\xff\xff\xff", &[1, 5]),
            // HEADERS of 16,384 bytes and of one more, an unknown frame of 2^62 - 1 bytes.
            (false, longest, &[5]),
            (false, b"\x01\x80\x00\x40\x01", &[]),
            (false, b"\x21\xff\xff\xff\xff\xff\xff\xff\xff", &[]),
        ];
        for (has_type, bytes, pieces) in expected {
            let found = cut(has_type, bytes, &Incomplete::default());
            assert_eq!(found.map_or(Vec::new(), |(found, _)| found), pieces, "{bytes:?}");
        }
        for (bytes, is_whole) in
            [(&b"\x00\x01a"[..], true), (b"\x00\x02a", false), (b"\x00", false)]
        {
            let (_, frames) = cut(false, bytes, &Incomplete::default()).unwrap();
            assert_eq!(frames.end().is_ok(), is_whole, "{bytes:?}");
        }
        // Five at once on a connection are too many, but what is over does not count.
        let all = Incomplete::default();
        let mut open: Vec<_> = (0..4).map(|_| cut(false, longest, &all).unwrap()).collect();
        assert!(cut(false, longest, &all).is_err());
        open.pop();
        assert!(cut(false, longest, &all).is_ok());
    }
}
