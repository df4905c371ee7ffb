//! Subflows that a peer opens, before it is known to which connection.

use trackbed_core::Packet;

use crate::segment::{Flags, Join, MultipathOptions, Options, ResetReason, Segment};

/// The token of the connection that `syn` wants to join; `None` if it is not a SYN with MP_JOIN.
pub fn join_token(syn: &Segment) -> Option<u32> {
    if !syn.has(Flags::SYN) || syn.has(Flags::ACK) {
        return None;
    }
    match syn.options.multipath.as_ref()?.join? {
        Join::Syn { token, .. } => Some(token),
        Join::SynAck { .. } | Join::Ack(_) => None,
    }
}

/// The reset for a SYN with MP_JOIN that matches no connection or is refused (RFC 8684 section
/// 3.2), with its reason (section 3.6).
pub fn refuse_join(syn: &Segment) -> Packet {
    let reset = Some(ResetReason::PROTOCOL);
    let multipath = Some(Box::new(MultipathOptions { reset, ..MultipathOptions::default() }));
    let refusal = Segment {
        acknowledgment: syn.end(),
        flags: Flags::RST.with(Flags::ACK),
        options: Options { multipath, ..Options::default() },
        ..Segment::empty(syn.destination, syn.source)
    };
    refusal.emit()
}

/// Why a subflow does not join a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum JoinError {
    #[error("the segment is not an MP_JOIN for this connection")]
    NotForUs,
    #[error("the connection accepts no subflows: it is plain TCP, or is closing")]
    NotMultipath,
    #[error("the connection has reached its maximum number of subflows: raise the limit")]
    TooMany,
}
