//! Whether a run succeeded.

use trackbed_core::event::{Event, Record};

use super::messages::TAKEN;

/// Whether the run succeeded: it finished, nothing was given up, every transfer arrived intact, and
/// the server accepted every message.
///
/// # Errors
/// The first failure in words, and the number of further ones.
pub fn outcome(records: &[Record]) -> Result<(), String> {
    let mut failures = records.iter().filter_map(failure);
    if let Some(first) = failures.next() {
        return Err(match failures.count() {
            0 => first,
            more => format!("{first} (and {more} more)"),
        });
    }
    for (event, what) in [(Event::Started, "did not start"), (Event::Finished, "did not finish")] {
        if !records.iter().any(|record| record.event == event) {
            return Err(format!("the measured part {what}"));
        }
    }
    Ok(())
}

fn failure(record: &Record) -> Option<String> {
    let at = format!("{} s", (record.at.as_secs_f64() * 1e3).round() / 1e3);
    match &record.event {
        Event::Failed { phone, message, reason } => {
            Some(format!("at {at}, phone {phone} gave up message {message}: {reason}"))
        }
        Event::Transferred { phone, bytes, intact: false } => Some(format!(
            "at {at}, the {bytes} bytes received from or at phone {phone} differ from those sent"
        )),
        Event::Answered { phone, message, status } if !TAKEN.contains(status) => Some(format!(
            "at {at}, the server refused message {message} of phone {phone} (status {status})"
        )),
        _ => None,
    }
}
