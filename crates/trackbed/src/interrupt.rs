//! Ctrl-C and SIGTERM.

use std::sync::OnceLock;

use anyhow::Context as _;
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

/// Installs the handler, once per process, and returns the switch that the first Ctrl-C sets, or the first SIGTERM,
/// by which clusters preempt jobs, or a terminal that is closed. It lets running runs finish and keeps all results;
/// a second Ctrl-C or SIGTERM quits.
pub fn install() -> anyhow::Result<Cancel> {
    static INSTALLED: OnceLock<Cancel> = OnceLock::new();
    if let Some(cancel) = INSTALLED.get() {
        return Ok(cancel.clone());
    }
    let cancel = Cancel::default();
    let switch = cancel.clone();
    let stop = move |_| {
        switch.cancel();
        tell("\ninterrupted: finishing the runs in progress (press Ctrl-C again to quit at once)");
    };
    listen(stop).context("cannot listen to signals")?;
    Ok(INSTALLED.get_or_init(|| cancel).clone())
}
