//! Requests to the kernel by netlink(7).

use std::fmt::Debug;
use std::io;

use netlink_packet_core::{
    DecodeError, ErrorMessage, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// A socket for requests.
#[derive(Debug)]
pub struct Requests {
    socket: Socket,
    sequence: u32,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The socket has failed.
    #[error(transparent)]
    Socket(#[from] io::Error),
    /// The kernel's answer is malformed.
    #[error("the kernel's answer is malformed")]
    Garbled,
    /// The kernel refuses.
    #[error("{0}")]
    Refused(ErrorMessage),
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> io::Error {
        match failure {
            Failure::Socket(why) => why,
            Failure::Garbled => io::Error::new(io::ErrorKind::InvalidData, failure),
            Failure::Refused(error) => error.to_io(),
        }
    }
}

impl Requests {
    /// A socket for the network's configuration, rtnetlink(7), in the network namespace of the
    /// calling thread.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn route() -> io::Result<Requests> {
        Requests::open(NETLINK_ROUTE)
    }

    pub(crate) fn open(protocol: isize) -> io::Result<Requests> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Both only improve error messages.
        let _ = socket.set_ext_ack(true);
        let _ = socket.set_cap_ack(true);
        Ok(Requests { socket, sequence: 0 })
    }

    /// Sends `message` with these flags, among them `NLM_F_ACK` for a single request or
    /// `NLM_F_DUMP` for a list; returns the answers.
    ///
    /// # Errors
    /// If the kernel refuses, or its answer is malformed.
    pub fn send<T>(&mut self, message: T, flags: u16) -> Result<Vec<T>, Failure>
    where
        T: NetlinkSerializable + NetlinkDeserializable + Debug,
    {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        (header.flags, header.sequence_number) = (NLM_F_REQUEST | flags, self.sequence);
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let mut answers = Vec::new();
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            for answer in messages(&bytes) {
                let answer = answer.map_err(|_| Failure::Garbled)?;
                // The rest of an interrupted answer.
                if answer.header.sequence_number != self.sequence {
                    continue;
                }
                match answer.payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        return Err(Failure::Refused(error));
                    }
                    NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(answers),
                    _ => {}
                }
            }
        }
    }
}

/// The messages in a datagram, up to the first malformed one.
fn messages<T: NetlinkDeserializable + Debug>(
    bytes: &[u8],
) -> impl Iterator<Item = Result<NetlinkMessage<T>, DecodeError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let message = NetlinkMessage::<T>::deserialize(rest);
        let length = message.as_ref().map_or(rest.len(), |message| message.header.length as usize);
        rest = rest.get(length.next_multiple_of(4).max(4)..).unwrap_or_default();
        Some(message)
    })
}
