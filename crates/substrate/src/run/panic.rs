//! Panics of runs: caught, cut to size, and kept away from the terminal.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use super::RunError;
use crate::clock;
use crate::executor::is_running;

/// Makes panics on threads that execute a run store their location for [`take_location`] instead of
/// printing it: a sweep reports them as results. All other threads panic as before. With
/// `RUST_BACKTRACE` set, the usual report is printed as well.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let verbose = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if is_running() {
                let location = info.location().map(ToString::to_string);
                LOCATION.with_borrow_mut(|last| *last = location);
            }
            if verbose || !is_running() {
                before(info);
            }
        }));
    });
}

pub(crate) fn error(payload: &(dyn Any + Send)) -> RunError {
    RunError::Panicked { at: clock::now(), message: message(payload), location: LOCATION.take() }
}

/// The message of a caught panic, truncated for reports.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.as_str()
    } else {
        "(a panic without a message)"
    };
    if text.len() <= MESSAGE_MAX {
        return text.to_owned();
    }
    let end = (0..=MESSAGE_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}...", &text[..end])
}

thread_local! {
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// In bytes.
const MESSAGE_MAX: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_between_characters() {
        let long: Box<dyn Any + Send> = Box::new("é".repeat(MESSAGE_MAX));
        let cut = message(&*long);
        assert_eq!(cut.len(), MESSAGE_MAX + 3);
        assert!(cut.ends_with("é..."));
        assert_eq!(message(&"short"), "short");
        assert_eq!(message(&7), "(a panic without a message)");
    }
}
