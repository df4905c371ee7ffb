//! Events of a player of streamed media.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A step of a player, which requests one piece of media after the other, a second each.
///
/// `piece` numbers the requests from 0 on, including those after seeks back; `second` is a place in
/// the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Playback {
    /// A piece was requested; again under the same number if its connection was lost.
    Requested {
        piece: u32,
        /// The second of the media.
        second: u32,
        /// Its resolution, as lines of a picture: 720, 1080 or 1440.
        lines: u32,
    },
    /// The last byte of the piece has arrived.
    Loaded { piece: u32, bytes: u64 },
    /// The viewer left before the piece had arrived.
    Abandoned { piece: u32 },
    /// Playback starts, for the first time or again.
    Playing,
    /// The buffer ran empty during playback.
    Stalled,
    /// The viewer jumped; the buffer was discarded.
    Sought { second: u32 },
    /// The session is over.
    Ended { played: Duration },
}
