//! Why a connection, or an operation on it, failed.

/// Why a connection ended, or why an operation on it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TcpError {
    /// The peer answered the SYN with a reset: nothing listens there. Fatal.
    #[error("the peer refused the connection; is a server listening there?")]
    Refused,
    /// The peer reset the connection. Fatal.
    #[error("the peer reset the connection")]
    Reset,
    /// Retransmissions, window probes or keep-alive probes went unanswered for too long. Fatal.
    #[error("the peer did not answer in time")]
    TimedOut,
    /// The connection was aborted on this side. Fatal.
    #[error("the connection was aborted on this side")]
    Aborted,
    /// Data was written after `close`. The connection itself continues.
    #[error("the sending side is closed; write before you close it")]
    WriteAfterClose,
}
