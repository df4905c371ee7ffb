//! The options of Multipath TCP on the wire (RFC 8684 section 3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::{Buf, BufMut};

use super::multipath::{
    AddAddress, Capable, CapableKeys, DataNumber, Dss, Join, Mapping, MultipathOptions, ResetReason,
};

impl MultipathOptions {
    /// Takes one option in, from its subtype on; what is malformed or unknown is left out.
    pub(super) fn take(&mut self, body: &[u8]) {
        let Some(&first) = body.first() else { return };
        let low = first & 0xf;
        match first >> 4 {
            subtype::CAPABLE if low == VERSION => self.capable = capable(body).or(self.capable),
            subtype::JOIN => self.join = join(body).or(self.join),
            subtype::DSS => self.dss = dss(body).or(self.dss),
            subtype::ADD_ADDR => self.add_address = add_address(body).or(self.add_address),
            subtype::REMOVE_ADDR => self.remove_addresses.extend(&body[1..]),
            subtype::PRIO if body.len() == 1 => self.priority = Some(low & 1 != 0),
            subtype::FAIL if body.len() == 10 => self.fail = Some((&body[2..]).get_u64()),
            subtype::FASTCLOSE if body.len() == 10 => {
                self.fast_close = Some((&body[2..]).get_u64())
            }
            subtype::TCPRST if body.len() == 2 => {
                self.reset = Some(ResetReason { transient: low & 1 != 0, code: body[1] });
            }
            _ => {}
        }
    }

    pub(crate) fn wire_len(&self) -> usize {
        let mut len = 0;
        self.pass(&mut |bytes| len += bytes.len(), true);
        len
    }

    /// Passes every option to `put`, each padded to a multiple of four if `aligned`.
    pub(super) fn pass(&self, put: &mut dyn FnMut(&[u8]), aligned: bool) {
        let out = &mut Aligner { put, aligned };
        if let Some(option) = &self.capable {
            write_capable(option, out);
        }
        if let Some(option) = &self.join {
            write_join(option, out);
        }
        if let Some(option) = &self.dss {
            write_dss(option, out);
        }
        if let Some(option) = &self.add_address {
            write_add_address(option, out);
        }
        if !self.remove_addresses.is_empty() {
            out.option(&[&[subtype::REMOVE_ADDR << 4], &self.remove_addresses]);
        }
        if let Some(backup) = self.priority {
            out.option(&[&[subtype::PRIO << 4 | u8::from(backup)]]);
        }
        if let Some(number) = self.fail {
            out.option(&[&[subtype::FAIL << 4, 0], &number.to_be_bytes()]);
        }
        if let Some(key) = self.fast_close {
            out.option(&[&[subtype::FASTCLOSE << 4, 0], &key.to_be_bytes()]);
        }
        if let Some(ResetReason { transient, code }) = self.reset {
            out.option(&[&[subtype::TCPRST << 4 | u8::from(transient), code]]);
        }
    }
}

fn capable(body: &[u8]) -> Option<Capable> {
    let mut rest = body.get(2..)?;
    let keys = match rest.len() {
        0 => CapableKeys::Offer,
        8 => CapableKeys::Answer(rest.get_u64()),
        16 | 18 | 20 => CapableKeys::Both {
            sender: rest.get_u64(),
            receiver: rest.get_u64(),
            data: rest.try_get_u16().ok().map(|len| (len, rest.try_get_u16().ok())),
        },
        _ => return None,
    };
    let flags = body[1];
    // Section 3.1: B must be zero, and H is the only algorithm that there is.
    if flags & flag::EXTENSIBILITY != 0 || flags & flag::SHA256 == 0 {
        return None;
    }
    let (checksum, no_join_here) = (flags & flag::CHECKSUM != 0, flags & flag::NO_JOIN != 0);
    Some(Capable { checksum, no_join_here, keys })
}

fn write_capable(option: &Capable, out: &mut Aligner<'_>) {
    let mut flags = flag::SHA256;
    flags |= if option.checksum { flag::CHECKSUM } else { 0 };
    flags |= if option.no_join_here { flag::NO_JOIN } else { 0 };
    let head = [subtype::CAPABLE << 4 | VERSION, flags];
    match option.keys {
        CapableKeys::Offer => out.option(&[&head]),
        CapableKeys::Answer(key) => out.option(&[&head, &key.to_be_bytes()]),
        CapableKeys::Both { sender, receiver, data } => {
            let keys = (sender.to_be_bytes(), receiver.to_be_bytes());
            match data {
                None => out.option(&[&head, &keys.0, &keys.1]),
                Some((len, None)) => out.option(&[&head, &keys.0, &keys.1, &len.to_be_bytes()]),
                Some((len, Some(checksum))) => {
                    let tail = (len.to_be_bytes(), checksum.to_be_bytes());
                    out.option(&[&head, &keys.0, &keys.1, &tail.0, &tail.1]);
                }
            }
        }
    }
}

