//! Malformed and hostile input, without a network.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use trackbed_connection::{Error, Result, body};
use trackbed_core::Seed;

use super::*;

/// An input of given pieces; whole, or byte by byte.
struct Script(VecDeque<Bytes>);

impl Input for Script {
    fn poll_bytes(&mut self, _: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        Poll::Ready(Ok(self.0.pop_front()))
    }
}

fn whole(bytes: &[u8]) -> Reader<Script> {
    let pieces = (!bytes.is_empty()).then(|| Bytes::copy_from_slice(bytes));
    Reader::new("tcp", Script(pieces.into_iter().collect()))
}

fn bytewise(bytes: &[u8]) -> Reader<Script> {
    Reader::new("tcp", Script(bytes.iter().map(|&byte| Bytes::copy_from_slice(&[byte])).collect()))
}

#[derive(Default)]
struct Sink {
    bytes: BytesMut,
    flushes: u32,
}

impl Output for Sink {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

fn written(delimiter: Delimiter, head: Bytes, body: trackbed_connection::Body) -> Sink {
    let mut sink = Sink::default();
    send_message(&mut sink, delimiter, head, body).now_or_never().unwrap().unwrap();
    sink
}

fn read_chunked(reader: &mut Reader<Script>) -> Result<Vec<u8>> {
    let (mut left, mut body) = (0, Vec::new());
    while let Some(piece) = reader.chunked_piece(&mut left).now_or_never().unwrap()? {
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

#[test]
fn a_request_is_the_documented_bytes_in_one_flush() {
    let sink = written(Delimiter::EmptyChunk, request_head("/a", None), body::full("xyz"));
    assert_eq!(&sink.bytes[..], b"\x01\0\x02/a\0\0\0\x03xyz\0\0\0\0");
    assert_eq!(sink.flushes, 1);
    let sink = written(Delimiter::EndOfStream, response_head(204), body::full("xyz"));
    assert_eq!(&sink.bytes[..], b"\x02\0\xccxyz");
}

#[test]
fn messages_survive_any_cut() {
    let body = vec![7; 3 * CHUNK_MAX / 2];
    let sink =
        written(Delimiter::EmptyChunk, request_head("/path", None), body::full(body.clone()));
    for mut reader in [whole(&sink.bytes), bytewise(&sink.bytes)] {
        let path = reader.request().now_or_never().unwrap().unwrap();
        assert_eq!(path, Some(("/path".to_owned(), None)));
        assert_eq!(read_chunked(&mut reader).unwrap(), body);
        assert_eq!(reader.request().now_or_never().unwrap().unwrap(), None);
    }
}

#[test]
fn a_priority_goes_before_the_path() {
    let urgent = Priority { urgency: 1, incremental: true };
    let head = request_head("/a", Some(urgent));
    assert_eq!(&head[..], b"\x03\x09\0\x02/a");
    for mut reader in [whole(&head), bytewise(&head)] {
        let request = reader.request().now_or_never().unwrap().unwrap();
        assert_eq!(request, Some(("/a".to_owned(), Some(urgent))));
    }
}

#[test]
fn malformed_heads_are_refused() {
    let refused: [&[u8]; 11] = [
        b"\x04",                // no such message
        b"\x03",                // cut before the priority
        b"\x03\x10\0\x02/a",    // no priority
        b"GET / HTTP/1.1\r\n",  // another protocol
        b"\x02\0\xc8",          // a response
        b"\x01\0",              // cut in the length
        b"\x01\0\x05/ab",       // cut in the path
        b"\x01\0\0",            // no path
        b"\x01\0\x02ab",        // no slash
        b"\x01\0\x03/\xff\xfe", // no text
        b"\x01\0\x03/a\n",      // not visible
    ];
    for bytes in refused {
        for mut reader in [whole(bytes), bytewise(bytes)] {
            let refusal = reader.request().now_or_never().unwrap();
            assert!(matches!(refusal, Err(Error::Malformed { .. })), "{bytes:?}: {refusal:?}");
        }
    }
    let too_long = [b"\x01\xff\xff/".as_slice(), &[b'a'; 70_000]].concat();
    assert!(whole(&too_long).request().now_or_never().unwrap().is_err());
}

#[test]
fn malformed_responses_are_refused() {
    for bytes in [&b"\x01\0\x01/"[..], b"\x02\0", b"\x02\0\x64", b"\x02\xff\xff"] {
        let refusal = whole(bytes).response().now_or_never().unwrap();
        assert!(matches!(refusal, Err(Error::Malformed { .. })), "{bytes:?}: {refusal:?}");
    }
    // A server that disappears does not break the protocol; a new connection may succeed.
    assert!(whole(b"").response().now_or_never().unwrap().unwrap_err().is_retryable());
}

#[test]
fn malformed_chunks_are_refused() {
    for bytes in [&b""[..], b"\0\0", b"\0\0\0\x05abc", b"\0\x10\0\x01a", b"\xff\xff\xff\xffa"] {
        assert!(read_chunked(&mut whole(bytes)).is_err(), "{bytes:?}");
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = Seed::of_run(1, 0).stream("framing/random");
    for _ in 0..5_000 {
        let mut bytes = vec![0; rng.below(40) as usize];
        rng.fill(&mut bytes);
        if let Some(first) = bytes.first_mut() {
            *first = 1 + (*first % 3);
        }
        let mut reader = bytewise(&bytes);
        if let Ok(Some(_)) = reader.request().now_or_never().unwrap() {
            let _ = read_chunked(&mut reader);
        }
        let _ = bytewise(&bytes).response().now_or_never().unwrap();
    }
}

#[test]
fn a_body_that_fails_leaves_no_end_mark() {
    let broken = Error::Body { reason: "no more".to_owned() };
    let pieces = [Ok(Bytes::from_static(b"ab")), Err(broken.clone())];
    let body = Box::pin(futures_util::stream::iter(pieces));
    let mut sink = Sink::default();
    let sent = send_message(&mut sink, Delimiter::EmptyChunk, request_head("/", None), body);
    assert_eq!(sent.now_or_never().unwrap(), Err(broken));
    assert!(sink.bytes.ends_with(b"\0\0\0\x02ab"));
}

#[test]
fn statuses_that_cannot_end_an_exchange_become_500() {
    assert_eq!([0, 100, 199, 200, 999, 1000].map(final_status), [500, 500, 500, 200, 999, 500]);
}
