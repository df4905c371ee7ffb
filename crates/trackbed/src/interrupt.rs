//! Ctrl-C and SIGTERM.

use std::sync::OnceLock;
use std::thread;

use anyhow::Context as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use trackbed_outward::{Signal, listen};
use trackbed_substrate::Cancel;

use crate::output::tell;

/// Calls `stop` when Ctrl-C or SIGTERM ends a service; a second one ends the process at once.
pub fn on_stop(mut stop: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    listen(move |signal| match signal {
        Signal::Stop => stop(),
        Signal::Reload => {}
    })
    .context("cannot listen to signals")
}

/// Installs the handler, once per process, and returns the switch that the first Ctrl-C sets, or the
/// first SIGTERM, by which clusters preempt jobs. It lets running runs finish and keeps all results; the second
/// one quits.
pub fn install() -> anyhow::Result<Cancel> {
    static INSTALLED: OnceLock<Cancel> = OnceLock::new();
    if let Some(cancel) = INSTALLED.get() {
        return Ok(cancel.clone());
    }
    let cancel = Cancel::new();
    let switch = cancel.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen to signals")?;
    let listen = move || {
        for _ in signals.forever() {
            if switch.is_cancelled() {
                std::process::exit(130);
            }
            switch.cancel();
            tell(
                "\ninterrupted: finishing the runs in progress (press Ctrl-C again to quit at once)",
            );
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
    Ok(INSTALLED.get_or_init(|| cancel).clone())
}
