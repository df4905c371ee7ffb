//! A client's connection.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;

use super::limits::Limits;
use crate::framing::Splitter;
use crate::packet::{Packet, Version};
use crate::sending::write;
use crate::tree::SessionId;

/// A connection. The broker never reuses an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(super) u64);

#[derive(Debug)]
pub(super) struct Connection {
    pub stage: Stage,
    pub link: Link,
    pub splitter: Splitter,
    pub opened: Time,
    /// When the last whole packet came.
    pub heard: Time,
    /// When the incomplete packet began.
    pub packet_began: Option<Time>,
    /// The time without a packet after which the client counts as gone.
    pub silence_max: Option<Duration>,
    /// Whether reading from the client is paused, so that its silence means nothing.
    pub is_held: bool,
    /// When the timer of this connection is set for.
    pub timer: Option<Time>,
    /// The topics of the client's aliases, the first at 0.
    pub aliases: Vec<Option<Arc<str>>>,
    /// Whether the transport has been notified that bytes are ready.
    pub is_ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Opened,
    /// It has a session.
    Connected(SessionId),
    /// To be closed once the pending bytes are sent.
    Closing,
}

/// The sending side of a connection, and the client's limits.
#[derive(Debug)]
pub(super) struct Link {
    pub version: Version,
    pub output: Vec<u8>,
    /// Bytes that the transport took last and may not have sent.
    pub taken: usize,
    pub receive_maximum: u16,
    pub packet_len_max: usize,
}

impl Link {
    /// Writes a response that is within every client's limits.
    pub fn answer(&mut self, packet: &Packet) {
        // If a client does not accept it, the response is dropped without harm.
        let _too_long = write(self.version, packet, &mut self.output, self.packet_len_max);
    }
}

impl Connection {
    pub fn new(now: Time, limits: &Limits) -> Connection {
        Connection {
            stage: Stage::Opened,
            link: Link {
                version: Version::V5,
                output: Vec::new(),
                taken: 0,
                receive_maximum: u16::MAX,
                packet_len_max: usize::MAX,
            },
            splitter: Splitter::new(limits.packet_len),
            opened: now,
            heard: now,
            packet_began: None,
            silence_max: None,
            is_held: false,
            timer: None,
            aliases: Vec::new(),
            is_ready: false,
        }
    }

    /// When the client's timeout or ours expires.
    pub fn due(&self, limits: &Limits) -> Option<Time> {
        match self.stage {
            Stage::Opened => Some(self.opened + limits.connect_timeout),
            Stage::Connected(_) if self.is_held => None,
            Stage::Connected(_) => {
                let silent = self.silence_max.map(|max| self.heard + max);
                let slow = self.packet_began.map(|began| began + limits.packet_timeout);
                silent.into_iter().chain(slow).min()
            }
            // The transport has as long as a client has to connect.
            Stage::Closing => Some(self.heard + limits.connect_timeout),
        }
    }
}
