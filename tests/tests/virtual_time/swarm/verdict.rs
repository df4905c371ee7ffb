//! The rules of every run, checked against its events.

use std::collections::BTreeMap;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};
use trackbed_measure::metrics;

use super::generate::{Case, Class, Workload};

pub fn problems(case: &Case, records: &[Record]) -> Vec<String> {
    let mut problems = Vec::new();
    if records.windows(2).any(|pair| pair[0].at > pair[1].at) {
        problems.push("events are out of order".to_owned());
    }
    numbers_are_finite(records, &mut problems);
    reasons_are_clean(records, &mut problems);
    let measured = records.iter().any(|record| record.event == Event::Started);
    match case.workload {
        _ if !measured => nothing_happened_unmeasured(records, &mut problems),
        Workload::Messages { phones, count, closed_loop } => {
            let messages = Messages::gather(records, &mut problems);
            messages.account(phones, count, closed_loop, &mut problems);
        }
        Workload::Bulk { phones, bytes } => transfers(records, phones, bytes, &mut problems),
        Workload::Telemetry { phones } => telemetry(records, phones, &mut problems),
    }
    if case.class == Class::Healing
        && let Err(reason) = metrics::outcome(records)
    {
        problems.push(format!("it had to succeed, but {reason}"));
    }
    problems
}

/// Each message of each phone's schedule ends once, as answered or lost, and nothing is answered that
/// was not sent, nor before.
fn telemetry(records: &[Record], phones: u32, problems: &mut Vec<String>) {
    let mut scheduled = vec![None; phones as usize];
    let mut sent: BTreeMap<(u32, u32), Time> = BTreeMap::new();
    let mut ended: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for record in records {
        match record.event {
            Event::Scheduled { phone, messages } => scheduled[phone as usize] = Some(messages),
            Event::Sent { phone, message, intended, .. } => {
                let is_new = sent.insert((phone, message), intended).is_none();
                if intended > record.at || !is_new {
                    problems.push(format!("{phone}/{message} was sent too early, or twice"));
                }
            }
            Event::Answered { phone, message, status } => {
                *ended.entry((phone, message)).or_default() += 1;
                if !ANSWERS.contains(&status) || !sent.contains_key(&(phone, message)) {
                    problems.push(format!("{phone}/{message}: an answer of {status} to nothing"));
                }
            }
            Event::Lost { phone, message, .. } => *ended.entry((phone, message)).or_default() += 1,
            _ => {}
        }
    }
    if let Some((which, times)) = ended.iter().find(|(_, times)| **times != 1) {
        problems.push(format!("{which:?} ended {times} times"));
    }
    if let Some(which) = sent.keys().find(|which| !ended.contains_key(which)) {
        problems.push(format!("nothing is known of the end of {which:?}"));
    }
    for (phone, scheduled) in (0..).zip(scheduled) {
        let known = ended.range((phone, 0)..=(phone, u32::MAX)).count() as u64;
        if scheduled != Some(known) {
            problems.push(format!("phone {phone} accounts for {known} of {scheduled:?} messages"));
        }
    }
}

/// OK, or Request Entity Incomplete: the response of a CoAP server to a blockwise message if a block
/// that was not confirmable is lost (RFC 7959, section 2.9.2).
const ANSWERS: [u16; 2] = [200, 408];

fn numbers_are_finite(records: &[Record], problems: &mut Vec<String>) {
    for metric in metrics::registry() {
        let samples = (metric.compute)(records);
        if let Some(odd) = samples.iter().find(|sample| !sample.is_finite() || **sample < 0.0) {
            problems.push(format!("{} is {odd}", metric.name));
        }
    }
}

/// A network that loses, delays and damages packets makes connections fail, but no end breaks the
/// protocol or refuses the other's messages: checksums discard damaged data.
fn reasons_are_clean(records: &[Record], problems: &mut Vec<String>) {
    for record in records {
        let Event::Failed { phone, message, reason } = &record.event else { continue };
        if NEVER.iter().any(|phrase| reason.contains(phrase)) || reason.is_empty() {
            problems.push(format!("phone {phone} gave up message {message}: {reason}"));
        }
    }
}

