//! The end of an outgoing stream.

use noq::SendStream;

/// Keeps a finished stream until the peer has all of it. If the peer asks to stop before that, the
/// rest is not sent (RFC 9000 section 3.5): the engine, which holds much of a body by then, leaves
/// the reset to the owner of the handle.
pub(crate) async fn see_off(stream: &mut SendStream) {
    if let Ok(Some(code)) = stream.stopped().await {
        // It fails only for a stream that has ended.
        let _ended = stream.reset(code);
    }
}
