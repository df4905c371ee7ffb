//! Why a connection, or an operation on it, failed.

use std::fmt;

/// Why a connection ended, or why an operation on it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TcpError {
    /// The peer answered the SYN with a reset: nothing listens there. Fatal.
    Refused,
    /// The peer reset the connection. Fatal.
    Reset,
    /// Retransmissions, window probes or keep-alive probes went unanswered for too long. Fatal.
    TimedOut,
    /// The connection was aborted on this side. Fatal.
    Aborted,
    /// Data was written behind `close`. The connection itself goes on.
    WriteAfterClose,
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TcpError::Refused => "the peer refused the connection; is a server listening there?",
            TcpError::Reset => "the peer reset the connection",
            TcpError::TimedOut => "the peer did not answer in time",
            TcpError::Aborted => "the connection was aborted on this side",
            TcpError::WriteAfterClose => "the sending side is closed; write before closing it",
        })
    }
}

impl std::error::Error for TcpError {}
