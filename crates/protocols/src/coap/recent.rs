//! Recently received messages, for deduplication (RFC 7252 section 4.5).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use trackbed_core::Time;

/// Messages of one peer, by identifier and token, with their responses.
///
/// A retransmission is identical in every byte. A message with another token is therefore new: its
/// sender has used all identifiers within their lifetime.
#[derive(Debug, Default)]
pub(super) struct Recent {
    heard: BTreeMap<u16, Entry>,
    /// In the order of expiry: the time, the key and its serial number.
    order: VecDeque<(Time, u16, u64)>,
    next_serial: u64,
    answers_len: usize,
}

#[derive(Debug)]
struct Entry {
    token: Vec<u8>,
    serial: u64,
    answer: Option<Bytes>,
}

impl Recent {
    /// The response to a message that was received before, if any; `None` if it is new.
    pub(super) fn find(&mut self, id: u16, token: &[u8], now: Time) -> Option<Option<Bytes>> {
        self.forget(now);
        let entry = self.heard.get(&id).filter(|entry| entry.token == token)?;
        Some(entry.answer.clone())
    }

    /// Remembers a new message.
    pub(super) fn hear(&mut self, id: u16, token: &[u8], now: Time) {
        let serial = self.next_serial;
        self.next_serial += 1;
        let entry = Entry { token: token.to_vec(), serial, answer: None };
        if let Some(Entry { answer: Some(answer), .. }) = self.heard.insert(id, entry) {
            self.answers_len -= answer.len();
        }
        self.order.push_back((now + EXCHANGE_LIFETIME, id, serial));
        self.forget(now);
    }

    /// Remembers the response to a message, if it is still known.
    pub(super) fn answered(&mut self, id: u16, answer: Bytes) {
        let Some(entry) = self.heard.get_mut(&id) else { return };
        self.answers_len += answer.len();
        if let Some(before) = entry.answer.replace(answer) {
            self.answers_len -= before.len();
        }
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(until, id, serial)) = self.order.front() {
            let is_full = self.order.len() > HEARD_MAX || self.answers_len > ANSWERS_LEN_MAX;
            if until > now && !is_full {
                return;
            }
            self.order.pop_front();
            if self.heard.get(&id).is_some_and(|entry| entry.serial == serial)
                && let Some(Entry { answer: Some(answer), .. }) = self.heard.remove(&id)
            {
                self.answers_len -= answer.len();
            }
        }
    }
}

/// How long an identifier is not used again (RFC 7252 section 4.8.2).
pub(super) const EXCHANGE_LIFETIME: Duration = Duration::from_secs(247);

/// How many messages of a peer are remembered, and how many bytes of answers to them.
const HEARD_MAX: usize = 512;
const ANSWERS_LEN_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_heard_is_known_for_its_lifetime() {
        let mut recent = Recent::default();
        let start = Time::from_millis(5);
        assert_eq!(recent.find(7, b"a", start), None);
        recent.hear(7, b"a", start);
        assert_eq!(recent.find(7, b"a", start), Some(None));
        recent.answered(7, "yes".into());
        let end = start + EXCHANGE_LIFETIME;
        let before = Time::from_nanos(end.as_nanos() - 1);
        assert_eq!(recent.find(7, b"a", before), Some(Some("yes".into())));
        assert_eq!(recent.find(7, b"b", before), None);
        assert_eq!(recent.find(7, b"a", end), None);
    }

    #[test]
    fn an_identifier_with_another_token_is_another_message() {
        let mut recent = Recent::default();
        recent.hear(7, b"a", Time::ZERO);
        recent.answered(7, "first".into());
        recent.hear(7, b"b", Time::from_millis(1));
        assert_eq!(recent.find(7, b"b", Time::from_millis(1)), Some(None));
        // The first one's end is not the second one's.
        assert_eq!(recent.find(7, b"b", Time::ZERO + EXCHANGE_LIFETIME), Some(None));
        assert_eq!(recent.answers_len, 0);
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = Recent::default();
        for id in 0..u16::MAX {
            recent.hear(id, &id.to_be_bytes(), Time::ZERO);
            recent.answered(id, vec![0; 1_000].into());
            assert!(recent.order.len() <= HEARD_MAX && recent.heard.len() <= HEARD_MAX);
            assert!(recent.answers_len <= ANSWERS_LEN_MAX + 1_000);
        }
        let latest = u16::MAX - 1;
        assert!(recent.find(latest, &latest.to_be_bytes(), Time::ZERO).is_some());
    }
}
