//! Requests in generic netlink (linux/genetlink.h): sends a command with attributes to a family, and
//! receives the response.

use std::io;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable as _, ErrorMessage, NLM_F_ACK, NetlinkDeserializable,
    NetlinkHeader, NetlinkSerializable,
};
use netlink_sys::protocols::NETLINK_GENERIC;

use crate::mptcp_pm::attributes::{Attributes, ctrl};
use crate::mptcp_pm::error::PathManagerError;
use crate::netlink::{self, Failure};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The number of the family.
    family: u16,
    command: u8,
    /// Consecutive attributes.
    body: Vec<u8>,
}

impl Message {
    pub(crate) fn new(family: u16, command: u8, attributes: &[DefaultNla]) -> Message {
        let mut body = vec![0; attributes.buffer_len()];
        attributes.emit(&mut body);
        Message { family, command, body }
    }

    pub(crate) fn attributes(&self) -> Attributes<'_> {
        Attributes::new(&self.body)
    }
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        HEADER + self.body.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        let (header, body) = buffer.split_at_mut(HEADER);
        header.copy_from_slice(&[self.command, VERSION, 0, 0]);
        body.copy_from_slice(&self.body);
    }
}

impl NetlinkDeserializable for Message {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Message, DecodeError> {
        let (head, body) = payload.split_at_checked(HEADER).ok_or("no generic header")?;
        Ok(Message { family: header.message_type, command: head[0], body: body.to_vec() })
    }
}

#[derive(Debug)]
pub(crate) struct Requests(netlink::Requests);

impl Requests {
    /// In the network namespace of the calling thread.
    pub(crate) fn open() -> io::Result<Requests> {
        netlink::Requests::open(NETLINK_GENERIC).map(Requests)
    }

    /// The kernel's current number for the path manager's family.
    pub(crate) fn family(&mut self) -> Result<u16, PathManagerError> {
        let name = DefaultNla::new(ctrl::FAMILY_NAME, FAMILY.to_vec());
        let what = || "find the path manager".to_owned();
        let message = Message::new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &[name]);
        let answers = match self.send(message, NLM_F_ACK, what) {
            Err(PathManagerError::Refused { why, .. }) if why.kind() == io::ErrorKind::NotFound => {
                return Err(PathManagerError::NoMptcp);
            }
            answers => answers?,
        };
        let family = answers.first().and_then(|answer| answer.attributes().u16(ctrl::FAMILY_ID));
        family.ok_or_else(|| PathManagerError::Garbled { what: what() })
    }

    /// Sends `message` and returns the response; `what` describes it in errors.
    pub(crate) fn send(
        &mut self,
        message: Message,
        flags: u16,
        what: impl Fn() -> String,
    ) -> Result<Vec<Message>, PathManagerError> {
        self.0.send(message, flags).map_err(|failure| match failure {
            Failure::Socket(why) => PathManagerError::Socket(why),
            Failure::Garbled => PathManagerError::Garbled { what: what() },
            Failure::Refused(error) => refusal(&error, what()),
        })
    }
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

/// `MPTCP_PM_NAME` and `MPTCP_PM_VER` of linux/mptcp_pm.h. The requests to [`GENL_ID_CTRL`] carry
/// the version too, which the kernel does not check.
const FAMILY: &[u8] = b"mptcp_pm\0";
const VERSION: u8 = 1;

/// `sizeof(struct genlmsghdr)`, and the family that knows the others, of linux/genetlink.h.
const HEADER: usize = 4;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;

/// `sizeof(struct nlmsghdr)` and `NLMSGERR_ATTR_MSG` of linux/netlink.h.
const REQUEST_HEADER: usize = 16;
const EXPLANATION: u16 = 1;

// Numbers in messages have the byte order of the machine.
#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    /// Of an answer of the kernel (CTRL_CMD_NEWFAMILY): the header, the name and the number 28.
    const HEAD: &[u8] = b"\x01\x02\0\0\x0d\0\x02\0mptcp_pm\0\0\0\0\x06\0\x01\0\x1c\0\0\0";

    #[test]
    fn the_family_is_found() {
        let answer = Message::deserialize(&NetlinkHeader::default(), HEAD).unwrap();
        assert_eq!(answer.attributes().u16(ctrl::FAMILY_ID), Some(28));
        assert_eq!(Attributes::new(&HEAD[..HEADER]).u16(ctrl::FAMILY_ID), None);
        assert!(Message::deserialize(&NetlinkHeader::default(), &HEAD[..HEADER - 1]).is_err());
    }

    #[test]
    fn a_request_is_a_header_with_attributes() {
        let name = DefaultNla::new(ctrl::FAMILY_NAME, FAMILY.to_vec());
        let request = Message::new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &[name]);
        let mut bytes = vec![0xff; request.buffer_len()];
        request.serialize(&mut bytes);
        assert_eq!(bytes, b"\x03\x01\0\0\x0d\0\x02\0mptcp_pm\0\0\0\0");
    }
}
