//! The options of Multipath TCP on the wire (RFC 8684 section 3): kind 30, by subtype.

use std::net::IpAddr;

/// The Multipath TCP options of one segment. Each subtype appears once at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MultipathOptions {
    /// MP_CAPABLE: a connection that may have several paths begins.
    pub capable: Option<Capable>,
    /// MP_JOIN: a path is added to a connection.
    pub join: Option<Join>,
    /// DSS: what the data is, and what has arrived.
    pub dss: Option<Dss>,
    /// ADD_ADDR: the sender has another address.
    pub add_address: Option<AddAddress>,
    /// REMOVE_ADDR: the sender has an address no longer.
    pub remove_address: Option<AddressIds>,
    /// MP_PRIO, with its B bit: true to use this path only if there is no other.
    pub priority: Option<bool>,
    /// MP_FAIL, with the data sequence number of what was damaged.
    pub fail: Option<u64>,
    /// MP_FASTCLOSE, with the receiver's key: the connection is aborted.
    pub fast_close: Option<u64>,
    /// MP_TCPRST: why the subflow is reset.
    pub reset: Option<ResetReason>,
}

/// MP_CAPABLE (section 3.1), version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capable {
    /// Flag A: the sender wants checksums.
    pub checksum: bool,
    /// Flag C: no subflows to this address and port.
    pub no_join_here: bool,
    /// What comes with it.
    pub keys: CapableKeys,
}

/// What MP_CAPABLE carries at each step of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapableKeys {
    /// On the SYN: nothing.
    Offer,
    /// On the SYN-ACK: its sender's key.
    Answer(u64),
    /// On the third segment, and on the first data: both keys, its sender's first.
    Both {
        /// The key of the sender.
        sender: u64,
        /// The key of the receiver.
        receiver: u64,
        /// With data: its length, and its checksum if those are used.
        data: Option<(u16, Option<u16>)>,
    },
}

/// MP_JOIN (section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// On the SYN.
    Syn {
        /// Use this path only if there is no other.
        backup: bool,
        /// The number of the sender's address.
        address_id: u8,
        /// Which connection: the token of the receiver.
        token: u32,
        /// The sender's nonce.
        nonce: u32,
    },
    /// On the SYN-ACK.
    SynAck {
        /// Use this path only if there is no other.
        backup: bool,
        /// The number of the sender's address.
        address_id: u8,
        /// The first 64 bits of the sender's HMAC.
        hmac: u64,
        /// The sender's nonce.
        nonce: u32,
    },
    /// On the third segment: the first 160 bits of the sender's HMAC.
    Ack([u8; 20]),
}

/// DSS (section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// The next data sequence number that the sender of the option expects.
    pub ack: Option<DataNumber>,
    /// Which data the segment carries.
    pub mapping: Option<Mapping>,
    /// DATA_FIN: the mapping ends with the end of the sender's data.
    pub fin: bool,
}

/// A data sequence number of 64 bits, or the lower 32 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataNumber {
    /// The lower half.
    Short(u32),
    /// All of it.
    Long(u64),
}

/// A data sequence mapping (section 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The number of the first byte.
    pub data: DataNumber,
    /// Where it stands in the subflow: 1 is the byte after its SYN; 0 for a lone DATA_FIN.
    pub subflow: u32,
    /// Bytes, a DATA_FIN counted as one; 0 for an infinite mapping.
    pub len: u16,
    /// The checksum over the data and the numbers, if those are used.
    pub checksum: Option<u16>,
}

/// ADD_ADDR (section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddress {
    /// The number of the address.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, if it is not that of the first subflow.
    pub port: Option<u16>,
    /// The last 64 bits of the HMAC; `None` in an echo.
    pub hmac: Option<u64>,
}

/// The numbers of addresses: up to eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressIds {
    ids: [u8; Self::MAX],
    len: u8,
}

impl AddressIds {
    /// So many are understood in one option.
    pub const MAX: usize = 8;

    /// Appends a number; one that has no room is left out.
    pub fn push(&mut self, id: u8) {
        if let Some(slot) = self.ids.get_mut(usize::from(self.len)) {
            *slot = id;
            self.len += 1;
        }
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u8] {
        &self.ids[..usize::from(self.len)]
    }
}

/// MP_TCPRST (section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason {
    /// Flag T: the condition may pass.
    pub transient: bool,
    /// See the constants.
    pub code: u8,
}

impl ResetReason {
    /// Unspecified error.
    pub const UNSPECIFIED: u8 = 0;
    /// MPTCP-specific error: options that make no sense.
    pub const PROTOCOL: u8 = 1;
    /// Lack of resources.
    pub const RESOURCES: u8 = 2;
    /// Administratively prohibited.
    pub const PROHIBITED: u8 = 3;
    /// Too much outstanding data.
    pub const OUTSTANDING: u8 = 4;
    /// Unacceptable performance.
    pub const PERFORMANCE: u8 = 5;
    /// Middlebox interference.
    pub const MIDDLEBOX: u8 = 6;
}

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

    /// Writes every option, each padded to a multiple of four if they are to be `aligned`.
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
