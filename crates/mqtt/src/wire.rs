//! The elements of packets: integers, texts, reason codes and, in version 5, properties (sections
//! 1.5, 2.2.2 and 2.4).

use crate::packet::Version;
use crate::reason::{Fault, Reason};

pub(crate) type Result<T> = std::result::Result<T, Fault>;

/// Reads what is left of a packet.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(FORM)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(FORM)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub fn byte(&mut self) -> Result<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub fn two(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn varint(&mut self) -> Result<u32> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(FORM)
    }

    /// Binary data after its length.
    pub fn data(&mut self) -> Result<&'a [u8]> {
        let len = self.two()?;
        self.take(len.into())
    }

    pub fn text(&mut self) -> Result<&'a str> {
        str::from_utf8(self.data()?).map_err(|_| FORM)
    }

    /// Not zero.
    pub fn packet_id(&mut self) -> Result<u16> {
        match self.two() {
            Err(_) | Ok(0) => Err(Fault::malformed("the packet identifier is missing or zero")),
            id => id,
        }
    }

    /// A reason code that is allowed in a packet of this type.
    pub fn reason(&mut self, codes: &[u8]) -> Result<Reason> {
        let code = self.byte()?;
        codes.contains(&code).then_some(Reason(code)).ok_or(FORM)
    }

    /// The properties of a packet that may have those of `allowed`, and the user's own.
    pub fn properties(&mut self, version: Version, allowed: &[u8]) -> Result<PropertyBlock<'a>> {
        let mut block = PropertyBlock::default();
        if version == Version::V311 {
            return Ok(block);
        }
        let len = self.varint()? as usize;
        let mut own = Reader(self.take(len)?);
        while let Ok(id) = own.byte() {
            block.read(id, &mut own)?;
            if id != USER && !allowed.contains(&id) {
                return Err(MISPLACED);
            }
        }
        Ok(block)
    }
}

/// Text or binary data after its length.
pub(crate) fn write_data(data: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<()> {
    let data = data.as_ref();
    let len = u16::try_from(data.len())
        .map_err(|_| Fault::protocol("a text has at most 65,535 bytes"))?;
    out.extend(len.to_be_bytes());
    out.extend_from_slice(data);
    Ok(())
}

/// Writes the output of `write`, preceded by its length.
pub(crate) fn write_behind_length(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let begin = out.len();
    out.push(0);
    write(out)?;
    let len = out.len() - begin - 1;
    if len > LEN_MAX {
        return Err(Fault::new(Reason::PACKET_TOO_LARGE, "the maximum packet size is 256 MB"));
    }
    if len > 0x7f {
        let mut head = Vec::with_capacity(4);
        write_varint(len, &mut head);
        out.splice(begin..=begin, head);
    } else {
        out[begin] = len as u8;
    }
    Ok(())
}

fn write_varint(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The code of `reason` if it is allowed in a packet of this type, else that of an unspecified
/// error.
pub(crate) fn code(reason: Reason, codes: &[u8]) -> u8 {
    if codes.contains(&reason.0) { reason.0 } else { Reason::UNSPECIFIED_ERROR.0 }
}

trait Value<'a>: Sized {
    fn read(reader: &mut Reader<'a>) -> Result<Self>;
    fn write(&self, out: &mut Vec<u8>) -> Result<()>;
}

/// An integer of one to four bytes; zero means absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Varint(pub u32);

macro_rules! values {
    ($($kind:ty: |$reader:ident| $read:expr, |$value:ident, $out:ident| $write:expr;)*) => {
        $(impl<'a> Value<'a> for $kind {
            fn read($reader: &mut Reader<'a>) -> Result<Self> {
                $read
            }

            fn write(&self, $out: &mut Vec<u8>) -> Result<()> {
                let $value = self;
                $write;
                Ok(())
            }
        })*
    };
}

values! {
    bool: |reader| match reader.byte()? { 0 => Ok(false), 1 => Ok(true), _ => Err(MISPLACED) },
        |value, out| out.push(u8::from(*value));
    u16: |reader| reader.two(), |value, out| out.extend(value.to_be_bytes());
    u32: |reader| reader.array().map(u32::from_be_bytes),
        |value, out| out.extend(value.to_be_bytes());
    Varint: |reader| reader.varint().map(Varint), |value, out| write_varint(value.0 as usize, out);
    &'a str: |reader| reader.text(), |value, out| write_data(value, out)?;
    &'a [u8]: |reader| reader.data(), |value, out| write_data(value, out)?;
    (&'a str, &'a str): |reader| Ok((reader.text()?, reader.text()?)),
        |value, out| { write_data(value.0, out)?; write_data(value.1, out)? };
}

/// What takes the values of a property: a `Vec` where it may be repeated.
trait Slot<'a> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<()>;
}

impl<'a, T: Value<'a>> Slot<'a> for Option<T> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.replace(T::read(reader)?).map_or(Ok(()), |_| Err(MISPLACED))
    }
}

