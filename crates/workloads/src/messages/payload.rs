//! The content of messages, and the check that it is well-formed.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::IgnoredAny;
use trackbed_connection::Error;
use trackbed_core::{ByteSize, Seed, Time};
use trackbed_outward::files;
use trackbed_v2x::Refusal;

use super::denm::Denm;
use super::signed::{SIGNED_LEN_MAX, Signed};
use crate::arguments::{WorkloadError, ensure};

pub(super) enum Payload {
    /// Messages generated for each phone and time.
    BuiltIn(Denm),
    /// The same, signed: the receiver must verify them.
    Signed(Arc<Signed>),
    /// The user's own messages, in turn, and the form that the server checks.
    File(Vec<Bytes>, Form),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Bytes,
}

impl Payload {
    pub(super) fn built_in(size: Option<ByteSize>) -> Result<Payload, WorkloadError> {
        let size = size.map_or(Denm::COMPLETE_LEN as u64, ByteSize::as_bytes);
        let (min, max) = (Denm::LEN_MIN as u64, MESSAGE_BYTES_MAX as u64);
        let advice = format!(
            "a built-in message has {min} to {max} bytes, not {size}; write such a size, set \
             `payload` for shorter messages, or use the workload `bulk` for longer transfers"
        );
        ensure((min..=max).contains(&size), "size", advice)?;
        Ok(Payload::BuiltIn(Denm::of_len(size as usize)))
    }

    /// The messages in a file, of which JSON must be well-formed: the server would refuse it.
    pub(super) fn read(path: &Path) -> Result<Payload, WorkloadError> {
        let refuse = |why: String| {
            let path = path.display();
            let advice = format!("{path} {why}; write the path of a file with a message");
            WorkloadError::new("payload", advice)
        };
        let content = files::read_bounded(path, FILE_BYTES_MAX)
            .map_err(|why| refuse(format!("cannot be read: {why}")))?;
        let content = Bytes::from(content);
        let is_marked = BYTE_ORDER_MARKS.iter().any(|mark| content.starts_with(mark));
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        let (messages, form) = match extension.to_ascii_lowercase().as_str() {
            "json" => (vec![(1, content)], Form::Json),
            "jsonl" | "ndjson" => (lines(&content), Form::Json),
            _ => (vec![(1, content)], Form::Bytes),
        };
        if is_marked && form == Form::Json {
            let why = "begins with a byte order mark; save it as UTF-8 without one";
            return Err(WorkloadError::new("payload", format!("{} {why}", path.display())));
        }
        for (first, message) in &messages {
            if form == Form::Json
                && !message.is_empty()
                && let Err(why) = check_json(message)
            {
                let (path, line) = (path.display(), first + why.line().saturating_sub(1));
                let (column, why) = (why.column(), why.to_string());
                // The line of the error is the message's.
                let why = why.split(" at line ").next().unwrap_or_default();
                let advice = format!(
                    "{path}:{line}:{column}: a message is not one JSON value: {why}; correct it, or rename the \
                     file to .bin to send any bytes"
                );
                return Err(WorkloadError::new("payload", advice));
            }
        }
        let messages: Vec<Bytes> = messages.into_iter().map(|(_, message)| message).collect();
        if messages.iter().all(Bytes::is_empty) {
            return Err(refuse("is empty".to_owned()));
        }
        if messages.iter().any(|message| message.len() > MESSAGE_BYTES_MAX) {
            let why = format!("has a message of more than {MESSAGE_BYTES_MAX} bytes");
            return Err(refuse(why));
        }
        Ok(Payload::File(messages, form))
    }

    /// Prepares the messages of this number of phones, before anything is measured.
    pub(super) fn prepare(&self, phones: u32) -> Result<(), String> {
        match self {
            Payload::Signed(signed) => signed.prepare(phones).map_err(unsigned),
            Payload::BuiltIn(_) | Payload::File(..) => Ok(()),
        }
    }

    pub(super) fn message(
        &self,
        seed: &Seed,
        phone: u32,
        message: u32,
        time: Time,
    ) -> Result<Bytes, Error> {
        match self {
            Payload::BuiltIn(denm) => Ok(denm.message(seed, phone, message, time)),
            Payload::Signed(signed) => signed
                .message(seed, phone, message, time)
                .map_err(|refusal| Error::Body { reason: unsigned(refusal) }),
            Payload::File(messages, _) => Ok(messages[message as usize % messages.len()].clone()),
        }
    }

    pub(super) fn check(&self, message: &[u8]) -> Result<(), String> {
        match self {
            Payload::BuiltIn(denm) => denm.check(message),
            Payload::File(_, Form::Json) => {
                check_json(message).map_err(|why| format!("not JSON: {why}"))
            }
            Payload::File(_, Form::Bytes) | Payload::Signed(_) => Ok(()),
        }
    }

    pub(super) fn longest(&self) -> u64 {
        match self {
            Payload::BuiltIn(denm) => denm.len() as u64,
            Payload::Signed(_) => SIGNED_LEN_MAX,
            Payload::File(messages, _) => messages.iter().map(Bytes::len).max().unwrap_or(0) as u64,
        }
    }
}

fn unsigned(refusal: Refusal) -> String {
    format!("a message cannot be signed: {refusal}")
}

fn check_json(message: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<IgnoredAny>(message).map(drop)
}

/// The lines with a message, each with its number.
fn lines(content: &Bytes) -> Vec<(usize, Bytes)> {
    let text = (1..).zip(content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
    let messages = text.filter(|(_, line)| !line.is_empty());
    messages.map(|(number, line)| (number, content.slice_ref(line))).collect()
}

/// Those of UTF-8 and of UTF-16.
const BYTE_ORDER_MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];

/// The maximum size of all messages in a file, as for other files of scenarios.
const FILE_BYTES_MAX: u64 = 256_000_000;

/// The longest message: it is held in memory, at both ends.
pub(super) const MESSAGE_BYTES_MAX: usize = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_as_they_stand() {
        let found = lines(&Bytes::from_static(b"{\"a\":1}\r\n\n{broken\n  [2] \n"));
        let expected = [(1, &b"{\"a\":1}"[..]), (3, b"{broken"), (4, b"[2]")];
        assert_eq!(found.iter().map(|(n, line)| (*n, &line[..])).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn json_is_checked_and_bytes_are_not() {
        let json = Payload::File(vec![Bytes::new()], Form::Json);
        assert_eq!(json.check(b" {\"a\": [1, 2.5e3, null]} "), Ok(()));
        for malformed in [&b"{\"a\":}"[..], b"", b"{} {}", b"\xff", b"{'a':1}"] {
            assert!(json.check(malformed).unwrap_err().starts_with("not JSON: "));
        }
        let nested = "[".repeat(1_000_000);
        assert!(json.check(nested.as_bytes()).is_err());
        assert_eq!(Payload::File(vec![Bytes::new()], Form::Bytes).check(b"\xff\0"), Ok(()));
    }
}
