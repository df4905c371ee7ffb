//! Ctrl-C: the first one lets running runs finish and keeps everything, the second one quits.

use std::sync::OnceLock;

use trackbed_substrate::Cancel;

use crate::output::tell;

/// Installs the handler, once in a process, and returns the switch that the first Ctrl-C (or
/// SIGTERM) turns.
///
/// # Errors
/// If the operating system refuses the handler.
pub fn install() -> anyhow::Result<Cancel> {
    static INSTALLED: OnceLock<Cancel> = OnceLock::new();
    if let Some(cancel) = INSTALLED.get() {
        return Ok(cancel.clone());
    }
    let cancel = Cancel::new();
    let switch = cancel.clone();
    ctrlc::set_handler(move || {
        if switch.is_cancelled() {
            std::process::exit(130);
        }
        switch.cancel();
        tell("\ninterrupted: finishing the runs that have begun (again to quit at once)");
    })?;
    Ok(INSTALLED.get_or_init(|| cancel).clone())
}
