//! One path of a connection, apart from its subflow: what the subflow carries, and where its
//! handshake stands.

use std::collections::VecDeque;

use super::incoming::Incoming;
use super::keys::{first_64_bits, first_160_bits};
use super::outgoing::Outgoing;
use super::shared::Shared;
use crate::schedulers::PathId;
use crate::segment::{AddAddress, Join, ResetReason};

#[derive(Debug, Default)]
pub(super) struct Link {
    pub id: PathId,
    pub stage: Stage,
    /// The numbers of the addresses at its ends.
    pub local_id: u8,
    pub remote_id: u8,
    /// One of the two sides asked to use it only if there is no other.
    pub backup_here: bool,
    pub backup_there: bool,
    pub outgoing: Outgoing,
    pub incoming: Incoming,
    /// Options that need a separate acknowledgment.
    pub notices: VecDeque<Notice>,
    /// It gets no new data, and closes after its remaining data.
    pub closing: bool,
    /// The peer closed its side of the subflow.
    pub peer_closed: bool,
    /// Why it is reset, once it is.
    pub reset: Option<ResetReason>,
    /// The data whose damage is why.
    pub failed: Option<u64>,
    /// The reset ends the connection.
    pub fast_close: bool,
    /// The room that it wants in the send buffer.
    pub wanted: usize,
    /// SYNs that were sent with MP_CAPABLE.
    pub capable_syns: u32,
    /// MP_CAPABLE is no longer sent.
    pub no_longer_capable: bool,
    /// The last acknowledgment carried the keys.
    pub told_keys: bool,
    /// Segments with data that were sent, retransmissions included.
    pub data_segments: u64,
}

/// The state of a path's handshake at the level of Multipath TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The first path: MP_CAPABLE.
    #[default]
    First,
    /// We sent MP_JOIN on a SYN.
    Joining { nonce: u32, token: u32 },
    /// We answered MP_JOIN on a SYN.
    Joined { nonce: u32, remote_nonce: u32 },
    /// We proved who we are; the peer has not yet shown that it knows (section 3.2,
    /// "PRE_ESTABLISHED").
    Proved([u8; 20]),
    /// Both sides may send data.
    Ready,
}

/// An option that needs a separate acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// None but what goes on every acknowledgment.
    Acknowledge,
    Priority(bool),
    AddAddress(AddAddress),
    RemoveAddress(u8),
    Fail(u64),
}

impl Link {
    pub fn new(id: PathId, stage: Stage, isn: u32) -> Link {
        Link { id, stage, outgoing: Outgoing::new(isn), ..Link::default() }
    }

    /// True if it may carry data as far as Multipath TCP is concerned.
    pub fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::First | Stage::Ready) && !self.closing && !self.peer_closed
    }

    /// True for the path that the connection began with.
    pub fn is_first(&self) -> bool {
        self.stage == Stage::First
    }

    /// Asks for an acknowledgment, once.
    pub fn acknowledge(&mut self) {
        if self.notices.is_empty() {
            self.notices.push_back(Notice::Acknowledge);
        }
    }

    /// The MP_JOIN of our SYN or SYN-ACK.
    pub fn join_option(&self, shared: &Shared) -> Option<Join> {
        let (backup, address_id) = (self.backup_here, self.local_id);
        match self.stage {
            Stage::Joining { nonce, token } => Some(Join::Syn { backup, address_id, token, nonce }),
            Stage::Joined { nonce, remote_nonce } => {
                let hmac = first_64_bits(&shared.keys()?.join(nonce, remote_nonce));
                Some(Join::SynAck { backup, address_id, hmac, nonce })
            }
            Stage::First | Stage::Proved(_) | Stage::Ready => None,
        }
    }

    /// Takes the peer's MP_JOIN on the SYN-ACK or the third segment; false if it proves nothing.
    pub fn take_join(&mut self, shared: &Shared, join: Join) -> bool {
        let Some(keys) = shared.keys() else { return false };
        match (self.stage, join) {
            (
                Stage::Joining { nonce, .. },
                Join::SynAck { backup, address_id, hmac, nonce: remote_nonce },
            ) => {
                if first_64_bits(&keys.mirrored().join(remote_nonce, nonce)) != hmac {
                    return false;
                }
                self.remote_id = address_id;
                self.backup_there = backup;
                let proof = keys.join(nonce, remote_nonce);
                self.stage = Stage::Proved(first_160_bits(&proof));
                true
            }
            (Stage::Joined { nonce, remote_nonce }, Join::Ack(hmac)) => {
                if first_160_bits(&keys.mirrored().join(remote_nonce, nonce)) != hmac {
                    return false;
                }
                self.stage = Stage::Ready;
                // The fourth segment: the peer may send data only when it has it.
                self.acknowledge();
                true
            }
            _ => false,
        }
    }
}
