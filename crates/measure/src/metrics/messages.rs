//! The messages of a run, gathered from its events.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

pub(crate) type MessageId = (u32, u32);

/// The intended time of a message, and the time of its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    /// Zero only if the message was given up before it could be sent.
    pub(crate) intended: Time,
    pub(crate) bytes: u64,
    pub(crate) answer: Option<Answer>,
}

impl Message {
    /// From the intended time to the answer, if that accepts the message.
    pub(crate) fn latency(&self) -> Option<Duration> {
        let accepted = self.answer.filter(|answer| TAKEN.contains(&answer.status));
        accepted.map(|answer| answer.at - self.intended)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) at: Time,
    pub(crate) status: u16,
}

/// Every message that was sent or given up, by phone and number. A message that was sent again, on
/// another connection, counts from its first sending.
pub(crate) fn gather(records: &[Record]) -> BTreeMap<MessageId, Message> {
    let mut messages: BTreeMap<MessageId, Message> = BTreeMap::new();
    for record in records {
        match record.event {
            Event::Sent { phone, message, intended, bytes } => {
                let new = Message { intended, bytes, answer: None };
                messages.entry((phone, message)).or_insert(new);
            }
            Event::Answered { phone, message, status } => {
                if let Some(message) = messages.get_mut(&(phone, message)) {
                    message.answer.get_or_insert(Answer { at: record.at, status });
                }
            }
            Event::Failed { phone, message, .. } | Event::Lost { phone, message, .. } => {
                messages.entry((phone, message)).or_default();
            }
            _ => {}
        }
    }
    messages
}

/// Statuses of accepted messages.
pub(crate) const TAKEN: std::ops::RangeInclusive<u16> = 200..=299;