fn join(body: &[u8]) -> Option<Join> {
    let mut rest = body.get(2..)?;
    let (backup, address_id) = (body[0] & 1 != 0, body[1]);
    match rest.len() {
        8 => Some(Join::Syn { backup, address_id, token: rest.get_u32(), nonce: rest.get_u32() }),
        12 => {
            let (hmac, nonce) = (rest.get_u64(), rest.get_u32());
            Some(Join::SynAck { backup, address_id, hmac, nonce })
        }
        20 => rest.try_into().ok().map(Join::Ack),
        _ => None,
    }
}

fn write_join(option: &Join, out: &mut Aligner<'_>) {
    let first = |backup: bool| subtype::JOIN << 4 | u8::from(backup);
    match *option {
        Join::Syn { backup, address_id, token, nonce } => {
            let head = [first(backup), address_id];
            out.option(&[&head, &token.to_be_bytes(), &nonce.to_be_bytes()]);
        }
        Join::SynAck { backup, address_id, hmac, nonce } => {
            let head = [first(backup), address_id];
            out.option(&[&head, &hmac.to_be_bytes(), &nonce.to_be_bytes()]);
        }
        Join::Ack(hmac) => out.option(&[&[first(false), 0], &hmac]),
    }
}

fn dss(body: &[u8]) -> Option<Dss> {
    let flags = *body.get(1)?;
    let mut rest = &body[2..];
    let mut dss = Dss { fin: flags & flag::DATA_FIN != 0, ..Dss::default() };
    if flags & flag::DATA_ACK != 0 {
        dss.ack = Some(number(&mut rest, flags & flag::ACK_LONG != 0)?);
    }
    if flags & flag::MAPPING != 0 {
        let data = number(&mut rest, flags & flag::MAPPING_LONG != 0)?;
        let (subflow, len) = (rest.try_get_u32().ok()?, rest.try_get_u16().ok()?);
        dss.mapping = Some(Mapping { data, subflow, len, checksum: rest.try_get_u16().ok() });
    }
    rest.is_empty().then_some(dss)
}

fn number(rest: &mut &[u8], long: bool) -> Option<DataNumber> {
    match long {
        true => rest.try_get_u64().ok().map(DataNumber::Long),
        false => rest.try_get_u32().ok().map(DataNumber::Short),
    }
}

fn write_dss(option: &Dss, out: &mut Aligner<'_>) {
    let mut bytes = [0; 26];
    let mut rest = &mut bytes[2..];
    let mut flags = if option.fin { flag::DATA_FIN } else { 0 };
    if let Some(number) = option.ack {
        flags |= flag::DATA_ACK | write_number(&mut rest, number, flag::ACK_LONG);
    }
    if let Some(mapping) = option.mapping {
        flags |= flag::MAPPING | write_number(&mut rest, mapping.data, flag::MAPPING_LONG);
        rest.put_u32(mapping.subflow);
        rest.put_u16(mapping.len);
        if let Some(checksum) = mapping.checksum {
            rest.put_u16(checksum);
        }
    }
    let unused = rest.len();
    (bytes[0], bytes[1]) = (subtype::DSS << 4, flags);
    out.option(&[&bytes[..bytes.len() - unused]]);
}

/// Returns the flag for a number of eight bytes, `long`, if it has as many.
fn write_number(rest: &mut &mut [u8], number: DataNumber, long: u8) -> u8 {
    match number {
        DataNumber::Short(number) => {
            rest.put_u32(number);
            0
        }
        DataNumber::Long(number) => {
            rest.put_u64(number);
            long
        }
    }
}

fn add_address(body: &[u8]) -> Option<AddAddress> {
    let (echo, id) = (body[0] & 1 != 0, *body.get(1)?);
    let mut rest = &body[2..];
    let hmac_len = if echo { 0 } else { 8 };
    let address: IpAddr = match rest.len().checked_sub(hmac_len)? {
        4 | 6 => Ipv4Addr::from_bits(rest.get_u32()).into(),
        16 | 18 => Ipv6Addr::from_bits(rest.get_u128()).into(),
        _ => return None,
    };
    let port = (rest.len() > hmac_len).then(|| rest.get_u16());
    let hmac = (!echo).then(|| rest.get_u64());
    Some(AddAddress { id, address, port, hmac })
}

fn write_add_address(option: &AddAddress, out: &mut Aligner<'_>) {
    let head = [subtype::ADD_ADDR << 4 | u8::from(option.hmac.is_none()), option.id];
    let address: &[u8] = match option.address {
        IpAddr::V4(address) => &address.octets(),
        IpAddr::V6(address) => &address.octets(),
    };
    let port = option.port.map(u16::to_be_bytes);
    let hmac = option.hmac.map(u64::to_be_bytes);
    let port = port.as_ref().map_or(&[][..], |port| port);
    let hmac = hmac.as_ref().map_or(&[][..], |hmac| hmac);
    out.option(&[&head, address, port, hmac]);
}

/// Appends options one after the other.
struct Aligner<'a> {
    put: &'a mut dyn FnMut(&[u8]),
    aligned: bool,
}

