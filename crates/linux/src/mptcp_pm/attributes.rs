//! Attributes of netlink messages: the numbers of the kernel's headers, and encoding and decoding
//! of values. Numbers are in native byte order unless stated otherwise.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{DefaultNla, Emitable as _, NLA_F_NESTED, NlasIterator};

/// Attributes by kind; of each kind, the first one counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a>(&'a [u8]);

impl<'a> Attributes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Attributes<'a> {
        Attributes(bytes)
    }

    /// The kind and the value of each, up to the first malformed one.
    fn iter(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let attribute = NlasIterator::new(rest).next()?.ok()?;
            let length = usize::from(attribute.length());
            let value = rest.get(HEADER..length)?;
            rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
            Some((attribute.kind(), value))
        })
    }

    /// The value of the first attribute of this kind. Malformed ones count as absent.
    pub(crate) fn get(self, kind: u16) -> Option<&'a [u8]> {
        self.iter().find(|(found, _)| *found == kind).map(|(_, value)| value)
    }

    pub(crate) fn nested(self, kind: u16) -> Option<Attributes<'a>> {
        self.get(kind).map(Attributes)
    }

    pub(crate) fn u8(self, kind: u16) -> Option<u8> {
        Some(u8::from_ne_bytes(self.get(kind)?.try_into().ok()?))
    }

    pub(crate) fn u16(self, kind: u16) -> Option<u16> {
        Some(u16::from_ne_bytes(self.get(kind)?.try_into().ok()?))
    }

    pub(crate) fn u32(self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(self.get(kind)?.try_into().ok()?))
    }

    /// An address in one of two attributes, depending on its family.
    pub(crate) fn address(self, v4: u16, v6: u16) -> Option<IpAddr> {
        let four = |bytes: &[u8]| Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into());
        let six = |bytes: &[u8]| Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into());
        self.get(v4).and_then(four).or_else(|| self.get(v6).and_then(six))
    }
}

pub(crate) fn number<const N: usize>(kind: u16, bytes: [u8; N]) -> DefaultNla {
    DefaultNla::new(kind, bytes.to_vec())
}

pub(crate) fn address(v4: u16, v6: u16, address: IpAddr) -> DefaultNla {
    match address {
        IpAddr::V4(address) => number(v4, address.octets()),
        IpAddr::V6(address) => number(v6, address.octets()),
    }
}

pub(crate) fn nest(kind: u16, attributes: &[DefaultNla]) -> DefaultNla {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    DefaultNla::new(kind | NLA_F_NESTED, bytes)
}

/// Length and kind (netlink(7)).
const HEADER: usize = 4;
const ALIGNMENT: usize = 4;

/// `CTRL_ATTR_*` of linux/genetlink.h.
pub(crate) mod ctrl {
    pub(crate) const FAMILY_ID: u16 = 1;
    pub(crate) const FAMILY_NAME: u16 = 2;
}

/// `enum mptcp_pm_attrs`.
pub(crate) mod pm {
    pub(crate) const ADDRESS: u16 = 1;
    pub(crate) const ADD_ADDRESSES_ACCEPTED: u16 = 2;
    pub(crate) const SUBFLOWS: u16 = 3;
}

/// `enum mptcp_pm_addr_attrs`.
pub(crate) mod addr {
    pub(crate) const FAMILY: u16 = 1;
    pub(crate) const ID: u16 = 2;
    pub(crate) const V4: u16 = 3;
    pub(crate) const V6: u16 = 4;
    pub(crate) const PORT: u16 = 5;
    pub(crate) const FLAGS: u16 = 6;
    pub(crate) const INTERFACE: u16 = 7;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_again_and_garbage_is_absent() {
        let port = number(5, 80_u16.to_ne_bytes());
        let inner = [number(2, [7]), port, address(3, 4, [10, 0, 0, 1].into())];
        let mut bytes = vec![0; nest(1, &inner).buffer_len()];
        nest(1, &inner).emit(&mut bytes);
        let read = Attributes::new(&bytes).nested(1).unwrap();
        assert_eq!((read.u8(2), read.u16(5)), (Some(7), Some(80)));
        assert_eq!(read.address(3, 4), Some([10, 0, 0, 1].into()));
        assert_eq!((read.u8(9), read.u32(2)), (None, None));
        // Truncated or random data only makes attributes absent.
        for end in 0..bytes.len() {
            assert!(Attributes::new(&bytes[..end]).get(1).is_none());
        }
        for byte in 0..=u8::MAX {
            assert!(Attributes::new(&[byte; 64]).get(1).is_none_or(|value| value.len() < 64));
        }
    }
}
