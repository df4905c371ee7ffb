//! A timer for a deadline that moves.

use std::pin::Pin;
use std::task::Context;

use trackbed_core::Time;
use trackbed_substrate::{Timer, sleep_until};

#[derive(Default)]
pub(crate) struct Alarm(Option<Timer>);

impl Alarm {
    /// Sets the timer to `due`, or to nothing, and returns whether it has fired.
    pub(crate) fn has_fired(&mut self, due: Option<Time>, cx: &mut Context<'_>) -> bool {
        let Some(due) = due else {
            self.0 = None;
            return false;
        };
        let timer = self.0.get_or_insert_with(|| sleep_until(due));
        timer.reset(due);
        let has_fired = Pin::new(timer).poll(cx).is_ready();
        if has_fired {
            self.0 = None;
        }
        has_fired
    }
}
