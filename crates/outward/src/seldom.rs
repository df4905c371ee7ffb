//! Messages of which others decide how many there are.

use std::cell::Cell;
use std::time::Duration;

/// Lets one message through in a second, and counts the others: those who can cause them do not fill the log.
#[derive(Debug, Default)]
pub struct Seldom {
    last: Cell<Option<Duration>>,
    kept_back: Cell<u64>,
}

impl Seldom {
    /// What to write of `message` at `now`, counted from whatever beginning, if anything.
    pub fn passes(&self, now: Duration, message: &str) -> Option<String> {
        if self.last.get().is_some_and(|last| now < last + PAUSE) {
            self.kept_back.set(self.kept_back.get() + 1);
            return None;
        }
        self.last.set(Some(now));
        Some(match self.kept_back.take() {
            0 => message.to_owned(),
            more => format!("{message} ({more} more messages were left out before this one)"),
        })
    }
}

/// Between two messages.
const PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_line_a_second_with_a_count() {
        let seldom = Seldom::default();
        let said: Vec<String> = (0..2_500)
            .filter_map(|ms| seldom.passes(Duration::from_millis(ms), "refused"))
            .collect();
        let left_out = "refused (999 more messages were left out before this one)";
        assert_eq!(said, ["refused", left_out, left_out]);
    }
}
