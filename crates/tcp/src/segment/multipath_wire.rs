//! The options of Multipath TCP on the wire (RFC 8684 section 3).

use std::net::IpAddr;

use super::multipath::{
    AddAddress, AddressIds, Capable, CapableKeys, DataNumber, Dss, Join, Mapping, MultipathOptions,
    ResetReason,
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
            subtype::REMOVE_ADDR if body.len() > 1 => {
                let ids = self.remove_address.get_or_insert_default();
                body[1..].iter().for_each(|&id| ids.push(id));
            }
            subtype::PRIO if body.len() == 1 => self.priority = Some(low & 1 != 0),
            subtype::FAIL if body.len() == 10 => self.fail = Some(long(body, 2)),
            subtype::FASTCLOSE if body.len() == 10 => self.fast_close = Some(long(body, 2)),
            subtype::TCPRST if body.len() == 2 => {
                self.reset = Some(ResetReason { transient: low & 1 != 0, code: body[1] });
            }
            _ => {}
        }
    }

    /// Bytes on the wire, a multiple of four.
    pub(crate) fn wire_len(&self) -> usize {
        let mut counter = Counter(0);
        self.write(&mut counter, true);
        counter.0
    }

    /// Writes every option, each padded to a multiple of four if `aligned`.
    pub(super) fn write(&self, out: &mut dyn Out, aligned: bool) {
        let out = &mut Aligner { out, aligned };
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
        if let Some(ids) = &self.remove_address {
            let mut bytes = [0; 1 + AddressIds::MAX];
            bytes[0] = subtype::REMOVE_ADDR << 4;
            let ids = ids.as_slice();
            bytes[1..=ids.len()].copy_from_slice(ids);
            out.option(&[&bytes[..=ids.len()]]);
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

/// Where option bytes go.
pub(super) trait Out {
    fn put(&mut self, bytes: &[u8]);
}

/// Counts them.
pub(super) struct Counter(pub usize);

impl Out for Counter {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

fn capable(body: &[u8]) -> Option<Capable> {
    let keys = match body.len() {
        2 => CapableKeys::Offer,
        10 => CapableKeys::Answer(long(body, 2)),
        18 | 20 | 22 => CapableKeys::Both {
            sender: long(body, 2),
            receiver: long(body, 10),
            data: body.get(18..20).map(|len| {
                let checksum = (body.len() == 22).then(|| half(body, 20));
                (u16::from_be_bytes([len[0], len[1]]), checksum)
            }),
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
    let backup = body[0] & 1 != 0;
    match body.len() {
        10 => {
            let (address_id, token, nonce) = (body[1], word(body, 2), word(body, 6));
            Some(Join::Syn { backup, address_id, token, nonce })
        }
        14 => {
            let (address_id, hmac, nonce) = (body[1], long(body, 2), word(body, 10));
            Some(Join::SynAck { backup, address_id, hmac, nonce })
        }
        22 => body[2..].try_into().ok().map(Join::Ack),
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
    let mut rest = Reader(&body[2..]);
    let mut dss = Dss { fin: flags & flag::DATA_FIN != 0, ..Dss::default() };
    if flags & flag::DATA_ACK != 0 {
        dss.ack = Some(rest.number(flags & flag::ACK_LONG != 0)?);
    }
    if flags & flag::MAPPING != 0 {
        let data = rest.number(flags & flag::MAPPING_LONG != 0)?;
        let (subflow, len) = (rest.word()?, rest.half()?);
        dss.mapping = Some(Mapping { data, subflow, len, checksum: rest.half() });
    }
    rest.0.is_empty().then_some(dss)
}

fn write_dss(option: &Dss, out: &mut Aligner<'_>) {
    let mut bytes = [0; 28];
    let (mut len, mut flags) = (4, 0);
    let mut add = |part: &[u8]| {
        bytes[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    };
    match option.ack {
        Some(DataNumber::Short(number)) => {
            flags |= flag::DATA_ACK;
            add(&number.to_be_bytes());
        }
        Some(DataNumber::Long(number)) => {
            flags |= flag::DATA_ACK | flag::ACK_LONG;
            add(&number.to_be_bytes());
        }
        None => {}
    }
    if let Some(mapping) = option.mapping {
        flags |= flag::MAPPING;
        match mapping.data {
            DataNumber::Short(number) => add(&number.to_be_bytes()),
            DataNumber::Long(number) => {
                flags |= flag::MAPPING_LONG;
                add(&number.to_be_bytes());
            }
        }
        add(&mapping.subflow.to_be_bytes());
        add(&mapping.len.to_be_bytes());
        if let Some(checksum) = mapping.checksum {
            add(&checksum.to_be_bytes());
        }
    }
    flags |= if option.fin { flag::DATA_FIN } else { 0 };
    (bytes[2], bytes[3]) = (subtype::DSS << 4, flags);
    out.option(&[&bytes[2..len]]);
}

fn add_address(body: &[u8]) -> Option<AddAddress> {
    let echo = body[0] & 1 != 0;
    let id = *body.get(1)?;
    let rest = &body[2..];
    let hmac_len = if echo { 0 } else { 8 };
    let (address, used): (IpAddr, usize) = match rest.len().checked_sub(hmac_len)? {
        4 | 6 => (<[u8; 4]>::try_from(&rest[..4]).ok()?.into(), 4),
        16 | 18 => (<[u8; 16]>::try_from(&rest[..16]).ok()?.into(), 16),
        _ => return None,
    };
    let port = (rest.len() - hmac_len > used).then(|| half(rest, used));
    let hmac = (!echo).then(|| long(rest, rest.len() - 8));
    Some(AddAddress { id, address, port, hmac })
}

fn write_add_address(option: &AddAddress, out: &mut Aligner<'_>) {
    let head = [subtype::ADD_ADDR << 4 | u8::from(option.hmac.is_none()), option.id];
    let (v4, v6);
    let address: &[u8] = match option.address {
        IpAddr::V4(address) => {
            v4 = address.octets();
            &v4
        }
        IpAddr::V6(address) => {
            v6 = address.octets();
            &v6
        }
    };
    let port = option.port.map(u16::to_be_bytes);
    let hmac = option.hmac.map(u64::to_be_bytes);
    let port = port.as_ref().map_or(&[][..], |port| port);
    let hmac = hmac.as_ref().map_or(&[][..], |hmac| hmac);
    out.option(&[&head, address, port, hmac]);
}

/// Puts options one behind the other.
struct Aligner<'a> {
    out: &'a mut dyn Out,
    aligned: bool,
}

impl Aligner<'_> {
    /// Writes kind, length, the parts, and what is missing to a multiple of four.
    fn option(&mut self, parts: &[&[u8]]) {
        let len = 2 + parts.iter().map(|part| part.len()).sum::<usize>();
        self.out.put(&[super::options::kind::MULTIPATH, len as u8]);
        parts.iter().for_each(|part| self.out.put(part));
        if self.aligned {
            let padding = len.next_multiple_of(4) - len;
            self.out.put(&[super::options::kind::NO_OPERATION; 3][..padding]);
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn half(&mut self) -> Option<u16> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*head))
    }

    fn word(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*head))
    }

    fn number(&mut self, long: bool) -> Option<DataNumber> {
        if !long {
            return self.word().map(DataNumber::Short);
        }
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(DataNumber::Long(u64::from_be_bytes(*head)))
    }
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    (u64::from(word(bytes, at)) << 32) | u64::from(word(bytes, at + 4))
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

    /// The bytes of `options` behind kind and length of the only one.
    fn body(options: &MultipathOptions) -> Vec<u8> {
        struct Bytes(Vec<u8>);
        impl Out for Bytes {
            fn put(&mut self, bytes: &[u8]) {
                self.0.extend(bytes);
            }
        }
        let mut out = Bytes(Vec::new());
        options.write(&mut out, true);
        assert_eq!((out.0[0], out.0.len()), (30, options.wire_len()));
        let len = usize::from(out.0[1]);
        assert!(out.0[len..].iter().all(|&padding| padding == 1));
        out.0[2..len].to_vec()
    }

    fn all() -> Vec<(MultipathOptions, Vec<u8>)> {
        let none = MultipathOptions::default;
        let capable = |keys| Some(Capable { checksum: true, no_join_here: false, keys });
        let number = 0x0102_0304_0506_0708;
        let mapping = |data, checksum| Some(Mapping { data, subflow: 9, len: 258, checksum });
        let address = AddAddress { id: 3, address: [192, 0, 2, 1].into(), port: None, hmac: None };
        vec![
            (MultipathOptions { capable: capable(CapableKeys::Offer), ..none() }, vec![1, 0x81]),
            (
                MultipathOptions { capable: capable(CapableKeys::Answer(number)), ..none() },
                vec![1, 0x81, 1, 2, 3, 4, 5, 6, 7, 8],
            ),
            (
                MultipathOptions {
                    join: Some(Join::Syn { backup: true, address_id: 2, token: 5, nonce: 6 }),
                    ..none()
                },
                vec![0x11, 2, 0, 0, 0, 5, 0, 0, 0, 6],
            ),
            (
                MultipathOptions {
                    dss: Some(Dss {
                        ack: Some(DataNumber::Long(number)),
                        mapping: mapping(DataNumber::Short(7), Some(0x1234)),
                        fin: true,
                    }),
                    ..none()
                },
                vec![0x20, 0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 7, 0, 0, 0, 9, 1, 2, 0x12, 0x34],
            ),
            (
                MultipathOptions { add_address: Some(address), ..none() },
                vec![0x31, 3, 192, 0, 2, 1],
            ),
            (
                MultipathOptions {
                    add_address: Some(AddAddress { port: Some(80), hmac: Some(number), ..address }),
                    ..none()
                },
                vec![0x30, 3, 192, 0, 2, 1, 0, 80, 1, 2, 3, 4, 5, 6, 7, 8],
            ),
            (MultipathOptions { priority: Some(true), ..none() }, vec![0x51]),
            (
                MultipathOptions { fail: Some(number), ..none() },
                vec![0x60, 0, 1, 2, 3, 4, 5, 6, 7, 8],
            ),
            (
                MultipathOptions {
                    reset: Some(ResetReason { transient: true, code: ResetReason::MIDDLEBOX }),
                    ..none()
                },
                vec![0x81, 6],
            ),
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
