//! The end of a stream that is sent.

use noq::SendStream;

/// Keeps a finished stream until the peer has all of it. If the peer asks to stop before that, what
/// is left is not sent any more (RFC 9000 section 3.5): the engine, which holds much of a body by
/// then, leaves the reset to whoever has the handle.
pub(crate) async fn see_off(stream: &mut SendStream) {
    if let Ok(Some(code)) = stream.stopped().await {
        // It fails only for a stream that has ended.
        let _ended = stream.reset(code);
    }
}
