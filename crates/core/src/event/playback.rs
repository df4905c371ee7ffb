//! What happens to a player of streamed media.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A step of a player, which asks for one piece of media after the other, a second each.
///
/// `piece` counts what was asked for, from 0 on, seeks back included; `second` is a place in the
/// media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Playback {
    /// A piece was asked for; once more under the same number if its connection went away.
    Requested {
        /// The how-manieth.
        piece: u32,
        /// Which second of the media.
        second: u32,
        /// Its resolution, as lines of a picture: 720, 1080 or 1440.
        lines: u32,
    },
    /// The last byte of the piece is there.
    Loaded {
        /// The how-manieth.
        piece: u32,
        /// Its bytes.
        bytes: u64,
    },
    /// The viewer left before the piece was there.
    Abandoned {
        /// The how-manieth.
        piece: u32,
    },
    /// Pictures move: for the first time, or again.
    Playing,
    /// The buffer ran empty while pictures moved.
    Stalled,
    /// The viewer jumped; what was in the buffer is of no use any more.
    Sought {
        /// To where.
        second: u32,
    },
    /// The session is over.
    Ended {
        /// How much was played.
        played: Duration,
    },
}
