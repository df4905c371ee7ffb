//! Requests in generic netlink: sends a command with attributes to a family, and receives the
//! response.

use std::io;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, ErrorMessage, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST,
    NetlinkMessage, NetlinkPayload, ParseableParametrized,
};
use netlink_packet_generic::ctrl::nlas::{GenlCtrlAttrs, McastGrpAttrs};
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};
use netlink_sys::protocols::NETLINK_GENERIC;
use netlink_sys::{Socket, SocketAddr};

use crate::mptcp_pm::attributes::Attributes;
use crate::mptcp_pm::error::PathManagerError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) command: u8,
    /// Consecutive attributes.
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn new(command: u8, attributes: &[DefaultNla]) -> Message {
        let mut body = vec![0; attributes.buffer_len()];
        attributes.emit(&mut body);
        Message { command, body }
    }

    pub(crate) fn attributes(&self) -> Attributes<'_> {
        Attributes::new(&self.body)
    }
}

impl GenlFamily for Message {
    fn family_name() -> &'static str {
        FAMILY
    }

    fn command(&self) -> u8 {
        self.command
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for Message {
    fn buffer_len(&self) -> usize {
        self.body.len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        buffer[..self.body.len()].copy_from_slice(&self.body);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for Message {
    fn parse_with_param(body: &[u8], header: GenlHeader) -> Result<Message, DecodeError> {
        Ok(Message { command: header.cmd, body: body.to_vec() })
    }
}

/// The kernel's current numbers for the path manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) id: u16,
    /// The multicast group of its events.
    pub(crate) events: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Requests {
    socket: Socket,
    sequence: u32,
}

impl Requests {
    /// In the network namespace of the calling thread.
    pub(crate) fn open() -> io::Result<Requests> {
        Ok(Requests { socket: open()?, sequence: 0 })
    }

    /// Looks up the number of the path manager's family.
    pub(crate) fn family(&mut self) -> Result<Family, PathManagerError> {
        let nlas = vec![GenlCtrlAttrs::FamilyName(FAMILY.to_owned())];
        let message = GenlMessage::from_payload(GenlCtrl { cmd: GenlCtrlCmd::GetFamily, nlas });
        let what = || "find the path manager".to_owned();
        let answers = match self.exchange(message, NLM_F_ACK, &what) {
            Err(PathManagerError::Refused { why, .. }) if why.kind() == io::ErrorKind::NotFound => {
                return Err(PathManagerError::NoMptcp);
            }
            answers => answers?,
        };
        let nlas = || answers.iter().flat_map(|answer| &answer.payload.nlas);
        let id = nlas().find_map(|nla| match nla {
            GenlCtrlAttrs::FamilyId(id) => Some(*id),
            _ => None,
        });
        let events = nlas().find_map(|nla| match nla {
            GenlCtrlAttrs::McastGroups(groups) => groups.iter().find_map(|group| events_id(group)),
            _ => None,
        });
        let id = id.ok_or_else(|| PathManagerError::Garbled { what: what() })?;
        Ok(Family { id, events })
    }

    /// Sends `message` to the family and returns the response; `what` describes it in errors.
    pub(crate) fn send(
        &mut self,
        family: Family,
        message: Message,
        kind: RequestKind,
        what: impl Fn() -> String,
    ) -> Result<Vec<Message>, PathManagerError> {
        let mut message = GenlMessage::from_payload(message);
        message.set_resolved_family_id(family.id);
        let flags = match kind {
            RequestKind::One => NLM_F_ACK,
            RequestKind::Dump => NLM_F_DUMP,
        };
        let answers = self.exchange(message, flags, &what)?;
        Ok(answers.into_iter().map(|answer| answer.payload).collect())
    }

    fn exchange<F>(
        &mut self,
        message: GenlMessage<F>,
        flags: u16,
        what: &dyn Fn() -> String,
    ) -> Result<Vec<GenlMessage<F>>, PathManagerError>
    where
        F: GenlFamily
            + Emitable
            + ParseableParametrized<[u8], GenlHeader>
            + Clone
            + std::fmt::Debug,
    {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let garbled = || PathManagerError::Garbled { what: what() };
        let mut answers = Vec::new();
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            for answer in messages::<F>(&bytes) {
                let answer = answer.map_err(|_| garbled())?;
                if answer.header.sequence_number != self.sequence {
                    continue;
                }
                match answer.payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        return Err(refusal(&error, what()));
                    }
                    NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(answers),
                    _ => {}
                }
            }
        }
    }
}

/// Whether a request has one response or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    One,
    Dump,
}

/// A generic netlink socket with extended error messages, if available.
pub(crate) fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_GENERIC)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    // Both only improve error messages.
    let _ = socket.set_ext_ack(true);
    let _ = socket.set_cap_ack(true);
    Ok(socket)
}

/// The messages in a datagram, up to the first malformed one.
pub(crate) fn messages<F>(
    bytes: &[u8],
) -> impl Iterator<Item = Result<NetlinkMessage<GenlMessage<F>>, DecodeError>>
where
    F: ParseableParametrized<[u8], GenlHeader> + std::fmt::Debug,
{
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let message = NetlinkMessage::<GenlMessage<F>>::deserialize(rest);
        let length = message.as_ref().map_or(rest.len(), |message| message.header.length as usize);
        rest = rest.get(length.next_multiple_of(4).max(4)..).unwrap_or_default();
        Some(message)
    })
}

fn events_id(group: &[McastGrpAttrs]) -> Option<u32> {
    let is_it = |attribute: &McastGrpAttrs| *attribute == McastGrpAttrs::Name(EVENTS.to_owned());
    if !group.iter().any(is_it) {
        return None;
    }
    group.iter().find_map(|attribute| match attribute {
        McastGrpAttrs::Id(id) => Some(*id),
        McastGrpAttrs::Name(_) => None,
    })
}

fn refusal(error: &ErrorMessage, what: String) -> PathManagerError {
    let why = error.to_io();
    if why.kind() == io::ErrorKind::PermissionDenied {
        return PathManagerError::NotPermitted { what };
    }
    // The header of our request, followed by the kernel's message (NETLINK_EXT_ACK).
    let explained = error.header.get(REQUEST_HEADER..).unwrap_or_default();
    let explanation = Attributes::new(explained)
        .get(EXPLANATION)
        .map(|text| String::from_utf8_lossy(text).trim_end_matches('\0').to_owned());
    PathManagerError::Refused { what, why, explanation }
}

/// `MPTCP_PM_NAME`, `MPTCP_PM_VER` and `MPTCP_PM_EV_GRP_NAME` of linux/mptcp_pm.h.
const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;
const EVENTS: &str = "mptcp_pm_events";

/// `sizeof(struct nlmsghdr)` and `NLMSGERR_ATTR_MSG` of linux/netlink.h.
const REQUEST_HEADER: usize = 16;
const EXPLANATION: u16 = 1;
