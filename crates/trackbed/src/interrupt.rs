//! Ctrl-C: the first one lets running runs finish and keeps everything, the second one quits.

use crate::output::tell;
use trackbed_substrate::simulated::Cancel;

/// Installs the handler and returns the switch that the first Ctrl-C (or SIGTERM) turns.
///
/// # Errors
/// If the operating system refuses the handler.
pub fn install() -> anyhow::Result<Cancel> {
    let cancel = Cancel::new();
    let switch = cancel.clone();
    ctrlc::set_handler(move || {
        if switch.is_cancelled() {
            std::process::exit(130);
        }
        switch.cancel();
        tell("\ninterrupted: finishing the runs that have begun (again to quit at once)");
    })?;
    Ok(cancel)
}