/// Texts of errors that no network causes.
const NEVER: [&str; 4] =
    ["violated the protocol", "answered with status", "longer than", "maximum packet size"];

/// Without sessions to resume there is no measured part.
fn nothing_happened_unmeasured(records: &[Record], problems: &mut Vec<String>) {
    if !records.iter().any(|record| matches!(record.event, Event::Failed { .. })) {
        problems.push("nothing was measured, and no reason is given".to_owned());
    }
    if let Some(stray) = records
        .iter()
        .find(|record| matches!(record.event, Event::Sent { .. } | Event::Answered { .. }))
    {
        problems.push(format!("nothing was measured, but {stray:?}"));
    }
}

/// The fate of each message, by phone and number.
#[derive(Default)]
struct Messages(BTreeMap<(u32, u32), Fate>);

#[derive(Clone, Copy, Default)]
struct Fate {
    sent: u32,
    received: u32,
    answered: u32,
    failed: u32,
}

impl Messages {
    fn gather(records: &[Record], problems: &mut Vec<String>) -> Messages {
        let mut messages = Messages::default();
        for record in records {
            let (phone, message) = match record.event {
                Event::Sent { phone, message, .. }
                | Event::Received { phone, message }
                | Event::Answered { phone, message, .. }
                | Event::Failed { phone, message, .. } => (phone, message),
                _ => continue,
            };
            let fate = messages.0.entry((phone, message)).or_default();
            match record.event {
                Event::Sent { .. } => fate.sent += 1,
                Event::Received { .. } => fate.received += 1,
                Event::Answered { status, .. } => {
                    fate.answered += 1;
                    if status != 200 {
                        problems.push(format!("status {status} for {phone}/{message}"));
                    }
                    if fate.received == 0 {
                        problems.push(format!("{phone}/{message} was answered unread"));
                    }
                }
                _ => fate.failed += 1,
            }
            // Each sending is taken in at most once: what arrives on a connection arrives once.
            if fate.received > fate.sent {
                problems.push(format!("{phone}/{message} arrived more often than it was sent"));
            }
        }
        messages
    }

    /// Every message is answered or given up, exactly once. A phone that cannot connect and waits
    /// for answers sends nothing more after the first message that it gives up.
    fn account(&self, phones: u32, count: u32, closed_loop: bool, problems: &mut Vec<String>) {
        for phone in 0..phones {
            let mut given_up = false;
            for message in 0..count {
                match self.0.get(&(phone, message)) {
                    Some(fate) if fate.answered + fate.failed == 1 => {
                        given_up = fate.failed == 1;
                    }
                    Some(fate) => problems.push(format!(
                        "{phone}/{message} was answered {} times and given up {} times",
                        fate.answered, fate.failed
                    )),
                    None if closed_loop && given_up => {}
                    None => problems.push(format!("nothing is known of {phone}/{message}")),
                }
            }
        }
        if let Some(stray) = self.0.keys().find(|key| key.0 >= phones || key.1 >= count) {
            problems.push(format!("there is no message {stray:?}"));
        }
    }
}

/// Each phone's data arrives whole, once, or the phone reports why not. For an upload, both may
/// happen: the data arrives, and its acknowledgment is lost.
fn transfers(records: &[Record], phones: u32, bytes: u64, problems: &mut Vec<String>) {
    for phone in 0..phones {
        let (mut arrived, mut failed) = (0, 0);
        for record in records {
            match record.event {
                Event::Transferred { phone: of, bytes: got, intact } if of == phone => {
                    arrived += 1;
                    if !intact || got != bytes {
                        problems.push(format!("{got} of {bytes} bytes arrived, intact: {intact}"));
                    }
                }
                Event::Failed { phone: of, .. } if of == phone => failed += 1,
                _ => {}
            }
        }
        if arrived > 1 || failed > 1 || arrived + failed == 0 {
            problems.push(format!("phone {phone}: arrived {arrived} times, failed {failed} times"));
        }
    }
}
