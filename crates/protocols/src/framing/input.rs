//! Reading messages from an untrusted stream of bytes.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::future::{Either, select};
use trackbed_connection::{Body, Error, MAX_PATH_LEN, Priority, Response, Result, Step, body};
use trackbed_substrate::{Task, spawn};

use super::{CHUNK_MAX, PRIORITISED_REQUEST, REQUEST, RESPONSE, is_final_status, path_fault};

pub(crate) trait Input {
    /// The next bytes, at least one; `None` at the end of the stream.
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>>;
}

pub(crate) struct Reader<I> {
    protocol: &'static str,
    input: I,
    /// Bytes received beyond the requested ones.
    rest: Bytes,
}

impl<I: Input> Reader<I> {
    pub(crate) fn new(protocol: &'static str, input: I) -> Reader<I> {
        Reader { protocol, input, rest: Bytes::new() }
    }

    /// The path of the next request and its priority, if it has one; `None` if the stream ends
    /// before one begins.
    pub(crate) async fn request(&mut self) -> Result<Option<(String, Option<Priority>)>> {
        let Some(first) = self.next_byte().await? else { return Ok(None) };
        let priority = match first {
            REQUEST => None,
            PRIORITISED_REQUEST => {
                let byte = self.exactly(1).await?.get_u8();
                let unknown = || self.malformed("the priority is not valid (RFC 9218)");
                Some(Priority::from_byte(byte).ok_or_else(unknown)?)
            }
            _ => return Err(self.malformed("the message is not a request")),
        };
        let len = self.exactly(2).await?.get_u16();
        if usize::from(len) > MAX_PATH_LEN {
            return Err(self.malformed("the path is longer than 4,096 bytes"));
        }
        let path = self.exactly(len.into()).await?;
        let path =
            std::str::from_utf8(&path).map_err(|_| self.malformed("the path is not UTF-8"))?;
        if let Some(fault) = path_fault(path) {
            return Err(self.malformed(fault));
        }
        Ok(Some((path.to_owned(), priority)))
    }

    pub(crate) async fn response(&mut self) -> Result<u16> {
        match self.next_byte().await? {
            Some(RESPONSE) => {}
            Some(_) => return Err(self.malformed("the message is not a response")),
            None => {
                let reason = "the server closed the connection without a response";
                return Err(Error::transient(self.protocol, Step::Receive, reason));
            }
        }
        let status = self.exactly(2).await?.get_u16();
        match is_final_status(status) {
            true => Ok(status),
            false => Err(self.malformed("the status is not between 200 and 999")),
        }
    }

    /// The body that follows a head, up to the end of the stream. `beside` is a task that must run
    /// until the body has been read.
    pub(crate) fn into_body(self, beside: Option<Task<Result<()>>>) -> Body
    where
        I: 'static,
    {
        body::unfold((self, beside), async |(reader, _)| match reader.rest.is_empty() {
            true => poll_fn(|cx| reader.input.poll_bytes(cx)).await,
            false => Ok(Some(std::mem::take(&mut reader.rest))),
        })
    }

    /// The next piece of a chunked body; `None` at its end. `left` is what the current chunk
    /// still holds, zero at the start of the body.
    pub(crate) async fn chunked_piece(&mut self, left: &mut usize) -> Result<Option<Bytes>> {
        if *left == 0 {
            let len = self.exactly(4).await?.get_u32();
            *left = usize::try_from(len).unwrap_or(usize::MAX);
            if *left == 0 {
                return Ok(None);
            }
            if *left > CHUNK_MAX {
                return Err(self.malformed("a chunk is longer than 1,048,576 bytes"));
            }
        }
        self.fill().await?;
        let piece = self.rest.split_to(self.rest.len().min(*left));
        *left -= piece.len();
        Ok(Some(piece))
    }

    async fn next_byte(&mut self) -> Result<Option<u8>> {
        if self.rest.is_empty() {
            match poll_fn(|cx| self.input.poll_bytes(cx)).await? {
                Some(bytes) => self.rest = bytes,
                None => return Ok(None),
            }
        }
        Ok(Some(self.rest.get_u8()))
    }

    async fn exactly(&mut self, len: usize) -> Result<Bytes> {
        if self.rest.len() >= len {
            return Ok(self.rest.split_to(len));
        }
        let mut bytes = BytesMut::with_capacity(len);
        while bytes.len() < len {
            self.fill().await?;
            let missing = len - bytes.len();
            bytes.extend_from_slice(&self.rest.split_to(self.rest.len().min(missing)));
        }
        Ok(bytes.freeze())
    }

    /// Makes sure that `rest` holds something.
    async fn fill(&mut self) -> Result<()> {
        while self.rest.is_empty() {
            self.rest = poll_fn(|cx| self.input.poll_bytes(cx))
                .await?
                .ok_or_else(|| self.malformed("the stream ended in the middle of a message"))?;
        }
        Ok(())
    }

    fn malformed(&self, reason: &str) -> Error {
        Error::malformed(self.protocol, Step::Receive, reason)
    }
}

/// Sends a request and waits for its response, on a stream of their own.
pub(crate) async fn exchange<I: Input + 'static>(
    mut reader: Reader<I>,
    send: impl Future<Output = Result<()>> + 'static,
) -> Result<Response> {
    let status = async move {
        let status = reader.response().await?;
        Ok((status, reader))
    };
    let ((status, reader), beside) = while_sending(send, status).await?;
    Ok(Response { status, body: reader.into_body(beside) })
}

/// Waits for the beginning of a response, and returns what has to go on sending the request: the
/// response may begin before that has ended.
pub(crate) async fn while_sending<T>(
    send: impl Future<Output = Result<()>> + 'static,
    receive: impl Future<Output = Result<T>>,
) -> Result<(T, Option<Task<Result<()>>>)> {
    match select(Box::pin(send), Box::pin(receive)).await {
        Either::Left((sent, receive)) => {
            sent?;
            Ok((receive.await?, None))
        }
        Either::Right((received, send)) => Ok((received?, Some(spawn(send)))),
    }
}
