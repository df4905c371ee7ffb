//! A queue that is flushed at given times, such as that of a base station that a phone leaves.

use std::sync::Arc;

use trackbed_core::{ByteSize, Rng, Time, parameters};

use super::schedule::{Act, check_rows, parse_rows, scheduled};
use crate::link::Link;
use crate::spec::{Model, ModelEntry, SpecError, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "flush",
    summary: "times at which the queue after it drops queued packets",
    parameters: parameters! {
        "flushes": File, required =>
            "a file with one line per time: the time, a comma and the maximum number of bytes \
             dropped, oldest packets first, as in \"10 s, 10 KiB\"; lines that begin with # are \
             comments";
    },
    has_queue: false,
    example: &[("flushes", "10 s, 10 KiB\n26 s, 10 KiB\n")],
    read: |arguments| {
        let text: Arc<str> = arguments.need("flushes");
        Ok(Arc::new(Flush::new(parse_rows(&text, "10 s, 10 KiB", None, str::parse)?)?))
    },
};

/// Times at which the queue after it drops packets, the oldest first, up to a number of bytes. The
/// packet that is being sent is not dropped. In the default order it comes before queue and rate;
/// without a queue after it, nothing is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flush {
    rows: Arc<[(Time, ByteSize)]>,
}

impl Flush {
    /// Pairs of a time and a number of bytes.
    ///
    /// # Errors
    /// If a time is not after the one before.
    pub fn new(rows: impl IntoIterator<Item = (Time, ByteSize)>) -> Result<Flush, SpecError> {
        let rows: Arc<[(Time, ByteSize)]> = rows.into_iter().collect();
        check_rows(&rows, "flush", false)?;
        Ok(Flush { rows })
    }
}

impl Model for Flush {
    fn stage(&self) -> Stage {
        Stage::Flush
    }

    fn wrap(&self, _rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        scheduled(self.rows.iter().map(|(at, bytes)| (*at, Act::Flush(*bytes))), inner)
    }
}
