//! Writing messages.

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use trackbed_connection::{Body, Result};

use super::CHUNK_MAX;

pub(crate) trait Output {
    /// Takes bytes; may buffer them until the next flush.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;
    async fn flush(&mut self) -> Result<()>;
}

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// By ending the stream, which is up to the caller.
    EndOfStream,
    /// By a chunk without bytes.
    EmptyChunk,
}

/// Sends a head and a body. Data that is ready leaves together; the output is flushed whenever the
/// body is not ready.
///
/// # Errors
/// If the output or the body fails. The message is then incomplete, and the caller must see to it
/// that the peer learns of that.
pub(crate) async fn send_message(
    output: &mut impl Output,
    delimiter: Delimiter,
    head: Bytes,
    mut body: Body,
) -> Result<()> {
    output.write(head).await?;
    loop {
        let next = match body.next().now_or_never() {
            Some(next) => next,
            None => {
                output.flush().await?;
                body.next().await
            }
        };
        let Some(mut piece) = next.transpose()? else { break };
        match delimiter {
            Delimiter::EndOfStream => output.write(piece).await?,
            Delimiter::EmptyChunk => {
                while !piece.is_empty() {
                    let chunk = piece.split_to(piece.len().min(CHUNK_MAX));
                    output.write(chunk_len(chunk.len())).await?;
                    output.write(chunk).await?;
                }
            }
        }
    }
    match delimiter {
        // Buffered data leaves with the end.
        Delimiter::EndOfStream => Ok(()),
        Delimiter::EmptyChunk => {
            output.write(chunk_len(0)).await?;
            output.flush().await
        }
    }
}

fn chunk_len(len: usize) -> Bytes {
    Bytes::copy_from_slice(&(len as u32).to_be_bytes())
}
