//! Errors: which protocol, at which step, and whether a new connection may help.

use std::fmt;
use std::time::Duration;

use trackbed_core::named;
use trackbed_outward::printable_line;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration asks for something that the protocol does not support.
    #[error("{protocol}: {advice}")]
    Unsupported {
        /// The protocol's name.
        protocol: &'static str,
        /// What is not supported, and what to ask for instead.
        advice: String,
    },
    /// The network, the peer's host or the transport failed.
    #[error("{protocol}: {step} failed: {reason}")]
    Failed {
        /// The protocol's name.
        protocol: &'static str,
        /// The step at which it failed.
        step: Step,
        /// The cause, as reported by the layer below.
        reason: String,
        /// Whether the same request on a new connection may succeed.
        retryable: bool,
    },
    /// The peer sent something that the protocol does not allow.
    #[error("{protocol}: {step}: the peer violated the protocol: {reason}")]
    Malformed {
        /// The protocol's name.
        protocol: &'static str,
        /// The step at which it failed.
        step: Step,
        /// What is wrong with it.
        reason: String,
    },
    /// A body is longer than the reader allows.
    #[error("the body is longer than the {limit_bytes} bytes allowed here")]
    TooLong {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// The application could not continue producing a body.
    #[error("the body could not be produced: {reason}")]
    Body {
        /// The cause, in the application's words.
        reason: String,
    },
}

named! {
    /// The step at which something failed.
    #[non_exhaustive]
    pub enum Step {
        /// Opening a server's socket.
        Listen = "listening",
        /// Opening a connection of the transport.
        Connect = "connecting",
        /// Authenticating the peer and agreeing on keys.
        Handshake = "the handshake",
        /// Sending a request or a response.
        Send = "sending",
        /// Receiving a request or a response.
        Receive = "receiving",
    }
}

impl Error {
    /// Whether the same request on a new connection may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Error::Failed { retryable: true, .. })
    }

    /// A configuration that the protocol does not support, and what to ask for instead.
    pub fn unsupported(protocol: &'static str, advice: impl Into<String>) -> Error {
        Error::Unsupported { protocol, advice: advice.into() }
    }

    /// A failure after which a new connection may help.
    pub fn transient(protocol: &'static str, step: Step, reason: impl fmt::Display) -> Error {
        Error::Failed { protocol, step, reason: line(reason), retryable: true }
    }

    /// A connection without progress for as long as `limit`.
    pub fn idle(protocol: &'static str, step: Step, limit: Duration) -> Error {
        Error::transient(protocol, step, format!("no progress for {limit:?} (idle-timeout)"))
    }

    /// A failure that would recur on a new connection.
    pub fn lasting(protocol: &'static str, step: Step, reason: impl fmt::Display) -> Error {
        Error::Failed { protocol, step, reason: line(reason), retryable: false }
    }

    /// A protocol violation by the peer.
    pub fn malformed(protocol: &'static str, step: Step, reason: impl fmt::Display) -> Error {
        Error::Malformed { protocol, step, reason: line(reason) }
    }
}

/// The peer may have written it, for the terminal.
fn line(reason: impl fmt::Display) -> String {
    printable_line(&reason.to_string()).into_owned()
}

#[cfg(test)]
#[test]
fn a_reason_is_one_line_without_control_characters() {
    let error = Error::transient("quic", Step::Connect, "closed\nall is valid\u{1b}[2J");
    assert_eq!(error.to_string(), "quic: connecting failed: closed\\nall is valid\\u001b[2J");
}
