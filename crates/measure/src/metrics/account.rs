//! The outcome of a schedule's messages: in time, late or lost.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Loss, Record};

use super::Metric;
use super::latency::deadline;
use super::messages::{TAKEN, gather};

pub(super) const METRICS: &[Metric] = metrics! {
    "sent_count", |records| counted(records, |account| account.sent) =>
        "messages scheduled in the measured window; each is in time, late or lost";
    "in_time_count", |records| counted(records, |account| account.in_time) =>
        "of these, answered within the deadline after their intended time";
    "late_count", |records| counted(records, |account| account.late) =>
        "of these, answered after the deadline";
    "lost_count", |records| counted(records, |account| account.lost) =>
        "of these, without an answer: patience exceeded, connection broken, refused, or not \
         sent";
    "unsent_count", |records| counted(records, |account| account.unsent) =>
        "lost messages that were never sent, because there was no connection or too many messages \
         were waiting for answers";
    "answer_rate_hz", |records| {
        let rate = account(records).zip(window(records)).map(|(account, window)| {
            (account.in_time + account.late) as f64 / window.as_secs_f64()
        });
        rate.into_iter().collect()
    } => "messages of the measured window that were answered, in time or late, divided by its \
          length";
};

/// The outcome of the messages of a schedule's measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The scheduled messages, as the phones report.
    pub sent: u64,
    /// Those answered within the deadline.
    pub in_time: u64,
    /// Those answered after it.
    pub late: u64,
    /// Those known to be lost.
    pub lost: u64,
    /// Lost messages that were never sent.
    pub unsent: u64,
}

/// The account of a run; `None` if no phone has a schedule. Each number is counted separately, so
/// that a message missing from all of them is noticed.
pub fn account(records: &[Record]) -> Option<Account> {
    window(records)?;
    let deadline = deadline(records)?;
    let is_scheduled = |record: &Record| matches!(record.event, Event::Scheduled { .. });
    if !records.iter().any(is_scheduled) {
        return None;
    }
    let mut account = Account::default();
    for record in records {
        match record.event {
            Event::Scheduled { messages, .. } => account.sent += messages,
            Event::Lost { loss, .. } => {
                account.lost += 1;
                account.unsent += u64::from(matches!(loss, Loss::Overflow | Loss::Unconnected));
            }
            Event::Answered { status, .. } => account.lost += u64::from(!TAKEN.contains(&status)),
            _ => {}
        }
    }
    for latency in gather(records).values().filter_map(|message| message.latency()) {
        if latency <= deadline { account.in_time += 1 } else { account.late += 1 }
    }
    Some(account)
}

/// The length of the measured window of a schedule, if there is one.
pub(super) fn window(records: &[Record]) -> Option<Duration> {
    bounds(records).map(|[from, until]| until - from).filter(|window| !window.is_zero())
}

/// The start and end of that window.
pub(super) fn bounds(records: &[Record]) -> Option<[Time; 2]> {
    records.iter().find_map(|record| match record.event {
        Event::WindowSet { from, until } => Some([from, until]),
        _ => None,
    })
}

fn counted(records: &[Record], count: fn(Account) -> u64) -> Vec<f64> {
    account(records).map(|account| count(account) as f64).into_iter().collect()
}
