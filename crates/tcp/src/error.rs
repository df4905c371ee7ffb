//! Why a connection, or an operation on it, failed.

/// Why a connection ended, or why an operation on it is refused. All but a write after the end of
/// writing are fatal to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum TcpError {
    #[error("the peer refused the connection; is a server listening there?")]
    Refused,
    #[error("the peer reset the connection")]
    Reset,
    /// Retransmissions, window probes or keep-alive probes went unanswered for too long.
    #[error("the peer did not answer in time")]
    TimedOut,
    #[error("the connection was aborted on this side")]
    Aborted,
    #[error("the sending side is closed; write before you close it")]
    WriteAfterClose,
}

impl TcpError {
    /// The answer to a write, by what the connection failed of and whether its sending side ended.
    pub(crate) fn check_writing(failed: Option<TcpError>, closed: bool) -> Result<(), TcpError> {
        match failed {
            Some(error) => Err(error),
            None if closed => Err(TcpError::WriteAfterClose),
            None => Ok(()),
        }
    }
}
