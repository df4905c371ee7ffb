//! A rate limit for messages whose number a peer controls.

use std::cell::Cell;
use std::time::Duration;

/// Passes one message per second and counts the others, so that peers cannot fill the log.
#[derive(Debug, Default)]
pub struct Seldom {
    last: Cell<Option<Duration>>,
    kept_back: Cell<u64>,
}

impl Seldom {
    /// The text to write for `message` at `now`, if any. `now` may count from any start.
    pub fn passes(&self, now: Duration, message: &str) -> Option<String> {
        if self.last.get().is_some_and(|last| now < last + PAUSE) {
            self.kept_back.set(self.kept_back.get() + 1);
            return None;
        }
        self.last.set(Some(now));
        Some(match self.kept_back.take() {
            0 => message.to_owned(),
            more => format!("{message} (messages suppressed before this one: {more})"),
        })
    }
}

/// The minimum time between two messages.
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
        let left_out = "refused (messages suppressed before this one: 999)";
        assert_eq!(said, ["refused", left_out, left_out]);
    }
}