impl<'a, T: Value<'a>> Slot<'a> for Vec<T> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.push(T::read(reader)?);
        Ok(())
    }
}

/// Writes each of these values of the property `id`.
fn write_all<'a>(id: u8, values: &[impl Value<'a>], out: &mut Vec<u8>) -> Result<()> {
    values.iter().try_for_each(|value| {
        out.push(id);
        value.write(out)
    })
}

macro_rules! property_block {
    ($($id:literal $name:ident: $slot:ty;)*) => {
        /// The properties of a packet, of whatever kind, in the order in which they are written.
        #[derive(Debug, Default)]
        pub(crate) struct PropertyBlock<'a> {
            $(pub $name: $slot,)*
        }

        impl<'a> PropertyBlock<'a> {
            fn read(&mut self, id: u8, reader: &mut Reader<'a>) -> Result<()> {
                match id {
                    $($id => self.$name.read(reader),)*
                    _ => Err(FORM),
                }
            }

            /// Writes them after their length; 3.1.1 has none.
            pub fn write(&self, version: Version, out: &mut Vec<u8>) -> Result<()> {
                if version == Version::V311 {
                    return Ok(());
                }
                write_behind_length(out, |out| {
                    $(write_all($id, self.$name.as_slice(), out)?;)*
                    Ok(())
                })
            }
        }
    };
}

property_block! {
    0x18 will_delay_secs: Option<u32>;
    0x01 is_text: Option<bool>;
    0x02 expiry_secs: Option<u32>;
    0x03 content_type: Option<&'a str>;
    0x08 response_topic: Option<&'a str>;
    0x09 correlation_data: Option<&'a [u8]>;
    0x0b subscriptions: Vec<Varint>;
    0x23 topic_alias: Option<u16>;
    0x11 session_expiry_secs: Option<u32>;
    0x21 receive_maximum: Option<u16>;
    0x27 maximum_packet_size: Option<u32>;
    0x22 topic_alias_maximum: Option<u16>;
    0x12 assigned_client_id: Option<&'a str>;
    0x13 server_keep_alive_secs: Option<u16>;
    0x15 authentication_method: Option<&'a str>;
    0x16 authentication_data: Option<&'a [u8]>;
    0x17 request_problem_information: Option<bool>;
    0x19 request_response_information: Option<bool>;
    0x1a response_information: Option<&'a str>;
    0x1c server_reference: Option<&'a str>;
    0x1f reason_string: Option<&'a str>;
    0x24 maximum_qos: Option<bool>;
    0x25 retain_available: Option<bool>;
    0x28 wildcard_subscription_available: Option<bool>;
    0x29 subscription_identifier_available: Option<bool>;
    0x2a shared_subscription_available: Option<bool>;
    0x26 user: Vec<(&'a str, &'a str)>;
}

/// The user's own: every packet may have them.
const USER: u8 = 0x26;

const FORM: Fault = Fault::malformed("a packet does not have the form of its type");
const MISPLACED: Fault = Fault::protocol("a field or property is not allowed there");

/// The maximum encodable length.
const LEN_MAX: usize = 268_435_455;
