//! How a run fails.

use std::fmt;
use std::io;

use trackbed_core::Time;

use crate::executor::StallReason;

/// Why a run has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The run could not go on.
    Stalled {
        /// When, on the run's clock.
        at: Time,
        /// Why.
        reason: StallReason,
        /// Who waits for what: a text of several lines for a person.
        diagnosis: String,
    },
    /// A task of the run panicked.
    Panicked {
        /// When, on the run's clock.
        at: Time,
        /// The message of the panic, cut to 4,096 bytes.
        message: String,
        /// The place in the source, as `file:line:column`, if it is known.
        location: Option<String>,
    },
    /// The run was cancelled.
    Cancelled {
        /// When, on the run's clock.
        at: Time,
    },
    /// The thread of the run could not be started.
    Thread(io::Error),
    /// The operating system refused what a run on its sockets needs.
    System(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Stalled { at, reason, diagnosis } => {
                write!(f, "the run stalled at {at}: {reason}\n{diagnosis}")
            }
            RunError::Panicked { at, message, location: None } => {
                write!(f, "the run panicked at {at}: {message}")
            }
            RunError::Panicked { at, message, location: Some(location) } => {
                write!(f, "the run panicked at {at} in {location}: {message}")
            }
            RunError::Cancelled { at } => write!(f, "the run was cancelled at {at}"),
            RunError::System(error) => {
                write!(f, "the operating system refused what a run needs: {error}")
            }
            RunError::Thread(error) => {
                write!(f, "the thread of the run could not be started ({error}); run fewer at once")
            }
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Thread(error) | RunError::System(error) => Some(error),
            RunError::Stalled { .. } | RunError::Panicked { .. } | RunError::Cancelled { .. } => {
                None
            }
        }
    }
}
