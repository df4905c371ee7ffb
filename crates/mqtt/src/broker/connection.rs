//! A client's connection.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;

use super::limits::Limits;
use crate::framing::Splitter;
use crate::packet::{Packet, Version};
use crate::sending::write;
use crate::tree::SessionId;

/// Which connection. No two of a broker's life are equal.
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
    /// When the packet began that is not complete.
    pub packet_began: Option<Time>,
    /// After how long without a packet the client counts as gone.
    pub silence_max: Option<Duration>,
    /// Whether the client is kept from sending, and its silence means nothing.
    pub is_held: bool,
    /// When the timer of this connection is set for.
    pub timer: Option<Time>,
    /// The topics that the client's aliases stand for, the first at 0.
    pub aliases: Vec<Option<Arc<str>>>,
    /// Whether whoever carries the bytes was told that there are some.
    pub is_ready: bool,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// CONNECT is to come.
    Opened,
    /// It has a session.
    Connected(SessionId),
    /// It is to be closed when what waits is sent.
    Closing,
}

/// The sending side of a connection, and what the client takes.
#[derive(Debug)]
pub(super) struct Link {
    pub version: Version,
    pub output: Vec<u8>,
    pub receive_maximum: u16,
    pub packet_len_max: usize,
}

impl Link {
    /// Writes an answer that every client takes.
    pub fn answer(&mut self, packet: &Packet) {
        // One that does not is not told, but not harmed either.
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

    /// When the client's patience with it, or ours with the client, ends.
    pub fn due(&self, limits: &Limits) -> Option<Time> {
        match self.stage {
            Stage::Opened => Some(self.opened + limits.connect_timeout),
            Stage::Connected(_) if self.is_held => None,
            Stage::Connected(_) => {
                let silent = self.silence_max.map(|max| self.heard + max);
                let slow = self.packet_began.map(|began| began + limits.packet_timeout);
                silent.into_iter().chain(slow).min()
            }
            // Whoever carries the bytes gets as long as a client has to connect.
            Stage::Closing => Some(self.heard + limits.connect_timeout),
        }
    }
}
