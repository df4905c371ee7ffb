//! Encodes Protocol Buffers messages, field by field
//! (<https://protobuf.dev/programming-guides/encoding/>).

#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// An integer (`int32`, `int64`, an enumeration). Negative ones take ten bytes.
    pub(crate) fn integer(&mut self, field: u32, value: i64) -> &mut Message {
        self.tag(field, VARINT);
        self.varint(value.cast_unsigned());
        self
    }

    pub(crate) fn bytes(&mut self, field: u32, value: impl AsRef<[u8]>) -> &mut Message {
        let value = value.as_ref();
        self.tag(field, LENGTH_DELIMITED);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn message(&mut self, field: u32, value: &Message) -> &mut Message {
        self.bytes(field, &value.0)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn tag(&mut self, field: u32, wire_type: u64) {
        self.varint(u64::from(field) << 3 | wire_type);
    }

    /// Seven bits per byte, the lowest first; the top bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

const VARINT: u64 = 0;
const LENGTH_DELIMITED: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_the_guide_shows() {
        let mut inner = Message::default();
        inner.integer(1, 150);
        assert_eq!(inner.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let mut outer = Message::default();
        outer.message(3, &inner).bytes(2, "testing").integer(1, -2);
        let expected = [
            &[0x1a, 0x03, 0x08, 0x96, 0x01][..],
            &[0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67],
            &[0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ];
        assert_eq!(outer.into_bytes(), expected.concat());
    }
}