impl Aligner<'_> {
    /// Writes kind, length, the parts, and what is missing to a multiple of four.
    fn option(&mut self, parts: &[&[u8]]) {
        let len = 2 + parts.iter().map(|part| part.len()).sum::<usize>();
        (self.put)(&[super::options::kind::MULTIPATH, len as u8]);
        parts.iter().for_each(|part| (self.put)(part));
        if self.aligned {
            let padding = len.next_multiple_of(4) - len;
            (self.put)(&[super::options::kind::NO_OPERATION; 3][..padding]);
        }
    }
}

/// The version that RFC 8684 defines.
const VERSION: u8 = 1;

/// IANA "MPTCP Option Subtypes".
mod subtype {
    pub const CAPABLE: u8 = 0;
    pub const JOIN: u8 = 1;
    pub const DSS: u8 = 2;
    pub const ADD_ADDR: u8 = 3;
    pub const REMOVE_ADDR: u8 = 4;
    pub const PRIO: u8 = 5;
    pub const FAIL: u8 = 6;
    pub const FASTCLOSE: u8 = 7;
    pub const TCPRST: u8 = 8;
}

/// Flag bits of MP_CAPABLE, and of DSS.
mod flag {
    pub const CHECKSUM: u8 = 0x80;
    pub const EXTENSIBILITY: u8 = 0x40;
    pub const NO_JOIN: u8 = 0x20;
    pub const SHA256: u8 = 0x01;

    pub const DATA_FIN: u8 = 0x10;
    pub const MAPPING_LONG: u8 = 0x08;
    pub const MAPPING: u8 = 0x04;
    pub const ACK_LONG: u8 = 0x02;
    pub const DATA_ACK: u8 = 0x01;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of `options` after the kind and the length of the only option.
    fn body(options: &MultipathOptions) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        options.pass(&mut |bytes| out.extend(bytes), true);
        assert_eq!((out[0], out.len()), (30, options.wire_len()));
        let len = usize::from(out[1]);
        assert!(out[len..].iter().all(|&padding| padding == 1));
        out[2..len].to_vec()
    }

    fn all() -> Vec<(MultipathOptions, Vec<u8>)> {
        fn only(set: impl FnOnce(&mut MultipathOptions)) -> MultipathOptions {
            let mut options = MultipathOptions::default();
            set(&mut options);
            options
        }
        let capable = |keys| Some(Capable { checksum: true, no_join_here: false, keys });
        let number = 0x0102_0304_0506_0708;
        let answer = CapableKeys::Answer(number);
        let join = Join::Syn { backup: true, address_id: 2, token: 5, nonce: 6 };
        let (data, checksum) = (DataNumber::Short(7), Some(0x1234));
        let mapping = Some(Mapping { data, subflow: 9, len: 258, checksum });
        let dss = Dss { ack: Some(DataNumber::Long(number)), mapping, fin: true };
        let echo = AddAddress { id: 3, address: [192, 0, 2, 1].into(), port: None, hmac: None };
        let address = AddAddress { port: Some(80), hmac: Some(number), ..echo };
        let reset = ResetReason { transient: true, ..ResetReason::MIDDLEBOX };
        vec![
            (only(|o| o.capable = capable(CapableKeys::Offer)), vec![1, 0x81]),
            (only(|o| o.capable = capable(answer)), vec![1, 0x81, 1, 2, 3, 4, 5, 6, 7, 8]),
            (only(|o| o.join = Some(join)), vec![0x11, 2, 0, 0, 0, 5, 0, 0, 0, 6]),
            (
                only(|o| o.dss = Some(dss)),
                vec![0x20, 0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 7, 0, 0, 0, 9, 1, 2, 0x12, 0x34],
            ),
            (only(|o| o.add_address = Some(echo)), vec![0x31, 3, 192, 0, 2, 1]),
            (
                only(|o| o.add_address = Some(address)),
                vec![0x30, 3, 192, 0, 2, 1, 0, 80, 1, 2, 3, 4, 5, 6, 7, 8],
            ),
            (only(|o| o.remove_addresses = vec![7, 9]), vec![0x40, 7, 9]),
            (
                only(|o| o.remove_addresses = (1..=9).collect()),
                vec![0x40, 1, 2, 3, 4, 5, 6, 7, 8, 9],
            ),
            (only(|o| o.priority = Some(true)), vec![0x51]),
            (only(|o| o.fail = Some(number)), vec![0x60, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
            (only(|o| o.reset = Some(reset)), vec![0x81, 6]),
        ]
    }

    #[test]
    fn options_look_as_the_rfc_draws_them() {
        for (options, bytes) in all() {
            assert_eq!(body(&options), bytes, "{options:?}");
            let mut read = MultipathOptions::default();
            read.take(&bytes);
            assert_eq!(read, options);
        }
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_another_option_or_none() {
        for (options, bytes) in all() {
            for len in 0..bytes.len() {
                let mut read = MultipathOptions::default();
                read.take(&bytes[..len]);
                assert_ne!(read, options, "{len} of {} bytes", bytes.len());
            }
            let mut read = MultipathOptions::default();
            read.take(&[&bytes[..], &[0; 25]].concat());
            assert_ne!(read, options);
        }
    }
}
