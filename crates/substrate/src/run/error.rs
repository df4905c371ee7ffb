//! How a run fails.

use std::io;

use trackbed_core::Time;

use crate::executor::StallReason;

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum RunError {
    #[error("the run stalled at {at}: {reason}\n{diagnosis}")]
    Stalled {
        at: Time,
        reason: StallReason,
        /// The tasks and their waits: a readable text of several lines.
        diagnosis: String,
    },
    #[error("the run panicked at {at}{}: {message}", place(.location.as_deref()))]
    Panicked {
        at: Time,
        /// The message of the panic, cut to 4,096 bytes.
        message: String,
        /// The place in the source, as `file:line:column`, if it is known.
        location: Option<String>,
    },
    #[error("the run was cancelled at {at}")]
    Cancelled { at: Time },
    #[error("the thread of the run could not be started ({0}); use fewer parallel runs")]
    Thread(#[source] io::Error),
    #[error("the operating system refused a resource that a run needs: {0}")]
    System(#[source] io::Error),
}

fn place(location: Option<&str>) -> String {
    location.map(|location| format!(" in {location}")).unwrap_or_default()
}
