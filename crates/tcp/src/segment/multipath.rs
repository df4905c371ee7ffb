//! The options of Multipath TCP (RFC 8684 section 3): kind 30, by subtype. How they are written is in
//! `multipath_wire`.

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
    /// REMOVE_ADDR: the numbers of addresses that the sender lost; none without the option.
    pub remove_addresses: Vec<u8>,
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
    /// Its contents.
    pub keys: CapableKeys,
}

/// What MP_CAPABLE carries at each step of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum CapableKeys {
    /// On the SYN: no contents.
    Offer,
    /// On the SYN-ACK: its sender's key.
    Answer(u64),
    /// On the third segment, and on the first data: both keys; with data its length, and its
    /// checksum if those are used.
    Both { sender: u64, receiver: u64, data: Option<(u16, Option<u16>)> },
}

/// MP_JOIN (section 3.2), with the number of the sender's address and the sender's nonce. A backup
/// path is used only if there is no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Join {
    /// On the SYN: the token of the receiver names the connection.
    Syn { backup: bool, address_id: u8, token: u32, nonce: u32 },
    /// On the SYN-ACK: the first 64 bits of the sender's HMAC.
    SynAck { backup: bool, address_id: u8, hmac: u64, nonce: u32 },
    /// On the third segment: the first 160 bits of the sender's HMAC.
    Ack([u8; 20]),
}

/// DSS (section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// The next data sequence number that the sender of the option expects.
    pub ack: Option<DataNumber>,
    /// The mapping of the segment's data.
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

/// MP_TCPRST (section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason {
    /// Flag T: the condition may pass.
    pub transient: bool,
    /// The reason, by the table of section 3.6.
    pub code: u8,
}

impl ResetReason {
    /// An MPTCP-specific error: one in the processing of options.
    pub const PROTOCOL: ResetReason = ResetReason { transient: false, code: 1 };
    /// Middlebox interference.
    pub const MIDDLEBOX: ResetReason = ResetReason { transient: false, code: 6 };
}
