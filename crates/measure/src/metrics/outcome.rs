//! Whether a run went through.

use trackbed_core::event::{Event, Record};

use super::messages::{REFUSED, TAKEN};

/// Whether the run went through: it came to its end, nothing was given up, every transfer arrived
/// intact, and every answer was one that the server gives on purpose (a refusal is).
///
/// # Errors
/// The first thing that went wrong, in words, and how many more did.
pub fn outcome(records: &[Record]) -> Result<(), String> {
    let mut failures = records.iter().filter_map(failure);
    if let Some(first) = failures.next() {
        return Err(match failures.count() {
            0 => first,
            more => format!("{first} (and {more} more)"),
        });
    }
    for (event, what) in
        [(Event::Started, "was never started"), (Event::Finished, "was not finished")]
    {
        if !records.iter().any(|record| record.event == event) {
            return Err(format!("the measured part {what}"));
        }
    }
    Ok(())
}

fn failure(record: &Record) -> Option<String> {
    let at = record.at;
    match &record.event {
        Event::Failed { phone, message, reason } => {
            Some(format!("at {at}, phone {phone} gave up message {message}: {reason}"))
        }
        Event::Transferred { phone, bytes, intact: false } => Some(format!(
            "at {at}, the {bytes} bytes that arrived from or at phone {phone} were not those sent"
        )),
        Event::Answered { phone, message, status }
            if !TAKEN.contains(status) && !REFUSED.contains(status) =>
        {
            Some(format!("at {at}, phone {phone} got status {status} for message {message}"))
        }
        _ => None,
    }
}
